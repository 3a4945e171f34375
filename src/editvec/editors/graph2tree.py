"""`graph2tree`: writes the tree of after, action by action, and can copy whole subtrees of before (section 3.2 of the
paper).

Before goes through a gated graph network. An LSTM over actions, fed with the state of the step that opened the node it
is in, attends to the graph's nodes. In a slot it chooses a label (ExpandR), the end (Reduce) or a subtree (TreeCp);
where a token is due it writes one as every editor does. What is legal comes from the grammar, by the number of the
slot, and is the same in training and in search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn

from editvec.config import ModelConfig
from editvec.edit import Tokens
from editvec.editors.base import Editor
from editvec.editors.rows import SideBySide, let_go
from editvec.editors.writer import TINY, Memories, Others, TokenWriter, copied, most_likely
from editvec.grammar import Derivation, Grammar, Source, UnseenError
from editvec.grammar.derivation import Text
from editvec.grammar.grammar import NEXT
from editvec.nn.attention import Attention
from editvec.nn.graph import GatedSum, GraphNetwork, Wiring
from editvec.nn.recurrent import LSTM, take
from editvec.reading import Reader, Reading, TokenEmbedding
from editvec.tensors.batch import EDGE_TYPES, SourceBatch, SourceGraph, StepBatch, TargetBatch
from editvec.tensors.example import Example, Exampler
from editvec.vocab import END, PAD, UNKNOWN

_TEXT = 1 << 24
"""A choice from here up is the id of a token; below are labels, Reduce, and then nodes to copy."""


class Nodes(NamedTuple):
    """The graph of each before."""

    states: Tensor  # [batch, most, dim]
    mask: Tensor  # [batch, most]
    forms: Tensor  # [batch, most], the number of forms where a node cannot be copied

    def at(self, rows: Tensor) -> Nodes:
        """Of some rows."""
        return Nodes(*(part[rows] for part in self))


class Choices(NamedTuple):
    """What a decoder would do at n places of each source: in a slot, and where a token is due."""

    labels: Tensor  # [batch, n, labels + 1], the probability of each label and of Reduce
    nodes: Tensor  # [batch, n, most nodes], of each node to be copied
    said: Tensor  # [batch, n, dim], what a token would be written from


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
        head_size: int,
        tail_dim: int,
    ) -> None:
        super().__init__()
        self.embedding, self.grammar = embedding, grammar
        self.num_labels = len(grammar.labels)
        self.context_start = context and context_start
        self.kinds = nn.Embedding(1 + len(grammar.kind_numbers), token_dim)
        self.graph_dropout = nn.Dropout(graph_dropout)
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
        self.dropout = nn.Dropout(dropout)
        self.which = nn.Linear(said_dim, self.num_labels + 1)
        self.copies = nn.Linear(said_dim, 1)
        self.point_node = Attention(query_dim=said_dim, key_dim=token_dim)
        self.writer = TokenWriter(
            embedding=embedding,
            dim=said_dim,
            token_dim=token_dim,
            copy=copy,
            context=context,
            tied=tied,
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
        (states,) = self.lstm(
            inputs.transpose(0, 1)[None],
            (hidden[None], cell[None]),
            self.edit_gates(vectors)[None],
            steps.parents.t(),
        )
        found = self.read_out(states.transpose(0, 1), nodes, steps.slots.ids)
        there = steps.slots.mask
        chosen = found.labels.gather(2, steps.choices.clamp(min=0)[..., None]).squeeze(2) * (steps.choices >= 0)
        total = (chosen + copied(found.nodes, steps.copies)) * there
        # Few steps write a token, and to write one costs most.
        ways = self.writer(take(found.said, steps.writes), Memories.of(source, reading))
        ids = steps.written.ids
        written = self.writer.probability_of(ways, ids, ids != PAD, steps.from_before, steps.from_context)
        total = total.masked_scatter(steps.texts != PAD, written)
        return ((total + TINY).log() * there).sum(1)

    def steps(self, source: SourceBatch, reading: Reading, vectors: Tensor) -> Graph2TreeSteps:
        return Graph2TreeSteps(self, source, reading, vectors)

    def written(self, choices: Sequence[int], example: Example, exampler: Exampler) -> tuple[Tokens, bool]:
        assert example.source is not None
        derivation = Derivation.start(self.grammar)
        complete = True
        for choice in choices:
            complete &= choice != _TEXT + UNKNOWN
            text = exampler.token(choice - _TEXT, example) if choice >= _TEXT else ""
            derivation = self.take(derivation, example.source, choice, text)
        assert derivation.tree is not None
        return derivation.tree.tokens(), complete

    def take(self, derivation: Derivation, source: Source, choice: int, text: str = "") -> Derivation:
        """The derivation after a choice; a search can leave the text of its token open."""
        if choice >= _TEXT:
            return derivation.write(text)
        if choice > self.num_labels:
            return derivation.copy(source.nodes[choice - self.num_labels - 1])
        return derivation.reduce() if choice == self.num_labels else derivation.expand(choice)

    def text_choice(self, token: int) -> int:
        """The choice that writes a token, by its id."""
        return _TEXT + token

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

    def read_out(self, states: Tensor, nodes: Nodes, slots: Tensor) -> Choices:
        """What the decoder's `states` [batch, n, hidden] would do in `slots` [batch, n]."""
        seen = torch.bmm(self.attention(states, nodes.states, nodes.mask), nodes.states)
        said = self.dropout(self.combine(torch.cat([states, seen], -1)).tanh())
        labels = (self.which(said) + self.legal.labels[slots]).softmax(-1)
        fits = self.legal.forms[slots[:, :, None], nodes.forms[:, None, :]]
        scores = torch.bmm(self.point_node.project(said), nodes.states.transpose(1, 2))
        pointed = scores.masked_fill(~fits, torch.finfo(said.dtype).min).softmax(-1) * fits
        # Where nothing fits, nothing is copied: neither in training nor in search.
        copies = self.copies(said).sigmoid() * fits.any(-1, keepdim=True)
        return Choices(labels * (1 - copies), pointed * copies, said)


