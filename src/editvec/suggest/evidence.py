"""Files as they were when people edited them: where in them an edit was made, and what history says of a rule there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from editvec.core.edit import Edit
from editvec.core.splice import disjoint
from editvec.data.sampling import spread
from editvec.patterns.pattern import Evidence, Pattern
from editvec.rules.matching import match_rules
from editvec.rules.rule import load_rules
from editvec.syntax.token import encode
from editvec.vcs.git import MAX_TEXT_BYTES, Blobs, Repository

MAX_FILES = 24
"""Old versions of files that a rule is tried on."""

Moment = tuple[str, str]
"""A commit and a path: the file as it was before that commit."""


@dataclass(frozen=True, slots=True)
class FoundEdit:
    """An edit that people made, found again in its file: the bytes [start, end) of its `before`."""

    moment: Moment
    start: int
    end: int


class OldFiles:
    """Reads old versions through one git process."""

    def __init__(self, repository: Repository) -> None:
        self._blobs = Blobs(repository, MAX_TEXT_BYTES)
        self._read: dict[Moment, bytes | None] = {}

    def __enter__(self) -> OldFiles:
        return self

    def __exit__(self, *error: object) -> None:
        self._blobs.close()

    def file(self, moment: Moment) -> bytes | None:
        """A file before a commit; None where git has none of that name."""
        if moment not in self._read:
            commit, path = moment
            name = f"{commit}^:{path}"
            self._read[moment] = None if "\n" in name else self._blobs.read(encode(name))
        return self._read[moment]

    def find(self, edit: Edit) -> FoundEdit | None:
        """Where an edit was made; None where its text is not where its origin says."""
        source = edit.source
        if source is None or not source.commit or source.lines_before is None:
            return None
        moment = source.commit, source.path
        data = self.file(moment)
        if data is None:
            return None
        first, last = source.lines_before
        starts = _line_starts(data, first, last + 1)
        text = encode(edit.before.text)
        start = data.find(text, starts[0], starts[1] + 1) if starts and text else -1
        return FoundEdit(moment, start, start + len(text)) if start >= 0 else None


def _line_starts(data: bytes, first: int, behind: int) -> tuple[int, int] | None:
    """The byte where a line starts, and the one where a later line does or the file ends."""
    at = 0
    low = 0
    for line in range(1, behind):
        if line == first:
            low = at
        end = data.find(b"\n", at)
        if end < 0:
            return (low, len(data)) if line >= first else None
        at = end + 1
    return low, at


def evidence_of(past: OldFiles, patterns: Sequence[Pattern], language: str) -> list[Evidence | None]:
    """What history says of the rules of patterns of one language: in the files where people made such an edit, as they
    were before, where does the rule match, and did people edit there? A line that stands in several versions of a file
    counts once. None where no old version could be read. All rules run at once, and each is asked about its own
    files."""
    made: list[dict[Moment, list[FoundEdit]]] = []
    for pattern in patterns:
        found: dict[Moment, list[FoundEdit]] = defaultdict(list)
        for each in filter(None, map(past.find, pattern.edits)):
            found[each.moment].append(each)
        made.append({moment: found[moment] for moment in spread(sorted(found), MAX_FILES)})
    moments = sorted({moment for found in made for moment in found})
    texts = [past.file(moment) or b"" for moment in moments]
    rules = [rule for pattern in patterns for rule in load_rules(pattern.rule or "")]
    matches = dict(zip(moments, match_rules(rules, texts, language), strict=True)) if moments else {}
    said = []
    for pattern, found in zip(patterns, made, strict=True):
        edited: dict[tuple[str, bytes, int], bool] = {}
        for moment, there in found.items():
            lines: Counter[bytes] = Counter()
            for match in disjoint([each for each in matches[moment] if each.rule == pattern.name]):
                line = _lines_of(past.file(moment) or b"", match.start, match.end)
                lines[line] += 1
                key = moment[1], line, lines[line]
                edited[key] = edited.get(key, False) or any(
                    match.start <= one.end and one.start <= match.end for one in there
                )
        said.append(Evidence(len(edited), sum(edited.values())) if found else None)
    return said


def _lines_of(data: bytes, start: int, end: int) -> bytes:
    """The lines that some bytes are on."""
    last = data.find(b"\n", end)
    return data[data.rfind(b"\n", 0, start) + 1 : last if last >= 0 else len(data)].strip()
