"""The vocabulary: a mapping between tokens and ids. It knows tokens and counts, but no arrays.

The first ids are marks, which are not tokens. A model can generate ids from `FIRST_GENERATED` on; the marks below occur
only in what it reads. After the tokens come the pieces, if the vocabulary has any: of these, a model puts tokens
together that are outside the vocabulary. An id from `len(vocab)` on is a token outside the vocabulary: its position in
the list of such tokens of one edit (see `neural.examples`). Such a token can be read and copied; without pieces, it
cannot be generated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from editvec.core.edit import Edit, Tokens
from editvec.core.errors import BadInputError
from editvec.core.files import write_atomically
from editvec.neural.pieces import Pieces, learn_pieces
from editvec.syntax.canonical import is_reserved

PAD, START, PLACE, UNKNOWN, END = range(5)
MARKS = ("<pad>", "<start>", "<place>", "<unknown>", "<end>")
FIRST_GENERATED = UNKNOWN


class VocabSizes(NamedTuple):
    """The sizes of a vocabulary. Words are marks and tokens."""

    words: int
    pieces: int = 0


@dataclass(frozen=True, slots=True)
class Vocab:
    """The tokens that a model can generate, in the order of their ids, and its pieces of other tokens."""

    tokens: Tokens
    pieces: Pieces | None = None
    ids: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", {token: at for at, token in enumerate(self.tokens, len(MARKS))})

    def __len__(self) -> int:
        return sum(self.sizes)

    @property
    def num_words(self) -> int:
        """Return the number of marks and tokens, which is also the id of the first piece."""
        return len(MARKS) + len(self.tokens)

    @property
    def sizes(self) -> VocabSizes:
        """Return the numbers of words and of pieces."""
        return VocabSizes(self.num_words, 0 if self.pieces is None else len(self.pieces))

    def token(self, identity: int) -> str:
        """Return the token of an id below `num_words`; marks are returned as in `MARKS`."""
        return MARKS[identity] if identity < len(MARKS) else self.tokens[identity - len(MARKS)]

    def save(self, path: Path) -> None:
        """Write the vocabulary as JSON: an array of tokens, or an object with the tokens and the learned pieces."""
        found = self.tokens if self.pieces is None else {"tokens": self.tokens, "pieces": self.pieces.learned}
        write_atomically(path, orjson.dumps(found, option=orjson.OPT_INDENT_2))

    @classmethod
    def load(cls, path: Path) -> Vocab:
        """Return the vocabulary that `save` wrote.

        Raises:
            BadInputError: The file does not exist or is not a vocabulary.
        """
        try:
            found = orjson.loads(path.read_bytes())
        except (orjson.JSONDecodeError, OSError) as error:
            raise BadInputError(path, None, f"not a vocabulary ({error}). Copy the file again.") from None
        parts: list[Any] = [found] if not isinstance(found, dict) else [found.get("tokens"), found.get("pieces")]
        for part in parts:
            if not isinstance(part, list) or not all(isinstance(text, str) for text in part):
                raise BadInputError(path, None, "not a vocabulary: expected arrays of strings. Copy the file again.")
            if len(set(part)) != len(part):
                raise BadInputError(path, None, "not a vocabulary: a token occurs twice. Copy the file again.")
        return cls(tuple(parts[0]), Pieces(tuple(parts[1])) if len(parts) > 1 else None)


def read_tokens(edit: Edit, *, lowercase: bool = False) -> tuple[Tokens, Tokens, Tokens, Tokens]:
    """Return the tokens of before, after, the context before and the context behind, as a model reads them."""
    forms = (edit.model_before, edit.model_after, *edit.model_context)
    if lowercase:
        before, after, above, below = (tuple(_lowered(token) for token in form) for form in forms)
        return before, after, above, below
    return forms


def _lowered(token: str) -> str:
    """Return a token in lower case, except for reserved names."""
    # Reserved names such as VAR0 and LITERAL keep their case.
    return token if is_reserved(token) else token.lower()


def count_tokens(edits: Iterable[Edit], *, lowercase: bool = False, limit: int = 2_000_000) -> Counter[str]:
    """Return how often each token occurs in edits and their contexts.

    If there are more than `limit` distinct tokens, the rarest tokens so far are dropped, so that memory does not grow
    with the number of edits. The counts of frequent tokens can then be too low by a few.
    """
    counts: Counter[str] = Counter()
    for edit in edits:
        for form in read_tokens(edit, lowercase=lowercase):
            counts.update(form)
        if len(counts) > limit:
            counts = _without_rarest(counts, limit // 2)
    return counts


def _without_rarest(counts: Counter[str], size: int) -> Counter[str]:
    """Return at most `size` counts, without the lowest ones."""
    rare = 0
    while len(counts) > size:
        rare += 1
        counts = Counter({token: count for token, count in counts.items() if count > rare})
    return counts


def build(counts: Mapping[str, int], *, size: int, min_count: int, num_pieces: int = 0) -> Vocab:
    """Return the vocabulary of the most frequent tokens, with at most `num_pieces` pieces learned from the others.

    With 0, there are no pieces. Equally frequent tokens are in alphabetical order, so the result is deterministic.
    """
    known = sorted((token for token, count in counts.items() if count >= min_count), key=lambda t: (-counts[t], t))
    if not num_pieces:
        return Vocab(tuple(known[:size]))
    others = counts.keys() - set(known[:size])
    return Vocab(tuple(known[:size]), learn_pieces(others, num_pieces))
