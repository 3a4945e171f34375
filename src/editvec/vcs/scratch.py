"""A scratch copy of a work tree, in which a command can run without touching the user's files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from editvec.vcs.git import Repository

_INSTALLED = frozenset({"node_modules", ".venv", "venv", "env", "vendor", ".eggs", "site-packages"})
"""Names of ignored folders that hold what is installed; the copy links to them."""


class ScratchCopy:
    """A copy of the files of a work tree at `folder`, with uncommitted changes and without the repository itself.

    Ignored files are copied, too, because generated modules are among them. Of ignored folders, those with installed
    packages are linked, and caches and build products are left out.
    """

    def __init__(self, top: Path, folder: Path) -> None:
        self.top, self.folder = top, folder
        self._changed: dict[str, bytes] = {}
        folder.mkdir()
        for name in _files(top):
            self._copy(name)

    def _copy(self, name: str) -> None:
        source, target = self.top / name, self.folder / name
        if not os.path.lexists(source):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.symlink_to(source.readlink())
        elif source.is_dir():
            if source.name in _INSTALLED:
                target.symlink_to(source, target_is_directory=True)
            else:
                shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        elif source.is_file():
            shutil.copy2(source, target)

    def write(self, contents: Mapping[str, bytes]) -> None:
        """Give files new bytes; files that got new bytes before and are not named get their own back."""
        for name in [name for name in self._changed if name not in contents]:
            (self.folder / name).write_bytes(self._changed.pop(name))
        for name, data in contents.items():
            file = self.folder / name
            self._changed.setdefault(name, (self.top / name).read_bytes())
            if file.read_bytes() != data:
                file.write_bytes(data)


def _files(top: Path) -> Iterator[str]:
    """Yield what to copy, relative to the top: files, and folders that are copied or linked as a whole."""
    repository = Repository(top, top.name)
    listed = repository.run("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    ignored = repository.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    for name in dict.fromkeys(os.fsdecode(each) for each in listed.split(b"\0") if each):
        yield name.rstrip("/")
    for name in (os.fsdecode(each) for each in ignored.split(b"\0") if each):
        if not name.endswith("/") or Path(name).name in _INSTALLED:
            yield name.rstrip("/")
