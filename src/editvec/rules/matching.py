"""Match rules in texts, for code and prose alike."""

from __future__ import annotations

from collections.abc import Sequence

from editvec.core.match import Match
from editvec.rules import astgrep
from editvec.rules.prose import find_prose
from editvec.rules.rule import Rule


def match_rules(rules: Sequence[Rule], texts: Sequence[bytes], language: str) -> list[list[Match]]:
    """Return the matches of rules of one language in each of the texts, in the order of the texts.

    The texts must be UTF-8.
    """
    found: list[list[Match]] = [[] for _ in texts]
    code = [rule for rule in rules if rule.prose is None]
    if code:
        found = astgrep.scan("---\n".join(rule.yaml for rule in code), texts, language)
    prose = [(rule.id, rule.prose) for rule in rules if rule.prose is not None]
    for matches, text in zip(found, texts, strict=True):
        for name, rule in prose:
            matches += (match._replace(rule=name) for match in find_prose(rule, text))
    return found
