"""From places to edits of the protocol: annotated by confidence, for open documents and for files on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types
from pygls.uris import from_fs_path

from editvec.core.errors import UserError
from editvec.core.match import Suggestion
from editvec.core.splice import TextEdit, shrink, splice
from editvec.core.text import FileText
from editvec.rewrite.journal import Journal
from editvec.rewrite.plan import breaks
from editvec.rewrite.writer import write_file
from editvec.suggest.complete import LIKELY
from editvec.syntax.languages import Language, language_of
from editvec.ui.lsp.clients import ClientFacts
from editvec.ui.lsp.positions import Positions
from editvec.ui.lsp.tree import without_bom

SURE, REVIEW = "sure", "review"


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A file with the edits to make of it, in order, each with its confidence."""

    path: Path
    uri: str
    version: int | None
    """The version of an open document; None for a file on the disk."""
    data: bytes
    edits: tuple[tuple[TextEdit, float], ...]

    def ranges(self, encoding: str) -> list[tuple[types.Range, str]]:
        """Return the edits as ranges and texts. An editor does not show a byte order mark."""
        shown = without_bom(self.data)
        shift, positions = len(self.data) - len(shown), Positions(shown, encoding)
        return [
            (positions.range(edit.start - shift, edit.end - shift), edit.text.decode("utf-8", "surrogatepass"))
            for edit, _ in self.edits
        ]


@dataclass(slots=True)
class PlannedEdits:
    """The edits of several files, and what cannot be edited."""

    files: list[EditedFile] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def num_places(self) -> int:
        """Return the number of places."""
        return sum(len(file.edits) for file in self.files)


@dataclass(frozen=True, slots=True)
class TextSource:
    """Where the texts of files are: in open documents by path, and below a folder on the disk."""

    top: Path
    opened: Mapping[str, tuple[str, int, bytes]]
    """The address, the version and the text of the open documents, by path relative to `top`."""

    def plan(self, suggestions: Iterable[Suggestion], texts: Mapping[str, bytes]) -> PlannedEdits:
        """Return the edits that suggestions make, for the files that are still as they were searched.

        `texts` are the searched texts by path. A place whose edit would leave its file with more syntax errors is left
        out.
        """
        by_path: dict[str, list[Suggestion]] = {}
        for each in suggestions:
            by_path.setdefault(each.path, []).append(each)
        planned = PlannedEdits()
        for path, group in sorted(by_path.items()):
            found = self._file(path, group, texts.get(path))
            if isinstance(found, EditedFile):
                planned.files.append(found)
            else:
                planned.problems.append(f"{path}: {found}")
        return planned

    def _file(self, path: str, suggestions: Sequence[Suggestion], searched: bytes | None) -> EditedFile | str:
        opened = self.opened.get(path)
        if opened is not None:
            uri, version, data = opened
        else:
            try:
                on_disk = FileText((self.top / path).read_bytes())
            except OSError as error:
                return f"cannot be read ({error.strerror})"
            if on_disk.codec != "utf-8":
                return "not UTF-8; use editvec finish"
            data = on_disk.utf8
            uri, version = str(from_fs_path(str(self.top / path))), None
        if data != searched:
            return "changed since it was searched"
        edits = tuple(_sound(path, data, suggestions))
        return EditedFile(self.top / path, uri, version, data, edits) if edits else "it would parse worse than before"


def _sound(path: str, data: bytes, suggestions: Sequence[Suggestion]) -> list[tuple[TextEdit, float]]:
    """Return the edits of a file in order, without those that leave it with more syntax errors."""
    source = FileText(data)
    made = [
        (edit, each.confidence)
        for each in sorted(suggestions, key=lambda each: each.start)
        if (edit := shrink(data, source.edit(each.start, each.end, each.after))) is not None
    ]
    language = language_of(path)
    if not isinstance(language, Language) or not breaks(language, data, splice(data, [edit for edit, _ in made])):
        return made
    return [each for each in made if not breaks(language, data, splice(data, [each[0]]))]


def workspace_edit(planned: PlannedEdits, client: ClientFacts, encoding: str) -> types.WorkspaceEdit:
    """Return edits for a client, with annotations and versions as far as it knows them."""
    if not client.has_versions:
        return types.WorkspaceEdit(
            changes={file.uri: [types.TextEdit(*each) for each in file.ranges(encoding)] for file in planned.files}
        )
    changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
    for file in planned.files:
        ranges = file.ranges(encoding)
        edits: list[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit]
        if client.has_annotations:
            names = [SURE if confidence >= LIKELY else REVIEW for _, confidence in file.edits]
            edits = [types.AnnotatedTextEdit(name, *each) for name, each in zip(names, ranges, strict=True)]
        else:
            edits = [types.TextEdit(*each) for each in ranges]
        identity = types.OptionalVersionedTextDocumentIdentifier(file.uri, file.version)
        changes.append(types.TextDocumentEdit(identity, edits))
    annotations = _annotations(planned) if client.has_annotations else None
    return types.WorkspaceEdit(document_changes=changes, change_annotations=annotations)


def _annotations(planned: PlannedEdits) -> dict[str, types.ChangeAnnotation]:
    """Return what the annotations mean. A client shows edits to be confirmed without a tick, others with one."""
    confidences = [confidence for file in planned.files for _, confidence in file.edits]
    groups: tuple[tuple[str, str, bool, Callable[[float], bool]], ...] = (
        (SURE, f"Same change, {LIKELY:.0%} or better", False, lambda each: each >= LIKELY),
        (REVIEW, "Less certain: please look", True, lambda each: each < LIKELY),
    )
    found = {}
    for name, label, confirm, belongs in groups:
        own = [each for each in confidences if belongs(each)]
        if own:
            span = f"{min(own):.0%}" if len(own) == 1 else f"{min(own):.0%} to {max(own):.0%}"
            found[name] = types.ChangeAnnotation(label, confirm, f"{places(len(own))}, {span}")
    return found


def places(number: int) -> str:
    """Return a number of places in words."""
    return f"{number:,} place{'' if number == 1 else 's'}"


def write_files(planned: PlannedEdits, top: Path) -> PlannedEdits:
    """Write the files of a plan that are not open, so that `editvec undo` can take it back; return the rest.

    What cannot be written is among the problems of the rest.
    """
    rest = PlannedEdits([file for file in planned.files if file.version is not None], list(planned.problems))
    with Journal("lsp", [top]) as journal:
        for file in planned.files:
            if file.version is None:
                edits = [edit for edit, _ in file.edits]
                try:
                    write_file(file.path, file.data, splice(file.data, edits), journal, edits)
                except (OSError, UserError) as error:
                    rest.problems.append(str(error))
    return rest
