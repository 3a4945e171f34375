"""The state of a run in one file, so that it is never half of one: tensors, and the rest as JSON in its metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson
import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from editvec.core.errors import BadInputError
from editvec.core.files import write_atomically


@dataclass(slots=True)
class RunState:
    """Where a run is, besides its weights."""

    epoch: int = 0
    batch: int = 0
    """The next batch of that epoch."""
    step: int = 0
    edits: int = 0
    """Seen in all epochs."""
    epoch_edits: int = 0
    epoch_loss: float = 0.0
    """The summed loss of this epoch's edits so far."""
    epoch_logs: float = 0.0
    """The sum of their losses a token."""
    best: float | None = None
    best_epoch: int = 0
    stalled: int = 0
    """Epochs since the best one, or since the rate was halved."""
    halvings: int = 0
    seconds: float = 0.0
    order: str = ""
    """What decides which edits a batch has."""
    metrics: list[dict[str, Any]] = field(default_factory=list)
    finished: bool = False


def save_checkpoint(
    path: Path, parameters: Mapping[str, nn.Parameter], optimiser: torch.optim.Adam, state: RunState
) -> None:
    """Write weights, the optimiser's moments and the state."""
    tensors: dict[str, Tensor] = {}
    for name, weight in parameters.items():
        tensors[f"weight/{name}"] = weight.detach()
        for key, value in optimiser.state[weight].items():
            tensors[f"{key}/{name}"] = value
    write_atomically(path, safetensors.torch.save(tensors, {"state": orjson.dumps(asdict(state)).decode()}))


def load_checkpoint(path: Path, parameters: Mapping[str, nn.Parameter], optimiser: torch.optim.Adam) -> RunState:
    """Read what `save_checkpoint` wrote, into the parameters and an optimiser of the same run."""
    try:
        with safetensors.safe_open(path, "pt") as file:
            state = RunState(**orjson.loads(file.metadata()["state"]))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        with torch.no_grad():
            for name, weight in parameters.items():
                weight.copy_(_fitting(tensors, f"weight/{name}", weight))
                if f"step/{name}" in tensors:
                    moments = {key: _fitting(tensors, f"{key}/{name}", weight) for key in ("exp_avg", "exp_avg_sq")}
                    optimiser.state[weight] = {"step": tensors[f"step/{name}"]} | moments
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        raise BadInputError(path, None, f"not a sound checkpoint of this run ({error}). Start again.") from None
    return state


def _fitting(tensors: dict[str, Tensor], name: str, weight: Tensor) -> Tensor:
    if tensors[name].shape != weight.shape:
        raise ValueError(f"{name} has the size {tuple(tensors[name].shape)}, not {tuple(weight.shape)}")
    return tensors[name]
