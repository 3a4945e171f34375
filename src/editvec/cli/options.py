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
    "how",
    default="id",
    show_default=True,
    type=click.Choice(["id", "label", "project", "language"]),
    help="Where an edit's label is: before the last underscore of its id, in its label field, its repository, "
    "its language. What is measured by label leaves out edits without one.",
)


def _min_confidence() -> float:
    from editvec.patterns.pattern import MIN_CONFIDENCE

    return MIN_CONFIDENCE


min_confidence_option = click.option(
    "--min-confidence",
    type=Number(0, 1),
    default=_min_confidence,
    show_default="0.4",
    help="How sure history must be that a place is due.",
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
