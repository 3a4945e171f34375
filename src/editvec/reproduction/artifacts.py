"""The artifacts of a reproduction: a folder with models, results and indexes that are made once and then reused.

Each model has a folder under its name, and an interrupted training is continued. Each result is a JSON file under its
name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from editvec.core.edit import Edit
from editvec.core.errors import BadInputError, UserError
from editvec.core.files import make_folder, write_atomically
from editvec.data import edit_files
from editvec.data.labels import label_of
from editvec.neural.model import WEIGHTS
from editvec.training import CHECKPOINT, Files, Progress, config, part_of, resume, train

MODELS: Mapping[str, Mapping[str, Any]] = {
    f"{editor}-{encoder}": {"editor": editor, "encoder": encoder}
    for editor, encoders in (
        ("seq2seq", ("sequence", "bag", "none")),
        ("graph2tree", ("sequence", "graph", "bag", "none")),
    )
    for encoder in encoders
} | {
    f"prose-{encoder}": {"editor": "seq2seq", "encoder": encoder, "lowercase": True, "context": False}
    for encoder in ("sequence", "bag")
}
SMOKE = 0.05
"""Largest fraction of the data for a test run with small models and one epoch, which only shows that all runs."""
_SMALL: Mapping[str, Any] = {
    "vocab_size": 2000,
    "embed_dim": 32,
    "hidden_dim": 64,
    "edit_dim": 64,
    "graph_layers": 1,
    "graph_steps": 2,
}
_SPEED = {"seq2seq": 200.0, "graph2tree": 100.0}
"""Edits trained per second on two cores, to estimate how long a training takes."""
_SMALL_FASTER = 3.0
"""How many times as fast the training of small models is."""
_FEW = 50
"""Test edits in a test run. A hardly trained model is slow, because it does not predict the end of the output."""
_FEWEST = 3
"""Minimum edits per label, however small the fraction is."""
_FILES = {"code": ("githubedits", "jsonl.gz"), "prose": ("prose_edits", "tsv.gz")}


@dataclass(slots=True)
class Artifacts:
    """The folder of a reproduction, the data, and the amount of data that is used."""

    folder: Path
    data: Path
    fraction: float = 1.0
    """The share of all edits that is used, both to train and to evaluate."""
    epochs: int | None = None
    limit: int | None = None
    """The maximum number of edits of a test set or an index."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of every model that override its recipe, for test runs."""
    notice: Callable[[str], None] = lambda text: None
    watch: Callable[[Progress], None] = lambda progress: None

    @property
    def is_smoke(self) -> bool:
        """Return whether this is a test run, whose numbers have no meaning."""
        return self.fraction <= SMOKE

    @property
    def num_epochs(self) -> int:
        """Return the number of epochs of every training."""
        return self.epochs or (1 if self.is_smoke else 12)

    def file(self, side: str, kind: str = "code") -> Path:
        """Return the path of an edit file: train, dev or test of code or prose, as published or as Parquet.

        Raises:
            UserError: There is no such file.
        """
        folder, ending = _FILES[kind]
        for name in (f"{side}.parquet", f"{side}.{ending}", f"{side}.{ending.removesuffix('.gz')}"):
            if (self.data / folder / name).is_file():
                return self.data / folder / name
        missing = self.data / folder / f"{side}.{ending}"
        raise UserError(f"{missing} does not exist. Give the data folder with --data or $EDITVEC_DATA.")

    def part(self, side: str, kind: str = "code") -> Path:
        """Return a file with the fraction of an edit file that is used; it is written once for all models."""
        whole = self.file(side, kind)
        if self.fraction >= 1:
            return whole
        part = self.folder / "data" / f"{kind}-{side}-{self.fraction:g}.parquet"
        if not part.is_file():
            make_folder(part.parent)
            edit_files.write(part, part_of(edit_files.read(whole), self.fraction))
        return part if edit_files.count(part) else whole

    def labelled(self, *, trees: bool) -> list[Edit]:
        """Return the edits that have a label."""
        return [edit for edit in edit_files.read(self._fixers(), trees=trees) if label_of(edit)]

    def some_labelled(self, *, trees: bool) -> list[Edit]:
        """Return the fraction of the edits of each label that is used where edits are tried in pairs."""
        labelled = self.labelled(trees=trees)
        left = {
            label: max(_FEWEST, round(self.fraction * number))
            for label, number in Counter(label_of(edit) for edit in labelled).items()
        }
        kept = []
        for edit in labelled:
            if left[label_of(edit)]:
                left[label_of(edit)] -= 1
                kept.append(edit)
        return kept

    def _fixers(self) -> Path:
        for name in ("csharp_fixers.parquet", "csharp_fixers.jsonl.gz", "csharp_fixers.jsonl"):
            if (self.data / name).is_file():
                return self.data / name
        raise UserError(
            f"{self.data} has no csharp_fixers.jsonl.gz. Give the data folder with --data or $EDITVEC_DATA."
        )

    def test_edits(self, kind: str, *, trees: bool) -> Iterator[Edit]:
        """Return an iterator over the test set, or over its first edits if there is a limit."""
        limit = self.limit or (_FEW if self.is_smoke else None)
        return islice(edit_files.read(self.part("test", kind), trees=trees), limit)

    def model_folder(self, name: str, share: int = 100) -> Path:
        """Return the folder of a model, whether it is trained or not."""
        return self.folder / "models" / (name if share == 100 else f"{name}-{share}")

    def has_model(self, name: str, share: int = 100) -> bool:
        """Return whether a model has been trained to the end."""
        folder = self.model_folder(name, share)
        return (folder / WEIGHTS).is_file() and not (folder / CHECKPOINT).exists()

    def model(self, name: str, share: int = 100) -> Path:
        """Return the folder of a model; train the model first, or continue its training, if necessary."""
        folder = self.model_folder(name, share)
        if self.has_model(name, share):
            return folder
        if (folder / CHECKPOINT).exists():
            self.notice(f"{folder.name}: training continues")
            resume(folder, watch=self.watch)
            return folder
        self.notice(f"{folder.name}: training, about {describe_time(self.seconds(name, share))}")
        kind = kind_of(name)
        chosen = config.with_settings(config.recipe("iclr19"), self._settings(name, share))
        files = Files(self.part("train", kind), self.part("dev", kind))
        train(folder, files, chosen, watch=self.watch, notice=lambda text: None)
        return folder

    def _settings(self, name: str, share: int) -> dict[str, Any]:
        shared = {"schedule": "linear", "warmup_steps": 200, "epochs": self.num_epochs}
        small = _SMALL if self.is_smoke else {}
        return {**shared, "fraction": self.fraction * share / 100, **MODELS[name], **small, **self.settings}

    def seconds(self, name: str, share: int = 100) -> float:
        """Return an estimate of the seconds that a training takes."""
        edits = {"code": 91_372, "prose": 39_265}[kind_of(name)]
        speed = _SPEED[str(MODELS[name]["editor"])] * (_SMALL_FASTER if self.is_smoke else 1)
        return self.num_epochs * edits * self.fraction * share / 100 / speed

    def result(self, name: str, work: Callable[[], Any]) -> Any:
        """Return the result of a task: from its file, or computed now and saved.

        Raises:
            BadInputError: The file of the result is damaged.
        """
        path = self.folder / "results" / f"{name}.json"
        if path.is_file():
            try:
                return orjson.loads(path.read_bytes())
            except orjson.JSONDecodeError as error:
                raise BadInputError(
                    path, None, f"not JSON ({error}). Remove the file, and the result is computed again."
                ) from None
        self.notice(f"{name}: running")
        found = orjson.loads(orjson.dumps(work(), option=orjson.OPT_SERIALIZE_NUMPY))
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, orjson.dumps(found, option=orjson.OPT_INDENT_2))
        return found


def kind_of(name: str) -> str:
    """Return the kind of data that a model is trained on: code or prose."""
    return "prose" if name.startswith("prose-") else "code"


def describe_time(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
