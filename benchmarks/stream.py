"""Measure the peak memory of training on synthetic Parquet files of growing size.

If training streams its data, memory does not grow. The table has the memory at each size and its ratio to the memory at
the first size. The files need about 60 bytes of disk space per edit.

    python benchmarks/stream.py --sizes 100000,1000000,10000000
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

_TOKENS = [f"t{at}" for at in range(5_000)]
_POOL = 64
"""Different tables of edits that a synthetic file is made of."""

_TRAIN = """
import resource, sys
from pathlib import Path
from editvec.training import config
from editvec.training import Files, train
class Enough(Exception): pass
steps = 0
def watch(progress):
    global steps
    steps += 1
    if steps >= 200: raise Enough
folder = Path(sys.argv[1])
settings = config.with_settings(config.recipe("iclr19"), {"batch_edits": 32})
try:
    train(folder / "run", Files(folder / "edits.parquet", folder / "dev.parquet"), settings, watch=watch)
except Enough:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@click.command()
@click.option("--sizes", default="100000,1000000", show_default=True, help="Numbers of edits, separated by commas.")
@click.option("--folder", type=click.Path(path_type=Path), help="Folder for the files; the default is temporary.")
def main(sizes: str, folder: Path | None) -> None:
    """Train 200 steps on synthetic files of several sizes and print the peak memory of each."""
    first = 0.0
    for size in map(int, sizes.split(",")):
        with tempfile.TemporaryDirectory(dir=folder) as name:
            place = Path(name)
            start = time.perf_counter()
            _write(place / "edits.parquet", size)
            _write(place / "dev.parquet", 1024)
            written = time.perf_counter() - start
            start = time.perf_counter()
            done = subprocess.run([sys.executable, "-c", _TRAIN, name], capture_output=True, text=True, check=True)
            taken = time.perf_counter() - start
        peak = int(done.stdout) * (1 if sys.platform == "darwin" else 1024) / 1e6
        first = first or peak
        click.echo(
            f"{size:>12,} edits: peak {peak:.0f} MB = {peak / first:.2f} × the first; "
            f"{taken:.0f} s to read them and train 200 steps (written in {written:.0f} s)"
        )


def _write(path: Path, number: int) -> None:
    from editvec.core.edit import Edit, Version
    from editvec.data.parquet import BATCH, ParquetWriter, table_of

    chance = random.Random(number)
    pool = []
    for _ in range(min(_POOL, -(-number // BATCH))):
        edits = []
        for at in range(BATCH):
            before = chance.choices(_TOKENS, k=chance.randint(2, 12))
            after = [*before, chance.choice(_TOKENS)]
            versions = [Version("", tuple(tokens)) for tokens in (before, after)]
            edits.append(Edit(f"{at}", "csharp", versions[0], versions[1], tuple(chance.choices(_TOKENS, k=8))))
        pool.append(table_of(edits))
    with ParquetWriter(path) as writer:
        while writer.count < number:
            table = pool[writer.count // BATCH % len(pool)]
            writer.add_rows(table.slice(0, min(BATCH, number - writer.count)))


if __name__ == "__main__":
    main()
