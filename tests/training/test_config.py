"""Configs: what is written is read, and what is wrong is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from editvec.core.errors import UserError
from editvec.neural.config import ModelConfig
from editvec.training import config
from editvec.training.config import RECIPES, Config


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_comes_back_from_its_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(config.dumps(RECIPES[name]))
    assert config.load(path) == RECIPES[name]


def test_text_that_needs_escapes_comes_back(tmp_path: Path) -> None:
    odd = Config(ModelConfig(encoder='a"b\\c\n\x7f\u2028'))
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
        ("epochs", "many", "expected `int`"),
        ("epochs", "true", "expected `int`"),
        ("epochs", "0", "expected `int` >= 1"),
        ("dropout", "1.0", "expected `float` < 1"),
        ("fraction", "0", "expected `float` > 0"),
        ("vector_swap", "1.5", "expected `float` < 1"),
        ("token_skip", "-1", "expected `int` >= 0"),
        ("copy", "2", "expected `bool`"),
        ("schedule", "cosine", "invalid enum value 'cosine'"),
        ("edit_dim", "7", "multiple of 2"),
        ("seed", "-1", "expected `int` >= 0"),
        ("seed", "99999999999999999999", "expected `int`"),
        ("warmup_steps", "-5", "expected `int` >= 0"),
        ("learning_rate", "nan", "expected `float` > 0"),
        ("learning_rate", "inf", "expected `float` <"),
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
