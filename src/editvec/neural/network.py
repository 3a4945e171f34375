"""The network of a model: a reader, an encoder and an editor. It maps arrays to arrays."""

from __future__ import annotations

import math

import numpy as np

from editvec.neural.arrays import Array, Floats, Mask, is_learning, of_kind, where
from editvec.neural.batch import Batch, SourceBatch
from editvec.neural.config import ModelConfig
from editvec.neural.editors import build_editor
from editvec.neural.encoders import build_encoder
from editvec.neural.grammar import Grammar
from editvec.neural.layers.layer import Layer, Linear, Weight, identity, nothing
from editvec.neural.reading import Reader, TokenEmbedding
from editvec.neural.search import Hypothesis, beam_search
from editvec.neural.vocab import VocabSizes


class EditNetwork(Layer):
    """The network that a config describes, for a vocabulary of some sizes, with a grammar if it reads trees."""

    def __init__(self, config: ModelConfig, sizes: VocabSizes, grammar: Grammar | None = None) -> None:
        self.context = config.context
        num_kinds = 0 if grammar is None else 1 + len(grammar.kind_numbers)
        self.reader = _reader(config, sizes)
        self.encoder = build_encoder(config, sizes, num_kinds)
        self.shared = config.shared_reader
        if self.encoder.reads and not self.shared:
            self.encoder_reader = _reader(config, sizes)
        self.editor = build_editor(config, self.reader, self.encoder.edit_dim, grammar)
        self.transfer_layer = config.transfer_layer
        if config.transfer_layer:
            dim = self.encoder.edit_dim
            self.transfer_map = Linear(dim, dim)
            self.transfer_map.weight = Weight((dim, dim), identity)
            self.transfer_map.bias = Weight((dim,), nothing)
        self.max_steps = self.editor.max_steps_a_token * config.max_tokens + 1

    def __call__(self, batch: Batch, demonstrations: Batch | None = None, is_other: Mask | None = None) -> Array:
        """Return the log-probability of each `after`: [batch].

        The edit vectors are those of the `shown` edits, or, without these, the edits' own. `is_other` [batch] is True
        where the shown edit is another edit.
        """
        if demonstrations is None and self.encoder.reads and self.shared:
            reading, after = self.reader.read_edit(batch, context=self.context)
            vectors = self.encoder(batch, reading.before, after)
        else:
            reading = self.reader.read(batch.source, context=self.context)
            vectors = self.vectors(batch if demonstrations is None else demonstrations)
        # Training in several processes needs a gradient of every weight in every step.
        if self.transfer_layer and (is_other is not None or is_learning(vectors)):
            is_other = np.zeros(len(batch), np.bool_) if is_other is None else is_other
            vectors = where(self.transfer_map(vectors), is_other[:, None], vectors)
        return self.editor(batch.source, reading, vectors, batch.target)

    def vectors(self, batch: Batch) -> Array:
        """Return the edit vectors of a batch: [batch, edit_dim]."""
        before = after = None
        if self.encoder.reads:
            reader = self.reader if self.shared else self.encoder_reader
            reading, after = reader.read_edit(batch, context=False)
            before = reading.before
        vectors = self.encoder(batch, before, after)
        # An encoder without weights returns NumPy arrays even in training.
        return vectors if self.encoder.weights() else of_kind(self.reader.embedding.table.weight.value, vectors)

    def transfer(self, vectors: Floats) -> Floats:
        """Return `vectors` [any, edit_dim] for use on edits other than their own: [any, edit_dim]."""
        return self.transfer_map(vectors) if self.transfer_layer else vectors

    def search(
        self, source: SourceBatch, vectors: Floats, *, k: int, margin: float = math.inf
    ) -> list[list[Hypothesis]]:
        """Return the `k` best hypotheses for each source, best first, as the editor's choices.

        Shapes: `vectors` [batch, edit_dim]. A hypothesis that is less likely than the best one by more than `margin`
        nats is dropped.
        """
        reading = self.reader.read(source, context=self.context)
        steps = self.editor.steps(source, reading, vectors)
        return beam_search(steps, num_sources=len(vectors), width=k, max_steps=self.max_steps, margin=margin)


def _reader(config: ModelConfig, sizes: VocabSizes) -> Reader:
    """Return a new reader for a config."""
    embedding = TokenEmbedding(
        sizes=sizes, num_slots=config.unknown_slots, dim=config.embed_dim, dropout=config.embed_dropout
    )
    return Reader(embedding=embedding, residual=config.residual)
