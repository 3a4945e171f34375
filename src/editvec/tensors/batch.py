"""Examples side by side: the one place that pads. Masks are True where something is.

What an editor reads (`SourceBatch`) is its own type, without `after`: an editor cannot see the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from editvec.tensors.example import NOWHERE, TAGS, Example, Ids
from editvec.vocab import PAD

TAG_PAD = len(TAGS)
"""The paper's ∅: a position of no alignment."""


@dataclass(frozen=True, slots=True)
class Ragged:
    """Sequences of different lengths, padded behind."""

    ids: Tensor  # [batch, longest], int64
    lengths: Tensor  # [batch], int64, at least 1

    @property
    def mask(self) -> Tensor:
        """True where an id is, False on padding: [batch, longest]."""
        return torch.arange(self.ids.shape[1])[None, :] < self.lengths[:, None]


@dataclass(frozen=True, slots=True)
class SourceBatch:
    """What an editor reads."""

    before: Ragged
    context: Ragged


@dataclass(frozen=True, slots=True)
class Copies:
    """Where targets could be copied from: pairs of a target and a place that holds the same token."""

    targets: Tensor  # [pairs], row · longest target + target
    places: Tensor  # [pairs], the place in that row's source


@dataclass(frozen=True, slots=True)
class TargetBatch:
    """What an editor should write, and where it could copy it from."""

    after: Ragged
    from_before: Copies
    from_context: Copies


@dataclass(frozen=True, slots=True)
class AlignmentBatch:
    """What changed, position by position. Places are indices into before and after, NOWHERE where one has no token."""

    tags: Ragged
    before: Tensor  # [batch, longest], int64
    after: Tensor  # [batch, longest], int64


@dataclass(frozen=True, slots=True)
class Batch:
    """Edits side by side."""

    source: SourceBatch
    target: TargetBatch
    alignment: AlignmentBatch

    def __len__(self) -> int:
        return len(self.source.before.lengths)

    @property
    def num_tokens(self) -> Tensor:
        """The tokens of each `after`, its end not counted: [batch]."""
        return self.target.after.lengths - 1


def stack(first: Ragged, second: Ragged) -> Ragged:
    """The sequences of one above those of the other."""
    longest = max(first.ids.shape[1], second.ids.shape[1])
    ids = [functional.pad(each.ids, (0, longest - each.ids.shape[1]), value=PAD) for each in (first, second)]
    return Ragged(torch.cat(ids), torch.cat([first.lengths, second.lengths]))


def collate_source(examples: Sequence[Example]) -> SourceBatch:
    """The part of examples that an editor may read."""
    return SourceBatch(
        _pad([example.before for example in examples]),
        _pad([example.context for example in examples]),
    )


def collate(examples: Sequence[Example], *, changed_only: bool = False) -> Batch:
    """Examples as a batch; with `changed_only` the alignment holds the changed positions alone."""
    source = collate_source(examples)
    after = _pad([example.after for example in examples])
    target = TargetBatch(
        after,
        _copies(after, source.before),
        _copies(after, source.context),
    )
    kept = [example.tags != 0 if changed_only else slice(None) for example in examples]
    pairs = list(zip(examples, kept, strict=True))
    alignment = AlignmentBatch(
        _pad([example.tags[keep] for example, keep in pairs], TAG_PAD),
        _pad([example.aligned_before[keep] for example, keep in pairs], NOWHERE).ids,
        _pad([example.aligned_after[keep] for example, keep in pairs], NOWHERE).ids,
    )
    return Batch(source, target, alignment)


def _pad(sequences: Sequence[Ids], fill: int = PAD) -> Ragged:
    # An empty sequence counts as one of padding: a recurrent layer needs something to read.
    lengths = np.array([max(1, len(sequence)) for sequence in sequences], np.int64)
    ids = np.full((len(sequences), lengths.max()), fill, np.int64)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = sequence
    return Ragged(torch.from_numpy(ids), torch.from_numpy(lengths))


def _copies(after: Ragged, source: Ragged) -> Copies:
    targets, places = after.ids.numpy(), source.ids.numpy()
    row, target, place = np.nonzero((targets[:, :, None] == places[:, None, :]) & (targets[:, :, None] != PAD))
    return Copies(torch.from_numpy(row * targets.shape[1] + target), torch.from_numpy(place))
