"""Makes the model in the package again from scratch: mine → mix → train, and a second editor on its vectors → pack.

Mined edits and the run are kept in the work folder: what is done is not done again, what was interrupted goes on.

    python model/build.py --work runs/packaged --data $EDITVEC_DATA
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any

import click

from editvec.core.edit import Edit
from editvec.core.files import write_atomically
from editvec.data import edit_files
from editvec.data.artifacts import ARTIFACTS, write_manifest
from editvec.mining.batch import MiningTask
from editvec.mining.options import locate, pick_languages
from editvec.mining.recipes import get_recipe
from editvec.mining.run import MiningRequest, mine_to
from editvec.neural import model
from editvec.neural.checkpoint import pack_weights, read_weights
from editvec.training import CHECKPOINT, Files, config, resume, train

HERE = Path(__file__).parent
PACKAGED = ARTIFACTS / "model"
DEV_SHARE = 0.03


@click.command()
@click.option(
    "--work", required=True, type=click.Path(path_type=Path), help="Where to keep what was mined, and the run."
)
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="With githubedits/ and prose_edits/.")
@click.option(
    "--clones", type=click.Path(exists=True, path_type=Path), help="Clones (owner/name) to use instead of addresses."
)
@click.option("--pack-only", is_flag=True, help="Pack the run as it is.")
def main(work: Path, data: Path | None, clones: Path | None, pack_only: bool) -> None:
    """Make the model."""
    run = work / "run"
    if not pack_only:
        sources = tomllib.loads((HERE / "packaged.toml").read_text())
        files = Files(work / "train.parquet", work / "dev.parquet")
        if not files.train.exists():
            _mix(list(_parts(sources, work, data, clones)), sources["seed"], files)
        _train(run, files, sources["settings"])
        _train(run / model.SECOND, files, sources["second"], init=run)
    _pack(run)


def _train(run: Path, files: Files, settings: dict[str, Any], *, init: Path | None = None) -> None:
    """Trains, or goes on, or leaves what is done."""
    if (run / CHECKPOINT).exists():
        resume(run)
    elif not (run / model.WEIGHTS).exists():
        chosen = config.with_settings(config.recipe("default"), settings)
        train(run, files, chosen, init=model.load(init) if init else None, editor=chosen.model.editor)


def _parts(sources: dict[str, Any], work: Path, data: Path | None, clones: Path | None) -> Iterator[list[Edit]]:
    """The edits of each language, sampled."""
    rng = Random(sources["seed"])
    by_language: dict[str, list[Edit]] = defaultdict(list)
    recipe = get_recipe("default")
    for source in sources["repository"]:
        owner, name = source["address"].split("/")[-2:]
        mined = work / "mined" / f"{owner}+{name}.parquet"
        if not mined.exists():
            mined.parent.mkdir(parents=True, exist_ok=True)
            repository = locate(str(clones / owner / name) if clones else source["address"])
            task = MiningTask(repository, recipe, pick_languages((), recipe), ())
            mine_to(MiningRequest(task, since=source.get("since")), mined)
        for edit in edit_files.read(mined):
            by_language[edit.language].append(edit)
    for language in sorted(by_language):
        yield _sampled(by_language[language], sources["max_edits"], rng)
    if data is not None:
        csharp = list(edit_files.read(data / "githubedits" / "train.jsonl.gz", trees=False))
        yield _sampled(csharp, sources["max_csharp"], rng)
        yield _sampled(list(edit_files.read(data / "prose_edits" / "train.tsv.gz")), sources["max_prose"], rng)


def _sampled(edits: list[Edit], most: int, rng: Random) -> list[Edit]:
    return edits if len(edits) <= most else rng.sample(edits, most)


def _mix(parts: list[list[Edit]], seed: int, files: Files) -> None:
    """One file to train on and one to measure with; no commit is in both."""
    edits = [edit for part in parts for edit in part]
    Random(seed).shuffle(edits)
    held = [_is_held_out(edit) for edit in edits]
    assert files.dev is not None
    edit_files.write(files.train, (edit for edit, out in zip(edits, held, strict=True) if not out))
    edit_files.write(files.dev, (edit for edit, out in zip(edits, held, strict=True) if out))


def _is_held_out(edit: Edit) -> bool:
    key = edit.source.commit if edit.source and edit.source.commit else edit.id
    return int.from_bytes(blake2b(key.encode(), digest_size=4).digest()) < DEV_SHARE * 2**32


def _pack(run: Path) -> None:
    """A byte a number, and only what loading needs: of the second editor, what it does not share with the first."""
    second = model.SECOND
    (PACKAGED / second).mkdir(parents=True, exist_ok=True)
    own = {
        name: each for name, each in read_weights(run / second / model.WEIGHTS).items() if name.startswith("editor.")
    }
    write_atomically(PACKAGED / model.WEIGHTS, pack_weights(read_weights(run / model.WEIGHTS)))
    write_atomically(PACKAGED / second / model.WEIGHTS, pack_weights(own))
    for name in (model.CONFIG, model.VOCAB, f"{second}/{model.CONFIG}", f"{second}/{model.GRAMMAR}"):
        write_atomically(PACKAGED / name, (run / name).read_bytes())
    write_manifest(PACKAGED, "editvec model", "make model EDITVEC_DATA=FOLDER")
    model.load(PACKAGED)
    size = sum(file.stat().st_size for file in PACKAGED.rglob("*") if file.is_file()) / 1e6
    click.echo(f"packed {size:.1f} MB")


if __name__ == "__main__":
    main()
