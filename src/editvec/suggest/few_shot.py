"""Few-shot editing: do what demonstrations did, and rank the answers.

The vector of another edit tells an editor what to do, but an editor that is given one is overconfident. Its answer can
be read back: `before -> answer` is an edit, too, and its vector is close to those of the demonstrations if it does the
same. Answers are therefore ranked by their probability, by the cosine of their vector with the demonstrations, and by
their tree similarity to the demonstrations. A name that the model does not know is taken from the demonstration that
introduced it.
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
"""Maximum number of demonstrations whose vectors the editors write with."""
LEAST_ANSWERS = 10
"""Minimum number of answers that an editor writes with each vector."""
MOST_COMPARED = 3
"""Maximum number of demonstrations whose tree changes are compared with that of an answer."""
_WEIGHT, _TREE_SIMILARITY = 30.0, 1.0
"""Weights of the cosine and of the tree similarity beside the log-probability."""
_LINE, _LINE_AS_TREES = (0.38, 1.1), (0.31, 1.2)
"""Slope and offset from the weighted sum to the logit of being right, without and with tree similarity.

All of these constants were fitted on edits that share their signatures (`benchmarks/reranking.py`).
"""
SETTINGS = (MOST_TRIED, LEAST_ANSWERS, MOST_COMPARED, _WEIGHT, _TREE_SIMILARITY, _LINE, _LINE_AS_TREES)
"""All constants that decide between answers, for callers that store answers."""


_WORD = re.compile(r"\w+")
_QUOTES = frozenset("\"'`")


def is_made_of(token: str, edit: Edit) -> bool:
    """Return whether a literal that an edit inserts is made from text that the edit removes.

    An example is a string that repeats the words of a removed one. Such a literal says nothing about other places.
    """
    if not _QUOTES & set(token):
        return False
    gone = set(edit.before.tokens).difference(edit.after.tokens)
    return not set(_WORD.findall(token)).isdisjoint(_WORD.findall(" ".join(gone)))


_T = TypeVar("_T")


def _some(values: Sequence[_T], rows: Sequence[int]) -> tuple[_T, ...]:
    return tuple(values[row] for row in rows) if values else ()


class Demonstrations(NamedTuple):
    """The edits whose change is to be repeated; there is at least one."""

    vectors: NDArray[np.float32]
    """Edit vectors, [edits, edit_dim]."""
    unnamed: tuple[Tokens, ...] = ()
    """For each edit, the inserted tokens that the model has no name for; empty if unknown."""
    sites: tuple[Site | None, ...] = ()
    """For each edit, the site of its change in the tree, or None; empty if unknown."""
    afters: tuple[Version, ...] = ()
    """For each edit, its version after, which shows its spacing habits; empty if unknown."""

    def at(self, rows: Sequence[int]) -> Demonstrations:
        """Return the demonstrations in the given rows."""
        return Demonstrations(
            self.vectors[rows], _some(self.unnamed, rows), _some(self.sites, rows), _some(self.afters, rows)
        )

    def without(self, row: int) -> Demonstrations:
        """Return all demonstrations but the one in the given row."""
        return self.at([at for at in range(len(self.vectors)) if at != row])

    def named(self, row: int, tokens: Tokens) -> Tokens | None:
        """Return an editor's tokens, with the unknown ones replaced by the names of a demonstration.

        `tokens` were written with the vector of the demonstration in the given row. Return None if it is unclear which
        name belongs where.
        """
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
    """An answer that an editor wrote to do what demonstrations did."""

    tokens: Tokens
    log_prob: float
    """Logarithm of the probability, averaged over the vectors that the editors wrote with."""
    likeness: float | None
    """Largest cosine of its vector with a demonstration's; None if it could not be read back."""
    tree_similarity: float | None = None
    """Largest tree similarity to a demonstration; None if no demonstration has a site in its tree."""

    @property
    def score(self) -> float:
        """Return the logarithm of the estimated probability that the answer is right.

        If the answer could not be read back, return its log-probability instead.
        """
        if self.likeness is None:
            return self.log_prob
        slope, offset = _LINE if self.tree_similarity is None else _LINE_AS_TREES
        logit = (
            slope * (self.log_prob + _WEIGHT * (self.likeness - 1) + _TREE_SIMILARITY * (self.tree_similarity or 0.0))
            + offset
        )
        return min(logit, 0.0) - math.log1p(math.exp(-abs(logit)))


