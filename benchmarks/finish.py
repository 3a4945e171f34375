"""Measure how well editvec finishes a sweep: one place of a commit's sweep is shown, and the commit judges the rest.

A sweep is the same small change in three or more lines of a commit. Of each, k lines drawn at random are shown in the
files as they were before the commit; what is suggested for the other lines is right, a part of what the commit did,
different, or wrong. The same is measured for search and replace, for an oracle that knows which lines the commit
changed, for a person who takes and refuses suggestions one by one (--assisted), and for commits without a sweep, where
nothing is to be suggested (--silence). Nothing is checked out. Sweeps are drawn at random, always the same ones.

    python benchmarks/finish.py --clones CLONES
    python benchmarks/finish.py --clones CLONES --systems editvec --scorer scorer.safetensors -k 1
    python benchmarks/finish.py --clones CLONES --repos gorilla/mux:go clap-rs/clap:rs --most 20 -k 1 --assisted 10

CLONES is a folder with the repositories as owner/name, owner+name, name or name.git, bare or not.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import finish_tables as tables
from editvec.core.edit import Demonstration
from editvec.core.errors import UserError
from editvec.core.match import Suggestion
from editvec.core.text import FileText
from editvec.evaluation.assisted import AssistedScore, assist
from editvec.evaluation.sweeps import SweepScore, score_sweep
from editvec.mining.sweeps import Sweep, cut_lone_edits, cut_sweeps
from editvec.suggest.complete import LIKELY, POSSIBLE, complete, typed_example
from editvec.suggest.intents import shown_edits
from editvec.suggest.replay import CommitHunks, commit_hunks, shown_and_targets, with_hunks, with_sites
from editvec.suggest.scorer import load_scorer
from editvec.syntax.languages import language_of
from editvec.syntax.token import decode, encode
from editvec.vcs.git import Repository, open_repository
from editvec.vcs.objects import Blobs
from editvec.vcs.worktree import File
from search_replace import search_and_replace

REPOSITORIES = (
    "JoshClose/CsvHelper:cs restsharp/RestSharp:cs jbogard/MediatR:cs tornadoweb/tornado:py encode/httpx:py "
    "square/retrofit:java google/dagger:java lodash/lodash:js sindresorhus/got:js,ts jestjs/jest:ts,tsx "
    "reduxjs/redux:ts,tsx gohugoio/hugo:go gorilla/mux:go clap-rs/clap:rs rust-itertools/itertools:rs "
    "simdjson/simdjson:h,cpp google/leveldb:cc,h TheOdinProject/curriculum:md laravel/docs:md"
).split()
"""Repositories with the endings of their files. None of them is in the training data of a packaged model."""
MAX_BYTES = 400_000
"""Maximum size of a file that is searched."""
MAX_ASSISTED_SITES = 20
OURS = "editvec"
TYPED = "… typed example"
WITH_OTHERS = "… with the commit's other edits"
OWN = (OURS, WITH_OTHERS, TYPED)

System = Callable[..., list[Suggestion]]
"""`complete`, or a function with the same arguments."""


class Subject(NamedTuple):
    """A repository, and the endings of its files."""

    name: str
    repository: Repository
    endings: tuple[str, ...]


class Replayed(NamedTuple):
    """A sweep with the files before its commit and the changes that the commit made."""

    subject: Subject
    sweep: Sweep
    files: list[File]
    hunks: CommitHunks

    @property
    def can_be_shown(self) -> bool:
        """Return whether all files of the sweep were read; one that is too large counts as not found otherwise."""
        return {site.path for site in self.sweep.sites} <= {file.path for file in self.files}

    @property
    def language(self) -> str:
        """Return the language of the sweep."""
        language = language_of(self.sweep.sites[0].path)
        return language.name if language else ""


def find_clone(clones: Path, name: str) -> Repository:
    """Return the clone of a repository owner/name; raise UserError if the folder has none."""
    short = name.rpartition("/")[2]
    for folder in (name, f"{name}.git", name.replace("/", "+"), f"{name.replace('/', '+')}.git", short, f"{short}.git"):
        for place in (clones / folder / "repo", clones / folder):
            if any((place / inner).exists() for inner in ("HEAD", ".git")):
                return open_repository(place)
    raise UserError(f"{clones} has no clone of {name}. Clone it to {clones / name.replace('/', '+')}.")


def read_files(subject: Subject, commit: str) -> list[File]:
    """Return the files of a commit with the endings of the subject, except large ones, as UTF-8."""
    listed = decode(subject.repository.run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)).split("\0")
    files = []
    with closing(Blobs(subject.repository, MAX_BYTES - 1)) as blobs:
        for path in listed:
            language = language_of(path) if path.rpartition(".")[2] in subject.endings and "\n" not in path else None
            data = blobs.read(encode(f"{commit}:{path}")) if language else None
            if language and data is not None:
                files.append(File(path, language.name, FileText(data).utf8))
    return files


def replay(subject: Subject, sweeps: Iterable[Sweep]) -> Iterator[Replayed]:
    """Yield the sweeps with their files and the changes of their commits."""
    for sweep in sweeps:
        yield Replayed(
            subject, sweep, read_files(subject, sweep.parent), commit_hunks(subject.repository, sweep.commit)
        )


def demonstrations(before: Iterable[File], now: Iterable[File]) -> list[Demonstration]:
    """Return what was shown: the files that differ."""
    pairs = zip(before, now, strict=True)
    return [Demonstration(old.path, old.data, new.data) for old, new in pairs if old.data is not new.data]


def show(replayed: Replayed, k: int, *, others: bool = False) -> list[File]:
    """Return the files with k places of the sweep changed; with `others`, the other edits of its commit, too.

    Of these, only edits that keep the number of lines are made.
    """
    sites = defaultdict(list)
    for site in shown_and_targets(replayed.sweep, k)[0]:
        sites[site.path].append(site)
    lines = {(site.path, site.line) for site in replayed.sweep.sites}
    now = []
    for file in replayed.files:
        data = with_sites(file.data, sites[file.path]) if file.path in sites else file.data
        beside = replayed.hunks.get(file.path, ()) if others else ()
        free = [hunk for hunk in beside if not any((file.path, line) in lines for line in hunk.lines)]
        now.append(file._replace(data=with_hunks(data, free)) if sites.get(file.path) or free else file)
    return now


def from_typed(shown: Sequence[Demonstration], files: Sequence[File], **options: Any) -> list[Suggestion]:
    """Return the suggestions for edits without the files in which they were made, as a person would type them."""
    typed = [
        typed_example(edit.text_before, edit.text_after, each.path) for each in shown for edit in shown_edits(each)
    ]
    return complete(typed, files, **options)


SYSTEMS: dict[str, System] = {
    # Without a minimum, so that one run gives the figures for every threshold.
    OURS: partial(complete, minimum=0.0),
    WITH_OTHERS: partial(complete, minimum=0.0),
    TYPED: partial(from_typed, minimum=0.0),
    "search and replace": search_and_replace,
    "… in the same folder": partial(search_and_replace, same_folder=True),
    "… with a token of context": partial(search_and_replace, context=1),
}
ASSISTED: dict[str, System] = {OURS: complete, "search and replace": search_and_replace}


def score(replayed: Replayed, system: System, k: int, *, others: bool = False) -> SweepScore:
    """Return the score of what a system suggests after k places were shown."""
    now = show(replayed, k, others=others)
    start = time.perf_counter()
    suggestions = system(demonstrations(replayed.files, now), now)
    return score_sweep(
        replayed.sweep,
        k,
        {file.path: file.data for file in now},
        replayed.hunks,
        suggestions,
        repository=replayed.subject.name,
        language=replayed.language,
        seconds=time.perf_counter() - start,
    )


def assisted(replayed: Replayed, system: System) -> AssistedScore:
    """Return what a person gets done with a system."""

    def ask(now: Sequence[File], refused: Sequence[tuple[str, int]]) -> list[Suggestion]:
        return system(demonstrations(replayed.files, now), now, refused=refused)

    return assist(replayed.sweep, replayed.files, replayed.hunks, ask)


class Measured(NamedTuple):
    """Everything that was measured."""

    scores: dict[tuple[str, int], list[SweepScore]]
    """By system and number of places shown."""
    assisted: dict[str, list[AssistedScore]]
    silence: list[SweepScore]
    """The scores of single edits in commits without a sweep."""


def measure(subjects: Sequence[Subject], options: argparse.Namespace) -> Measured:
    """Replay the sweeps of all repositories, each repository in one process."""
    measured = Measured(defaultdict(list), defaultdict(list), [])
    with ProcessPoolExecutor(options.processes) as pool:
        for each in pool.map(partial(measure_one, options=options), subjects):
            for key, scores in each.scores.items():
                measured.scores[key] += scores
            for name, loops in each.assisted.items():
                measured.assisted[name] += loops
            measured.silence.extend(each.silence)
    return measured


def measure_one(subject: Subject, options: argparse.Namespace) -> Measured:
    """Replay the sweeps of a repository."""
    measured = Measured(defaultdict(list), defaultdict(list), [])
    start = time.perf_counter()
    if options.scorer:
        use_scorer(options.scorer)
    sweeps = cut_sweeps(subject.repository, subject.endings, most=options.most)
    chosen = [sweep for sweep in sweeps if len(sweep.sites) <= MAX_ASSISTED_SITES][: options.assisted]
    for replayed in replay(subject, sweeps):
        for k in options.k:
            if len(replayed.sweep.sites) > k:
                for name in options.systems:
                    measured.scores[name, k].append(score(replayed, SYSTEMS[name], k, others=name == WITH_OTHERS))
        helped = replayed.sweep in chosen and replayed.can_be_shown
        for name in (each for each in ASSISTED if helped and each in options.systems):
            measured.assisted[name].append(assisted(replayed, ASSISTED[name]))
    if OURS in options.systems:
        lone = cut_lone_edits(subject.repository, subject.endings, most=options.silence)
        single = (replayed for replayed in replay(subject, lone) if replayed.can_be_shown)
        measured.silence.extend(score(replayed, SYSTEMS[OURS], 1) for replayed in single)
    print(f"{subject.name}: {len(sweeps)} sweeps, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return measured


def use_scorer(file: Path) -> None:
    """Score by a file in place of the packaged scorer."""
    for systems in (SYSTEMS, ASSISTED):
        for name in set(systems) & {*OWN}:
            systems[name] = partial(systems[name], scorer=load_scorer(file))


def rows_of(measured: Measured) -> Iterator[dict[str, Any]]:
    """Yield everything that was measured, for later analysis."""
    for (name, _), scores in measured.scores.items():
        for each in scores:
            row = {"what": "sweep", "system": name} | each.as_json()
            counts = {"possible": each.counts(POSSIBLE)._asdict(), "likely": each.counts(LIKELY)._asdict()}
            # The thousands of places of a search are not worth keeping one by one.
            yield (row | counts if name in OWN else row | {"changes": []} | {"all": each.counts()._asdict()})
    for name, loops in measured.assisted.items():
        for loop in loops:
            yield {"what": "assisted", "system": name} | loop.as_json()
    for each in measured.silence:
        yield {"what": "silence", "system": OURS} | each.as_json()


def read_options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True, help="folder of the clones")
    parser.add_argument("--repos", nargs="+", default=list(REPOSITORIES), metavar="OWNER/NAME:ENDINGS")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--scorer", type=Path, help="file of a trained scorer; the default is the packaged one")
    parser.add_argument("--most", type=int, default=60, help="maximum number of sweeps per repository")
    parser.add_argument("-k", type=int, nargs="+", default=[1, 3], help="numbers of places shown")
    parser.add_argument("--assisted", type=int, default=10, help="sweeps per repository that a person finishes")
    parser.add_argument("--silence", type=int, default=20, help="commits without a sweep per repository")
    parser.add_argument("--processes", type=int, default=2, help="number of processes")
    parser.add_argument("-o", "--out", type=Path, help="file of JSON lines for everything that was measured")
    return parser.parse_args(arguments)


def main() -> None:
    """Measure, and print the tables."""
    options = read_options()
    subjects = []
    for each in options.repos:
        name, _, endings = each.partition(":")
        endings = endings or next(
            (known.partition(":")[2] for known in REPOSITORIES if known.startswith(f"{name}:")), ""
        )
        if not endings:
            raise SystemExit(f"{name}: give the endings of its files, such as {name}:py.")
        subjects.append(Subject(name, find_clone(options.clones, name), tuple(endings.split(","))))
    start = time.perf_counter()
    measured = measure(subjects, options)
    if options.out:
        options.out.write_text("".join(json.dumps(row) + "\n" for row in rows_of(measured)), encoding="utf-8")
    for (name, k), scores in measured.scores.items():
        print(tables.metrics_table(name, k, scores, tables.levels(POSSIBLE, LIKELY) if name in OWN else {"all": 0.0}))
    for (name, k), scores in measured.scores.items():
        if name == OURS:
            print(tables.details(k, scores, POSSIBLE, LIKELY))
    print(tables.assisted_table(measured.assisted))
    print(tables.silence_table(measured.silence, POSSIBLE, LIKELY))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    print(f"{time.perf_counter() - start:.0f} s in all; peak memory {peak:.0f} MB")


if __name__ == "__main__":
    main()
