"""The network of a model: an encoder and an editor over one reader. Tensors in, tensors out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from editvec.neural.batch import Batch, SourceBatch
from editvec.neural.config import ModelConfig
from editvec.neural.editors import build_editor
from editvec.neural.encoders import build_encoder
from editvec.neural.grammar import Grammar
from editvec.neural.layers.memory import uncollected
from editvec.neural.reading import Reader, TokenEmbedding
from editvec.neural.search import Hypothesis, beam_search


class EditNetwork(nn.Module):
    """What a config describes, over `num_known` ids of a vocabulary, with a grammar where it reads trees."""

    def __init__(self, config: ModelConfig, num_known: int, grammar: Grammar | None = None) -> None:
        super().__init__()
        self.context = config.context
        num_kinds = 0 if grammar is None else 1 + len(grammar.kind_numbers)
        self.reader = _reader(config, num_known)
        self.encoder = build_encoder(config, num_known, num_kinds)
        self.shared = config.shared_reader
        if self.encoder.reads and not self.shared:
            self.encoder_reader = _reader(config, num_known)
        self.editor = build_editor(config, self.reader, self.encoder.edit_dim, grammar)
        if config.transfer_layer:
            self.transfer_map = nn.Linear(self.encoder.edit_dim, self.encoder.edit_dim)
            nn.init.zeros_(self.transfer_map.weight)
            self.transfer_map.weight.data.fill_diagonal_(1.0)
            nn.init.zeros_(self.transfer_map.bias)
        self.transfer_layer = config.transfer_layer
        self.max_steps = self.editor.max_steps_a_token * config.max_tokens + 1

    def forward(self, batch: Batch, shown: Batch | None = None, is_other: Tensor | None = None) -> Tensor:
        """The log-probability of each `after`, given its edit's own vector or that of the edit shown, which is another
        one where `is_other` [batch] says so: [batch]."""
        if shown is None and self.encoder.reads and self.shared:
            reading, after = self.reader.read_edit(batch, context=self.context)
            vectors = self.encoder(batch, reading.before, after)
        else:
            reading = self.reader.read(batch.source, context=self.context)
            vectors = self.vectors(batch if shown is None else shown)
        if self.transfer_layer and self.training and is_other is None:
            # Several processes need a gradient of every weight in every step.
            is_other = torch.zeros(len(batch), dtype=torch.bool)
        if self.transfer_layer and is_other is not None:
            vectors = torch.where(is_other[:, None], self.transfer_map(vectors), vectors)
        log_probs: Tensor = self.editor(batch.source, reading, vectors, batch.target)
        return log_probs

    def vectors(self, batch: Batch) -> Tensor:
        """The edit vectors of a batch: [batch, edit_dim]."""
        before = after = None
        if self.encoder.reads:
            reader = self.reader if self.shared else self.encoder_reader
            reading, after = reader.read_edit(batch, context=False)
            before = reading.before
        vectors: Tensor = self.encoder(batch, before, after)
        return vectors

    def transfer(self, vectors: Tensor) -> Tensor:
        """Vectors [any, edit_dim] for use on other edits than their own."""
        return self.transfer_map(vectors) if self.transfer_layer else vectors

    def search(
        self, source: SourceBatch, vectors: Tensor, *, k: int, margin: float = math.inf
    ) -> list[list[Hypothesis]]:
        """The `k` best `after`s of each source with the vector beside it, best first, as the editor's choices."""
        with self.asked(), uncollected():
            reading = self.reader.read(source, context=self.context)
            steps = self.editor.steps(source, reading, vectors)
            return beam_search(steps, num_sources=len(vectors), width=k, max_steps=self.max_steps, margin=margin)

    @contextmanager
    def asked(self) -> Iterator[None]:
        """No gradients, no dropout; afterwards as it was."""
        training = self.training
        self.eval()
        try:
            with torch.inference_mode():
                yield
        finally:
            self.train(training)


def _reader(config: ModelConfig, num_known: int) -> Reader:
    embedding = TokenEmbedding(
        num_known=num_known, num_slots=config.unknown_slots, dim=config.embed_dim, dropout=config.embed_dropout
    )
    return Reader(embedding=embedding, residual=config.residual)
