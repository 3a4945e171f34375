"""Measure how far the recipe `iclr19` agrees with the extractor of the paper's authors, on C#.

The authors published edits with their commits and paths. This program mines the same commits from a clone and looks for
every published edit among the mined ones: the same commit, the same path, and the same canonical tokens before and
after. For edits that are missing it reports the cause, as far as a program can tell.

    python benchmarks/canonical.py --data data --repo clones/NLog --project NLog
"""

from __future__ import annotations

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
import orjson
from rapidfuzz.distance import Levenshtein

from editvec.cli.terminal import printable
from editvec.core.edit import Edit, Tokens
from editvec.core.errors import UserError
from editvec.data.formats import edit_from_githubedits
from editvec.data.native import record_of
from editvec.mining import batch
from editvec.mining.recipes import Recipe, get_recipe
from editvec.vcs import git

EditTokens = tuple[Tokens, Tokens]
"""The canonical tokens before and after."""
Place = tuple[str, str]
"""A commit and a path."""

_OFF = ("near-duplicate", "cherry-pick", "frequent", "commit-cap")
"""What one project's share of a sample cannot show: which of several copies was kept."""
_SWITCHES = ("generated", "vendored", "mass-reformatting", "crowded", "trivial", "literal-only")
_AUTHORS_MAX_LINES = 6
_BATCH_COMMITS = 128
_VARIABLE = re.compile(r"VAR\d+")
_NAME = re.compile(r"(?!(?:null|true|false|this|base)$)[^\W\d]\w*")

IDENTICAL = "identical"
EMPTY = "identical but for Roslyn's empty tokens, as in [ ]"
ABSENT = "the commit is not in the clone"
NAMES = "mined, other names are VAR"
LITERALS = "mined, a literal differs"
TOKENS = "mined, cut into other tokens"
CUT = "mined, but more or fewer statements"
ELSEWHERE = "only other edits mined in the file"
NOTHING = "no edit mined in the file"


@dataclass(slots=True)
class Finding:
    """A published edit, why it is not among ours, and the most similar of ours in the file."""

    reference: Edit
    cause: str
    nearest: Edit | None = None


@dataclass(slots=True)
class Result:
    """What the comparison gave."""

    findings: list[Finding] = field(default_factory=list)
    same_contexts: int = 0
    mined: int = 0

    def counts(self) -> Counter[str]:
        """Cause → how many."""
        return Counter(finding.cause for finding in self.findings)


def read_references(folder: Path, project: str) -> list[Edit]:
    """The published edits of a project."""
    mark = f'"{project}|'.encode()
    found: list[Edit] = []
    for name in ("train", "dev", "test"):
        path = folder / "githubedits" / f"{name}.jsonl.gz"
        if not path.exists():
            raise UserError(f"{path} does not exist. Give the folder that holds githubedits/ with --data.")
        with gzip.open(path) as lines:
            edits = (edit_from_githubedits(record_of(line)) for line in lines if mark in line)
            found += [edit for edit in edits if edit.source and edit.source.repository == project]
    if not found:
        raise UserError(f"no edit of {project} in {folder}. Give another --project.")
    return found


def place_of(edit: Edit) -> Place:
    """Where an edit was made."""
    assert edit.source is not None
    return edit.source.commit, edit.source.path


def tokens_of(edit: Edit) -> EditTokens:
    """What is compared."""
    return edit.model_before, edit.model_after


def without_empty(tokens: EditTokens) -> EditTokens:
    """The tokens without tokens of no length."""
    return tuple(filter(None, tokens[0])), tuple(filter(None, tokens[1]))


def present(repository: git.Repository, commits: Iterable[str]) -> list[str]:
    """Those of the commits that the clone has."""
    return [
        commit for commit in commits if repository.attempt("cat-file", "-e", f"{commit}^{{commit}}").returncode == 0
    ]


