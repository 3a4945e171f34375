"""Which actions make `after`: top-down, and wherever a subtree of `before` will do, the largest one is copied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from editvec.grammar.action import Action, Expand, GenTerm, Reduce, TreeCp
from editvec.grammar.derivation import Derivation, Frame, Text
from editvec.grammar.grammar import ROOT_FIELD, Grammar, UnseenError, same_tree
from editvec.syntax.tree import Tree

Key = int


@dataclass(slots=True)
class Source:
    """The nodes of `before`, and which of them are the same subtree."""

    nodes: list[Tree]
    places: dict[Key, tuple[int, ...]]
    """For each different subtree that can be copied the places where it stands."""
    _keys: dict[tuple[object, ...], Key] = field(repr=False)

    @classmethod
    def of(cls, before: Tree) -> Source:
        """The source that a tree is."""
        nodes = before.nodes()
        keys: dict[tuple[object, ...], Key] = {}
        found: dict[Key, list[int]] = defaultdict(list)
        for place, node in enumerate(nodes):
            if _can_be_copied(node):
                found[_key(node, keys)].append(place)
        return cls(nodes, {key: tuple(places) for key, places in found.items()}, keys)

    def same(self, tree: Tree) -> tuple[int, ...]:
        """The places of subtrees that are the same as this one; none for single tokens and for lists."""
        return self.places.get(_key(tree, self._keys), ()) if _can_be_copied(tree) else ()


def _can_be_copied(tree: Tree) -> bool:
    """A node of more than one node: a lone token is written, not copied as a tree."""
    return not (tree.leaf or tree.is_absent or tree.is_list) and tree.size() > 1


def _key(tree: Tree, keys: dict[tuple[object, ...], Key]) -> Key:
    """A number that two subtrees share exactly when they are the same, whatever field they stand in themselves."""
    inside = tuple((child.field, _key(child, keys)) for child in tree.children)
    form = (tree.kind, tree.text, tree.leaf, tree.leaf and tree.position >= 0, inside)
    return keys.setdefault(form, len(keys))


def derive(grammar: Grammar, source: Source, after: Tree) -> list[Action]:
    """The actions that build `after`; UnseenError where the grammar does not allow it."""
    actions: list[Action] = []
    derivation = Derivation.start(grammar)
    while (due := derivation.due) is not None:
        wanted = _wanted(derivation, after)
        action: Action
        if wanted is None:
            action, derivation = Reduce(), derivation.reduce()
        elif isinstance(due, Text):
            action, derivation = GenTerm(wanted.text or ""), derivation.write(wanted.text or "")
        elif same := _copies(derivation, source, wanted):
            action, derivation = TreeCp(same), derivation.copy(source.nodes[same[0]])
        else:
            label = grammar.label_of(wanted, wanted.field if derivation.frame else ROOT_FIELD)
            action, derivation = Expand(label), derivation.expand(label)
        actions.append(action)
    assert derivation.tree is not None
    if not same_tree(derivation.tree, after):
        raise UnseenError("a slot or a token that the grammar takes for granted is different")
    return actions


def _copies(derivation: Derivation, source: Source, wanted: Tree) -> tuple[int, ...]:
    """The places from which a copy would be what is wanted, in the field in which it is wanted."""
    same = source.same(wanted)
    label = derivation.copy_label(wanted) if same else None
    field = wanted.field if derivation.frame else ROOT_FIELD
    return same if label is not None and derivation.grammar.labels[label].field == field else ()


def replay(grammar: Grammar, source: Source, actions: Iterable[Action]) -> Tree:
    """The tree that actions build from a source."""
    derivation = Derivation.start(grammar)
    for action in actions:
        derivation = take(derivation, source, action)
    if derivation.tree is None:
        raise UnseenError("the actions end before the tree does")
    return derivation.tree


def take(derivation: Derivation, source: Source, action: Action) -> Derivation:
    """The derivation after an action."""
    match action:
        case Expand(label):
            return derivation.expand(label)
        case GenTerm(text):
            return derivation.write(text)
        case TreeCp(sources):
            return derivation.copy(source.nodes[sources[0]])
        case Reduce():
            return derivation.reduce()


def _wanted(derivation: Derivation, after: Tree) -> Tree | None:
    """What `after` has where the derivation is: the frames that are open, outermost first, lead there. None where the
    children of a node are all there."""
    frames: list[Frame] = []
    frame = derivation.frame
    while frame is not None:
        frames.append(frame)
        frame = frame.above
    node = after
    for open_frame in reversed(frames):
        if len(open_frame.children) >= len(node.children):
            if open_frame is frames[0]:
                return None
            raise UnseenError(f"{node.kind} has fewer children than its production")
        node = node.children[len(open_frame.children)]
    return node
