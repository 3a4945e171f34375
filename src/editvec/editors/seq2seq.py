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
from editvec.reading import Reader, Reading, TokenEmbedding
from editvec.tensors.batch import Copies, Ragged, SourceBatch, TargetBatch
from editvec.vocab import END, FIRST_GENERATED, PLACE, START

_TINY = 1e-30
"""Added to a probability before its logarithm is taken: what is impossible stays finite."""


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
    """What the decoder says at each of n steps of each row, before the ways to write one token are summed."""

    states: Tensor  # [rows, n, hidden], what the generator reads
    ways: Tensor  # [rows, n, 3]: the probability to generate, to copy from before, to copy from context
    before: Tensor  # [rows, n, longest before], where from
    context: Tensor | None  # [rows, n, longest context]


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
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.copy, self.context, self.context_start = copy, context, context and context_start
        embed_dim = embedding.table.embedding_dim
        self.start = nn.Linear(token_dim * (2 if self.context_start else 1) + edit_dim, hidden_dim)
        self.lstm = nn.LSTM(embed_dim + edit_dim, hidden_dim, batch_first=True)
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
        )

    def forward(self, source: SourceBatch, reading: Reading, vectors: Tensor, target: TargetBatch) -> Tensor:
        after = target.after
        shifted = functional.pad(after.ids[:, :-1], (1, 0), value=START)
        inputs = self.embedding(shifted)
        edit = vectors[:, None, :].expand(-1, inputs.shape[1], -1)
        hidden, cell = self._initial(reading, vectors)
        states, _ = self.lstm(torch.cat([inputs, edit], -1), (hidden[None], cell[None]))
        said = self._read_out(states, self._memories(source, reading))
        there = after.mask
        logs = (self._of_targets(said, target, there) + _TINY).log()
        total = logs.new_zeros(there.shape)
        total[there] = logs
        return total.sum(1)

    def steps(self, source: SourceBatch, reading: Reading, vectors: Tensor) -> Seq2SeqSteps:
        return Seq2SeqSteps(self, self._memories(source, reading), source.num_unknown, reading, vectors)

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
    """Hypotheses: the source of each, its last token and the decoder's state."""

    owners: Tensor  # [rows]
    tokens: Tensor  # [rows]
    hidden: Tensor  # [rows, hidden]
    cell: Tensor  # [rows, hidden]


class Seq2SeqSteps:
    """The search of a seq2seq editor over a batch of sources. A choice is the id of a token: of the vocabulary, or,
    from its size up, of the source's own tokens outside it."""

    def __init__(
        self, editor: Seq2SeqEditor, memories: Memories, num_unknown: int, reading: Reading, vectors: Tensor
    ) -> None:
        self._editor, self._memories = editor, memories
        self._num_choices = editor.embedding.num_known + num_unknown
        self._initial = editor._initial(reading, vectors)
        # The edit vector is an input of every step: its share of the gates is the same in all of them.
        embed_dim = editor.embedding.table.embedding_dim
        inputs, bias = (
            editor.lstm.get_parameter("weight_ih_l0"),
            editor.lstm.get_parameter("bias_ih_l0") + editor.lstm.get_parameter("bias_hh_l0"),
        )
        self._edit_gates = functional.linear(vectors, inputs[:, embed_dim:], bias)
        self._weights = torch.cat([inputs[:, :embed_dim], editor.lstm.get_parameter("weight_hh_l0")], 1)
        self._seen: tuple[Tensor, Memories] | None = None

    def start(self) -> Rows:
        hidden, cell = self._initial
        owners = torch.arange(len(hidden))
        return self._read(owners, torch.full_like(owners, START), hidden, cell)

    def step(self, state: Rows) -> Tensor:
        editor, memories = self._editor, self._of(state.owners)
        said = editor._read_out(state.hidden[:, None], memories)
        ways = said.ways[:, 0]
        total = state.hidden.new_zeros(len(state.owners), self._num_choices)
        total[:, FIRST_GENERATED : editor.embedding.num_known] = editor.generator(said.states[:, 0]) * ways[:, :1]
        if editor.copy:
            total.scatter_add_(1, memories.before.ids, said.before[:, 0] * ways[:, 1:2])
            if memories.context is not None and said.context is not None:
                total.scatter_add_(1, memories.context.ids, said.context[:, 0] * ways[:, 2:3])
        return (total + _TINY).log()

    def ends(self, state: Rows, rows: Tensor, choices: Tensor) -> Tensor:
        return choices == END

    def advance(self, state: Rows, rows: Tensor, choices: Tensor) -> Rows:
        return self._read(state.owners[rows], choices, state.hidden[rows], state.cell[rows])

    def _read(self, owners: Tensor, tokens: Tensor, hidden: Tensor, cell: Tensor) -> Rows:
        inputs = torch.cat([self._editor.embedding(tokens), hidden], -1)
        gates = torch.addmm(self._edit_gates[owners], inputs, self._weights.t())
        keep_in, forget, new, out = gates.chunk(4, 1)
        cell = forget.sigmoid() * cell + keep_in.sigmoid() * new.tanh()
        return Rows(owners, tokens, out.sigmoid() * cell.tanh(), cell)

    def _of(self, owners: Tensor) -> Memories:
        # Gathering is dear and the rows of one step mostly have the owners of the step before.
        if self._seen is None or not torch.equal(self._seen[0], owners):
            self._seen = owners, self._memories.at(owners)
        return self._seen[1]
