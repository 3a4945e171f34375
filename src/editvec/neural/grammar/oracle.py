"""The actions that build `after`.

The oracle works top-down. Where subtrees of `before` can be copied, it copies the largest one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from editvec.neural.grammar.action import Action, Expand, GenTerm, Reduce, TreeCp
from editvec.neural.grammar.derivation import Derivation, numbered
from editvec.neural.grammar.grammar import NEXT, OPEN, ROOT, ROOT_FIELD, Grammar, Slot, SlotKind, UnseenError
from editvec.syntax.tree import Tree

Key = int
_Form = tuple[object, ...]


@dataclass(slots=True)
class SourceTree:
    """The nodes of `before`, and which of them hold the same subtree."""

    nodes: list[Tree]
    places: dict[Key, tuple[int, ...]]
    """For each distinct subtree that can be copied, the indices of the nodes that hold it."""
    _keys: dict[_Form, Key] = field(repr=False)

    @classmethod
    def of(cls, before: Tree) -> SourceTree:
        """Return the source for a tree."""
        nodes = before.nodes()
        keys: dict[_Form, Key] = {}
        known: dict[int, tuple[Key, int]] = {}
        _number(before, keys, known, grow=True)
        found: dict[Key, list[int]] = defaultdict(list)
        for place, node in enumerate(nodes):
            key, size = known[id(node)]
            if size > 1 and node.children and not node.is_list:
                found[key].append(place)
        return cls(nodes, {key: tuple(places) for key, places in found.items()}, keys)

    def same(self, tree: Tree) -> dict[int, tuple[int, ...]]:
        """Return the subtrees of a tree that also occur in the source.

        The result maps the `id` of each such subtree to the indices of the equal nodes in the source. Single tokens and
        lists are not included.
        """
        known: dict[int, tuple[Key, int]] = {}
        _number(tree, self._keys, known, grow=False)
        places = self.places
        return {node: places[key] for node, (key, _) in known.items() if key in places}


_NEW: Key = -1


def _number(tree: Tree, keys: dict[_Form, Key], known: dict[int, tuple[Key, int]], *, grow: bool) -> tuple[Key, int]:
    """Record a key and the size of each subtree, by the `id` of the subtree, and return those of the whole tree.

    Two subtrees have the same key exactly if they are equal, whatever field they stand in. Unless `grow` is set, a
    subtree without a known key gets _NEW.
    """
    if tree.leaf:
        is_token = tree.position >= 0
        # Its length is even; the length of a node's form is odd, so the two cannot be equal.
        form: _Form = (tree.kind, tree.text, is_token, None)
        size = 1 if is_token else 0
    else:
        size = 0 if tree.is_list or tree.is_absent else 1
        inside: list[object] = [tree.kind]
        missing = False
        for child in tree.children:
            key, below = _number(child, keys, known, grow=grow)
            missing |= key == _NEW
            size += below
            inside += (child.field, key)
        form = tuple(inside)
        if missing:
            found = known[id(tree)] = (_NEW, size)
            return found
    key = keys.setdefault(form, len(keys)) if grow else keys.get(form, _NEW)
    found = known[id(tree)] = (key, size)
    return found


class Step(NamedTuple):
    """An action and where it is taken.

    `opened` is the step that opened the node around the slot, numbered from 1; 0 if there is none.
    """

    action: Action
    slot: Slot
    opened: int


def derive(grammar: Grammar, source: SourceTree, after: Tree) -> list[Action]:
    """Return the actions that build `after`.

    Raises:
        UnseenError: The grammar does not allow `after`.
    """
    return [step.action for step in derive_steps(grammar, source, after)]


def derive_steps(grammar: Grammar, source: SourceTree, after: Tree) -> list[Step]:
    """Return the actions that build `after`, each with its slot and the step that opened its node.

    Raises:
        UnseenError: The grammar does not allow `after`.
    """
    oracle = _Oracle(grammar, source.same(after))
    oracle.build(after, Slot(ROOT, 0), ROOT_FIELD, 0)
    return oracle.steps


class _Oracle:
    """A traversal of `after` that records the actions which a derivation needs.

    Steps that a derivation takes by itself are not recorded.
    """

    def __init__(self, grammar: Grammar, same: dict[int, tuple[int, ...]]) -> None:
        self.grammar, self.same = grammar, same
        self.steps: list[Step] = []

    def build(self, node: Tree, slot: Slot, field: str, opened: int) -> None:
        """Record the actions that build a node in a slot."""
        grammar = self.grammar
        options = grammar.slots.get(slot, ())
        number = grammar.label_of(node, field)
        if number not in options:
            raise UnseenError(f"{node.kind} in {_where(grammar, slot)}")
        label = grammar.labels[number]
        shape = label.shape
        if shape is SlotKind.NODE:
            places = self.same.get(id(node))
            # A copy goes into the first field that accepts it, which can be another field than the required one.
            if places and grammar.copy_field(slot, label) == field:
                self.steps.append(Step(TreeCp(places), slot, opened))
                return
        if shape is SlotKind.NODE or len(options) > 1 or slot.place == NEXT:
            self.steps.append(Step(Expand(number), slot, opened))
        if shape is SlotKind.TOKEN:
            self._write(node, slot, number, opened)
        elif shape is SlotKind.NODE or shape is SlotKind.LIST:
            self._fill(node, number, label.fields)

    def _write(self, token: Tree, slot: Slot, label: int, opened: int) -> None:
        """Record the action that writes the text of a token, unless the text is fixed."""
        text = self.grammar.fixed.get((slot, label))
        if token.text is None or (text is not None and text != token.text):
            raise UnseenError(f"{token.text!r} in {_where(self.grammar, slot)}")
        if text is None:
            self.steps.append(Step(GenTerm(token.text), slot, opened))

    def _fill(self, node: Tree, label: int, fields: tuple[str, ...] | None) -> None:
        """Record the actions that build the children of a node."""
        production = self.grammar.production_of[label]
        mine = len(self.steps)
        if fields is OPEN:
            slot = Slot(production, NEXT)
            for child in node.children:
                self.build(child, slot, child.field, mine)
            self.steps.append(Step(Reduce(), slot, mine))
            return
        for place, child in enumerate(node.children):
            self.build(child, Slot(production, place), child.field, mine)


def _where(grammar: Grammar, slot: Slot) -> str:
    """Return a description of a slot for error messages."""
    if slot.production == ROOT:
        return "the root"
    production = grammar.productions[slot.production]
    return f"the field {production.fields[slot.place]!r} of {production.kind}" if production.fields else production.kind


def replay(grammar: Grammar, source: SourceTree, actions: Iterable[Action]) -> Tree:
    """Return the tree that the actions build from a source.

    Raises:
        UnseenError: The grammar does not allow an action, or the actions end before the tree is complete.
    """
    derivation = Derivation.start(grammar)
    for action in actions:
        derivation = take(derivation, source, action)
    if derivation.tree is None:
        raise UnseenError("the actions end before the tree is complete")
    return numbered(derivation.tree)


def take(derivation: Derivation, source: SourceTree, action: Action) -> Derivation:
    """Return the derivation after an action."""
    match action:
        case Expand(label):
            return derivation.expand(label)
        case GenTerm(text):
            return derivation.write(text)
        case TreeCp(sources):
            return derivation.copy(source.nodes[sources[0]])
        case Reduce():
            return derivation.reduce()
