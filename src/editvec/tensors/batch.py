"""Examples side by side: the one place that pads. Masks are True where something is.

What an editor reads (`SourceBatch`) is its own type, without `after`: an editor cannot see the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from editvec.nn.graph import Edges
from editvec.tensors.example import NOWHERE, TAGS, Example, Ids
from editvec.tensors.trees import TreePair
from editvec.vocab import PAD

Numbers = NDArray[np.integer[Any]]

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


EDGE_TYPES = ("child", "parent", "next token", "previous token", "equal", "replaced")


@dataclass(frozen=True, slots=True)
class TokenNodes:
    """The nodes of a graph that are tokens, and where each stands among the tokens of its row."""

    nodes: Tensor  # [tokens]
    rows: Tensor  # [tokens]
    places: Tensor  # [tokens]


@dataclass(frozen=True, slots=True)
class GraphBatch:
    """The two trees of each edit as one graph; the nodes of all graphs in one row."""

    kinds: Tensor  # [nodes]
    tags: Tensor  # [nodes], as in an alignment
    owners: Tensor  # [nodes], the edit of each
    edges: Edges
    before_tokens: TokenNodes
    after_tokens: TokenNodes


@dataclass(frozen=True, slots=True)
class Batch:
    """Edits side by side."""

    source: SourceBatch
    target: TargetBatch
    alignment: AlignmentBatch
    graph: GraphBatch | None = None
    """Where the examples have trees."""

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
    pairs_of_trees = [example.trees for example in examples if example.trees is not None]
    return Batch(source, target, alignment, _graph(pairs_of_trees) if pairs_of_trees else None)


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


_EQUAL, _REPLACED, _ADDED, _REMOVED = range(len(TAGS))


def _graph(pairs: Sequence[TreePair]) -> GraphBatch:
    kinds: list[Numbers] = []
    tags: list[Numbers] = []
    owners: list[Numbers] = []
    tokens: list[tuple[list[Numbers], ...]] = [([], [], []), ([], [], [])]
    edges: tuple[list[Numbers], ...] = ([], [], [])

    def connect(kind: str, sources: Numbers, targets: Numbers) -> None:
        number = EDGE_TYPES.index(kind)
        for part, values in zip(edges, (sources, targets, np.full(len(sources), number)), strict=True):
            part.append(values)

    start = 0
    for row, pair in enumerate(pairs):
        before, after = start, start + len(pair.before_kinds)
        start = after + len(pair.after_kinds)
        found = np.full(start - before, _ADDED)
        found[: after - before] = _REMOVED
        for one, other, tag in (
            (pair.equal_before, pair.equal_after, _EQUAL),
            (pair.replaced_before, pair.replaced_after, _REPLACED),
        ):
            found[one] = found[other + after - before] = tag
            name = EDGE_TYPES[4 if tag == _EQUAL else 5]
            connect(name, one + before, other + after)
            connect(name, other + after, one + before)
        tags.append(found)
        owners.append(np.full(start - before, row))
        for offset, parents, places, side in (
            (before, pair.before_parents, pair.before_tokens, 0),
            (after, pair.after_parents, pair.after_tokens, 1),
        ):
            (children,) = np.nonzero(parents >= 0)
            connect("child", parents[children] + offset, children + offset)
            connect("parent", children + offset, parents[children] + offset)
            (leaves,) = np.nonzero(places >= 0)
            connect("next token", leaves[:-1] + offset, leaves[1:] + offset)
            connect("previous token", leaves[1:] + offset, leaves[:-1] + offset)
            values = (leaves + offset, np.full(len(leaves), row), places[leaves])
            for part, value in zip(tokens[side], values, strict=True):
                part.append(value)
        kinds += [pair.before_kinds, pair.after_kinds]
    before_tokens, after_tokens = (TokenNodes(*map(_joined, parts)) for parts in tokens)
    return GraphBatch(
        _joined(kinds), _joined(tags), _joined(owners), Edges(*map(_joined, edges)), before_tokens, after_tokens
    )


def _joined(parts: Sequence[Numbers]) -> Tensor:
    return torch.from_numpy(np.concatenate(parts).astype(np.int64))
