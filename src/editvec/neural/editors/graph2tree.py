"""`graph2tree`: an editor that writes the tree of `after` action by action (section 3.2 of the paper).

It can copy whole subtrees of before. Before is read by a gated graph network. The decoder is an LSTM over actions with
attention to the nodes of the graph. Each step also reads the state of the step that opened its node. In a slot, the
decoder chooses a label (ExpandR), the end of the children (Reduce) or a subtree to copy (TreeCp). If the next decision
is a token, the decoder writes it in the same way as every editor. The grammar determines the legal actions by the
number of the slot, in the same way in training and in search.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from editvec.core.edit import Tokens
from editvec.neural.arrays import (
    Array,
    Floats,
    Ints,
    Mask,
    affine,
    concat,
    dropout,
    log,
    of_kind,
    place,
    replace,
    scatter_add,
    sigmoid,
    softmax,
    take,
    tanh,
    where,
    zeros,
)
from editvec.neural.batch import EDGE_TYPES, Copies, SourceBatch, SourceGraph, StepBatch, TargetBatch
from editvec.neural.config import ModelConfig
from editvec.neural.editors.base import Editor
from editvec.neural.editors.rows import SideBySide
from editvec.neural.editors.tree_search import TEXT, Graph2TreeSteps, Nodes, Unnamed
from editvec.neural.editors.writer import TINY, TokenWriter, copied
from editvec.neural.examples import Example, Exampler
from editvec.neural.grammar import Grammar
from editvec.neural.grammar.grammar import NEXT
from editvec.neural.layers.attention import Attention
from editvec.neural.layers.graph import GatedSum, GraphNetwork
from editvec.neural.layers.layer import Embedding, Linear
from editvec.neural.layers.packing import Wiring
from editvec.neural.layers.recurrent import LSTM
from editvec.neural.reading import Reader, Reading, Spelled, TokenEmbedding
from editvec.neural.search import Hypothesis
from editvec.neural.vocab import PAD, UNKNOWN


class Choices(NamedTuple):
    """The decoder's distributions at some steps, over the choices in a slot and the tokens to write."""

    names: Ints  # [some], the labels, possibly with Reduce, that are legal at any of the steps, in ascending order
    labels: Array  # [rows, some], the probability of each of these labels
    nodes: Array  # [rows, most nodes], the probability that each node is copied
    said: Array  # [rows, dim], the state from which a token is written


