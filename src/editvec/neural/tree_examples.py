"""The two trees of an edit in numbers.

The nodes in the order of `Tree.nodes()`, which of them match, and the actions that build the one from the other.
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
    """Before and after as trees.

    A node's kind is an index into the grammar's kinds, from 1; 0 is a kind that the grammar does not know.
    """

    before_kinds: Ids
    before_parents: Ids
    """The place of each node's parent, or NO_PARENT."""
    before_tokens: Ids
    """For a node that is a token its place among the tokens, else NO_TOKEN."""
    after_kinds: Ids
    after_parents: Ids
    after_tokens: Ids
    equal_before: Ids
    """Nodes that match as equal: their places before …"""
    equal_after: Ids
    """… and after."""
    replaced_before: Ids
    replaced_after: Ids
    before_forms: Ids
    """What decides where a copy of a node fits, or NO_FORM where it cannot be copied."""


@dataclass(frozen=True, slots=True)
class ActionSteps:
    """The actions that build `after`, one a step; the first step is 1.

    Of the numbers that an action does not have, 0 stands for a text and NO_CHOICE for a choice.
    """

    slots: Ids
    """The slot in which each is taken."""
    parents: Ids
    """The step that opened the node in which each is taken; 0 for none."""
    choices: Ids
    """For Expand the label, for Reduce the number of labels."""
    texts: Ids
    """For GenTerm the id of its token."""
    copy_steps: Ids
    """For each place that a TreeCp could copy from the step, from 0 …"""
    copy_nodes: Ids
    """… and the node."""


def pair_of(source: SourceTree, after: Tree | None, alignment: Alignment, grammar: Grammar) -> TreePair:
    """Two trees in numbers, or, without `after`, the one before alone."""
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
    """Return the oracle's actions in numbers; UnseenError where the grammar does not allow `after`."""
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
    return np.array(values, np.int32)
