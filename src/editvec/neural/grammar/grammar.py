"""What trees are legal, read from trees.

A *label* is what can fill a slot: a field and what stands in it (a node of a production, a list, a token, nothing). A
*production* is a kind of node with the fields of its children; a kind that has more than a few shapes in the data, and
every list, is *open*: its children come one by one, until Reduce. The root has a production of its own. A *slot* is a
place in a production (or the next child of an open one); the grammar knows every label that was seen in it, and the
text of a token that is always the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from editvec.core.errors import BadInputError
from editvec.core.files import write_atomically
from editvec.syntax.tree import ABSENT, LIST, Tree

_MOST_SHAPES = 8
"""A kind with more different sequences of fields than this is open."""

OPEN = None
ROOT = -1
"""The production that the root stands in."""
ROOT_FIELD = "<root>"
NEXT = -1
"""The place of the next child of an open production."""


class SlotKind(IntEnum):
    """What kind of thing fills a slot."""

    NODE = 0
    LIST = 1
    TOKEN = 2
    SILENT = 3
    """A leaf that is not among the tokens: an optional one that is absent, the braces of a wrapping block."""
    ABSENT = 4


class Label(NamedTuple):
    """A field and what stands in it."""

    field: str
    shape: SlotKind
    kind: str
    text: str | None
    """Of a silent leaf."""
    fields: tuple[str, ...] | None
    """Of a node's children; OPEN for lists and for kinds with many shapes."""


class Production(NamedTuple):
    """A kind of node with the fields of its children."""

    kind: str
    fields: tuple[str, ...] | None
    is_root: bool


Form = tuple[str, tuple[str, ...] | None]
"""A kind of node and the fields of its children."""


class Slot(NamedTuple):
    """A place in a production, or NEXT for the next child of an open one; in ROOT, the root."""

    production: int
    place: int


class Choice(NamedTuple):
    """A slot is due: one of these labels, a copy of a node that has one of them, or, where it may end, Reduce."""

    slot: Slot
    labels: tuple[int, ...]
    may_end: bool
    sole: int | None
    """The label that leaves no choice: nothing else was ever seen in the slot, and no node that could be copied."""


class UnseenError(ValueError):
    """A tree holds what the grammar has never seen."""


