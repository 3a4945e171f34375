"""`seq2seq`: an LSTM decoder with attention over before that writes token by token (section 3.1 of the paper).

There is no input feeding, so training runs the decoder over whole targets at once, and search one step at a time; what
comes after the decoder's state (`_read_out`, and the writer) is the same code in both.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from editvec.core.edit import Tokens
from editvec.neural.batch import SourceBatch, TargetBatch
from editvec.neural.config import ModelConfig
from editvec.neural.editors.base import Editor
from editvec.neural.editors.rows import SideBySide, let_go
from editvec.neural.editors.writer import TINY, Memories, TokenWriter, Ways
from editvec.neural.examples import Example, Exampler
from editvec.neural.grammar import Grammar
from editvec.neural.layers.attention import Attention
from editvec.neural.layers.dropout import Dropout
from editvec.neural.layers.recurrent import LSTM
from editvec.neural.reading import Reader, Reading, TokenEmbedding
from editvec.neural.search import Hypothesis
from editvec.neural.vocab import END, START, UNKNOWN


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
        token_skip: int,
        head_size: int,
        tail_dim: int,
    ) -> None:
        super().__init__()
        self.embedding = embedding
        self.context_start = context and context_start
        embed_dim = embedding.table.embedding_dim
        self.start = nn.Linear(token_dim * (2 if self.context_start else 1) + edit_dim, hidden_dim)
        self.lstm = LSTM(input_dim=embed_dim, dim=hidden_dim)
        self.edit_gates = nn.Linear(edit_dim, 4 * hidden_dim, bias=False)
        self.attention = Attention(query_dim=hidden_dim, key_dim=token_dim)
        self.combine = nn.Linear(hidden_dim + token_dim, embed_dim if tied else hidden_dim, bias=False)
        self.dropout = Dropout(dropout)
        self.writer = TokenWriter(
            embedding=embedding,
            dim=self.combine.out_features,
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
    def from_config(cls, config: ModelConfig, reader: Reader, edit_dim: int, grammar: Grammar | None) -> Seq2SeqEditor:
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
            token_skip=config.token_skip,
            head_size=config.head_size,
            tail_dim=config.tail_dim,
        )

    def forward(self, source: SourceBatch, reading: Reading, vectors: Tensor, target: TargetBatch) -> Tensor:
        after = target.after
        shifted = functional.pad(after.ids[:, :-1], (1, 0), value=START)
        hidden, cell = self._initial(reading, vectors)
        # The edit vector is an input of every step: its share of the gates is the same in all of them.
        states = self.lstm(
            self.embedding(shifted), after.lengths, (hidden[None], cell[None]), self.edit_gates(vectors)[None]
        ).all
        said = self._read_out(states, self.writer.memories(source, reading, vectors))
        there = after.mask
        found = self.writer.probability_of(said, after.ids, there, target.from_before, target.from_context)
        logs = (found + TINY).log()
        total = logs.new_zeros(there.shape)
        total[there] = logs
        return total.sum(1)

    def steps(self, source: SourceBatch, reading: Reading, vectors: Tensor) -> Seq2SeqSteps:
        return Seq2SeqSteps(self, self.writer.memories(source, reading, vectors), reading, vectors)

    def written(self, found: Hypothesis, example: Example, exampler: Exampler) -> tuple[Tokens, bool]:
        return exampler.written(found.choices, example), UNKNOWN not in found.choices

    def _initial(self, reading: Reading, vectors: Tensor) -> tuple[Tensor, Tensor]:
        known = [reading.before.final]
        if self.context_start:
            assert reading.context is not None
            known.append(reading.context.final)
        cell = self.start(torch.cat([*known, vectors], -1))
        return cell.tanh(), cell

    def _read_out(self, states: Tensor, memories: Memories) -> Ways:
        before = memories.before
        seen = torch.bmm(self.attention(states, before.states, before.mask), before.states)
        said = self.dropout(self.combine(torch.cat([states, seen], -1)).tanh())
        ways: Ways = self.writer(said, memories)
        return ways


@dataclass(frozen=True, slots=True)
class Seq2SeqRows:
    """Hypotheses: the source of each and the decoder's state; and the memories of sources that still have rows, or had
    some not long ago."""

    owners: Tensor  # [rows]
    hidden: Tensor  # [rows, hidden]
    cell: Tensor  # [rows, hidden]
    sources: Tensor  # [sources]
    memories: Memories  # [sources, ...]


class Seq2SeqSteps:
    """The search of a seq2seq editor over a batch of sources. A choice is the id of a token: of the vocabulary, or,
    from its size up, of the source's own tokens outside it."""

    def __init__(self, editor: Seq2SeqEditor, memories: Memories, reading: Reading, vectors: Tensor) -> None:
        self._editor, self._memories = editor, memories
        self._initial = editor._initial(reading, vectors)
        self._edit_gates = editor.edit_gates(vectors)
        self._own = editor.writer.own_tokens(memories)

    def start(self) -> Seq2SeqRows:
        hidden, cell = self._initial
        owners = torch.arange(len(hidden))
        hidden, cell = self._read(owners, torch.full_like(owners, START), hidden, cell)
        return Seq2SeqRows(owners, hidden, cell, owners, self._memories)

    def step(self, state: Seq2SeqRows, width: int, floor: Tensor | None = None) -> tuple[Tensor, Tensor]:
        return self._editor.writer.best(self._read_out(state), self._own.at(state.owners), width, floor)

    def ends(self, state: Seq2SeqRows, rows: Tensor, choices: Tensor) -> Tensor:
        return choices == END

    def result(self, state: Seq2SeqRows, row: int, choice: int) -> None:
        # A token is one choice, whatever the ways to write it: no two sequences of choices come to the same.
        return None

    def advance(self, state: Seq2SeqRows, rows: Tensor, choices: Tensor) -> Seq2SeqRows:
        owners = state.owners[rows]
        sources, memories = let_go(owners, state.sources, state.memories)
        hidden, cell = self._read(owners, choices, state.hidden[rows], state.cell[rows])
        return Seq2SeqRows(owners, hidden, cell, sources, memories)

    def _read(self, owners: Tensor, tokens: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
        """The decoder's hidden state and cell after it has read a token a row."""
        return self._editor.lstm.step(self._editor.embedding(tokens), (hidden, cell), self._edit_gates[owners])

    def _read_out(self, state: Seq2SeqRows) -> Ways:
        """The read-out of each row: [rows, ...]."""
        beside = SideBySide.of(state.owners, state.sources)
        return self._editor._read_out(beside.table(state.hidden), state.memories).at(beside)
