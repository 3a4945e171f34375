"""Makes the training data again from clones: mine → cap → drop what is measured with → train, dev and test files.

Mined edits are kept in the folder: what is done is not done again. Whole histories are held out, one a language; their
commits are shared out between dev and test.

    python model/data.py --clones FOLDER --out runs/data --data $EDITVEC_DATA
"""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click
from scorer import find_clone

from editvec.core.edit import Edit
from editvec.core.files import write_atomically
from editvec.data import edit_files, native
from editvec.data.digests import TrainingDigests
from editvec.data.splits import token_hash
from editvec.mining.batch import MiningTask
from editvec.mining.options import pick_languages
from editvec.mining.recipes import get_recipe
from editvec.mining.run import MiningRequest, mine_to
from editvec.vcs.git import Repository, list_commits, open_repository

HERE = Path(__file__).parent
SIDES = ("train", "dev", "test")
REPLICAS = ("githubedits/train.jsonl.gz", "prose_edits/train.tsv.gz")


@dataclass(frozen=True, slots=True)
class History:
    """A history to mine."""

    name: str
    language: str
    licence: str
    held_out: bool
    repository: Repository

    @property
    def recipe(self) -> str:
        """Return the name of the recipe that mines it."""
        return "prose" if self.language == "prose" else "default"


@dataclass(frozen=True, slots=True)
class Measured:
    """What models are measured with elsewhere, and so must not be trained on."""

    edits: TrainingDigests
    sentences: frozenset[str]

    @classmethod
    def of(cls, data: Path) -> Measured:
        """Return what is in dev and test of the replicas below a folder."""
        code = (edit_files.read(data / "githubedits" / f"{side}.jsonl.gz", trees=False) for side in SIDES[1:])
        prose = (edit_files.read(data / "prose_edits" / f"{side}.tsv.gz") for side in SIDES[1:])
        return cls(
            TrainingDigests.of(edit for part in code for edit in part),
            frozenset(sentence for part in prose for edit in part for sentence in _sentences(edit)),
        )

    def reason(self, edit: Edit) -> str | None:
        """Return why an edit must not be trained on, or None."""
        if edit in self.edits:
            return "in GitHubEdits"
        return None if self.sentences.isdisjoint(_sentences(edit)) else "in prose_edits"


@dataclass(slots=True)
class Tally:
    """What became of the edits of a history."""

    mined: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)


class Selection:
    """The choice of edits over all histories, which remembers what it has taken."""

    def __init__(self, measured: Measured, *, max_repeats: int) -> None:
        self.measured, self.max_repeats = measured, max_repeats
        self._copies: set[int] = set()
        self._repeats: Counter[int] = Counter()

    def of(self, edits: Iterable[Edit], tally: Tally) -> Iterator[Edit]:
        """Yield the edits that are taken, and count the others by reason."""
        for edit in edits:
            tally.mined += 1
            reason = self.measured.reason(edit) or self._repeated(edit)
            if reason is None:
                yield edit
            else:
                tally.dropped[reason] += 1

    def _repeated(self, edit: Edit) -> str | None:
        """Return why an edit is one too many, or None, and remember it."""
        content = _hash(repr((edit.model_before, edit.model_after, edit.model_context)))
        if content in self._copies:
            return "same context"
        self._copies.add(content)
        tokens = token_hash(edit)
        self._repeats[tokens] += 1
        return "frequent" if self._repeats[tokens] > self.max_repeats else None


@click.command()
@click.option("--clones", required=True, type=click.Path(exists=True, path_type=Path), help="Folder of the clones.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the data.")
@click.option(
    "--data",
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="Folder with githubedits/ and prose_edits/: their training sets are added, their other edits left out.",
)
@click.option("--histories", "wanted_file", default=HERE / "data.toml", type=click.Path(exists=True, path_type=Path))
@click.option("--sources", default=HERE / "sources.toml", type=click.Path(path_type=Path), help="File for the counts.")
@click.option("--workers", default=0, show_default=True, help="Processes for mining; 0 is one per core.")
@click.option("--mined-only", is_flag=True, help="Mine nothing more; use the histories that are mined.")
def main(clones: Path, out: Path, data: Path, wanted_file: Path, sources: Path, workers: int, mined_only: bool) -> None:
    """Make the training data."""
    wanted = tomllib.loads(wanted_file.read_text())
    histories = [
        history
        for history in find_histories(wanted, clones)
        if mine_history(history, out, wanted["commits"], workers, mined_only=mined_only)
    ]
    tallies = write_sides(histories, wanted, out, data)
    write_atomically(sources, describe(histories, tallies, wanted).encode())
    total = sum((tally.kept for tally in tallies.values()), Counter[str]())
    click.echo(", ".join(f"{side}: {total[side]:,} edits" for side in SIDES))


