"""A network whose weights are torch parameters: the forward pass that inference runs on NumPy, with gradients."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from editvec.neural.arrays import Mask
from editvec.neural.batch import Batch
from editvec.neural.layers.layer import Layer
from editvec.neural.network import EditNetwork
from editvec.training.torch_backend import learning


def parameters_of(layer: Layer) -> dict[str, nn.Parameter]:
    """Put torch parameters in the places of a layer's weights, over the same memory, and return them by name.

    Those that two layers share are there once.
    """
    parameters = {}
    for name, weight in layer.weights().items():
        parameters[name] = weight.value = nn.Parameter(torch.from_numpy(weight.value))
    return parameters


def release(layer: Layer) -> None:
    """Put NumPy arrays back in the places of torch parameters, over the same memory."""
    weights = layer.weights()
    for name, array in layer.named_arrays().items():
        weights[name].value = array


class Learner(nn.Module):
    """A network in training. `close` gives its weights back."""

    def __init__(self, network: EditNetwork) -> None:
        super().__init__()
        self.network = network
        self.named = parameters_of(network)
        self._parameters_in_order = nn.ParameterList(self.named.values())

    def forward(self, batch: Batch, shown: Batch | None = None, is_other: Mask | None = None) -> Tensor:
        """Return the log-probability of each `after`, as `EditNetwork` does: [batch]."""
        with learning(self.training):
            log_probs: Tensor = self.network(batch, shown, is_other)
        return log_probs

    def close(self) -> None:
        """Give the network its NumPy arrays back."""
        release(self.network)
