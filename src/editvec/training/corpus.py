"""Examples on disk, in blocks, and the order in which training reads them.

A corpus is an Arrow file that training makes of its edits once. Memory holds one window of blocks at a time, so it does
not grow with the number of edits. The order of an epoch depends only on its seed, so a run can resume in the middle of
an epoch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from editvec.core.errors import BadInputError
from editvec.core.files import atomic
from editvec.neural.batch import by_length
from editvec.neural.examples import Example
from editvec.neural.tree_examples import ActionSteps, TreePair

BLOCK = 1024
"""Number of examples per block."""
WINDOW = 32
"""Number of blocks that are shuffled and sorted by length together."""

_PARTS: dict[str, type] = {"trees": TreePair, "steps": ActionSteps}
_TEXTS = ("unknown", "coined")
_COLUMNS = [item.name for item in fields(Example) if item.name not in (*_PARTS, "source")]


def _schema(parts: Iterable[str]) -> pa.Schema:
    """Return the Arrow schema for examples with some optional parts."""
    names = _COLUMNS + [f"{part}.{item.name}" for part in parts for item in fields(_PARTS[part])]
    return pa.schema([(name, pa.list_(pa.string() if name in _TEXTS else pa.int32())) for name in names])


class Corpus:
    """The examples in a file."""

    def __init__(self, path: Path) -> None:
        """Open a corpus.

        Raises:
            BadInputError: The file does not exist or is not a corpus.
        """
        try:
            self._reader = pa.ipc.open_file(pa.memory_map(str(path)))
            found = {name.partition(".")[0] for name in self._reader.schema.names if "." in name}
            self._parts = [part for part in _PARTS if part in found]
            if self._reader.schema != _schema(self._parts):
                raise pa.ArrowInvalid("other columns")
        except (pa.ArrowInvalid, OSError) as error:
            raise BadInputError(
                path, None, f"the corpus is missing or damaged ({error}). Train again in another folder."
            ) from None
        self.num_blocks = self._reader.num_record_batches
        last = self._reader.get_batch(self.num_blocks - 1).num_rows if self.num_blocks else 0
        self.num_examples = max(0, self.num_blocks - 1) * BLOCK + last

    def block(self, number: int) -> list[Example]:
        """Return the examples of a block; each has its own memory."""
        columns: list[list[Any]] = []
        for name, column in zip(self._reader.schema.names, self._reader.get_batch(number).columns, strict=True):
            if name in _TEXTS:
                columns.append([tuple(value) for value in column.to_pylist()])
            else:
                values, offsets = column.flatten().to_numpy(), column.offsets.to_numpy()
                starts = offsets - offsets[0]
                columns.append([values[low:high].copy() for low, high in pairwise(starts)])
        return [self._example(values) for values in zip(*columns, strict=True)]

    def _example(self, values: Sequence[Any]) -> Example:
        """Return the example of a row."""
        at = len(_COLUMNS)
        parts = {}
        for part in self._parts:
            size = len(fields(_PARTS[part]))
            parts[part] = _PARTS[part](*values[at : at + size])
            at += size
        return Example(*values[: len(_COLUMNS)], **parts)

    def __iter__(self) -> Iterator[Example]:
        for number in range(self.num_blocks):
            yield from self.block(number)


def build_corpus(path: Path, examples: Iterable[Example]) -> Corpus:
    """Write examples to a file, block by block, and return the corpus."""
    examples = iter(examples)
    block = list(islice(examples, BLOCK))
    schema = _schema(part for part in _PARTS if block and getattr(block[0], part) is not None)
    with atomic(path) as stream, pa.ipc.new_file(stream, schema) as writer:
        while block:
            columns = [pa.array([_value(example, item.name) for example in block], item.type) for item in schema]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            block = list(islice(examples, BLOCK))
    return Corpus(path)


def _value(example: Example, name: str) -> Any:
    """Return the value of an example for a column."""
    part, _, inner = name.partition(".")
    return getattr(getattr(example, part), inner) if inner else getattr(example, name)


class Lesson(NamedTuple):
    """A batch of edits to learn.

    Their vectors come from the edits in `shown`, which have the same signatures, or, without these, from the edits
    themselves.
    """

    edits: list[Example]
    demonstrations: list[Example] | None = None


def epoch_batches(
    corpus: Corpus,
    *,
    seed: int,
    epoch: int,
    batch_edits: int,
    batch_tokens: int,
    vector_swap: float = 0.0,
    first: int = 0,
) -> Iterator[Lesson]:
    """Yield the batches of an epoch, starting with the number `first`.

    A batch contains edits of similar length; everything else is random. In a share `vector_swap` of the batches, other
    edits with the same signatures are shown.
    """
    chance = np.random.default_rng([seed, epoch])
    blocks = chance.permutation(corpus.num_blocks)
    number = 0
    for start in range(0, len(blocks), WINDOW):
        window = [example for block in blocks[start : start + WINDOW] for example in corpus.block(block)]
        window = [window[place] for place in chance.permutation(len(window))]
        batches = list(by_length(window, batch_edits, batch_tokens))
        others = _by_signature(window) if vector_swap else {}
        for chosen in chance.permutation(len(batches)):
            edits = [window[place] for place in batches[chosen]]
            demonstrations = None
            if vector_swap and chance.random() < vector_swap:
                draws = chance.random(len(edits))
                demonstrations = [_another(edit, others, draw) for edit, draw in zip(edits, draws, strict=True)]
            if number >= first:
                yield Lesson(edits, demonstrations)
            number += 1


def _by_signature(examples: Sequence[Example]) -> dict[int, list[Example]]:
    """Return the examples by the hash of their signatures."""
    found: dict[int, list[Example]] = defaultdict(list)
    for example in examples:
        for signature in example.signatures:
            found[int(signature)].append(example)
    return found


def _another(example: Example, others: dict[int, list[Example]], draw: float) -> Example:
    """Return another edit with the same signature, or the edit itself if there is none."""
    same = others[int(example.signatures[0])] if len(example.signatures) else [example]
    chosen = same[int(draw * len(same))]
    return chosen if chosen is not example else same[int(draw * len(same)) - 1]
