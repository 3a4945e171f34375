"""One-shot transfer: apply the vector of a seed edit to other edits with the same label, and score the answers.

A plan is a list of pairs (seed, target). The editor gets the vector of the seed, and the `before` and context of the
target. A pair of an edit with itself is the upper bound ("gold"). There are two protocols, whose results cannot be
compared:

- `iclr19`, the paper's: 10 random seeds per label are each applied to all edits of the label, the seed included. Only
  the best seed of a label counts. The score is the mean over labels.
- `all-pairs`: every edit is the seed of every other edit of its label, itself excluded; the number of pairs per label
  can be limited, then they are chosen at random. All pairs count. The scores are the means over pairs and over labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.data import edit_files
from editvec.data.labels import label_of
from editvec.data.progress import Stages, silent
from editvec.data.splits import token_hash
from editvec.evaluation import metrics
from editvec.evaluation.journal import PairJournal
from editvec.evaluation.metrics import Estimate
from editvec.neural.examples import Example, NoTreeError, TooLongError
from editvec.neural.model import EditModel
from editvec.neural.vocab import read_tokens
from editvec.suggest.few_shot import SETTINGS, FewShotEditor
from editvec.vectors.vectorisers import Trained

Ranks = NDArray[np.int64]
NEVER = 0
"""The rank of an answer that is not among the candidates."""
_CHUNK = 512
_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class TransferPlan:
    """The pairs of seed and target, as indices into the edits."""

    protocol: str
    labels: tuple[str, ...]
    """The labels of the edits."""
    seeds: NDArray[np.int64]
    targets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.seeds)


def plan(
    labels: Sequence[str],
    protocol: str,
    *,
    num_seeds: int = 10,
    max_pairs: int | None = None,
    alike: bool = False,
    seed: int = 0,
) -> TransferPlan:
    """Return the pairs of a protocol, the gold ones first.

    `num_seeds` is for `iclr19`; `max_pairs` is the maximum per label for `all-pairs`. `alike` says that all vectors are
    equal (no encoder); then `iclr19` needs only one seed per label.
    """
    seeds, targets = list(range(len(labels))), list(range(len(labels)))
    known = np.array(labels)
    for number, label in enumerate(sorted(set(labels))):
        chance = np.random.default_rng([seed, number])
        members = np.flatnonzero(known == label)
        if protocol == "iclr19":
            chosen = np.sort(chance.choice(members, 1 if alike else min(num_seeds, len(members)), replace=False))
            pairs = [(one, other) for one in chosen for other in members]
        else:
            pairs = _other_pairs(members, max_pairs, chance)
        seeds += [int(one) for one, _ in pairs]
        targets += [int(other) for _, other in pairs]
    return TransferPlan(protocol, tuple(labels), np.array(seeds, np.int64), np.array(targets, np.int64))


def _other_pairs(
    members: NDArray[np.int64], most: int | None, chance: np.random.Generator
) -> list[tuple[np.int64, np.int64]]:
    size = len(members)
    total = size * (size - 1)
    numbers = np.arange(total)
    if most is not None and most < total:
        numbers = np.sort(chance.choice(total, most, replace=False))
    # Pair n is cell n of the square table of members without its diagonal.
    ones, others = numbers // max(1, size - 1), numbers % max(1, size - 1)
    others = others + (others >= ones)
    return list(zip(members[ones], members[others], strict=True))


def answer_pairs(
    model: EditModel,
    edits: Sequence[Edit],
    made: TransferPlan,
    *,
    k: int = 5,
    plain: bool = False,
    journal: PairJournal | None = None,
    watch: Callable[[int, int, int], None] = lambda done, total, right: None,
) -> Ranks:
    """Return for each pair the rank of the target's true `after` among the `k` best answers, or NEVER: [pairs].

    Each vector is computed once, and pairs that the journal has are not computed again. The rank is NEVER if the model
    cannot read the seed or the target. With `plain`, answers are ranked by the editor's probability alone, as in the
    paper; otherwise they are encoded again, and those most similar to the seed come first (`FewShotEditor.write_like`).
    """
    examples = [_example(model, edit) for edit in edits]
    readable = [place for place, example in enumerate(examples) if example is not None]
    demonstrations = FewShotEditor(model).show([edits[place] for place in readable])
    rows = {place: row for row, place in enumerate(readable)}
    truths = [read_tokens(edit, lowercase=model.config.lowercase)[1] for edit in edits]
    ranks = np.zeros(len(made), np.int64)
    done = 0
    if journal is not None:
        found = journal.load(len(made))
        ranks[: len(found)], done = found, len(found)
    while done < len(made):
        here = np.arange(done, min(done + _CHUNK, len(made)))
        for is_gold in (True, False):
            asked = [pair for pair in here if (made.seeds[pair] == made.targets[pair]) == is_gold]
            asked = [pair for pair in asked if examples[made.seeds[pair]] and examples[made.targets[pair]]]
            seeds = [rows[made.seeds[pair]] for pair in asked]
            if is_gold or plain:
                sources = [example for pair in asked if (example := examples[made.targets[pair]]) is not None]
                vectors = demonstrations.vectors[seeds]
                answers = model.write(sources, vectors if is_gold else model.transfer(vectors), k=k)
            else:
                targets = [edits[made.targets[pair]] for pair in asked]
                answers = FewShotEditor(model).write_like(targets, [demonstrations.at([seed]) for seed in seeds], k=k)
            for pair, candidates in zip(asked, answers, strict=True):
                wanted = truths[made.targets[pair]]
                ranks[pair] = metrics.rank_of(wanted, [each.tokens for each in candidates]) or NEVER
        done += len(here)
        if journal is not None:
            journal.add(ranks[here])
        watch(done, len(made), int((ranks[:done] == 1).sum()))
    return ranks


def _example(model: EditModel, edit: Edit) -> Example | None:
    try:
        return model.exampler(edit)
    except (TooLongError, NoTreeError):
        return None


@dataclass(frozen=True, slots=True)
class Score:
    """How often the first answer was right, and how often one of the k answers was."""

    accuracy: Estimate
    recall: Estimate

    def as_json(self) -> dict[str, Any]:
        """Return the score as JSON values."""
        return {"accuracy": self.accuracy._asdict(), "recall": self.recall._asdict()}


@dataclass(frozen=True, slots=True)
class LabelScore:
    """One label: its numbers of edits and pairs, its score, and the score with the edits' own vectors."""

    label: str
    edits: int
    pairs: int
    score: Score
    gold: Score
    best_seed: int | None
    """The index of the seed edit with the best score (`iclr19`)."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a protocol."""

    protocol: str
    labels: tuple[LabelScore, ...]
    macro: Score
    micro: Score | None
    """The score over all pairs; None for `iclr19`, which has no such score."""
    gold: Score

    def as_json(self) -> dict[str, Any]:
        """Return the summary as JSON values."""
        return {
            "protocol": self.protocol,
            "macro": self.macro.as_json(),
            "micro": self.micro.as_json() if self.micro else None,
            "gold": self.gold.as_json(),
            "labels": [
                {
                    "label": each.label,
                    "edits": each.edits,
                    "pairs": each.pairs,
                    "best_seed": each.best_seed,
                    **each.score.as_json(),
                    "gold": each.gold.as_json(),
                }
                for each in self.labels
            ],
        }


