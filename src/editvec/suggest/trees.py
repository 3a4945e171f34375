"""Hypotheses about trees: what shown edits have in common as trees with holes, and where such a tree stands in a file.

Everything runs in this process. The templates are those that rules are made of; here none is thrown away, because the
scorer decides.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice

import tree_sitter as ts

from editvec.core.splice import TextEdit, shrink, splice
from editvec.rules.antiunify import UnboundError, generalise
from editvec.rules.candidates import levels
from editvec.rules.holes import Generalised, Hole, Inner, Template, Use, leaves
from editvec.rules.sites import RuleExample, Site, sites, wrappings
from editvec.rules.template import render
from editvec.suggest.hypothesis import EditHypothesis, Element, HoleKind, Level, TokenHole
from editvec.suggest.intents import DemoEdit, Intent
from editvec.suggest.searched import EditMatch, SearchedFile
from editvec.syntax.cst import Node
from editvec.syntax.languages import Language, language_of
from editvec.syntax.lexer import lex
from editvec.syntax.token import decode, encode

_MAX_EDITS = 4
"""Maximum number of shown edits of which templates are made."""
_MAX_BYTES = 300_000
_MAX_LEVELS = 3
_LEVELS = (Level.TREE, Level.TREE_NAMES, Level.TREE_WIDE)
_MAX_CLIMB = 24
"""Maximum number of ancestors of a token that are tried as the root of a template."""

Binding = dict[int, bytes]
"""What each hole stands for, by the id of the hole."""


def propose_trees(intent: Intent) -> Iterator[EditHypothesis]:
    """Yield the templates of shown edits, each edit for itself and all together, the smallest tree first."""
    found = [site for edit in intent.edits[:_MAX_EDITS] if (site := _site(edit)) is not None]
    if not found:
        return
    language = found[0].example.language
    if len(found) > 1:
        yield from _templates(found, language)
    for site in found:
        yield from _templates([site], language)


def _site(edit: DemoEdit) -> Site | None:
    """Return the change of a shown edit as a site of its file's trees."""
    language = language_of(edit.path)
    data = edit.before.data
    if not isinstance(language, Language) or len(data) > _MAX_BYTES:
        return None
    low, high = (edit.before.line_starts[line] for line in (edit.first_line, edit.last_line))
    # Of the other edits of the file nothing is needed, so only the nodes around this one are built.
    edited = splice(data, [TextEdit(low, high, encode(edit.text_after))])
    whole = high - low >= len(data)
    # What a person typed is seldom a whole file.
    for opening, closing in [(b"", b""), *(wrappings(language, data) if whole else [])]:
        before, after = (opening + text + closing for text in (data, edited))
        example = RuleExample(edit.path, language, before, after, (0, len(before)), (0, len(after)), one_of_many=True)
        if whole and (example.code_before.has_error or example.code_after.has_error):
            continue
        return next(iter(sites(example)), None)
    return None


def _templates(found: Sequence[Site], language: Language) -> Iterator[EditHypothesis]:
    """Yield what sites have in common as hypotheses, for the smallest kinds of node that all have."""
    for pairs in islice(levels(found), _MAX_LEVELS):
        for level in _LEVELS if len(found) == 1 else _LEVELS[:1]:
            try:
                template = generalise(
                    pairs, language, with_names=level is not Level.TREE, wide=level is Level.TREE_WIDE
                )
            except UnboundError:
                continue
            hypothesis = _hypothesis(template, level)
            if hypothesis is not None:
                yield hypothesis


def _hypothesis(template: Generalised, level: Level) -> EditHypothesis | None:
    numbers: dict[int, int] = {}
    elements: list[Element] = []
    for leaf in leaves(template.before):
        if isinstance(leaf, Use):
            kind = HoleKind.INSIDE if leaf.hole.many else HoleKind.WORD if leaf.hole.leaf else HoleKind.OPERAND
            elements.append(TokenHole(numbers.setdefault(id(leaf.hole), len(numbers)), kind))
        else:
            elements += lex(encode(leaf.text)).texts
    if isinstance(template.before, Use) or not elements:
        return None
    hypothesis = EditHypothesis(level, tuple(elements), (), b"", template=template)
    # Where a tree consists of holes and brackets alone, nothing says where to look.
    return hypothesis if isinstance(hypothesis.elements[hypothesis.anchor], bytes) else None


