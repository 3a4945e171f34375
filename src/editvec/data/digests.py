"""Digests of edits: of all that a model can see of one, and which edits a model was trained on.

The latter are sorted digests of eight bytes: enough to tell whether an edit is among them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.core.errors import BadInputError
from editvec.core.files import write_atomically
from editvec.data import native
from editvec.data.splits import token_hash

_DIGEST = np.dtype("<u8")


def content_digest(edit: Edit) -> bytes:
    """Return a digest of everything that an edit vector can depend on: 16 bytes, the same wherever the edit was made.

    It is the key of `Store.vectors`.
    """
    content = native.dump(replace(edit, id="", source=None, label="", extra=""))
    return blake2b(content, digest_size=16).digest()


class TrainingDigests:
    """A set of edits: two are the same when before and after are, token by token."""

    def __init__(self, digests: NDArray[np.uint64]) -> None:
        self._digests = digests

    def __len__(self) -> int:
        return len(self._digests)

    def __contains__(self, edit: Edit) -> bool:
        digest = np.uint64(token_hash(edit))
        place = int(np.searchsorted(self._digests, digest))
        return place < len(self._digests) and self._digests[place] == digest

    @classmethod
    def of(cls, edits: Iterable[Edit]) -> TrainingDigests:
        """The set of some edits."""
        noted = Notes()
        for _ in noted.noting(edits):
            pass
        return noted.seen()

    def save(self, path: Path) -> None:
        """Writes the digests, nothing else."""
        write_atomically(path, self._digests.astype(_DIGEST, copy=False).data)

    @classmethod
    def load(cls, path: Path) -> TrainingDigests:
        """Reads what `save` wrote."""
        content = path.read_bytes()
        if len(content) % _DIGEST.itemsize:
            raise BadInputError(path, None, "cut short: not a whole number of digests")
        return cls(np.frombuffer(content, _DIGEST))


class Notes:
    """Notes edits that pass by, eight bytes each."""

    def __init__(self) -> None:
        self._digests = array("Q")

    def noting(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """The edits as they are."""
        for edit in edits:
            self._digests.append(token_hash(edit))
            yield edit

    def seen(self) -> TrainingDigests:
        """What was noted; nothing is after that."""
        noted, self._digests = self._digests, array("Q")
        digests = np.frombuffer(noted, np.uint64) if noted else np.empty(0, np.uint64)
        digests.sort()
        first = np.ones(len(digests), np.bool_)
        np.not_equal(digests[1:], digests[:-1], out=first[1:])
        return TrainingDigests(digests[first])
