"""A tree under construction.

Persistent: every action gives a new derivation and leaves the old one as it was, so that hypotheses of a search share
what they have in common.

What leaves no choice is done at once: a slot in which only a list, a token or nothing was ever seen, a token whose text
was always the same. Where a node is due there is always a choice, to copy one.
"""

from __future__ import annotations

from typing import NamedTuple

from editvec.neural.grammar.grammar import Choice, Grammar, Slot, SlotKind, UnseenError
from editvec.syntax.tree import NOWHERE, Tree

_TOKEN_POSITION = 0


class Text(NamedTuple):
    """The text of a token is due."""

    slot: Slot
    label: int


class Frame(NamedTuple):
    """A node whose children are not all there."""

    label: int
    opened: int
    """The step that opened it, for parent feeding; 0 for the root's own frame."""
    children: tuple[Tree, ...]
    above: Frame | None


class Derivation(NamedTuple):
    """The frames that are open, innermost first; the token whose text is due; or the finished tree."""

    grammar: Grammar
    frame: Frame | None
    token: int | None
    """The label of a token without its text yet."""
    tree: Tree | None
    """The positions of its tokens say nothing yet: `numbered`."""
    num_steps: int
    due: Choice | Text | None = None
    """What has to be decided next; None when the tree is complete."""

    @classmethod
    def start(cls, grammar: Grammar) -> Derivation:
        """Nothing is there yet."""
        return _settled(grammar, None, None, None, 0)

    def expand(self, label: int) -> Derivation:
        """ExpandR."""
        choice = self.due
        if not isinstance(choice, Choice) or label not in choice.labels:
            raise UnseenError(f"{self.grammar.labels[label].kind} in {self._where()}")
        step = self.num_steps + 1
        return _settled(self.grammar, *_expanded(self.grammar, self.frame, label, step), step)

    def write(self, text: str) -> Derivation:
        """GenTerm."""
        if self.token is None:
            raise UnseenError("no token is due")
        return self._with(_token(self.grammar, self.token, text))

    def copy(self, tree: Tree) -> Derivation:
        """TreeCp."""
        label = self.copy_label(tree)
        if label is None:
            raise UnseenError(f"{tree.kind} in {self._where()}")
        return self._with(_in_field(tree, self.grammar.labels[label].field))

    def reduce(self) -> Derivation:
        """Reduce."""
        choice = self.due
        if not isinstance(choice, Choice) or not choice.may_end:
            raise UnseenError("nothing can end here")
        assert self.frame is not None
        label, _, children, above = self.frame
        found = self.grammar.labels[label]
        frame, tree = _added(self.grammar, above, Tree(found.kind, found.field, children))
        return _settled(self.grammar, frame, None, tree, self.num_steps + 1)

    def copy_label(self, tree: Tree) -> int | None:
        """Return the label of a subtree when it is copied to where the derivation is; None where it does not fit.

        If several fields accept the subtree, the first is used, so copying is deterministic.
        """
        due = self.due
        return self.grammar.copy_label(due.slot, tree) if isinstance(due, Choice) else None

    def _with(self, child: Tree) -> Derivation:
        """After a step that put in a child."""
        frame, tree = _added(self.grammar, self.frame, child)
        return _settled(self.grammar, frame, None, tree, self.num_steps + 1)

    def _where(self) -> str:
        if self.frame is None:
            return "the root"
        production = self.grammar.labels[self.frame.label]
        place = len(self.frame.children)
        return f"the field {production.fields[place]!r} of {production.kind}" if production.fields else production.kind


def _settled(grammar: Grammar, frame: Frame | None, token: int | None, tree: Tree | None, step: int) -> Derivation:
    """Return the derivation with that in it, after everything that leaves no choice."""
    # A search makes dozens of derivations for every edit: what stands between two choices is none.
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
    """Return the innermost frame after a label in its slot, the label of a token that is due, and the finished tree."""
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
    """Return the innermost frame with one child more, after the full ones are closed, and the finished tree."""
    while frame is not None:
        label, opened, children, above = frame
        children = (*children, child)
        found = grammar.labels[label]
        if found.fields is None or len(children) < len(found.fields):
            return Frame(label, opened, children, above), None
        child, frame = Tree(found.kind, found.field, children), above
    return None, _in_field(child, "")


def _token(grammar: Grammar, label: int, text: str) -> Tree:
    found = grammar.labels[label]
    return Tree(found.kind, found.field, (), text, _TOKEN_POSITION, True)


def _in_field(tree: Tree, field: str) -> Tree:
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
