"""A network whose weights are torch parameters.

It runs the same forward pass as inference, which uses NumPy, but with gradients.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from editvec.neural.arrays import Mask
from editvec.neural.batch import Batch
from editvec.neural.layers.layer import Layer
from editvec.neural.network import EditNetwork
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

    def forward(self, batch: Batch, demonstrations: Batch | None = None, is_other: Mask | None = None) -> Tensor:
        """Return the log-probability of each `after`, as `EditNetwork` does: [batch]."""
        with learning(self.training):
            log_probs: Tensor = self.network(batch, demonstrations, is_other)
        return log_probs

    def close(self) -> None:
        """Restore the NumPy weights of the network."""
        release(self.network)