def summarise(made: TransferPlan, ranks: Ranks, *, k: int = 5, seed: int = 0) -> Summary:
    """Return the scores with bootstrap intervals.

    Edits are resampled within each label. For `iclr19` the targets are resampled, and the best seed is chosen again
    each time; for `all-pairs` the seeds are resampled, each with all of its pairs.
    """
    known = np.array(made.labels)
    number = len(known)
    rows = []
    macro: list[tuple[_Resampled, _Resampled]] = []
    gold: list[tuple[_Resampled, _Resampled]] = []
    weights = []
    for place, label in enumerate(sorted(set(made.labels))):
        members = np.flatnonzero(known == label)
        pairs = number + np.flatnonzero(known[made.targets[number:]] == label)
        chance = np.random.default_rng([seed, place])
        hits = [(ranks > NEVER) & (ranks <= most) for most in (1, k)]
        own = [_resample_mean(hit[members].astype(float), chance) for hit in hits]
        if made.protocol == "iclr19":
            tables = [_table(made, hit, pairs) for hit in hits]
            each = [_resample_best(table, chance) for table in tables]
            best = int(np.unique(made.seeds[pairs])[tables[0].mean(axis=1).argmax()]) if len(pairs) else None
        else:
            each = [_resample_seeds(made.seeds[pairs], hit[pairs], chance) for hit in hits]
            best = None
        macro.append((each[0], each[1]))
        gold.append((own[0], own[1]))
        weights.append(len(members) * (len(members) - 1))
        rows.append(LabelScore(label, len(members), len(pairs), _score(*each), _score(*own), best))
    return Summary(
        made.protocol,
        tuple(rows),
        _average(macro, np.ones(len(rows))),
        _average(macro, np.array(weights, float)) if made.protocol == "all-pairs" else None,
        _average(gold, np.ones(len(rows))),
    )


@dataclass(frozen=True, slots=True)
class _Resampled:
    """A number, and its value in each resampling."""

    value: float
    draws: NDArray[np.float64]

    @property
    def estimate(self) -> Estimate:
        """Return the number with its 95 % interval."""
        if np.isnan(self.value):
            return Estimate(self.value, self.value, self.value)
        low, high = np.percentile(self.draws, [2.5, 97.5])
        return Estimate(self.value, float(low), float(high))


