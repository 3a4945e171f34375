"""The grammar of trees: labels, productions and slots. `builder` makes one from trees.

- A *label* is what can fill a slot: a field, and what stands in it (a node of a production, a list, a token or
  nothing).
- A *production* is a kind of node with the fields of its children. A kind with many different sequences of fields in
  the data is *open*, and so is every list: the children are added one by one until Reduce. The root has its own
  production.
- A *slot* is a position in a production, or the next child of an open production. The grammar knows every label that
  occurred in a slot, and the text of a token that was always the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from editvec.core.errors import BadInputError
from editvec.core.files import write_atomically
from editvec.syntax.tree import ABSENT, LIST, Tree

OPEN = None
ROOT = -1
"""The number of the production that contains the root."""
ROOT_FIELD = "<root>"
NEXT = -1
"""The position of the next child of an open production."""


class SlotKind(IntEnum):
    """The kinds of content of a slot."""

    NODE = 0
    LIST = 1
    TOKEN = 2
    SILENT = 3
    """A leaf that is not a token: an absent optional leaf, or the braces of a wrapping block."""
    ABSENT = 4


class Label(NamedTuple):
    """A field and its content."""

    field: str
    shape: SlotKind
    kind: str
    text: str | None
    """The text of a silent leaf."""
    fields: tuple[str, ...] | None
    """The fields of a node's children; OPEN for lists and for kinds with many sequences of fields."""


class Production(NamedTuple):
    """A kind of node with the fields of its children."""

    kind: str
    fields: tuple[str, ...] | None
    is_root: bool


Form = tuple[str, tuple[str, ...] | None]
"""A kind of node and the fields of its children."""


class Slot(NamedTuple):
    """A position in a production; NEXT for the next child of an open production. ROOT contains the root."""

    production: int
    place: int


class Choice(NamedTuple):
    """The options in a slot: one of the labels, a copy of a node that has one of them, or, if `may_end`, Reduce."""

    slot: Slot
    labels: tuple[int, ...]
    may_end: bool
    sole: int | None
    """The only possible label, if nothing else occurred in the slot and it is not a node, which could be copied."""


class UnseenError(ValueError):
    """A tree contains something that does not occur in the grammar."""


