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
        """The model in a folder, or the one that comes with the package (`packaged`)."""
        return cls(load(name), folder_of(name))

    @property
    def name(self) -> str:
        """Its folder."""
        return str(self.folder)

    @property
    def dim(self) -> int:
        """The length of an edit vector."""
        return self.model.edit_dim

    @property
    def needs_trees(self) -> bool:
        """Whether the trees of edits are read."""
        return needs_trees(self.model.config)

    @cached_property
    def digest(self) -> str:
        """Of the weights and of what they are the weights of."""
        return _digest(self.folder)

    @cached_property
    def second_digest(self) -> str | None:
        """Of the second editor, which has no say in vectors."""
        return _digest(self.folder / SECOND) if self.model.second else None

    def encode(self, edits: Iterable[Edit], *, unread: list[int] | None = None) -> Vectors:
        """The edit vectors; edits that are too long for the model, or without a tree that it knows, are unread."""
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