class Legal(NamedTuple):
    """What is legal in each slot."""

    labels: Tensor  # [slots, labels + 1], 0 where one is and −∞ where not; the last one is Reduce
    forms: (
        Tensor  # [slots, forms + 1], True for what can be copied into it; the last one is that of what cannot be copied
    )

    @classmethod
    def of(cls, grammar: Grammar) -> Legal:
        """By a grammar."""
        labels = torch.full((len(grammar.slots), len(grammar.labels) + 1), -torch.inf)
        forms = torch.zeros(len(grammar.slots), len(grammar.form_numbers) + 1, dtype=torch.bool)
        for slot, number in grammar.slot_numbers.items():
            labels[number, list(grammar.slots[slot])] = 0.0
            if slot.place == NEXT:
                labels[number, -1] = 0.0
        for slot_number, form in grammar.copyable():
            forms[slot_number, form] = True
        return cls(labels, forms)


class Kept(NamedTuple):
    """What a source is remembered by."""

    nodes: Nodes
    memories: Memories

    def at(self, rows: Tensor) -> Kept:
        """Of some rows."""
        return Kept(self.nodes.at(rows), self.memories.at(rows))


@dataclass(frozen=True, slots=True)
class Rows:
    """Hypotheses: the source of each, its derivation, the decoder's state and all its hidden states so far; and what
    the sources that still have rows, or had some not long ago, are remembered by."""

    owners: Tensor  # [rows]
    derivations: list[Derivation]
    cell: Tensor  # [rows, hidden]
    history: Tensor  # [rows, steps + 1, hidden], the start first
    sources: Tensor  # [sources]
    kept: Kept  # [sources, ...]
    after: dict[tuple[int, int], Derivation]
    """What was looked at already: the derivation of a row after a choice."""


