"""The configuration of a run: a model and its training; and the recipes, named sets of both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from editvec.core.errors import BadInputError, UserError
from editvec.data.settings import as_toml, changed, read_toml, unknown
from editvec.neural.config import SECTION, Count, ModelConfig, OptionalCount, Share

TRAINING = "training"
Rate = Annotated[float, Meta(gt=0, lt=2**31)]


class TrainingConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a model is trained."""

    seed: OptionalCount = 0
    epochs: Count = 50
    batch_edits: Count = 32
    batch_tokens: Count = 4096
    """Maximum tokens of a batch, padding included: long edits come in smaller batches."""
    learning_rate: Rate = 1e-3
    clip: Rate = 5.0
    schedule: Literal["patience", "linear"] = "patience"
    """patience: a constant rate, halved when dev perplexity stalls. linear: a warm-up, then down to zero."""
    patience: Count = 5
    """Epochs without a better dev perplexity before the best model is reloaded and the rate halved."""
    halvings: OptionalCount = 5
    warmup_steps: OptionalCount = 0
    vector_swap: Share = 0.0
    """Share of batches in which an edit is learned from the vector of another edit with its signature, so that a vector
    says what is done, and not where or to what."""
    editor_only: bool = False
    """Train the editor alone: it learns to write from vectors that exist."""
    precision: Literal["auto", "float32", "bfloat16"] = "float32"
    """Of large matrix products. auto: bfloat16 if the processor that a run begins on has instructions for it; the run
    keeps to it."""
    fraction: Annotated[float, Meta(gt=0, le=1)] = 1.0
    """Share of the training set that is used: the same edits for the same seed."""


class Config(msgspec.Struct, frozen=True):
    """A run: a model and its training."""

    model: ModelConfig = ModelConfig()
    training: TrainingConfig = TrainingConfig()


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


def recipe(name: str) -> Config:
    """Return a recipe by name; UserError when there is none."""
    if name not in RECIPES:
        raise UserError(f"no recipe {name!r}. There are: {', '.join(RECIPES)}.")
    return RECIPES[name]


def with_settings(config: Config, settings: Mapping[str, Any]) -> Config:
    """Return a config with some keys set, whichever section they are of; values may be text."""
    sections = {name: [each.name for each in msgspec.structs.fields(type(getattr(config, name)))] for name in _SECTIONS}
    known = [key for keys in sections.values() for key in keys]
    for key in settings:
        if key not in known:
            raise UserError(unknown(key, known))
    parts = {name: {key: value for key, value in settings.items() if key in keys} for name, keys in sections.items()}
    return Config(changed(config.model, parts[SECTION]), changed(config.training, parts[TRAINING]))


def load(path: Path) -> Config:
    """Return the config of a file; what it leaves out has its default."""
    found = read_toml(path)
    for name, section in found.items():
        if name not in _SECTIONS or not isinstance(section, dict):
            raise BadInputError(path, None, unknown(name, _SECTIONS, what="section"))
    try:
        return Config(
            changed(ModelConfig(), found.get(SECTION, {})), changed(TrainingConfig(), found.get(TRAINING, {}))
        )
    except UserError as error:
        raise BadInputError(path, None, str(error)) from None


def dumps(config: Config) -> str:
    """Return the config as TOML, every key of it."""
    return as_toml({SECTION: config.model, TRAINING: config.training})


_SECTIONS = (SECTION, TRAINING)
