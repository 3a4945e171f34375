"""Pieces: the parts of tokens from which a model reads and writes tokens outside its vocabulary.

A token is cut at case, underscores and digits, and each part is put together from bytes by learned merges (byte-pair
encoding). Every byte is a piece, so every token can be written. A part is merged by the rank of the merged text alone,
so the list of pieces is all there is to know.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

from editvec.core.edit import Tokens

CLOSE = 0
"""The number of the mark that ends a token. It is not a piece of text."""
_BYTES = tuple(map(chr, range(256)))
"""Texts are bytes, written as the characters of the same numbers."""
_PART = re.compile(r"_?[A-Z]+(?![a-z])|_?[A-Z]?[a-z]+|_?[0-9]+|_+|[^A-Za-z0-9_]+", re.ASCII)
_LEAST_COUNT = 2
"""Pairs that fewer tokens have are not merged."""
_CACHED_PARTS = 2**16


class Pieces:
    """The pieces of a model: CLOSE, all bytes, and the learned pieces in the order in which they are merged."""

    def __init__(self, learned: Tokens) -> None:
        self.learned = learned
        self._ranks = {text: rank for rank, text in enumerate(learned)}
        self._numbers = {text: number for number, text in enumerate((*_BYTES, *learned), 1)}
        self._part_numbers = lru_cache(_CACHED_PARTS)(self._merged)

    def __len__(self) -> int:
        return 1 + len(_BYTES) + len(self.learned)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pieces) and other.learned == self.learned

    def __hash__(self) -> int:
        return hash(self.learned)

    def __repr__(self) -> str:
        return f"Pieces({self.learned!r})"

    @cached_property
    def texts(self) -> Tokens:
        """Return the text of each piece, with one character per byte; that of CLOSE is empty."""
        return ("", *_BYTES, *self.learned)

    def split(self, token: str) -> list[int]:
        """Return the numbers of the pieces of a token, without CLOSE."""
        return [number for part in _parts(token) for number in self._part_numbers(part)]

    def join(self, numbers: Sequence[int]) -> str:
        """Return the token of some pieces. Bytes that are not UTF-8 become replacement characters."""
        return "".join(self.texts[number] for number in numbers).encode("latin-1").decode(errors="replace")

    def _merged(self, part: str) -> tuple[int, ...]:
        """Return the numbers of the pieces of a part."""
        found = list(part)
        while len(found) > 1:
            ranked = [
                (self._ranks.get(one + two, len(self._ranks)), at) for at, (one, two) in enumerate(pairwise(found))
            ]
            rank, at = min(ranked)
            if rank == len(self._ranks):
                break
            found[at : at + 2] = [found[at] + found[at + 1]]
        return tuple(self._numbers[text] for text in found)


def learn_pieces(tokens: Iterable[str], size: int) -> Pieces:
    """Return at most `size` learned pieces, from different tokens that each count once.

    Pairs that are equally frequent are merged in alphabetical order, so the result is deterministic.
    """
    counts = Counter(part for token in tokens for part in _parts(token))
    words = [(list(part), count) for part, count in sorted(counts.items())]
    pairs: Counter[tuple[str, str]] = Counter()
    holders: dict[tuple[str, str], set[int]] = defaultdict(set)
    for number, (word, count) in enumerate(words):
        for pair in pairwise(word):
            pairs[pair] += count
            holders[pair].add(number)
    # Counts in the heap can be out of date; they are compared with the current ones when they come up.
    heap = [(-count, pair) for pair, count in pairs.items()]
    heapq.heapify(heap)
    learned: dict[str, None] = {}
    while heap and len(learned) < size:
        count, pair = heapq.heappop(heap)
        if pairs[pair] < _LEAST_COUNT:
            continue
        if -count != pairs[pair]:
            heapq.heappush(heap, (-pairs[pair], pair))
            continue
        learned["".join(pair)] = None
        changed: set[tuple[str, str]] = set()
        for number in holders.pop(pair):
            word, times = words[number]
            for old in pairwise(word):
                pairs[old] -= times
            _merge(word, pair)
            for new in pairwise(word):
                pairs[new] += times
                holders[new].add(number)
                changed.add(new)
        for new in changed:
            heapq.heappush(heap, (-pairs[new], new))
    return Pieces(tuple(learned))


def _merge(word: list[str], pair: tuple[str, str]) -> None:
    """Merge a pair in a word, from the left, in place."""
    at = 0
    while at < len(word) - 1:
        if (word[at], word[at + 1]) == pair:
            word[at : at + 2] = ["".join(pair)]
        at += 1


def _parts(token: str) -> Iterator[str]:
    """Yield the parts of a token, with one character per byte."""
    return (match[0] for match in _PART.finditer(token.encode(errors="surrogatepass").decode("latin-1")))