@dataclass(frozen=True)
class Grammar:
    """Labels by number, productions by number, and what may stand in each slot.

    The production of a label that is a node or a list is `production_of[label]`.
    """

    labels: tuple[Label, ...]
    slots: Mapping[Slot, tuple[int, ...]]
    """The labels of each slot, in order."""
    fixed: Mapping[tuple[Slot, int], str]
    """The text of a token that was always the same in a slot."""
    open_kinds: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def number_of(self) -> Mapping[Label, int]:
        """The number of each label."""
        return {label: number for number, label in enumerate(self.labels)}

    @cached_property
    def productions(self) -> tuple[Production, ...]:
        """The productions, in order of first label."""
        found = (_production(label) for label in self.labels if label.shape in (SlotKind.NODE, SlotKind.LIST))
        return tuple(dict.fromkeys(found))

    @cached_property
    def production_of(self) -> tuple[int, ...]:
        """For each label the number of its production; ROOT for what has no children."""
        numbers = {production: number for number, production in enumerate(self.productions)}
        return tuple(
            numbers[_production(label)] if label.shape in (SlotKind.NODE, SlotKind.LIST) else ROOT
            for label in self.labels
        )

    @cached_property
    def kind_numbers(self) -> Mapping[str, int]:
        """The kinds of nodes and tokens, numbered from 1; 0 is left for those that are not known."""
        kinds = dict.fromkeys(
            label.kind for label in self.labels if label.shape not in (SlotKind.SILENT, SlotKind.ABSENT)
        )
        return {kind: number for number, kind in enumerate(kinds, 1)}

    def label_of(self, tree: Tree, field: str) -> int:
        """Return the number of a tree's label when it stands in a field; UnseenError where there is none."""
        label = label_of(tree, field, self.open_kinds)
        number = self.number_of.get(label)
        if number is None:
            raise UnseenError(
                f"{label.kind} in the field {field!r}" + (f" with {label.fields}" if label.fields else "")
            )
        return number

    @cached_property
    def slot_numbers(self) -> Mapping[Slot, int]:
        """The slots, numbered."""
        return {slot: number for number, slot in enumerate(self.slots)}

    @cached_property
    def form_numbers(self) -> Mapping[Form, int]:
        """The forms of nodes, numbered: what decides where a copy of one fits."""
        forms = ((label.kind, label.fields) for label in self.labels if label.shape is SlotKind.NODE)
        return {form: number for number, form in enumerate(dict.fromkeys(forms))}

    def form_of(self, tree: Tree) -> int | None:
        """Return the number of a node's form; None where no node of the grammar has it."""
        fields = OPEN if tree.kind in self.open_kinds else tuple(child.field for child in tree.children)
        return self.form_numbers.get((tree.kind, fields))

    @cached_property
    def _copied_as(self) -> Mapping[tuple[Slot, Form], int]:
        # The root is never copied: what stands in it has slots of its own.
        found: dict[tuple[Slot, Form], int] = {}
        for slot, options in self.slots.items():
            for option in options:
                label = self.labels[option]
                if label.shape is SlotKind.NODE and slot.production != ROOT:
                    found.setdefault((slot, (label.kind, label.fields)), option)
        return found

    def copy_label(self, slot: Slot, tree: Tree) -> int | None:
        """Return the label that a subtree has when it is copied into a slot; None where it does not fit."""
        fields = OPEN if tree.kind in self.open_kinds else tuple(child.field for child in tree.children)
        return self._copied_as.get((slot, (tree.kind, fields)))

    def copy_field(self, slot: Slot, label: Label) -> str | None:
        """Return the field that a copy of a node with this label stands in when it goes into a slot."""
        number = self._copied_as.get((slot, (label.kind, label.fields)))
        return None if number is None else self.labels[number].field

    def copyable(self) -> Iterator[tuple[int, int]]:
        """Pairs of a slot's number and the number of a form that can be copied into it."""
        for slot, form in self._copied_as:
            yield self.slot_numbers[slot], self.form_numbers[form]

    @cached_property
    def shortest(self) -> Mapping[Slot, int]:
        """For each slot the label with which a tree ends soonest: following these, every derivation ends."""
        heights = {number: 0 for number, label in enumerate(self.labels) if not label.fields}
        while True:
            found = dict(heights)
            for number in range(len(self.labels)):
                if number in heights:
                    continue
                lows = [
                    min((heights[option] for option in self.slots[slot] if option in heights), default=None)
                    for slot in self.slots_of(number)
                ]
                if all(low is not None for low in lows):
                    found[number] = 1 + max(low for low in lows if low is not None)
            if found == heights:
                break
            heights = found
        infinite = len(self.labels) + 1
        return {
            slot: min(options, key=lambda option: (heights.get(option, infinite), option))
            for slot, options in self.slots.items()
            if options  # a list that was always empty has none: it only ends
        }

    @cached_property
    def start(self) -> Choice:
        """What a tree begins with."""
        return self._choice(Slot(ROOT, 0))

    def choice_at(self, label: int, place: int) -> Choice:
        """Return what is due of a label's next child, when `place` are there."""
        choices = self._choices_at[label]
        return choices[place] if self.labels[label].fields else choices[0]

    @cached_property
    def _choices_at(self) -> tuple[tuple[Choice, ...], ...]:
        return tuple(
            tuple(map(self._choice, self.slots_of(label) or [Slot(self.production_of[label], NEXT)]))
            for label in range(len(self.labels))
        )

    def _choice(self, slot: Slot) -> Choice:
        labels, may_end = self.slots.get(slot, ()), slot.place == NEXT
        settled = not may_end and len(labels) == 1 and self.labels[labels[0]].shape is not SlotKind.NODE
        return Choice(slot, labels, may_end, labels[0] if settled else None)

    def slots_of(self, label: int) -> list[Slot]:
        """Return the slots that a label opens, all to be filled; an open production need not have children."""
        fields = self.labels[label].fields
        return [Slot(self.production_of[label], place) for place in range(len(fields or ()))]

    def to_json(self) -> Any:
        """Return the grammar as JSON."""
        return {
            "labels": [list(label) for label in self.labels],
            "slots": [[*slot, list(options)] for slot, options in self.slots.items()],
            "fixed": [[*slot, label, text] for (slot, label), text in self.fixed.items()],
            "open": sorted(self.open_kinds),
        }

    @classmethod
    def from_json(cls, data: Any) -> Grammar:
        """Return what `to_json` gave; ValueError or the like where it is something else."""
        labels = tuple(
            Label(str(name), SlotKind(shape), str(kind), text, None if fields is None else tuple(map(str, fields)))
            for name, shape, kind, text, fields in data["labels"]
        )
        slots = {Slot(int(p), int(at)): tuple(map(int, options)) for p, at, options in data["slots"]}
        if any(not 0 <= option < len(labels) for options in slots.values() for option in options):
            raise ValueError("a slot names a label that is not there")
        if any(not options and slot.place != NEXT for slot, options in slots.items()):
            raise ValueError("a slot takes nothing at all")
        fixed = {(Slot(int(p), int(at)), int(label)): str(text) for p, at, label, text in data["fixed"]}
        return cls(labels, slots, fixed, frozenset(map(str, data["open"])))

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        write_atomically(path, orjson.dumps(self.to_json()))

    @classmethod
    def load(cls, path: Path) -> Grammar:
        """Read what `save` wrote."""
        try:
            return cls.from_json(orjson.loads(path.read_bytes()))
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise BadInputError(path, None, f"not a grammar ({error})") from None


