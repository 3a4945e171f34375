"""Make verified rules from examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.core.files import write_atomically
from editvec.core.text import FileText
from editvec.data import edit_files
from editvec.data.sampling import select
from editvec.rewrite.writer import find_files, is_worth_reading
from editvec.rules.induction import induce, make_rules, neighbours, why_not
from editvec.rules.matching import match_rules
from editvec.rules.rule import InducedRule, runnable, test_file
from editvec.rules.sites import RuleExample, edit_example, file_example
from editvec.rules.verification import VerifiedRule
from editvec.syntax.languages import Language, get, language_of
from editvec.syntax.snippet import snippet_edit


@dataclass(slots=True)
class MadeRules:
    """The rules of some examples, or the reason why there are none."""

    rules: list[VerifiedRule] = field(default_factory=list)
    num_examples: int = 0
    reason: str = ""
    """Why there is no rule; empty if there is one."""
    narrower: VerifiedRule | None = None
    """The next more specific rule, if there is one rule."""
    broader: VerifiedRule | None = None
    """The next more general rule, if there is one rule."""
    touched: dict[str, int] = field(default_factory=dict)
    """The number of matches of each rule, by the rule's id, in the files that were searched."""

    @property
    def yaml(self) -> str:
        """Return all rules as YAML."""
        return "---\n".join(each.rule.as_yaml() for each in self.rules)

    def as_json(self) -> list[dict[str, Any]]:
        """Return the rules as JSON values."""
        return [each.as_json() for each in self.rules]


def rule(
    ids: Sequence[str] = (),
    examples: Sequence[tuple[str, str]] = (),
    *,
    text: bool = False,
    edits: str | Path | None = None,
    language: str | None = None,
    paths: Sequence[str | Path] = (),
    out: Path | None = None,
    test: bool = False,
) -> MadeRules:
    """Make verified rules from examples: what they share stays, what differs becomes a metavariable.

    `examples` are pairs of files or, with `text`, of snippets. Without them, the examples are mined edits from the file
    `edits`: those with the given `ids`, or all. Beside a single rule, the next narrower and the next broader one are
    returned, and the matches of all are counted in the files and folders `paths`. The rules are written to `out` if it
    is given. With `test`, ast-grep's tests of the rules are written beside them.

    Raises:
        UserError: The examples cannot be read, or the options contradict each other.

    Examples:
        >>> import editvec
        >>> made = editvec.rule(examples=[("x = x + 1;", "x++;")], text=True, language="csharp")
        >>> made.rules[0].rule.summary
        '$X = $X + 1  →  $X++'
    """
    if bool(examples) == bool(edits):
        raise UserError("give either examples with --from BEFORE AFTER or mined edits with --edits FILE.")
    if ids and not edits:
        raise UserError(
            f"{ids[0]} is read as the id of an edit, which needs --edits FILE. Add examples with --from BEFORE AFTER."
        )
    if test and out is None:
        raise UserError("--test writes tests beside the rules. Give the file of the rules with -o rule.yml.")
    if examples and not text:
        made_from = [_file_example(*each, language) for each in examples]
        if len({example.language.name for example in made_from}) > 1:
            raise UserError("the examples are in several languages. Make a rule for each language.")
        made = MadeRules(induce(made_from), len(made_from))
    else:
        given = _edits_of(str(edits), ids) if edits else _snippets(examples, language)
        made = MadeRules(make_rules(given), len(given))
        made_from = [example for edit in given if (example := edit_example(edit)) is not None]
    if not made.rules:
        made.reason = _reason(made_from)
        return made
    if len(made.rules) == 1 and isinstance(made.rules[0].rule, InducedRule):
        made.narrower, made.broader = neighbours(made.rules[0].rule, made_from)
    made.touched = _touched([*made.rules, *filter(None, (made.narrower, made.broader))], paths)
    if out is not None:
        write_atomically(out, made.yaml.encode("utf-8", "surrogateescape"))
        if test:
            _write_tests(out, made.rules, made_from)
    return made


def _touched(rules: Sequence[VerifiedRule], paths: Sequence[str | Path]) -> dict[str, int]:
    """Return how many matches each rule has in the files of its language below some paths."""
    counts: Counter[str] = Counter({each.rule.id: 0 for each in rules} if paths else {})
    for language in sorted({each.rule.language for each in rules}) if paths else ():
        chosen = [runnable(each.rule) for each in rules if each.rule.language == language]
        files = find_files([Path(path) for path in paths], {language}, Counter())
        texts = [FileText(data).utf8 for file in files if is_worth_reading(data := file.read_bytes())]
        counts.update(match.rule for matches in match_rules(chosen, texts, language) for match in matches)
    return dict(counts)


def _file_example(before: str, after: str, language: str | None) -> RuleExample:
    known = get(language) if language else language_of(before)
    if known is None:
        raise UserError(f"the language of {before} is unknown. Give --language, or --text if it is a snippet.")
    if not isinstance(known, Language):
        raise UserError(f"{before} is prose. Give single sentences instead, with --text --language {known.name}.")
    for name in (before, after):
        if not Path(name).is_file():
            raise UserError(f"{name} is not a file. Give --text if it is a snippet.")
    return file_example(before, known, *(FileText(Path(name).read_bytes()).utf8 for name in (before, after)))


def _snippets(examples: Sequence[tuple[str, str]], language: str | None) -> list[Edit]:
    if language is None:
        raise UserError("the language of the examples is missing. Give it, for example with --language csharp.")
    return [snippet_edit(before, after, language, f"example {at}") for at, (before, after) in enumerate(examples, 1)]


def _edits_of(file: str, ids: Sequence[str]) -> list[Edit]:
    if not ids:
        return list(edit_files.read(file))
    return [select(edit_files.read(file), identity=identity)[0][1] for identity in ids]


def _reason(examples: Sequence[RuleExample]) -> str:
    if not examples:
        return "the examples do not parse, or before and after are the same"
    if len({example.language.name for example in examples}) > 1:
        return "the examples are in several languages and have nothing in common"
    return why_not(examples)


def _write_tests(out: Path, rules: Sequence[VerifiedRule], examples: Sequence[RuleExample]) -> None:
    """Write ast-grep's tests of the rules: texts that must match (invalid) and must not match (valid)."""
    for each in rules:
        if isinstance(each.rule, InducedRule):
            claimed = [example for example in examples if example.id in each.verification.support]
            texts = [(example.before.decode(), example.after.decode()) for example in claimed]
            write_atomically(out.with_name(f"{each.rule.id}-test.yml"), test_file(each.rule, texts).encode())
