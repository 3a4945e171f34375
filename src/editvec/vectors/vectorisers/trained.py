"""A trained model as a vectoriser."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import numpy as np

from editvec.core.edit import Edit
from editvec.neural.examples import NoTreeError, TooLongError
from editvec.neural.model import GRAMMAR, SECOND, VOCAB, WEIGHTS, EditModel, folder_of, load, needs_trees
from editvec.vectors.vectorisers.base import Vectors

_WINDOW = 4096


class Trained:
    """The edit vectors of a model in a folder."""

    def __init__(self, model: EditModel, folder: Path) -> None:
        self.model, self.folder = model, folder

    @classmethod
    def load(cls, name: str | Path) -> Trained:
        """Load the model of a folder, or the one in the package (`packaged`)."""
        return cls(load(name), folder_of(name))

    @property
    def name(self) -> str:
        """Return the folder of the model."""
        return str(self.folder)

    @property
    def dim(self) -> int:
        """Return the length of an edit vector."""
        return self.model.edit_dim

    @property
    def needs_trees(self) -> bool:
        """Return whether the model reads the trees of edits."""
        return needs_trees(self.model.config)

    @cached_property
    def digest(self) -> str:
        """Return a digest of the weights, the vocabulary and the grammar."""
        return _digest(self.folder)

    @cached_property
    def second_digest(self) -> str | None:
        """Return the digest of the second editor, which does not affect the vectors, or None without one."""
        return _digest(self.folder / SECOND) if self.model.second else None

    def encode(self, edits: Iterable[Edit], *, unread: list[int] | None = None) -> Vectors:
        """Return the edit vectors: [edits, dim].

        An edit cannot be read if it is too long for the model or has no tree that the model knows; see
        `Vectoriser.encode` for `unread`.
        """
        numbered = enumerate(edits)
        parts = [np.zeros((0, self.dim), np.float32)]
        while window := list(islice(numbered, _WINDOW)):
            examples = []
            for place, edit in window:
                try:
                    examples.append(self.model.exampler(edit))
                except (TooLongError, NoTreeError):
                    if unread is None:
                        raise
                    unread.append(place)
            parts.append(self.model.encode_examples(examples))
        return np.concatenate(parts)


def _digest(folder: Path) -> str:
    hashed = blake2b(digest_size=16)
    for name in (WEIGHTS, VOCAB, GRAMMAR):
        if (folder / name).is_file():
            hashed.update((folder / name).read_bytes())
    return hashed.hexdigest()
