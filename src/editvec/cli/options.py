"""Options that several verbs share."""

from __future__ import annotations

import click

label_option = click.option(
    "--label",
    "how",
    default="id",
    show_default=True,
    type=click.Choice(["id", "label", "project", "language"]),
    help="Where an edit's label is: before the last underscore of its id, in its label field, its repository, "
    "its language. What is measured by label leaves out edits without one.",
)

min_confidence_option = click.option(
    "--min-confidence",
    type=click.FloatRange(0, 1),
    default=0.4,
    show_default=True,
    help="How sure history must be that a place is due.",
)
