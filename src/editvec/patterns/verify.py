"""Judge the places of learned patterns by a command, and remember what it refused.

What was refused is kept in the folder of the patterns, by the id of the pattern: its confidence falls, and the next
run says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import orjson

from editvec.core.errors import BadInputError, UserError
from editvec.core.files import from_json, to_json, write_atomically
from editvec.core.match import Suggestion
from editvec.core.splice import TextEdit
from editvec.core.text import FileText
from editvec.data.progress import Stages, silent
from editvec.patterns.pattern import JudgedPattern, Pattern
from editvec.rewrite.plan import FilePlan
from editvec.suggest.imports import ImportChanges
from editvec.suggest.verify import JudgedPlace, Judgement, suggested_edit, verify

VERDICTS = "verdicts.json"
_SCHEMA = 1


class VerdictsDocument(msgspec.Struct, frozen=True):
    """What a command said of patterns, by their ids."""

    schema: int
    verdicts: dict[str, JudgedPattern]


def judge_patterns(
    top: Path, patterns: Sequence[Pattern], command: str, progress: Stages = silent
) -> tuple[list[Pattern], Judgement]:
    """Return patterns without the places that a command refuses or has no time for, and what it said.

    The number of refused places and the first message are kept in each pattern.
    """
    places = [(at, each) for at, pattern in enumerate(patterns) for each in pattern.suggestions]
    texts = {path: FileText((top / path).read_bytes()) for path in sorted({each.path for _, each in places})}
    judged = [
        JudgedPlace(each.path, suggested_edit(texts[each.path], each), patterns[at].imports) for at, each in places
    ]
    with progress("Verifying", "places") as advance:
        verification = verify(top, judged, command, advance=advance)
    kept: list[list[Suggestion]] = [[] for _ in patterns]
    refused: list[list[str]] = [[] for _ in patterns]
    for number, (at, suggestion) in enumerate(places):
        if number in verification.refused:
            refused[at].append(verification.refused[number])
        elif number not in verification.undecided:
            kept[at].append(suggestion)
    return [
        replace(
            pattern,
            suggestions=tuple(mine),
            judged=JudgedPattern(len(mine), len(no), no[0] if no else "", command) if mine or no else pattern.judged,
        )
        for pattern, mine, no in zip(patterns, kept, refused, strict=True)
    ], verification


def judge_plans(
    top: Path, plans: Sequence[tuple[str, FilePlan]], imports: ImportChanges, command: str, progress: Stages = silent
) -> tuple[list[FilePlan], list[str], Judgement]:
    """Return plans without the places that a command refuses or has no time for.

    `plans` are given with their paths relative to `top`, and `imports` come along with each place. Also returned are
    the places that are left out, one line each with the reason, and what the command said.

    Raises:
        UserError: A file is not in the work tree.
    """
    numbered = [(at, edit) for at, (_, plan) in enumerate(plans) if not plan.problem for edit in plan.edits]
    places = [JudgedPlace(plans[at][0], edit, imports) for at, edit in numbered]
    outside = next((place.path for place in places if Path(place.path).is_absolute()), None)
    if outside is not None:
        raise UserError(f"{outside} is not in the work tree {top}. With --verify, give files of one work tree.")
    with progress("Verifying", "places") as advance:
        verification = verify(top, places, command, advance=advance)
    kept: dict[int, list[TextEdit]] = {}
    for number in verification.kept:
        kept.setdefault(numbered[number][0], []).append(numbered[number][1])
    reasons = dict.fromkeys(verification.undecided, "there was no time to verify it") | verification.refused
    lines = []
    for number, reason in sorted(reasons.items()):
        at, edit = numbered[number]
        line = plans[at][1].before.count(b"\n", 0, edit.start) + 1
        lines.append(f"{places[number].path}:{line}: {reason}")
    passed = [
        replace(plan, edits=tuple(kept.get(at, ()))) for at, (_, plan) in enumerate(plans) if plan.problem or at in kept
    ]
    return passed, lines, verification


def with_judgement(pattern: Pattern, verification: Judgement) -> Pattern:
    """Return a pattern with what a command said of its places, which are all that were judged."""
    refused = list(verification.refused.values())
    said = JudgedPattern(len(verification.kept), len(refused), (refused or [""])[0], verification.command)
    return replace(pattern, judged=said)


def remember(folder: Path, patterns: Sequence[Pattern]) -> None:
    """Keep what a command said of patterns in their folder; patterns that it said nothing of keep what they had."""
    known = verdicts(folder) | {each.id: each.judged for each in patterns if each.judged is not None}
    if known:
        document = VerdictsDocument(_SCHEMA, dict(sorted(known.items())))
        write_atomically(folder / VERDICTS, to_json(msgspec.to_builtins(document), indent=True))


def verdicts(folder: Path) -> dict[str, JudgedPattern]:
    """Return what a command said of patterns, by their ids; empty if none has run.

    Raises:
        BadInputError: The file is damaged.
    """
    path = folder / VERDICTS
    if not path.is_file():
        return {}
    try:
        return msgspec.convert(from_json(path.read_bytes()), VerdictsDocument).verdicts
    except (orjson.JSONDecodeError, msgspec.ValidationError) as error:
        raise BadInputError(path, None, f"not what editvec wrote ({error})", "Delete this file.") from None


def with_verdicts(patterns: Sequence[Pattern], known: Mapping[str, JudgedPattern]) -> list[Pattern]:
    """Return patterns with what a command said of them; it holds for their variants too."""
    judged = [replace(each, judged=known.get(each.id, each.judged)) for each in patterns]
    return [
        replace(each, variants=tuple(replace(variant, judged=each.judged) for variant in each.variants))
        for each in judged
    ]
