"""The state of a run in one file, so that the state is always complete.

The file contains tensors, and everything else as JSON in its metadata.
"""

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
    """The progress of a run, apart from its weights."""

    epoch: int = 0
    batch: int = 0
    """The next batch of that epoch."""
    step: int = 0
    edits: int = 0
    """Number of edits seen in all epochs."""
    epoch_edits: int = 0
    epoch_loss: float = 0.0
    """Sum of the losses of the edits seen in this epoch."""
    epoch_logs: float = 0.0
    """Sum of the losses per token of the edits seen in this epoch."""
    best: float | None = None
    best_epoch: int = 0
    stalled: int = 0
    """Epochs since the best epoch, or since the rate was halved."""
    halvings: int = 0
    seconds: float = 0.0
    order: str = ""
    """The settings that decide which edits a batch contains."""
    metrics: list[dict[str, Any]] = field(default_factory=list)
    finished: bool = False


def save_checkpoint(
    path: Path, parameters: Mapping[str, nn.Parameter], optimiser: torch.optim.Adam, state: RunState
) -> None:
    """Write the weights, the moments of the optimiser and the state."""
    tensors: dict[str, Tensor] = {}
    for name, weight in parameters.items():
        tensors[f"weight/{name}"] = weight.detach()
        for key, value in optimiser.state[weight].items():
            tensors[f"{key}/{name}"] = value
    write_atomically(path, safetensors.torch.save(tensors, {"state": orjson.dumps(asdict(state)).decode()}))


def load_checkpoint(path: Path, parameters: Mapping[str, nn.Parameter], optimiser: torch.optim.Adam) -> RunState:
    """Read a checkpoint into the parameters and the optimiser of the same run, and return its state.

    Raises:
        BadInputError: The file is damaged or belongs to another run.
    """
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
        raise BadInputError(
            path, None, f"not a checkpoint of this run ({error}). Train again in another folder."
        ) from None
    return state


def _fitting(tensors: dict[str, Tensor], name: str, weight: Tensor) -> Tensor:
    """Return a tensor by name; raise ValueError if its shape is not that of a weight."""
    if tensors[name].shape != weight.shape:
        raise ValueError(f"{name} has the shape {tuple(tensors[name].shape)}, not {tuple(weight.shape)}")
    return tensors[name]