def _score(accuracy: _Resampled, recall: _Resampled) -> Score:
    return Score(accuracy.estimate, recall.estimate)


def _average(parts: Sequence[tuple[_Resampled, _Resampled]], weights: NDArray[np.float64]) -> Score:
    """Return the weighted mean over labels; labels without pairs are left out."""
    both = []
    for side in (0, 1):
        kept = [(part[side], weight) for part, weight in zip(parts, weights, strict=True) if part[side].value >= 0]
        if not kept or not sum(weight for _, weight in kept):
            both.append(_Resampled(float("nan"), np.zeros(1)))
            continue
        shares = np.array([weight for _, weight in kept]) / sum(weight for _, weight in kept)
        values = np.array([part.value for part, _ in kept])
        draws = np.array([part.draws for part, _ in kept])
        both.append(_Resampled(float(shares @ values), shares @ draws))
    return _score(both[0], both[1])


def _table(made: TransferPlan, hit: NDArray[np.bool_], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return hits as a table: [seeds, targets]."""
    num_seeds = len(np.unique(made.seeds[pairs]))
    return hit[pairs].astype(float).reshape(num_seeds, -1)


def _resample_mean(hits: NDArray[np.float64], chance: np.random.Generator) -> _Resampled:
    chosen = chance.integers(0, len(hits), (_RESAMPLES, len(hits)))
    return _Resampled(float(hits.mean()), hits[chosen].mean(axis=1))


def _resample_best(table: NDArray[np.float64], chance: np.random.Generator) -> _Resampled:
    size = table.shape[1]
    draws = np.empty(_RESAMPLES)
    for at in range(_RESAMPLES):
        draws[at] = table[:, chance.integers(0, size, size)].mean(axis=1).max()
    return _Resampled(float(table.mean(axis=1).max()), draws)


def _resample_seeds(seeds: NDArray[np.int64], hits: NDArray[np.bool_], chance: np.random.Generator) -> _Resampled:
    if not len(seeds):
        return _Resampled(float("nan"), np.full(_RESAMPLES, np.nan))
    _, place = np.unique(seeds, return_inverse=True)
    right, asked = np.bincount(place, hits), np.bincount(place)
    chosen = chance.integers(0, len(asked), (_RESAMPLES, len(asked)))
    return _Resampled(float(hits.mean()), right[chosen].sum(axis=1) / asked[chosen].sum(axis=1))


def transfer(
    model: str | Path,
    file: str | Path,
    *,
    protocol: str = "iclr19",
    label: str = "id",
    seeds: int = 10,
    pairs: int | None = None,
    seed: int = 0,
    k: int = 5,
    plain: bool = False,
    journal: Path | None = None,
    progress: Stages = silent,
) -> Summary:
    """Measure how well an edit that was shown once is applied to other edits of the same label.

    Protocol "iclr19" is the paper's: the best of `seeds` random seed edits per label, applied to all edits of the
    label. "all-pairs" takes every edit as the seed of every other, at most `pairs` per label. With `plain`, answers are
    ranked by the editor's probability alone. Answers are saved in `journal`, by default in the cache, so that an
    interrupted call can be continued.

    Raises:
        UserError: No edit has a label, or the model does not exist.

    Examples:
        >>> import editvec
        >>> summary = editvec.transfer("packaged", "labelled.jsonl.gz", protocol="all-pairs", pairs=4)
        >>> [each.label for each in summary.labels]
        ['INCREMENT', 'ISNULL']
    """
    trained = Trained.load(Path(model))
    labelled = [(edit, label_of(edit, label)) for edit in edit_files.read(file, trees=trained.needs_trees)]
    edits = [edit for edit, found in labelled if found]
    if not edits:
        raise UserError(f"no edit of {file} has a label (--label {label}). Choose another --label.")
    alike = trained.model.config.encoder == "none"
    made = plan(
        [found for _, found in labelled if found], protocol, num_seeds=seeds, max_pairs=pairs, alike=alike, seed=seed
    )
    content = [(edit.id, token_hash(edit), edit.model_context) for edit in edits]
    reading_back = None if plain else (SETTINGS, trained.second_digest)
    about = (trained.digest, content, protocol, seeds, pairs, seed, k, reading_back)
    kept = PairJournal(journal, about) if journal else PairJournal.in_cache(about)
    with progress(protocol, "pairs") as advance:
        ranks = answer_pairs(trained.model, edits, made, k=k, plain=plain, journal=kept, watch=advance)
    return summarise(made, ranks, k=k)
