"""The trees of an edit as numbers.

Nodes are in the order of `Tree.nodes()`. The numbers include which nodes match and the actions that build `after` from
`before`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from editvec.diff import Alignment, Matching, match
from editvec.neural.grammar import Expand, GenTerm, Grammar, Reduce, SourceTree, derive_steps
from editvec.neural.vocab import PAD
from editvec.syntax.tree import Tree

Ids = NDArray[np.int32]
NO_PARENT = NO_TOKEN = NO_FORM = NO_CHOICE = -1


@dataclass(frozen=True, slots=True)
class TreePair:
    """The trees of before and after.

    The kind of a node is an index into the grammar's kinds, starting from 1; 0 stands for an unknown kind.
    """

    before_kinds: Ids
    before_parents: Ids
    """The index of each node's parent, or NO_PARENT."""
    before_tokens: Ids
    """The position of a node among the tokens, or NO_TOKEN if it is not a token."""
    after_kinds: Ids
    after_parents: Ids
    after_tokens: Ids
    equal_before: Ids
    """The indices, in before, of the nodes that match as equal."""
    equal_after: Ids
    """The indices, in after, of the same nodes."""
    replaced_before: Ids
    replaced_after: Ids
    before_forms: Ids
    """The form of each node, which decides where it can be copied; NO_FORM if it cannot be copied."""


@dataclass(frozen=True, slots=True)
class ActionSteps:
    """The actions that build `after`, one per step; the first step has the number 1.

    If an action has no text, its text is 0; if it has no choice, its choice is NO_CHOICE.
    """

    slots: Ids
    """The slot of each action."""
    parents: Ids
    """The step that opened the node around the slot; 0 if there is none."""
    choices: Ids
    """The label for Expand, or the number of labels for Reduce."""
    texts: Ids
    """The id of the token for GenTerm."""
    copy_steps: Ids
    """For each node that a TreeCp can copy, the step, numbered from 0."""
    copy_nodes: Ids
    """For each node that a TreeCp can copy, the index of the node."""


def pair_of(source: SourceTree, after: Tree | None, alignment: Alignment, grammar: Grammar) -> TreePair:
    """Return two trees as numbers; without `after`, only the tree of before."""
    before = source.nodes[0]
    nothing = _array([])
    forms = [NO_FORM] * len(source.nodes)
    for places in source.places.values():
        form = grammar.form_of(source.nodes[places[0]])
        for place in places:
            forms[place] = NO_FORM if form is None else form
    kinds, parents, tokens = _numbers(before, grammar)
    after_kinds, after_parents, after_tokens = _numbers(after, grammar) if after else (nothing, nothing, nothing)
    found = match(before, after, alignment) if after else Matching((), ())
    return TreePair(
        before_kinds=kinds,
        before_parents=parents,
        before_tokens=tokens,
        after_kinds=after_kinds,
        after_parents=after_parents,
        after_tokens=after_tokens,
        equal_before=_array([one for one, _ in found.equal]),
        equal_after=_array([other for _, other in found.equal]),
        replaced_before=_array([one for one, _ in found.replaced]),
        replaced_after=_array([other for _, other in found.replaced]),
        before_forms=_array(forms),
    )


def steps_of(grammar: Grammar, source: SourceTree, after: Tree, id_of: Callable[[str], int]) -> ActionSteps:
    """Return the actions of the oracle as numbers.

    Raises:
        UnseenError: The grammar does not allow `after`.
    """
    slots, parents, choices, texts = [], [], [], []
    copies: list[tuple[int, int]] = []
    for step, (action, slot, opened) in enumerate(derive_steps(grammar, source, after)):
        slots.append(grammar.slot_numbers[slot])
        parents.append(opened)
        choice, text = NO_CHOICE, PAD
        if isinstance(action, Expand):
            choice = action.label
        elif isinstance(action, Reduce):
            choice = len(grammar.labels)
        elif isinstance(action, GenTerm):
            text = id_of(action.text)
        else:
            copies += [(step, node) for node in action.sources]
        choices.append(choice)
        texts.append(text)
    return ActionSteps(
        _array(slots),
        _array(parents),
        _array(choices),
        _array(texts),
        _array([step for step, _ in copies]),
        _array([node for _, node in copies]),
    )


def _numbers(tree: Tree, grammar: Grammar) -> tuple[Ids, Ids, Ids]:
    """Return the kinds, the parents and the token positions of the nodes of a tree."""
    kinds: list[int] = []
    parents: list[int] = []
    tokens: list[int] = []
    stack = [(tree, NO_PARENT)]
    num_tokens = 0
    while stack:
        node, parent = stack.pop()
        if node.is_absent or (node.leaf and node.position < 0):
            continue
        at = len(kinds)
        kinds.append(grammar.kind_numbers.get(node.kind, 0))
        parents.append(parent)
        tokens.append(num_tokens if node.leaf else NO_TOKEN)
        num_tokens += node.leaf
        stack.extend((child, at) for child in reversed(node.children))
    return _array(kinds), _array(parents), _array(tokens)


def _array(values: list[int]) -> Ids:
    """Return numbers as an array."""
    return np.array(values, np.int32)
