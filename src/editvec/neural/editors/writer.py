"""Writing a token: generate it, copy it from before, or copy it from the context.

The probability of a token is the sum over all ways to write it (section 3.1 of the paper). All editors share this code,
in training and in search.
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
from editvec.neural.layers.speller import Speller, rolled
from editvec.neural.pieces import CLOSE
from editvec.neural.reading import Reading, TokenEmbedding
from editvec.neural.vocab import FIRST_GENERATED, PAD, PLACE, UNKNOWN

TINY = 1e-30
"""Added to a probability before the logarithm, so that the logarithm of an impossible event is finite."""
_NEGLIGIBLE = 1e-5
"""A search skips the generator, or its tail, if its total probability is below this value."""
_UNNOTICED = 0.01
"""A search also skips the generator, or its tail, if its total probability is below this share of the probability that
a token needs to survive. The probabilities that matter would change by no more than this share."""
_SPARED = 1e-4
"""Training skips the generator for a token that can be copied if generating it contributes at most this share of its
probability. After some epochs, this holds for three quarters of all tokens. A loss and its gradient change by at
most this share."""


class Memory(NamedTuple):
    """A source that a decoder attends to or copies from."""

    ids: Ints  # [batch, longest]
    states: Array  # [batch, longest, dim]
    mask: Mask  # [batch, longest]
    tokens: Mask  # [batch, longest], True for tokens that can be copied; False for the mark of the edit's position

    def at(self, rows: Ints) -> Memory:
        """Return the memory of some rows."""
        return Memory(self.ids[rows], self.states[rows], self.mask[rows], self.tokens[rows])


class Memories(NamedTuple):
    """The sources that tokens are written from."""

    before: Memory
    context: Memory | None
    carried: Array | None = None
    """What the edit vector contributes for each added token, in the generator's space: [batch, token_skip, dim]."""

    def at(self, rows: Ints) -> Memories:
        """Return the memories of some rows."""
        before, context, carried = self
        return Memories(
            before.at(rows), None if context is None else context.at(rows), None if carried is None else carried[rows]
        )


def _memory(tokens: Ragged, states: Array) -> Memory:
    """Return the memory of tokens and their states."""
    return Memory(tokens.ids, states, tokens.mask, tokens.mask & (tokens.ids != PLACE))


class Ways(NamedTuple):
    """The distributions over the ways to write a token, at n steps of each source."""

    states: Array  # [batch, n, dim], the input of the generator
    plain: Array  # [batch, n, dim], the decoder's states, without what the edit vector contributes
    ways: Array  # [batch, n, 3], the probabilities of generating, copying from before, copying from the context
    before: Array  # [batch, n, longest before], the distribution over positions to copy from
    context: Array | None  # [batch, n, longest context]
    spelling: Array | None  # [batch, n], the probability of writing a piece; without pieces, None

    def at(self, beside: SideBySide) -> Ways:
        """Return the distributions of the rows of a padded table: [rows, ...]."""
        return Ways(*(None if part is None else beside.rows(part) for part in self))


