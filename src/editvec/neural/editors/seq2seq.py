"""`seq2seq`: an LSTM decoder with attention over before that writes token by token (section 3.1 of the paper).

There is no input feeding, so training runs the decoder over whole targets at once, and search one step at a time; what
comes after the decoder's state (`read_out`, and the writer) is the same code in both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from editvec.core.edit import Tokens
from editvec.neural.arrays import Array, Floats, Ints, Mask, concat, dropout, log, scatter_add, tanh
from editvec.neural.batch import SourceBatch, TargetBatch
from editvec.neural.config import ModelConfig
from editvec.neural.editors.base import Editor
from editvec.neural.editors.rows import SideBySide, let_go
from editvec.neural.editors.writer import TINY, Memories, TokenWriter, Ways
from editvec.neural.examples import Example, Exampler
from editvec.neural.grammar import Grammar
from editvec.neural.layers.attention import Attention
from editvec.neural.layers.layer import Linear
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
        self.embedding, self.dropout = embedding, dropout
        self.context_start = context and context_start
        self.start = Linear(token_dim * (2 if self.context_start else 1) + edit_dim, hidden_dim)
        self.lstm = LSTM(input_dim=embedding.dim, dim=hidden_dim)
        self.edit_gates = Linear(edit_dim, 4 * hidden_dim, bias=False)
        self.attention = Attention(query_dim=hidden_dim, key_dim=token_dim)
        self.combine = Linear(hidden_dim + token_dim, embedding.dim if tied else hidden_dim, bias=False)
        self.writer = TokenWriter(
            embedding=embedding,
            dim=self.combine.dim,
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
        """Return the editor of a config."""
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

    def __call__(self, source: SourceBatch, reading: Reading, vectors: Array, target: TargetBatch) -> Array:
        """Return the log-probability of each target: [batch]."""
        after = target.after
        shifted = np.concatenate([np.full_like(after.ids[:, :1], START), after.ids[:, :-1]], 1)
        hidden, cell = self.initial(reading, vectors)
        # The edit vector is an input of every step: its share of the gates is the same in all of them.
        states = self.lstm(
            self.embedding(shifted), after.lengths, (hidden[None], cell[None]), self.edit_gates(vectors)[None]
        ).all
        said = self.read_out(states, self.writer.memories(source, reading, vectors))
        there = after.mask
        found = self.writer.probability_of(said, after.ids, there, target.from_before, target.from_context)
        return scatter_add(log(found + TINY), there.nonzero()[0], len(there))

    def steps(self, source: SourceBatch, reading: Reading, vectors: Floats) -> Seq2SeqSteps:
        """Return the search for what to write."""
        return Seq2SeqSteps(self, self.writer.memories(source, reading, vectors), reading, vectors)

    def written(self, found: Hypothesis, example: Example, exampler: Exampler) -> tuple[Tokens, bool]:
        """Return the tokens of an `after` that a search has found, and whether the model could name all of them."""
        return exampler.written(found.choices, example), UNKNOWN not in found.choices

    def initial(self, reading: Reading, vectors: Array) -> tuple[Array, Array]:
        """Return the decoder's first hidden state and cell."""
        known = [reading.before.final]
        if self.context_start:
            assert reading.context is not None
            known.append(reading.context.final)
        cell = self.start(concat(*known, vectors))
        return tanh(cell), cell

    def read_out(self, states: Array, memories: Memories) -> Ways:
        """Return how the decoder's `states` [batch, n, hidden] would write a token."""
        before = memories.before
        seen = self.attention(states, before.states, before.mask) @ before.states
        said = dropout(tanh(self.combine(concat(states, seen))), self.dropout)
        return self.writer(said, memories)


@dataclass(frozen=True, slots=True)
class Seq2SeqRows:
    """Hypotheses: the source of each and the decoder's state.

    The memories are of the sources that still have rows, or had some not long ago.
    """

    owners: Ints  # [rows]
    hidden: Floats  # [rows, hidden]
    cell: Floats  # [rows, hidden]
    sources: Ints  # [sources]
    memories: Memories  # [sources, ...]


class Seq2SeqSteps:
    """The search of a seq2seq editor over a batch of sources.

    A choice is the id of a token: of the vocabulary, or, from its size up, of the source's own tokens outside it.
    """

    def __init__(self, editor: Seq2SeqEditor, memories: Memories, reading: Reading, vectors: Floats) -> None:
        self._editor, self._memories = editor, memories
        self._initial = editor.initial(reading, vectors)
        self._edit_gates = editor.edit_gates(vectors)
        self._own = editor.writer.own_tokens(memories)

    def start(self) -> Seq2SeqRows:
        """Return one row for each source."""
        hidden, cell = self._initial
        owners = np.arange(len(hidden))
        hidden, cell = self._read(owners, np.full_like(owners, START), hidden, cell)
        return Seq2SeqRows(owners, hidden, cell, owners, self._memories)

    def step(self, state: Seq2SeqRows, width: int, floor: Floats | None = None) -> tuple[Floats, Ints]:
        """Return the log-probabilities of the best next choices of each row, and the choices."""
        return self._editor.writer.best(self._read_out(state), self._own.at(state.owners), width, floor)

    def ends(self, state: Seq2SeqRows, rows: Ints, choices: Ints) -> Mask:
        """Return whether each row is complete when it takes its choice."""
        ends: Mask = choices == END
        return ends

    def result(self, state: Seq2SeqRows, row: int, choice: int) -> None:
        """Return what a row that is complete with a choice has come to."""
        # A token is one choice, whatever the ways to write it: no two sequences of choices come to the same.
        return

    def advance(self, state: Seq2SeqRows, rows: Ints, choices: Ints) -> Seq2SeqRows:
        """Return a state of those rows, each after its choice."""
        owners = state.owners[rows]
        sources, memories = let_go(owners, state.sources, state.memories)
        hidden, cell = self._read(owners, choices, state.hidden[rows], state.cell[rows])
        return Seq2SeqRows(owners, hidden, cell, sources, memories)

    def _read(self, owners: Ints, tokens: Ints, hidden: Floats, cell: Floats) -> tuple[Floats, Floats]:
        """Return the decoder's hidden state and cell after it has read a token a row."""
        return self._editor.lstm.step(self._editor.embedding(tokens), (hidden, cell), self._edit_gates[owners])

    def _read_out(self, state: Seq2SeqRows) -> Ways:
        """Return the read-out of each row: [rows, ...]."""
        beside = SideBySide.of(state.owners, state.sources)
        return self._editor.read_out(beside.table(state.hidden), state.memories).at(beside)
