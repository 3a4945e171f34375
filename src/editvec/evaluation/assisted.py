"""The assisted loop: a person who finishes a sweep by taking and refusing suggestions, one at a time.

The person knows what the commit did. The most confident suggestion is taken if the commit agrees and refused otherwise,
and then the suggestions are made again with what was learned. How they are made is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from editvec.core.match import Suggestion
from editvec.core.splice import TextEdit, splice
from editvec.evaluation.metrics import Estimate, ratio
from editvec.mining.sweeps import Sweep, SweepSite
from editvec.suggest.replay import CommitHunks, judge, line_changes, shown_and_targets, with_sites
from editvec.syntax.token import encode
from editvec.vcs.worktree import File

MAX_BESIDE = 3
"""Suggestions taken beside the sweep after which the person stops, if the sweep itself is done."""
MAX_QUESTIONS = 60

Ask = Callable[[Sequence[File], Sequence[tuple[str, int]]], Sequence[Suggestion]]
"""Suggestions for files as they are now, after some of them (path and line, 1-based) were refused."""


class AssistedScore(NamedTuple):
    """What was done of a sweep with the help of suggestions."""

    commit: str
    num_others: int
    """Places of the sweep, except the one that was shown."""
    done: int
    refused: int
    beside: int
    """Suggestions taken that were useful but not part of the sweep."""
    questions: int

    def as_json(self) -> dict[str, Any]:
        """Return the score as JSON values."""
        return self._asdict()


def assist(
    sweep: Sweep, files: Iterable[File], hunks: CommitHunks, ask: Ask, *, max_refusals: int = 2
) -> AssistedScore:
    """Show one place of a sweep, then take and refuse suggestions until nothing is suggested or the person gives up.

    `files` are the files before the commit. The person gives up after `max_refusals` refusals.
    """
    now = {file.path: file for file in files}
    [shown], others = shown_and_targets(sweep, 1)
    todo = {(site.path, site.line): site for site in others}
    refused: list[tuple[str, int]] = []
    beside = questions = 0
    _write(now, [shown])
    while len(refused) < max_refusals and (todo or beside < MAX_BESIDE) and questions < MAX_QUESTIONS:
        questions += 1
        suggestions = ask(list(now.values()), refused)
        if not suggestions:
            break
        best = max(suggestions, key=lambda each: each.confidence)
        file = now[best.path]
        [change] = line_changes({file.path: file.data}, [best])
        verdict = judge(hunks.get(file.path, ()), change.first, change.last, change.text, change.old)
        here = [(file.path, line) for line in range(change.first, change.last + 1)]
        if not verdict.is_useful:
            refused.append(here[0])
        elif sites := [todo.pop(line) for line in here if line in todo]:
            _write(now, sites)
        else:
            edit = TextEdit(best.start, best.end, encode(best.after))
            now[file.path] = file._replace(data=splice(file.data, [edit]))
            beside += 1
    return AssistedScore(sweep.commit, len(others), len(others) - len(todo), len(refused), beside, questions)


def _write(files: dict[str, File], sites: Sequence[SweepSite]) -> None:
    """Write sites, which are all in one file, as their commit left them."""
    file = files[sites[0].path]
    files[file.path] = file._replace(data=with_sites(file.data, sites))


def summarise_assisted(scores: Sequence[AssistedScore]) -> dict[str, Estimate]:
    """Return the means over sweeps: the share done, sweeps done whole (and without a refusal), and refusals."""
    ones = [1.0] * len(scores)
    whole = [score.done == score.num_others for score in scores]
    return {
        "done": ratio([score.done / max(1, score.num_others) for score in scores], ones),
        "whole": ratio(whole, ones),
        "unrefused": ratio(
            [all_done and not score.refused for all_done, score in zip(whole, scores, strict=True)], ones
        ),
        "refusals": ratio([score.refused for score in scores], ones),
    }
