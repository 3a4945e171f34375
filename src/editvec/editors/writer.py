"""Writing a token: generate it, copy it from before, or copy it from the context. The probability of a token is summed
over every way to write it (section 3.1 of the paper). Shared by all editors, by training and search.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from editvec.nn.attention import Attention
from editvec.nn.generator import Generator
from editvec.reading import Reading, TokenEmbedding
from editvec.tensors.batch import Copies, Ragged, SourceBatch
from editvec.vocab import FIRST_GENERATED, PAD, PLACE, UNKNOWN

TINY = 1e-30
"""Added to a probability before its logarithm is taken: what is impossible stays finite."""
_NEGLIGIBLE = 1e-5
"""A search does not look into the generator's tail where all of it is less likely than this."""


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
    """What the edit vector says of the tokens that are added, in the words of the generator: [batch, carry, dim]."""

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

    def at(self, *places: Tensor) -> Ways:
        """Of some places."""
        states, ways, before, context = self
        return Ways(states[places], ways[places], before[places], None if context is None else context[places])


class TokenWriter(nn.Module):
    """`copy` off leaves generation alone. With `carry`, the generator reads a decoder's state plus what the edit vector
    says of so many tokens, each as far as the state asks for it."""

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
        carry: int,
        head_size: int,
        tail_dim: int,
    ) -> None:
        super().__init__()
        self.num_known, self.copy, self.carry = embedding.num_known, copy, carry
        if carry:
            self.carried = nn.Linear(edit_dim, carry * dim, bias=False)
            self.asked = nn.Linear(dim, carry)
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
            self.carried(vectors).view(len(vectors), self.carry, -1) if self.carry else None,
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
        generated = self.generator.probability_of(found.states[there], (ids - FIRST_GENERATED).where(known, 0))
        total = ways[:, 0] * generated * known
        if self.copy:
            total = total + ways[:, 1] * copied(found.before, from_before)[there]
            if found.context is not None:
                total = total + ways[:, 2] * copied(found.context, from_context)[there]
        return total

    def best(
        self, found: Ways, others: Others | None, width: int, floor: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The log-probabilities and ids of the `width` most likely tokens of each row. `found` has one place a row,
        [rows, ...]. The generator's head and what a source has beside it are scored one by one, the tail where it is
        likely enough to matter at all: in a row where tokens below a `floor` do not, more likely than that."""
        head, tail = self.generator.spread(found.states)
        head.mul_(found.ways[:, :1])
        groups: list[tuple[Tensor, Tensor | None]] = [(head, None)]
        if others is not None:
            beside = head.new_zeros(others.tokens.shape)
            others.copy(found.before * found.ways[:, 1:2], others.before, head, beside)
            if others.context is not None and found.context is not None:
                others.copy(found.context * found.ways[:, 2:3], others.context, head, beside)
            groups.append((beside, others.tokens))
        if tail is not None:
            mass = tail * found.ways[:, 0]
            rows = self._worth_a_look(mass, others, groups[-1][0], floor)
            groups.append(self._of_tail(found.states, mass, rows, others, groups[-1][0], width))
        return _best(groups, width)

    def others(self, memories: Memories) -> Others | None:
        """What each source has beside the generator's head."""
        return Others.of(memories, FIRST_GENERATED + self.generator.head_size) if self.copy else None

    def _worth_a_look(self, mass: Tensor, others: Others | None, beside: Tensor, floor: Tensor | None) -> Tensor:
        """The rows in which a token of the tail, generated and copied, can be likelier than the floor."""
        likely = mass > _NEGLIGIBLE
        if floor is not None:
            if others is not None:
                is_known = others.tokens < self.num_known
                mass = mass + beside.where(is_known, 0.0).amax(1)
            likely &= mass > floor
        return likely.nonzero().squeeze(1)

    def _of_tail(
        self, states: Tensor, mass: Tensor, rows: Tensor, others: Others | None, beside: Tensor, width: int
    ) -> tuple[Tensor, Tensor]:
        """The best choices of the tail in some rows; the part that belongs to a source's others goes to them."""
        first = FIRST_GENERATED + self.generator.head_size
        probabilities = self.generator.tail_spread(states[rows]).mul_(mass[rows, None])
        if others is not None:
            places = others.tokens[rows] - first
            inside = (places >= 0) & (places < probabilities.shape[1])
            places = places.where(inside, 0)
            beside[rows] += probabilities.gather(1, places) * inside
            probabilities.scatter_reduce_(1, places, torch.where(inside, 0.0, torch.inf), "amin")
        top, choices = probabilities.topk(min(width, probabilities.shape[1]), dim=1)
        all_top = top.new_zeros(len(states), top.shape[1]).index_copy(0, rows, top)
        return all_top, choices.new_full(all_top.shape, first).index_copy(0, rows, choices + first)


def copied(weights: Tensor, copies: Copies) -> Tensor:
    """The weight on all places that hold what a target needs: [batch, n], for `weights` [batch, n, places]."""
    batch, longest, places = weights.shape
    found = weights.reshape(-1)[copies.targets * places + copies.places]
    return weights.new_zeros(batch * longest).index_add(0, copies.targets, found).view(batch, longest)


class Others(NamedTuple):
    """The tokens of each source that are not in the generator's head, each once; and where every place of a memory
    puts its weight: below the head's end into the head, from there on into the others."""

    tokens: Tensor  # [rows, most], ids; on padding the id PAD
    before: Tensor  # [rows, longest before]
    context: Tensor | None  # [rows, longest context]
    head_end: int

    @classmethod
    def of(cls, memories: Memories, head_end: int) -> Others:
        """Of the sources that memories are of."""
        parts = [memory for memory in (memories.before, memories.context) if memory is not None]
        ids = torch.cat([memory.ids.where(memory.tokens, PAD) for memory in parts], 1)
        order = ids.sort(1)
        new = functional.pad(order.values[:, 1:] != order.values[:, :-1], (1, 0), value=True)
        new &= order.values >= head_end
        rank = new.cumsum(1) - 1
        most = int(rank.max()) + 1
        tokens = ids.new_full((len(ids), max(1, most)), PAD)
        rows, at = new.nonzero(as_tuple=True)
        tokens[rows, rank[rows, at]] = order.values[rows, at]
        columns = torch.where(order.values >= head_end, rank + head_end, order.values)
        places = torch.empty_like(ids).scatter_(1, order.indices, columns)
        size = memories.before.ids.shape[1]
        return cls(tokens, places[:, :size], places[:, size:] if memories.context else None, head_end)

    def at(self, rows: Tensor) -> Others:
        """Of some rows."""
        context = None if self.context is None else self.context[rows]
        return Others(self.tokens[rows], self.before[rows], context, self.head_end)

    def copy(self, weights: Tensor, places: Tensor, head: Tensor, beside: Tensor) -> None:
        """Adds the weights of places to the tokens that they hold."""
        rare = places >= self.head_end
        # What is below the head's first id are marks, which no weight is on.
        head.scatter_add_(1, (places - FIRST_GENERATED).where(~rare, 0).clamp(min=0), weights.where(~rare, 0.0))
        beside.scatter_add_(1, (places - self.head_end).where(rare, 0), weights.where(rare, 0.0))


def _best(groups: list[tuple[Tensor, Tensor | None]], width: int) -> tuple[Tensor, Tensor]:
    """The most probable of several groups of choices, as log-probabilities and ids."""
    tops, ids = [], []
    for probabilities, tokens in groups:
        top, at = probabilities.topk(min(width, probabilities.shape[1]), dim=1)
        tops.append(top)
        ids.append(at + FIRST_GENERATED if tokens is None else tokens.gather(1, at))
    return most_likely(torch.cat(tops, 1), torch.cat(ids, 1), width)


def most_likely(probabilities: Tensor, choices: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """The `width` most probable of each row's choices, both [rows, any], as log-probabilities and choices; −∞ where
    something is impossible."""
    top, at = probabilities.topk(min(width, probabilities.shape[1]), dim=1)
    return (top + TINY).log().masked_fill(top <= 0, -torch.inf), choices.gather(1, at)
