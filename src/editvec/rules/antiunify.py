"""Anti-unification of pairs of trees: what the examples share is kept, what differs becomes a hole.

The tree before is generalised first and binds the holes; the tree after may only use these holes. Equal texts at two
positions are the same hole. A single example is generalised too: a value that occurs on both sides becomes a hole, and
nothing else does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from editvec.rules.holes import Generalised, Hole, Inner, Keys, Template, Use, leaves
from editvec.rules.sites import NodePair
from editvec.rules.values import (
    innermost,
    is_call,
    is_called_receiver,
    is_carried_name,
    is_content,
    is_expression,
    is_statement,
    is_value,
    parameters,
)
from editvec.syntax.cst import Key, Node
from editvec.syntax.languages import Language

PUNCTUATION = frozenset("( ) [ ] { } . , ; :: = => -> :".split())
"""Tokens that say almost nothing about the code around them."""


_MIN_QUOTE = 3
"""Minimum number of characters of a string that is searched for in another string."""
_ENOUGH = 3
"""Minimum number of identical examples that are taken literally, because they are not equal by chance."""
NAMES = ("name", "property", "attribute", "field", "function")
"""Fields that hold the names of members and of called functions."""


class UnboundError(Exception):
    """A failure to generalise pairs.

    After needs something that before does not have, or that differs between the examples in another way.
    """


def generalise(
    pairs: Sequence[NodePair],
    language: Language,
    *,
    with_names: bool = False,
    wide: bool = False,
    narrow: bool = False,
    receivers: bool = False,
) -> Generalised:
    """Return the most specific pair of templates that matches all pairs.

    With a single example, `with_names` also generalises the names of members that the edit keeps together with their
    receiver and arguments (see `values.is_carried_name`), `wide` generalises every expression that the edit keeps, and
    `narrow` keeps the names of called functions; `receivers` keeps them only where their result is a receiver.

    Raises:
        UnboundError: There is no such pair of templates.
    """
    try:
        return _generalise(_Work(language, pairs, with_names=with_names, wide=wide, narrow=narrow, receivers=receivers))
    except UnboundError:
        # What after needs may be a part of a string, so look into strings too.
        return _generalise(_Work(language, pairs, into_strings=True))


def _generalise(work: _Work) -> Generalised:
    before = work.build(tuple(pair.before for pair in work.pairs), bind=True)
    after = work.build(tuple(pair.after for pair in work.pairs), bind=False)
    return Generalised(work.pairs, before, after, list(work.holes.values()))


class _Work:
    """The state of one anti-unification."""

    def __init__(
        self,
        language: Language,
        pairs: Sequence[NodePair],
        *,
        into_strings: bool = False,
        with_names: bool = False,
        wide: bool = False,
        narrow: bool = False,
        receivers: bool = False,
    ) -> None:
        self.with_names, self.wide, self.narrow, self.receivers = with_names, wide, narrow, receivers
        self.language = language
        self.pairs = tuple(pairs)
        self.holes: dict[tuple[Keys, bool], Hole] = {}
        self.alone = len(pairs) < _ENOUGH and len({(pair.before.key, pair.after.key) for pair in pairs}) == 1
        self.others = [pair.after.contents() for pair in pairs]
        opened = ("interpolated", "template", *(["string", "interpreted"] if into_strings else []))
        self.atoms = frozenset(kind for kind in language.literals if not kind.startswith(opened))
        """Kinds of nodes whose children are never compared."""

    def build(self, nodes: tuple[Node, ...], *, bind: bool) -> Template:
        """Return the template of the nodes that stand at one position in each example.

        With `bind`, a difference creates a hole; without it, only existing holes are used.
        """
        keys = tuple(node.key for node in nodes)
        if not bind and (known := self.holes.get((keys, False))) and self._may_be(known, nodes[0]):
            known.num_uses += 1
            return Use(known, nodes[0].start, nodes[0].end)
        kinds = {node.kind for node in nodes}
        equal = len(kinds) == 1 and len(set(keys)) == 1
        if self.alone:
            return self._build_alone(nodes, keys, bind)
        if equal:
            if bind and self._is_parameter(nodes[0]):
                return self._hole(nodes, keys, bind)
            # Equal nodes may contain a parameter, whose name is equal only by chance.
            inner = self._inner(nodes, bind=bind) if self._parameters & set(keys[0]) and not nodes[0].is_leaf else None
            return inner or nodes[0]
        if len(kinds) > 1 or any(node.is_leaf for node in nodes) or nodes[0].kind in self.atoms:
            return self._hole(nodes, keys, bind)
        if bind and self._shared(nodes):
            return self._shared_template(nodes, keys)
        return self._inner(nodes, bind=bind) or self._hole(nodes, keys, bind)

    def _build_alone(self, nodes: tuple[Node, ...], keys: Keys, bind: bool) -> Template:
        node, root = nodes[0], self.pairs[0].before
        kept = (self.narrow and is_call(node)) or (self.receivers and is_called_receiver(node, self.language))
        if bind and not kept and (node.kind, node.key) in self._values and is_value(node, root, self.language):
            return self._hole(nodes, keys, bind)
        if bind and self.wide and self._is_kept(node):
            return self._hole(nodes, keys, bind)
        if node.is_leaf:
            moved = is_content(node, self.language) and self._moves(node)
            carried = (
                self.with_names
                and not self.narrow
                and is_carried_name(node, lambda each: self._shared((each,)), self.language)
            )
            if bind and (moved or carried or self._is_parameter(node)):
                return self._hole(nodes, keys, bind)
            return node if bind else self._within_string(nodes) or node
        return self._inner(nodes, bind=bind) or node

    def _is_kept(self, node: Node) -> bool:
        """Return whether a node is an expression that also occurs after the edit, as a part of it."""
        if not node.named or node is self.pairs[0].before or is_statement(node) or not self._shared((node,)):
            return False
        return is_expression(node, self.language) and node.key != self.pairs[0].after.key

    def _moves(self, content: Node) -> bool:
        """Return whether the content of a string occurs after in another role, or in a longer string."""
        if ("", content.key) in {("", key) for _, key in self.others[0]}:
            return True
        contents = [node for node in self.pairs[0].after.walk() if is_content(node, self.language)]
        return len(content.text) >= _MIN_QUOTE and any(content.text in node.text for node in contents)

    def _within_string(self, nodes: tuple[Node, ...]) -> Use | None:
        """Return the use of a quoted hole inside strings, or None if there is none.

        Each string must contain what the hole stands for, between the same words in all examples.
        """
        if not all(is_content(node, self.language) for node in nodes):
            return None
        for hole in self.holes.values():
            values = ["".join(key) for key in hole.keys]
            if not hole.quoted or not all(value in node.text for node, value in zip(nodes, values, strict=True)):
                continue
            around = {node.text.partition(value)[::2] for node, value in zip(nodes, values, strict=True)}
            prefix, suffix = around.pop()
            # A capital, digit or underscore behind a metavariable would be read as part of its name.
            if not around and not re.match(r"[A-Z0-9_]", suffix):
                hole.num_uses += 1
                return Use(hole, nodes[0].start, nodes[0].end, prefix, suffix)
        return None

    @cached_property
    def _values(self) -> frozenset[tuple[str, Key]]:
        """Return the kinds and keys of the nodes that are values after the edit."""
        root = self.pairs[0].after
        return frozenset((node.kind, node.key) for node in root.walk() if is_value(node, root, self.language))

    @cached_property
    def _parameters(self) -> frozenset[str]:
        """Return the names that the first example declares as parameters."""
        return parameters(self.pairs[0].before, self.language)

    def _is_parameter(self, node: Node) -> bool:
        return node.is_leaf and node.kind in self.language.identifiers and node.text in self._parameters

    def _may_be(self, hole: Hole, node: Node) -> bool:
        """Return whether a node after the edit can be a use of the hole.

        With a single example, the node must be of the same kind as before.
        """
        kind = innermost(node).kind
        if not self.alone or hole.quoted or hole.role in NAMES or self.wide:
            return True
        same = kind in hole.inner_kinds or "parameter" in hole.inner_kinds[0]
        return same and (is_value(node, self.pairs[0].after, self.language) or self._is_parameter(innermost(node)))

    def _shared_template(self, nodes: tuple[Node, ...], keys: Keys) -> Template:
        """Return the template of a node that the edit moved or kept.

        It becomes a hole, unless all examples share one of its names, literals or operators, which may be what makes
        the edit right. Statements, and nodes for which no metavariable can stand, do not become holes.
        """
        saved = dict(self.holes), {key: hole.num_uses for key, hole in self.holes.items()}
        inner = self._inner(nodes, bind=True)
        if inner is not None and (is_statement(nodes[0]) or not is_expression(nodes[0], self.language)):
            return inner
        if inner is not None and any(isinstance(leaf, Node) and _says_something(leaf) for leaf in leaves(inner)):
            return inner
        self.holes = saved[0]
        for key, uses in saved[1].items():
            self.holes[key].num_uses = uses
        return self._hole(nodes, keys, True)

    def _inner(self, nodes: tuple[Node, ...], *, bind: bool) -> Inner | None:
        """Return a node with its children generalised; None if the children cannot be aligned."""
        first = nodes[0]
        if self._aligned([node.children for node in nodes]):
            below = zip(*(node.children for node in nodes), strict=True)
            return Inner(first, [self.build(each, bind=bind) for each in below])
        lists = [node.children for node in nodes]
        opening = _common(lists)
        closing = _common([each[::-1] for each in lists], limit=min(len(each) for each in lists) - opening)
        middles = [each[opening : len(each) - closing] for each in lists]
        if not opening or not closing or any(child.named for child in first.children[:opening]):
            return None
        if any(child.named for child in first.children[len(first.children) - closing :]):
            return None
        keys = tuple(_keys(each) for each in middles)
        ends = first.children[:opening], first.children[len(first.children) - closing :]
        if not bind and (keys, True) not in self.holes and (split := self._split(middles)):
            return Inner(first, [*ends[0], *split, *ends[1]])
        start = middles[0][0].start if middles[0] else ends[0][-1].end
        use = Use(self._many(nodes, keys, bind), start, middles[0][-1].end if middles[0] else start)
        return Inner(first, [*ends[0], use, *ends[1]])

    def _split(self, lists: Sequence[list[Node]]) -> list[Template] | None:
        """Return the templates of lists that begin or end with what a hole stands for, or None.

        The hole must stand for any number of nodes. The result is a use of the hole and the templates of the remaining
        nodes.
        """
        for hole in [hole for hole in self.holes.values() if hole.many and all(hole.keys)]:
            for last in (True, False):
                sizes = [_num_spelled(each, key, last) for each, key in zip(lists, hole.keys, strict=True)]
                if 0 in sizes:
                    continue
                cuts = [len(each) - size if last else size for each, size in zip(lists, sizes, strict=True)]
                rests = [each[:cut] if last else each[cut:] for each, cut in zip(lists, cuts, strict=True)]
                if not self._aligned(rests):
                    continue
                found = lists[0][cuts[0] :] if last else lists[0][: cuts[0]]
                hole.num_uses += 1
                use = Use(hole, found[0].start, found[-1].end)
                built = [self.build(each, bind=False) for each in zip(*rests, strict=True)]
                return [*built, use] if last else [use, *built]
        return None

    def _aligned(self, lists: Sequence[list[Node]]) -> bool:
        if len({len(each) for each in lists}) != 1:
            return False
        return all(_alike(each) for each in zip(*lists, strict=True))

    def _shared(self, nodes: tuple[Node, ...]) -> bool:
        return all((node.kind, node.key) in other for node, other in zip(nodes, self.others, strict=False))

    def _hole(self, nodes: tuple[Node, ...], keys: Keys, bind: bool) -> Use:
        if (keys, False) not in self.holes:
            if not bind:
                if use := self._within_string(nodes):
                    return use
                raise UnboundError(f"after contains {' '.join(keys[0])}, which before does not determine")
            if not all(keys):
                raise UnboundError("an optional part is present in only some of the examples")
            kinds = tuple(node.kind for node in nodes)
            inner = tuple(innermost(node).kind for node in nodes)
            role = nodes[0].field or nodes[0].kind
            self.holes[keys, False] = Hole(
                keys,
                kinds,
                inner,
                role,
                leaf=all(len(key) == 1 for key in keys),
                quoted=is_content(nodes[0], self.language),
            )
        hole = self.holes[keys, False]
        hole.num_uses += 1
        hole.mixed |= bind and hole.kinds != tuple(node.kind for node in nodes)
        return Use(hole, nodes[0].start, nodes[0].end)

    def _many(self, nodes: tuple[Node, ...], keys: Keys, bind: bool) -> Hole:
        if (keys, True) not in self.holes:
            if not bind:
                raise UnboundError(f"after contains {' '.join(keys[0])}, which before does not determine")
            kinds = tuple(node.kind for node in nodes)
            self.holes[keys, True] = Hole(keys, kinds, kinds, nodes[0].kind, many=True)
        hole = self.holes[keys, True]
        hole.num_uses += 1
        return hole


def _alike(nodes: Sequence[Node]) -> bool:
    """Return whether children at the same position can be generalised into one child.

    Unnamed tokens must be equal.
    """
    if len({node.named for node in nodes}) > 1 or len({node.field for node in nodes}) > 1:
        return False
    return nodes[0].named or len({node.kind for node in nodes}) == 1


def _common(lists: Sequence[list[Node]], limit: int | None = None) -> int:
    """Return the number of equal unnamed tokens with which all the lists begin."""
    count = 0
    for each in zip(*lists, strict=False):
        if (limit is not None and count >= limit) or each[0].named or not _alike(each):
            break
        count += 1
    return count


def _num_spelled(nodes: Sequence[Node], key: Key, last: bool) -> int:
    """Return how many nodes at one end of a list have the given tokens together; 0 if none do."""
    sizes = range(1, len(nodes) + 1)
    return next((size for size in sizes if _keys(nodes[-size:] if last else nodes[:size]) == key), 0)


def _keys(nodes: Sequence[Node]) -> Key:
    return tuple(token for node in nodes for token in node.key)


def _says_something(leaf: Node) -> bool:
    return leaf.named or leaf.text not in PUNCTUATION
