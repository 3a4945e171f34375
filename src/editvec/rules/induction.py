"""Induce verified rules from the examples of a group.

Candidates are made for every group of the hierarchy and run by ast-grep; the best verified ones are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from editvec.core.edit import Edit
from editvec.rules.antiunify import UnboundError, generalise
from editvec.rules.candidates import MIN_WEIGHT, candidates, ladder, levels
from editvec.rules.hierarchy import SiteGroup, hierarchy
from editvec.rules.prose import induce_prose
from editvec.rules.rule import InducedRule
from editvec.rules.sites import RuleExample, edit_example, sites
from editvec.rules.verification import Verification, VerifiedRule, verify
from editvec.syntax import languages
from editvec.syntax.languages import Language

_STEP = 0.3
"""Difference in weight from which on a rule is called narrower or broader: that of an operator."""


def make_rules(edits: Sequence[Edit], *, min_support: int = 1) -> list[VerifiedRule]:
    """Return the verified rules of a group of edits, the most supported first.

    The edits may be of code and of prose, in one language or in several.
    """
    found: list[VerifiedRule] = []
    for name in dict.fromkeys(edit.language for edit in edits):
        members = [edit for edit in edits if edit.language == name]
        if isinstance(languages.get(name), Language):
            examples = [example for edit in members if (example := edit_example(edit)) is not None]
            found += induce(examples, min_support=min_support) if examples else []
        else:
            found += induce_prose(members, min_support=min_support)
    return sorted(found, key=lambda each: -len(each.verification.support))


def induce(
    examples: Sequence[RuleExample],
    *,
    min_support: int = 1,
    min_weight: float = MIN_WEIGHT,
    max_elsewhere: float = inf,
) -> list[VerifiedRule]:
    """Return the verified rules of a group of examples in one language, the most supported first.

    Each example is claimed by at most one rule. A rule is dropped if it matches outside the edits more than
    `max_elsewhere` times per example that it explains, because it is not specific enough.
    """
    language = examples[0].language
    for joined in (False, True):
        found = [site for example in examples for site in sites(example, joined=joined)]
        rules: dict[InducedRule, None] = {}
        for cluster in hierarchy(found, language):
            if len({site.example.id for site in cluster}) >= min_support:
                rules |= dict.fromkeys(_candidates(cluster, language, min_weight))
        kept = _cover(list(rules), verify(list(rules), examples), min_support, max_elsewhere)
        if kept:
            return _as_written(kept, examples)
    return []


def neighbours(rule: InducedRule, examples: Sequence[RuleExample]) -> tuple[VerifiedRule | None, VerifiedRule | None]:
    """Return the next narrower and the next broader verified rule of the same examples, as far as there are any."""
    language = examples[0].language
    found = [site for example in examples for site in sites(example)]
    steps = [each for each in ladder(found, language) if each.summary != rule.summary] if found else []
    verified = [
        VerifiedRule(each, verification)
        for each, verification in zip(steps, verify(steps, examples, as_written=True), strict=True)
        if verification.holds
    ]
    weights = [each.rule.weight if isinstance(each.rule, InducedRule) else 0.0 for each in verified]
    narrower = next(
        (each for each, weight in zip(verified, weights, strict=True) if weight > rule.weight + _STEP), None
    )
    broader = [each for each, weight in zip(verified, weights, strict=True) if weight < rule.weight - _STEP]
    return narrower, broader[-1] if broader else None


def _candidates(cluster: SiteGroup, language: Language, min_weight: float, halvings: int = 2) -> list[InducedRule]:
    """Return the rules that a cluster may be examples of, or those of its halves if there are none.

    A single site that only looks like the others can prevent every rule, so each half is tried by itself.
    """
    rules = candidates(cluster, language, min_weight=min_weight)
    if rules or not halvings or len(cluster) < 4:
        return rules
    middle = len(cluster) // 2
    halves = cluster[:middle], cluster[middle:]
    return [rule for half in halves for rule in _candidates(half, language, min_weight, halvings - 1)]


def _as_written(kept: list[VerifiedRule], examples: Sequence[RuleExample]) -> list[VerifiedRule]:
    """Return the rules whose verification also holds for the exact YAML that a user gets."""
    rules = [each.rule for each in kept if isinstance(each.rule, InducedRule)]
    verifications = verify(rules, examples, as_written=True)
    return [
        VerifiedRule(rule, verification)
        for rule, verification in zip(rules, verifications, strict=True)
        if verification.holds
    ]


def _cover(
    rules: list[InducedRule], verifications: list[Verification], min_support: int, max_elsewhere: float
) -> list[VerifiedRule]:
    """Return the most supported verified rules.

    Each explains at least `min_support` examples that no rule before it explains.
    """
    good = [
        VerifiedRule(rule, verification)
        for rule, verification in zip(rules, verifications, strict=True)
        if verification.holds and verification.elsewhere <= max_elsewhere * len(verification.support)
    ]
    kept: list[VerifiedRule] = []
    covered: set[str] = set()
    while good:
        best = max(good, key=lambda each: _merit(each, covered))
        if len(set(best.verification.support) - covered) < min_support:
            break
        kept.append(best)
        covered |= set(best.verification.support)
        good = [each for each in good if not set(each.verification.support) <= covered]
    return kept


def _merit(each: VerifiedRule, covered: set[str]) -> tuple[float, ...]:
    """Return the sort key of a rule; the largest is the best.

    The best rule explains the most examples, reproduces the most of them byte for byte, and needs the fewest conditions
    and the shortest pattern.
    """
    rule, verification = each.rule, each.verification
    assert isinstance(rule, InducedRule)
    new = len(set(verification.support) - covered)
    conditions = (bool(rule.inside) and not rule.field) + bool(rule.unlike)
    return (
        new,
        len(verification.support),
        len(verification.exact),
        -conditions,
        -len(rule.before.text),
        -verification.elsewhere,
    )


def why_not(examples: Sequence[RuleExample]) -> str:
    """Return why no rule can be made from the examples: the first obstacle, in words."""
    language = examples[0].language
    found = [site for example in examples for site in sites(example)]
    if not found:
        changed = any("".join(each.text_before.split()) != "".join(each.text_after.split()) for each in examples)
        return "the change is too large for a rule" if changed else "before and after differ at most in white space"
    reason = ""
    for pairs in levels(found):
        try:
            generalise(pairs, language)
        except UnboundError as error:
            reason = reason or str(error)
    rules = candidates(found, language, min_weight=0.0)
    strong = [rule for rule in rules if rule.weight >= MIN_WEIGHT]
    for rule, verification in zip(strong, verify(strong, examples), strict=True):
        if verification.failures:
            return f"the candidate rule {rule.summary} {verification.failures[0][1]}"
        if verification.conflicts:
            return f"the candidate rule {rule.summary} writes something different from the edit"
    if rules and not strong:
        return f"the candidate rule {rules[0].summary} would match almost any code"
    return reason or "the examples have too little in common, or ast-grep cannot express it as a pattern"
