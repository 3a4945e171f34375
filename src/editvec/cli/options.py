"""Options and messages that several verbs share."""

from __future__ import annotations

import math
from typing import Any

import click


class Number(click.FloatRange):
    """A number in a range; "nan" is refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number.

        Raises:
            click.BadParameter: The value is not a number in the range.
        """
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


label_option = click.option(
    "--label",
    default="id",
    show_default=True,
    type=click.Choice(["id", "label", "project", "language"]),
    help="Label of an edit: its id up to the last underscore (id), its label field, its repository (project), or its "
    "language. Edits without a label are left out.",
)


def _min_confidence() -> float:
    from editvec.patterns.pattern import MIN_CONFIDENCE

    return MIN_CONFIDENCE


verify_option = click.option(
    "--verify",
    metavar="[COMMAND]",
    is_flag=False,
    flag_value="",
    help="Command that judges the places in a scratch copy of the work tree; places that it refuses are left out."
    "  [without COMMAND: the one in the settings]",
)


min_confidence_option = click.option(
    "--min-confidence",
    type=Number(0, 1),
    default=_min_confidence,
    show_default="0.4",
    help="Minimum confidence of a place; less certain places are left out.",
)


def tell_language(language: str) -> None:
    """Print to stderr the language that was detected for snippets, unless it is the default."""
    from editvec.syntax.snippet import DEFAULT_LANGUAGE

    if language != DEFAULT_LANGUAGE:
        click.echo(f"editvec: detected language: {language}. Use --language to change it.", err=True)
