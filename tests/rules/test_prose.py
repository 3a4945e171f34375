"""Rules for prose, with the words around them that they need."""

from __future__ import annotations

import pytest

from editvec.core.splice import apply_matches
from editvec.rules.induction import make_rules
from editvec.rules.prose import find_prose
from editvec.rules.rule import ProseRule, load_rules
from editvec.syntax.snippet import snippet_edit


def _rules(*pairs: tuple[str, str]) -> list[ProseRule]:
    edits = [snippet_edit(before, after, "markdown", str(at)) for at, (before, after) in enumerate(pairs)]
    return [each.rule for each in make_rules(edits) if isinstance(each.rule, ProseRule)]


@pytest.mark.parametrize(
    ("pairs", "summary"),
    [
        ([("See teh cat.", "See the cat."), ("On teh mat.", "On the mat.")], "teh  →  the"),
        ([("sends them to warehouse now", "sends them to the warehouse now")], "to warehouse  →  to the warehouse"),
        ([("However we go.", "However, we go.")], "However we  →  However , we"),
        ([("It is really good.", "It is good.")], "really  →  ∅"),
        # Without the words around it this one would go on for ever.
        ([("a cat sat", "a big cat sat")], "a cat  →  a big cat"),
        ([("use Github here", "use GitHub here"), ("via Github now", "via GitHub now")], "Github  →  GitHub"),
    ],
)
def test_the_least_context_that_is_right(pairs: list[tuple[str, str]], summary: str) -> None:
    (rule,) = _rules(*pairs)
    assert rule.summary == summary
    (loaded,) = load_rules(rule.as_yaml())
    assert loaded.prose == rule
    for before, after in pairs:
        matches = find_prose(rule, before.encode())
        assert apply_matches(before.encode(), matches).decode() == after
        assert find_prose(rule, after.encode()) == []


def test_only_whole_words_in_paragraphs() -> None:
    rule = ProseRule("markdown", "teh", "the")
    text = "# teh title\n\nätehx teh.\n\n```\nteh code\n```\n\n| teh | table |\n".encode()
    found = apply_matches(text, find_prose(rule, text)).decode()
    assert found == "# the title\n\nätehx the.\n\n```\nteh code\n```\n\n| teh | table |\n"


def test_words_may_stand_on_two_lines() -> None:
    rule = ProseRule("markdown", "in order to", "to")
    text = b"We go in\norder to see.\n"
    assert apply_matches(text, find_prose(rule, text)) == b"We go to see.\n"
