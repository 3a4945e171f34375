"""`editvec rule`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from editvec.core.edit import Edit
    from editvec.rules.sites import RuleExample
    from editvec.rules.verification import VerifiedRule


@click.command()
@click.argument("ids", nargs=-1)
@click.option("--from", "pairs", nargs=2, multiple=True, metavar="BEFORE AFTER", help="An example; give several.")
@click.option("--text", is_flag=True, help="The examples are pieces of code or prose, not files.")
@click.option("--edits", "file", help="Take mined edits of this file: those of IDS, or all.")
@click.option("--language", help="What the examples are written in; by default by the files' endings.")
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), help="The file for the rules; by default they are printed."
)
@click.option("--test", "with_tests", is_flag=True, help="Also write ast-grep's test files beside the rules.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def rule(
    ids: tuple[str, ...],
    pairs: tuple[tuple[str, str], ...],
    text: bool,
    file: str | None,
    language: str | None,
    out: Path | None,
    with_tests: bool,
    as_json: bool,
) -> None:
    """Make rules of examples: what the examples share stays, what differs becomes a metavariable.

    A rule is an ast-grep rule with a fix (for prose, a replacement of words). It is printed only if it turns each of
    its examples into what that became, token by token, and then finds nothing to do there any more: a rule for code is
    run by ast-grep itself. The exit code is 1 when there is no such rule.

    \b
    editvec rule --text --language csharp --from 'x = x + 1;' 'x++;'
    editvec rule --from old/Cart.cs new/Cart.cs --from old/Order.cs new/Order.cs -o rule.yml
    editvec rule --edits edits.jsonl.gz '#12' '#40' '#41' -o rule.yml --test
    """
    from editvec.cli.terminal import print_json
    from editvec.core.errors import UserError
    from editvec.core.files import write_atomically
    from editvec.rules.induction import induce, make_rules

    if bool(pairs) == bool(file):
        raise UserError("give examples with --from BEFORE AFTER, or mined edits with --edits FILE.")
    if ids and not file:
        raise UserError(f"{ids[0]} is left over. Give more examples with --from BEFORE AFTER, or --edits FILE for ids.")
    if with_tests and out is None:
        raise UserError("--test writes files beside the rules. Say where with -o rule.yml.")
    examples: list[RuleExample] = []
    if pairs and not text:
        examples = _from_files(pairs, language)
        found = induce(examples) if examples else []
        edits: list[Edit] = []
    else:
        edits = _from_store(file, ids) if file else _from_texts(pairs, language)
        found = make_rules(edits)
    if not found:
        raise _Nothing(f"no rule: {_reason(edits, examples)}.")
    written = "---\n".join(each.rule.as_yaml() for each in found)
    if out is not None:
        write_atomically(out, written.encode("utf-8", "surrogateescape"))
        if with_tests:
            _write_tests(out, found, edits, examples)
    if as_json:
        print_json([_as_json(each) for each in found])
    elif out is None:
        click.echo(written.encode("utf-8", "surrogateescape"), nl=False)
    total = len(examples) or len(edits)
    for each in found:
        share = f"{len(each.verification.support)} of {total} examples" if total > 1 else "verified"
        click.echo(f"editvec: {each.rule.id}: {share}", err=True)


class _Nothing(click.ClickException):
    """There is no rule; nothing is wrong with the command."""

    exit_code = 1


def _from_files(pairs: tuple[tuple[str, str], ...], language: str | None) -> list[RuleExample]:
    """Whole files as examples; prose goes by its edits instead."""
    from editvec.core.errors import UserError
    from editvec.core.text import FileText
    from editvec.rules.sites import file_example
    from editvec.syntax.languages import Language, get, language_of

    found = []
    for before, after in pairs:
        known = get(language) if language else language_of(before)
        if known is None:
            raise UserError(
                f"{before}: what is it written in? Say so with --language, or give --text for pieces of code."
            )
        if not isinstance(known, Language):
            raise UserError(f"{before} is prose. Give sentences with --text --language {known.name}.")
        for name in (before, after):
            if not Path(name).is_file():
                raise UserError(f"{name} is not a file. Give --text if it is a piece of code.")
        texts = [FileText(Path(name).read_bytes()).utf8 for name in (before, after)]
        found.append(file_example(before, known, texts[0], texts[1]))
    if len({example.language.name for example in found}) > 1:
        raise UserError("the examples are in several languages. Make a rule for each.")
    return found


def _from_texts(pairs: tuple[tuple[str, str], ...], language: str | None) -> list[Edit]:
    from editvec.core.errors import UserError
    from editvec.syntax.snippet import snippet_edit

    if language is None:
        raise UserError("say what the examples are written in: --language csharp, python, markdown …")
    return [snippet_edit(before, after, language, f"example {at}") for at, (before, after) in enumerate(pairs, 1)]


def _from_store(file: str, ids: tuple[str, ...]) -> list[Edit]:
    from editvec.data import edit_files
    from editvec.data.sampling import select

    if not ids:
        return list(edit_files.read(file))
    return [select(edit_files.read(file), identity=identity)[0][1] for identity in ids]


def _reason(edits: list[Edit], examples: list[RuleExample]) -> str:
    from editvec.rules.induction import why_not
    from editvec.rules.sites import edit_example

    found = examples or [example for edit in edits if (example := edit_example(edit)) is not None]
    if not found:
        return "the examples do not parse, or say the same before and after"
    if len({example.language.name for example in found}) > 1:
        return "the examples are in several languages and have nothing in common"
    return why_not(found)


def _as_json(each: VerifiedRule) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "id": each.rule.id,
        "language": each.rule.language,
        "summary": each.rule.summary,
        "yaml": each.rule.as_yaml(),
        "verification": asdict(each.verification),
    }


def _write_tests(out: Path, found: list[VerifiedRule], edits: list[Edit], examples: list[RuleExample]) -> None:
    """ast-grep's own tests: what must be found (invalid) and what must not (valid)."""
    from editvec.core.files import write_atomically
    from editvec.rules.rule import Rule, test_file
    from editvec.rules.sites import edit_example

    shown = examples or [example for edit in edits if (example := edit_example(edit)) is not None]
    for each in found:
        if isinstance(each.rule, Rule):
            claimed = [example for example in shown if example.id in each.verification.support]
            texts = [(example.before.decode(), example.after.decode()) for example in claimed]
            place = out.with_name(f"{each.rule.id}-test.yml")
            write_atomically(place, test_file(each.rule, texts).encode())
