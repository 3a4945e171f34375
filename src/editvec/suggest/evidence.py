"""Evidence: what history says of a rule. In the files where people made its edit, as they were before, which of its
matches did they edit?
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from editvec.core.edit import Edit
from editvec.core.splice import disjoint
from editvec.data.sampling import spread
from editvec.rules.matching import match_rules
from editvec.rules.rule import Rule
from editvec.vcs.old_files import FoundEdit, Moment, OldFiles

MAX_FILES = 24
"""Old versions of files that a rule is tried on."""


class RuledEdits(NamedTuple):
    """A rule and the edits that it stands for."""

    rule: Rule
    edits: Sequence[Edit]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What people did where a rule matched files in which they made such edits, as those files were before."""

    matched: int
    edited: int
    """Matches among `matched` that were edited in that commit."""
    reversed: int = 0
    """Times that people made the reverse edit."""
    left: int = 0
    """Matches in the files of today: nobody has edited them so far."""
    years: float = 0.0
    """Years between the last such edit and the end of the history."""

    @property
    def share(self) -> float:
        """Return the share of all matches, then and today, that were edited and not taken back."""
        return (self.edited + 1) / (self.matched + self.left + 2) * self._forward

    @property
    def _forward(self) -> float:
        return (self.edited + 1) / (self.edited + 1 + self.reversed)

    @property
    def confidence(self) -> float:
        """Return how sure it is that a match is due.

        It is the share of matches that people edited, less the share of reverse edits, and less the longer ago they
        last made the edit. A match that is left today may be due or fine as it is: it counts a quarter, and more the
        longer people have left it alone. One edit and one match are added, so that little evidence is never perfect.
        The constants come from a back-test on histories (`benchmarks/backtest.py`).
        """
        weight = min(1.5, 0.25 + 0.3 * self.years)
        precision = (self.edited + 1) / (self.matched + weight * self.left + 2)
        fresh: float = 0.5 ** (max(0.0, self.years - 1) / 4)
        return precision * self._forward * fresh

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "matched": self.matched,
            "edited": self.edited,
            "reversed": self.reversed,
            "left": self.left,
            "years": self.years,
            "confidence": round(self.confidence, 4),
        }


def collect_evidence(old_files: OldFiles, ruled: Sequence[RuledEdits], language: str) -> list[Evidence | None]:
    """Return the evidence for rules of one language; None where no old version of a file could be read.

    All rules run at once, and each is judged on its own files. A line that stands in several versions of a file counts
    once.
    """
    made = [_moments(old_files, each.edits) for each in ruled]
    moments = sorted({moment for found in made for moment in found})
    texts = [old_files.file(moment) or b"" for moment in moments]
    matches = dict(zip(moments, match_rules([each.rule for each in ruled], texts, language), strict=True))
    collected: list[Evidence | None] = []
    for (rule, _), found in zip(ruled, made, strict=True):
        edited: dict[tuple[str, bytes, int], bool] = {}
        for moment, there in found.items():
            lines: Counter[bytes] = Counter()
            for match in disjoint([each for each in matches[moment] if each.rule == rule.id]):
                line = _lines_of(old_files.file(moment) or b"", match.start, match.end)
                lines[line] += 1
                key = moment[1], line, lines[line]
                edited[key] = edited.get(key, False) or any(
                    match.start <= one.end and one.start <= match.end for one in there
                )
        collected.append(Evidence(len(edited), sum(edited.values())) if found else None)
    return collected


def _moments(old_files: OldFiles, edits: Sequence[Edit]) -> dict[Moment, list[FoundEdit]]:
    """Return the old files in which edits were found again, at most MAX_FILES of them."""
    found: dict[Moment, list[FoundEdit]] = defaultdict(list)
    for each in filter(None, map(old_files.find, edits)):
        found[each.moment].append(each)
    return {moment: found[moment] for moment in spread(sorted(found), MAX_FILES)}


def _lines_of(data: bytes, start: int, end: int) -> bytes:
    """Return the lines that bytes [start, end) are on, without the white space around them."""
    last = data.find(b"\n", end)
    return data[data.rfind(b"\n", 0, start) + 1 : last if last >= 0 else len(data)].strip()