class TokenWriter(Layer):
    """The layer that writes tokens.

    Without `copy`, tokens are only generated. With `token_skip`, the generator reads the decoder's state plus what the
    edit vector contributes for that number of tokens, each weighted by a gate that depends on the state.
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
        spells: bool = False,
    ) -> None:
        self.num_words, self.num_known = embedding.num_words, embedding.num_known
        self.copy, self.token_skip = copy, token_skip
        self.spells = spells and embedding.num_pieces > 0
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
            num_choices=embedding.num_words - FIRST_GENERATED,
            head_size=head_size,
            tail_dim=tail_dim,
            tied_to=embedding.table if tied else None,
            first_row=FIRST_GENERATED,
        )
        if self.spells:
            self.speller = Speller(dim=dim, num_pieces=embedding.num_pieces, tied_to=embedding.pieces if tied else None)

    def memories(self, source: SourceBatch, reading: Reading, vectors: Array) -> Memories:
        """Return the memories of the sources that a reader has read, and of their edit vectors [batch, edit_dim]."""
        return Memories(
            _memory(source.before, reading.before.all),
            None if reading.context is None else _memory(source.context, reading.context.all),
            self.carried(vectors).reshape(len(vectors), self.token_skip, -1) if self.token_skip else None,
        )

    def __call__(self, states: Array, memories: Memories, progress: Ints | None = None) -> Ways:
        """Return the distributions over the ways to write a token for decoder `states` [batch, n, dim].

        `progress` [batch, n] is the number of pieces of a token that is being spelled, if the layer spells.
        """
        found = self._tokens(states, memories)
        if not self.spells:
            return found
        assert progress is not None
        spelling = self.speller.share(states, progress)
        return found._replace(ways=found.ways * (1 - spelling)[..., None], spelling=spelling)

    def _tokens(self, states: Array, memories: Memories) -> Ways:
        """Return the distributions over the ways to write a whole token."""
        before, context, carried = memories
        words = states if carried is None else states + sigmoid(self.asked(states)) @ carried
        if not self.copy:
            return Ways(words, states, zeros(states, *states.shape[:2], 1) + 1, states[..., :0], None, None)
        ways = self.way(states)
        from_before = self.point_before(states, before.states, before.tokens)
        if context is None:
            return Ways(words, states, softmax(ways), from_before, None, None)
        # Nothing can be copied from an empty context, both in training and in search.
        there = np.ones((len(context.tokens), 1, 3), np.bool_)
        there[:, 0, 2] = context.tokens.any(1)
        ways = softmax(ways, there)
        return Ways(words, states, ways, from_before, self.point_context(states, context.states, context.tokens), None)

    def probability_of(
        self,
        found: Ways,
        ids: Ints,
        there: Mask,
        from_before: Copies,
        from_context: Copies,
        progress: Ints | None = None,
    ) -> Array:
        """Return the probability of each token or piece where `there` is True: [number of True cells], row by row.

        Shapes: `ids`, `there` and `progress` [batch, n].
        """
        cells = np.flatnonzero(there)
        ids, ways = ids[there], take(found.ways.reshape(-1, found.ways.shape[-1]), cells)
        spelled = np.flatnonzero((ids >= self.num_words) & (ids < self.num_known))
        # Tokens outside the vocabulary cannot be generated. UNKNOWN can: it stands for tokens that cannot be written,
        # and its probability gives them a finite loss.
        known = ids < self.num_words
        if self.copy:
            total = ways[:, 1] * take(copied(found.before, from_before).reshape(-1), cells)
            if found.context is not None:
                total = total + ways[:, 2] * take(copied(found.context, from_context).reshape(-1), cells)
        else:
            ids = np.where(ids < self.num_known, ids, UNKNOWN)
            known = ids < self.num_words
            total = zeros(ways, len(ids))
        spared = _SPARED * as_numpy(total) if is_learning(ways) else 0.0
        rows = np.flatnonzero(known & (as_numpy(ways)[:, 0] > spared))
        states = take(found.states.reshape(-1, found.states.shape[-1]), cells[rows])
        generated = self.generator.probability_of(states, ids[rows] - FIRST_GENERATED)
        total = total + place(take(ways, rows)[:, 0] * generated, rows, len(ids))
        spelling = found.spelling
        # Training in several processes needs a gradient of every weight in every step.
        if spelling is None or not (len(spelled) or is_learning(ways)):
            return total
        assert progress is not None
        far = progress[there][spelled]
        shares = take(spelling.reshape(-1), cells[spelled])
        pieces = self.speller.probability_of(
            self._spelling(found, cells[spelled], far), far, ids[spelled] - self.num_words
        )
        return total + place(shares * pieces, spelled, len(ids))

    def _spelling(self, found: Ways, cells: Ints, progress: Ints) -> Array:
        """Return the input of the speller at some cells: [cells, dim].

        What the edit vector contributes for a token is the sum of its pieces, each moved by its place. It is moved
        back, so that the piece that is due stands where it is read.
        """
        plain, words = (take(part.reshape(-1, part.shape[-1]), cells) for part in (found.plain, found.states))
        return plain + rolled(words - plain, -progress)

    def best(
        self, found: Ways, own: OwnTokens, width: int, floor: Floats | None = None, progress: Ints | None = None
    ) -> tuple[Floats, Ints]:
        """Return the log-probabilities and the ids of the `width` most likely tokens or pieces of each row.

        `found` has one step per row: [rows, ...]. The tokens of a source are always scored. The generator's head, and
        then its tail, are scored only in the rows where they can matter: where they are likely enough and, with a
        `floor` [rows], where they can lift a token above it.
        """
        board = _Board(own, own.weights(found), floor, width)
        head_end = FIRST_GENERATED + self.generator.head_size
        frequent, rare = range(FIRST_GENERATED, head_end), range(head_end, self.num_words)
        mass = found.ways[:, 0]
        rows = board.worth_a_look(frequent, mass)
        head, tail = self.generator.spread(found.states[rows])
        board.add(frequent, rows, head * mass[rows, None])
        if tail is not None:
            mass = place(tail * mass[rows], rows, len(mass))
            rows = board.worth_a_look(rare, mass)
            board.add(rare, rows, self.generator.tail_spread(found.states[rows]) * mass[rows, None])
        if found.spelling is not None and progress is not None:
            pieces, mass = range(self.num_words, self.num_known), found.spelling
            rows = board.worth_a_look(pieces, mass)
            spread = self.speller.spread(self._spelling(found, rows, progress[rows]), progress[rows])
            board.add(pieces, rows, spread * mass[rows, None])
        return board.best()

    def progressed(self, progress: Ints, choices: Ints) -> Ints:
        """Return the progress after some choices, each [any]."""
        is_open = (choices > self.num_words + CLOSE) & (choices < self.num_known)
        return np.where(is_open, progress + 1, 0)

    def progress_of(self, ids: Ints) -> Ints:
        """Return the progress before each of the choices of whole targets, both [batch, n]."""
        progress = np.zeros_like(ids)
        for step in range(1, ids.shape[1]):
            progress[:, step] = self.progressed(progress[:, step - 1], ids[:, step - 1])
        return progress

    def own_tokens(self, memories: Memories) -> OwnTokens:
        """Return the tokens that each source has to copy."""
        return OwnTokens.of(memories) if self.copy else OwnTokens.none(len(memories.before.ids))


def copied(weights: Array, copies: Copies) -> Array:
    """Return the total weight of the positions that hold the token of each target.

    Shapes: `weights` [..., positions]; the result has [...].
    """
    *targets, places = weights.shape
    found = take(weights.reshape(-1), copies.targets * places + copies.places)
    return scatter_add(found, copies.targets, math.prod(targets)).reshape(targets)


class OwnTokens(NamedTuple):
    """The distinct tokens of each source, and the token at each position of its memories."""

    tokens: Ints  # [rows, most], ids; PAD on padding
    before: Ints  # [rows, longest before], columns of `tokens`
    context: Ints | None  # [rows, longest context]

    @classmethod
    def of(cls, memories: Memories) -> OwnTokens:
        """Return the tokens of the sources of memories."""
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
        """Return empty entries for sources that nothing is copied from."""
        return cls(np.full((num_rows, 1), PAD), np.empty((num_rows, 0), np.int64), None)

    def at(self, rows: Ints) -> OwnTokens:
        """Return the entries of some rows."""
        return OwnTokens(self.tokens[rows], self.before[rows], None if self.context is None else self.context[rows])

    def weights(self, found: Ways) -> Floats:
        """Return the probability that each token is copied: [rows, most]."""
        rows, most = self.tokens.shape
        first = (most * np.arange(rows))[:, None]
        cells, shares = (first + self.before).reshape(-1), (found.before * found.ways[:, 1:2]).reshape(-1)
        if self.context is not None and found.context is not None:
            cells = np.concatenate([cells, (first + self.context).reshape(-1)])
            shares = np.concatenate([shares, (found.context * found.ways[:, 2:3]).reshape(-1)])
        weights: Floats = scatter_add(shares, cells, rows * most).reshape(rows, most)
        return weights


class _Board:
    """The most likely tokens of each row, collected from its source and from parts of the vocabulary."""

    def __init__(self, own: OwnTokens, copies: Floats, floor: Floats | None, width: int) -> None:
        self._own, self._copies, self._floor, self._width = own, copies, floor, width
        self._tops: list[Floats] = []
        self._ids: list[Ints] = []

    def worth_a_look(self, part: range, mass: Floats) -> Ints:
        """Return the rows in which a part of the vocabulary has to be scored.

        `mass` [rows] is the total probability of the part. A part has to be scored if it can change a token, generated
        or copied, that is more likely than the floor.
        """
        likely = mass > _NEGLIGIBLE
        if self._floor is not None:
            likely &= mass > _UNNOTICED * self._floor
            _, inside = self._places(part, slice(None))
            likely &= mass + np.where(inside, self._copies, 0.0).max(1) > self._floor
        return np.flatnonzero(likely)

    def add(self, part: range, rows: Ints, probabilities: Floats) -> None:
        """Add the probabilities of a part of the vocabulary in some rows: [some, part]."""
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
        """Return the most likely tokens as log-probabilities and ids, each [rows, at most width]."""
        top, at = top_k(self._copies, self._width)
        ids = np.take_along_axis(self._own.tokens, at, 1)
        return most_likely(np.concatenate([top, *self._tops], 1), np.concatenate([ids, *self._ids], 1), self._width)

    def _places(self, part: range, rows: Ints | slice) -> tuple[Ints, Mask]:
        """Return the positions of the sources' own tokens in a part of the vocabulary, and whether they are in it."""
        places = self._own.tokens[rows] - part.start
        inside = (places >= 0) & (places < len(part))
        return places, inside


def most_likely(probabilities: Floats, choices: Ints, width: int) -> tuple[Floats, Ints]:
    """Return the log-probabilities and the choices of the `width` most probable choices of each row.

    Shapes: `probabilities` and `choices` [rows, any]; both results have [rows, at most width]. The log-probability of
    an impossible choice is −∞.
    """
    top, at = top_k(probabilities, width)
    log_probs = np.where(top > 0, np.log(top + np.float32(TINY)), np.float32(-np.inf))
    return log_probs, np.take_along_axis(choices, at, 1)
