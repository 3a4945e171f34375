"""Build a grammar from trees. It reads each tree once and knows nothing of derivations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from editvec.neural.grammar.grammar import (
    NEXT,
    OPEN,
    ROOT,
    ROOT_FIELD,
    Grammar,
    Label,
    Production,
    Slot,
    SlotKind,
    label_of,
    production,
)
from editvec.syntax.tree import Tree

_MOST_SHAPES = 8
"""Maximum number of different sequences of fields of a kind; a kind with more is open."""


def learn(trees: Iterable[Tree]) -> Grammar:
    """Return the grammar of trees. The trees are read once."""
    builder = _GrammarBuilder()
    for tree in trees:
        builder.add(tree)
    return builder.grammar()


_NONE: frozenset[str] = frozenset()


class _GrammarBuilder:
    """A collector of labels and slots.

    It treats no kind as open, because which kinds are open is known only at the end.
    """

    def __init__(self) -> None:
        self.shapes: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        self.seen: dict[tuple[Production | None, int], dict[Label, set[str]]] = defaultdict(dict)
        """The labels in each position of a production (None: the root's), with at most two texts of each token."""

    def add(self, tree: Tree) -> None:
        """Add the labels and slots of a tree."""
        stack: list[tuple[Tree, Production | None, int, str]] = [(tree, None, 0, ROOT_FIELD)]
        while stack:
            node, around, place, name = stack.pop()
            label = label_of(node, name, _NONE)
            texts = self.seen[around, place].setdefault(label, set())
            if label.shape is SlotKind.TOKEN and len(texts) < 2:
                texts.add(node.text or "")
            if label.shape is SlotKind.NODE or label.shape is SlotKind.LIST:
                own = production(label)
                if label.fields is not OPEN:
                    self.shapes[label.kind].add(label.fields)
                    stack += [(child, own, at, child.field) for at, child in enumerate(node.children)]
                else:
                    self.seen[own, NEXT]
                    stack += [(child, own, NEXT, child.field) for child in node.children]

    def grammar(self) -> Grammar:
        """Return the grammar; labels, productions and slots are numbered by first occurrence."""
        open_kinds = frozenset(kind for kind, found in self.shapes.items() if len(found) > _MOST_SHAPES)

        def opened(label: Label) -> Label:
            return label._replace(fields=OPEN) if label.shape is SlotKind.NODE and label.kind in open_kinds else label

        labels: dict[Label, int] = {}
        for found in self.seen.values():
            for label in found:
                labels.setdefault(opened(label), len(labels))
        productions: dict[Production, int] = {}
        for label in labels:
            if label.shape in (SlotKind.NODE, SlotKind.LIST):
                productions.setdefault(production(label), len(productions))
        texts: dict[Slot, dict[int, set[str]]] = {Slot(ROOT, 0): {}}
        for each, number in productions.items():
            if each.fields is OPEN:
                texts[Slot(number, NEXT)] = {}
        for (around, place), found in self.seen.items():
            slot = Slot(ROOT, 0)
            if around is not None:
                is_open = around.kind in open_kinds and around.fields is not OPEN
                whole = around._replace(fields=OPEN) if is_open else around
                slot = Slot(productions[whole], NEXT if is_open else place)
            options = texts.setdefault(slot, {})
            for label, words in found.items():
                options.setdefault(labels[opened(label)], set()).update(words)
        slots = {slot: tuple(sorted(options)) for slot, options in texts.items()}
        fixed = {
            (slot, number): next(iter(words))
            for slot, options in texts.items()
            for number, words in options.items()
            if len(words) == 1
        }
        return Grammar(tuple(labels), slots, fixed, open_kinds)
