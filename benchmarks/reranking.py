"""Measure how much re-ranking helps few-shot editing, and fit its weights.

Candidates are re-ranked by reading back what the editor wrote (likeness) and by comparing changes of trees (tree
similarity). The edits come from a file that the model was not trained on. Of edits with the same signature, some are
shown and the others are the test. The table has the share of right answers for each weight of likeness and of tree
similarity. The baseline is the editor without re-ranking (weights of 0). The last line is the logistic model that turns
scores into a probability of being correct.

    python benchmarks/reranking.py MODEL --data dev.parquet -k 1 -k 3
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

import click
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.data import edit_files
from editvec.diff.signature import Signature, signature_of
from editvec.neural import model
from editvec.neural.model import EditModel
from editvec.neural.vocab import read_tokens
from editvec.suggest.few_shot import FewShotEditor

WEIGHTS = (0.0, 5.0, 10.0, 20.0, 30.0, 40.0, 80.0)
TREE_SIMILARITIES = (0.0, 0.5, 1.0, 2.0, 4.0)
_TESTS = 3
"""Of a signature."""


class Answer(NamedTuple):
    right: bool
    log_prob: float
    likeness: float
    tree_similarity: float | None

    def score(self, weight: float, tree_similarity: float) -> float:
        return self.log_prob + weight * (self.likeness - 1) + tree_similarity * (self.tree_similarity or 0.0)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="Edits that the model was not trained on.",
)
@click.option(
    "-k", "sizes", multiple=True, type=int, default=(1, 3), show_default=True, help="Number of edits that are shown."
)
@click.option("--signatures", default=400, show_default=True, help="Maximum number of signatures.")
@click.option("--weight", default=30.0, show_default=True, help="Weight of likeness when the confidence is fitted.")
@click.option(
    "--tree-similarity", default=1.0, show_default=True, help="Weight of tree similarity when the confidence is fitted."
)
@click.option("--seed", default=0, show_default=True, help="Seed of the draws.")
def main(
    folder: Path, data: Path, sizes: tuple[int, ...], signatures: int, weight: float, tree_similarity: float, seed: int
) -> None:
    """Measure few-shot editing for several weights of the re-ranking, and fit the confidence."""
    trained = model.load(folder)
    groups = _groups(trained, data)
    every: list[Answer] = []
    click.echo(f"| shown | tests | one is right | tree_similarity | {' | '.join(f'{each:g}' for each in WEIGHTS)} |")
    click.echo(f"|---|---|---|---|{'---|' * len(WEIGHTS)}")
    for size in sizes:
        lists = list(_answers(trained, groups, size, signatures, Random(seed)))
        reachable = sum(any(answer.right for answer in each) for each in lists) / len(lists)
        for similarity in TREE_SIMILARITIES:
            shares = [sum(answer.right for answer in _best(lists, each, similarity)) / len(lists) for each in WEIGHTS]
            cells = " | ".join(f"{100 * share:.1f}" for share in shares)
            click.echo(f"| {size} | {len(lists)} | {100 * reachable:.1f} | {similarity:g} | {cells} |")
        every += _best(lists, weight, tree_similarity)
    for name, some in (
        ("with trees", [each for each in every if each.tree_similarity is not None]),
        ("without", [each for each in every if each.tree_similarity is None]),
    ):
        _fit(name, some, weight, tree_similarity)


def _fit(name: str, answers: Sequence[Answer], weight: float, tree_similarity: float) -> None:
    """Prints the line from scores to the logit of being right."""
    right = np.array([answer.right for answer in answers])
    if len(set(right)) < 2:
        return
    scores = np.array([[answer.score(weight, tree_similarity)] for answer in answers])
    fitted = LogisticRegression(C=100).fit(scores, right)
    click.echo(
        f"{name}: logit of being right = {fitted.coef_[0, 0]:.3f} · score + {fitted.intercept_[0]:.2f}; "
        f"area under the curve {roc_auc_score(right, scores[:, 0]):.3f}, "
        f"by probability alone {roc_auc_score(right, [answer.log_prob for answer in answers]):.3f}"
    )


def _best(lists: Sequence[Sequence[Answer]], weight: float, tree_similarity: float) -> list[Answer]:
    return [max(each, key=lambda answer: answer.score(weight, tree_similarity)) for each in lists if each]


def _groups(trained: EditModel, data: Path) -> list[list[Edit]]:
    """Edits that the model can read, by signature, each only once."""
    groups: dict[Signature, dict[object, Edit]] = defaultdict(dict)
    for edit in edit_files.read(data, trees=model.needs_trees(trained.config)):
        signature = signature_of(edit)
        if not signature.says_something:
            continue
        try:
            trained.exampler(edit)
        except UserError:
            continue
        groups[signature].setdefault((edit.model_before, edit.model_after), edit)
    return [list(edits.values()) for edits in groups.values()]


def _answers(
    trained: EditModel, groups: Sequence[list[Edit]], size: int, most: int, chance: Random
) -> Iterator[list[Answer]]:
    """For each test all that the editor wrote."""
    groups = [group for group in groups if len(group) > size]
    for group in chance.sample(groups, min(most, len(groups))):
        order = chance.sample(group, min(len(group), size + _TESTS))
        shown, tests = FewShotEditor(trained).show(order[:size]), order[size:]
        for edit, found in zip(tests, FewShotEditor(trained).answers(tests, len(tests) * [shown]), strict=True):
            wanted = read_tokens(edit, lowercase=trained.config.lowercase)[1]
            yield [
                Answer(each.tokens == wanted, each.log_prob, each.likeness or 0.0, each.tree_similarity)
                for each in found
            ]


if __name__ == "__main__":
    main()
