"""Pictures of trees: what was copied has one colour on both sides, and nothing of an edit is markup."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from editvec.neural.grammar import SourceTree, derive, edit_trees, learn
from editvec.syntax.snippet import snippet_edit
from editvec.ui.report.trees import draw_edit


def _drawn(before: str, after: str, title: str = "#1") -> tuple[str, list[tuple[str, str]]]:
    trees = edit_trees(snippet_edit(before, after, "csharp"))
    source = SourceTree.of(trees[0])
    picture = draw_edit(title, source, trees[1], derive(learn(trees), source, trees[1]))
    root = ElementTree.fromstring(picture)
    texts = [(node.text or "", node.attrib["fill"]) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    return picture, texts


def test_copied_subtrees_have_one_colour_on_both_sides() -> None:
    _, texts = _drawn("F(a, G.H(b));", "K(G.H(b), 0);")
    colours = {text: {colour for shown, colour in texts if shown == text} for text in ("H", "VAR1", "VAR0", "K")}
    # H(b) was copied: it has one colour, which is no grey; K and a were not.
    (colour,) = colours["H"]
    assert re.fullmatch(r"#[0-9a-f]{6}", colour)
    assert colour not in ("#000000", "#777777", "#999999")
    assert colours["K"] == {"#000000"}


def test_nothing_of_an_edit_is_markup() -> None:
    picture, texts = _drawn('F("<script>&amp;\x1b");', 'F(a < b, "<b>");', title="</text><script>alert(1)</script>")
    assert "<script>" not in picture
    assert "\x1b" not in picture
    assert any(text == "</text><script>alert(1)</script>" for text, _ in texts)
