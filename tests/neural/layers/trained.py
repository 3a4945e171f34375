"""Layers whose weights are torch parameters."""

from __future__ import annotations

from torch import nn

from editvec.neural.layers.layer import Layer
from editvec.training.learner import parameters_of


def in_doubles(layer: Layer, seed: int = 0) -> dict[str, nn.Parameter]:
    """Give a layer parameters of double precision, and return them by name."""
    layer.initialise(seed)
    for weight in layer.weights().values():
        weight.value = weight.value.astype("float64")
    return parameters_of(layer)
