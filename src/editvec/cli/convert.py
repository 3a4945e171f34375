"""`editvec convert`."""

from __future__ import annotations

import click


@click.command()
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option(
    "--format",
    "form",
    type=click.Choice(["native", "githubedits"]),
    default="native",
    show_default=True,
    help="What to write into a .jsonl file.",
)
@click.option(
    "--skip-bad",
    is_flag=True,
    help="Leave out damaged lines, and edits that OUT cannot hold, and count them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the counts as JSON.")
def convert(source: str, target: str, form: str, skip_bad: bool, as_json: bool) -> None:
    """Convert an edit file to another format, by the files' names.

    .jsonl.gz and .jsonl are editvec's own format, one edit a line, and .parquet is the same in columns (with the extra
    "data"). Lines of the published GitHubEdits are recognised in IN and written with --format githubedits. .tsv and
    .tsv.gz are WikiAtomicEdits. OUT appears only when it is whole.

    \b
    editvec convert edits.jsonl.gz edits.jsonl.gz
    editvec convert sentences.tsv sentences.jsonl.gz
    editvec convert edits.jsonl.gz published.jsonl.gz --format githubedits
    """
    from pathlib import Path

    from editvec.cli.terminal import counted, describe, in_one_line, print_json, printable
    from editvec.core.errors import UserError
    from editvec.data import edit_files

    if Path(source).exists() and Path(target).exists() and Path(source).samefile(target):
        raise UserError("IN and OUT are the same file.")
    edit_files.check_target(Path(target), form)
    damage, refused = (edit_files.Damage(), edit_files.Damage()) if skip_bad else (None, None)
    edits = counted(edit_files.read(source, damage=damage), "Converting", edit_files.count(source))
    written = edit_files.write(target, edits, refused=refused, form=form)
    skipped = [found for found in (damage, refused) if found and found.count]
    if as_json:
        print_json(
            {
                "edits": written,
                "damaged": damage.count if damage else 0,
                "refused": refused.count if refused else 0,
                "out": target,
            }
        )
        return
    click.echo(f"{describe(written)} edits → {in_one_line(target)}")
    for found in skipped:
        click.echo(
            f"editvec: left out {describe(found.count)}; the first: {printable(str(found.first[0]))}",
            err=True,
        )
