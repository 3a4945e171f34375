"""Index arithmetic for sequences of different lengths and for the edges of graphs.

These structures contain only integers. They are computed once per batch and used by every layer that runs over the
batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Packing(NamedTuple):
    """The order in which the steps of padded sequences are computed.

    The first steps of all sequences come first, then the second steps, and so on. Within a step, the longest sequence
    comes first. Sizes: B sequences, T steps in the longest one, N steps in total.
    """

    order: Ints  # [B], the sequences in descending order of length
    sizes: list[int]  # [T], the number of sequences that have each step
    ranks: Ints  # [N], the position in `order` of the sequence that each step belongs to
    places: Ints  # [2, N], the cell of each packed step in the padded table, read forwards and backwards
    previous: Ints  # [N], the index of the previous state: the B initial states, then the packed steps
    last: Ints  # [B], the index of the last packed step of each sequence

    @classmethod
    def of(cls, lengths: Ints, longest: int) -> Packing:
        """Return the packing of sequences in a table of `longest` columns.

        Shapes: `lengths` [B], each at least 1.
        """
        size = len(lengths)
        order = np.argsort(-lengths, kind="stable")
        sizes = size - np.bincount(lengths).cumsum()[:-1]
        starts = sizes.cumsum() - sizes
        steps = np.repeat(np.arange(len(sizes)), sizes)
        ranks = np.arange(len(steps)) - starts[steps]
        rows = order[ranks]
        ahead = rows * longest + steps
        last = np.empty_like(order)
        last[order] = starts[lengths[order] - 1] + np.arange(size)
        return cls(
            order,
            sizes.tolist(),
            ranks,
            np.stack([ahead, ahead + lengths[rows] - 1 - 2 * steps]),
            np.where(steps > 0, size + starts[np.maximum(steps - 1, 0)] + ranks, ranks),
            last,
        )

    def look_back(self, back_to: Ints) -> Ints:
        """Return the index of the state that each packed step looks back to: [N].

        `back_to` [B, T] contains the number of a step, starting from 1, or 0 for the initial state. In the result, the
        B initial states come first, then the packed steps.
        """
        sizes = np.array(self.sizes)
        begin = len(self.order) + sizes.cumsum() - sizes
        numbers = back_to.reshape(-1)[self.places[0]]
        return np.where(numbers > 0, begin[np.maximum(numbers - 1, 0)], 0) + self.ranks


@dataclass(frozen=True)
class Gather:
    """Sums of rows of a table: line i is the sum of the rows `rows[starts[i]:starts[i + 1]]`."""

    rows: Ints
    starts: Ints  # [lines]

    @classmethod
    def of(cls, rows: Ints, lines: Ints, num_lines: int) -> Gather:
        """Return the gather in which row `rows[i]` is added to line `lines[i]`."""
        counts = np.bincount(lines, minlength=num_lines)
        return cls(rows[lines.argsort(kind="stable")], counts.cumsum() - counts)

    @cached_property
    def by_size(self) -> tuple[Ints, list[Ints]]:
        """Return the non-empty lines, ordered by descending number of rows, and their rows by level.

        The first level contains the first row of each of these lines. The second level contains the second row of the
        lines that have one, and so on.
        """
        counts = np.diff(self.starts, append=len(self.rows))
        lines = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        starts, sizes = self.starts[lines], len(lines) - np.bincount(counts[lines]).cumsum()
        return lines, [self.rows[starts[:size] + number] for number, size in enumerate(sizes[:-1].tolist())]


class Edges(NamedTuple):
    """Edges of several types between numbered nodes."""

    sources: Ints  # [edges]
    targets: Ints  # [edges]
    types: Ints  # [edges]


class Wiring(NamedTuple):
    """The edges of graphs in the form that a graph network uses.

    Edges of the same type meet in relays. A relay sums states, turns the sum into a message and passes the message on.
    For each type of edge, there is one relay either per source node or per target node, whichever needs fewer relays.
    """

    sizes: list[int]  # the number of relays of each type; relays are ordered by type
    reads: Gather  # for each relay, the nodes whose states it sums
    read: Gather  # for each node, the relays that sum its state
    tells: Gather  # for each relay, the nodes that receive its message
    told: Gather  # for each node, the relays whose messages it receives
    counts: NDArray[np.float32]  # [nodes, types], the number of incoming edges of each type

    @classmethod
    def of(cls, edges: Edges, num_nodes: int, num_types: int) -> Wiring:
        """Return the wiring of edges between `num_nodes` nodes."""
        size = num_nodes * num_types
        leave, reach = edges.types * num_nodes + edges.sources, edges.types * num_nodes + edges.targets
        left, reached = (np.bincount(each, minlength=size).reshape(num_types, -1) for each in (leave, reach))
        fewer = (left > 0).sum(1) <= (reached > 0).sum(1)
        keys, which = np.unique(np.where(fewer[edges.types], leave, reach), return_inverse=True)
        nodes, types = keys % max(1, num_nodes), keys // max(1, num_nodes)
        relays = np.arange(len(keys))
        # A relay of a source node reads one node; a relay of a target node sends its message to one node.
        by_source, at_source = fewer[types], fewer[edges.types]
        reads = _joined(relays[by_source], nodes[by_source], which[~at_source], edges.sources[~at_source])
        tells = _joined(relays[~by_source], nodes[~by_source], which[at_source], edges.targets[at_source])
        return cls(
            np.bincount(types, minlength=num_types).tolist(),
            Gather.of(reads[1], reads[0], len(keys)),
            Gather.of(reads[0], reads[1], num_nodes),
            Gather.of(tells[1], tells[0], len(keys)),
            Gather.of(tells[0], tells[1], num_nodes),
            reached.T.astype(np.float32),
        )


def _joined(one: Ints, other: Ints, more: Ints, others: Ints) -> tuple[Ints, Ints]:
    """Return two pairs of index arrays, joined pairwise."""
    return np.concatenate([one, more]), np.concatenate([other, others])
