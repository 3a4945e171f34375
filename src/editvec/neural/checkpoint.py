"""The weights of a network in a file.

A file contains the weights in float32, or packed: one byte per number, with a scale per row.
"""

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
"""Weights with fewer numbers are stored in half precision, because packing them saves too little."""
Arrays = dict[str, Floats]


def save_weights(path: Path, network: Layer) -> None:
    """Write the weights of a network to a file."""
    write_atomically(path, safetensors.numpy.save(_contiguous(network.named_arrays())))


def _contiguous(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return arrays that are contiguous in memory, as safetensors needs them."""
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def pack_weights(weights: Mapping[str, Floats]) -> bytes:
    """Return the content of a small weight file: large weights have one byte per number, the others half precision."""
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
    """Return the weights of a file in float32, whether they are packed or not.

    Raises:
        BadInputError: The file does not exist or is damaged.
    """
    try:
        found = safetensors.numpy.load(path.read_bytes())
    except (safetensors.SafetensorError, OSError, KeyError) as error:
        raise BadInputError(path, None, f"damaged weights ({error}). Train again, or copy the file again.") from None
    weights: Arrays = {}
    for name, weight in found.items():
        if name.endswith(_SCALE):
            scaled = found.get(name.removesuffix(_SCALE))
            if scaled is None or scaled.dtype != np.int8 or scaled.shape[:-1] != weight.shape:
                raise BadInputError(path, None, f"damaged weights ({name} matches no weight). Copy the file again.")
            continue
        scale = found.get(name + _SCALE)
        weights[name] = weight.astype(np.float32) if scale is None else np.multiply(weight, scale[..., None])
    return weights


def load_weights(path: Path, network: Layer, *, beside: Arrays | None = None) -> None:
    """Read the weights of a file into a network of the same shape.

    Weights that the file lacks are taken from `beside`.

    Raises:
        BadInputError: The file is damaged, or its weights do not match the network or `beside`.
    """
    found = read_weights(path)
    for name, weight in (beside or {}).items():
        if name in found and not np.array_equal(found[name], weight):
            raise BadInputError(
                path,
                None,
                f"{name} differs from the weight of the model. Train the second editor again from this model.",
            )
        found[name] = weight
    wanted = network.weights()
    if missing := sorted(wanted.keys() - found.keys()):
        raise BadInputError(
            path, None, f"the weights do not match the config: {missing[0]} is missing. Copy the model again."
        )
    if foreign := sorted(found.keys() - wanted.keys()):
        raise BadInputError(
            path, None, f"the weights do not match the config, which has no {foreign[0]}. Copy the model again."
        )
    for name, each in wanted.items():
        if found[name].shape != each.shape:
            sizes = f"{name} has the shape {found[name].shape}, but the config and the vocabulary need {each.shape}."
            raise BadInputError(path, None, sizes)
    _fill(network, found)


def load_what_fits(path: Path, network: Layer) -> None:
    """Read those weights of a file whose name and shape match a weight of the network."""
    wanted = network.weights()
    found = read_weights(path).items()
    _fill(network, {name: value for name, value in found if name in wanted and wanted[name].shape == value.shape})


def _fill(network: Layer, values: Mapping[str, Floats]) -> None:
    """Set the values of weights."""
    weights = network.weights()
    for name, value in values.items():
        weight = weights[name]
        if weight.value is None:
            weight.value = value
        else:
            # Write in place, because the value may be a parameter that is being trained.
            as_numpy(weight.value)[...] = value
