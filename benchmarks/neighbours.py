"""Measure how fast an index answers, compared with plain faiss in memory, on synthetic vectors.

The first run builds the index and then measures; later runs reuse it.

    python benchmarks/neighbours.py --folder million.index
    python benchmarks/neighbours.py --folder million.index --rows 100000
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import faiss
import numpy as np

from editvec.syntax.snippet import snippet_edit
from editvec.vectors.index import Index, arrays, open_index
from editvec.vectors.index.building import LARGE
from editvec.vectors.index.cells import make_cells, unit
from editvec.vectors.index.manifest import CELLS, EDITS, MANIFEST, TOKEN_HASHES, UNITS, VECTORS, VERSION, Manifest
from editvec.vectors.index.rows import EditRows
from wall import seconds

BLOCK = 50_000


@click.command()
@click.option(
    "--folder", required=True, type=click.Path(path_type=Path), help="Folder of the index; an existing index is reused."
)
@click.option("--rows", default=1_000_000, show_default=True, help="Number of vectors.")
@click.option("--dim", default=512, show_default=True, help="Length of a vector.")
@click.option("-k", "number", default=10, show_default=True, help="Number of neighbours.")
@click.option("--threads", default=1, show_default=True, help="Number of threads of faiss, in both measurements.")
@click.option("--only-build", is_flag=True, help="Build the index without measuring.")
def main(folder: Path, rows: int, dim: int, number: int, threads: int, only_build: bool) -> None:
    """Measure the time to open and to search an index, and the same search with faiss in memory."""
    faiss.omp_set_num_threads(threads)
    if not (folder / MANIFEST).exists():
        start = time.perf_counter()
        _build(folder, rows, dim)
        click.echo(f"built in {time.perf_counter() - start:.0f} s")
    if only_build:
        return
    start = time.perf_counter()
    index = open_index(folder)
    queries = np.ascontiguousarray(index.vectors[:: max(1, len(index) // 32)][:32])
    opened = time.perf_counter() - start
    index.search(queries[:1], number)
    first = time.perf_counter() - start
    click.echo(f"{len(index):,} vectors of {index.dim}: open in {opened:.3f} s, first answer after {first:.3f} s")
    units = np.array(index.units)
    unit_queries = np.ascontiguousarray(units[:: max(1, len(index) // 32)][:32])
    flat = faiss.IndexFlatIP(index.dim)
    flat.add(units)
    _, truth = flat.search(unit_queries, number)
    for count in (1, 32):
        plain = seconds(partial(flat.search, unit_queries[:count], number), repeats=3)
        ours = seconds(partial(index.search, queries[:count], number, exact=True), repeats=3)
        _say(f"exact, {count} at once", ours, plain, count, "")
    if index.manifest.celled:
        _cells(index, flat, queries, unit_queries, truth, number)


def _cells(
    index: Index, flat: faiss.IndexFlatIP, queries: np.ndarray, units: np.ndarray, truth: np.ndarray, number: int
) -> None:
    cells: Any = faiss.read_index(str(index.folder / CELLS))
    cells.nprobe = max(8, cells.nlist // 32)
    # faiss's own way to do the same: rough search in the cells, the best of it again with the vectors themselves.
    refined = faiss.IndexRefine(cells, flat)
    refined.k_factor = (2 * number + 16) / number
    for count in (1, 32):
        plain = seconds(partial(refined.search, units[:count], number), repeats=5)
        ours = seconds(partial(index.search, queries[:count], number), repeats=5)
        found, _ = index.search(queries, number)
        hits = np.mean([len(set(one) & set(other)) / number for one, other in zip(found, truth, strict=True)])
        _say(f"cells, {count} at once", ours, plain, count, f", recall@{number} {hits:.1%}")


def _say(name: str, ours: float, plain: float, count: int, more: str) -> None:
    click.echo(
        f"{name}: {1000 * ours / count:.2f} ms a query, plain faiss {1000 * plain / count:.2f} ms = "
        f"{ours / plain:.2f} ×{more}"
    )


def _build(folder: Path, rows: int, dim: int) -> None:
    """An index as `editvec encode` writes it, of vectors in clouds, and of one edit again and again."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = np.random.default_rng(0)
    middles = chance.normal(size=(2_000, dim)).astype(np.float32)
    one = snippet_edit("i = i + 1;", "i++;", "csharp")
    for start in range(0, rows, BLOCK):
        size = min(BLOCK, rows - start)
        vectors = middles[chance.integers(0, len(middles), size)]
        vectors = vectors + chance.normal(size=(size, dim)).astype(np.float32)
        arrays.append(folder / VECTORS, start, vectors)
        arrays.append(folder / UNITS, start, unit(vectors))
        arrays.append(folder / TOKEN_HASHES, start, np.arange(start, start + size, dtype=np.uint64))
        EditRows(folder / EDITS, start).append([replace(one, id=f"edit{row}") for row in range(start, start + size)])
    manifest = Manifest(VERSION, "tfidf", "", dim, rows, complete=True)
    if rows >= LARGE:
        make_cells(folder / CELLS, Index(folder, manifest).units)
        manifest = replace(manifest, celled=rows)
    manifest.save(folder)


if __name__ == "__main__":
    main()
