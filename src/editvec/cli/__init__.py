"""The command line: one file a verb; it parses, prints and picks.

Verbs import what they need when they run, so that `editvec --help` is quick and never loads a parser or a network.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from editvec.cli import (
    apply,
    cache,
    cluster,
    completion,
    convert,
    draw,
    edit,
    encode,
    evaluate,
    find,
    learn,
    map,
    mine,
    neighbours,
    probe,
    rate,
    reproduce,
    rule,
    serve,
    show,
    split,
    stats,
    train,
    transfer,
)
from editvec.core.about import __version__
from editvec.core.errors import StoppedError, UserError


class _Group(click.Group):
    """A group that says what to do next when a verb is misspelt, and lists its verbs in the order of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and name not in self.commands and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, self.commands, n=1)
            hint = f" Did you mean {near[0]}?" if near else " See editvec --help."
            raise UserError(f"no verb {name!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="editvec")
def app() -> None:
    """Learn from edits: mine them from any git history, turn them into vectors, apply them by example.

    \b
    editvec learn                                      # what does this repository keep changing, and where is it due?
    editvec apply 1                                    # the first pattern's places, as a diff
    editvec mine .                                     # this repository's edits → edits.jsonl.gz
    editvec show edits.jsonl.gz                        # look at some of them
    editvec train --train edits.jsonl.gz -o runs/mine  # learn them
    editvec edit runs/mine --before 'i = i + 1;' --like-before 'x = x + 1;' --like-after 'x++;'
    editvec apply --like 'x = x + 1;' 'x++;' src/      # the same by a verified rule: prints a diff, writes nothing
    editvec encode runs/mine edits.jsonl.gz -o edits.index
    editvec cluster edits.index                        # which edits belong together
    """


_VERBS = (
    learn.learn,
    find.find,
    apply.apply,
    rule.rule,
    serve.serve,
    mine.mine,
    show.show,
    draw.draw,
    stats.stats,
    convert.convert,
    split.split,
    train.train,
    evaluate.evaluate,
    edit.edit,
    encode.encode,
    neighbours.neighbours,
    cluster.cluster,
    map.draw_map,
    probe.probe,
    transfer.transfer,
    rate.rate,
    reproduce.reproduce,
    cache.cache,
    completion.completion,
)
for _verb in _VERBS:
    app.add_command(_verb)


def main() -> None:
    """Runs the command line. What a user can cause is one line on stderr; exit codes say which kind it was."""
    try:
        code = app.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except UserError as error:
        _complain(str(error))
        sys.exit(error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        _complain(error.format_message())
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _complain("stopped.")
        sys.exit(StoppedError.exit_code)
    except BrokenPipeError:
        # The reader of our output went away (`editvec show … | head`): nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        _complain(f"{error.filename or 'input/output'}: {error.strerror or error}")
        sys.exit(1)


def _complain(message: str) -> None:
    from editvec.cli.terminal import in_one_line

    click.echo(f"editvec: {in_one_line(message)}", err=True)
