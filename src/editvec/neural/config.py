"""What can be configured, and the recipes: named sets of it. A misspelt key is an error that names the nearest one.

Only builders and the command line see a config; layers take plain keyword arguments.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import orjson

from editvec.core.errors import BadInputError, UserError


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What a model is. A saved model needs all of it to be built again."""

    encoder: str = "sequence"
    editor: str = "seq2seq"
    vocab_size: int = 10_000
    min_count: int = 2
    lowercase: bool = False
    max_tokens: int = 100
    """Longest before or after; a longer edit is left out of training and refused elsewhere."""
    max_context: int = 160
    """Longest context; a longer one loses its far ends."""
    embed_dim: int = 128
    tag_dim: int = 32
    hidden_dim: int = 256
    """Of the decoder."""
    edit_dim: int = 512
    dropout: float = 0.3
    """On the attention vector, as in the original code."""
    embed_dropout: float = 0.0
    context: bool = True
    context_start: bool = True
    """The context is in the decoder's initial state, as in the paper (the original code leaves it out)."""
    copy: bool = True
    shared_reader: bool = True
    """Encoder and editor read tokens through one biLSTM."""
    changed_only: bool = False
    """The sequence encoder reads the changed positions alone (Pravilov et al., 2021)."""
    residual: bool = False
    """A token is read as its state in its surroundings plus its embedding, so that a rare one stays itself."""
    token_skip: int = 0
    """So many of the tokens that an edit adds have a linear way of their own into the edit vector (encoder `sequence`)
    and out of it to the generator; 0 leaves all to the recurrent layers."""
    transfer_layer: bool = False
    """A vector that is used on another edit than its own goes through a linear layer first, which can leave out what
    does not hold there."""
    unknown_slots: int = 0
    """Embeddings for tokens outside the vocabulary by their order in the edit; 0 reads all of them alike."""
    tied: bool = False
    """The generator's weights are the embedding's."""
    head_size: int = 0
    """The frequent tokens that the generator scores first, the others only when it means one of them (Grave et al.,
    2017); 0 scores all at once."""
    tail_dim: int = 128
    trees: str = "file"
    """file: the trees that the data came with, and tree-sitter's where it has none. parsed: tree-sitter's always."""
    graph_layers: int = 2
    graph_steps: int = 5
    graph_dropout: float = 0.2


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """How a model is trained."""

    seed: int = 0
    epochs: int = 50
    batch_edits: int = 32
    batch_tokens: int = 4096
    """Most tokens a batch, padding included: long edits come in smaller batches."""
    learning_rate: float = 1e-3
    clip: float = 5.0
    schedule: str = "patience"
    """patience: a constant rate, halved when dev perplexity stalls. linear: a warm-up, then down to zero."""
    patience: int = 5
    """Epochs without a better dev perplexity before the best model is reloaded and the rate halved."""
    halvings: int = 5
    warmup_steps: int = 0
    vector_swap: float = 0.0
    """The share of batches in which an edit is learned from the vector of another one of its shape, so that a vector
    says what is done, and not where or to what."""
    editor_only: bool = False
    """All but the editor stays as it was: it learns to write from vectors that exist."""
    precision: str = "float32"
    """Of large matrix products: float32, bfloat16, or auto, which is bfloat16 where the processor that a run begins on
    has instructions for it; the run keeps to it."""
    fraction: float = 1.0
    """The share of the training set that is used: the same edits for the same seed."""


@dataclass(frozen=True, slots=True)
class Config:
    """A run: a model and its training."""

    model: ModelConfig = field(default_factory=ModelConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)


RECIPES: Mapping[str, Config] = {
    "iclr19": Config(training=TrainingConfig(precision="auto")),
    "default": Config(
        ModelConfig(
            vocab_size=40_000,
            changed_only=True,
            residual=True,
            tied=True,
            token_skip=4,
            transfer_layer=True,
            head_size=2_000,
            unknown_slots=16,
            embed_dropout=0.1,
        ),
        TrainingConfig(
            epochs=12,
            batch_edits=64,
            batch_tokens=8192,
            schedule="linear",
            warmup_steps=500,
            vector_swap=0.4,
        ),
    ),
}

