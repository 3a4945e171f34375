"""A tree under construction. Persistent: every action gives a new derivation and leaves the old one as it was, so that
hypotheses of a search share what they have in common.

What leaves no choice is done at once: a slot in which only a list, a token or nothing was ever seen, a token whose text
was always the same. Where a node is due there is always a choice, to copy one.
"""

from __future__ import annotations

from typing import NamedTuple

from editvec.grammar.grammar import Choice, Grammar, Shape, Slot, UnseenError
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
        return cls(grammar, None, None, None, 0)._settled()

    def expand(self, label: int) -> Derivation:
        """ExpandR."""
        choice = self.due
        if not isinstance(choice, Choice) or label not in choice.labels:
            raise UnseenError(f"{self.grammar.labels[label].kind} in {self._where()}")
        return self._expanded(label, self.num_steps + 1)._settled()

    def write(self, text: str) -> Derivation:
        """GenTerm."""
        if not isinstance(self.due, Text):
            raise UnseenError("no token is due")
        return self._written(text, self.num_steps + 1)._settled()

    def copy(self, tree: Tree) -> Derivation:
        """TreeCp."""
        label = self.copy_label(tree)
        if label is None:
            raise UnseenError(f"{tree.kind} in {self._where()}")
        return self._added(_in_field(tree, self.grammar.labels[label].field), self.num_steps + 1)._settled()

    def reduce(self) -> Derivation:
        """Reduce."""
        choice = self.due
        if not isinstance(choice, Choice) or not choice.may_end:
            raise UnseenError("nothing can end here")
        return self._ended(self.num_steps + 1)._settled()

    def copy_label(self, tree: Tree) -> int | None:
        """The label that a subtree has when it is copied to where the derivation is; None where it does not fit. Where
        several fields could take it, it is the first of them: a copy means one thing, wherever it comes from."""
        due = self.due
        return self.grammar.copy_label(due.slot, tree) if isinstance(due, Choice) else None

    def _where(self) -> str:
        if self.frame is None:
            return "the root"
        production = self.grammar.labels[self.frame.label]
        place = len(self.frame.children)
        return f"the field {production.fields[place]!r} of {production.kind}" if production.fields else production.kind

    def _next(self) -> Choice | Text | None:
        """What comes next, be it settled or not."""
        if self.tree is not None:
            return None
        frame, grammar = self.frame, self.grammar
        choice = grammar.start if frame is None else grammar.choice_at(frame.label, len(frame.children))
        return choice if self.token is None else Text(choice.slot, self.token)

    def _expanded(self, label: int, step: int) -> Derivation:
        found = self.grammar.labels[label]
        if found.shape is Shape.TOKEN:
            return Derivation(self.grammar, self.frame, label, None, step)
        if found.shape is Shape.SILENT:
            return self._added(Tree(found.kind, found.field, (), found.text, NOWHERE, True), step)
        if found.shape is Shape.ABSENT or found.fields == ():
            return self._added(Tree(found.kind, found.field), step)
        return Derivation(self.grammar, Frame(label, step, (), self.frame), None, None, step)

    def _written(self, text: str, step: int) -> Derivation:
        assert self.token is not None
        found = self.grammar.labels[self.token]
        return self._added(Tree(found.kind, found.field, (), text, _TOKEN_POSITION, True), step)

    def _added(self, child: Tree, step: int) -> Derivation:
        """With one child more in the innermost frame, and the frames closed that are full with it."""
        frame = self.frame
        if frame is None:
            return Derivation(self.grammar, None, None, _in_field(child, ""), step)
        more = Frame(frame.label, frame.opened, (*frame.children, child), frame.above)
        fields = self.grammar.labels[frame.label].fields
        grown = Derivation(self.grammar, more, None, None, step)
        return grown._ended(step) if fields is not None and len(more.children) == len(fields) else grown

    def _ended(self, step: int) -> Derivation:
        frame = self.frame
        assert frame is not None
        found = self.grammar.labels[frame.label]
        outer = Derivation(self.grammar, frame.above, None, None, step)
        return outer._added(Tree(found.kind, found.field, frame.children), step)

    def _settled(self) -> Derivation:
        """After everything that leaves no choice."""
        now = self
        while True:
            due = now._next()
            if isinstance(due, Text):
                text = now.grammar.fixed.get((due.slot, due.label))
                if text is not None:
                    now = now._written(text, now.num_steps)
                    continue
            elif due is not None and due.sole is not None:
                now = now._expanded(due.sole, now.num_steps)
                continue
            return Derivation(now.grammar, now.frame, now.token, now.tree, now.num_steps, due)


def _in_field(tree: Tree, field: str) -> Tree:
    return Tree(tree.kind, field, tree.children, tree.text, tree.position, tree.leaf)


def numbered(tree: Tree) -> Tree:
    """The tree with its tokens numbered from left to right."""
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
