"""A journal: answers are written to disk as they are computed, so that a long evaluation can be continued.

The first line of the file is a digest of what is evaluated.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from editvec.core.errors import UserError
from editvec.core.files import cache_home


class PairJournal:
    """The ranks of a plan's pairs, in the order of the plan. An incomplete chunk of a killed process is dropped."""

    def __init__(self, path: Path, about: Sequence[object]) -> None:
        self.path = path
        self._head = orjson.dumps({"editvec": "transfer", "about": _digest(about)}) + b"\n"

    @classmethod
    def in_cache(cls, about: Sequence[object]) -> PairJournal:
        """Return a journal in the user's cache, named after the digest of what is evaluated."""
        return cls(cache_home() / "transfer" / f"{_digest(about)}.jsonl", about)

    def load(self, most: int) -> NDArray[np.int64]:
        """Return the ranks that are known already, at most `most`.

        Raises:
            UserError: The file belongs to another evaluation, or has more ranks than there are pairs.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self.path.exists() or not self.path.stat().st_size:
            self.path.write_bytes(self._head)
            return np.zeros(0, np.int64)
        lines = self.path.read_bytes().splitlines(keepends=True)
        if lines[0] != self._head:
            raise UserError(f"{self.path} belongs to another evaluation. Choose another file, or remove this one.")
        ranks: list[int] = []
        whole = len(lines[0])
        for line in lines[1:]:
            try:
                chunk = orjson.loads(line) if line.endswith(b"\n") else None
            except orjson.JSONDecodeError:
                chunk = None
            if not isinstance(chunk, list) or not all(isinstance(rank, int) and rank >= 0 for rank in chunk):
                break
            ranks += chunk
            whole += len(line)
        os.truncate(self.path, whole)
        if len(ranks) > most:
            raise UserError(f"{self.path} has more answers than there are pairs. Remove it and run again.")
        return np.array(ranks, np.int64)

    def add(self, ranks: NDArray[np.int64]) -> None:
        """Append a chunk of ranks."""
        with self.path.open("ab") as stream:
            stream.write(orjson.dumps(ranks.tolist()) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())


def _digest(about: Sequence[object]) -> str:
    return blake2b(repr(tuple(about)).encode("utf-8", "replace"), digest_size=12).hexdigest()
