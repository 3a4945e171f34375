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


QUOTED = """\
---
title: Nothing. To read.
---
> ##### A heading
>
> A quotation runs over
> two lines. It ends here.
> ```
> code. Not prose.
plain text after a fence that the quotation ends

> > Deeper words
> shallower words

---

After a rule all goes on.

````text
```
Still code. Not prose.
````
Behind the code. ```inline``` is no fence.
```one line``` begins no fence either.
<!-- a comment --> skipped
<!-- a long
comment. Not prose. -->
> quoted at last"""


def test_quotations_fences_and_rules_of_markdown() -> None:
    """A quotation is prose whose lines belong together; only a whole fence hides what is behind it."""
    markup = get("markdown")
    assert isinstance(markup, Markup)
    found = [(p.first, p.last, p.text) for p in paragraphs(markup, QUOTED.split("\n"))]
    assert found == [
        (3, 3, "A heading"),
        (5, 6, "A quotation runs over\ntwo lines. It ends here."),
        (9, 9, "plain text after a fence that the quotation ends"),
        (11, 12, "Deeper words\nshallower words"),
        (16, 16, "After a rule all goes on."),
        (22, 23, "Behind the code. ```inline``` is no fence.\n```one line``` begins no fence either."),
        (27, 27, "quoted at last"),
    ]


BLOCKS = """\
+++
title = "Nothing. To read."
+++
## Overview
Text behind a heading.
A longer heading
----
<Note>
Prose in a component.
  <ul>
    1. An item.
    2. Another.
</Note>

<style>
p { color: red; }
</style>

Name | Meaning
-----|--------
a | Not prose.

[!NOTE]
<a name="x"></a> <br>

![a picture](x.png)
- [ ] <New /> A task.

[^one]: A footnote.

[ref]: https://example.org "A title."
{% include "Not prose." %}
:::tip
Inside a container.
:::"""


def test_blocks_of_markdown() -> None:
    """Headings end without a blank line; tables, styles, images and directives are not prose."""
    markup = get("markdown")
    assert isinstance(markup, Markup)
    found = [(p.first, p.last, p.text) for p in paragraphs(markup, BLOCKS.split("\n"))]
    assert found == [
        (3, 3, "Overview"),
        (4, 5, "Text behind a heading.\nA longer heading"),
        (8, 8, "Prose in a component."),
        (10, 10, "An item."),
        (11, 11, "Another."),
        (26, 26, "<New /> A task."),
        (28, 28, "A footnote."),
        (33, 33, "Inside a container."),
    ]


@pytest.mark.parametrize("name", ["markdown", "rst", "text"])
def test_only_line_feeds_end_lines(name: str) -> None:
    markup = get(name)
    assert isinstance(markup, Markup)
    lines = ["one\rstill one.", "", "Two.\r", "", "\x0cThree."]
    assert [(p.first, p.last) for p in paragraphs(markup, lines)] == [(0, 0), (2, 2), (4, 4)]


NESTED = r"""\begin{figure}
\begin{tabular}{l} a \end{tabular}
Not prose yet.
\end{figure}
\begin{equation} x \end{equation}
Prose again."""


def test_a_latex_environment_ends_where_it_is_ended_itself() -> None:
    markup = get("latex")
    assert isinstance(markup, Markup)
    assert [p.text for p in paragraphs(markup, NESTED.split("\n"))] == ["Prose again."]


ROLES = """\
:date: today

For all of it head over to the
:class:`Request` documentation. Or read on.
"""


def test_a_line_of_rst_may_begin_with_a_role() -> None:
    markup = get("rst")
    assert isinstance(markup, Markup)
    found = [p.text for p in paragraphs(markup, ROLES.split("\n"))]
    assert found == ["For all of it head over to the\n:class:`Request` documentation. Or read on."]


NUMBERED = """\
It can hold values between 0 and
255. Then it is full, see
<https://example.org> for more.

1. The first item
   goes on.
2. The second item.
"""


@pytest.mark.parametrize("name", ["markdown", "rst", "text"])
def test_a_number_begins_an_item_only_in_a_list(name: str) -> None:
    markup = get(name)
    assert isinstance(markup, Markup)
    assert [p.text for p in paragraphs(markup, NUMBERED.split("\n"))] == [
        "It can hold values between 0 and\n255. Then it is full, see\n<https://example.org> for more.",
        "The first item\ngoes on.",
        "The second item.",
    ]
