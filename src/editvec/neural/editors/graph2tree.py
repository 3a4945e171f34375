"""`graph2tree`: writes the tree of after, action by action, and can copy whole subtrees of before (section 3.2 of the
paper).

Before goes through a gated graph network. An LSTM over actions, fed with the state of the step that opened the node it
is in, attends to the graph's nodes. In a slot it chooses a label (ExpandR), the end (Reduce) or a subtree (TreeCp);
where a token is due it writes one as every editor does. What is legal comes from the grammar, by the number of the
slot, and is the same in training and in search.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from editvec.core.edit import Tokens
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
from editvec.neural.layers.dropout import Dropout
from editvec.neural.layers.graph import GatedSum, GraphNetwork, Wiring
from editvec.neural.layers.recurrent import LSTM
from editvec.neural.reading import Reader, Reading, TokenEmbedding
from editvec.neural.search import Hypothesis
from editvec.neural.vocab import PAD, UNKNOWN


class Choices(NamedTuple):
    """What a decoder would do at some steps: in a slot, and where a token is due."""

    names: Tensor  # [some], the labels, and perhaps Reduce, that are legal at any of the steps, in order
    labels: Tensor  # [rows, some], the probability of each of them
    nodes: Tensor  # [rows, most nodes], of each node to be copied
    said: Tensor  # [rows, dim], what a token would be written from


class Graph2TreeEditor(Editor):
    """`num_labels` is also the choice that means Reduce."""

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
        super().__init__()
        self.embedding, self.grammar = embedding, grammar
        self.num_labels = len(grammar.labels)
        self.context_start = context and context_start
        self.kinds = nn.Embedding(1 + len(grammar.kind_numbers), token_dim)
        self.graph_dropout = Dropout(graph_dropout)
        self.layers = nn.ModuleList(
            GraphNetwork(dim=token_dim, num_edge_types=len(EDGE_TYPES), num_steps=num_steps) for _ in range(num_layers)
        )
        self.pool = GatedSum(dim=token_dim, out_dim=token_dim)
        self.start = nn.Linear(token_dim * (2 if self.context_start else 1) + edit_dim, hidden_dim)
        self.labels = nn.Embedding(self.num_labels + 1, token_dim)
        self.slots = nn.Embedding(len(grammar.slots), slot_dim)
        self.lstm = LSTM(input_dim=token_dim + slot_dim, dim=hidden_dim, looks_back=True)
        self.edit_gates = nn.Linear(edit_dim, 4 * hidden_dim, bias=False)
        self.attention = Attention(query_dim=hidden_dim, key_dim=token_dim)
        said_dim = embedding.table.embedding_dim if tied else hidden_dim
        self.combine = nn.Linear(hidden_dim + token_dim, said_dim, bias=False)
        self.dropout = Dropout(dropout)
        self.which = nn.Linear(said_dim, self.num_labels + 1)
        self.copies = nn.Linear(said_dim, 1)
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
        """As a config has it."""
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
        """What the grammar allows."""
        return Legal.of(self.grammar)

    def forward(self, source: SourceBatch, reading: Reading, vectors: Tensor, target: TargetBatch) -> Tensor:
        steps = target.steps
        assert steps is not None
        nodes, pooled = self.read_graph(source, reading)
        hidden, cell = self.initial(pooled, reading, vectors)
        inputs = torch.cat([self._previous(nodes, steps), self.slots(steps.slots.ids)], -1)
        states = self.lstm(
            inputs, steps.slots.lengths, (hidden[None], cell[None]), self.edit_gates(vectors)[None], steps.parents
        ).all
        there = steps.slots.mask
        beside = SideBySide(there.nonzero()[:, 0], len(there))
        found = self.read_out(states[there], steps.slots.ids[there], nodes, beside)
        choices = steps.choices[there]
        at = torch.searchsorted(found.names, choices.clamp(min=found.names[0]))
        chosen = found.labels.gather(1, at[:, None]).squeeze(1) * (choices >= 0)
        row_of = there.flatten().cumsum(0) - 1
        total = chosen + copied(found.nodes, Copies(row_of[steps.copies.targets], steps.copies.places))
        # Few steps write a token, and to write one costs most.
        rows = (steps.texts[there] != PAD).nonzero().squeeze(1)
        writing = SideBySide(beside.lines[rows], len(there))
        ways = self.writer(writing.table(found.said[rows]), self.writer.memories(source, reading, vectors))
        ids = steps.written.ids
        written = self.writer.probability_of(ways, ids, ids != PAD, steps.from_before, steps.from_context)
        logs = (total.index_add(0, rows, written) + TINY).log()
        return logs.new_zeros(len(there)).index_add(0, beside.lines, logs)

    def steps(self, source: SourceBatch, reading: Reading, vectors: Tensor) -> Graph2TreeSteps:
        return Graph2TreeSteps(self, source, reading, vectors)

    def written(self, found: Hypothesis, example: Example, exampler: Exampler) -> tuple[Tokens, bool]:
        tokens: Sequence[str] = found.result
        named = [exampler.token(token.id, example) if isinstance(token, Unnamed) else token for token in tokens]
        return tuple(named), not any(isinstance(token, Unnamed) and token.id == UNKNOWN for token in tokens)

    def text_choice(self, token: int) -> int:
        """The choice that writes a token, by its id."""
        return TEXT + token

    def copy_choice(self, node: int) -> int:
        """The choice that copies a node of before, by its place; of equal ones, the first."""
        return self.num_labels + 1 + node

    def read_graph(self, source: SourceBatch, reading: Reading) -> tuple[Nodes, Tensor]:
        """The nodes of each before, and all of them together as one vector."""
        graph = source.graph
        assert graph is not None
        tokens = graph.tokens
        first = self.kinds(graph.kinds).index_put((tokens.nodes,), reading.before.all[tokens.rows, tokens.places])
        states, wiring = first, Wiring.of(graph.edges, len(first), len(EDGE_TYPES))
        for layer in self.layers:
            states = layer(self.graph_dropout(states), wiring)
        pooled = self.pool(first, states, graph.owners, len(graph.forms.lengths))
        return self._side_by_side(graph, states), pooled

    def _side_by_side(self, graph: SourceGraph, states: Tensor) -> Nodes:
        size = graph.forms.ids.shape
        table = states.new_zeros(*size, states.shape[1]).index_put((graph.owners, graph.places), states)
        mask = torch.zeros(size, dtype=torch.bool).index_put((graph.owners, graph.places), torch.tensor(True))
        num_forms = self.legal.forms.shape[1] - 1
        return Nodes(table, mask, graph.forms.ids.where(graph.forms.ids >= 0, num_forms).where(mask, num_forms))

    def initial(self, pooled: Tensor, reading: Reading, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """The decoder's first hidden state and cell."""
        known = [pooled]
        if self.context_start:
            assert reading.context is not None
            known.append(reading.context.final)
        cell = self.start(torch.cat([*known, vectors], -1))
        return cell.tanh(), cell

    def _previous(self, nodes: Nodes, steps: StepBatch) -> Tensor:
        """For each step the action before it: [batch, longest, dim]; zeros before the first."""
        batch, longest = steps.slots.ids.shape
        labels = self.labels(steps.choices.clamp(min=0)) * (steps.choices >= 0)[..., None]
        texts = self.embedding(steps.texts) * (steps.texts != PAD)[..., None]
        places, copies = steps.copies.targets, steps.copies.places
        sums = nodes.states.new_zeros(batch * longest, nodes.states.shape[2])
        sums = sums.index_add(0, places, nodes.states[places // longest, copies])
        counts = sums.new_zeros(batch * longest).index_add(0, places, sums.new_ones(len(places))).clamp(min=1)
        action = labels + texts + (sums / counts[:, None]).view(batch, longest, -1)
        return torch.cat([torch.zeros_like(action[:, :1]), action[:, :-1]], 1)

    def read_out(self, states: Tensor, slots: Tensor, nodes: Nodes, beside: SideBySide) -> Choices:
        """What the decoder's `states` [rows, hidden] would do in `slots` [rows]; their sources' nodes are `beside`."""
        asked = beside.table(self.attention.project(states))
        seen = beside.rows(torch.bmm(self.attention.weigh(asked, nodes.states, nodes.mask), nodes.states))
        said = self.dropout(self.combine(torch.cat([states, seen], -1)).tanh())
        names, mask = self.legal.of_slots(slots)
        labels = functional.linear(said, self.which.weight[names], self.which.bias[names]).add(mask).softmax(-1)
        fits = self.legal.forms[slots[:, None], nodes.forms[beside.lines]]
        scores = beside.rows(torch.bmm(beside.table(self.point_node.project(said)), nodes.states.transpose(1, 2)))
        pointed = scores.masked_fill(~fits, torch.finfo(said.dtype).min).softmax(-1) * fits
        # Where nothing fits, nothing is copied: neither in training nor in search.
        copies = self.copies(said).sigmoid() * fits.any(-1, keepdim=True)
        return Choices(names, labels * (1 - copies), pointed * copies, said)


class Legal(NamedTuple):
    """What is legal in each slot."""

    labels: Tensor  # [slots, labels + 1], True for a legal one; the last one is Reduce
    forms: (
        Tensor  # [slots, forms + 1], True for what can be copied into it; the last one is that of what cannot be copied
    )

    @classmethod
    def of(cls, grammar: Grammar) -> Legal:
        """By a grammar."""
        labels = torch.zeros(len(grammar.slots), len(grammar.labels) + 1, dtype=torch.bool)
        forms = torch.zeros(len(grammar.slots), len(grammar.form_numbers) + 1, dtype=torch.bool)
        for slot, number in grammar.slot_numbers.items():
            labels[number, list(grammar.slots[slot])] = True
            labels[number, -1] = slot.place == NEXT
        for slot_number, form in grammar.copyable():
            forms[slot_number, form] = True
        return cls(labels, forms)

    def of_slots(self, slots: Tensor) -> tuple[Tensor, Tensor]:
        """The labels that are legal in any of some `slots`, in order [some]; and for each slot 0 where one of these is
        and −∞ where not: [..., some]. Of a grammar of many languages, a text needs but a few."""
        there, which = torch.unique(slots, return_inverse=True)
        legal = self.labels[there]
        names = legal.any(0).nonzero().squeeze(1)
        mask = torch.zeros(len(there), len(names)).masked_fill_(~legal[:, names], -torch.inf)
        return names, mask[which]
