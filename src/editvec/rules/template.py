"""Templates as text: the pattern and the fix, with metavariables in place of holes, and a template's weight.

The weight says how specific a template is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from editvec.rules.antiunify import PUNCTUATION
from editvec.rules.holes import Generalised, Hole, Template, Use, leaves
from editvec.syntax.cst import Node
from editvec.syntax.languages import Language
from editvec.syntax.token import decode

_LETTERS = {
    "name": ("M", "N", "O", "P"),
    "type": ("T", "U", "V", "W"),
    "value": ("X", "Y", "Z", "A", "B", "C", "D", "E"),
}
_MANY = ("ARGS", "REST", "MORE")


def name_holes(found: Generalised, language: Language) -> None:
    """Name each hole by what it stands for: $X a value, $M a member, $T a type, $$$ARGS any number."""
    taken: set[str] = set()
    order = {
        id(leaf.hole): leaf.hole
        for side in (found.before, found.after)
        for leaf in leaves(side)
        if isinstance(leaf, Use)
    }
    for hole in order.values():
        hole.name = next(name for name in _names(hole, language) if name not in taken)
        taken.add(hole.name)
    found.holes = list(order.values())


def _names(hole: Hole, language: Language) -> Iterable[str]:
    letters: tuple[str, ...]
    if hole.many:
        letters = _MANY
    elif hole.role in ("name", "property", "field", "attribute") and set(hole.inner_kinds) <= _name_kinds(language):
        letters = _LETTERS["name"]
    elif hole.role in ("type", "type_identifier", "predefined_type", "returns"):
        letters = _LETTERS["type"]
    else:
        letters = _LETTERS["value"]
    yield from letters
    yield from (f"{letters[0]}{number}" for number in range(1, 1000))


def _name_kinds(language: Language) -> frozenset[str]:
    return language.identifiers | language.member_identifiers


def write(template: Template, *, one_line: bool, prefix: str = "") -> str:
    """Return a template as text, with the white space of the first example.

    Comments are left out.
    """
    return render(template, lambda leaf: _word(leaf, prefix), one_line=one_line)


def render(template: Template, word: Callable[[Node | Use], str], *, one_line: bool = False, indent: str = "") -> str:
    """Return a template as text, with what `word` returns for each token and hole.

    The white space is that of the first example; `indent` stands in front of each line but the first.
    """
    if isinstance(template, Use):
        return word(template)
    data = (template if isinstance(template, Node) else template.node).code.data
    text, end = "", None
    own = b""
    for leaf in leaves(template):
        if end is None:
            own = _indentation(data, leaf.start)
        else:
            text += _gap(data[end : leaf.start], own, one_line).replace("\n", "\n" + indent)
        text += word(leaf)
        end = leaf.end
    return text


def _word(leaf: Node | Use, prefix: str) -> str:
    if isinstance(leaf, Node):
        return leaf.text
    name = ("$$$" if leaf.hole.many else "$") + prefix + leaf.hole.name
    return name if prefix else leaf.prefix + name + leaf.suffix


def _indentation(data: bytes, offset: int) -> bytes:
    """Return the white space with which the line of an offset begins."""
    start = data.rfind(b"\n", 0, offset) + 1
    line = data[start:offset]
    return line[: len(line) - len(line.lstrip(b" \t"))]


def _gap(gap: bytes, indent: bytes, one_line: bool) -> str:
    if gap.strip():
        # The gap contains a comment, which is not part of the pattern.
        gap = b"\n" + indent if b"\n" in gap else b" "
    if b"\n" not in gap:
        return decode(gap)
    if one_line:
        return " "
    lines = gap.replace(b"\r\n", b"\n").split(b"\n")
    last = lines[-1].removeprefix(indent) if lines[-1].startswith(indent) else lines[-1].lstrip()
    return "\n" * (len(lines) - 1) + decode(last)


_COMMON = frozenset(
    "return new var let const auto private public protected internal static final this self if else import from def "
    "func fn function in int string bool void object".split()
)
"""Words that occur in code of all kinds."""
_COMMON_VALUES = frozenset("null nil None undefined true false True False 0 1".split())
_WORD = re.compile(r"\w")


def weigh(template: Template, language: Language) -> float:
    """Return the weight of a template: how specific it is.

    Names and literals count most, keywords and operators less, and brackets almost nothing. Nesting counts a little.
    Each repeated use of a hole counts as much as one and a half operators.
    """
    weight = 0.1 * max(0, _num_nested(template) - 2)
    seen: set[int] = set()
    for leaf in leaves(template):
        if isinstance(leaf, Use):
            if not leaf.hole.many:
                weight += 0.5 if id(leaf.hole) in seen else 0.0
                seen.add(id(leaf.hole))
        elif leaf.text in _COMMON:
            weight += 0.2
        elif leaf.text in _COMMON_VALUES:
            weight += 0.5
        elif leaf.named:
            weight += 1.0
        elif _WORD.match(leaf.text):
            weight += 0.6
        else:
            weight += 0.03 if leaf.text in PUNCTUATION or _is_quote(leaf, language) else 0.3
    return weight


def _num_nested(template: Template) -> int:
    """Return the number of nodes in a template that are not tokens."""
    if isinstance(template, Use):
        return 0
    if isinstance(template, Node):
        return sum(not node.is_leaf for node in template.walk())
    return 1 + sum(_num_nested(child) for child in template.children)


def _is_quote(leaf: Node, language: Language) -> bool:
    return leaf.parent is not None and leaf.parent.kind in language.literals
