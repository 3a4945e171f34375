"""Measure few-shot editing on labelled edits, with a rule, with the neural editor, and with both.

For each label, k edits are drawn several times. The other edits of the label, without verbatim copies, are the test.
The rule is what `editvec rule` induces from the k edits; it abstains where it does not match. The editor writes with
the vectors of the k edits. As in `editvec apply --editor`, it abstains unless its answer has the changed tokens of one
of the k edits and an estimated probability of being correct of at least 0.8 (`--sure`). "Both" is the rule where it
matches, else the editor if it does not abstain. The baseline is the paper's transfer of one edit, the best of ten
seeds: 49.21 % (graph2tree, macro).

    python benchmarks/fewshot.py MODEL --data data/csharp_fixers.jsonl.gz -k 1 -k 3 -k 10
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from random import Random

import click

from editvec.core.edit import Edit, Tokens
from editvec.data import edit_files
from editvec.data.labels import label_of
from editvec.data.splits import token_hash
from editvec.diff.signature import changed_tokens_between
from editvec.neural import model
from editvec.neural.examples import NoTreeError, TooLongError
from editvec.neural.model import EditModel
from editvec.neural.vocab import read_tokens
from editvec.rules.induction import make_rules
from editvec.rules.rule import InducedRule
from editvec.rules.sites import edit_example
from editvec.rules.verification import verify
from editvec.suggest.few_shot import FewShotAnswer, FewShotEditor


class Verdict(StrEnum):
    """What became of a test edit."""

    RIGHT = "right"
    WRONG = "wrong"
    NONE = "none"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--data", required=True, type=click.Path(exists=True, path_type=Path), help="Labelled edits.")
@click.option("-k", "sizes", multiple=True, type=int, default=(1, 3, 10), show_default=True, help="Number of examples.")
@click.option("--draws", default=3, show_default=True, help="Number of draws of k examples.")
@click.option("--tests", default=60, show_default=True, help="Maximum test edits per label and draw.")
@click.option("--sure", default=0.8, show_default=True, help="Minimum estimated probability of being correct.")
@click.option("--seed", default=0, show_default=True, help="Seed of the draws.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def main(
    folder: Path, data: Path, sizes: tuple[int, ...], draws: int, tests: int, sure: float, seed: int, as_json: bool
) -> None:
    """Measure how often rules, the editor and both are right from k examples of a labelled edit."""
    trained = model.load(folder)
    groups = _groups(data, trained)
    results: dict[int, dict[str, dict[str, Counter[str]]]] = {}
    for k in sizes:
        results[k] = {}
        for label, edits in sorted(groups.items()):
            counts: dict[str, Counter[str]] = defaultdict(Counter)
            for draw in range(draws):
                order = list(edits)
                Random(f"{seed} {label} {draw}").shuffle(order)
                for system, verdicts in _judge(trained, order[:k], order[k : k + tests], sure).items():
                    counts[system].update(verdicts)
            results[k][label] = counts
        if not as_json:
            _print(k, results[k])
    if as_json:
        click.echo(json.dumps(results))


def _groups(data: Path, trained: EditModel) -> dict[str, list[Edit]]:
    """Distinct edits by label, without those that the model cannot read."""
    groups: dict[str, dict[int, Edit]] = defaultdict(dict)
    for edit in edit_files.read(data, trees=model.needs_trees(trained.config)):
        try:
            trained.exampler(edit)
        except (TooLongError, NoTreeError):
            continue
        groups[label_of(edit)].setdefault(token_hash(edit), edit)
    return {label: list(edits.values()) for label, edits in groups.items()}


def _judge(trained: EditModel, shown: Sequence[Edit], tests: Sequence[Edit], least: float) -> dict[str, list[Verdict]]:
    rule = _by_rule(shown, tests)
    answers, sure = _by_editor(trained, shown, tests, least)
    both = [one if one is not Verdict.NONE else other for one, other in zip(rule, sure, strict=True)]
    return {"rule": rule, "editor, always": answers, "editor, sure": sure, "both": both}


def _by_rule(shown: Sequence[Edit], tests: Sequence[Edit]) -> list[Verdict]:
    rules = [each.rule for each in make_rules(shown) if isinstance(each.rule, InducedRule)]
    examples = {edit.id: example for edit in tests if (example := edit_example(edit)) is not None}
    found: dict[str, Verdict] = {}
    # Of several rules, the most supported one that matches decides.
    for verification in verify(rules, list(examples.values())):
        for ids, verdict in ((verification.support, Verdict.RIGHT), (verification.conflicts, Verdict.WRONG)):
            for identity in ids:
                found.setdefault(identity, verdict)
    return [found.get(edit.id, Verdict.NONE) for edit in tests]


def _by_editor(
    trained: EditModel, shown: Sequence[Edit], tests: Sequence[Edit], least: float
) -> tuple[list[Verdict], list[Verdict]]:
    """With the best answer always, and with it only where it is sure."""
    editor = FewShotEditor(trained)
    models, allowed_changes = editor.show(shown), set(map(editor.changed_tokens, shown))
    always, sure = [], []
    for edit, found in zip(tests, editor.answers(tests, len(tests) * [models]), strict=True):
        before, after = read_tokens(edit, lowercase=trained.config.lowercase)[:2]
        alike = [
            each
            for each in found
            if each.score >= math.log(least) and changed_tokens_between(before, each.tokens) in allowed_changes
        ]
        always.append(_verdict(found, after, Verdict.WRONG))
        sure.append(_verdict(alike, after, Verdict.NONE))
    return always, sure


def _verdict(found: Sequence[FewShotAnswer], wanted: Tokens, otherwise: Verdict) -> Verdict:
    if not found:
        return otherwise
    return Verdict.RIGHT if found[0].tokens == wanted else Verdict.WRONG


def _print(k: int, table: Mapping[str, Mapping[str, Counter[str]]]) -> None:
    systems = list(next(iter(table.values())))
    click.echo(f"\nk = {k}: right / wrong, % of the test edits; the others are left alone")
    click.echo(f"| | {' | '.join(systems)} |\n|---|{'---|' * len(systems)}")
    for label, counts in table.items():
        click.echo(f"| {label} | {' | '.join(_cell([counts[system]]) for system in systems)} |")
    every = [[counts[system] for counts in table.values()] for system in systems]
    click.echo(f"| macro | {' | '.join(_cell(each) for each in every)} |")
    click.echo(f"| micro | {' | '.join(_cell([sum(each, Counter())]) for each in every)} |")


def _cell(counts: Sequence[Counter[str]]) -> str:
    """The mean over some counts."""
    counts = [each for each in counts if each.total()]
    shares = [
        100 * sum(each[verdict] / each.total() for each in counts) / max(1, len(counts))
        for verdict in (Verdict.RIGHT, Verdict.WRONG)
    ]
    return " / ".join(f"{share:.1f}" for share in shares)


if __name__ == "__main__":
    main()
