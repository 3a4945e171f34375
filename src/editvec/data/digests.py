"""Digests of edits: the content digest of one edit, and the set of digests of the edits a model was trained on.

The content digest covers everything that a model can see of an edit. The training digests are sorted 8-byte token
hashes, which is enough to tell whether an edit was in the training data.
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
    """Return a 16-byte digest of everything that an edit vector can depend on.

    It does not depend on where the edit was made. It is the key of `Store.vectors`.
    """
    content = native.dump(replace(edit, id="", source=None, label="", extra=""))
    return blake2b(content, digest_size=16).digest()


class TrainingDigests:
    """A set of edits; two edits are equal if their tokens before and after are equal."""

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
        """Return the set of the given edits."""
        noted = Notes()
        for _ in noted.noting(edits):
            pass
        return noted.seen()

    def save(self, path: Path) -> None:
        """Write the digests to a file, without a header."""
        write_atomically(path, self._digests.astype(_DIGEST, copy=False).data)

    @classmethod
    def load(cls, path: Path) -> TrainingDigests:
        """Read a file written by `save`.

        Raises:
            BadInputError: The size of the file is not a multiple of the size of a digest.
        """
        content = path.read_bytes()
        if len(content) % _DIGEST.itemsize:
            raise BadInputError(path, None, "the file is truncated: its size is not a multiple of 8 bytes")
        return cls(np.frombuffer(content, _DIGEST))


class Notes:
    """A recorder of the token hashes of a stream of edits, 8 bytes per edit."""

    def __init__(self) -> None:
        self._digests = array("Q")

    def noting(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """Yield the edits unchanged and record their token hashes."""
        for edit in edits:
            self._digests.append(token_hash(edit))
            yield edit

    def seen(self) -> TrainingDigests:
        """Return the recorded digests as a set, and reset the recorder."""
        noted, self._digests = self._digests, array("Q")
        digests = np.frombuffer(noted, np.uint64) if noted else np.empty(0, np.uint64)
        digests.sort()
        first = np.ones(len(digests), np.bool_)
        np.not_equal(digests[1:], digests[:-1], out=first[1:])
        return TrainingDigests(digests[first])
