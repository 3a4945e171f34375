"""The vocabulary: token ↔ id. Knows tokens and counts, no tensor.

The first ids are marks that are no tokens. What a model may generate starts at `FIRST_GENERATED`: the marks below it
only ever stand in what it reads. An id from `len(vocab)` up names a token outside the vocabulary by its place in the
list of those that one edit holds (`tensors.example`): it can be read and copied, not generated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from editvec.core.edit import Edit, Tokens
from editvec.core.errors import BadInputError
from editvec.core.files import write_atomically
from editvec.syntax.canonical import is_reserved

PAD, START, PLACE, UNKNOWN, END = range(5)
MARKS = ("<pad>", "<start>", "<place>", "<unknown>", "<end>")
FIRST_GENERATED = UNKNOWN


@dataclass(frozen=True, slots=True)
class Vocab:
    """The tokens that a model can generate, in the order of their ids."""

    tokens: Tokens
    ids: Mapping[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", {token: at for at, token in enumerate(self.tokens, len(MARKS))})

    def __len__(self) -> int:
        return len(MARKS) + len(self.tokens)

    def token(self, identity: int) -> str:
        """Return the token of an id below `len(self)`; marks as they are written in `MARKS`."""
        return MARKS[identity] if identity < len(MARKS) else self.tokens[identity - len(MARKS)]

    def save(self, path: Path) -> None:
        """Write it as a JSON array."""
        write_atomically(path, orjson.dumps(self.tokens, option=orjson.OPT_INDENT_2))

    @classmethod
    def load(cls, path: Path) -> Vocab:
        """Read what `save` wrote."""
        try:
            tokens = orjson.loads(path.read_bytes())
        except (orjson.JSONDecodeError, OSError) as error:
            raise BadInputError(path, None, f"not a vocabulary ({error})") from None
        if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
            raise BadInputError(path, None, "not a vocabulary: expected an array of strings")
        if len(set(tokens)) != len(tokens):
            raise BadInputError(path, None, "not a vocabulary: a token occurs twice")
        return cls(tuple(tokens))


def read_tokens(edit: Edit, *, lowercase: bool = False) -> tuple[Tokens, Tokens, Tokens, Tokens]:
    """Before, after, context before and context behind, as a model reads them."""
    forms = (edit.model_before, edit.model_after, *edit.model_context)
    if lowercase:
        before, after, above, below = (tuple(_lowered(token) for token in form) for form in forms)
        return before, after, above, below
    return forms


def _lowered(token: str) -> str:
    # VAR0 and LITERAL are no words.
    return token if is_reserved(token) else token.lower()


def count_tokens(edits: Iterable[Edit], *, lowercase: bool = False, limit: int = 2_000_000) -> Counter[str]:
    """Return how often each token occurs in edits and their contexts.

    When there are more than `limit` different ones, the rarest so far are forgotten, so that memory does not grow with
    the edits; of frequent tokens, that takes at most a few from the count.
    """
    counts: Counter[str] = Counter()
    for edit in edits:
        for form in read_tokens(edit, lowercase=lowercase):
            counts.update(form)
        if len(counts) > limit:
            counts = _without_rarest(counts, limit // 2)
    return counts


def _without_rarest(counts: Counter[str], size: int) -> Counter[str]:
    rare = 0
    while len(counts) > size:
        rare += 1
        counts = Counter({token: count for token, count in counts.items() if count > rare})
    return counts


def build(counts: Mapping[str, int], *, size: int, min_count: int) -> Vocab:
    """Return the most frequent tokens; of equally frequent ones the first in the alphabet, so that it never varies."""
    known = sorted((token for token, count in counts.items() if count >= min_count), key=lambda t: (-counts[t], t))
    return Vocab(tuple(known[:size]))