def find_histories(wanted: Mapping[str, Any], clones: Path) -> list[History]:
    """Return the histories that have a clone: the smallest of each language, then the second smallest, and so on."""
    found: dict[str, list[tuple[int, History]]] = defaultdict(list)
    for language, names in wanted.items():
        for name, licence in names.items() if isinstance(names, dict) else ():
            try:
                place = find_clone(clones, name)
            except click.ClickException:
                click.echo(f"{name}: no clone, left out")
                continue
            repository = replace(open_repository(place), name=name)
            size = sum(file.stat().st_size for file in place.rglob("*.pack"))
            found[language].append((size, History(name, language, licence, name in wanted["held_out"], repository)))
    by_size = [sorted(sized, key=lambda pair: pair[0]) for sized in found.values()]
    return [pair[1] for pairs in zip_longest(*by_size) for pair in pairs if pair is not None]


def mined_file(history: History, out: Path, commits: int) -> Path:
    """Return the file for the edits of the newest commits of a history."""
    return out / "mined" / f"{history.name.replace('/', '+')}.{commits}.jsonl.gz"


def mine_history(history: History, out: Path, commits: int, workers: int, *, mined_only: bool) -> bool:
    """Mine the newest commits of a history, unless that is done, and return whether its file is there."""
    file = mined_file(history, out, commits)
    if not file.exists() and not mined_only:
        file.parent.mkdir(parents=True, exist_ok=True)
        recipe = get_recipe(history.recipe)
        task = MiningTask(history.repository, recipe, pick_languages((), recipe), ())
        report = mine_to(MiningRequest(task, newest=commits, workers=workers), file)
        click.echo(f"{history.name}: {report.edits:,} edits of {report.commits:,} commits")
    return file.exists()


def write_sides(histories: Sequence[History], wanted: Mapping[str, Any], out: Path, data: Path) -> dict[str, Tally]:
    """Write the train, dev and test file of a folder, and return what became of the edits of each history.

    The training sets of the replicas below `data` are a part of the training file. What is held out is chosen first, so
    that the training file has no copy of it.
    """
    selection = Selection(Measured.of(data), max_repeats=wanted["max_repeats"])
    tallies = {name: Tally() for name in (*(history.name for history in histories), *REPLICAS)}

    def taken(name: str, edits: Iterable[Edit]) -> Iterator[tuple[str, bytes]]:
        for edit in selection.of(edits, tallies[name]):
            side = side_of(edit) if name in wanted["held_out"] else "train"
            tallies[name].kept[side] += 1
            yield side, native.dump(edit) + b"\n"

    def every() -> Iterator[tuple[str, bytes]]:
        for history in sorted(histories, key=lambda history: not history.held_out):
            mined = edit_files.read(mined_file(history, out, wanted["commits"]))
            yield from taken(history.name, capped(mined, wanted["max_edits"]))
        for name in REPLICAS:
            yield from taken(name, map(_without_trees, edit_files.read(data / name, trees=False)))

    first, second, third = (out / f"{side}.jsonl.gz" for side in SIDES)
    with edit_files.lines_to(first) as train, edit_files.lines_to(second) as dev, edit_files.lines_to(third) as test:
        streams = dict(zip(SIDES, (train, dev, test), strict=True))
        for side, line in every():
            streams[side].write(line)
    return tallies


def side_of(edit: Edit) -> str:
    """Return the file that an edit of a held-out history belongs to; a commit is in one of them."""
    assert edit.source is not None
    return SIDES[1 + _hash(edit.source.commit) % 2]


def capped(edits: Iterable[Edit], most: int) -> list[Edit]:
    """Return at most `most` edits, in their order. Which ones depends only on their ids."""
    every = list(edits)
    kept = {edit.id for edit in sorted(every, key=lambda edit: _hash(edit.id))[:most]}
    return [edit for edit in every if edit.id in kept]


def describe(histories: Sequence[History], tallies: Mapping[str, Tally], wanted: Mapping[str, Any]) -> str:
    """Return what the data was made from, as TOML."""
    lines = ["# What the data of `make data` was made from. Written by model/data.py; edit data.toml instead.", ""]
    for history in sorted(histories, key=lambda history: (history.language, history.name)):
        commits = list_commits(history.repository, newest=wanted["commits"])
        lines += [
            "[[history]]",
            f'address = "https://github.com/{history.name}"',
            f'language = "{history.language}"',
            f'licence = "{history.licence}"',
            f'commit = "{commits[-1]}"',
            f"commits = {len(commits)}",
            *_counts(tallies[history.name]),
        ]
    for name in REPLICAS:
        lines += ["[[replica]]", f'file = "{name}"', *_counts(tallies[name])]
    return "\n".join(lines)


def _counts(tally: Tally) -> list[str]:
    """Return the counts of a history as lines of TOML."""
    dropped = ", ".join(f'"{reason}" = {number}' for reason, number in sorted(tally.dropped.items()))
    kept = [f"{side} = {number}" for side, number in sorted(tally.kept.items())]
    return [f"mined = {tally.mined}", *kept, f"dropped = {{ {dropped} }}" if dropped else "dropped = {}", ""]


def _sentences(edit: Edit) -> tuple[str, str]:
    """Return both sentences of an edit in lower case and without white space."""
    return "".join(edit.before.tokens).lower(), "".join(edit.after.tokens).lower()


def _without_trees(edit: Edit) -> Edit:
    """Return an edit without the trees that came with it."""
    return replace(edit, before=replace(edit.before, tree=None), after=replace(edit.after, tree=None))


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "backslashreplace"), digest_size=8).digest())


if __name__ == "__main__":
    main()
