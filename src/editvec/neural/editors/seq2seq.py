"""`seq2seq`: an LSTM decoder with attention to before that writes token by token (section 3.1 of the paper).

There is no input feeding, so training runs the decoder over whole targets at once, and search runs it step by step. The
code after the decoder's state (`read_out` and the writer) is the same in both.
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
from editvec.neural.reading import Reader, Reading, Spelled, TokenEmbedding
from editvec.neural.search import Hypothesis
from editvec.neural.vocab import END, START, UNKNOWN

_STEPS_A_TOKEN = 2
"""The maximum number of steps of a search per token if tokens can be spelled."""


class Seq2SeqEditor(Editor):
    """The seq2seq editor.

    Without `copy`, tokens are only generated. Without `context`, only before is read.
    """

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
            spells=True,
        )
        if self.writer.spells:
            self.max_steps_a_token = _STEPS_A_TOKEN

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
        """Return the log-probability of each target: [batch].

        Shapes: `vectors` [batch, edit_dim].
        """
        after = target.symbols
        shifted = np.concatenate([np.full_like(after.ids[:, :1], START), after.ids[:, :-1]], 1)
        embedded = self.embedding(shifted, self.embedding.spell(source.before.names))
        progress = self.writer.progress_of(after.ids)
        hidden, cell = self.initial(reading, vectors)
        # The edit vector is an input of every step, so its contribution to the gates is computed once.
        states = self.lstm(embedded, after.lengths, (hidden[None], cell[None]), self.edit_gates(vectors)[None]).all
        said = self.read_out(states, self.writer.memories(source, reading, vectors), progress)
        there = after.mask
        found = self.writer.probability_of(said, after.ids, there, target.from_before, target.from_context, progress)
        return scatter_add(log(found + TINY), there.nonzero()[0], len(there))

    def steps(self, source: SourceBatch, reading: Reading, vectors: Floats) -> Seq2SeqSteps:
        """Return the search over token sequences; `vectors` has [batch, edit_dim]."""
        spelled = self.embedding.spell(source.before.names)
        return Seq2SeqSteps(self, self.writer.memories(source, reading, vectors), reading, vectors, spelled)

    def written(self, found: Hypothesis, example: Example, exampler: Exampler) -> tuple[Tokens, bool]:
        """Return the tokens that a search found, and whether the model could name all of them."""
        return exampler.written(found.choices, example), UNKNOWN not in found.choices

    def initial(self, reading: Reading, vectors: Array) -> tuple[Array, Array]:
        """Return the initial hidden state and cell of the decoder, each [batch, hidden]."""
        known = [reading.before.final]
        if self.context_start:
            assert reading.context is not None
            known.append(reading.context.final)
        cell = self.start(concat(*known, vectors))
        return tanh(cell), cell

    def read_out(self, states: Array, memories: Memories, progress: Ints) -> Ways:
        """Return the decoder's distributions over tokens for `states` [batch, n, hidden].

        `progress` [batch, n] is the number of pieces that are written of a token.
        """
        before = memories.before
        seen = self.attention(states, before.states, before.mask) @ before.states
        said = dropout(tanh(self.combine(concat(states, seen))), self.dropout)
        return self.writer(said, memories, progress)


@dataclass(frozen=True, slots=True)
class Seq2SeqRows:
    """The hypotheses of a search, as rows.

    `memories` belong to the `sources`, which are the sources that have rows, and possibly some that had rows until
    recently.
    """

    owners: Ints  # [rows], the source of each row
    progress: Ints  # [rows], the number of pieces of a token that is being spelled
    hidden: Floats  # [rows, hidden]
    cell: Floats  # [rows, hidden]
    sources: Ints  # [sources]
    memories: Memories  # [sources, ...]


class Seq2SeqSteps:
    """The search of a seq2seq editor over a batch of sources.

    A choice is an id: of a token or a piece in the vocabulary, or, from the size of the vocabulary on, of a token of
    the source outside it.
    """

    def __init__(
        self, editor: Seq2SeqEditor, memories: Memories, reading: Reading, vectors: Floats, spelled: Spelled | None
    ) -> None:
        self._editor, self._memories, self._spelled = editor, memories, spelled
        self._initial = editor.initial(reading, vectors)
        self._edit_gates = editor.edit_gates(vectors)
        self._own = editor.writer.own_tokens(memories)

    def start(self) -> Seq2SeqRows:
        """Return one row per source."""
        hidden, cell = self._initial
        owners = np.arange(len(hidden))
        hidden, cell = self._read(owners, np.full_like(owners, START), hidden, cell)
        return Seq2SeqRows(owners, np.zeros_like(owners), hidden, cell, owners, self._memories)

    def step(self, state: Seq2SeqRows, width: int, floor: Floats | None = None) -> tuple[Floats, Ints]:
        """Return the log-probabilities and the ids of the best next tokens, each [rows, at most width]."""
        own = self._own.at(state.owners)
        return self._editor.writer.best(self._read_out(state), own, width, floor, state.progress)

    def ends(self, state: Seq2SeqRows, rows: Ints, choices: Ints) -> Mask:
        """Return whether each choice is the end of the sequence: [n]."""
        ends: Mask = choices == END
        return ends

    def result(self, state: Seq2SeqRows, row: int, choice: int) -> None:
        """Return None: different sequences of choices have different results.

        A token is one choice, even if it can be both generated and copied.
        """

    def advance(self, state: Seq2SeqRows, rows: Ints, choices: Ints) -> Seq2SeqRows:
        """Return the state with the given rows, each after its choice."""
        owners = state.owners[rows]
        sources, memories = let_go(owners, state.sources, state.memories)
        hidden, cell = self._read(owners, choices, state.hidden[rows], state.cell[rows])
        progress = self._editor.writer.progressed(state.progress[rows], choices)
        return Seq2SeqRows(owners, progress, hidden, cell, sources, memories)

    def _read(self, owners: Ints, tokens: Ints, hidden: Floats, cell: Floats) -> tuple[Floats, Floats]:
        """Return the hidden state and the cell of the decoder, each [rows, hidden], after each row read a token."""
        spelled = None if self._spelled is None else self._spelled.at(owners)
        embedded = self._editor.embedding(tokens, spelled)
        return self._editor.lstm.step(embedded, (hidden, cell), self._edit_gates[owners])

    def _read_out(self, state: Seq2SeqRows) -> Ways:
        """Return the distribution over tokens of each row: [rows, ...]."""
        beside = SideBySide.of(state.owners, state.sources)
        progress = beside.table(state.progress)
        return self._editor.read_out(beside.table(state.hidden), state.memories, progress).at(beside)
