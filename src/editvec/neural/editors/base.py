"""What an editor is: a distribution over `after`, given a source and an edit vector.

Training asks for the log-probability of known answers, search for the next step's; both go through one read-out, so
that the training score of a sequence is its search score.
"""

from __future__ import annotations

from typing import Any, Self

from editvec.core.edit import Tokens
from editvec.neural.arrays import Array, Floats
from editvec.neural.batch import SourceBatch, TargetBatch
from editvec.neural.config import ModelConfig
from editvec.neural.examples import Example, Exampler
from editvec.neural.grammar import Grammar
from editvec.neural.layers.layer import Layer
from editvec.neural.reading import Reader, Reading
from editvec.neural.search import Hypothesis, Steps


class Editor(Layer):
    """(before, context, edit vector) → after."""

    needs_trees: bool = False
    max_steps_a_token: int = 1
    """How many steps a search may take for each token that a model can read."""

    @classmethod
    def from_config(cls, config: ModelConfig, reader: Reader, edit_dim: int, grammar: Grammar | None) -> Self:
        """Return the editor of a config, over what a reader reads, for vectors of `edit_dim`.

        It has a grammar where it needs trees.
        """
        raise NotImplementedError

    def __call__(self, source: SourceBatch, reading: Reading, vectors: Array, target: TargetBatch) -> Array:
        """Return the log-probability of each target: [batch]."""
        raise NotImplementedError

    def steps(self, source: SourceBatch, reading: Reading, vectors: Floats) -> Steps[Any]:
        """Return the search for what to write."""
        raise NotImplementedError

    def written(self, found: Hypothesis, example: Example, exampler: Exampler) -> tuple[Tokens, bool]:
        """Return the tokens of an `after` that a search has found, and whether the model could name all of them."""
        raise NotImplementedError
