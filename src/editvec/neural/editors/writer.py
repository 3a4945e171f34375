"""Writing a token: generate it, copy it from before, or copy it from the context. The probability of a token is summed
over every way to write it (section 3.1 of the paper). Shared by all editors, by training and search.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from editvec.neural.batch import Copies, Ragged, SourceBatch
from editvec.neural.editors.rows import SideBySide
from editvec.neural.layers.attention import Attention
from editvec.neural.layers.generator import Generator
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

    ids: Tensor  # [batch, longest]
    states: Tensor  # [batch, longest, dim]
    mask: Tensor  # [batch, longest]
    tokens: Tensor  # [batch, longest], the mask of what can be copied: not the mark of the edit's place

    def at(self, rows: Tensor) -> Memory:
        """The memory of some rows."""
        return Memory(self.ids[rows], self.states[rows], self.mask[rows], self.tokens[rows])


class Memories(NamedTuple):
    """What tokens are written from."""

    before: Memory
    context: Memory | None
    carried: Tensor | None = None
    """What the edit vector says of the tokens that are added, in the words of the generator: [batch, token_skip,
    dim]."""

    def at(self, rows: Tensor) -> Memories:
        """The memories of some rows."""
        before, context, carried = self
        return Memories(
            before.at(rows), None if context is None else context.at(rows), None if carried is None else carried[rows]
        )


def _memory(tokens: Ragged, states: Tensor) -> Memory:
    return Memory(tokens.ids, states, tokens.mask, tokens.mask & (tokens.ids != PLACE))


class Ways(NamedTuple):
    """How a token would be written at n places of each source, before the ways are summed."""

    states: Tensor  # [batch, n, dim], what the generator reads
    ways: Tensor  # [batch, n, 3]: the probability to generate, to copy from before, to copy from context
    before: Tensor  # [batch, n, longest before], where from
    context: Tensor | None  # [batch, n, longest context]

    def at(self, beside: SideBySide) -> Ways:
        """Of the rows that stand in those places: [rows, ...]."""
        states, ways, before = (beside.rows(part) for part in self[:3])
        return Ways(states, ways, before, None if self.context is None else beside.rows(self.context))


class TokenWriter(nn.Module):
    """`copy` off leaves generation alone. With `token_skip`, the generator reads a decoder's state plus what the edit
    vector says of so many tokens, each as far as the state asks for it."""

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
        super().__init__()
        self.num_known, self.copy, self.token_skip = embedding.num_known, copy, token_skip
        if token_skip:
            self.carried = nn.Linear(edit_dim, token_skip * dim, bias=False)
            self.asked = nn.Linear(dim, token_skip)
        if copy:
            self.way = nn.Linear(dim, 3 if context else 2)
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

    def memories(self, source: SourceBatch, reading: Reading, vectors: Tensor) -> Memories:
        """Of what a reader made of a source, and of an edit vector beside each."""
        return Memories(
            _memory(source.before, reading.before.all),
            None if reading.context is None else _memory(source.context, reading.context.all),
            self.carried(vectors).view(len(vectors), self.token_skip, -1) if self.token_skip else None,
        )

    def forward(self, states: Tensor, memories: Memories) -> Ways:
        """`states` [batch, n, dim] of a decoder → how it would write a token."""
        before, context, carried = memories
        words = states if carried is None else torch.baddbmm(states, self.asked(states).sigmoid(), carried)
        if not self.copy:
            return Ways(words, states.new_ones(*states.shape[:2], 1), states[..., :0], None)
        ways = self.way(states)
        from_before = self.point_before(states, before.states, before.tokens)
        if context is None:
            return Ways(words, ways.softmax(-1), from_before, None)
        # An empty context is no way at all: neither in training nor in search.
        empty = ~context.tokens.any(1)
        ways = ways.index_fill(2, torch.tensor(2), -torch.inf).where(empty[:, None, None], ways).softmax(-1)
        return Ways(words, ways, from_before, self.point_context(states, context.states, context.tokens))

    def probability_of(
        self, found: Ways, ids: Tensor, there: Tensor, from_before: Copies, from_context: Copies
    ) -> Tensor:
        """The probability of the tokens `ids` [batch, n] where `there` is True, in order."""
        ids, ways = ids[there], found.ways[there]
        # What is outside the vocabulary cannot be generated; UNKNOWN itself, which stands for what nobody can write,
        # can: that is its loss.
        known = ids < self.num_known
        if not self.copy:
            ids, known = ids.where(known, UNKNOWN), torch.ones_like(known)
        total = ways.new_zeros(len(ids))
        if self.copy:
            total = ways[:, 1] * copied(found.before, from_before)[there]
            if found.context is not None:
                total = total + ways[:, 2] * copied(found.context, from_context)[there]
        worth = known & (ways[:, 0] > (_SPARED * total if self.training else 0.0))
        rows = worth.nonzero().squeeze(1)
        generated = self.generator.probability_of(found.states[there][rows], ids[rows] - FIRST_GENERATED)
        return total.index_add(0, rows, ways[rows, 0] * generated)

    def best(self, found: Ways, own: OwnTokens, width: int, floor: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """The log-probabilities and ids of the `width` most likely tokens of each row. `found` has one place a row,
        [rows, ...]. The tokens of a source are scored one by one; the generator's head, and then its tail, where they
        are likely enough to matter at all: in a row where tokens below a `floor` do not, more likely than that."""
        board = _Board(own, own.weights(found), floor, width)
        head_end = FIRST_GENERATED + self.generator.head_size
        frequent, rare = range(FIRST_GENERATED, head_end), range(head_end, self.num_known)
        mass = found.ways[:, 0]
        rows = board.worth_a_look(frequent, mass)
        head, tail = self.generator.spread(found.states[rows])
        board.add(frequent, rows, head.mul_(mass[rows, None]))
        if tail is not None:
            mass = torch.zeros_like(mass).index_copy(0, rows, tail * mass[rows])
            rows = board.worth_a_look(rare, mass)
            board.add(rare, rows, self.generator.tail_spread(found.states[rows]).mul_(mass[rows, None]))
        return board.best()

    def own_tokens(self, memories: Memories) -> OwnTokens:
        """What each source has to copy."""
        return OwnTokens.of(memories) if self.copy else OwnTokens.none(len(memories.before.ids))


def copied(weights: Tensor, copies: Copies) -> Tensor:
    """The weight on all places that hold what a target needs: [...], for `weights` [..., places]."""
    targets = weights.shape[:-1]
    found = weights.reshape(-1)[copies.targets * weights.shape[-1] + copies.places]
    return weights.new_zeros(targets.numel()).index_add(0, copies.targets, found).view(targets)


class OwnTokens(NamedTuple):
    """The tokens of each source, each once, and which of them every place of a memory holds."""

    tokens: Tensor  # [rows, most], ids; on padding the id PAD
    before: Tensor  # [rows, longest before], columns of `tokens`
    context: Tensor | None  # [rows, longest context]

    @classmethod
    def of(cls, memories: Memories) -> OwnTokens:
        """Of the sources that memories are of."""
        parts = [memory for memory in (memories.before, memories.context) if memory is not None]
        ids = torch.cat([memory.ids.where(memory.tokens, PAD) for memory in parts], 1)
        order = ids.sort(1)
        new = functional.pad(order.values[:, 1:] != order.values[:, :-1], (1, 0), value=True)
        column = new.cumsum(1) - 1
        tokens = ids.new_full((len(ids), int(column.max()) + 1), PAD).scatter_(1, column, order.values)
        columns = torch.empty_like(ids).scatter_(1, order.indices, column)
        size = memories.before.ids.shape[1]
        return cls(tokens, columns[:, :size], columns[:, size:] if memories.context else None)

    @classmethod
    def none(cls, num_rows: int) -> OwnTokens:
        """Of sources that nothing is copied from."""
        nothing = torch.empty(num_rows, 0, dtype=torch.long)
        return cls(torch.full((num_rows, 1), PAD), nothing, None)

    def at(self, rows: Tensor) -> OwnTokens:
        """Of some rows."""
        return OwnTokens(self.tokens[rows], self.before[rows], None if self.context is None else self.context[rows])

    def weights(self, found: Ways) -> Tensor:
        """How likely each token is copied: [rows, most]."""
        total = found.before.new_zeros(self.tokens.shape)
        total.scatter_add_(1, self.before, found.before * found.ways[:, 1:2])
        if self.context is not None and found.context is not None:
            total.scatter_add_(1, self.context, found.context * found.ways[:, 2:3])
        return total


class _Board:
    """The most likely tokens of each row: of those that its source has, and of parts of the vocabulary."""

    def __init__(self, own: OwnTokens, copies: Tensor, floor: Tensor | None, width: int) -> None:
        self._own, self._copies, self._floor, self._width = own, copies, floor, width
        self._tops: list[Tensor] = []
        self._ids: list[Tensor] = []

    def worth_a_look(self, part: range, mass: Tensor) -> Tensor:
        """The rows in which a part of the vocabulary that has a `mass` in all says anything about tokens, generated and
        copied, that are likelier than the floor."""
        likely = mass > _NEGLIGIBLE
        if self._floor is not None:
            likely &= mass > _UNNOTICED * self._floor
            _, inside = self._places(part, slice(None))
            likely &= mass + self._copies.where(inside, 0.0).amax(1) > self._floor
        return likely.nonzero().squeeze(1)

    def add(self, part: range, rows: Tensor, probabilities: Tensor) -> None:
        """Takes in what a part of the vocabulary says in some rows: [some, part]."""
        places, inside = self._places(part, rows)
        self._copies[rows] += probabilities.gather(1, places) * inside
        probabilities.scatter_reduce_(1, places, torch.where(inside, 0.0, torch.inf), "amin")
        top, at = probabilities.topk(min(self._width, len(part)), dim=1)
        all_top = top.new_zeros(len(self._copies), top.shape[1]).index_copy(0, rows, top)
        self._tops.append(all_top)
        self._ids.append(at.new_full(all_top.shape, part.start).index_copy(0, rows, at + part.start))

    def best(self) -> tuple[Tensor, Tensor]:
        """As log-probabilities and ids."""
        top, at = self._copies.topk(min(self._width, self._copies.shape[1]), dim=1)
        ids = self._own.tokens.gather(1, at)
        return most_likely(torch.cat([top, *self._tops], 1), torch.cat([ids, *self._ids], 1), self._width)

    def _places(self, part: range, rows: Tensor | slice) -> tuple[Tensor, Tensor]:
        """Where in a part of the vocabulary the sources' own tokens stand, and whether they are there at all."""
        places = self._own.tokens[rows] - part.start
        inside = (places >= 0) & (places < len(part))
        return places.where(inside, 0), inside


def most_likely(probabilities: Tensor, choices: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The `width` most probable of each row's choices, both [rows, any], as log-probabilities and choices; −∞ where
    something is impossible."""
    top, at = probabilities.topk(min(width, probabilities.shape[1]), dim=1)
    return (top + TINY).log().masked_fill(top <= 0, -torch.inf), choices.gather(1, at)
