"""Configs: what is written is read, and what is wrong is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from editvec.core.errors import UserError
from editvec.neural import config
from editvec.neural.config import RECIPES, Config, ModelConfig


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_comes_back_from_its_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(config.dumps(RECIPES[name]))
    assert config.load(path) == RECIPES[name]


def test_text_that_needs_escapes_comes_back(tmp_path: Path) -> None:
    odd = Config(replace(ModelConfig(), encoder='a"b\\c\n\x7f\u2028'))
    path = tmp_path / "config.toml"
    path.write_text(config.dumps(odd), encoding="utf-8")
    assert config.load(path) == odd


def test_settings_are_of_either_section_and_may_be_text() -> None:
    made = config.with_settings(Config(), {"epochs": "3", "dropout": "0", "copy": "false", "encoder": "bag"})
    assert (made.training.epochs, made.model.dropout, made.model.copy, made.model.encoder) == (3, 0.0, False, "bag")


@pytest.mark.parametrize(
    ("key", "value", "complaint"),
    [
        ("epoch", "3", "Did you mean epochs?"),
        ("epochs", "many", "expected a whole number"),
        ("epochs", "true", "expected a whole number"),
        ("epochs", "0", "expected more than 0"),
        ("dropout", "1.0", "expected a share"),
        ("fraction", "0", "expected a share"),
        ("vector_swap", "1.5", "expected a share"),
        ("token_skip", "-1", "expected 0 or more"),
        ("copy", "1", "expected true or false"),
        ("schedule", "cosine", "expected one of patience, linear"),
        ("edit_dim", "7", "expected an even number"),
        ("seed", "-1", "expected 0 or more"),
        ("seed", "99999999999999999999", "sensible size"),
        ("warmup_steps", "-5", "expected 0 or more"),
        ("learning_rate", "nan", "sensible size"),
        ("learning_rate", "inf", "sensible size"),
    ],
)
def test_a_wrong_setting_is_named(key: str, value: str, complaint: str) -> None:
    with pytest.raises(UserError, match=key) as caught:
        config.with_settings(Config(), {key: value})
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[model]\nencodr = 'bag'\n", "Did you mean encoder?"),
        ("[modle]\n", "Did you mean model?"),
        ("[model\n", "not TOML"),
        ("[model]\nedit_dim = 'big'\n", "edit_dim"),
    ],
)
def test_a_wrong_file_is_named(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=r"config\.toml") as caught:
        config.load(path)
    assert complaint in str(caught.value)


def test_an_unknown_recipe_names_the_known() -> None:
    with pytest.raises(UserError, match="default"):
        config.recipe("best")
