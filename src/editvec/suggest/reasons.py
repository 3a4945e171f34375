"""Why a place is suggested, in words: what it has in common with what was shown, and what speaks against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from editvec.suggest.features import FEATURES

if TYPE_CHECKING:
    from editvec.suggest.complete import Gathered
    from editvec.suggest.searched import EditMatch

_AT = {name: at for at, name in enumerate(FEATURES)}


def reasons_of(gathered: Gathered, match: EditMatch) -> list[str]:
    """Return the reasons for and against a match, the most important first."""
    row = gathered.features[gathered.matches.index(match)]

    def value(name: str) -> float:
        return float(row[_AT[name]])

    reasons = []
    if value("most_line_equal"):
        reasons.append("same line")
    elif value("most_left") + value("most_right") >= 4:
        reasons.append(f"{int(value('most_left') + value('most_right'))} equal tokens around")
    elif value("most_line_kinds_equal"):
        reasons.append("same kind of line")
    if value("most_callee") > 0.6:
        reasons.append("same call")
    if value("most_same_block"):
        reasons.append("same block")
    elif value("most_same_file"):
        reasons.append("same file")
    elif value("most_same_folder"):
        reasons.append("same folder")
    number = gathered.num_lines
    reasons.append("the only match" if number == 1 else f"one of {number} matches")
    if value("added_near") == 1 and value("only_inserts"):
        reasons.append("the new words are nearby already")
    if value("num_refused") and value("refused_line") > 0.6:
        reasons.append("like a place that was refused")
    return reasons