def mine(repository: git.Repository, recipe: Recipe, commits: Sequence[str]) -> dict[Place, list[Edit]]:
    """The mined edits of the commits, by place."""
    task = batch.MiningTask(repository, recipe, ("csharp",), ())
    found: dict[Place, list[Edit]] = defaultdict(list)
    with batch.CommitReader(task) as reader:
        for start in range(0, len(commits), _BATCH_COMMITS):
            for edit in reader.run(commits[start : start + _BATCH_COMMITS]).edits:
                found[place_of(edit)].append(edit)
    return found


def compare(references: Sequence[Edit], repository: git.Repository) -> Result:
    """Looks for every published edit among the mined ones."""
    recipe = get_recipe("iclr19", keep=_OFF)
    commits = present(repository, sorted({place_of(edit)[0] for edit in references}))
    mined = mine(repository, recipe, commits)
    result = Result(mined=sum(map(len, mined.values())))
    missing: list[Finding] = []
    for reference in references:
        here = mined.get(place_of(reference), ())
        same = [edit for edit in here if tokens_of(edit) == tokens_of(reference)]
        result.same_contexts += any(edit.model_context == reference.model_context for edit in same)
        finding = Finding(reference, IDENTICAL if same else "")
        result.findings.append(finding)
        if not same:
            missing.append(finding)
    known = set(commits)
    for finding in missing:
        here = mined.get(place_of(finding.reference), [])
        wanted = without_empty(tokens_of(finding.reference))
        if place_of(finding.reference)[0] not in known:
            finding.cause = ABSENT
        elif any(tokens_of(edit) == wanted for edit in here):
            finding.cause = EMPTY
    _try_filters([finding for finding in missing if not finding.cause], repository, recipe)
    for finding in missing:
        if not finding.cause:
            finding.cause, finding.nearest = explain(finding.reference, mined.get(place_of(finding.reference), []))
    return result


def variants(recipe: Recipe) -> Iterator[tuple[str, Recipe]]:
    """The recipe with one filter off or widened at a time."""
    for name in _SWITCHES:
        yield f"filter {name}", replace(recipe, kept=recipe.kept | {name})
    yield f"more than {recipe.max_lines} lines", replace(recipe, max_lines=_AUTHORS_MAX_LINES)


def _try_filters(findings: Sequence[Finding], repository: git.Repository, recipe: Recipe) -> None:
    """Names the filter as the cause where the edit is there without it."""
    for name, variant in variants(recipe):
        left = [finding for finding in findings if not finding.cause]
        mined = mine(repository, variant, sorted({place_of(finding.reference)[0] for finding in left}))
        for finding in left:
            texts = {tokens_of(edit) for edit in mined.get(place_of(finding.reference), ())}
            if without_empty(tokens_of(finding.reference)) in texts:
                finding.cause = name


def explain(reference: Edit, here: Sequence[Edit]) -> tuple[str, Edit | None]:
    """Why a published edit is not among those mined in its file, and the most similar one."""
    if not here:
        return NOTHING, None
    wanted = without_empty(tokens_of(reference))
    ranked = sorted(here, key=lambda edit: -_similarity(tokens_of(edit), wanted))
    for edit in ranked:
        cause = _small_difference(tokens_of(edit), wanted)
        if cause is not None:
            return cause, edit
    for edit in ranked:
        if all(_overlap(one, other) for one, other in zip(tokens_of(edit), wanted, strict=True)):
            return CUT, edit
    return ELSEWHERE, ranked[0]


def _similarity(tokens: EditTokens, wanted: EditTokens) -> float:
    return sum(Levenshtein.normalized_similarity(one, other) for one, other in zip(tokens, wanted, strict=True))


def _small_difference(tokens: EditTokens, wanted: EditTokens) -> str | None:
    """What tells two texts apart if it is only names, only literals, or only where tokens begin."""
    if tuple(map("".join, tokens)) == tuple(map("".join, wanted)):
        return TOKENS
    if tuple(map(len, tokens)) != tuple(map(len, wanted)):
        return None
    pairs = [pair for one, other in zip(tokens, wanted, strict=True) for pair in zip(one, other, strict=True)]
    different = [(one, other) for one, other in pairs if one != other]
    if all(_NAME.fullmatch(one) and _NAME.fullmatch(other) and _is_renaming(one, other) for one, other in different):
        return NAMES
    if all("LITERAL" in pair or any(token[0].isdigit() for token in pair) for pair in different):
        return LITERALS
    return None


