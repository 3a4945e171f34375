"""Where things stand: the steps of sequences of different lengths, and the neighbours of the nodes of a graph.

Integers alone, made once for a batch and read by every layer that runs over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Packing(NamedTuple):
    """Where the steps of padded sequences stand when the first steps of all of them come first, then the second ones.

    Of equal steps, that of the longest sequence comes first. B sequences, T steps of the longest, N steps in all.
    """

    order: Ints  # [B], the sequences, the longest first
    sizes: list[int]  # [T], how many of them have such a step
    ranks: Ints  # [N], whose step it is: where its sequence stands in that order
    places: Ints  # [2, N], where a packed step stands in the padded table, read forwards and backwards
    previous: Ints  # [N], where the step before stands among the B beginnings and then the packed steps
    last: Ints  # [B], the packed place of each sequence's last step

    @classmethod
    def of(cls, lengths: Ints, longest: int) -> Packing:
        """Return that of sequences of `lengths` [B], at least 1 each, in a table of `longest` columns."""
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
        """Return the step that each packed step looks back to, among the beginnings and the packed steps: [N].

        `back_to` [B, T] has its number from 1, or 0 for the beginning.
        """
        sizes = np.array(self.sizes)
        begin = len(self.order) + sizes.cumsum() - sizes
        numbers = back_to.reshape(-1)[self.places[0]]
        return np.where(numbers > 0, begin[np.maximum(numbers - 1, 0)], 0) + self.ranks


@dataclass(frozen=True)
class Gather:
    """Sums of rows of a table: for line i those in `rows[starts[i]:starts[i + 1]]`."""

    rows: Ints
    starts: Ints  # [lines]

    @classmethod
    def of(cls, rows: Ints, lines: Ints, num_lines: int) -> Gather:
        """Return the one in which line `lines[i]` sums, among others, row `rows[i]`."""
        counts = np.bincount(lines, minlength=num_lines)
        return cls(rows[lines.argsort(kind="stable")], counts.cumsum() - counts)

    @cached_property
    def by_size(self) -> tuple[Ints, list[Ints]]:
        """The lines that have a row, those with most rows first, and their rows.

        First the first rows of all of them, then the second rows of those that have one, and so on.
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
    """Edges as a network reads them.

    Edges of a type meet in relays, which sum states, turn the sum into a message and pass it on: one for each node that
    they leave, or for each that they reach, whichever are fewer.
    """

    sizes: list[int]  # the number of relays of each type; those of a type are together
    reads: Gather  # for each relay the nodes that it sums
    read: Gather  # for each node the relays that sum it
    tells: Gather  # for each relay the nodes that it passes its message to
    told: Gather  # for each node the relays that it hears
    counts: NDArray[np.float32]  # [nodes, types], how many edges of each type reach a node

    @classmethod
    def of(cls, edges: Edges, num_nodes: int, num_types: int) -> Wiring:
        """Return that of edges between `num_nodes` nodes."""
        size = num_nodes * num_types
        leave, reach = edges.types * num_nodes + edges.sources, edges.types * num_nodes + edges.targets
        left, reached = (np.bincount(each, minlength=size).reshape(num_types, -1) for each in (leave, reach))
        fewer = (left > 0).sum(1) <= (reached > 0).sum(1)
        keys, which = np.unique(np.where(fewer[edges.types], leave, reach), return_inverse=True)
        nodes, types = keys % max(1, num_nodes), keys // max(1, num_nodes)
        relays = np.arange(len(keys))
        # A relay where edges leave has one node to read, and one where they arrive has one to tell.
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
    return np.concatenate([one, more]), np.concatenate([other, others])
