"""The protocol of vectorisers, and the base class of baselines."""

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
        """Return the name that a user gives: a folder, or the name of a baseline."""

    @property
    def dim(self) -> int:
        """Return the length of a vector."""

    @property
    def digest(self) -> str:
        """Return a digest of everything the vectors depend on: equal digests mean equal vectors."""

    def encode(self, edits: Iterable[Edit], *, unread: list[int] | None = None) -> Vectors:
        """Return the vectors of edits, in their order, with the shape [edits, dim].

        An edit that the vectoriser cannot read is an error. If `unread` is given, such an edit is left out instead, and
        its number in the input is appended to `unread`.
        """


class Baseline(ABC):
    """A vectoriser without a network: arrays and a list of features, fitted on edits."""

    name: str

    @classmethod
    @abstractmethod
    def fit(cls, edits: Iterable[Edit]) -> Self:
        """Fit the weights of features on edits."""

    @abstractmethod
    def encode(self, edits: Iterable[Edit], *, unread: list[int] | None = None) -> Vectors:
        """Return the vectors of edits; see `Vectoriser.encode`. A baseline can read every edit."""

    @abstractmethod
    def state(self) -> tuple[dict[str, NDArray[np.generic]], list[str]]:
        """Return everything that was fitted: arrays by name, and the names of the features."""

    @classmethod
    @abstractmethod
    def from_state(cls, arrays: dict[str, NDArray[np.generic]], features: list[str]) -> Self:
        """Make a baseline from what `state` returned.

        Raises:
            KeyError: An array is missing.
            ValueError: An array has the wrong shape.
        """

    @property
    @abstractmethod
    def dim(self) -> int:
        """Return the length of a vector."""

    @property
    def digest(self) -> str:
        """Return a digest of everything that was fitted."""
        arrays, features = self.state()
        hashed = blake2b(self.name.encode() + orjson.dumps(features), digest_size=16)
        for key in sorted(arrays):
            hashed.update(np.ascontiguousarray(arrays[key]).tobytes())
        return hashed.hexdigest()

    def save(self, folder: Path) -> None:
        """Write everything that was fitted to a folder."""
        arrays, features = self.state()
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / "features.json", orjson.dumps(features))
        kept = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
        write_atomically(folder / "arrays.safetensors", safetensors.numpy.save(kept))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Load what `save` wrote."""
        try:
            features = orjson.loads((folder / "features.json").read_bytes())
            arrays = safetensors.numpy.load((folder / "arrays.safetensors").read_bytes())
            if not (isinstance(features, list) and all(isinstance(feature, str) for feature in features)):
                raise ValueError("the features are not a list of strings")
            return cls.from_state(arrays, features)
        except (OSError, ValueError, KeyError, safetensors.SafetensorError) as error:
            raise BadInputError(
                folder, None, f"damaged {cls.name} vectoriser ({error}). Encode the edits again."
            ) from None