@dataclass(frozen=True)
class Grammar:
    """The labels and productions, with their numbers, and the labels that each slot allows.

    The production of a label that is a node or a list is `production_of[label]`.
    """

    labels: tuple[Label, ...]
    slots: Mapping[Slot, tuple[int, ...]]
    """The labels of each slot, in ascending order."""
    fixed: Mapping[tuple[Slot, int], str]
    """The text of each token that was always the same in a slot."""
    open_kinds: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def number_of(self) -> Mapping[Label, int]:
        """Return the number of each label."""
        return {label: number for number, label in enumerate(self.labels)}

    @cached_property
    def productions(self) -> tuple[Production, ...]:
        """Return the productions, in the order of their first labels."""
        found = (production(label) for label in self.labels if label.shape in (SlotKind.NODE, SlotKind.LIST))
        return tuple(dict.fromkeys(found))

    @cached_property
    def production_of(self) -> tuple[int, ...]:
        """Return the number of the production of each label; ROOT for labels without children."""
        numbers = {production: number for number, production in enumerate(self.productions)}
        return tuple(
            numbers[production(label)] if label.shape in (SlotKind.NODE, SlotKind.LIST) else ROOT
            for label in self.labels
        )

    @cached_property
    def kind_numbers(self) -> Mapping[str, int]:
        """Return the kinds of nodes and tokens, numbered from 1; 0 stands for unknown kinds."""
        kinds = dict.fromkeys(
            label.kind for label in self.labels if label.shape not in (SlotKind.SILENT, SlotKind.ABSENT)
        )
        return {kind: number for number, kind in enumerate(kinds, 1)}

    def label_of(self, tree: Tree, field: str) -> int:
        """Return the number of a tree's label when the tree stands in a field.

        Raises:
            UnseenError: The grammar has no such label.
        """
        label = label_of(tree, field, self.open_kinds)
        number = self.number_of.get(label)
        if number is None:
            raise UnseenError(
                f"{label.kind} in the field {field!r}" + (f" with {label.fields}" if label.fields else "")
            )
        return number

    @cached_property
    def slot_numbers(self) -> Mapping[Slot, int]:
        """Return the numbers of the slots."""
        return {slot: number for number, slot in enumerate(self.slots)}

    @cached_property
    def form_numbers(self) -> Mapping[Form, int]:
        """Return the numbers of the forms of nodes; the form decides where a node can be copied."""
        forms = ((label.kind, label.fields) for label in self.labels if label.shape is SlotKind.NODE)
        return {form: number for number, form in enumerate(dict.fromkeys(forms))}

    def form_of(self, tree: Tree) -> int | None:
        """Return the number of a node's form, or None if no node of the grammar has it."""
        fields = OPEN if tree.kind in self.open_kinds else tuple(child.field for child in tree.children)
        return self.form_numbers.get((tree.kind, fields))

    @cached_property
    def _copied_as(self) -> Mapping[tuple[Slot, Form], int]:
        """Return the label that a node of each form has when it is copied into each slot."""
        # The root is never copied; its children have their own slots.
        found: dict[tuple[Slot, Form], int] = {}
        for slot, options in self.slots.items():
            for option in options:
                label = self.labels[option]
                if label.shape is SlotKind.NODE and slot.production != ROOT:
                    found.setdefault((slot, (label.kind, label.fields)), option)
        return found

    def copy_label(self, slot: Slot, tree: Tree) -> int | None:
        """Return the label of a subtree when it is copied into a slot, or None if it does not fit."""
        fields = OPEN if tree.kind in self.open_kinds else tuple(child.field for child in tree.children)
        return self._copied_as.get((slot, (tree.kind, fields)))

    def copy_field(self, slot: Slot, label: Label) -> str | None:
        """Return the field that a node with this label has when it is copied into a slot."""
        number = self._copied_as.get((slot, (label.kind, label.fields)))
        return None if number is None else self.labels[number].field

    def copyable(self) -> Iterator[tuple[int, int]]:
        """Yield pairs of the number of a slot and the number of a form that can be copied into it."""
        for slot, form in self._copied_as:
            yield self.slot_numbers[slot], self.form_numbers[form]

    @cached_property
    def shortest(self) -> Mapping[Slot, int]:
        """Return, for each slot, the label that leads to a complete tree in the fewest levels.

        A derivation that always takes these labels ends.
        """
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
            if options  # a list that was always empty has no labels, it can only end
        }

    @cached_property
    def start(self) -> Choice:
        """Return the first choice of a derivation."""
        return self._choice(Slot(ROOT, 0))

    def choice_at(self, label: int, place: int) -> Choice:
        """Return the choice for the next child of a label, after `place` children."""
        choices = self._choices_at[label]
        return choices[place] if self.labels[label].fields else choices[0]

    @cached_property
    def _choices_at(self) -> tuple[tuple[Choice, ...], ...]:
        """Return the choices for the children of each label."""
        return tuple(
            tuple(map(self._choice, self.slots_of(label) or [Slot(self.production_of[label], NEXT)]))
            for label in range(len(self.labels))
        )

    def _choice(self, slot: Slot) -> Choice:
        """Return the choice in a slot."""
        labels, may_end = self.slots.get(slot, ()), slot.place == NEXT
        settled = not may_end and len(labels) == 1 and self.labels[labels[0]].shape is not SlotKind.NODE
        return Choice(slot, labels, may_end, labels[0] if settled else None)

    def slots_of(self, label: int) -> list[Slot]:
        """Return the slots that a label opens and that must be filled.

        The result is empty for open productions, because they can have no children.
        """
        fields = self.labels[label].fields
        return [Slot(self.production_of[label], place) for place in range(len(fields or ()))]

    def to_json(self) -> Any:
        """Return the content of `grammar.json`."""
        return {
            "labels": [list(label) for label in self.labels],
            "slots": [[*slot, list(options)] for slot, options in self.slots.items()],
            "fixed": [[*slot, label, text] for (slot, label), text in self.fixed.items()],
            "open": sorted(self.open_kinds),
        }

    @classmethod
    def from_json(cls, data: Any) -> Grammar:
        """Return the grammar that `to_json` wrote.

        Raises:
            ValueError: The data is not a grammar; other malformed data raises KeyError or TypeError.
        """
        labels = tuple(
            Label(str(name), SlotKind(shape), str(kind), text, None if fields is None else tuple(map(str, fields)))
            for name, shape, kind, text, fields in data["labels"]
        )
        slots = {Slot(int(p), int(at)): tuple(map(int, options)) for p, at, options in data["slots"]}
        if any(not 0 <= option < len(labels) for options in slots.values() for option in options):
            raise ValueError("a slot has a label that does not exist")
        if any(not options and slot.place != NEXT for slot, options in slots.items()):
            raise ValueError("a slot has no label")
        fixed = {(Slot(int(p), int(at)), int(label)): str(text) for p, at, label, text in data["fixed"]}
        return cls(labels, slots, fixed, frozenset(map(str, data["open"])))

    def save(self, path: Path) -> None:
        """Write the grammar as JSON."""
        write_atomically(path, orjson.dumps(self.to_json()))

    @classmethod
    def load(cls, path: Path) -> Grammar:
        """Return the grammar that `save` wrote.

        Raises:
            BadInputError: The file does not exist or is not a grammar.
        """
        try:
            return cls.from_json(orjson.loads(path.read_bytes()))
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise BadInputError(path, None, f"not a grammar ({error}). Train again, or copy the file again.") from None


def production(label: Label) -> Production:
    """Return the production of a label."""
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


def same_tree(first: Tree, second: Tree) -> bool:
    """Return whether two trees are equal, except for token positions and the field of the root."""
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
