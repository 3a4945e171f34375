"""Verification of rules: ast-grep runs each rule on its examples, before and after their edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from editvec.core.errors import UserError
from editvec.core.match import Match
from editvec.core.splice import apply_matches, disjoint
from editvec.rules import astgrep
from editvec.rules.rule import InducedRule, ProseRule, dump
from editvec.rules.sites import RuleExample, num_common
from editvec.syntax.cst import Cst

_MIN_ODDS = 3
"""Minimum number of examples that a rule must explain for each one that was edited differently."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The results of a rule on the examples."""

    support: tuple[str, ...]
    """Ids of the examples that it rewrites to exactly their after.

    The tokens are the same, and the text is the same up to white space.
    """
    exact: tuple[str, ...]
    """Ids of the examples in `support` in which the white space is the same, too."""
    failures: tuple[tuple[str, str], ...] = ()
    """Ids of the examples on which it fails, each with the reason."""
    conflicts: tuple[str, ...] = ()
    """Ids of the examples that people edited differently from the rule."""
    elsewhere: int = 0
    """Number of its matches in the examples' files outside the edits."""

    @property
    def holds(self) -> bool:
        """Return whether the rule is verified.

        It must explain some examples and fail on none, and almost none may have been edited differently.
        """
        return bool(self.support) and not self.failures and len(self.conflicts) * _MIN_ODDS <= len(self.support)


@dataclass(frozen=True, slots=True)
class VerifiedRule:
    """A rule with its verification."""

    rule: InducedRule | ProseRule
    verification: Verification

    def as_json(self) -> dict[str, Any]:
        """Return the rule and its verification as JSON values."""
        return {
            "id": self.rule.id,
            "language": self.rule.language,
            "summary": self.rule.summary,
            "yaml": self.rule.as_yaml(),
            "verification": asdict(self.verification),
        }


REFUSED = Verification((), (), (("", "is not accepted by ast-grep"),))


def verify(
    rules: Sequence[InducedRule], examples: Sequence[RuleExample], *, as_written: bool = False
) -> list[Verification]:
    """Return the verification of each rule on examples of one language.

    With `as_written`, ast-grep reads the YAML that users get. Without it, ast-grep reads the same rules as JSON, which
    is faster to write.
    """
    if not rules or not examples:
        return [Verification((), ()) for _ in rules]
    texts = [example.before for example in examples] + [example.after for example in examples]
    numbered = [{**rule.as_dict(), "id": str(number)} for number, rule in enumerate(rules)]
    written = [dump(each) if as_written else orjson.dumps(each).decode() + "\n" for each in numbered]
    taken = _taken(written, rules[0].language)
    found = astgrep.scan("---\n".join(taken), texts, rules[0].language) if taken else [[] for _ in texts]
    by_rule: list[list[list[Match]]] = [[[] for _ in texts] for _ in rules]
    for place, matches in enumerate(found):
        for match in matches:
            by_rule[int(match.rule)][place].append(match)
    known = set(taken)
    return [
        _judge(matches, examples) if text in known else REFUSED for matches, text in zip(by_rule, written, strict=True)
    ]


def _taken(written: list[str], language: str) -> list[str]:
    """Return the rules that ast-grep accepts."""
    try:
        astgrep.scan("---\n".join(written), [b""], language)
    except UserError:
        half = len(written) // 2
        return _taken(written[:half], language) + _taken(written[half:], language) if half else []
    return written


def _judge(found: Sequence[Sequence[Match]], examples: Sequence[RuleExample]) -> Verification:
    support, exact, failures, conflicts = [], [], [], []
    elsewhere = 0
    for number, example in enumerate(examples):
        befores, afters = found[number], found[number + len(examples)]
        inside = _judged(befores, example)
        rest = [match for match in befores if match not in inside]
        elsewhere += len(disjoint(rest))
        if _is_due(rest, afters, example):
            failures.append((example.id, "matches the text after the edit"))
        if not inside:
            continue
        result = apply_matches(example.before, inside)
        if result == example.after:
            exact.append(example.id)
            support.append(example.id)
        elif same_tokens(example, result):
            support.append(example.id)
        else:
            conflicts.append(example.id)
    return Verification(tuple(support), tuple(exact), tuple(failures), tuple(conflicts), elsewhere)


def _judged(matches: Sequence[Match], example: RuleExample) -> list[Match]:
    """Return the matches before the edit that are compared with the edit."""
    if not example.one_of_many:
        return [match for match in matches if _within(match, example.scope)]
    low, high = example.scope
    touching = [match for match in matches if match.start <= high and low <= match.end]
    return sorted(touching, key=lambda match: match.end - match.start)[:1]


def _is_due(rest: Sequence[Match], afters: Sequence[Match], example: RuleExample) -> bool:
    """Return whether a rule matches what the edit made.

    If the edit is one of many, matches at other places may still be due, so they are not counted.
    """
    if not example.one_of_many:
        return any(_within(match, example.scope_after) for match in afters)
    low, high = example.scope_after
    shift = high - example.scope[1]
    moved = {(each.start + shift * (each.start >= low), each.end + shift * (each.end >= low)) for each in rest}
    return any(each.start <= high and low <= each.end and (each.start, each.end) not in moved for each in afters)


def _within(match: Match, scope: tuple[int, int]) -> bool:
    return scope[0] <= match.start and match.end <= scope[1]


def same_tokens(example: RuleExample, result: bytes) -> bool:
    """Return whether a text equals the example's after, except for white space between tokens."""
    if b"".join(result.split()) != b"".join(example.after.split()):
        return False
    low = num_common(result, example.after)
    end = num_common(result[low:][::-1], example.after[low:][::-1])
    texts = []
    for data in (result, example.after):
        span = max(data.rfind(b"\n", 0, low), 0), len(data) - end
        code = Cst(example.language, data, span)
        texts.append(code.tokens[code.token_at(span[0]) : code.token_at(span[1])])
    return texts[0] == texts[1]
