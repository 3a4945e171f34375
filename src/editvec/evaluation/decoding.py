"""A model over a file of edits: each edit's own vector, the editor's answers to it, and whether they are right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from editvec.core.edit import Edit
from editvec.data.digests import TrainingDigests
from editvec.evaluation import metrics
from editvec.evaluation.metrics import Estimate
from editvec.neural.batch import by_length
from editvec.neural.candidate import Candidate
from editvec.neural.examples import Example, NoTreeError, TooLongError
from editvec.neural.model import EditModel
from editvec.neural.vocab import UNKNOWN, read_tokens

_WINDOW = 2048
_EDITS, _TOKENS = 64, 8192


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model made of one edit."""

    edit: Edit
    candidates: tuple[Candidate, ...]
    rank: int | None
    """The place of the true `after` among the candidates, from 1."""
    pruned_rank: int | None
    """The same as the original code counts (`metrics.pruned`)."""
    log_prob: float
    """Of the true `after`."""
    num_tokens: int
    seen: bool
    """Whether the edit is, token by token, in the training set."""
    writable: bool
    """Whether each token of `after` is in the vocabulary, before or context: where not, nobody could be right."""

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        return {
            "id": self.edit.id,
            "rank": self.rank,
            "pruned_rank": self.pruned_rank,
            "log_prob": self.log_prob,
            "num_tokens": self.num_tokens,
            "seen": self.seen,
            "writable": self.writable,
            "before": self.edit.model_before,
            "after": self.edit.model_after,
            "candidates": [{"tokens": found.tokens, "score": found.score} for found in self.candidates],
        }


@dataclass(slots=True)
class Scores:
    """The answers to some edits, in numbers."""

    ranks: list[int | None] = field(default_factory=list)
    pruned_ranks: list[int | None] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    num_tokens: list[int] = field(default_factory=list)
    writable: int = 0

    def add(self, answer: Answer) -> None:
        """Counts one more."""
        self.ranks.append(answer.rank)
        self.pruned_ranks.append(answer.pruned_rank)
        self.log_probs.append(answer.log_prob)
        self.num_tokens.append(answer.num_tokens)
        self.writable += answer.writable

    @property
    def accuracy(self) -> Estimate:
        """The share of edits whose best candidate is right, token by token."""
        return metrics.mean(metrics.hits(self.ranks, 1))

    def recall(self, k: int) -> Estimate:
        """The share of edits with the right one among the k best."""
        return metrics.mean(metrics.hits(self.ranks, k))

    @property
    def pruned_accuracy(self) -> Estimate:
        """The accuracy as the original code counts it, on trees without operators, predefined types and modifiers."""
        return metrics.mean(metrics.hits(self.pruned_ranks, 1))

    def pruned_recall(self, k: int) -> Estimate:
        """The recall as the original code counts it."""
        return metrics.mean(metrics.hits(self.pruned_ranks, k))

    @property
    def perplexity(self) -> float:
        """A token, as the paper defines it."""
        return metrics.perplexity(self.log_probs, self.num_tokens)

    @property
    def ceiling(self) -> float:
        """The share of edits that can be written at all with this vocabulary."""
        return self.writable / len(self.ranks) if self.ranks else float("nan")

    def as_json(self, k: int, *, pruned: bool = False) -> dict[str, Any]:
        """For machines; with `pruned`, also as the original code counts."""
        found: dict[str, Any] = {
            "edits": len(self.ranks),
            "accuracy": self.accuracy._asdict(),
            f"recall@{k}": self.recall(k)._asdict(),
            "perplexity": self.perplexity,
            "ceiling": self.ceiling,
        }
        if pruned:
            found["pruned_accuracy"] = self.pruned_accuracy._asdict()
            found[f"pruned_recall@{k}"] = self.pruned_recall(k)._asdict()
        return found


@dataclass(slots=True)
class EvaluationReport:
    """Scores on all edits and on those that the model was not trained on."""

    all: Scores = field(default_factory=Scores)
    unseen: Scores = field(default_factory=Scores)
    too_long: int = 0
    no_tree: int = 0
    knows_seen: bool = False
    """Whether the model's folder says what it was trained on; if not, `unseen` says nothing."""

    def as_json(self, k: int, *, pruned: bool = False) -> dict[str, Any]:
        """Return it as JSON values, with the recall among `k` candidates."""
        return {
            "all": self.all.as_json(k, pruned=pruned),
            "unseen": self.unseen.as_json(k, pruned=pruned) if self.knows_seen else None,
            "too_long": self.too_long,
            "no_tree": self.no_tree,
        }

    def miss(self, *, seen: bool) -> None:
        """Counts an edit whose tree the model's grammar does not know: it cannot be right, and has no perplexity."""
        self.no_tree += 1
        for scores in (self.all,) if seen else (self.all, self.unseen):
            scores.ranks.append(None)
            scores.pruned_ranks.append(None)

    def add(self, answer: Answer) -> None:
        """Counts one more."""
        self.all.add(answer)
        if not answer.seen:
            self.unseen.add(answer)


def answer_all(
    model: EditModel,
    edits: Iterable[Edit],
    report: EvaluationReport,
    *,
    k: int = 5,
    seen: TrainingDigests | None = None,
) -> Iterator[Answer]:
    """The answers to edits, in their order, counted in the report as they come; edits longer than the model reads, or
    without a tree that it knows, are counted as such."""
    edits = iter(edits)
    while window := list(islice(edits, _WINDOW)):
        pairs = []
        for edit in window:
            try:
                pairs.append((edit, model.exampler(edit)))
            except TooLongError:
                report.too_long += 1
            except NoTreeError:
                report.miss(seen=seen is not None and edit in seen)
        examples = [example for _, example in pairs]
        log_probs = _log_probs(model, examples)
        candidates = model.write(examples, model.encode_examples(examples), k=k)
        for (edit, example), log_prob, found in zip(pairs, log_probs, candidates, strict=True):
            answer = _answer(model, edit, example, log_prob, found, seen)
            report.add(answer)
            yield answer


def _answer(
    model: EditModel,
    edit: Edit,
    example: Example,
    log_prob: float,
    found: list[Candidate],
    seen: TrainingDigests | None,
) -> Answer:
    # What the model reads is what it can be asked to write: lower-cased where it lower-cases. A token that it could
    # not name is wrong whatever the true one is.
    truth = read_tokens(edit, lowercase=model.config.lowercase)[1]
    written = [candidate.tokens for candidate in found]
    reach = example.after < len(model.vocab) if not model.config.copy else True
    writable = bool(((example.after != UNKNOWN) & reach).all())
    return Answer(
        edit=edit,
        candidates=tuple(found),
        rank=metrics.rank_of(truth, written),
        pruned_rank=metrics.pruned_rank(truth, written),
        log_prob=log_prob,
        num_tokens=len(truth),
        seen=seen is not None and edit in seen,
        writable=writable,
    )


def _log_probs(model: EditModel, examples: Sequence[Example]) -> list[float]:
    """The log-probability of each true `after`, given its edit's vector."""
    answers = np.empty(len(examples))
    for places in by_length(examples, _EDITS, _TOKENS):
        answers[places] = model.network(model.collate([examples[place] for place in places]))
    return [float(value) for value in answers]
