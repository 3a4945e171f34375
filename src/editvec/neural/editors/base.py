"""The protocol of editors: a distribution over `after`, given a source and an edit vector.

Training asks for the log-probability of known answers, and search asks for that of the next step. Both use the same
read-out, so the training score of a sequence equals its search score.
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
    """A layer that maps before, the context and an edit vector to a distribution over `after`."""

    needs_trees: bool = False
    max_steps_a_token: int = 1
    """The maximum number of steps of a search per token that a model can read."""

    @classmethod
    def from_config(cls, config: ModelConfig, reader: Reader, edit_dim: int, grammar: Grammar | None) -> Self:
        """Return the editor of a config, for vectors of `edit_dim` numbers.

        The editor uses what a reader has read. It gets a grammar if it needs trees.
        """
        raise NotImplementedError

    def __call__(self, source: SourceBatch, reading: Reading, vectors: Array, target: TargetBatch) -> Array:
        """Return the log-probability of each target: [batch].

        Shapes: `vectors` [batch, edit_dim].
        """
        raise NotImplementedError

    def steps(self, source: SourceBatch, reading: Reading, vectors: Floats) -> Steps[Any]:
        """Return the search over what to write; `vectors` has [batch, edit_dim]."""
        raise NotImplementedError

    def written(self, found: Hypothesis, example: Example, exampler: Exampler) -> tuple[Tokens, bool]:
        """Return the tokens of the `after` that a search found, and whether the model could name all of them."""
        raise NotImplementedError
