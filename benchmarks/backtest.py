"""Measure how many suggestions came true: learn from the history before a date and compare with what people did later.

The suggestions are those for the files at that date. A suggestion came true if a later edit of the same file removed
its text and left the suggested text. This is a lower bound: an edit that nobody made, or that was made together with
another change, counts as wrong. There are two baselines without learning: rules of one edit each, and the most frequent
textual replacements.

    python benchmarks/backtest.py --share 0.7 clones/serilog clones/gin
    python benchmarks/backtest.py --min-commits 1 --min-confidence 0 --out every-place.jsonl clones/gin
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from editvec.core.edit import Edit
from editvec.data.progress import ignore
from editvec.diff.signature import Signature, signature_of
from editvec.mining import run
from editvec.mining.batch import MiningTask
from editvec.mining.options import locate, pick_languages
from editvec.mining.recipes import get_recipe
from editvec.patterns.find import find_suggestions
from editvec.patterns.pattern import MIN_CONFIDENCE, Pattern
from editvec.patterns.pipeline import LearnRequest, learn_patterns
from editvec.patterns.wording import ChangeKind
from editvec.rules.induction import make_rules
from editvec.rules.rule import runnable
from editvec.suggest.evidence import Evidence
from editvec.vcs import git
from editvec.vcs.worktree import File, worktree_files

TOP = 50


class Guess(NamedTuple):
    """Where something would be written."""

    path: str
    before: str
    after: str


@click.command()
@click.argument("repositories", nargs=-1, required=True)
@click.option("--share", default=0.7, show_default=True, help="Share of the commits to learn from.")
@click.option("--model", "model_folder", help="Trained model; without it, edits are grouped only by signature.")
@click.option("--min-commits", default=2, show_default=True, help="Minimum commits per pattern.")
@click.option("--min-confidence", default=MIN_CONFIDENCE, show_default=True, help="Minimum confidence of a suggestion.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write every suggestion, and whether it came true, to this file."
)
def main(
    repositories: tuple[str, ...],
    share: float,
    model_folder: str | None,
    min_commits: int,
    min_confidence: float,
    out: Path | None,
) -> None:
    """Measure how many suggestions from the older commits came true in the newer ones, and print one table."""
    from editvec.neural import model

    encoder = model.load(model_folder) if model_folder else None
    click.echo("| repository | learned from | edits after | ours: right of the first 50 | one example | text |")
    click.echo("|---|---|---|---|---|---|")
    rows = []
    for name in repositories:
        repository = locate(name)
        recipe = get_recipe("default")
        task = MiningTask(repository, recipe, pick_languages((), recipe), ())
        commits = git.list_commits(repository)
        revision = commits[int(share * len(commits))]
        request = LearnRequest(
            run.MiningRequest(task, revisions=(revision,)),
            min_commits=min_commits,
            min_confidence=min_confidence,
            revision=revision,
        )
        learned = learn_patterns(request, encoder)
        later = list(run.edits(run.MiningRequest(task, revisions=(f"{revision}..HEAD",)), run.MiningReport()))
        files = list(worktree_files(repository, {edit.language for edit in learned.edits}, revision=revision))
        places = [(place, pattern) for pattern in learned.patterns for place in pattern.suggestions]
        found = [
            (Guess(place.path, place.before, place.after), pattern)
            for place, pattern in sorted(places, key=lambda each: -each[0].confidence)
        ]
        ours = [guess for guess, _ in found]
        shown = [(ours, "ours"), (_one_example(learned.edits, files), "one"), (_text(learned.edits, files), "text")]
        scores = []
        for guesses, _ in shown:
            right = [_came_true(guess, later) for guess in guesses[:TOP]]
            scores.append(f"{sum(right)} of {len(right)}" if right else "none")
        rows += [
            {
                "repository": name,
                **guess._asdict(),
                "right": _came_true(guess, later),
                "pattern": pattern.name,
                "commits": pattern.commits,
                "evidence": pattern.evidence.as_json() if pattern.evidence else None,
            }
            for guess, pattern in (found if out else [])
        ]
        click.echo(f"| {Path(name).parent.name} | {len(learned.edits)} edits | {len(later)} | {' | '.join(scores)} |")
    if out:
        out.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _came_true(guess: Guess, later: Iterable[Edit]) -> bool:
    gone, come = _plain(guess.before), _plain(guess.after)
    for edit in later:
        if edit.source is not None and edit.source.path == guess.path:
            before, after = _plain(edit.before.text), _plain(edit.after.text)
            if gone in before and come in after and before.count(gone) > after.count(gone):
                return True
            if gone in come and gone in before and after.count(come) > before.count(come):
                return True
    return False


def _plain(text: str) -> str:
    return "".join(text.split())


def _one_example(edits: Sequence[Edit], files: Sequence[File]) -> list[Guess]:
    """Rules of one edit each, the first of the most frequent signatures."""
    first: dict[tuple[str, Signature], Edit] = {}
    counts: Counter[tuple[str, Signature]] = Counter()
    for edit in edits:
        key = edit.language, signature_of(edit)
        first.setdefault(key, edit)
        counts[key] += 1
    patterns: list[Pattern] = []
    for key, count in counts.most_common(100):
        for number, verified in enumerate(make_rules([first[key]])[:1]):
            name = f"r{len(patterns)}-{number}"
            rule = runnable(verified.rule, name)
            before, after = verified.rule.sides
            patterns.append(
                Pattern(
                    name,
                    "",
                    "",
                    ChangeKind.REPLACEMENT,
                    (),
                    key[0],
                    before,
                    after,
                    (),
                    count,
                    commits=1,
                    authors=1,
                    rule=rule,
                    evidence=Evidence(count, count),
                )
            )
    found = find_suggestions(patterns, files, 0.0, ignore).patterns
    return [
        Guess(place.path, place.before, place.after)
        for pattern in patterns
        for place in found[pattern.name].suggestions
    ]


def _text(edits: Sequence[Edit], files: Sequence[File]) -> list[Guess]:
    """The most frequent textual replacements: from the first changed token to the last, as text."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for edit in edits:
        before, after = edit.before.text, edit.after.text
        low = 0
        while low < min(len(before), len(after)) and before[low] == after[low]:
            low += 1
        high = 0
        while high < min(len(before), len(after)) - low and before[-1 - high] == after[-1 - high]:
            high += 1
        while low and (before[low - 1].isalnum() or before[low - 1] == "_"):
            low -= 1
        while high and (before[len(before) - high].isalnum() or before[len(before) - high] == "_"):
            high -= 1
        gone, come = before[low : len(before) - high], after[low : len(after) - high]
        if gone.strip():
            counts[edit.language, gone, come] += 1
    guesses: list[Guess] = []
    for (language, gone, come), count in counts.most_common(100):
        if count > 1:
            guesses += [
                Guess(file.path, gone, come)
                for file in files
                if file.language == language
                for _ in range(file.data.decode(errors="replace").count(gone))
            ]
        if len(guesses) > 10 * TOP:
            break
    return guesses


if __name__ == "__main__":
    main()