_CHOICES = {
    "schedule": ("patience", "linear"),
    "trees": ("file", "parsed"),
    "precision": ("auto", "float32", "bfloat16"),
}
_POSITIVE = frozenset(
    "vocab_size min_count max_tokens max_context embed_dim tag_dim tail_dim hidden_dim edit_dim graph_layers "
    "graph_steps epochs batch_edits batch_tokens learning_rate clip patience".split()
)
_NOT_NEGATIVE = frozenset(("seed", "warmup_steps", "unknown_slots", "halvings", "head_size", "token_skip"))
_HALVED = frozenset(("embed_dim", "edit_dim"))
_SHARES = frozenset(("dropout", "embed_dropout", "graph_dropout", "vector_swap"))
_Section = TypeVar("_Section", ModelConfig, TrainingConfig)


def recipe(name: str) -> Config:
    """A recipe by name."""
    if name not in RECIPES:
        raise UserError(f"no recipe {name!r}. There are: {', '.join(RECIPES)}.")
    return RECIPES[name]


def with_settings(config: Config, settings: Mapping[str, Any]) -> Config:
    """The config with some keys set, whichever section they are of; values may be text, as a command line has them."""
    model, training = _keys(ModelConfig), _keys(TrainingConfig)
    for key in settings:
        if key not in model and key not in training:
            raise UserError(_unknown(key, [*model, *training]))
    parts = [{key: value for key, value in settings.items() if key in known} for known in (model, training)]
    return Config(_set(config.model, parts[0]), _set(config.training, parts[1]))


def load(path: Path) -> Config:
    """The config of a file that `save` wrote or a person did; what it leaves out is as in `iclr19`, in
    float32."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInputError(path, None, f"not TOML ({error})") from None
    except OSError as error:
        raise UserError(f"cannot read {path} ({error.strerror}).") from None
    sections: dict[str, Mapping[str, Any]] = {}
    for name, section in data.items():
        if name not in ("model", "training") or not isinstance(section, dict):
            raise BadInputError(path, None, _unknown(name, ["model", "training"], what="section"))
        sections[name] = section
    try:
        return Config(
            _set(ModelConfig(), sections.get("model", {})), _set(TrainingConfig(), sections.get("training", {}))
        )
    except UserError as error:
        raise BadInputError(path, None, str(error)) from None


def dumps(config: Config) -> str:
    """The config as TOML, every key of it."""
    lines = []
    for name, section in asdict(config).items():
        lines += [f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in section.items()), ""]
    return "\n".join(lines)


def _toml(value: Any) -> str:
    # JSON's numbers, booleans and strings are TOML's too, but for one character.
    text: bytes = orjson.dumps(value)
    return text.decode().replace("\x7f", "\\u007f")


def _keys(section: type[ModelConfig] | type[TrainingConfig]) -> list[str]:
    return [item.name for item in fields(section)]


def _unknown(key: str, known: list[str], what: str = "setting") -> str:
    near = get_close_matches(key, known, n=1)
    return f"no {what} {key!r}. " + (f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}.")


def _set(section: _Section, settings: Mapping[str, Any]) -> _Section:
    known = {item.name: type(getattr(section, item.name)) for item in fields(section)}
    values: dict[str, Any] = {}
    for key, value in settings.items():
        if key not in known:
            raise UserError(_unknown(key, list(known)))
        values[key] = _value(key, value, known[key])
    return replace(section, **values)


def _value(key: str, value: Any, kind: type) -> Any:
    if isinstance(value, str) and kind is not str:
        try:
            value = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            raise UserError(f"{key} = {value}: expected {_named(kind)}.") from None
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise UserError(f"{key} = {value}: expected {_named(kind)}.")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise UserError(f"{key} = {value}: expected one of {', '.join(_CHOICES[key])}.")
    number: Any = value
    most = 2**16 if key.endswith("_dim") or key == "unknown_slots" else 2**31
    if kind in (int, float) and not (math.isfinite(number) and abs(number) < most):
        raise UserError(f"{key} = {value}: expected a number of a sensible size.")
    if key in _NOT_NEGATIVE and number < 0:
        raise UserError(f"{key} = {value}: expected 0 or more.")
    if key in _HALVED and number % 2:
        raise UserError(f"{key} = {value}: expected an even number, one half for each direction.")
    if key in _POSITIVE and number <= 0:
        raise UserError(f"{key} = {value}: expected more than 0.")
    if key in _SHARES and not 0 <= number < 1:
        raise UserError(f"{key} = {value}: expected a share from 0 up to, but not, 1.")
    if key == "fraction" and not 0 < number <= 1:
        raise UserError(f"{key} = {value}: expected a share above 0, up to 1.")
    return value


def _named(kind: type) -> str:
    return {bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "text")