class TreeMatcher:
    """Finds where the tree before of a template stands in files."""

    def __init__(self, hypothesis: EditHypothesis, template: Generalised) -> None:
        """Prepare the template of a hypothesis for matching."""
        self._needed = {each for each in hypothesis.elements if isinstance(each, bytes)}
        self._template = template
        node = template.before.node if isinstance(template.before, Inner) else template.before
        assert isinstance(node, Node)
        self._root, self._language = node, node.code.language

    def matches(self, file: SearchedFile, offsets: Sequence[int]) -> Iterator[EditMatch]:
        """Yield the matches around occurrences of the hypothesis's anchor."""
        if file.language != self._language.name:
            return
        # A file is parsed only if the tokens of the template are near each other in it.
        offsets = [each for each in offsets if self._needed <= file.window(file.lexed.line_of(each)).words]
        tree = file.tree if offsets else None
        if tree is None:
            return
        tried: set[tuple[int, int]] = set()
        for offset in offsets:
            node = tree.root_node.descendant_for_byte_range(offset, offset + 1)
            for _ in range(_MAX_CLIMB):
                if node is None:
                    break
                span = node.start_byte, node.end_byte
                if node.type == self._root.kind and span not in tried:
                    tried.add(span)
                    match = self._match(file, node)
                    if match is not None:
                        yield match
                node = node.parent

    def _match(self, file: SearchedFile, node: ts.Node) -> EditMatch | None:
        binding: Binding = {}
        if not self._unify(self._template.before, node, "", file.data, binding):
            return None
        start, end = node.start_byte, node.end_byte
        line = file.lexed.line_of(start)
        first = file.data[file.lexed.line_starts[line] : start]
        indent = decode(first[: len(first) - len(first.lstrip())])

        def word(leaf: Node | Use) -> str:
            if isinstance(leaf, Node):
                return leaf.text
            return leaf.prefix + decode(binding.get(id(leaf.hole), b"")) + leaf.suffix

        after = encode(render(self._template.after, word, indent=indent))
        edit = shrink(file.data, TextEdit(start, end, after))
        return None if edit is None else _edit_match(file, _whole_tokens(file.data, start, end, edit))

    def _unify(self, template: Template, node: ts.Node, field: str, data: bytes, binding: Binding) -> bool:
        """Return whether a node is what a template stands for; what holes stand for is added to `binding`."""
        if isinstance(template, Use):
            text = data[node.start_byte : node.end_byte]
            if not node.is_named or not self._may_be(template.hole, node, field):
                return False
            inner = _without(text, template.prefix, template.suffix)
            return inner is not None and _bind(template.hole, inner, binding)
        expected = template.node if isinstance(template, Inner) else template
        if node.type != expected.kind:
            return False
        below: Sequence[Template] = template.children
        if not below:
            return data[node.start_byte : node.end_byte] == encode(expected.text)
        return self._unify_children(below, node, data, binding)

    def _unify_children(self, below: Sequence[Template], node: ts.Node, data: bytes, binding: Binding) -> bool:
        children = [
            (child, node.field_name_for_child(at) or "")
            for at, child in enumerate(node.children)
            if child.type not in self._language.comments and child.start_byte < child.end_byte
        ]
        many = next((at for at, each in enumerate(below) if isinstance(each, Use) and each.hole.many), None)
        if many is None:
            return len(below) == len(children) and all(
                self._unify(each, child, field, data, binding)
                for each, (child, field) in zip(below, children, strict=True)
            )
        num_behind = len(below) - many - 1
        if len(children) < many + num_behind:
            return False
        last = len(children) - num_behind
        middle = [child for child, _ in children[many:last]]
        fixed, beside = [*below[:many], *below[many + 1 :]], [*children[:many], *children[last:]]
        use = below[many]
        assert isinstance(use, Use)
        text = data[middle[0].start_byte : middle[-1].end_byte] if middle else b""
        return _bind(use.hole, text, binding) and all(
            self._unify(each, child, field, data, binding) for each, (child, field) in zip(fixed, beside, strict=True)
        )

    def _may_be(self, hole: Hole, node: ts.Node, field: str) -> bool:
        """Return whether a node can stand for a hole: what binds as tightly as a name, or what was shown there."""
        kind = node.type
        inner = node
        while inner.child_count == 1 and inner.named_child_count == 1:
            inner = inner.children[0]
        shown = {*hole.kinds, *hole.inner_kinds}
        if kind in shown or inner.type in shown:
            return True
        general = self._language.primaries | self._language.identifiers
        return bool(shown & general) and (kind in general or inner.type in general)


def _without(text: bytes, prefix: str, suffix: str) -> bytes | None:
    before, behind = encode(prefix), encode(suffix)
    if not text.startswith(before) or not text.endswith(behind):
        return None
    return text[len(before) : len(text) - len(behind)]


def _bind(hole: Hole, text: bytes, binding: Binding) -> bool:
    """Note what a hole stands for; return whether that agrees with its other uses, but for white space."""
    known = binding.setdefault(id(hole), text)
    return known is text or known.split() == text.split()


def _whole_tokens(data: bytes, start: int, end: int, edit: TextEdit) -> TextEdit:
    """Return an edit of the bytes [start, end) that cuts no token."""
    tokens = lex(data, start, end)
    low, high = edit.start, edit.end
    for first, last in zip(tokens.starts, tokens.ends, strict=True):
        if first < edit.start < last:
            low = first
        if first < edit.end < last:
            high = last
    return TextEdit(low, high, data[low : edit.start] + edit.text + data[edit.end : high])


def _edit_match(file: SearchedFile, edit: TextEdit) -> EditMatch | None:
    """Return an edit as a match, or None if it is larger than the lines around its first one."""
    line = file.lexed.line_of(edit.start)
    window = file.window(line)
    low = bisect_left(window.tokens.starts, edit.start)
    high = bisect_left(window.tokens.starts, edit.end)
    if window.tokens.ends and edit.end > window.tokens.ends[-1]:
        return None
    return EditMatch(file, edit.start, edit.end, edit.text, window, low, max(low, high), line)
