"""The search of graph2tree: hypotheses are derivations with the states of the decoder.

A hypothesis refers to the hidden states of its previous steps by their numbers in one pool, so that they are not copied
when a hypothesis is extended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Tokens
from editvec.neural.arrays import Array, Floats, Ints, Mask, scatter_add, where
from editvec.neural.batch import SourceBatch
from editvec.neural.editors.rows import SideBySide, let_go
from editvec.neural.editors.writer import Memories, most_likely
from editvec.neural.grammar import Derivation, SourceTree, UnseenError
from editvec.neural.grammar.derivation import Text
from editvec.neural.reading import Reading
from editvec.neural.vocab import END

if TYPE_CHECKING:
    from editvec.neural.editors.graph2tree import Graph2TreeEditor

TEXT = 1 << 24
"""Choices from here on are ids of tokens. Below are labels, Reduce, and the nodes to copy, in this order."""


class Nodes(NamedTuple):
    """The nodes of the graph of each before."""

    states: Array  # [batch, most, dim]
    mask: Mask  # [batch, most]
    forms: Ints  # [batch, most], the form of each node; the number of forms if a node cannot be copied

    def at(self, rows: Ints) -> Nodes:
        """Return the nodes of some rows."""
        return Nodes(self.states[rows], self.mask[rows], self.forms[rows])


class Kept(NamedTuple):
    """The memory of each source."""

    nodes: Nodes
    memories: Memories

    def at(self, rows: Ints) -> Kept:
        """Return the memories of some rows."""
        return Kept(self.nodes.at(rows), self.memories.at(rows))


class Unnamed(str):
    """A placeholder for a token of which a search knows only the id."""

    __slots__ = ("id",)
    id: int

    @classmethod
    def of(cls, identity: int) -> Unnamed:
        """Return the placeholder for an id; it differs from every text that is read."""
        made = cls(f"\0{identity}\0")
        made.id = identity
        return made


class Pool:
    """A growing store of hidden states, by number. States are never removed."""

    def __init__(self, dim: int) -> None:
        self._states = np.empty((1024, dim), np.float32)
        self._size = 0

    def add(self, states: Floats) -> Ints:
        """Return the numbers of new states: [rows] for `states` [rows, dim]."""
        end = self._size + len(states)
        if end > len(self._states):
            grown = np.empty((2 * end, self._states.shape[1]), np.float32)
            grown[: self._size] = self._states[: self._size]
            self._states = grown
        self._states[self._size : end] = states
        numbers = np.arange(self._size, end)
        self._size = end
        return numbers

    def at(self, numbers: Ints) -> Floats:
        """Return the states with the given numbers: [rows, dim] for `numbers` [rows]."""
        return self._states[numbers]


@dataclass(frozen=True, slots=True)
class TreeRows:
    """The hypotheses of a search, as rows.

    A row has its source, its derivation, the slot of its next decision, whether that decision is a token, the state of
    the decoder, and the numbers of its hidden states so far. `kept` belongs to the `sources`, which are the sources
    that have rows, and possibly some that had rows until recently.
    """

    owners: Ints  # [rows]
    derivations: list[Derivation]
    slots: Ints  # [rows]
    writes: Mask  # [rows]
    hidden: Floats  # [rows, hidden]
    cell: Floats  # [rows, hidden]
    past: Ints  # [rows, steps + 1], numbers of states in the pool, starting with the initial state
    sources: Ints  # [sources]
    kept: Kept  # [sources, ...]
    after: dict[tuple[int, int], Derivation]
    """A cache: the derivation of a row after a choice."""


class Graph2TreeSteps:
    """The search of a graph2tree editor over a batch of sources."""

    def __init__(self, editor: Graph2TreeEditor, source: SourceBatch, reading: Reading, vectors: Floats) -> None:
        self._editor, self._sources = editor, source.sources
        self._nodes, pooled = editor.read_graph(source, reading)
        self._memories = editor.writer.memories(source, reading, vectors)
        self._initial = editor.initial(pooled, reading, vectors)
        self._own = editor.writer.own_tokens(self._memories)
        self._spelled = editor.spelled(source)
        self._edit_gates = editor.edit_gates(vectors)
        self._first, self._means = self._groups()
        self._pool = Pool(editor.lstm.dim)
        self._names = [_names(each, ids) for each, ids in zip(self._sources, source.before.ids.tolist(), strict=True)]

    def _groups(self) -> tuple[Ints, Floats]:
        """Return, for each node, the first node with the same subtree, and the mean state of all such nodes.

        Shapes: the nodes have [batch, most], the means [batch, most, dim]. A mean is valid in the entry of the first
        node.
        """
        states = self._nodes.states
        batch, most, dim = states.shape
        first = np.tile(np.arange(most), (batch, 1))
        for row, source in enumerate(self._sources):
            for places in source.places.values():
                if len(places) > 1:
                    first[row, list(places)] = places[0]
        cells = (first + most * np.arange(batch)[:, None]).reshape(-1)
        sums = scatter_add(states.reshape(-1, dim), cells, batch * most)
        counts = np.bincount(cells, minlength=batch * most).astype(np.float32)
        return first, (sums / np.maximum(counts, 1)[:, None]).reshape(states.shape)

    def start(self) -> TreeRows:
        """Return one row per source."""
        hidden, cell = self._initial
        owners = np.arange(len(hidden))
        derivations = [Derivation.start(self._editor.grammar)] * len(hidden)
        nothing = np.zeros((len(hidden), self._nodes.states.shape[2]), np.float32)
        past = self._pool.add(hidden)[:, None]
        return self._read(owners, derivations, nothing, (hidden, cell), past, owners, Kept(self._nodes, self._memories))

    def step(self, state: TreeRows, width: int, floor: Floats | None = None) -> tuple[Floats, Ints]:
        """Return the log-probabilities and the numbers of the best next choices, each [rows, at most width]."""
        editor = self._editor
        beside = SideBySide.of(state.owners, state.sources)
        found = editor.read_out(state.hidden, state.slots, state.kept.nodes, beside)
        num, most = found.nodes.shape
        cells = self._first[state.owners, :most] + most * np.arange(num)[:, None]
        groups = scatter_add(found.nodes.reshape(-1), cells.reshape(-1), num * most).reshape(num, most)
        copying = editor.copy_choice(0) + np.arange(most)
        choices = np.broadcast_to(np.concatenate([found.names, copying]), (num, len(found.names) + most))
        log_probs, chosen = most_likely(np.concatenate([found.labels, groups], 1), choices, width)
        rows = np.flatnonzero(state.writes)
        if not len(rows):
            return log_probs, chosen
        owners = state.owners[rows]
        writing = SideBySide.of(owners, state.sources)
        ways = editor.writer(writing.table(found.said[rows]), state.kept.memories).at(writing)
        text_probs, tokens = editor.writer.best(
            ways, self._own.at(owners), width, None if floor is None else floor[rows]
        )
        # END is not a token of a tree.
        text_probs[tokens == END] = -np.inf
        wide = max(log_probs.shape[1], text_probs.shape[1])
        log_probs, chosen = _widened(log_probs, wide, -np.inf), _widened(chosen, wide, 0)
        log_probs[rows] = _widened(text_probs, wide, -np.inf)
        chosen[rows] = _widened(tokens + TEXT, wide, 0)
        return log_probs, chosen

    def ends(self, state: TreeRows, rows: Ints, choices: Ints) -> Mask:
        """Return whether the tree of each row is complete after its choice: [n]."""
        return np.array([each.tree is not None for each in self._after(state, rows, choices)], np.bool_)

    def result(self, state: TreeRows, row: int, choice: int) -> Tokens:
        """Return the tokens of the tree that a row has after a choice that completes it."""
        tree = state.after[row, choice].tree
        assert tree is not None
        return tree.tokens()

    def advance(self, state: TreeRows, rows: Ints, choices: Ints) -> TreeRows:
        """Return the state with the given rows, each after its choice."""
        editor = self._editor
        owners = state.owners[rows]
        sources, kept = let_go(owners, state.sources, state.kept)
        derivations = self._after(state, rows, choices)
        node = choices - editor.num_labels - 1
        is_text, is_copy = choices >= TEXT, (node >= 0) & (choices < TEXT)
        is_label = ~is_text & ~is_copy
        labels = where(editor.labels(np.where(is_label, choices, 0)), is_label[:, None])
        spelled = None if self._spelled is None else self._spelled.at(owners)
        texts = where(editor.embedding(np.where(is_text, choices - TEXT, 0), spelled), is_text[:, None])
        copies = where(self._means[owners, np.where(is_copy, node, 0)], is_copy[:, None])
        before = state.hidden[rows], state.cell[rows]
        return self._read(owners, derivations, labels + texts + copies, before, state.past[rows], sources, kept)

    def _after(self, state: TreeRows, rows: Ints, choices: Ints) -> list[Derivation]:
        """Return the derivation of each row after its choice."""
        known, found = state.after, []
        for owner, row, choice in zip(state.owners[rows].tolist(), rows.tolist(), choices.tolist(), strict=True):
            derivation = known.get((row, choice))
            if derivation is None:
                derivation = known[row, choice] = self._take(state.derivations[row], owner, choice)
            found.append(derivation)
        return found

    def _take(self, derivation: Derivation, owner: int, choice: int) -> Derivation:
        """Return a derivation after one choice."""
        num_labels = self._editor.num_labels
        if choice >= TEXT:
            text = self._names[owner].get(choice - TEXT)
            return derivation.write(Unnamed.of(choice - TEXT) if text is None else text)
        if choice > num_labels:
            return derivation.copy(self._sources[owner].nodes[choice - num_labels - 1])
        return derivation.reduce() if choice == num_labels else derivation.expand(choice)

    def _read(
        self,
        owners: Ints,
        derivations: list[Derivation],
        action: Floats,
        state: tuple[Floats, Floats],
        past: Ints,
        sources: Ints,
        kept: Kept,
    ) -> TreeRows:
        """Return the rows after one more step, in which each row has read its last action."""
        slots, writes, opened = self._due(derivations)
        parent = self._pool.at(past[np.arange(len(past)), opened])
        inputs = np.concatenate([action, self._editor.slots(slots)], 1)
        hidden, cell = self._editor.lstm.step(inputs, state, self._edit_gates[owners], parent)
        past = np.concatenate([past, self._pool.add(hidden)[:, None]], 1)
        return TreeRows(owners, derivations, slots, writes, hidden, cell, past, sources, kept, {})

    def _due(self, derivations: Sequence[Derivation]) -> tuple[Ints, Mask, Ints]:
        """Return the next decision of each derivation.

        The decision consists of the number of the slot, whether the decision is a token, and the step that opened the
        node around the slot. Each result has [rows].
        """
        numbers = self._editor.grammar.slot_numbers
        slots, writes, opened = [], [], []
        for derivation in derivations:
            due = derivation.due
            if due is None:
                raise UnseenError("the tree is complete and has no next step")
            slots.append(numbers[due.slot])
            writes.append(isinstance(due, Text))
            opened.append(derivation.frame.opened if derivation.frame else 0)
        return np.array(slots), np.array(writes), np.array(opened)


def _names(source: SourceTree, ids: Sequence[int]) -> dict[int, str]:
    """Return the tokens of a before by their ids."""
    leaves = (node for node in source.nodes if node.leaf)
    return {identity: leaf.text or "" for identity, leaf in zip(ids, leaves, strict=False)}


def _widened(values: NDArray[Any], width: int, fill: float) -> NDArray[Any]:
    """Return a table padded with `fill` to `width` columns."""
    return np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=fill)
