"""Decode edits with a model: for each edit its own vector, the editor's candidates and whether they are right."""

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
from editvec.neural.vocab import read_tokens

_WINDOW = 2048
_EDITS, _TOKENS = 64, 8192


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a model for one edit."""

    edit: Edit
    candidates: tuple[Candidate, ...]
    rank: int | None
    """The rank of the true `after` among the candidates, counted from 1; None if it is not among them."""
    pruned_rank: int | None
    """The rank as the paper's original code counts it (`metrics.pruned`)."""
    log_prob: float
    """The log-probability of the true `after`."""
    num_tokens: int
    seen: bool
    """Whether the training set contains the edit, compared token by token."""
    writable: bool
    """Whether each token of `after` can be generated or copied; if not, no candidate can be right."""

    def as_json(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
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
    """The scores of the answers to a set of edits."""

    ranks: list[int | None] = field(default_factory=list)
    pruned_ranks: list[int | None] = field(default_factory=list)
    log_probs: list[float] = field(default_factory=list)
    num_tokens: list[int] = field(default_factory=list)
    writable: int = 0

    def add(self, answer: Answer) -> None:
        """Add one answer."""
        self.ranks.append(answer.rank)
        self.pruned_ranks.append(answer.pruned_rank)
        self.log_probs.append(answer.log_prob)
        self.num_tokens.append(answer.num_tokens)
        self.writable += answer.writable

    @property
    def accuracy(self) -> Estimate:
        """Return the share of edits whose best candidate is right, compared token by token."""
        return metrics.mean(metrics.hits(self.ranks, 1))

    def recall(self, k: int) -> Estimate:
        """Return the share of edits with the true `after` among the k best candidates."""
        return metrics.mean(metrics.hits(self.ranks, k))

    @property
    def pruned_accuracy(self) -> Estimate:
        """Return the accuracy as the original code counts it; see `metrics.pruned`."""
        return metrics.mean(metrics.hits(self.pruned_ranks, 1))

    def pruned_recall(self, k: int) -> Estimate:
        """Return the recall as the original code counts it; see `metrics.pruned`."""
        return metrics.mean(metrics.hits(self.pruned_ranks, k))

    @property
    def perplexity(self) -> float:
        """Return the perplexity per token, as the paper defines it."""
        return metrics.perplexity(self.log_probs, self.num_tokens)

    @property
    def ceiling(self) -> float:
        """Return the share of edits that can be written with this vocabulary."""
        return self.writable / len(self.ranks) if self.ranks else float("nan")

    def as_json(self, k: int, *, pruned: bool = False) -> dict[str, Any]:
        """Return the scores as JSON values; with `pruned`, also those of the original code."""
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
    """The scores on all edits, and on those that the model was not trained on."""

    all: Scores = field(default_factory=Scores)
    unseen: Scores = field(default_factory=Scores)
    too_long: int = 0
    no_tree: int = 0
    knows_seen: bool = False
    """Whether the model's folder has digests of the training set; without them, `unseen` has no meaning."""

    def as_json(self, k: int, *, pruned: bool = False) -> dict[str, Any]:
        """Return the report as JSON values, with the recall among `k` candidates."""
        return {
            "all": self.all.as_json(k, pruned=pruned),
            "unseen": self.unseen.as_json(k, pruned=pruned) if self.knows_seen else None,
            "too_long": self.too_long,
            "no_tree": self.no_tree,
        }

    def miss(self, *, seen: bool) -> None:
        """Count an edit whose tree the model's grammar does not know as wrong; it has no perplexity."""
        self.no_tree += 1
        for scores in (self.all,) if seen else (self.all, self.unseen):
            scores.ranks.append(None)
            scores.pruned_ranks.append(None)

    def add(self, answer: Answer) -> None:
        """Add one answer."""
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
    """Yield the answers to edits, in their order, and add each to the report.

    Edits that are longer than the model reads, or without a tree that it knows, have no answer; the report counts them.
    """
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
    # The answer is compared with the tokens as the model reads them, so it is lower-cased if the model lower-cases. A
    # token that the model cannot write counts as wrong, whatever the true token is.
    truth = read_tokens(edit, lowercase=model.config.lowercase)[1]
    written = [candidate.tokens for candidate in found]
    return Answer(
        edit=edit,
        candidates=tuple(found),
        rank=metrics.rank_of(truth, written),
        pruned_rank=metrics.pruned_rank(truth, written),
        log_prob=log_prob,
        num_tokens=len(truth),
        seen=seen is not None and edit in seen,
        writable=model.exampler.can_write(example),
    )


def _log_probs(model: EditModel, examples: Sequence[Example]) -> list[float]:
    """Return the log-probability of each true `after`, given its edit's vector: [examples]."""
    answers = np.empty(len(examples))
    for places in by_length(examples, _EDITS, _TOKENS):
        answers[places] = model.network(model.collate([examples[place] for place in places]))
    return [float(value) for value in answers]
