"""`editvec stats`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from editvec.data.splits import Leak
    from editvec.data.stats import Stats


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--most", default=15, show_default=True, type=click.IntRange(0), help="Number of frequent edits to list.")
@click.option("--skip-bad", is_flag=True, help="Skip damaged lines and count them.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def stats(files: tuple[str, ...], most: int, skip_bad: bool, as_json: bool) -> None:
    r"""Print statistics of edit files.

    They are lengths, distances, vocabulary, duplicates and the most frequent edits. For several files, such as the
    splits of a data set, also print how many edits of each file occur verbatim in the files before it.

    \b
    editvec stats edits.jsonl.gz
    editvec stats train.jsonl.gz dev.jsonl.gz test.jsonl.gz --json
    """
    from editvec.cli.terminal import print_json, progress, tell_damage
    from editvec.data.stats import stats as run

    counted = run(files, skip_bad=skip_bad, progress=progress)
    if as_json:
        print_json(counted.as_json(most))
        return
    for file, found in counted.files.items():
        _print(file, found, most)
    if counted.leak:
        _print_leak(counted.leak)
    tell_damage(counted.damage)


def _print(file: str, found: Stats, most: int) -> None:
    from rich.table import Table

    from editvec.cli.terminal import console, describe, printable

    out = console()
    commits = f", {describe(len(found.commits))} commits" if found.commits else ""
    out.print(f"{printable(file)}: {describe(found.edits)} edits{commits}, {describe(found.duplicates)} duplicates")
    for name, counter in (
        ("languages", found.languages),
        ("labels", found.labels),
        ("projects", found.repositories),
    ):
        if counter:
            top = ", ".join(f"{printable(key)} {describe(count)}" for key, count in counter.most_common(20))
            more = f" and {len(counter) - 20} more" if len(counter) > 20 else ""
            out.print(f"  {name}  {top}{more}")
    table = Table(box=None, padding=(0, 2), header_style="bold")
    for title in ("", "mean", "median", "95 %", "max"):
        table.add_column(title, justify="left" if not title else "right")
    rows = [("tokens before", found.before), ("tokens after", found.after), ("edit distance", found.distance)]
    if found.tree_before.counts:
        rows += [("nodes before", found.tree_before), ("nodes after", found.tree_after)]
    for title, values in rows:
        cells = (values.quantile(share) for share in (0.5, 0.95, 1.0))
        table.add_row(title, f"{values.mean:.1f}", *(describe(cell) for cell in cells))
    out.print(table)
    out.print(f"  edit distance below 5: {found.distance.share_below(5):.1%}")
    out.print(
        f"  vocabulary: {describe(len(found.vocabulary))} tokens, {describe(found.frequent_tokens)} seen ten times"
    )
    if most and found.changes:
        frequent = Table(box=None, padding=(0, 2), header_style="bold")
        frequent.add_column("edits", justify="right")
        frequent.add_column("change")
        for change, count in found.changes.most_common(most):
            frequent.add_row(describe(count), printable(change)[:160])
        out.print(frequent)
    out.print()


def _print_leak(leak: Leak) -> None:
    from editvec.cli.terminal import console, describe, printable

    out = console()
    for name in list(leak.counts)[1:]:
        out.print(
            f"{printable(name)}: {describe(leak.leaked[name])} of {describe(leak.counts[name])} edits "
            f"({leak.share(name):.1%}) occur verbatim in a file before it"
        )
