"""Patterns from groups of edits.

Each rule that is verified on the edits of a group makes a pattern of the edits that it reproduces. A group without a
verified rule becomes a pattern without a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from editvec.core.edit import Edit
from editvec.data.sampling import spread
from editvec.diff.signature import signature_of
from editvec.patterns.grouping import EditGroup, is_sweep, num_authors, num_commits
from editvec.patterns.naming import Messages, slug_of
from editvec.patterns.pattern import Pattern, span_of
from editvec.patterns.ranking import course_of
from editvec.patterns.reserved import reason_to_ask
from editvec.patterns.wording import changed_words, name_change
from editvec.rules.induction import induce, make_rules
from editvec.rules.rule import InducedRule, ProseRule
from editvec.rules.sites import edit_example
from editvec.rules.verification import VerifiedRule, verify
from editvec.syntax import languages
from editvec.syntax.languages import Language, Markup
from editvec.syntax.token import encode
from editvec.syntax.treesitter import Parsed

_TEACHERS = 20
"""Maximum number of edits from which a rule is induced; it is verified on more."""
_ROUNDS = 3
"""Maximum number of rounds; each induces rules from the edits that the previous rounds do not explain."""
_WITNESSES = 120


class Limits(NamedTuple):
    """How often edits must occur to be a pattern."""

    edits: int
    commits: int
    sweep: int | None = None
    """Number of edits in several files from which on a single commit suffices; None if it never does."""

    def allow(self, edits: Sequence[Edit]) -> bool:
        """Return whether edits occur often enough."""
        return len(edits) >= self.edits and (num_commits(edits) >= self.commits or is_sweep(edits, self.sweep))


RulesOf = Callable[[Sequence[Edit], Limits], list[tuple[InducedRule | ProseRule, list[Edit]]]]


def rules_of(edits: Sequence[Edit], limits: Limits) -> list[tuple[InducedRule | ProseRule, list[Edit]]]:
    """Return the verified rules of a group with the edits they reproduce exactly; an edit belongs to one rule only."""
    kept: list[tuple[InducedRule | ProseRule, list[Edit]]] = []
    taken: set[str] = set()
    for verified in _rounds(edits, taken, limits.edits):
        before = len(taken)
        for each in verified:
            support = set(each.verification.support) - taken
            made = [edit for edit in edits if edit.id in support]
            if each.verification.holds and limits.allow(made):
                kept.append((each.rule, made))
                taken |= support
        if len(taken) == before or len(edits) - len(taken) < limits.edits:
            break
    return kept


def _rounds(edits: Sequence[Edit], taken: set[str], min_edits: int) -> Iterator[list[VerifiedRule]]:
    """Yield the verified rules of each round, verified on the whole group.

    Each round induces rules from the edits that are not in `taken`, which the caller updates between rounds.
    """
    if isinstance(languages.get(edits[0].language), Markup):
        yield make_rules(edits, min_support=min_edits)
        return
    examples = {edit.id: example for edit in edits if (example := edit_example(edit)) is not None}
    known = spread([edit for edit in edits if edit.id in examples], _WITNESSES)
    for _ in range(_ROUNDS):
        teachers = spread([edit for edit in known if edit.id not in taken], _TEACHERS)
        verified = induce([examples[edit.id] for edit in teachers], min_support=2) if len(teachers) > 1 else []
        rules = [each.rule for each in verified if isinstance(each.rule, InducedRule)]
        verifications = verify(rules, [examples[edit.id] for edit in known])
        yield [VerifiedRule(rule, verification) for rule, verification in zip(rules, verifications, strict=True)]


def patterns_of(
    groups: Sequence[EditGroup],
    edits: Sequence[Edit],
    limits: Limits,
    *,
    rules_of: RulesOf = rules_of,
    progress: Callable[[int, int, int], None],
) -> list[tuple[Pattern, InducedRule | ProseRule | None]]:
    """Return the named patterns of the groups, each with its rule or None.

    `rules_of` induces the rules of a group. Groups with the same rule become one pattern. A group without a rule in
    which only punctuation changes, such as an additional parameter here and there, is not a pattern.
    """
    messages = Messages(edits)
    ruled: dict[tuple[str, str, str], tuple[InducedRule | ProseRule, dict[str, Edit]]] = {}
    bare: list[tuple[EditGroup, list[Edit]]] = []
    for number, group in enumerate(groups):
        progress(number, len(groups), len(ruled))
        members = group.edits(edits)
        found = rules_of(members, limits)
        if not found and group.signatures[0].names_something:
            bare.append((group, members))
        for rule, made in found:
            _, known = ruled.setdefault((rule.language, *rule.sides), (rule, {}))
            known |= {edit.id: edit for edit in made}
    progress(len(groups), len(groups), len(ruled))
    patterns: list[tuple[Pattern, InducedRule | ProseRule | None]] = []
    for rule, known in ruled.values():
        made = list(known.values())
        patterns.append((_pattern(made, messages, *rule.sides, support=len(made)), rule))
    for group, members in bare:
        typical = edits[group.medoid]
        members = [typical, *(edit for edit in members if edit.id != typical.id)]
        patterns.append((_pattern(members, messages, typical.before.text, typical.after.text, support=0), None))
    return patterns


def _pattern(edits: list[Edit], messages: Messages, before: str, after: str, *, support: int) -> Pattern:
    named = name_change(before, after, edits[0].language)
    return Pattern(
        name=slug_of(signature_of(edits[0]), named.words),
        title=named.words,
        quotation=messages.quotation(edits, changed_words(before, after)),
        kind=named.kind,
        words=messages.telling(edits),
        language=edits[0].language,
        before=before,
        after=after,
        edits=tuple(edits),
        num_edits=len(edits),
        span=span_of(edits),
        course=course_of(edits),
        commits=num_commits(edits),
        authors=num_authors(edits),
        support=support,
        of_imports=is_of_imports(edits[0]),
        reserved=reason_to_ask(before, after, edits),
    )


def is_of_imports(edit: Edit) -> bool:
    """Return whether an edit changes only imports."""
    language = languages.get(edit.language)
    if not isinstance(language, Language):
        return False
    text = encode(edit.before.text)
    for opening, closing in (language.import_wrapper, ("", "")):
        start = len(opening)
        parsed = Parsed(language, opening.encode() + text + closing.encode())
        kinds = {unit.kind for unit in parsed.units(start, start + len(text))}
        if kinds and kinds <= language.imports and not parsed.tree.root_node.has_error:
            return True
    return False
