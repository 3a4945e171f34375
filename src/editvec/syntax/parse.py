"""Parsing of code fragments that are not whole files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import tree_sitter as ts

from editvec.syntax import languages
from editvec.syntax.languages.base import Language
from editvec.syntax.token import decode, encode
from editvec.syntax.tree import Tree
from editvec.syntax.treesitter import Parsed


def parse_fragment(language: Language, text: str) -> Tree | None:
    """Return the tree of a code fragment, or of a header without its body; None if it does not parse.

    The fragment is tried in each of the language's wrappers. The leaves of the tree are the tokens of the fragment, in
    order; the wrapper is not part of the tree.
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
"""Ways to complete a code fragment: unchanged, with a semicolon behind it, or as an expression in a call."""


def likely_language(texts: Sequence[str]) -> str | None:
    """Return the name of the first language in which all the code fragments parse, or None.

    A fragment may be complete, lack its semicolon, be an expression, or be a header.
    """
    for language in languages.code_languages():
        if all(_form(language, text) or _parses(language, text, headers=True) for text in texts):
            return language.name
    return None


def are_sound(name: str, before: str, afters: Sequence[str]) -> list[bool]:
    """Return for each text in `afters` whether it is as well-formed as `before`.

    If `before` parses in one of the forms of `_FORMS`, a text has to parse by itself in the same form. Otherwise its
    brackets have to be balanced or have the same counts of open ones as in `before`. Prose is always sound.
    """
    language = languages.get(name)
    if not isinstance(language, Language):
        return [True] * len(afters)
    form = _form(language, before)
    if form is not None:
        return [_parses(language, form(after)) for after in afters]
    return [_open_brackets(after) in (_open_brackets(before), (0, 0, 0)) for after in afters]


def _form(language: Language, text: str) -> Callable[[str], str] | None:
    """Return the first form of `_FORMS` in which a text parses, or None."""
    return next((form for form in _FORMS if _parses(language, form(text))), None)


def _open_brackets(text: str) -> tuple[int, int, int]:
    """Return the numbers of round, square and curly brackets that are still open at the end of a text."""
    round_, square, curly = (text.count(opening) - text.count(closing) for opening, closing in ("()", "[]", "{}"))
    return round_, square, curly


def _parses(language: Language, text: str, *, headers: bool = False) -> bool:
    """Return whether a text parses without errors in one of the language's wrappers."""
    data = encode(text)
    return any(
        not Parsed(language, opening.encode() + data + closing.encode()).tree.root_node.has_error
        for opening, closing in language.wrappers + (language.header_wrappers if headers else ())
    )


def _nodes_within(node: ts.Node, start: int, end: int) -> Iterator[tuple[ts.Node, str]]:
    """Yield the largest nodes that lie in the bytes [start, end), with the names of their fields."""
    waiting = [(child, node.field_name_for_child(at) or "") for at, child in enumerate(node.children)][::-1]
    while waiting:
        child, field = waiting.pop()
        if start <= child.start_byte and child.end_byte <= end:
            yield child, field
        elif child.start_byte < end and start < child.end_byte:
            below = [(each, child.field_name_for_child(at) or "") for at, each in enumerate(child.children)]
            waiting += below[::-1]


class _TreeBuilder:
    """A converter of tree-sitter nodes to `Tree`; the positions of the leaves count up over all its trees."""

    def __init__(self, parsed: Parsed) -> None:
        self.parsed = parsed
        self.position = 0

    def build(self, node: ts.Node, name: str) -> Tree | None:
        """Return the tree of a node, or None for a comment or an empty node."""
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
