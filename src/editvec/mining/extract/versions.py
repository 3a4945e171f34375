"""The two versions of a changed file, read and parsed with as little work as possible.

The version after is built from the version before and git's own hunks. Its hash shows whether that is correct; only if
it is not, the blob is read. In both versions, only the text near the hunks is parsed.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from editvec.core.splice import TextEdit, splice
from editvec.core.text import as_utf8, line_starts
from editvec.mining.extract.code import Region
from editvec.mining.recipes import Recipe
from editvec.syntax.facts import Recent
from editvec.syntax.languages import Language
from editvec.syntax.layout import Outline
from editvec.syntax.treesitter import LineEdit, Parsed
from editvec.vcs import filters, git
from editvec.vcs.history import FileChange, Hunk
from editvec.vcs.objects import Blobs

_CACHE_BYTES = 6_000_000
_CACHE_FILES = 250


class Versions:
    """A reader of file versions that caches recent ones: a version after is often the next version before."""

    def __init__(self, repository: git.Repository, recipe: Recipe) -> None:
        self.recipe = recipe
        self.blobs = Blobs(repository, recipe.max_file_bytes)
        self._recent: OrderedDict[bytes, bytes] = OrderedDict()
        self._recent_bytes = 0
        self._outlines = Recent[bytes, Outline](_CACHE_FILES)

    def close(self) -> None:
        """End the git process."""
        self.blobs.close()

    def texts(self, change: FileChange) -> tuple[bytes, bytes] | str:
        """Return both versions as UTF-8, or the name of the filter that drops the file."""
        before = self._recent.get(change.blob_before) or self.blobs.read(change.blob_before)
        if before is None:
            return "too-large"
        after = version_after(before, change.hunks)
        if hash_of(after, len(change.blob_after)) != change.blob_after:
            fetched = self.blobs.read(change.blob_after)
            if fetched is None:
                return "too-large"
            after = fetched
        self._remember(change.blob_after, after)
        if filters.is_lfs_pointer(before) or filters.is_lfs_pointer(after):
            return "lfs-pointer"
        if self.recipe.drops("generated") and filters.is_generated_text(before):
            return "generated"
        one, other = as_utf8(before), as_utf8(after)
        return "too-large" if one is None or other is None else (one, other)

    def parse(
        self, language: Language, change: FileChange, regions: Sequence[Region], texts: tuple[bytes, bytes]
    ) -> tuple[Parsed, Parsed]:
        """Return both versions parsed.

        If possible, only the text near the regions is parsed. Otherwise the version after is parsed incrementally,
        starting from the tree of the version before.
        """
        margin = self.recipe.context_lines + 2
        befores = [(region.before, region.before + region.num_before) for region in regions]
        afters = [(region.after, region.after + region.num_after) for region in regions]
        outline = self._outlines.get(change.blob_before)
        before = Parsed(language, texts[0], places=befores, margin=margin, outline=outline)
        edits = [
            LineEdit(hunk.before, hunk.before + hunk.num_before, hunk.after, hunk.after + hunk.num_after)
            for hunk in change.hunks
        ]
        after = Parsed(language, texts[1], places=afters, margin=margin, previous=(before, edits))
        if after.outline is not None:
            self._outlines[change.blob_after] = after.outline
        return before, after

    def _remember(self, identity: bytes, data: bytes) -> None:
        if identity in self._recent:
            return
        self._recent[identity] = data
        self._recent_bytes += len(data)
        while self._recent_bytes > _CACHE_BYTES:
            self._recent_bytes -= len(self._recent.popitem(last=False)[1])


def version_after(before: bytes, hunks: Sequence[Hunk]) -> bytes:
    """Return the version after a change: the version before with all hunks applied."""
    starts = line_starts(before)
    last = len(starts) - 1
    ends = (
        (starts[min(hunk.before, last)], starts[min(hunk.before + hunk.num_before, last)], hunk.added())
        for hunk in hunks
    )
    return splice(before, [TextEdit(*each) for each in ends])


def hash_of(data: bytes, digits: int) -> bytes:
    """Return the object id that git gives a blob, SHA-1 or SHA-256 depending on the number of hex digits."""
    algorithm = hashlib.sha1 if digits == 40 else hashlib.sha256
    return algorithm(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest().encode()
