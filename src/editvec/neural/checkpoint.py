"""The weights of a network in a file: as they are, or a byte a number with a scale a row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from editvec.core.errors import BadInputError
from editvec.core.files import write_atomically
from editvec.neural.arrays import Floats, as_numpy
from editvec.neural.layers.layer import Layer

_SCALE = ":scale"
_LARGE = 4096
"""Smaller weights are not worth a byte a number."""
Arrays = dict[str, Floats]


def save_weights(path: Path, network: Layer) -> None:
    """Write a network's weights."""
    write_atomically(path, safetensors.numpy.save(_contiguous(network.named_arrays())))


def _contiguous(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def pack_weights(weights: Mapping[str, Floats]) -> bytes:
    """Return weights for a small file: large ones a byte a number, the others in half precision."""
    packed: dict[str, NDArray[Any]] = {}
    for name, weight in weights.items():
        if weight.ndim < 2 or weight.size < _LARGE:
            packed[name] = weight.astype(np.float16)
            continue
        scale = np.maximum(np.abs(weight).max(-1, keepdims=True) / np.float32(127), np.float32(1e-12))
        packed[name] = (weight / scale).round().astype(np.int8)
        packed[name + _SCALE] = scale[..., 0]
    return safetensors.numpy.save(_contiguous(packed))


def read_weights(path: Path) -> Arrays:
    """Return what a file holds, whether packed or not, in float32; BadInputError where it is not sound."""
    try:
        found = safetensors.numpy.load(path.read_bytes())
    except (safetensors.SafetensorError, OSError, KeyError) as error:
        raise BadInputError(path, None, f"not sound weights ({error}). Train again or copy the file again.") from None
    weights: Arrays = {}
    for name, weight in found.items():
        if name.endswith(_SCALE):
            scaled = found.get(name.removesuffix(_SCALE))
            if scaled is None or scaled.dtype != np.int8 or scaled.shape[:-1] != weight.shape:
                raise BadInputError(path, None, f"not sound weights ({name} fits no weight). Copy the file again.")
            continue
        scale = found.get(name + _SCALE)
        weights[name] = weight.astype(np.float32) if scale is None else np.multiply(weight, scale[..., None])
    return weights


def load_weights(path: Path, network: Layer, *, beside: Arrays | None = None) -> None:
    """Read a file's weights into a network of the same shape. What stands `beside` them comes from there."""
    found = read_weights(path)
    for name, weight in (beside or {}).items():
        if name in found and not np.array_equal(found[name], weight):
            raise BadInputError(path, None, f"{name} is not that of the model whose second editor this is.")
        found[name] = weight
    wanted = network.weights()
    if missing := sorted(wanted.keys() - found.keys()):
        raise BadInputError(path, None, f"not the weights of this config: {missing[0]} is missing.")
    if foreign := sorted(found.keys() - wanted.keys()):
        raise BadInputError(path, None, f"not the weights of this config: it has no {foreign[0]}.")
    for name, each in wanted.items():
        if found[name].shape != each.shape:
            sizes = f"{name} has the size {found[name].shape}, its config and vocabulary make it {each.shape}."
            raise BadInputError(path, None, sizes)
    _fill(network, found)


def load_what_fits(path: Path, network: Layer) -> None:
    """Read those of a file's weights that have the name and the size of one of the network's."""
    wanted = network.weights()
    found = read_weights(path).items()
    _fill(network, {name: value for name, value in found if name in wanted and wanted[name].shape == value.shape})


def _fill(network: Layer, values: Mapping[str, Floats]) -> None:
    weights = network.weights()
    for name, value in values.items():
        weight = weights[name]
        if weight.value is None:
            weight.value = value
        else:
            # In place: it may be a parameter that is being trained.
            as_numpy(weight.value)[...] = value
