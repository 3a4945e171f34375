"""Writing a token: generate it, copy it from before, or copy it from the context.

The probability of a token is summed over every way to write it (section 3.1 of the paper). Shared by all editors, by
training and search.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from editvec.neural.arrays import (
    Array,
    Floats,
    Ints,
    Mask,
    as_numpy,
    is_learning,
    place,
    scatter_add,
    sigmoid,
    softmax,
    take,
    top_k,
    zeros,
)
from editvec.neural.batch import Copies, Ragged, SourceBatch
from editvec.neural.editors.rows import SideBySide
from editvec.neural.layers.attention import Attention
from editvec.neural.layers.generator import Generator
from editvec.neural.layers.layer import Layer, Linear
from editvec.neural.reading import Reading, TokenEmbedding
from editvec.neural.vocab import FIRST_GENERATED, PAD, PLACE, UNKNOWN

TINY = 1e-30
"""Added to a probability before its logarithm is taken: what is impossible stays finite."""
_NEGLIGIBLE = 1e-5
"""A search does not ask the generator, or its tail, where all of it is less likely than this."""
_UNNOTICED = 0.01
"""Nor where all of it is less than this share of what a token must have to survive: it would change no probability that
matters by more."""
_SPARED = 1e-4
"""Training does not ask the generator for a token that is copied, and generated with no more than this share of its
probability: three quarters of all tokens, after some epochs. A loss and its gradient change by no more than that."""


class Memory(NamedTuple):
    """One source that a decoder attends to or copies from."""

    ids: Ints  # [batch, longest]
    states: Array  # [batch, longest, dim]
    mask: Mask  # [batch, longest]
    tokens: Mask  # [batch, longest], the mask of what can be copied: not the mark of the edit's place

    def at(self, rows: Ints) -> Memory:
        """Return the memory of some rows."""
        return Memory(self.ids[rows], self.states[rows], self.mask[rows], self.tokens[rows])


class Memories(NamedTuple):
    """What tokens are written from."""

    before: Memory
    context: Memory | None
    carried: Array | None = None
    """What the edit vector says of the tokens that are added, in the words of the generator: [batch, token_skip,
    dim]."""

    def at(self, rows: Ints) -> Memories:
        """Return the memories of some rows."""
        before, context, carried = self
        return Memories(
            before.at(rows), None if context is None else context.at(rows), None if carried is None else carried[rows]
        )


def _memory(tokens: Ragged, states: Array) -> Memory:
    return Memory(tokens.ids, states, tokens.mask, tokens.mask & (tokens.ids != PLACE))


class Ways(NamedTuple):
    """How a token would be written at n places of each source, before the ways are summed."""

    states: Array  # [batch, n, dim], what the generator reads
    ways: Array  # [batch, n, 3]: the probability to generate, to copy from before, to copy from context
    before: Array  # [batch, n, longest before], where from
    context: Array | None  # [batch, n, longest context]

    def at(self, beside: SideBySide) -> Ways:
        """Return those of the rows that stand in those places: [rows, ...]."""
        states, ways, before = (beside.rows(part) for part in self[:3])
        return Ways(states, ways, before, None if self.context is None else beside.rows(self.context))


class TokenWriter(Layer):
    """The ways to write a token, and the choice between them.

    `copy` off leaves generation alone. With `token_skip`, the generator reads a decoder's state plus what the edit
    vector says of so many tokens, each as far as the state asks for it.
    """

    def __init__(
        self,
        *,
        embedding: TokenEmbedding,
        dim: int,
        token_dim: int,
        edit_dim: int,
        copy: bool,
        context: bool,
        tied: bool,
        token_skip: int,
        head_size: int,
        tail_dim: int,
    ) -> None:
        self.num_known, self.copy, self.token_skip = embedding.num_known, copy, token_skip
        if token_skip:
            self.carried = Linear(edit_dim, token_skip * dim, bias=False)
            self.asked = Linear(dim, token_skip)
        if copy:
            self.way = Linear(dim, 3 if context else 2)
            self.point_before = Attention(query_dim=dim, key_dim=token_dim)
            if context:
                self.point_context = Attention(query_dim=dim, key_dim=token_dim)
        self.generator = Generator(
            dim=dim,
            num_choices=embedding.num_known - FIRST_GENERATED,
            head_size=head_size,
            tail_dim=tail_dim,
            tied_to=embedding.table if tied else None,
            first_row=FIRST_GENERATED,
        )

    def memories(self, source: SourceBatch, reading: Reading, vectors: Array) -> Memories:
        """Return the memories of what a reader made of a source, and of an edit vector beside each."""
        return Memories(
            _memory(source.before, reading.before.all),
            None if reading.context is None else _memory(source.context, reading.context.all),
            self.carried(vectors).reshape(len(vectors), self.token_skip, -1) if self.token_skip else None,
        )

    def __call__(self, states: Array, memories: Memories) -> Ways:
        """Return how a decoder with `states` [batch, n, dim] would write a token."""
        before, context, carried = memories
        words = states if carried is None else states + sigmoid(self.asked(states)) @ carried
        if not self.copy:
            return Ways(words, zeros(states, *states.shape[:2], 1) + 1, states[..., :0], None)
        ways = self.way(states)
        from_before = self.point_before(states, before.states, before.tokens)
        if context is None:
            return Ways(words, softmax(ways), from_before, None)
        # An empty context is no way at all: neither in training nor in search.
        there = np.ones((len(context.tokens), 1, 3), np.bool_)
        there[:, 0, 2] = context.tokens.any(1)
        ways = softmax(ways, there)
        return Ways(words, ways, from_before, self.point_context(states, context.states, context.tokens))

    def probability_of(self, found: Ways, ids: Ints, there: Mask, from_before: Copies, from_context: Copies) -> Array:
        """Return the probability of the tokens `ids` [batch, n] where `there` is True, in order."""
        cells = np.flatnonzero(there)
        ids, ways = ids[there], take(found.ways.reshape(-1, found.ways.shape[-1]), cells)
        # What is outside the vocabulary cannot be generated; UNKNOWN itself, which stands for what nobody can write,
        # can: that is its loss.
        known = ids < self.num_known
        if self.copy:
            total = ways[:, 1] * take(copied(found.before, from_before).reshape(-1), cells)
            if found.context is not None:
                total = total + ways[:, 2] * take(copied(found.context, from_context).reshape(-1), cells)
        else:
            ids, known = np.where(known, ids, UNKNOWN), np.ones_like(known)
            total = zeros(ways, len(ids))
        spared = _SPARED * as_numpy(total) if is_learning(ways) else 0.0
        rows = np.flatnonzero(known & (as_numpy(ways)[:, 0] > spared))
        states = take(found.states.reshape(-1, found.states.shape[-1]), cells[rows])
        generated = self.generator.probability_of(states, ids[rows] - FIRST_GENERATED)
        return total + place(take(ways, rows)[:, 0] * generated, rows, len(ids))

    def best(self, found: Ways, own: OwnTokens, width: int, floor: Floats | None = None) -> tuple[Floats, Ints]:
        """Return the log-probabilities and ids of the `width` most likely tokens of each row.

        `found` has one place a row, [rows, ...]. The tokens of a source are scored one by one; the generator's head,
        and then its tail, where they are likely enough to matter at all: in a row where tokens below a `floor` do not,
        more likely than that.
        """
        board = _Board(own, own.weights(found), floor, width)
        head_end = FIRST_GENERATED + self.generator.head_size
        frequent, rare = range(FIRST_GENERATED, head_end), range(head_end, self.num_known)
        mass = found.ways[:, 0]
        rows = board.worth_a_look(frequent, mass)
        head, tail = self.generator.spread(found.states[rows])
        board.add(frequent, rows, head * mass[rows, None])
        if tail is not None:
            mass = place(tail * mass[rows], rows, len(mass))
            rows = board.worth_a_look(rare, mass)
            board.add(rare, rows, self.generator.tail_spread(found.states[rows]) * mass[rows, None])
        return board.best()

    def own_tokens(self, memories: Memories) -> OwnTokens:
        """Return what each source has to copy."""
        return OwnTokens.of(memories) if self.copy else OwnTokens.none(len(memories.before.ids))


def copied(weights: Array, copies: Copies) -> Array:
    """Return the weight on all places that hold what a target needs: [...], for `weights` [..., places]."""
    *targets, places = weights.shape
    found = take(weights.reshape(-1), copies.targets * places + copies.places)
    return scatter_add(found, copies.targets, math.prod(targets)).reshape(targets)


class OwnTokens(NamedTuple):
    """The tokens of each source, each once, and which of them every place of a memory holds."""

    tokens: Ints  # [rows, most], ids; on padding the id PAD
    before: Ints  # [rows, longest before], columns of `tokens`
    context: Ints | None  # [rows, longest context]

    @classmethod
    def of(cls, memories: Memories) -> OwnTokens:
        """Return those of the sources that memories are of."""
        parts = [memory for memory in (memories.before, memories.context) if memory is not None]
        ids = np.concatenate([np.where(memory.tokens, memory.ids, PAD) for memory in parts], 1)
        order = ids.argsort(1)
        ordered = np.take_along_axis(ids, order, 1)
        column = np.cumsum(np.diff(ordered, axis=1, prepend=ordered[:, :1]) != 0, 1)
        tokens = np.full((len(ids), int(column.max()) + 1), PAD)
        np.put_along_axis(tokens, column, ordered, 1)
        columns = np.empty_like(ids)
        np.put_along_axis(columns, order, column, 1)
        size = memories.before.ids.shape[1]
        return cls(tokens, columns[:, :size], columns[:, size:] if memories.context else None)

    @classmethod
    def none(cls, num_rows: int) -> OwnTokens:
        """Return those of sources that nothing is copied from."""
        return cls(np.full((num_rows, 1), PAD), np.empty((num_rows, 0), np.int64), None)

    def at(self, rows: Ints) -> OwnTokens:
        """Return those of some rows."""
        return OwnTokens(self.tokens[rows], self.before[rows], None if self.context is None else self.context[rows])

    def weights(self, found: Ways) -> Floats:
        """Return how likely each token is copied: [rows, most]."""
        rows, most = self.tokens.shape
        first = (most * np.arange(rows))[:, None]
        cells, shares = (first + self.before).reshape(-1), (found.before * found.ways[:, 1:2]).reshape(-1)
        if self.context is not None and found.context is not None:
            cells = np.concatenate([cells, (first + self.context).reshape(-1)])
            shares = np.concatenate([shares, (found.context * found.ways[:, 2:3]).reshape(-1)])
        weights: Floats = scatter_add(shares, cells, rows * most).reshape(rows, most)
        return weights


class _Board:
    """The most likely tokens of each row: of those that its source has, and of parts of the vocabulary."""

    def __init__(self, own: OwnTokens, copies: Floats, floor: Floats | None, width: int) -> None:
        self._own, self._copies, self._floor, self._width = own, copies, floor, width
        self._tops: list[Floats] = []
        self._ids: list[Ints] = []

    def worth_a_look(self, part: range, mass: Floats) -> Ints:
        """Return the rows in which a part of the vocabulary that has a `mass` in all may matter.

        There it says something about tokens, generated and copied, that are likelier than the floor.
        """
        likely = mass > _NEGLIGIBLE
        if self._floor is not None:
            likely &= mass > _UNNOTICED * self._floor
            _, inside = self._places(part, slice(None))
            likely &= mass + np.where(inside, self._copies, 0.0).max(1) > self._floor
        return np.flatnonzero(likely)

    def add(self, part: range, rows: Ints, probabilities: Floats) -> None:
        """Take in what a part of the vocabulary says in some rows: [some, part]."""
        places, inside = self._places(part, rows)
        own, cells = places[inside], np.nonzero(inside)
        at = cells[0], own
        self._copies[rows[cells[0]], cells[1]] += probabilities[at]
        probabilities[at] = 0.0
        top, column = top_k(probabilities, self._width)
        self._tops.append(place(top, rows, len(self._copies)))
        ids = np.full((len(self._copies), top.shape[1]), part.start)
        ids[rows] += column
        self._ids.append(ids)

    def best(self) -> tuple[Floats, Ints]:
        """Return them as log-probabilities and ids."""
        top, at = top_k(self._copies, self._width)
        ids = np.take_along_axis(self._own.tokens, at, 1)
        return most_likely(np.concatenate([top, *self._tops], 1), np.concatenate([ids, *self._ids], 1), self._width)

    def _places(self, part: range, rows: Ints | slice) -> tuple[Ints, Mask]:
        """Return where in a part of the vocabulary the sources' own tokens stand, and whether they are there at all."""
        places = self._own.tokens[rows] - part.start
        inside = (places >= 0) & (places < len(part))
        return places, inside


def most_likely(probabilities: Floats, choices: Ints, width: int) -> tuple[Floats, Ints]:
    """Return the `width` most probable of each row's choices, as log-probabilities and choices.

    `probabilities` and `choices` [rows, any] → both [rows, at most width]; −∞ where something is impossible.
    """
    top, at = top_k(probabilities, width)
    log_probs = np.where(top > 0, np.log(top + np.float32(TINY)), np.float32(-np.inf))
    return log_probs, np.take_along_axis(choices, at, 1)
