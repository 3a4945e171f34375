"""A tree under construction.

A derivation is persistent: every action returns a new derivation and leaves the old one unchanged, so that the
hypotheses of a search share their common parts.

Steps without a choice are taken at once: a slot in which only one list, one token or nothing ever occurred, and a token
whose text was always the same. A slot for a node always leaves a choice, because a node can be copied.
"""

from __future__ import annotations

from typing import NamedTuple

from editvec.neural.grammar.grammar import Choice, Grammar, Slot, SlotKind, UnseenError
from editvec.syntax.tree import NOWHERE, Tree

_TOKEN_POSITION = 0


class Text(NamedTuple):
    """The next decision is the text of a token."""

    slot: Slot
    label: int


class Frame(NamedTuple):
    """A node that does not have all of its children yet."""

    label: int
    opened: int
    """The step that opened the node, for parent feeding; 0 for the frame of the root."""
    children: tuple[Tree, ...]
    above: Frame | None


class Derivation(NamedTuple):
    """The open frames, innermost first; the token that needs a text; or the finished tree."""

    grammar: Grammar
    frame: Frame | None
    token: int | None
    """The label of a token that has no text yet."""
    tree: Tree | None
    """The finished tree. The positions of its tokens are not valid yet: see `numbered`."""
    num_steps: int
    due: Choice | Text | None = None
    """The next decision; None when the tree is complete."""

    @classmethod
    def start(cls, grammar: Grammar) -> Derivation:
        """Return a derivation in which no step has been taken."""
        return _settled(grammar, None, None, None, 0)

    def expand(self, label: int) -> Derivation:
        """Return the derivation after ExpandR.

        Raises:
            UnseenError: The label is not allowed in the slot.
        """
        choice = self.due
        if not isinstance(choice, Choice) or label not in choice.labels:
            raise UnseenError(f"{self.grammar.labels[label].kind} in {self._where()}")
        step = self.num_steps + 1
        return _settled(self.grammar, *_expanded(self.grammar, self.frame, label, step), step)

    def write(self, text: str) -> Derivation:
        """Return the derivation after GenTerm.

        Raises:
            UnseenError: The next decision is not a text.
        """
        if self.token is None:
            raise UnseenError("the next decision is not the text of a token")
        return self._with(_token(self.grammar, self.token, text))

    def copy(self, tree: Tree) -> Derivation:
        """Return the derivation after TreeCp.

        Raises:
            UnseenError: The subtree does not fit into the slot.
        """
        label = self.copy_label(tree)
        if label is None:
            raise UnseenError(f"{tree.kind} in {self._where()}")
        return self._with(_in_field(tree, self.grammar.labels[label].field))

    def reduce(self) -> Derivation:
        """Return the derivation after Reduce.

        Raises:
            UnseenError: The children of the node cannot end here.
        """
        choice = self.due
        if not isinstance(choice, Choice) or not choice.may_end:
            raise UnseenError("the children of the node cannot end here")
        assert self.frame is not None
        label, _, children, above = self.frame
        found = self.grammar.labels[label]
        frame, tree = _added(self.grammar, above, Tree(found.kind, found.field, children))
        return _settled(self.grammar, frame, None, tree, self.num_steps + 1)

    def copy_label(self, tree: Tree) -> int | None:
        """Return the label of a subtree when it is copied into the current slot, or None if it does not fit.

        If several fields accept the subtree, the first is used, so copying is deterministic.
        """
        due = self.due
        return self.grammar.copy_label(due.slot, tree) if isinstance(due, Choice) else None

    def _with(self, child: Tree) -> Derivation:
        """Return the derivation after a step that added a child."""
        frame, tree = _added(self.grammar, self.frame, child)
        return _settled(self.grammar, frame, None, tree, self.num_steps + 1)

    def _where(self) -> str:
        """Return a description of the current slot for error messages."""
        if self.frame is None:
            return "the root"
        production = self.grammar.labels[self.frame.label]
        place = len(self.frame.children)
        return f"the field {production.fields[place]!r} of {production.kind}" if production.fields else production.kind


def _settled(grammar: Grammar, frame: Frame | None, token: int | None, tree: Tree | None, step: int) -> Derivation:
    """Return the derivation in this state, after all steps that leave no choice."""
    # A search makes dozens of derivations per edit, so no derivation is made between two choices.
    while tree is None:
        choice = grammar.start if frame is None else grammar.choice_at(frame.label, len(frame.children))
        if token is None:
            if choice.sole is None:
                return Derivation(grammar, frame, None, None, step, choice)
            frame, token, tree = _expanded(grammar, frame, choice.sole, step)
        else:
            text = grammar.fixed.get((choice.slot, token))
            if text is None:
                return Derivation(grammar, frame, token, None, step, Text(choice.slot, token))
            frame, tree = _added(grammar, frame, _token(grammar, token, text))
            token = None
    return Derivation(grammar, None, None, tree, step)


def _expanded(
    grammar: Grammar, frame: Frame | None, label: int, step: int
) -> tuple[Frame | None, int | None, Tree | None]:
    """Return the state after the next slot is filled according to a label.

    The state consists of the innermost frame, the label of a token that needs a text, and the finished tree.
    """
    found = grammar.labels[label]
    if found.shape is SlotKind.TOKEN:
        return frame, label, None
    if found.shape is SlotKind.SILENT:
        frame, tree = _added(grammar, frame, Tree(found.kind, found.field, (), found.text, NOWHERE, True))
        return frame, None, tree
    if found.shape is SlotKind.ABSENT or found.fields == ():
        frame, tree = _added(grammar, frame, Tree(found.kind, found.field))
        return frame, None, tree
    return Frame(label, step, (), frame), None, None


def _added(grammar: Grammar, frame: Frame | None, child: Tree) -> tuple[Frame | None, Tree | None]:
    """Return the innermost frame after a child is added, and the finished tree if the tree is complete.

    Frames that have all of their children are closed.
    """
    while frame is not None:
        label, opened, children, above = frame
        children = (*children, child)
        found = grammar.labels[label]
        if found.fields is None or len(children) < len(found.fields):
            return Frame(label, opened, children, above), None
        child, frame = Tree(found.kind, found.field, children), above
    return None, _in_field(child, "")


def _token(grammar: Grammar, label: int, text: str) -> Tree:
    """Return a token with a label and a text."""
    found = grammar.labels[label]
    return Tree(found.kind, found.field, (), text, _TOKEN_POSITION, True)


def _in_field(tree: Tree, field: str) -> Tree:
    """Return the tree as the child in a field."""
    if tree.field == field:
        return tree
    return Tree(tree.kind, field, tree.children, tree.text, tree.position, tree.leaf)


def numbered(tree: Tree) -> Tree:
    """Return the tree with its tokens numbered from left to right."""
    count = 0

    def number(node: Tree) -> Tree:
        nonlocal count
        if node.leaf:
            position = NOWHERE
            if node.position >= 0:
                position, count = count, count + 1
            return Tree(node.kind, node.field, (), node.text, position, True)
        return Tree(node.kind, node.field, tuple([number(child) for child in node.children]))

    return number(tree)
