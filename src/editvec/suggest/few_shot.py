"""Few-shot editing: write what demonstrations did, and rank the answers.

The vector of another edit says what to do, but an editor that is given one is overconfident. Its answer can be read
back: `before -> answer` is an edit, too, and its vector is close to those of the demonstrations when it does the same.
So answers are ranked by their probability, by the cosine of their vector to the demonstrations, and by how much of the
change of the tree they share. A name that the model does not know is taken from the demonstration that introduced it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit, Tokens, Version
from editvec.core.errors import UserError
from editvec.data.sampling import spread
from editvec.diff import Tag, align
from editvec.diff.signature import ChangedTokens, changed_tokens_between
from editvec.neural.candidate import Candidate
from editvec.neural.vocab import MARKS, UNKNOWN, read_tokens
from editvec.rules.similarity import site_of, tree_similarity
from editvec.rules.sites import Site
from editvec.syntax.parse import are_sound
from editvec.syntax.snippet import restore_answer
from editvec.syntax.spacing import Habits, habits_of

if TYPE_CHECKING:
    from editvec.neural.examples import Example
    from editvec.neural.model import EditModel

MOST_TRIED = 5
"""Where many edits are shown, as many of their vectors are written with."""
LEAST_ANSWERS = 10
"""With each vector, as many answers are there to choose from."""
MOST_COMPARED = 3
"""Where many edits are shown, the changes of as many are compared with an answer's."""
_WEIGHT, _TREE_SIMILARITY = 30.0, 1.0
"""What likeness and tree similarity weigh beside the logarithm of the probability."""
_LINE, _LINE_AS_TREES = (0.38, 1.1), (0.31, 1.2)
"""From that to the logit of being right, without tree similarity and with it: slope and offset. All of these were
fitted on edits that share their shapes (`benchmarks/imitation.py`)."""
SETTINGS = (MOST_TRIED, LEAST_ANSWERS, MOST_COMPARED, _WEIGHT, _TREE_SIMILARITY, _LINE, _LINE_AS_TREES)
"""All that decides between answers, for those who keep them."""


_WORD = re.compile(r"\w+")
_QUOTES = frozenset("\"'`")


def is_made_of(token: str, edit: Edit) -> bool:
    """Whether a literal that an edit puts in is made of what it takes away, such as a string with the words of another:
    then it says nothing about any other place."""
    if not _QUOTES & set(token):
        return False
    gone = set(edit.before.tokens).difference(edit.after.tokens)
    return not set(_WORD.findall(token)).isdisjoint(_WORD.findall(" ".join(gone)))


_T = TypeVar("_T")


def _some(values: Sequence[_T], rows: Sequence[int]) -> tuple[_T, ...]:
    return tuple(values[row] for row in rows) if values else ()


class Demonstrations(NamedTuple):
    """Some edits to do as, at least one."""

    vectors: NDArray[np.float32]
    """[edits, edit_dim]."""
    unnamed: tuple[Tokens, ...] = ()
    """For each the tokens that it puts in and that the model has no name for; empty where nobody knows."""
    sites: tuple[Site | None, ...] = ()
    """For each where it changes its tree, where it has one; empty where nobody knows."""
    afters: tuple[Version, ...] = ()
    """What each came to, for its habits; empty where nobody knows."""

    def at(self, rows: Sequence[int]) -> Demonstrations:
        """Some of them."""
        return Demonstrations(
            self.vectors[rows], _some(self.unnamed, rows), _some(self.sites, rows), _some(self.afters, rows)
        )

    def without(self, row: int) -> Demonstrations:
        """All but one."""
        return self.at([at for at in range(len(self.vectors)) if at != row])

    def named(self, row: int, tokens: Tokens) -> Tokens | None:
        """What an editor wrote with one edit's vector, with that edit's own tokens where it had no name; None where it
        cannot be told which."""
        names = self.unnamed[row] if self.unnamed else ()
        unknown = MARKS[UNKNOWN]
        number = tokens.count(unknown)
        if len(set(names)) == 1:
            names = number * names[:1]
        if len(names) != number:
            return None
        left = iter(names)
        return tuple(next(left) if token == unknown else token for token in tokens)


