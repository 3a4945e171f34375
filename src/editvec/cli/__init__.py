"""The command line: one file per verb, which parses arguments, calls the library and prints.

Verbs import what they need when they run, so that `editvec --help` is fast and never loads a parser or a network.
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
    finish,
    learn,
    lsp,
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
    undo,
)
from editvec.core.about import __version__
from editvec.core.errors import StoppedError, UserError


class _Group(click.Group):
    """A group that suggests a verb if one is misspelt, and lists its verbs in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order in which they were added."""
        return list(self.commands)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command of a verb.

        Raises:
            UserError: There is no such verb.
        """
        name = args[0] if args else ""
        if name and name not in self.commands and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, self.commands, n=1)
            hint = f" Did you mean {near[0]}?" if near else " See editvec --help."
            raise UserError(f"there is no verb {name!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="editvec")
def app() -> None:
    r"""Learn from edits: mine them from any git history, turn them into vectors, apply them by example.

    \b
    editvec finish                                     # where else do the edits that I have just begun belong?
    editvec learn                                      # which edits recur in this repository, and where are they due?
    editvec apply 1                                    # the places of the first pattern, as a diff
    editvec mine .                                     # write the edits of this repository to edits.jsonl.gz
    editvec show edits.jsonl.gz                        # show the first ones
    editvec train --train edits.jsonl.gz -o runs/mine  # train a model on them
    editvec edit runs/mine --before 'i = i + 1;' --like-before 'x = x + 1;' --like-after 'x++;'
    editvec apply --like 'x = x + 1;' 'x++;' src/      # the same with a verified rule: prints a diff, writes nothing
    editvec encode runs/mine edits.jsonl.gz -o edits.index
    editvec cluster edits.index                        # cluster similar edits
    """


_VERBS = (
    finish.finish,
    learn.learn,
    find.find,
    apply.apply,
    undo.undo,
    rule.rule,
    serve.serve,
    lsp.lsp,
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
for _command in (app, *_VERBS):
    # The docstrings are raw, so they contain "\b" as two characters. click expects the control character itself before
    # a paragraph that it must not wrap.
    _command.help = (_command.help or "").replace("\\b\n", "\b\n")


def main() -> None:
    """Run the command line, and exit.

    An error that a user can cause is printed to stderr in one line. The exit code shows what kind of error it is.
    """
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
        # The reader of our output has stopped reading (`editvec show edits.jsonl.gz | head`), which is not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        _complain("out of memory. Give fewer files or commits at once, or free memory.")
        sys.exit(1)
    except OSError as error:
        _complain(f"{error.filename or 'input/output'}: {error.strerror or error}")
        sys.exit(1)


def _complain(message: str) -> None:
    from editvec.cli.terminal import in_one_line

    click.echo(f"editvec: {in_one_line(message)}", err=True)
