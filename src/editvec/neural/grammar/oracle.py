"""Which actions make `after`: top-down, and wherever a subtree of `before` will do, the largest one is copied."""

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
    """The nodes of `before`, and which of them are the same subtree."""

    nodes: list[Tree]
    places: dict[Key, tuple[int, ...]]
    """For each different subtree that can be copied the places where it stands."""
    _keys: dict[_Form, Key] = field(repr=False)

    @classmethod
    def of(cls, before: Tree) -> SourceTree:
        """Return the source that a tree is."""
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
        """Return, for each subtree of a tree that also stands in the source, the places there, by its `id`.

        Single tokens and lists are none of them.
        """
        known: dict[int, tuple[Key, int]] = {}
        _number(tree, self._keys, known, grow=False)
        places = self.places
        return {node: places[key] for node, (key, _) in known.items() if key in places}


_NEW: Key = -1


def _number(tree: Tree, keys: dict[_Form, Key], known: dict[int, tuple[Key, int]], *, grow: bool) -> tuple[Key, int]:
    """Note, by its `id`, a key and the size of each subtree.

    Two subtrees share a key exactly when they are the same, whatever field they stand in themselves; unless the keys
    may `grow`, what has none yet is _NEW.
    """
    if tree.leaf:
        is_token = tree.position >= 0
        # Of even length, as that of a node never is.
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
    """An action, the slot in which it is taken, and the step, from 1, that opened the node around it; 0 for none."""

    action: Action
    slot: Slot
    opened: int


def derive(grammar: Grammar, source: SourceTree, after: Tree) -> list[Action]:
    """Return the actions that build `after`; UnseenError where the grammar does not allow it."""
    return [step.action for step in derive_steps(grammar, source, after)]


def derive_steps(grammar: Grammar, source: SourceTree, after: Tree) -> list[Step]:
    """Return the actions that build `after`, each with where it is taken."""
    oracle = _Oracle(grammar, source.same(after))
    oracle.build(after, Slot(ROOT, 0), ROOT_FIELD, 0)
    return oracle.steps


class _Oracle:
    """Follows `after`, and notes what a derivation would have to be told: all that it does not do by itself."""

    def __init__(self, grammar: Grammar, same: dict[int, tuple[int, ...]]) -> None:
        self.grammar, self.same = grammar, same
        self.steps: list[Step] = []

    def build(self, node: Tree, slot: Slot, field: str, opened: int) -> None:
        grammar = self.grammar
        options = grammar.slots.get(slot, ())
        number = grammar.label_of(node, field)
        if number not in options:
            raise UnseenError(f"{node.kind} in {_where(grammar, slot)}")
        label = grammar.labels[number]
        shape = label.shape
        if shape is SlotKind.NODE:
            places = self.same.get(id(node))
            # A copy goes into the first field that can take it, which need not be the one that is wanted.
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
        text = self.grammar.fixed.get((slot, label))
        if token.text is None or (text is not None and text != token.text):
            raise UnseenError(f"{token.text!r} in {_where(self.grammar, slot)}")
        if text is None:
            self.steps.append(Step(GenTerm(token.text), slot, opened))

    def _fill(self, node: Tree, label: int, fields: tuple[str, ...] | None) -> None:
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
    if slot.production == ROOT:
        return "the root"
    production = grammar.productions[slot.production]
    return f"the field {production.fields[slot.place]!r} of {production.kind}" if production.fields else production.kind


def replay(grammar: Grammar, source: SourceTree, actions: Iterable[Action]) -> Tree:
    """Return the tree that actions build from a source."""
    derivation = Derivation.start(grammar)
    for action in actions:
        derivation = take(derivation, source, action)
    if derivation.tree is None:
        raise UnseenError("the actions end before the tree does")
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