class FewShotAnswer(NamedTuple):
    """What an editor wrote to do as some edits did."""

    tokens: Tokens
    log_prob: float
    """Averaged over the vectors that it wrote with."""
    likeness: float | None
    """The largest cosine between its vector and one of those shown; None where it could not be read back."""
    tree_similarity: float | None = None
    """How much of its change of the tree it shares with one of those shown; None where these change none."""

    @property
    def score(self) -> float:
        """The logarithm of the chance that it is right; where it could not be read back, of its probability."""
        if self.likeness is None:
            return self.log_prob
        slope, offset = _LINE if self.tree_similarity is None else _LINE_AS_TREES
        logit = (
            slope * (self.log_prob + _WEIGHT * (self.likeness - 1) + _TREE_SIMILARITY * (self.tree_similarity or 0.0))
            + offset
        )
        return min(logit, 0.0) - math.log1p(math.exp(-abs(logit)))


class SnippetCandidate(NamedTuple):
    """A candidate as text, with the names and literals of the snippet that it is for."""

    text: str
    tokens: Tokens
    score: float


class FewShotEditor:
    """A model as a few-shot editor.

    Each editor of the model writes with the vector of each demonstration; the answers are encoded again and ranked by
    how similar they are to the demonstrations.
    """

    def __init__(self, model: EditModel) -> None:
        self.model = model

    def show(self, edits: Sequence[Edit]) -> Demonstrations:
        """Return edits as demonstrations, in their order."""
        examples = self.model.exampler.all(edits)
        unnamed, places = [], []
        for edit, example in zip(edits, examples, strict=True):
            before, after = read_tokens(edit, lowercase=self.model.config.lowercase)[:2]
            names = tuple(after[at] for at in (example.after == UNKNOWN).nonzero()[0])
            unnamed.append(() if any(is_made_of(name, edit) for name in names) else names)
            places.append(site_of(edit.language, before, after))
        afters = tuple(edit.after for edit in edits)
        return Demonstrations(self.model.encode_examples(examples), tuple(unnamed), tuple(places), afters)

    def write_like(
        self, edits: Sequence[Edit], shown: Sequence[Demonstrations], *, k: int = 5
    ) -> list[list[Candidate]]:
        """Return the `k` best candidates for each edit's before and context, by the demonstrations beside it.

        The edits' own `after` is not read.
        """
        return [
            [Candidate(each.tokens, each.score, True) for each in found[:k]]
            for found in self.answers(edits, shown, k=k)
        ]

    def answers(
        self,
        edits: Sequence[Edit],
        shown: Sequence[Demonstrations],
        *,
        k: int = 5,
        allowed_changes: Sequence[frozenset[ChangedTokens]] | None = None,
    ) -> list[list[FewShotAnswer]]:
        """Return all that `write_like` chooses from, the best first.

        Left out is an answer with a token that neither the model nor the demonstrations can name, one that does not
        parse although `before` does, and, where `allowed_changes` are given, one that makes none of them. An encoder
        that reads trees cannot read answers back: those are ranked by their probability alone.
        """
        examples = [self.model.exampler(edit, with_after=False) for edit in edits]
        pools: list[dict[Tokens, float]] = [{} for _ in edits]
        for owner, tokens, log_prob in self._pooled(edits, examples, shown, k=max(k, LEAST_ANSWERS)):
            pools[owner][tokens] = float(np.logaddexp(pools[owner].get(tokens, -np.inf), log_prob))
        for at, (edit, pool) in enumerate(zip(edits, pools, strict=True)):
            before = self._before(edit)
            answers = [
                each
                for each in pool
                if allowed_changes is None or changed_tokens_between(before, each) in allowed_changes[at]
            ]
            sound = are_sound(edit.language, " ".join(before), [" ".join(answer) for answer in answers])
            pools[at] = {answer: pool[answer] for answer, is_sound in zip(answers, sound, strict=True) if is_sound}
        alike = iter(self._likeness(examples, shown, pools))
        found = [[FewShotAnswer(tokens, log_prob, next(alike)) for tokens, log_prob in pool.items()] for pool in pools]
        return [
            sorted(self._compared(edit, each, some), key=lambda answer: -answer.score)
            for edit, each, some in zip(edits, shown, found, strict=True)
        ]

    def _compared(self, edit: Edit, shown: Demonstrations, answers: Sequence[FewShotAnswer]) -> list[FewShotAnswer]:
        """Return answers with the similarity of their tree changes to those of the demonstrations."""
        places = [site for row in spread(range(len(shown.sites)), MOST_COMPARED) if (site := shown.sites[row])]
        if not places:
            return list(answers)
        before, compared = self._before(edit), []
        for answer in answers:
            place = site_of(edit.language, before, answer.tokens)
            similarity = max(tree_similarity(place, each) for each in places) if place is not None else 0.0
            compared.append(answer._replace(tree_similarity=similarity))
        return compared

    def _before(self, edit: Edit) -> Tokens:
        return read_tokens(edit, lowercase=self.model.config.lowercase)[0]

    def _pooled(
        self, edits: Sequence[Edit], examples: Sequence[Example], shown: Sequence[Demonstrations], *, k: int
    ) -> Iterator[tuple[int, Tokens, float]]:
        """Yield what each editor wrote for each edit with each vector.

        Each item is the edit's position, the tokens, and their share of the mean log-probability.
        """
        writers: list[tuple[EditModel, Sequence[Example | None]]] = [(self.model, examples)]
        if self.model.second is not None:
            writers.append((self.model.second, [self.model.second.readable(edit) for edit in edits]))
        used = [spread(range(len(each.vectors)), MOST_TRIED) for each in shown]
        shares = [
            math.log(len(rows) * sum(read[owner] is not None for _, read in writers)) for owner, rows in enumerate(used)
        ]
        for writer, read in writers:
            asked = [
                (owner, row, example)
                for owner, example in enumerate(read)
                if example is not None
                for row in used[owner]
            ]
            if not asked:
                continue
            vectors = self.model.transfer(np.stack([shown[owner].vectors[row] for owner, row, _ in asked]))
            written = writer.write([example for *_, example in asked], vectors, k=k)
            for (owner, row, _), found in zip(asked, written, strict=True):
                for each in found:
                    tokens = each.tokens if each.complete else shown[owner].named(row, each.tokens)
                    if tokens is not None:
                        yield owner, tokens, each.score - shares[owner]

    def _likeness(
        self,
        examples: Sequence[Example],
        shown: Sequence[Demonstrations],
        pools: Sequence[Mapping[Tokens, float]],
    ) -> list[float | None]:
        """Return the cosine of each answer of each pool to its nearest demonstration; None if it cannot be read."""
        pairs = [(owner, tokens) for owner, pool in enumerate(pools) for tokens in pool]
        if self.model.network.encoder.needs_trees:
            return [None] * len(pairs)
        answered = [self.model.exampler.answered(examples[owner], tokens) for owner, tokens in pairs]
        read = self.model.encode_examples(answered)
        models = [_unit(self.model.transfer(each.vectors)) for each in shown]
        return [
            float((models[owner] @ vector).max())
            for (owner, _), vector in zip(pairs, _unit(self.model.transfer(read)), strict=True)
        ]

    def suggest(
        self,
        edits: Sequence[Edit],
        shown: Sequence[Demonstrations],
        *,
        k: int = 5,
        allowed_changes: Sequence[frozenset[ChangedTokens]] | None = None,
    ) -> list[list[SnippetCandidate]]:
        """Return the `k` best candidates for each edit's `before`, as text, by the demonstrations beside it.

        The edits' own `after` is not read. Left out is what cannot be put into the words of `before` and, where
        `allowed_changes` are given, what makes none of them.
        """
        for vectors, *_ in shown:
            if vectors.ndim != 2 or not len(vectors) or vectors.shape[1] != self.model.edit_dim:
                shape = vectors.shape[1:]
                raise UserError(
                    f"an edit vector of this model has {self.model.edit_dim} numbers, this one's shape is {shape}."
                )
        suggested = []
        for edit, each_shown, answers in zip(
            edits, shown, self.answers(edits, shown, k=k, allowed_changes=allowed_changes), strict=True
        ):
            before, habits = self._before(edit), habits_of(each_shown.afters)
            restored = [
                each
                for answer in answers
                if answer.tokens != before and (each := self._restored(edit, before, answer, habits)) is not None
            ]
            sound = are_sound(edit.language, edit.before.text, [each.text for each in restored])
            suggested.append([each for each, is_sound in zip(restored, sound, strict=True) if is_sound][:k])
        return suggested

    def changed_tokens(self, edit: Edit) -> ChangedTokens:
        """Return what an edit adds and removes, as this model reads it."""
        return changed_tokens_between(*read_tokens(edit, lowercase=self.model.config.lowercase)[:2])

    def _restored(self, edit: Edit, before: Tokens, answer: FewShotAnswer, habits: Habits) -> SnippetCandidate | None:
        """Return an answer with the edit's own names and literals; None where one is missing."""
        kept = [
            (place.before, place.after)
            for place in align(before, answer.tokens).positions
            if place.tag is Tag.EQUAL and place.before is not None and place.after is not None
        ]
        written = restore_answer(edit, answer.tokens, kept, habits)
        return None if written is None else SnippetCandidate(written.text, written.tokens, answer.score)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows of length one; zero rows stay zero."""
    lengths = np.sqrt(np.square(vectors).sum(1, keepdims=True))
    unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
    return unit
