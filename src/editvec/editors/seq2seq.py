"""`seq2seq`: an LSTM decoder with attention over before, which generates a token or copies one from before or context
(section 3.1 of the paper). The probability of a token is summed over every way to write it.

There is no input feeding, so training runs the decoder over whole targets at once, and search one step at a time; what
comes after the decoder's state (`_read_out`) is the same code in both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from editvec.config import ModelConfig
from editvec.editors.base import Editor
from editvec.nn.attention import Attention
from editvec.nn.generator import Generator
from editvec.nn.recurrent import LSTM
from editvec.reading import Reader, Reading, TokenEmbedding
from editvec.search import rank_within
from editvec.tensors.batch import Copies, Ragged, SourceBatch, TargetBatch
from editvec.vocab import END, FIRST_GENERATED, PAD, PLACE, START, UNKNOWN

_TINY = 1e-30
"""Added to a probability before its logarithm is taken: what is impossible stays finite."""
_NEGLIGIBLE = 1e-9
"""A search does not look into the generator's tail where all of it is less likely than this."""


class Memory(NamedTuple):
    """One source that the decoder attends to or copies from."""

    ids: Tensor  # [batch, longest]
    states: Tensor  # [batch, longest, dim]
    mask: Tensor  # [batch, longest]
    tokens: Tensor  # [batch, longest], the mask of what can be copied: not the mark of the edit's place

    def at(self, rows: Tensor) -> Memory:
        """The memory of some rows."""
        return Memory(self.ids[rows], self.states[rows], self.mask[rows], self.tokens[rows])


class Memories(NamedTuple):
    """All that the decoder looks at."""

    before: Memory
    context: Memory | None

    def at(self, rows: Tensor) -> Memories:
        """The memories of some rows."""
        return Memories(self.before.at(rows), self.context.at(rows) if self.context else None)


class ReadOut(NamedTuple):
    """What the decoder says at n places of each source, before the ways to write one token are summed."""

    states: Tensor  # [batch, n, hidden], what the generator reads
    ways: Tensor  # [batch, n, 3]: the probability to generate, to copy from before, to copy from context
    before: Tensor  # [batch, n, longest before], where from
    context: Tensor | None  # [batch, n, longest context]


