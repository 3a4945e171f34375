"""What an editor is: a distribution over `after`, given a source and an edit vector.

Training asks for the log-probability of known answers, search for the next step's; both go through one read-out, so
that the training score of a sequence is its search score.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from editvec.reading import Reading
from editvec.search import Steps
from editvec.tensors.batch import SourceBatch, TargetBatch


class Editor(nn.Module):
    """(before, context, edit vector) → after."""

    def forward(self, source: SourceBatch, reading: Reading, vectors: Tensor, target: TargetBatch) -> Tensor:
        """The log-probability of each target: [batch]."""
        raise NotImplementedError

    def steps(self, source: SourceBatch, reading: Reading, vectors: Tensor) -> Steps[Any]:
        """The search for what to write. A hypothesis is the ids of an `after`, END included."""
        raise NotImplementedError
