"""An edit as numbers, before padding: the `Example` that an `Exampler` makes of an `Edit` for one vocabulary.

Ids from `len(vocab)` on stand for the edit's own tokens outside the vocabulary: `len(vocab) + i` is `unknown[i]`, in
the order of first occurrence in before and the context. So two positions hold the same token exactly if their ids are
equal, and copies are found by comparing numbers. A token of `after` that is not in the vocabulary, before or the
context is UNKNOWN: no model can write it. If the vocabulary has pieces, such a token is coined instead: its id follows
those of `unknown`, and the editor writes it piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit, Tokens
from editvec.core.errors import UserError
from editvec.diff import Alignment, Tag, align
from editvec.diff.signature import Signature, signature_between
from editvec.neural.grammar import Grammar, SourceTree, UnseenError, before_tree, edit_trees
from editvec.neural.pieces import CLOSE
from editvec.neural.tree_examples import ActionSteps, TreePair, pair_of, steps_of
from editvec.neural.vocab import END, PLACE, UNKNOWN, Vocab, read_tokens

Ids = NDArray[np.int32]
_Lookup = Callable[[str], int | None]

TAGS = (Tag.EQUAL, Tag.REPLACED, Tag.ADDED, Tag.REMOVED)
_TAG_IDS = {tag: at for at, tag in enumerate(TAGS)}
_NEVER_FORGOTTEN = 1000
"""Tokens with a lower id, which are the most frequent ones, are never taken for unknown."""
_MOST_WRITTEN = 32
"""Maximum number of pieces of a token that an editor writes."""
NOWHERE = -1
"""In an alignment, the index on a side that has no token at a position."""


@dataclass(frozen=True, slots=True)
class Example:
    """The ids of an edit and the alignment of its two versions.

    `before` and `after` end with END. `context` contains PLACE at the position of the edit.
    """

    before: Ids
    context: Ids
    unknown: Tokens
    after: Ids
    tags: Ids
    """For each position of the alignment, an index into TAGS."""
    aligned_before: Ids
    """For each position of the alignment, the index of its token in `before`, or NOWHERE."""
    aligned_after: Ids
    signatures: Ids
    """A hash of its signature, if edits of this signature can be learned from one another; otherwise empty."""
    coined: Tokens = ()
    """The tokens of `after` that are neither in the vocabulary nor in `unknown`, if there are pieces."""
    spellings: Ids = field(default_factory=lambda: _array([]))
    """The pieces of the tokens in `unknown` and `coined`, each ended by CLOSE; empty if there are no pieces."""
    symbols: Ids = field(default_factory=lambda: _array([]))
    """What an editor writes: `after`, with pieces and CLOSE for each coined token; empty if it writes no pieces."""
    trees: TreePair | None = None
    """Both trees, for models that read trees."""
    steps: ActionSteps | None = None
    """The actions, for models that write trees."""
    source: SourceTree | None = None
    """The source of copies in a search, for models that write trees. It is not stored in a corpus."""


class TooLongError(UserError):
    """An edit is longer than its model reads."""


class NoTreeError(UserError):
    """An edit has no tree, but its model reads trees."""


@dataclass(frozen=True, slots=True)
class Exampler:
    """A function that makes examples for one vocabulary."""

    vocab: Vocab
    max_tokens: int = 100
    max_context: int = 160
    lowercase: bool = False
    context: bool = True
    """Whether to read the context. If not, its tokens outside the vocabulary cannot be copied either."""
    _: KW_ONLY
    grammar: Grammar | None = None
    """If there is a grammar, examples have trees."""
    actions: bool = False
    """Whether examples also have the actions that build `after`."""
    signatures: bool = False
    """Whether examples have the hash of their signature, which only training uses."""
    parsed: bool = False
    """Whether to use tree-sitter's trees even if the data came with trees."""
    copy: bool = True
    """Whether the editor copies tokens. If not, and if there are pieces, it writes all unknown tokens with them."""
    forget: float = 0.0
    """Share of the rarer tokens of the vocabulary that an example takes for unknown, which only training uses."""

    def __call__(self, edit: Edit, *, with_after: bool = True) -> Example:
        """Return the example of an edit; without `with_after`, only of what an editor may see of it.

        Raises:
            TooLongError: The edit is longer than `max_tokens`.
            NoTreeError: The edit has no tree, but the model reads trees.
        """
        before, after, above, below = read_tokens(edit, lowercase=self.lowercase)
        if not with_after:
            after = ()
        for side, tokens in (("before", before), ("after", after)):
            if len(tokens) > self.max_tokens:
                raise TooLongError(
                    f"edit {edit.id}: its {side} has {len(tokens)} tokens, but this model reads at most "
                    f"{self.max_tokens} (max_tokens). Give a shorter edit."
                )
        unknown: dict[str, int] = {}
        known = self._known(edit)
        before_ids = [*self._source_ids(before, known, unknown), END]
        if not self.context:
            above = below = ()
        half = self.max_context // 2
        room = (max(half, self.max_context - len(below)), max(half, self.max_context - len(above)))
        above, below = above[max(0, len(above) - room[0]) :], below[: room[1]]
        context_ids = [
            *self._source_ids(above, known, unknown),
            PLACE,
            *self._source_ids(below, known, unknown),
        ]
        aligned = align(before, after)
        trees, steps, source = self._trees(
            edit, aligned, lambda token: known(token) or unknown.get(token, UNKNOWN), with_after
        )
        tags, aligned_before, aligned_after = _positions(aligned)
        written = self._written_ids(after, known, unknown)
        return Example(
            before=_array(before_ids),
            context=_array(context_ids),
            unknown=tuple(unknown),
            after=written.after,
            tags=tags,
            aligned_before=aligned_before,
            aligned_after=aligned_after,
            signatures=_array(_number(signature_between(before, after, aligned)) if self.signatures else []),
            trees=trees,
            steps=steps,
            source=source,
            coined=written.coined,
            spellings=written.spellings,
            symbols=written.symbols,
        )

    def answered(self, example: Example, after: Tokens) -> Example:
        """Return an example with an `after` that an editor wrote for it. It has no trees."""
        unknown = {token: len(self.vocab) + at for at, token in enumerate(example.unknown)}
        aligned = align(self.written(example.before.tolist(), example), after)
        tags, aligned_before, aligned_after = _positions(aligned)
        written = self._written_ids(after, self.vocab.ids.get, unknown)
        return replace(
            example,
            after=written.after,
            tags=tags,
            aligned_before=aligned_before,
            aligned_after=aligned_after,
            signatures=_array([]),
            trees=None,
            steps=None,
            source=None,
            coined=written.coined,
            spellings=written.spellings,
            symbols=written.symbols,
        )

    def _known(self, edit: Edit) -> _Lookup:
        """Return the function that returns the id of a token in the vocabulary, or None."""
        ids = self.vocab.ids
        if not self.forget:
            return ids.get

        def known(token: str) -> int | None:
            identity = ids.get(token)
            if identity is None or identity < _NEVER_FORGOTTEN:
                return identity
            digest = blake2b(f"{edit.id}\0{token}".encode("utf-8", "surrogatepass"), digest_size=4).digest()
            return None if int.from_bytes(digest) < self.forget * 2**32 else identity

        return known

    def _written_ids(self, after: Tokens, known: _Lookup, unknown: Mapping[str, int]) -> _Written:
        """Return an `after` as ids and as symbols, given the ids of the unknown tokens of its source."""
        pieces = self.vocab.pieces
        if pieces is None:
            ids = [known(token) or unknown.get(token, UNKNOWN) for token in after]
            return _Written(_array([*ids, END]), (), _array([]), _array([]))
        every = dict(unknown)
        ids, symbols = [], []
        for token in after:
            identity = known(token)
            if is_other := identity is None:
                identity = every.setdefault(token, len(self.vocab) + len(every))
            ids.append(identity)
            copied = token in unknown and self.copy
            symbols += self._spelled(pieces.split(token)) if is_other and not copied else [identity]
        return _Written(
            _array([*ids, END]),
            tuple(every)[len(unknown) :],
            _array([piece for token in every for piece in (*pieces.split(token), CLOSE)]),
            _array([] if self.actions else [*symbols, END]),
        )

    def _spelled(self, pieces: Sequence[int]) -> list[int]:
        """Return the symbols of a token that is written piece by piece."""
        if not 0 < len(pieces) <= _MOST_WRITTEN:
            return [UNKNOWN]
        return [self.vocab.num_words + piece for piece in (*pieces, CLOSE)]

    def _trees(
        self, edit: Edit, alignment: Alignment, id_of: Callable[[str], int], with_after: bool
    ) -> tuple[TreePair | None, ActionSteps | None, SourceTree | None]:
        """Return the trees of an edit, its actions and its source, as far as the model needs them."""
        grammar = self.grammar
        if grammar is None:
            return None, None, None
        try:
            if with_after:
                before, after = edit_trees(edit, parsed=self.parsed)
            else:
                before, after = before_tree(edit, parsed=self.parsed), None
            source = SourceTree.of(before)
            trees = pair_of(source, after, alignment, grammar)
            steps = steps_of(grammar, source, after, id_of) if self.actions and after else None
        except UnseenError as error:
            raise NoTreeError(f"edit {edit.id} has no tree that this model can read ({error}).") from None
        return trees, steps, source

    def all(self, edits: Iterable[Edit]) -> list[Example]:
        """Return the examples of edits, in order."""
        return [self(edit) for edit in edits]

    def written(self, ids: Sequence[int], example: Example) -> Tokens:
        """Return the tokens of ids up to END; the ids are an example's `after` or `symbols`, or a model's output."""
        tokens: list[str] = []
        first, pieces = self.vocab.num_words, self.vocab.pieces
        open_pieces: list[int] = []
        for identity in ids:
            if identity == END:
                break
            if pieces is None or not first <= identity < len(self.vocab):
                tokens.append(self.token(identity, example))
            elif identity != first + CLOSE:
                open_pieces.append(identity - first)
            else:
                tokens.append(pieces.join(open_pieces))
                open_pieces = []
        return tuple(tokens)

    def token(self, identity: int, example: Example) -> str:
        """Return the token of an id."""
        size = len(self.vocab)
        return (*example.unknown, *example.coined)[identity - size] if identity >= size else self.vocab.token(identity)

    def can_write(self, example: Example) -> bool:
        """Return whether the editor has a way to write each token of `after`."""
        if len(example.symbols):
            return UNKNOWN not in example.symbols
        reach = len(self.vocab) + len(example.unknown) if self.copy else self.vocab.num_words
        return bool(((example.after != UNKNOWN) & (example.after < reach)).all())

    def _source_ids(self, tokens: Tokens, known: _Lookup, unknown: dict[str, int]) -> list[int]:
        """Return the ids of tokens; tokens outside the vocabulary are added to `unknown`."""
        size = len(self.vocab)
        ids = []
        for token in tokens:
            identity = known(token)
            if identity is None:
                identity = unknown.setdefault(token, size + len(unknown))
            ids.append(identity)
        return ids


class _Written(NamedTuple):
    """What an editor should write, as parts of an `Example`."""

    after: Ids
    coined: Tokens
    spellings: Ids
    symbols: Ids


def _positions(aligned: Alignment) -> tuple[Ids, Ids, Ids]:
    """Return the tags of an alignment's positions, and the indices of their tokens on both sides."""
    positions = aligned.positions
    return (
        _array([_TAG_IDS[position.tag] for position in positions]),
        _array([NOWHERE if place.before is None else place.before for place in positions]),
        _array([NOWHERE if place.after is None else place.after for place in positions]),
    )


def _number(signature: Signature) -> list[int]:
    """Return a hash of a signature as a list, or an empty list if edits cannot be learned from one another."""
    if not (signature.says_something and signature.is_whole):
        return []
    digest = blake2b(repr(signature.runs).encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return [int.from_bytes(digest) >> 1]


def _array(ids: list[int]) -> Ids:
    """Return ids as an array."""
    return np.array(ids, np.int32)
