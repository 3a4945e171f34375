"""The base class of layers, and the two simplest layers.

A layer has weights of declared shapes and maps arrays to arrays. A weight is an object that holds an array, so that
training can replace the NumPy array by a torch parameter, and so that layers can share a weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from editvec.neural.arrays import Array, Floats, Ints, affine, as_numpy, take

if TYPE_CHECKING:
    # NumPy loads its generators when they are first asked for, which no inference does.
    Initialiser = Callable[[np.random.Generator, tuple[int, ...]], Floats]


def uniform(bound: float) -> Initialiser:
    """Return an initialiser that draws uniformly from −bound to bound."""
    return lambda chance, shape: (chance.random(shape, np.float32) * 2 - 1) * np.float32(bound)


def normal(deviation: float) -> Initialiser:
    """Return an initialiser that draws from a normal distribution with mean 0."""
    return lambda chance, shape: chance.standard_normal(shape, np.float32) * np.float32(deviation)


def nothing(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return zeros of a shape."""
    return np.zeros(shape, np.float32)


def filled(value: float) -> Initialiser:
    """Return an initialiser that sets every number to a value."""
    return lambda chance, shape: np.full(shape, value, np.float32)


def identity(chance: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Return an identity matrix of a square shape."""
    return np.eye(*shape, dtype=np.float32)


@dataclass(slots=True, eq=False)
class Weight:
    """A learned array: its shape, its initialiser and its value.

    The `value` is None until the layer is initialised or loaded.
    """

    shape: tuple[int, ...]
    initialiser: Initialiser
    value: Array = None


class Layer:
    """A function of arrays with learned weights.

    Its attributes can be weights, layers, and lists of layers.
    """

    def weights(self) -> dict[str, Weight]:
        """Return the weights of this layer and of the layers inside, by their names in weight files.

        A shared weight is returned once.
        """
        found: dict[str, Weight] = {}
        known: set[int] = set()
        for name, weight in self._weights(""):
            if id(weight) not in known:
                known.add(id(weight))
                found[name] = weight
        return found

    def _weights(self, prefix: str) -> Iterator[tuple[str, Weight]]:
        """Yield the names and weights of this layer and of the layers inside."""
        for name, value in vars(self).items():
            if isinstance(value, Weight):
                yield prefix + name, value
            elif isinstance(value, Layer):
                yield from value._weights(f"{prefix}{name}.")
            elif isinstance(value, list):
                for number, layer in enumerate(value):
                    if isinstance(layer, Layer):
                        yield from layer._weights(f"{prefix}{name}.{number}.")

    def initialise(self, seed: int) -> None:
        """Set each weight to its initial value; the same seed gives the same values."""
        chance = np.random.default_rng(seed)
        for weight in self.weights().values():
            weight.value = weight.initialiser(chance, weight.shape)

    def named_arrays(self) -> dict[str, Floats]:
        """Return the values of all weights as NumPy arrays that share their memory."""
        return {name: as_numpy(weight.value) for name, weight in self.weights().items()}


class Linear(Layer):
    """An affine map; without `bias`, a linear map."""

    def __init__(self, input_dim: int, dim: int, *, bias: bool = True) -> None:
        self.dim = dim
        self.weight = Weight((dim, input_dim), uniform(input_dim**-0.5))
        self.bias = Weight((dim,), uniform(input_dim**-0.5)) if bias else None

    def __call__(self, values: Array) -> Array:
        """Return the mapped values: [..., input_dim] becomes [..., dim]."""
        return affine(values, self.weight.value, None if self.bias is None else self.bias.value)


class Embedding(Layer):
    """A table with one vector for each of `num` ids."""

    def __init__(self, num: int, dim: int, *, deviation: float = 1.0) -> None:
        self.dim = dim
        self.weight = Weight((num, dim), normal(deviation))

    def __call__(self, numbers: Ints) -> Array:
        """Return the vectors of ids: [...] becomes [..., dim]."""
        return take(self.weight.value, numbers)
