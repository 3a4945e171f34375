"""Batches of examples as padded NumPy arrays. This is the only module that pads.

Masks are True at valid positions. `SourceBatch`, which contains what an editor reads, is a separate type without
`after`, so that an editor cannot see the answer. Data that only some models read, such as the positions from which a
target can be copied, is computed on first use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from editvec.neural.examples import NOWHERE, TAGS, Example, Ids
from editvec.neural.grammar import SourceTree
from editvec.neural.layers.packing import Edges, Ints
from editvec.neural.names import NamePieces, gather_names, stack_names
from editvec.neural.tree_examples import NO_CHOICE, NO_FORM, ActionSteps, TreePair
from editvec.neural.vocab import PAD

Numbers = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]

TAG_PAD = len(TAGS)
"""The tag on padding, outside the alignment; ∅ in the paper."""


@dataclass(frozen=True, slots=True)
class Ragged:
    """Sequences of different lengths, padded at the end."""

    ids: Ints  # [batch, longest], int64
    lengths: Ints  # [batch], int64, at least 1
    names: NamePieces | None = None
    """The tokens outside the vocabulary that the ids stand for, if there are pieces."""

    @property
    def longest(self) -> int:
        """Return the number of columns of the table."""
        return int(self.ids.shape[1])

    @property
    def mask(self) -> Mask:
        """Return the mask of valid positions: [batch, longest]."""
        return np.arange(self.longest)[None, :] < self.lengths[:, None]


@dataclass(frozen=True, slots=True)
class TokenNodes:
    """The nodes of a graph that are tokens, and the position of each among the tokens of its row."""

    nodes: Ints  # [tokens]
    rows: Ints  # [tokens]
    places: Ints  # [tokens], the position in the row


@dataclass(frozen=True, slots=True)
class SourceGraph:
    """The trees of all befores as one graph, with the nodes of all trees concatenated."""

    kinds: Ints  # [nodes]
    owners: Ints  # [nodes], the edit of each node
    places: Ints  # [nodes], the index of each node among the nodes of its edit
    edges: Edges
    tokens: TokenNodes
    forms: Ragged  # the forms of the nodes of each edit; NO_FORM for nodes that cannot be copied


@dataclass(frozen=True, slots=True)
class SourceBatch:
    """The part of a batch that an editor reads."""

    before: Ragged
    context: Ragged
    graph: SourceGraph | None = None
    """The trees, if the examples have trees."""
    sources: tuple[SourceTree, ...] = ()
    """The sources from which a search copies subtrees, if the examples have them."""


@dataclass(frozen=True, slots=True)
class Copies:
    """Pairs of a target and a position in the source that holds the same token."""

    targets: Ints  # [pairs], row · longest target + target
    places: Ints  # [pairs], the position in the source of that row


@dataclass(frozen=True, slots=True)
class StepBatch:
    """The actions that build each `after`, step by step."""

    slots: Ragged  # the slot of each step
    parents: Ints  # [batch, longest], the step that opened the node around it, from 1; 0 for none
    choices: Ints  # [batch, longest], the label, or the number of labels for Reduce; NO_CHOICE otherwise
    texts: Ints  # [batch, longest], the token that a step writes; PAD if it writes none
    copies: Copies  # the nodes from which a step can copy a subtree
    written: Ragged  # only the tokens that are written; PAD if a row has none
    from_before: Copies  # the positions from which each written token can be copied
    from_context: Copies


@dataclass(frozen=True)
class TargetBatch:
    """What an editor should write, and the positions from which it can be copied."""

    after: Ragged
    source: SourceBatch
    actions: tuple[ActionSteps, ...]
    """The actions of each example, if the examples have them."""
    symbols: Ragged
    """What is written token by token or piece by piece; without pieces, `after`."""

    @cached_property
    def from_before(self) -> Copies:
        """Return the positions in before that hold the tokens of `symbols`."""
        return _copies(self.symbols, self.source.before)

    @cached_property
    def from_context(self) -> Copies:
        """Return the positions in the context that hold the tokens of `symbols`."""
        return _copies(self.symbols, self.source.context)

    @cached_property
    def steps(self) -> StepBatch | None:
        """Return the actions as arrays, or None if the examples have no actions."""
        return _steps(self.actions, self.source) if self.actions else None


@dataclass(frozen=True, slots=True)
class AlignmentBatch:
    """The alignments of before and after, position by position.

    `before` and `after` contain indices of tokens, or NOWHERE if a position has no token on that side.
    """

    tags: Ragged
    before: Ints  # [batch, longest], int64
    after: Ints  # [batch, longest], int64


EDGE_TYPES = ("child", "parent", "next token", "previous token", "equal", "replaced")


@dataclass(frozen=True, slots=True)
class GraphBatch:
    """Both trees of each edit as one graph, with the nodes of all graphs concatenated."""

    kinds: Ints  # [nodes]
    tags: Ints  # [nodes], with the ids of the tags of alignments
    owners: Ints  # [nodes], the edit of each node
    edges: Edges
    before_tokens: TokenNodes
    after_tokens: TokenNodes


@dataclass(frozen=True)
class Batch:
    """A batch of edits."""

    source: SourceBatch
    target: TargetBatch
    alignment: AlignmentBatch
    trees: tuple[TreePair, ...]
    """The trees of each example, if the examples have them."""

    @cached_property
    def graph(self) -> GraphBatch | None:
        """Return the trees as a graph, or None if the examples have no trees."""
        return _graph(self.trees) if self.trees else None

    def __len__(self) -> int:
        return len(self.source.before.lengths)

    @property
    def num_tokens(self) -> Ints:
        """Return the number of tokens of each `after`, without its end: [batch]."""
        return self.target.after.lengths - 1


def stack(*parts: Ragged) -> Ragged:
    """Return the sequences of all parts in one table, part after part."""
    longest = max(part.longest for part in parts)
    ids = [np.pad(part.ids, ((0, 0), (0, longest - part.longest)), constant_values=PAD) for part in parts]
    names = stack_names([(part.names, len(part.lengths)) for part in parts])
    return Ragged(np.concatenate(ids), np.concatenate([part.lengths for part in parts]), names)


def collate_source(examples: Sequence[Example]) -> SourceBatch:
    """Return the part of the examples that an editor may read."""
    trees = [example.trees for example in examples if example.trees is not None]
    names = gather_names([each.spellings for each in examples], [len(each.unknown) for each in examples])
    return SourceBatch(
        replace(_pad([example.before for example in examples]), names=names),
        replace(_pad([example.context for example in examples]), names=names),
        _source_graph(trees) if trees else None,
        tuple(example.source for example in examples if example.source is not None),
    )


def collate(examples: Sequence[Example], *, changed_only: bool = False) -> Batch:
    """Return the examples as a batch.

    With `changed_only`, the alignment contains only the changed positions.
    """
    source = collate_source(examples)
    counts = [len(example.unknown) + len(example.coined) for example in examples]
    names = gather_names([example.spellings for example in examples], counts)
    after = replace(_pad([example.after for example in examples]), names=names)
    symbols = [example.symbols for example in examples]
    target = TargetBatch(
        after,
        source,
        tuple(example.steps for example in examples if example.steps is not None),
        _pad(symbols) if len(symbols[0]) else after,
    )
    kept = [example.tags != 0 if changed_only else slice(None) for example in examples]
    pairs = list(zip(examples, kept, strict=True))
    alignment = AlignmentBatch(
        _pad([example.tags[keep] for example, keep in pairs], TAG_PAD),
        _pad([example.aligned_before[keep] for example, keep in pairs], NOWHERE).ids,
        _pad([example.aligned_after[keep] for example, keep in pairs], NOWHERE).ids,
    )
    trees = tuple(example.trees for example in examples if example.trees is not None)
    return Batch(source, target, alignment, trees)


def _pad(sequences: Sequence[Numbers], fill: int = PAD) -> Ragged:
    """Return sequences as a padded table."""
    # An empty sequence gets the length 1, because a recurrent layer needs at least one step.
    lengths = np.array([max(1, len(sequence)) for sequence in sequences], np.int64)
    ids = np.full((len(sequences), lengths.max()), fill, np.int64)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = sequence
    return Ragged(ids, lengths)


def _copies(after: Ragged, source: Ragged) -> Copies:
    """Return the pairs of a position in `after` and a position in the source that hold the same token."""
    targets, places = after.ids, source.ids
    row, target, place = np.nonzero((targets[:, :, None] == places[:, None, :]) & (targets[:, :, None] != PAD))
    return Copies(row * targets.shape[1] + target, place)


def _steps(steps: Sequence[ActionSteps], source: SourceBatch) -> StepBatch:
    """Return the actions of examples as arrays."""
    slots = _pad([each.slots for each in steps])
    written = _pad([each.texts[each.texts != PAD] for each in steps])
    longest = slots.ids.shape[1]
    places = _joined([each.copy_steps + row * longest for row, each in enumerate(steps)])
    return StepBatch(
        slots,
        _pad([each.parents for each in steps]).ids,
        _pad([each.choices for each in steps], NO_CHOICE).ids,
        _pad([each.texts for each in steps]).ids,
        Copies(places, _joined([each.copy_nodes for each in steps])),
        written,
        _copies(written, source.before),
        _copies(written, source.context),
    )


_EQUAL, _REPLACED, _ADDED, _REMOVED = range(len(TAGS))


class _Nodes:
    """A collector of the nodes and edges of trees."""

    def __init__(self) -> None:
        self.size = 0
        self.kinds: list[Numbers] = []
        self.owners: list[Numbers] = []
        self.edges: tuple[list[Numbers], ...] = ([], [], [])

    def connect(self, kind: str, sources: Numbers, targets: Numbers) -> None:
        """Add edges of one type."""
        number = EDGE_TYPES.index(kind)
        for part, values in zip(self.edges, (sources, targets, np.full(len(sources), number)), strict=True):
            part.append(values)

    def add(self, row: int, kinds: Ids, parents: Ids, places: Ids, tokens: tuple[list[Numbers], ...]) -> int:
        """Add the nodes and edges of a tree and return the number of its first node.

        The tokens of the tree are appended to `tokens`.
        """
        start = self.size
        self.size += len(kinds)
        self.kinds.append(kinds)
        self.owners.append(np.full(len(kinds), row))
        (children,) = np.nonzero(parents >= 0)
        self.connect("child", parents[children] + start, children + start)
        self.connect("parent", children + start, parents[children] + start)
        (leaves,) = np.nonzero(places >= 0)
        self.connect("next token", leaves[:-1] + start, leaves[1:] + start)
        self.connect("previous token", leaves[1:] + start, leaves[:-1] + start)
        found: tuple[Numbers, ...] = (leaves + start, np.full(len(leaves), row), places[leaves])
        for part, value in zip(tokens, found, strict=True):
            part.append(value)
        return start

    def edges_found(self) -> Edges:
        """Return the edges."""
        return Edges(*map(_joined, self.edges))


def _graph(pairs: Sequence[TreePair]) -> GraphBatch:
    """Return pairs of trees as one graph."""
    nodes = _Nodes()
    tags: list[Numbers] = []
    before_tokens: tuple[list[Numbers], ...] = ([], [], [])
    after_tokens: tuple[list[Numbers], ...] = ([], [], [])
    for row, pair in enumerate(pairs):
        before = nodes.add(row, pair.before_kinds, pair.before_parents, pair.before_tokens, before_tokens)
        after = nodes.add(row, pair.after_kinds, pair.after_parents, pair.after_tokens, after_tokens)
        found = np.full(nodes.size - before, _ADDED)
        found[: after - before] = _REMOVED
        for one, other, tag, name in (
            (pair.equal_before, pair.equal_after, _EQUAL, "equal"),
            (pair.replaced_before, pair.replaced_after, _REPLACED, "replaced"),
        ):
            found[one] = found[other + after - before] = tag
            nodes.connect(name, one + before, other + after)
            nodes.connect(name, other + after, one + before)
        tags.append(found)
    return GraphBatch(
        _joined(nodes.kinds),
        _joined(tags),
        _joined(nodes.owners),
        nodes.edges_found(),
        TokenNodes(*map(_joined, before_tokens)),
        TokenNodes(*map(_joined, after_tokens)),
    )


def _source_graph(pairs: Sequence[TreePair]) -> SourceGraph:
    """Return the trees before as one graph."""
    nodes = _Nodes()
    tokens: tuple[list[Numbers], ...] = ([], [], [])
    for row, pair in enumerate(pairs):
        nodes.add(row, pair.before_kinds, pair.before_parents, pair.before_tokens, tokens)
    return SourceGraph(
        _joined(nodes.kinds),
        _joined(nodes.owners),
        _joined([np.arange(len(pair.before_kinds)) for pair in pairs]),
        nodes.edges_found(),
        TokenNodes(*map(_joined, tokens)),
        _pad([pair.before_forms for pair in pairs], NO_FORM),
    )


def _joined(parts: Sequence[Numbers]) -> Ints:
    """Return the arrays concatenated."""
    return np.concatenate(parts).astype(np.int64)


def by_length(examples: Sequence[Example], batch_edits: int, batch_tokens: int) -> Iterator[list[int]]:
    """Yield batches of indices of examples of similar length.

    A batch has at most `batch_edits` examples and `batch_tokens` tokens, including padding.
    """
    order = sorted(range(len(examples)), key=lambda place: _length_of(examples[place]))
    widths = [len(example.before) + len(example.after) + len(example.context) for example in examples]
    return _cut(order, widths, batch_edits, batch_tokens)


def by_source(examples: Sequence[Example], batch_edits: int, batch_tokens: int) -> Iterator[list[int]]:
    """Yield batches of indices of examples for a search, as `by_length` does.

    Only the parts that an editor may read count.
    """
    order = sorted(range(len(examples)), key=lambda place: len(examples[place].before))
    return _cut(order, [len(each.before) + len(each.context) for each in examples], batch_edits, batch_tokens)


def _cut(order: Sequence[int], widths: Sequence[int], most: int, tokens: int) -> Iterator[list[int]]:
    """Yield batches of an order, limited by the number of examples and of padded tokens."""
    batch: list[int] = []
    widest = 0
    for place in order:
        if batch and (len(batch) == most or (len(batch) + 1) * max(widths[place], widest) > tokens):
            yield batch
            batch, widest = [], 0
        batch.append(place)
        widest = max(widest, widths[place])
    if batch:
        yield batch


def _length_of(example: Example) -> tuple[int, ...]:
    """Return the sort key of an example."""
    # An LSTM takes as many steps as the longest sequence of a batch has. So the alignments, the actions and the
    # contexts of a batch should each have similar lengths.
    tokens, context = len(example.before) + len(example.after), len(example.context)
    return (tokens // 2, context) if example.steps is None else (tokens // 12, context // 10, len(example.steps.slots))