class Graph2TreeEditor(Editor):
    """The graph2tree editor.

    Choices are numbers: labels first, then `num_labels` for Reduce, then the nodes to copy, then the tokens to write.
    """

    needs_trees = True
    max_steps_a_token = 4

    def __init__(
        self,
        *,
        embedding: TokenEmbedding,
        grammar: Grammar,
        token_dim: int,
        slot_dim: int,
        edit_dim: int,
        hidden_dim: int,
        num_layers: int,
        num_steps: int,
        dropout: float,
        graph_dropout: float,
        copy: bool,
        context: bool,
        context_start: bool,
        tied: bool,
        token_skip: int,
        head_size: int,
        tail_dim: int,
    ) -> None:
        self.embedding, self.grammar = embedding, grammar
        self.num_labels = len(grammar.labels)
        self.context_start = context and context_start
        self.kinds = Embedding(1 + len(grammar.kind_numbers), token_dim)
        self.dropout, self.graph_dropout = dropout, graph_dropout
        self.layers = [
            GraphNetwork(dim=token_dim, num_edge_types=len(EDGE_TYPES), num_steps=num_steps) for _ in range(num_layers)
        ]
        self.pool = GatedSum(dim=token_dim, out_dim=token_dim)
        self.start = Linear(token_dim * (2 if self.context_start else 1) + edit_dim, hidden_dim)
        self.labels = Embedding(self.num_labels + 1, token_dim)
        self.slots = Embedding(len(grammar.slots), slot_dim)
        self.lstm = LSTM(input_dim=token_dim + slot_dim, dim=hidden_dim, looks_back=True)
        self.edit_gates = Linear(edit_dim, 4 * hidden_dim, bias=False)
        self.attention = Attention(query_dim=hidden_dim, key_dim=token_dim)
        said_dim = embedding.dim if tied else hidden_dim
        self.combine = Linear(hidden_dim + token_dim, said_dim, bias=False)
        self.which = Linear(said_dim, self.num_labels + 1)
        self.copies = Linear(said_dim, 1)
        self.point_node = Attention(query_dim=said_dim, key_dim=token_dim)
        self.writer = TokenWriter(
            embedding=embedding,
            dim=said_dim,
            token_dim=token_dim,
            edit_dim=edit_dim,
            copy=copy,
            context=context,
            tied=tied,
            token_skip=token_skip,
            head_size=head_size,
            tail_dim=tail_dim,
        )

    @classmethod
    def from_config(
        cls, config: ModelConfig, reader: Reader, edit_dim: int, grammar: Grammar | None
    ) -> Graph2TreeEditor:
        """Return the editor of a config."""
        return cls(
            embedding=reader.embedding,
            grammar=grammar or Grammar((), {}, {}),
            token_dim=config.embed_dim,
            slot_dim=config.tag_dim,
            edit_dim=edit_dim,
            hidden_dim=config.hidden_dim,
            num_layers=config.graph_layers,
            num_steps=config.graph_steps,
            dropout=config.dropout,
            graph_dropout=config.graph_dropout,
            copy=config.copy,
            context=config.context,
            context_start=config.context_start,
            tied=config.tied,
            token_skip=config.token_skip,
            head_size=config.head_size,
            tail_dim=config.tail_dim,
        )

    @cached_property
    def legal(self) -> Legal:
        """Return the masks of what the grammar allows."""
        return Legal.of(self.grammar)

    def __call__(self, source: SourceBatch, reading: Reading, vectors: Array, target: TargetBatch) -> Array:
        """Return the log-probability of each target: [batch].

        Shapes: `vectors` [batch, edit_dim].
        """
        steps = target.steps
        assert steps is not None
        nodes, pooled = self.read_graph(source, reading)
        hidden, cell = self.initial(pooled, reading, vectors)
        inputs = concat(self._previous(nodes, steps, self.spelled(source)), self.slots(steps.slots.ids))
        states = self.lstm(
            inputs, steps.slots.lengths, (hidden[None], cell[None]), self.edit_gates(vectors)[None], steps.parents
        ).all
        there = steps.slots.mask
        states = take(states.reshape(-1, states.shape[-1]), np.flatnonzero(there))
        beside = SideBySide(there.nonzero()[0], len(there))
        found = self.read_out(states, steps.slots.ids[there], nodes, beside)
        choices = steps.choices[there]
        # A step that writes or copies has no label.
        labelled = np.flatnonzero(choices >= 0)
        column = np.searchsorted(found.names, choices[labelled])
        chosen = take(found.labels.reshape(-1), labelled * len(found.names) + column)
        row_of = there.reshape(-1).cumsum() - 1
        total = place(chosen, labelled, len(choices))
        total = total + copied(found.nodes, Copies(row_of[steps.copies.targets], steps.copies.places))
        # Few steps write a token, and writing is the most expensive part.
        rows = np.flatnonzero(steps.texts[there] != PAD)
        writing = SideBySide(beside.lines[rows], len(there))
        ways = self.writer(writing.table(take(found.said, rows)), self.writer.memories(source, reading, vectors))
        ids = steps.written.ids
        written = self.writer.probability_of(ways, ids, ids != PAD, steps.from_before, steps.from_context)
        total = total + place(written, rows, len(choices))
        return scatter_add(log(total + TINY), beside.lines, len(there))

    def steps(self, source: SourceBatch, reading: Reading, vectors: Floats) -> Graph2TreeSteps:
        """Return the search over trees; `vectors` has [batch, edit_dim]."""
        return Graph2TreeSteps(self, source, reading, vectors)

    def written(self, found: Hypothesis, example: Example, exampler: Exampler) -> tuple[Tokens, bool]:
        """Return the tokens of the tree that a search found, and whether the model could name all of them."""
        tokens: Sequence[str] = found.result
        named = [exampler.token(token.id, example) if isinstance(token, Unnamed) else token for token in tokens]
        return tuple(named), not any(isinstance(token, Unnamed) and token.id == UNKNOWN for token in tokens)

    def text_choice(self, token: int) -> int:
        """Return the choice that writes the token with an id."""
        return TEXT + token

    def copy_choice(self, node: int) -> int:
        """Return the choice that copies a node of before, by the index of the node.

        For equal subtrees, this is the index of the first one.
        """
        return self.num_labels + 1 + node

    def read_graph(self, source: SourceBatch, reading: Reading) -> tuple[Nodes, Array]:
        """Return the node states of each before, and one vector for all of its nodes.

        Shapes: see `Nodes`; the vectors have [batch, dim].
        """
        graph = source.graph
        assert graph is not None
        tokens, (_, longest, dim) = graph.tokens, reading.before.all.shape
        read = take(reading.before.all.reshape(-1, dim), tokens.rows * longest + tokens.places)
        first = replace(self.kinds(graph.kinds), tokens.nodes, read)
        states, wiring = first, Wiring.of(graph.edges, len(first), len(EDGE_TYPES))
        for layer in self.layers:
            states = layer(dropout(states, self.graph_dropout), wiring)
        pooled = self.pool(first, states, graph.owners, len(graph.forms.lengths))
        return self._side_by_side(graph, states), pooled

    def _side_by_side(self, graph: SourceGraph, states: Array) -> Nodes:
        """Return the states of nodes, [nodes, dim], as a padded table with one row per edit."""
        batch, most = graph.forms.ids.shape
        cells = graph.owners * most + graph.places
        mask = np.zeros((batch, most), np.bool_)
        mask[graph.owners, graph.places] = True
        forms = np.where(mask & (graph.forms.ids >= 0), graph.forms.ids, self.legal.forms.shape[1] - 1)
        return Nodes(place(states, cells, batch * most).reshape(batch, most, -1), mask, forms)

    def initial(self, pooled: Array, reading: Reading, vectors: Array) -> tuple[Array, Array]:
        """Return the initial hidden state and cell of the decoder, each [batch, hidden].

        Shapes: `pooled` [batch, dim], `vectors` [batch, edit_dim].
        """
        known = [pooled]
        if self.context_start:
            assert reading.context is not None
            known.append(reading.context.final)
        cell = self.start(concat(*known, vectors))
        return tanh(cell), cell

    def spelled(self, source: SourceBatch) -> Spelled | None:
        """Return the embeddings of the tokens outside the vocabulary, if they can be copied."""
        return self.embedding.spell(source.before.names) if self.writer.copy else None

    def _previous(self, nodes: Nodes, steps: StepBatch, spelled: Spelled | None) -> Array:
        """Return the embedding of the action before each step: [batch, longest, dim]; zeros at the first step."""
        batch, longest = steps.slots.ids.shape
        _, most, dim = nodes.states.shape
        labels = where(self.labels(np.maximum(steps.choices, 0)), (steps.choices >= 0)[..., None])
        texts = where(self.embedding(steps.texts, spelled), (steps.texts != PAD)[..., None])
        targets, copies = steps.copies.targets, steps.copies.places
        some = take(nodes.states.reshape(batch * most, dim), targets // longest * most + copies)
        counts = np.bincount(targets, minlength=batch * longest).astype(np.float32)
        sums = scatter_add(some * of_kind(some, 1 / counts[targets, None]), targets, batch * longest)
        action = labels + texts + sums.reshape(batch, longest, dim)
        return concat(zeros(action, batch, 1, dim), action[:, :-1], axis=1)

    def read_out(self, states: Array, slots: Ints, nodes: Nodes, beside: SideBySide) -> Choices:
        """Return the decoder's distributions for some states in some slots.

        Shapes: `states` [rows, hidden], `slots` [rows]. `beside` assigns each row to the nodes of its source.
        """
        asked = beside.table(self.attention.project(states))
        seen = beside.rows(self.attention.weigh(asked, nodes.states, nodes.mask) @ nodes.states)
        said = dropout(tanh(self.combine(concat(states, seen))), self.dropout)
        names, legal = self.legal.of_slots(slots)
        assert self.which.bias is not None
        scores = affine(said, take(self.which.weight.value, names), take(self.which.bias.value, names))
        labels = where(softmax(scores, legal), legal)
        fits = self.legal.forms[slots[:, None], nodes.forms[beside.lines]]
        pointing = beside.rows(beside.table(self.point_node.project(said)) @ nodes.states.mT)
        pointed = where(softmax(pointing, fits), fits)
        # Where no node fits, the probability of copying is 0, both in training and in search.
        copies = where(sigmoid(self.copies(said)), fits.max(-1, keepdims=True))
        return Choices(names, labels * (1 - copies), pointed * copies, said)


class Legal(NamedTuple):
    """Masks of what is legal in each slot."""

    labels: Mask  # [slots, labels + 1], True for legal labels; the last column is Reduce
    forms: Mask  # [slots, forms + 1], True for forms that can be copied into the slot; the last column is always False

    @classmethod
    def of(cls, grammar: Grammar) -> Legal:
        """Return the masks for a grammar."""
        labels = np.zeros((len(grammar.slots), len(grammar.labels) + 1), np.bool_)
        forms = np.zeros((len(grammar.slots), len(grammar.form_numbers) + 1), np.bool_)
        for slot, number in grammar.slot_numbers.items():
            labels[number, list(grammar.slots[slot])] = True
            labels[number, -1] = slot.place == NEXT
        for slot_number, form in grammar.copyable():
            forms[slot_number, form] = True
        return cls(labels, forms)

    def of_slots(self, slots: Ints) -> tuple[Ints, Mask]:
        """Return the labels that are legal in any of the slots, and which of them are legal in each slot.

        Only few labels of a grammar for many languages are needed for one text. Shapes: `slots` [rows]; the labels have
        [some], in ascending order; the mask has [rows, some].
        """
        there, which = np.unique(slots, return_inverse=True)
        legal = self.labels[there]
        names = np.flatnonzero(legal.any(0))
        return names, legal[:, names][which]
