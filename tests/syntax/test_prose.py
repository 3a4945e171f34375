"""Sentences and paragraphs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.syntax.languages import Markup, get
from editvec.syntax.prose import paragraphs, sentences, words


def cut(text: str) -> list[str]:
    return [text[span.start : span.end] for span in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("See e.g. Fig. 3 by J. Smith et al. Then go.", ["See e.g. Fig. 3 by J. Smith et al. Then go."]),
        ("Version 1.2 is out. It\nworks.", ["Version 1.2 is out.", "It\nworks."]),
        ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
        ("Run `x.y` now. `z` is next.", ["Run `x.y` now.", "`z` is next."]),
        ("no end", ["no end"]),
        ("", []),
    ],
)  # fmt: skip
def test_sentences(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@given(st.text(alphabet=" \n.!?aAB(\"'`)1é", max_size=60))
def test_sentences_cover_all_but_space(text: str) -> None:
    assert "".join("".join(cut(text)).split()) == "".join(text.split())


def test_words() -> None:
    assert words("Don't stop, it's 3.5!") == ("Don't", "stop", ",", "it's", "3", ".", "5", "!")


MARKDOWN = """\
---
title: x
---
# A heading

First line
second line.

- an item
- another item
  that goes on

```python
code = here
```

    indented code

| a | table |

> A quote.
"""


def test_markdown_paragraphs() -> None:
    markup = get("markdown")
    assert isinstance(markup, Markup)
    found = [(p.first, p.last, p.text) for p in paragraphs(markup, MARKDOWN.split("\n"))]
    assert found == [
        (3, 3, "A heading"),
        (5, 6, "First line\nsecond line."),
        (8, 8, "an item"),
        (9, 10, "another item\nthat goes on"),
        (20, 20, "A quote."),
    ]


LATEX = """\
\\section{Intro}
We say \\emph{this} and
that. % a comment
\\begin{equation}
x = 1
\\end{equation}
\\begin{itemize}
\\item One thing.
\\item Another.
\\end{itemize}
"""


def test_latex_paragraphs() -> None:
    markup = get("latex")
    assert isinstance(markup, Markup)
    found = [p.text for p in paragraphs(markup, LATEX.split("\n"))]
    assert found == [
        "\\section{Intro}\nWe say \\emph{this} and\nthat. % a comment",
        "One thing.",
        "Another.",
    ]


@given(st.text(alphabet="ab #-`>\n|\t", max_size=80), st.sampled_from(["markdown", "latex", "rst", "text"]))
def test_paragraphs_are_in_order_and_apart(text: str, name: str) -> None:
    markup = get(name)
    assert isinstance(markup, Markup)
    last = -1
    for paragraph in paragraphs(markup, text.split("\n")):
        assert last < paragraph.first <= paragraph.last
        last = paragraph.last
