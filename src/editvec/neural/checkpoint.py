"""The weights of a network in a file: as they are, or a byte a number with a scale a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from editvec.core.errors import BadInputError
from editvec.core.files import write_atomically

_SCALE = ":scale"
_LARGE = 4096
"""Smaller weights are not worth a byte a number."""
Weights = dict[str, Tensor]


class _Unfilled(TorchFunctionMode):
    """Calls nothing that would fill a weight."""

    def __torch_function__(self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is Tensor.uniform_ or getattr(func, "__module__", None) == nn.init.__name__:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


@contextmanager
def only_sizes() -> Iterator[None]:
    """Networks that are made inside have sizes and no numbers, and take no memory. To fill weights without numbers
    torch would load its compiler, which takes seconds."""
    with torch.device("meta"), _Unfilled():
        yield


def weights_of(network: nn.Module) -> Weights:
    """A network's weights; one that two layers share is there once."""
    return {name: weight.detach().contiguous() for name, weight in network.named_parameters()}


def save_weights(path: Path, network: nn.Module) -> None:
    """Writes a network's weights."""
    write_atomically(path, safetensors.torch.save(weights_of(network)))


def pack_weights(weights: Mapping[str, Tensor]) -> bytes:
    """Weights for a small file: large ones a byte a number, the others in half precision."""
    packed: Weights = {}
    for name, weight in weights.items():
        if weight.dim() < 2 or weight.numel() < _LARGE:
            packed[name] = weight.to(torch.float16)
            continue
        scale = (weight.float().abs().amax(-1, keepdim=True) / 127).clamp(min=1e-12)
        packed[name] = (weight.float() / scale).round().to(torch.int8)
        packed[name + _SCALE] = scale.squeeze(-1)
    return safetensors.torch.save(packed)


def read_weights(path: Path) -> Weights:
    """What a file holds, whether packed or not; BadInputError where it is not sound."""
    try:
        found = safetensors.torch.load(path.read_bytes())
    except (safetensors.SafetensorError, OSError) as error:
        raise BadInputError(path, None, f"not sound weights ({error}). Train again or copy the file again.") from None
    for name in [name for name in found if name.endswith(_SCALE)]:
        scale, weight = found.pop(name), found.get(name.removesuffix(_SCALE))
        if weight is None or weight.dtype != torch.int8 or weight.shape[:-1] != scale.shape:
            raise BadInputError(path, None, f"not sound weights ({name} fits no weight). Copy the file again.")
        found[name.removesuffix(_SCALE)] = weight.float() * scale[..., None]
    return found


def load_weights(path: Path, network: nn.Module, *, beside: Weights | None = None) -> None:
    """Reads a file's weights into a network of the same shape. What stands `beside` them comes from there."""
    found = read_weights(path)
    for name, weight in (beside or {}).items():
        if name in found and not torch.equal(found[name], weight):
            raise BadInputError(path, None, f"{name} is not that of the model whose second editor this is.")
        found[name] = weight
    _fill(path, network, found)


def load_what_fits(path: Path, network: nn.Module) -> None:
    """Reads those of a file's weights that have the name and the size of one of the network's."""
    wanted = dict(network.named_parameters())
    with torch.no_grad():
        for name, weight in read_weights(path).items():
            if name in wanted and wanted[name].shape == weight.shape:
                wanted[name].copy_(weight)


def _fill(path: Path, network: nn.Module, found: Weights) -> None:
    wanted = dict(network.named_parameters())
    if missing := sorted(wanted.keys() - found.keys()):
        raise BadInputError(path, None, f"not the weights of this config: {missing[0]} is missing.")
    if foreign := sorted(found.keys() - wanted.keys()):
        raise BadInputError(path, None, f"not the weights of this config: it has no {foreign[0]}.")
    for name, weight in wanted.items():
        if found[name].shape != weight.shape:
            have, want = tuple(found[name].shape), tuple(weight.shape)
            raise BadInputError(path, None, f"{name} has the size {have}, its config and vocabulary make it {want}.")
    if any(weight.is_meta for weight in wanted.values()):
        network.to_empty(device="cpu")
    with torch.no_grad():
        for name, weight in network.named_parameters():
            weight.copy_(found[name])