class Graph2TreeSteps:
    """The search of a graph2tree editor over a batch of sources."""

    def __init__(self, editor: Graph2TreeEditor, source: SourceBatch, reading: Reading, vectors: Tensor) -> None:
        self._editor, self._sources = editor, source.sources
        self._nodes, pooled = editor.read_graph(source, reading)
        self._memories = Memories.of(source, reading)
        self._initial = editor.initial(pooled, reading, vectors)
        self._others: Others | None = editor.writer.others(self._memories)
        self._edit_gates = editor.edit_gates(vectors)
        self._first, self._means = self._groups()

    def _groups(self) -> tuple[Tensor, Tensor]:
        """For each node the first one that holds the same subtree: [batch, most]; and the mean of the states of all
        that do: [batch, most, dim]."""
        states = self._nodes.states
        first = torch.arange(states.shape[1]).repeat(len(states), 1)
        for row, source in enumerate(self._sources):
            for places in source.places.values():
                first[row, list(places)] = places[0]
        index = first[..., None].expand_as(states)
        sums = torch.zeros_like(states).scatter_add_(1, index, states)
        counts = torch.zeros_like(states).scatter_add_(1, index, torch.ones_like(states))
        return first, sums / counts.clamp(min=1)

    def start(self) -> Rows:
        hidden, cell = self._initial
        owners = torch.arange(len(hidden))
        derivations = [Derivation.start(self._editor.grammar) for _ in self._sources]
        nothing = self._nodes.states.new_zeros(len(hidden), self._nodes.states.shape[2])
        history, cell = self._read(owners, derivations, nothing, cell, hidden[:, None])
        return Rows(owners, derivations, cell, history, owners, Kept(self._nodes, self._memories), {})

    def step(self, state: Rows, width: int) -> tuple[Tensor, Tensor]:
        editor = self._editor
        beside = SideBySide(state.owners, state.sources)
        lines, places = beside.lines, beside.places
        slots = beside.table(self._slots(state.derivations))
        found = editor.read_out(beside.table(state.history[:, -1]), state.kept.nodes, slots)
        copies = found.nodes[lines, places]
        groups = torch.zeros_like(copies).scatter_add_(1, self._first[state.owners], copies)
        labels = found.labels[lines, places]
        choices = torch.arange(labels.shape[1] + groups.shape[1]).expand(len(labels), -1)
        log_probs, chosen = most_likely(torch.cat([labels, groups], 1), choices, width)
        texts = torch.tensor([isinstance(derivation.due, Text) for derivation in state.derivations])
        if not texts.any():
            return log_probs, chosen
        rows = texts.nonzero().squeeze(1)
        owners = state.owners[rows]
        writing = SideBySide(owners, state.sources)
        ways = editor.writer(writing.table(found.said[lines[rows], places[rows]]), state.kept.memories)
        others = self._others.at(owners) if self._others else None
        text_probs, tokens = editor.writer.best(ways.at(writing.lines, writing.places), others, width)
        # The end of a sequence is no token of a tree.
        text_probs = text_probs.masked_fill(tokens == END, -torch.inf)
        wide = max(log_probs.shape[1], text_probs.shape[1])
        log_probs, chosen = _widened(log_probs, wide, -torch.inf), _widened(chosen, wide, 0)
        log_probs[rows] = _widened(text_probs, wide, -torch.inf)
        chosen[rows] = _widened(tokens + _TEXT, wide, 0)
        return log_probs, chosen

    def ends(self, state: Rows, rows: Tensor, choices: Tensor) -> Tensor:
        pairs = zip(rows.tolist(), choices.tolist(), strict=True)
        return torch.tensor([self._next(state, *pair).tree is not None for pair in pairs], dtype=torch.bool)

    def advance(self, state: Rows, rows: Tensor, choices: Tensor) -> Rows:
        editor = self._editor
        owners = state.owners[rows]
        sources, kept = let_go(owners, state.sources, state.kept)
        derivations = [self._next(state, *pair) for pair in zip(rows.tolist(), choices.tolist(), strict=True)]
        node = choices - editor.num_labels - 1
        is_text, is_copy = choices >= _TEXT, (node >= 0) & (choices < _TEXT)
        labels = editor.labels(choices.where(~is_text & ~is_copy, 0)) * (~is_text & ~is_copy)[:, None]
        texts = editor.embedding((choices - _TEXT).where(is_text, 0)) * is_text[:, None]
        copies = self._means[owners, node.where(is_copy, 0)] * is_copy[:, None]
        history, cell = self._read(owners, derivations, labels + texts + copies, state.cell[rows], state.history[rows])
        return Rows(owners, derivations, cell, history, sources, kept, {})

    def _next(self, state: Rows, row: int, choice: int) -> Derivation:
        found = state.after.get((row, choice))
        if found is None:
            source = self._sources[int(state.owners[row])]
            found = self._editor.take(state.derivations[row], source, choice)
            state.after[row, choice] = found
        return found

    def _slots(self, derivations: Sequence[Derivation]) -> Tensor:
        numbers = self._editor.grammar.slot_numbers
        found = []
        for derivation in derivations:
            due = derivation.due
            if due is None:
                raise UnseenError("a complete tree has no next step")
            found.append(numbers[due.slot])
        return torch.tensor(found)

    def _read(
        self, owners: Tensor, derivations: Sequence[Derivation], action: Tensor, cell: Tensor, history: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The hidden states and the cell after one more step, in which each row has read its last action."""
        slots = self._editor.slots(self._slots(derivations))
        opened = torch.tensor([each.frame.opened if each.frame else 0 for each in derivations])
        parent = history[torch.arange(len(history)), opened]
        inputs = torch.cat([action, slots], -1)
        hidden, cell = self._editor.lstm.step(inputs, (history[:, -1], cell), self._edit_gates[owners], parent)
        return torch.cat([history, hidden[:, None]], 1), cell


def _widened(values: Tensor, width: int, fill: float) -> Tensor:
    return nn.functional.pad(values, (0, width - values.shape[1]), value=fill)
