"""Makes the scorer in the package again: cut sweeps from clones → replay them → fit → write the artifact.

The rows of each repository are kept in the work folder: what is done is not done again.

    python model/scorer.py --clones FOLDER --work runs/scorer
"""

from __future__ import annotations

import random
import tomllib
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import click

from editvec.data.artifacts import ARTIFACTS, write_manifest
from editvec.mining.sweeps import cut_lone_edits, cut_sweeps
from editvec.suggest.scorer import FILE
from editvec.training.replayed import ReplayedRows, TreeReader, replay_rows
from editvec.training.scorer import fit_scorer
from editvec.training.scorer_rows import read_rows, save_rows
from editvec.vcs.git import open_repository

HERE = Path(__file__).parent
MOST_WRONG = 150
"""Maximum number of rows of a replay that are not useful."""
PACKAGED = ARTIFACTS / "scorer"


@click.command()
@click.option("--clones", required=True, type=click.Path(exists=True, path_type=Path), help="Folder of the clones.")
@click.option("--work", required=True, type=click.Path(path_type=Path), help="Folder for the rows of each repository.")
@click.option("--processes", default=2, show_default=True, help="Number of processes.")
@click.option("-o", "--out", default=PACKAGED, type=click.Path(path_type=Path), help="Folder of the artifact.")
def main(clones: Path, work: Path, processes: int, out: Path) -> None:
    """Make the scorer."""
    sources = tomllib.loads((HERE / "scorer.toml").read_text())
    work.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(processes) as pool:
        tasks = [
            pool.submit(make_rows, clones, name, language["endings"], sources["sweeps"], sources["lone"], work)
            for language in sources["language"]
            for name in language["repositories"]
        ]
        for task in as_completed(tasks):
            click.echo(task.result())
    rows = read_rows(sorted(work.glob("*.npz"))).thinned(MOST_WRONG)
    scorer, _ = fit_scorer(rows)
    out.mkdir(parents=True, exist_ok=True)
    scorer.save(out / FILE)
    write_manifest(out, "editvec scorer", "python model/scorer.py --clones FOLDER --work runs/scorer")
    click.echo(f"{len(rows.useful):,} rows of {len(set(rows.repositories.tolist()))} repositories; {out / FILE}")


def make_rows(clones: Path, name: str, endings: list[str], num_sweeps: int, num_lone: int, work: Path) -> str:
    """Replays the sweeps of a repository, and keeps the rows; says what it did."""
    file = work / f"{name.replace('/', '+')}.npz"
    if file.exists():
        return f"{name}: kept"
    repository = open_repository(find_clone(clones, name))
    chance = random.Random(name)
    sweeps = cut_sweeps(repository, endings, most=num_sweeps) + cut_lone_edits(repository, endings, most=num_lone)
    reader = TreeReader(repository, endings)
    found: list[ReplayedRows] = []
    for sweep in sweeps:
        found += replay_rows(repository, reader, sweep, chance)
    reader.close()
    if not found:
        return f"{name}: nothing"
    save_rows(file, found)
    num_rows = sum(len(each.verdicts) for each in found)
    return f"{name}: {len(sweeps)} sweeps and lone edits, {len(found)} replays, {num_rows:,} rows"


def find_clone(clones: Path, name: str) -> Path:
    """Returns the clone of owner/name in a folder, however it is laid out."""
    flat = name.replace("/", "+")
    for place in (flat + "/repo", flat, name, name.rpartition("/")[2], name.rpartition("/")[2] + ".git"):
        if (clones / place).is_dir():
            return clones / place
    raise click.ClickException(f"there is no clone of {name} in {clones}. Clone it, or take it out of scorer.toml.")


if __name__ == "__main__":
    main()
