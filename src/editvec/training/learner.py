"""A network whose weights are torch parameters.

It runs the same forward pass as inference, which uses NumPy, but with gradients.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from editvec.neural.arrays import Mask, place
from editvec.neural.batch import Batch
from editvec.neural.layers.layer import Layer
from editvec.neural.network import EditNetwork
from editvec.training.contrast import Contrast, contrastive_loss
from editvec.training.torch_backend import learning


def parameters_of(layer: Layer) -> dict[str, nn.Parameter]:
    """Replace a layer's weights by torch parameters that share their memory, and return the parameters by name.

    A weight that two layers share is returned once.
    """
    parameters = {}
    for name, weight in layer.weights().items():
        parameters[name] = weight.value = nn.Parameter(torch.from_numpy(weight.value))
    return parameters


def release(layer: Layer) -> None:
    """Replace a layer's torch parameters by NumPy arrays that share their memory."""
    weights = layer.weights()
    for name, array in layer.named_arrays().items():
        weights[name].value = array


class Learner(nn.Module):
    """A network in training. `close` restores its NumPy weights."""

    def __init__(self, network: EditNetwork) -> None:
        super().__init__()
        self.network = network
        self.named = parameters_of(network)
        self._parameters_in_order = nn.ParameterList(self.named.values())

    def forward(
        self,
        batch: Batch,
        demonstrations: Batch | None = None,
        is_other: Mask | None = None,
        contrast: Contrast | None = None,
    ) -> Tensor:
        """Return the log-probability of each `after`, as `EditNetwork` does: [batch].

        With `contrast`, the contrastive loss of each edit follows, 0 for edits that are not compared: [2, batch].
        """
        with learning(self.training):
            log_probs: Tensor = self.network(batch, demonstrations, is_other)
            if contrast is None:
                return log_probs
            own, shown, undone = map(self.network.vectors, (contrast.edits, contrast.shown, contrast.undone))
            penalties = contrastive_loss(own, shown, undone, contrast.same)
            return torch.stack([log_probs, place(penalties, np.flatnonzero(contrast.rows), len(batch))])

    def close(self) -> None:
        """Restore the NumPy weights of the network."""
        release(self.network)
