"""A piece of code that is no file → a Tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import tree_sitter as ts

from editvec.syntax import languages
from editvec.syntax.languages.base import Language
from editvec.syntax.token import decode, encode
from editvec.syntax.tree import Tree
from editvec.syntax.treesitter import Parsed


def parse_fragment(language: Language, text: str) -> Tree | None:
    """The tree of a piece of code that is no file, or of a header without its body: tried in each of the language's
    wrappings, None if none fits.

    The tree's leaves are the fragment's tokens, in order; the wrapping is not in it.
    """
    data = encode(text)
    for opening, closing in language.wrappers + language.header_wrappers:
        start = len(opening)
        parsed = Parsed(language, opening.encode() + data + closing.encode())
        if parsed.tree.root_node.has_error:
            continue
        nodes = list(_nodes_within(parsed.tree.root_node, start, start + len(data)))
        builder = _TreeBuilder(parsed)
        children = tuple(tree for node, name in nodes if (tree := builder.build(node, name)) is not None)
        return Tree("fragment", "", children)
    return None


_FORMS: tuple[Callable[[str], str], ...] = (str, "{};".format, "f({});".format)
"""A piece of code as it is, but for its semicolon, and as an expression."""


def likely_language(texts: Sequence[str]) -> str | None:
    """The first language in which all of some pieces of code parse: whole, but for their semicolon, as expressions, or
    as headers."""
    for language in languages.code_languages():
        if all(_form(language, text) or _parses(language, text, headers=True) for text in texts):
            return language.name
    return None


def are_sound(name: str, before: str, afters: Sequence[str]) -> list[bool]:
    """For each of some `afters` of a piece of code, whether it parses by itself in a language in the form in which
    `before` does; or, where that does not parse at all, whether it has as many brackets open or none. Prose is always
    sound."""
    language = languages.get(name)
    if not isinstance(language, Language):
        return [True] * len(afters)
    form = _form(language, before)
    if form is not None:
        return [_parses(language, form(after)) for after in afters]
    return [_open_brackets(after) in (_open_brackets(before), (0, 0, 0)) for after in afters]


def _form(language: Language, text: str) -> Callable[[str], str] | None:
    return next((form for form in _FORMS if _parses(language, form(text))), None)


def _open_brackets(text: str) -> tuple[int, int, int]:
    """How many brackets of each kind are open in the end."""
    round_, square, curly = (text.count(opening) - text.count(closing) for opening, closing in ("()", "[]", "{}"))
    return round_, square, curly


def _parses(language: Language, text: str, *, headers: bool = False) -> bool:
    data = encode(text)
    return any(
        not Parsed(language, opening.encode() + data + closing.encode()).tree.root_node.has_error
        for opening, closing in language.wrappers + (language.header_wrappers if headers else ())
    )


def _nodes_within(node: ts.Node, start: int, end: int) -> Iterator[tuple[ts.Node, str]]:
    """The largest nodes that lie in the bytes [start, end)."""
    for at, child in enumerate(node.children):
        if start <= child.start_byte and child.end_byte <= end:
            yield child, node.field_name_for_child(at) or ""
        elif child.start_byte < end and start < child.end_byte:
            yield from _nodes_within(child, start, end)


class _TreeBuilder:
    """Makes a `Tree` of tree-sitter nodes; the positions of its leaves count up over everything it built."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.position = 0

    def build(self, node: ts.Node, name: str) -> Tree | None:
        language = self.parsed.language
        if node.type in language.comments:
            return None
        if node.child_count == 0 or (node.type in language.literals and node.is_named):
            text = decode(self.parsed.data[node.start_byte : node.end_byte])
            if not text.strip():
                return None
            self.position += 1
            return Tree(node.type, name, (), text, self.position - 1, True)
        built = [self.build(child, node.field_name_for_child(at) or "") for at, child in enumerate(node.children)]
        return Tree(node.type, name, tuple(child for child in built if child is not None))
