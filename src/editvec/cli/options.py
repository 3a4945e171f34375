"""Options that several verbs share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import click


class Number(click.FloatRange):
    """A number in a range; "nan" is in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A number, or a complaint."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


label_option = click.option(
    "--label",
    default="id",
    show_default=True,
    type=click.Choice(["id", "label", "project", "language"]),
    help="What labels an edit: its id up to the last underscore, its label field, its repository, or its language. "
    "Edits without a label are left out.",
)


def _min_confidence() -> float:
    from editvec.patterns.pattern import MIN_CONFIDENCE

    return MIN_CONFIDENCE


min_confidence_option = click.option(
    "--min-confidence",
    type=Number(0, 1),
    default=_min_confidence,
    show_default="0.4",
    help="Minimum confidence of a place; less certain ones are left out.",
)


def spoken(language: str | None, texts: Sequence[str]) -> str:
    """The language of pieces of code: the one that was named, or else the first in which they parse."""
    from editvec.syntax.parse import likely_language

    if language is not None:
        return language
    found = likely_language(texts) or "csharp"
    if found != "csharp":
        click.echo(f"editvec: taken for {found}; --language says otherwise.", err=True)
    return found
