"""Evidence: what the history says about a rule.

The rule is run on the files in which people made its edit, as they were before that. Evidence counts how many of its
matches people edited.
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
"""Maximum number of old file versions that a rule is run on."""


class RuledEdits(NamedTuple):
    """A rule and the edits that it stands for."""

    rule: Rule
    edits: Sequence[Edit]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What people did with a rule's matches in the files in which they made such edits.

    The files are taken as they were before the edits.
    """

    matched: int
    edited: int
    """Number of the `matched` matches that were edited in that commit."""
    reversed: int = 0
    """Number of times that people made the reverse edit."""
    left: int = 0
    """Number of matches in today's files, which nobody has edited so far."""
    years: float = 0.0
    """Years between the last such edit and the end of the history."""

    @property
    def share(self) -> float:
        """Return the share of all matches, then and today, that were edited and not reversed later."""
        return (self.edited + 1) / (self.matched + self.left + 2) * self._forward

    @property
    def _forward(self) -> float:
        return (self.edited + 1) / (self.edited + 1 + self.reversed)

    @property
    def confidence(self) -> float:
        """Return the estimated probability that a match is due.

        It is the share of matches that people edited. It is lower if they also made the reverse edit, and the longer
        ago they last made the edit. A match that is left today may be due or may be fine as it is: it counts as a
        quarter of a match, and as more the longer people have left it alone. One edited and one unedited match are
        added, so that little evidence never gives certainty. The constants come from a back-test on histories
        (`benchmarks/backtest.py`).
        """
        weight = min(1.5, 0.25 + 0.3 * self.years)
        precision = (self.edited + 1) / (self.matched + weight * self.left + 2)
        fresh: float = 0.5 ** (max(0.0, self.years - 1) / 4)
        return precision * self._forward * fresh

    def as_json(self) -> dict[str, Any]:
        """Return the evidence as JSON values."""
        return {
            "matched": self.matched,
            "edited": self.edited,
            "reversed": self.reversed,
            "left": self.left,
            "years": self.years,
            "confidence": round(self.confidence, 4),
        }


def collect_evidence(old_files: OldFiles, ruled: Sequence[RuledEdits], language: str) -> list[Evidence | None]:
    """Return the evidence for each rule of one language; None if no old version of a file could be read.

    All rules run at once, and each is judged on its own files. A line that occurs in several versions of a file counts
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
    """Return the old files in which the edits were found again, at most MAX_FILES of them."""
    found: dict[Moment, list[FoundEdit]] = defaultdict(list)
    for each in filter(None, map(old_files.find, edits)):
        found[each.moment].append(each)
    return {moment: found[moment] for moment in spread(sorted(found), MAX_FILES)}


def _lines_of(data: bytes, start: int, end: int) -> bytes:
    """Return the lines that contain the bytes [start, end), without the white space around them."""
    last = data.find(b"\n", end)
    return data[data.rfind(b"\n", 0, start) + 1 : last if last >= 0 else len(data)].strip()