def _production(label: Label) -> Production:
    return Production(label.kind, label.fields, label.field == ROOT_FIELD)


def label_of(tree: Tree, field: str, open_kinds: frozenset[str]) -> Label:
    """Return the label of a tree that stands in a field."""
    if tree.is_absent:
        return Label(field, SlotKind.ABSENT, ABSENT, None, ())
    if tree.leaf:
        if tree.position >= 0:
            return Label(field, SlotKind.TOKEN, tree.kind, None, ())
        return Label(field, SlotKind.SILENT, tree.kind, tree.text, ())
    if tree.is_list:
        return Label(field, SlotKind.LIST, LIST, None, OPEN)
    fields = OPEN if tree.kind in open_kinds else tuple(child.field for child in tree.children)
    return Label(field, SlotKind.NODE, tree.kind, None, fields)


def learn(trees: Iterable[Tree]) -> Grammar:
    """Return the grammar of trees, which are gone through once."""
    builder = _Builder()
    for tree in trees:
        builder.add(tree)
    return builder.grammar()


_NONE: frozenset[str] = frozenset()


class _Builder:
    """Collects labels and slots as if no kind were open; which ones are is known at the end."""

    def __init__(self) -> None:
        self.shapes: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        self.seen: dict[tuple[Production | None, int], dict[Label, set[str]]] = defaultdict(dict)
        """What stands in each place of a production (None for the root's own), with the texts of tokens, up to two."""

    def add(self, tree: Tree) -> None:
        stack: list[tuple[Tree, Production | None, int, str]] = [(tree, None, 0, ROOT_FIELD)]
        while stack:
            node, around, place, name = stack.pop()
            label = label_of(node, name, _NONE)
            texts = self.seen[around, place].setdefault(label, set())
            if label.shape is SlotKind.TOKEN and len(texts) < 2:
                texts.add(node.text or "")
            if label.shape is SlotKind.NODE or label.shape is SlotKind.LIST:
                production = _production(label)
                if label.fields is not OPEN:
                    self.shapes[label.kind].add(label.fields)
                    stack += [(child, production, at, child.field) for at, child in enumerate(node.children)]
                else:
                    self.seen[production, NEXT]
                    stack += [(child, production, NEXT, child.field) for child in node.children]

    def grammar(self) -> Grammar:
        """Labels, productions and slots have the numbers of first occurrence."""
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
                productions.setdefault(_production(label), len(productions))
        texts: dict[Slot, dict[int, set[str]]] = {Slot(ROOT, 0): {}}
        for production, number in productions.items():
            if production.fields is OPEN:
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


def same_tree(first: Tree, second: Tree) -> bool:
    """Return whether two trees are the same but for the positions of their tokens and the root's own field."""
    pairs: list[tuple[Tree, Tree]] = [(first, second)]
    while pairs:
        one, other = pairs.pop()
        if (one.kind, one.leaf, one.text, one.position >= 0, len(one.children)) != (
            other.kind,
            other.leaf,
            other.text,
            other.position >= 0,
            len(other.children),
        ):
            return False
        if [child.field for child in one.children] != [child.field for child in other.children]:
            return False
        pairs += zip(one.children, other.children, strict=True)
    return True