class SnippetCandidate(NamedTuple):
    """A candidate as text, with the names and literals of the snippet for which it was written."""

    text: str
    tokens: Tokens
    score: float


class FewShotEditor:
    """A model as a few-shot editor.

    Each editor of the model writes with the vector of each demonstration. The answers are encoded again and ranked by
    how similar they are to the demonstrations.
    """

    def __init__(self, model: EditModel) -> None:
        self.model = model

    def show(self, edits: Sequence[Edit]) -> Demonstrations:
        """Return edits as demonstrations, in the same order."""
        examples = self.model.exampler.all(edits)
        unnamed, sites = [], []
        for edit, example in zip(edits, examples, strict=True):
            before, after = read_tokens(edit, lowercase=self.model.config.lowercase)[:2]
            names = tuple(after[at] for at in (example.after == UNKNOWN).nonzero()[0])
            unnamed.append(() if any(is_made_of(name, edit) for name in names) else names)
            sites.append(site_of(edit.language, before, after))
        afters = tuple(edit.after for edit in edits)
        return Demonstrations(self.model.encode_examples(examples), tuple(unnamed), tuple(sites), afters)

    def write_like(
        self, edits: Sequence[Edit], demonstrations: Sequence[Demonstrations], *, k: int = 5
    ) -> list[list[Candidate]]:
        """Return the `k` best candidates for each edit, given the demonstrations beside it.

        Only the before and the context of the edits are read, not their `after`.
        """
        return [
            [Candidate(each.tokens, each.score, True) for each in found[:k]]
            for found in self.answers(edits, demonstrations, k=k)
        ]

    def answers(
        self,
        edits: Sequence[Edit],
        demonstrations: Sequence[Demonstrations],
        *,
        k: int = 5,
        allowed_changes: Sequence[frozenset[ChangedTokens]] | None = None,
    ) -> list[list[FewShotAnswer]]:
        """Return all answers that `write_like` chooses from, the best first.

        An answer is left out if it has a token that neither the model nor the demonstrations can name, if it does not
        parse although `before` does, or if it makes none of the `allowed_changes`, where these are given. An encoder
        that reads trees cannot read answers back; its answers are ranked by their probability alone.
        """
        examples = [self.model.exampler(edit, with_after=False) for edit in edits]
        pools: list[dict[Tokens, float]] = [{} for _ in edits]
        for owner, tokens, log_prob in self._pooled(edits, examples, demonstrations, k=max(k, LEAST_ANSWERS)):
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
        alike = iter(self._likeness(examples, demonstrations, pools))
        found = [[FewShotAnswer(tokens, log_prob, next(alike)) for tokens, log_prob in pool.items()] for pool in pools]
        return [
            sorted(self._compared(edit, each, some), key=lambda answer: -answer.score)
            for edit, each, some in zip(edits, demonstrations, found, strict=True)
        ]

    def _compared(
        self, edit: Edit, demonstrations: Demonstrations, answers: Sequence[FewShotAnswer]
    ) -> list[FewShotAnswer]:
        """Return answers with the similarity of their tree changes to those of the demonstrations."""
        sites = [
            site
            for row in spread(range(len(demonstrations.sites)), MOST_COMPARED)
            if (site := demonstrations.sites[row])
        ]
        if not sites:
            return list(answers)
        before, compared = self._before(edit), []
        for answer in answers:
            changed = site_of(edit.language, before, answer.tokens)
            similarity = max(tree_similarity(changed, each) for each in sites) if changed is not None else 0.0
            compared.append(answer._replace(tree_similarity=similarity))
        return compared

    def _before(self, edit: Edit) -> Tokens:
        return read_tokens(edit, lowercase=self.model.config.lowercase)[0]

    def _pooled(
        self, edits: Sequence[Edit], examples: Sequence[Example], demonstrations: Sequence[Demonstrations], *, k: int
    ) -> Iterator[tuple[int, Tokens, float]]:
        """Yield what each editor wrote for each edit with each vector.

        Each item is the position of the edit, the tokens, and the logarithm of their share in the mean probability.
        """
        writers: list[tuple[EditModel, Sequence[Example | None]]] = [(self.model, examples)]
        if self.model.second is not None:
            writers.append((self.model.second, [self.model.second.readable(edit) for edit in edits]))
        used = [spread(range(len(each.vectors)), MOST_TRIED) for each in demonstrations]
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
            vectors = self.model.transfer(np.stack([demonstrations[owner].vectors[row] for owner, row, _ in asked]))
            written = writer.write([example for *_, example in asked], vectors, k=k)
            for (owner, row, _), found in zip(asked, written, strict=True):
                for each in found:
                    tokens = each.tokens if each.complete else demonstrations[owner].named(row, each.tokens)
                    if tokens is not None:
                        yield owner, tokens, each.score - shares[owner]

    def _likeness(
        self,
        examples: Sequence[Example],
        demonstrations: Sequence[Demonstrations],
        pools: Sequence[Mapping[Tokens, float]],
    ) -> list[float | None]:
        """Return the largest cosine of each answer in the pools with a demonstration.

        The cosine is None if the encoder reads trees, because then answers cannot be read back.
        """
        pairs = [(owner, tokens) for owner, pool in enumerate(pools) for tokens in pool]
        if self.model.network.encoder.needs_trees:
            return [None] * len(pairs)
        answered = [self.model.exampler.answered(examples[owner], tokens) for owner, tokens in pairs]
        read = self.model.encode_examples(answered)
        models = [_unit(self.model.transfer(each.vectors)) for each in demonstrations]
        return [
            float((models[owner] @ vector).max())
            for (owner, _), vector in zip(pairs, _unit(self.model.transfer(read)), strict=True)
        ]

    def suggest(
        self,
        edits: Sequence[Edit],
        demonstrations: Sequence[Demonstrations],
        *,
        k: int = 5,
        allowed_changes: Sequence[frozenset[ChangedTokens]] | None = None,
    ) -> list[list[SnippetCandidate]]:
        """Return the `k` best candidates for each edit as texts, given the demonstrations beside it.

        Only the before and the context of the edits are read, not their `after`. A candidate is left out if it cannot
        be written with the names of `before`, or if it makes none of the `allowed_changes`, where these are given.

        Raises:
            UserError: The edit vectors do not have the shape that the model needs.
        """
        for vectors, *_ in demonstrations:
            if vectors.ndim != 2 or not len(vectors) or vectors.shape[1] != self.model.edit_dim:
                shape = vectors.shape[1:]
                raise UserError(
                    f"an edit vector of this model has {self.model.edit_dim} numbers, but the shape of this one is "
                    f"{shape}. Use a vector of this model."
                )
        suggested = []
        for edit, each_shown, answers in zip(
            edits,
            demonstrations,
            self.answers(edits, demonstrations, k=k, allowed_changes=allowed_changes),
            strict=True,
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
        """Return the tokens that an edit adds and removes, as this model reads them."""
        return changed_tokens_between(*read_tokens(edit, lowercase=self.model.config.lowercase)[:2])

    def _restored(self, edit: Edit, before: Tokens, answer: FewShotAnswer, habits: Habits) -> SnippetCandidate | None:
        """Return an answer with the edit's own names and literals; None if one of them is missing."""
        kept = [
            (position.before, position.after)
            for position in align(before, answer.tokens).positions
            if position.tag is Tag.EQUAL and position.before is not None and position.after is not None
        ]
        written = restore_answer(edit, answer.tokens, kept, habits)
        return None if written is None else SnippetCandidate(written.text, written.tokens, answer.score)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return rows of length one; zero rows stay zero."""
    lengths = np.sqrt(np.square(vectors).sum(1, keepdims=True))
    unit: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
    return unit
