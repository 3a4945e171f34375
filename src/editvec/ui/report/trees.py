"""Draw the trees before and after (the paper's figure 3); a copied subtree has the same colour on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from editvec.neural.grammar import Action, SourceTree, TreeCp
from editvec.syntax.tree import Tree

_COLOURS = ("#1b7837", "#2166ac", "#b35806", "#7b3294", "#01665e", "#c51b7d", "#8c510a", "#4d4d4d")
_PLAIN = "#999999"
_LETTER, _GAP, _ROW, _MARGIN = 7.2, 10.0, 34.0, 16.0
_LONGEST = 24


@dataclass(slots=True)
class _Box:
    """A node with its position in the drawing."""

    text: str
    x: float
    depth: int
    parent: int | None
    token: bool
    colour: str = _PLAIN


def draw_edit(title: str, source: SourceTree, after: Tree, actions: Sequence[Action]) -> str:
    """Return an SVG of the two trees, one above the other."""
    copies = [action for action in actions if isinstance(action, TreeCp)]
    before_colours: dict[int, str] = {}
    for number, copy in enumerate(copies):
        for place in copy.sources:
            before_colours.setdefault(id(source.nodes[place]), _COLOURS[number % len(_COLOURS)])
    after_colours = {
        id(node): _COLOURS[number % len(_COLOURS)] for number, node in enumerate(_copied(source, after, copies))
    }
    parts, top, width = [], _MARGIN + 18.0, 0.0
    for name, tree, colours in (("before", source.nodes[0], before_colours), ("after", after, after_colours)):
        boxes, wide = _layout(tree, colours)
        parts.append(_text(_MARGIN, top, name, "#000000", bold=True))
        parts += _render(boxes, top + 12)
        top += 12 + _ROW * (max(box.depth for box in boxes) + 2)
        width = max(width, wide)
    parts.insert(0, _text(_MARGIN, _MARGIN + 2, title, "#555555"))
    size = f'width="{width + 2 * _MARGIN:.0f}" height="{top:.0f}"'
    style = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="12"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#ffffff"/>', *parts, "</svg>", ""])


def _copied(source: SourceTree, after: Tree, copies: Sequence[TreeCp]) -> list[Tree]:
    """Return the copied nodes of `after` in the order of the copies: top-down, left to right."""
    found: list[Tree] = []
    stack, same = [after], source.same(after)
    while stack and len(found) < len(copies):
        node = stack.pop()
        if set(copies[len(found)].sources) <= set(same.get(id(node), ())):
            found.append(node)
        else:
            stack.extend(reversed(node.children))
    return found


def _layout(tree: Tree, colours: dict[int, str]) -> tuple[list[_Box], float]:
    """Return the positions of a tree's nodes, and their total width; lists and absent children are not drawn."""
    boxes: list[_Box] = []
    right = 0.0

    def place(node: Tree, depth: int, parent: int | None, colour: str) -> None:
        nonlocal right
        if node.is_absent or (node.leaf and node.position < 0):
            return
        colour = colours.get(id(node), colour)
        if node.is_list:
            for child in node.children:
                place(child, depth, parent, colour)
            return
        at = len(boxes)
        name = (node.text or "") if node.leaf else node.kind.removesuffix("Syntax")
        name = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
        boxes.append(_Box(name, 0.0, depth, parent, node.leaf, colour))
        start = right
        for child in node.children:
            place(child, depth + 1, at, colour)
        wide, span = len(name) * _LETTER, max(0.0, right - _GAP - start)
        for box in boxes[at + 1 :]:
            box.x += max(0.0, wide - span) / 2
        boxes[at].x = start + max(wide, span) / 2
        right = start + max(wide, span) + _GAP

    place(tree, 0, None, _PLAIN)
    return boxes, right


def _render(boxes: Sequence[_Box], top: float) -> list[str]:
    parts = []
    for box in boxes:
        if box.parent is not None:
            above = boxes[box.parent]
            parts.append(
                f'<line x1="{_MARGIN + above.x:.1f}" y1="{top + above.depth * _ROW + 18:.1f}" '
                f'x2="{_MARGIN + box.x:.1f}" y2="{top + box.depth * _ROW + 4:.1f}" stroke="{box.colour}"/>'
            )
    for box in boxes:
        colour = box.colour if box.colour != _PLAIN else ("#000000" if box.token else "#777777")
        parts.append(
            _text(_MARGIN + box.x, top + box.depth * _ROW + 15, box.text, colour, bold=box.token, anchor="middle")
        )
    return parts


def _text(x: float, y: float, text: str, colour: str, *, bold: bool = False, anchor: str = "start") -> str:
    weight = ' font-weight="bold"' if bold else ""
    shown = escape("".join(letter if letter.isprintable() else "�" for letter in text))
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}"{weight}>{shown}</text>'
