"""The configuration of a run (a model and its training), and the recipes, which are named configurations."""

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
    """The settings of training."""

    seed: OptionalCount = 0
    epochs: Count = 50
    batch_edits: Count = 32
    batch_tokens: Count = 4096
    """Maximum tokens per batch, including padding, so that batches of long edits are smaller."""
    learning_rate: Rate = 1e-3
    clip: Rate = 5.0
    schedule: Literal["patience", "linear"] = "patience"
    """patience: a constant rate, halved when the dev perplexity stalls. linear: a warm-up, then a linear decrease to
    zero."""
    patience: Count = 5
    """Epochs without a better dev perplexity before the best model is reloaded and the rate is halved."""
    halvings: OptionalCount = 5
    warmup_steps: OptionalCount = 0
    vector_swap: Share = 0.0
    """Share of batches in which an edit is learned from the vector of another edit with the same signature, so that a
    vector describes what is changed, not where or in which code."""
    contrast: Annotated[float, Meta(ge=0, lt=2**31)] = 0.0
    """Weight of the contrastive loss, in the batches with the vectors of other edits: a vector should be nearer to that
    of an edit with the same signature than to those of other edits and to that of its reversed edit."""
    forget: Share = 0.0
    """Share of the rarer tokens of the vocabulary that an edit's example takes for unknown, so that a model with pieces
    learns to read and write them piece by piece."""
    editor_only: bool = False
    """Train only the editor, on the vectors of an existing encoder."""
    precision: Literal["auto", "float32", "bfloat16"] = "float32"
    """Precision of large matrix products. auto: bfloat16 if the processor on which the run begins has instructions for
    it, else float32; a resumed run keeps the choice."""
    fraction: Annotated[float, Meta(gt=0, le=1)] = 1.0
    """Share of the training set that is used; the same share is always the same edits."""


class Config(msgspec.Struct, frozen=True):
    """The configuration of a run: a model and its training."""

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
    """Return a recipe by name.

    Raises:
        UserError: There is no recipe of that name.
    """
    if name not in RECIPES:
        raise UserError(f"no recipe {name!r}. Choose one of: {', '.join(RECIPES)}.")
    return RECIPES[name]


def with_settings(config: Config, settings: Mapping[str, Any]) -> Config:
    """Return a config with some settings changed, in either section. Values can be text.

    Raises:
        UserError: A setting does not exist, or its value is invalid.
    """
    sections = {name: [each.name for each in msgspec.structs.fields(type(getattr(config, name)))] for name in _SECTIONS}
    known = [key for keys in sections.values() for key in keys]
    for key in settings:
        if key not in known:
            raise UserError(unknown(key, known))
    parts = {name: {key: value for key, value in settings.items() if key in keys} for name, keys in sections.items()}
    return Config(changed(config.model, parts[SECTION]), changed(config.training, parts[TRAINING]))


def load(path: Path) -> Config:
    """Return the config in a file. Missing settings have their defaults.

    Raises:
        BadInputError: The file has an unknown section or setting, or an invalid value.
    """
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
    """Return the config as TOML, with all settings."""
    return as_toml({SECTION: config.model, TRAINING: config.training})


_SECTIONS = (SECTION, TRAINING)