def _is_renaming(one: str, other: str) -> bool:
    return _VARIABLE.fullmatch(one) is not None or _VARIABLE.fullmatch(other) is not None


def _overlap(one: Tokens, other: Tokens) -> bool:
    """Whether one holds the other, whatever the numbers of the variables."""
    long, short = sorted([" ".join(map(_unnumbered, tokens)) for tokens in (one, other)], key=len, reverse=True)
    return f" {short} " in f" {long} "


def _unnumbered(token: str) -> str:
    return _VARIABLE.sub("VAR", token)


def report(result: Result, examples: int) -> Iterator[str]:
    """The result for people."""
    total, counts = len(result.findings), result.counts()
    identical, empty = counts.pop(IDENTICAL, 0), counts.get(EMPTY, 0)
    yield f"published edits                    {total:>6,}"
    yield f"mined in the same commits          {result.mined:>6,}"
    for title, count in (
        ("identical before and after", identical),
        ("… leaving out empty tokens", identical + empty),
        ("… and both contexts identical", result.same_contexts),
    ):
        yield f"{title:<34} {count:>6,}  {count / total:7.2%}"
    yield "\nwhy not"
    for cause, count in counts.most_common():
        yield f"  {cause:<52} {count:>5,}  {count / total:7.2%}"
        for finding in [finding for finding in result.findings if finding.cause == cause][:examples]:
            yield from _example(finding)


def _example(finding: Finding) -> Iterator[str]:
    yield f"      {printable(finding.reference.id)}"
    sides: Mapping[str, Edit | None] = {"theirs": finding.reference, "ours": finding.nearest}
    for whose, edit in sides.items():
        if edit is not None:
            for mark, tokens in zip("-+", tokens_of(edit), strict=True):
                yield printable(f"        {whose:<6} {mark} {' '.join(tokens)}")


def as_json(result: Result, project: str, examples: int) -> dict[str, Any]:
    """The result for machines."""
    counts = result.counts()
    identical, empty = counts.pop(IDENTICAL, 0), counts.get(EMPTY, 0)
    total = len(result.findings)
    return {
        "project": project,
        "published": total,
        "mined": result.mined,
        "identical": identical,
        "identical_share": identical / total,
        "identical_without_empty_tokens_share": (identical + empty) / total,
        "identical_with_contexts": result.same_contexts,
        "identical_with_contexts_share": result.same_contexts / total,
        "causes": dict(counts.most_common()),
        "examples": {
            cause: [finding.reference.id for finding in result.findings if finding.cause == cause][:examples]
            for cause in counts
        },
    }


@click.command(help=__doc__)
@click.option(
    "--data",
    required=True,
    envvar="EDITVEC_DATA",
    type=click.Path(path_type=Path),
    help="Folder that contains githubedits/.",
)
@click.option("--repo", required=True, help="Clone of the project, bare or not.")
@click.option("--project", default="NLog", show_default=True, help="The project's name in the data.")
@click.option("--examples", default=0, show_default=True, help="Number of edits to show per cause.")
@click.option("--json", "machine", is_flag=True, help="Print JSON.")
def main(data: Path, repo: str, project: str, examples: int, machine: bool) -> None:
    """One command, one table."""
    try:
        result = compare(read_references(data, project), git.open_repository(repo))
    except UserError as error:
        raise click.ClickException(str(error)) from None
    if machine:
        click.echo(orjson.dumps(as_json(result, project, examples), option=orjson.OPT_INDENT_2).decode())
    else:
        click.echo("\n".join(report(result, examples)))


if __name__ == "__main__":
    main()