class Seq2SeqEditor(Editor):
    """`copy` off leaves generation alone; `context` off leaves before alone to read."""

    def __init__(
        self,
        *,
        embedding: TokenEmbedding,
        token_dim: int,
        edit_dim: int,
        hidden_dim: int,
        dropout: float,
        copy: bool,
        context: bool,
        context_start: bool,
        tied: bool,
        head_size: int,
        tail_dim: int,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.copy, self.context, self.context_start = copy, context, context and context_start
        embed_dim = embedding.table.embedding_dim
        self.start = nn.Linear(token_dim * (2 if self.context_start else 1) + edit_dim, hidden_dim)
        self.lstm = LSTM(input_dim=embed_dim, dim=hidden_dim)
        self.edit_gates = nn.Linear(edit_dim, 4 * hidden_dim, bias=False)
        self.attention = Attention(query_dim=hidden_dim, key_dim=token_dim)
        self.combine = nn.Linear(hidden_dim + token_dim, embed_dim if tied else hidden_dim, bias=False)
        self.dropout = nn.Dropout(dropout)
        read_out = self.combine.out_features
        if copy:
            self.way = nn.Linear(read_out, 3 if context else 2)
            self.point_before = Attention(query_dim=read_out, key_dim=token_dim)
            if context:
                self.point_context = Attention(query_dim=read_out, key_dim=token_dim)
        self.generator = Generator(
            dim=read_out,
            num_choices=embedding.num_known - FIRST_GENERATED,
            head_size=head_size,
            tail_dim=tail_dim,
            tied_to=embedding.table if tied else None,
            first_row=FIRST_GENERATED,
        )

    @classmethod
    def from_config(cls, config: ModelConfig, reader: Reader, edit_dim: int) -> Seq2SeqEditor:
        """As a config has it."""
        return cls(
            embedding=reader.embedding,
            token_dim=config.embed_dim,
            edit_dim=edit_dim,
            hidden_dim=config.hidden_dim,
            dropout=config.dropout,
            copy=config.copy,
            context=config.context,
            context_start=config.context_start,
            tied=config.tied,
            head_size=config.head_size,
            tail_dim=config.tail_dim,
        )

    def forward(self, source: SourceBatch, reading: Reading, vectors: Tensor, target: TargetBatch) -> Tensor:
        after = target.after
        shifted = functional.pad(after.ids[:, :-1], (1, 0), value=START)
        hidden, cell = self._initial(reading, vectors)
        # The edit vector is an input of every step: its share of the gates is the same in all of them.
        (states,) = self.lstm(
            self.embedding(shifted.t())[None], (hidden[None], cell[None]), self.edit_gates(vectors)[None]
        )
        said = self._read_out(states.transpose(0, 1), self._memories(source, reading))
        there = after.mask
        logs = (self._of_targets(said, target, there) + _TINY).log()
        total = logs.new_zeros(there.shape)
        total[there] = logs
        return total.sum(1)

    def steps(self, source: SourceBatch, reading: Reading, vectors: Tensor) -> Seq2SeqSteps:
        return Seq2SeqSteps(self, self._memories(source, reading), reading, vectors)

    def _memories(self, source: SourceBatch, reading: Reading) -> Memories:
        context = None
        if self.context:
            assert reading.context is not None
            context = _memory(source.context, reading.context.all)
        return Memories(_memory(source.before, reading.before.all), context)

    def _initial(self, reading: Reading, vectors: Tensor) -> tuple[Tensor, Tensor]:
        known = [reading.before.final]
        if self.context_start:
            assert reading.context is not None
            known.append(reading.context.final)
        cell = self.start(torch.cat([*known, vectors], -1))
        return cell.tanh(), cell

    def _read_out(self, states: Tensor, memories: Memories) -> ReadOut:
        before, context = memories
        weights = self.attention(states, before.states, before.mask)
        seen = torch.bmm(weights, before.states)
        said = self.dropout(self.combine(torch.cat([states, seen], -1)).tanh())
        if not self.copy:
            return ReadOut(said, said.new_ones(*said.shape[:2], 1), weights, None)
        ways = self.way(said)
        from_before = self.point_before(said, before.states, before.tokens)
        if context is None:
            return ReadOut(said, ways.softmax(-1), from_before, None)
        # An empty context is no way at all: neither in training nor in search.
        empty = ~context.tokens.any(1)
        ways = ways.index_fill(2, torch.tensor(2), -torch.inf).where(empty[:, None, None], ways).softmax(-1)
        return ReadOut(said, ways, from_before, self.point_context(said, context.states, context.tokens))

    def _of_targets(self, said: ReadOut, target: TargetBatch, there: Tensor) -> Tensor:
        """The probability of each target that is there, in order: [targets]."""
        ids = target.after.ids[there]
        ways = said.ways[there]
        # What is outside the vocabulary cannot be generated; UNKNOWN itself, which stands for what nobody can write,
        # can: that is its loss.
        known = ids < self.embedding.num_known
        if not self.copy:
            ids, known = ids.where(known, UNKNOWN), torch.ones_like(known)
        generated = self.generator.probability_of(said.states[there], (ids - FIRST_GENERATED).where(known, 0))
        total = ways[:, 0] * generated * known
        if self.copy:
            total = total + ways[:, 1] * _copied(said.before, target.from_before)[there]
            if said.context is not None:
                total = total + ways[:, 2] * _copied(said.context, target.from_context)[there]
        return total


def _memory(tokens: Ragged, states: Tensor) -> Memory:
    return Memory(tokens.ids, states, tokens.mask, tokens.mask & (tokens.ids != PLACE))


def _copied(weights: Tensor, copies: Copies) -> Tensor:
    """The weight on all places that hold a target's token: [batch, longest target]."""
    batch, longest, places = weights.shape
    found = weights.reshape(-1)[copies.targets * places + copies.places]
    return weights.new_zeros(batch * longest).index_add(0, copies.targets, found).view(batch, longest)


@dataclass(frozen=True, slots=True)
class Rows:
    """Hypotheses: the source of each and the decoder's state; and the memories of sources that still have rows, or had
    some not long ago."""

    owners: Tensor  # [rows]
    hidden: Tensor  # [rows, hidden]
    cell: Tensor  # [rows, hidden]
    sources: Tensor  # [sources]
    memories: Memories  # [sources, ...]


class Seq2SeqSteps:
    """The search of a seq2seq editor over a batch of sources. A choice is the id of a token: of the vocabulary, or,
    from its size up, of the source's own tokens outside it.

    A step scores the generator's head, and the tokens that a source has beside it (its `others`), one by one. The
    generator's tail is scored where it is likely enough to matter at all.
    """

    def __init__(self, editor: Seq2SeqEditor, memories: Memories, reading: Reading, vectors: Tensor) -> None:
        self._editor, self._memories = editor, memories
        self._initial = editor._initial(reading, vectors)
        self._edit_gates = editor.edit_gates(vectors) + editor.lstm.bias[0]
        self._weights = torch.cat([editor.lstm.inputs[0], editor.lstm.recurrent[0]])
        self._others = _Others.of(memories, FIRST_GENERATED + editor.generator.head_size) if editor.copy else None

    def start(self) -> Rows:
        hidden, cell = self._initial
        owners = torch.arange(len(hidden))
        hidden, cell = self._read(owners, torch.full_like(owners, START), hidden, cell)
        return Rows(owners, hidden, cell, owners, self._memories)

    def step(self, state: Rows, width: int) -> tuple[Tensor, Tensor]:
        editor = self._editor
        said = self._read_out(state)
        states, ways = said.states, said.ways
        others = self._others.at(state.owners) if self._others else None
        head, tail = editor.generator.spread(states)
        head.mul_(ways[:, :1])
        found: list[tuple[Tensor, Tensor | None]] = [(head, None)]
        if others is not None:
            beside = head.new_zeros(others.tokens.shape)
            others.copy(said.before * ways[:, 1:2], others.before, head, beside)
            if others.context is not None and said.context is not None:
                others.copy(said.context * ways[:, 2:3], others.context, head, beside)
            found.append((beside, others.tokens))
        if tail is not None:
            found.append(self._of_tail(states, tail * ways[:, 0], others, found[-1][0], width))
        return _best(found, width)

    def ends(self, state: Rows, rows: Tensor, choices: Tensor) -> Tensor:
        return choices == END

    def advance(self, state: Rows, rows: Tensor, choices: Tensor) -> Rows:
        owners, sources, memories = state.owners[rows], state.sources, state.memories
        active = torch.unique_consecutive(owners)
        if len(active) < 0.75 * len(sources):
            sources, memories = active, memories.at(torch.searchsorted(sources, active))
        hidden, cell = self._read(owners, choices, state.hidden[rows], state.cell[rows])
        return Rows(owners, hidden, cell, sources, memories)

    def _of_tail(
        self, states: Tensor, mass: Tensor, others: _Others | None, beside: Tensor, width: int
    ) -> tuple[Tensor, Tensor]:
        """The best choices of the tail in each row; the part that belongs to a source's others goes to them."""
        generator = self._editor.generator
        first = FIRST_GENERATED + generator.head_size
        rows = (mass > _NEGLIGIBLE).nonzero().squeeze(1)
        probabilities = generator.tail_spread(states[rows]) * mass[rows, None]
        if others is not None:
            places = others.tokens[rows] - first
            inside = (places >= 0) & (places < probabilities.shape[1])
            places = places.where(inside, 0)
            beside[rows] += probabilities.gather(1, places) * inside
            probabilities.scatter_reduce_(1, places, torch.where(inside, 0.0, torch.inf), "amin")
        top, choices = probabilities.topk(min(width, probabilities.shape[1]), dim=1)
        all_top = top.new_zeros(len(states), top.shape[1]).index_copy(0, rows, top)
        return all_top, choices.new_full(all_top.shape, first).index_copy(0, rows, choices + first)

    def _read(self, owners: Tensor, tokens: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """The decoder's hidden state and cell after it has read a token a row."""
        inputs = torch.cat([self._editor.embedding(tokens), hidden], -1)
        out, keep_in, forget, new = torch.addmm(self._edit_gates[owners], inputs, self._weights).chunk(4, 1)
        cell = forget.sigmoid() * cell + keep_in.sigmoid() * new.tanh()
        return out.sigmoid() * cell.tanh(), cell

    def _read_out(self, state: Rows) -> ReadOut:
        """The read-out of each row: [rows, ...]. The rows of a source look at its memory side by side, so that it need
        not be copied for each."""
        lines = torch.searchsorted(state.sources, state.owners)
        places = rank_within(lines, len(state.sources))
        table = state.hidden.new_zeros(len(state.sources), int(places.max()) + 1, state.hidden.shape[1])
        table[lines, places] = state.hidden
        states, ways, before, context = self._editor._read_out(table, state.memories)
        return ReadOut(
            states[lines, places],
            ways[lines, places],
            before[lines, places],
            None if context is None else context[lines, places],
        )


class _Others(NamedTuple):
    """The tokens of each source that are not in the generator's head, each once; and where every place of a memory
    puts its weight: below the head's size into the head, from there on into the others."""

    tokens: Tensor  # [rows, most], ids; on padding the id PAD
    before: Tensor  # [rows, longest before]
    context: Tensor | None  # [rows, longest context]
    head_end: int

    @classmethod
    def of(cls, memories: Memories, head_end: int) -> _Others:
        parts = [memory for memory in memories if memory is not None]
        ids = torch.cat([memory.ids.where(memory.tokens, PAD) for memory in parts], 1)
        order = ids.sort(1)
        new = functional.pad(order.values[:, 1:] != order.values[:, :-1], (1, 0), value=True)
        new &= order.values >= head_end
        rank = new.cumsum(1) - 1
        most = int(rank.max()) + 1
        tokens = ids.new_full((len(ids), max(1, most)), PAD)
        rows, at = new.nonzero(as_tuple=True)
        tokens[rows, rank[rows, at]] = order.values[rows, at]
        columns = torch.where(order.values >= head_end, rank + head_end, order.values)
        places = torch.empty_like(ids).scatter_(1, order.indices, columns)
        size = memories.before.ids.shape[1]
        return cls(tokens, places[:, :size], places[:, size:] if memories.context else None, head_end)

    def at(self, rows: Tensor) -> _Others:
        context = None if self.context is None else self.context[rows]
        return _Others(self.tokens[rows], self.before[rows], context, self.head_end)

    def copy(self, weights: Tensor, places: Tensor, head: Tensor, beside: Tensor) -> None:
        """Adds the weights of places to the tokens that they hold."""
        rare = places >= self.head_end
        # What is below the head's first id are marks, which no weight is on.
        head.scatter_add_(1, (places - FIRST_GENERATED).where(~rare, 0).clamp(min=0), weights.where(~rare, 0.0))
        beside.scatter_add_(1, (places - self.head_end).where(rare, 0), weights.where(rare, 0.0))


def _best(found: list[tuple[Tensor, Tensor | None]], width: int) -> tuple[Tensor, Tensor]:
    """The most probable of several groups of choices, as log-probabilities and ids."""
    tops, ids = [], []
    for probabilities, tokens in found:
        top, at = probabilities.topk(min(width, probabilities.shape[1]), dim=1)
        tops.append(top)
        ids.append(at + FIRST_GENERATED if tokens is None else tokens.gather(1, at))
    together, choices = torch.cat(tops, 1), torch.cat(ids, 1)
    top, at = together.topk(min(width, together.shape[1]), dim=1)
    chosen = choices.gather(1, at)
    return (top + _TINY).log().masked_fill(top <= 0, -torch.inf), chosen
