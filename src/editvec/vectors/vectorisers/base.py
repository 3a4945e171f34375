"""What every vectoriser can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, Self

import numpy as np
import orjson
import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.core.errors import BadInputError
from editvec.core.files import write_atomically

Vectors = NDArray[np.float32]


class Vectoriser(Protocol):
    """Turns edits into vectors."""

    @property
    def name(self) -> str:
        """What a user calls it: a folder, or the name of a baseline."""

    @property
    def dim(self) -> int:
        """The length of a vector."""

    @property
    def digest(self) -> str:
        """Of all that the vectors depend on: two vectorisers with the same digest make the same vectors."""

    def encode(self, edits: Iterable[Edit], *, unread: list[int] | None = None) -> Vectors:
        """The vectors of edits, in their order: [edits, dim]. What the vectoriser cannot read is an error, or, with
        `unread`, left out and its place noted there."""


class Baseline(ABC):
    """A vectoriser without a network: a few arrays and a list of features, fitted on edits."""

    name: str

    @classmethod
    @abstractmethod
    def fit(cls, edits: Iterable[Edit]) -> Self:
        """Learns the weights of features from edits."""

    @abstractmethod
    def encode(self, edits: Iterable[Edit], *, unread: list[int] | None = None) -> Vectors:
        """As `Vectoriser` says. Baselines read everything."""

    @abstractmethod
    def state(self) -> tuple[dict[str, NDArray[np.generic]], list[str]]:
        """All that it learned: arrays, and features by name."""

    @classmethod
    @abstractmethod
    def from_state(cls, arrays: dict[str, NDArray[np.generic]], features: list[str]) -> Self:
        """What `state` gave; KeyError or ValueError where it is something else."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """The length of a vector."""

    @property
    def digest(self) -> str:
        """Of what it learned."""
        arrays, features = self.state()
        hashed = blake2b(self.name.encode() + orjson.dumps(features), digest_size=16)
        for key in sorted(arrays):
            hashed.update(np.ascontiguousarray(arrays[key]).tobytes())
        return hashed.hexdigest()

    def save(self, folder: Path) -> None:
        """Writes what it learned into a folder."""
        arrays, features = self.state()
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / "features.json", orjson.dumps(features))
        kept = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
        write_atomically(folder / "arrays.safetensors", safetensors.numpy.save(kept))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Reads what `save` wrote."""
        try:
            features = orjson.loads((folder / "features.json").read_bytes())
            arrays = safetensors.numpy.load((folder / "arrays.safetensors").read_bytes())
            if not (isinstance(features, list) and all(isinstance(feature, str) for feature in features)):
                raise ValueError("the features are no list of strings")
            return cls.from_state(arrays, features)
        except (OSError, ValueError, KeyError, safetensors.SafetensorError) as error:
            raise BadInputError(folder, None, f"not a sound {cls.name} vectoriser ({error}). Encode again.") from None
