"""The contrastive loss: edits that make the same change have similar vectors.

The supervision is free. Edits with the same signature make the same change, in the same commit or in another project.
The hardest other edit is the edit itself, reversed: it has the same tokens, and means the opposite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from editvec.diff import Tag
from editvec.neural.arrays import Mask
from editvec.neural.batch import Batch
from editvec.neural.examples import TAGS, Example

_TEMPERATURE = 0.1
_REVERSED_TAGS = np.array(
    [TAGS.index({Tag.ADDED: Tag.REMOVED, Tag.REMOVED: Tag.ADDED}.get(tag, tag)) for tag in TAGS], np.int32
)


class Contrast(NamedTuple):
    """The edits of a batch that another edit was found for, and what their vectors are compared with."""

    edits: Batch
    shown: Batch
    """For each edit, another one with the same signature."""
    undone: Batch
    """The edits, reversed."""
    same: Mask  # [edits, edits], True where the signatures are the same
    rows: Mask  # [batch], True for the edits in the batch that are compared


def make_contrast(
    examples: Sequence[Example], shown: Sequence[Example], collate: Callable[[Sequence[Example]], Batch]
) -> Contrast | None:
    """Return what the vectors of examples are compared with, or None if all are shown themselves."""
    rows = np.array([one is not other for one, other in zip(examples, shown, strict=True)])
    if not rows.any():
        return None
    edits = [example for example, kept in zip(examples, rows, strict=True) if kept]
    others = [example for example, kept in zip(shown, rows, strict=True) if kept]
    signatures = np.array([int(example.signatures[0]) for example in edits])
    return Contrast(
        collate(edits),
        collate(others),
        collate([reversed_example(example) for example in edits]),
        signatures[:, None] == signatures[None, :],
        rows,
    )


def reversed_example(example: Example) -> Example:
    """Return the example of the reversed edit, without trees; it can be encoded, but not written."""
    return replace(
        example,
        before=example.after,
        after=example.before,
        tags=_REVERSED_TAGS[example.tags],
        aligned_before=example.aligned_after,
        aligned_after=example.aligned_before,
        unknown=(*example.unknown, *example.coined),
        coined=(),
        trees=None,
        steps=None,
    )


def contrastive_loss(own: Tensor, shown: Tensor, undone: Tensor, same: Mask) -> Tensor:
    """Return the negative log-probability that each edit is told from the others by its similarity: [edits].

    Among the vectors of all shown edits and of the reversed edit, that of its own demonstration should be the most
    similar. Other shown edits with the same signature are left out. Shapes: the vectors [edits, dim], `same` [edits,
    edits].
    """
    own, shown, undone = (functional.normalize(vectors, dim=1) for vectors in (own, shown, undone))
    right = np.eye(len(same), dtype=np.bool_)
    scores = (own @ shown.t() / _TEMPERATURE).masked_fill(torch.from_numpy(same & ~right), -torch.inf)
    # Only its own: the reversed edit of another one can be what this one does.
    wrong = (own * undone).sum(1, keepdim=True) / _TEMPERATURE
    return -torch.cat([scores, wrong], 1).log_softmax(1).diagonal()
