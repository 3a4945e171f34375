"""Measure rules from k files of a fixer on its other files, compared byte by byte with the official result.

    python benchmarks/fixers.py --data DATA --k 1 3 10 --draws 2
    python benchmarks/fixers.py --data DATA --k 3 10 --draws 1 --editor packaged
    python benchmarks/fixers.py --data DATA --language python --k 1 3 --draws 1 --finish --held-out

Only the official site counts, because a file holds one fix and a rule may correctly match at others; these are counted
as "besides". A site is exact if the file equals the official fixer's result byte for byte. It counts as "+white space"
if only white space differs (the official fixers also re-indent lines; a rule does not change them), as "alone" if no
rule matches there, and as wrong if a rule writes something else. With `--editor`, a trained model is used where no rule
matches, as in `editvec apply --like BEFORE AFTER --editor`, and its results are counted separately. With `--finish`,
the k files are shown as `editvec finish` sees them, and what is at least possible is written in place of rules. With
`--held-out`, only the rules are used that no threshold was ever chosen on.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from editvec.core.edit import Demonstration, Edit
from editvec.core.match import Match
from editvec.core.splice import apply_matches, disjoint
from editvec.neural.model import EditModel, folder_of, load
from editvec.rules import astgrep
from editvec.rules.induction import induce
from editvec.rules.rule import InducedRule, dump
from editvec.rules.sites import RuleExample, num_common
from editvec.rules.verification import VerifiedRule, same_tokens
from editvec.suggest.complete import complete
from editvec.suggest.editor import finder_like
from editvec.suggest.few_shot import FewShotEditor
from editvec.suggest.match import Finder
from editvec.syntax import languages
from editvec.syntax.languages import Language
from editvec.syntax.snippet import snippet_edit
from editvec.syntax.treesitter import Parsed
from editvec.vcs.worktree import File

FILES = {"csharp": "csharp_fixers_files.jsonl.gz", "python": "python_fixers_files.jsonl.gz"}
ENDINGS = {"csharp": "cs", "python": "py"}
TUNED = frozenset(
    "CA2007 RCS1021 RCS1032 RCS1058 RCS1077 RCS1118 RCS1123 RCS1206 "
    "UP004 UP008 UP024 UP030 UP031 UP032 UP034 UP039 C400 C401 C402 C405 C408 C416".split()
)
"""Fixers that thresholds may be chosen on."""
VERDICTS = ("exact", "spaced", "alone", "wrong")


def example_of(row: dict[str, Any], language: Language) -> RuleExample:
    """A file of a fixer, which could have fixed more of it."""
    before, after = row["before"].encode(), row["after"].encode()
    return RuleExample(
        row["id"], language, before, after, changed(before, after), changed(after, before), one_of_many=True
    )


def changed(data: bytes, other: bytes) -> tuple[int, int]:
    """The bytes that differ from another version."""
    low = num_common(data, other)
    return low, len(data) - num_common(data[low:][::-1], other[low:][::-1])


def judge(rules: Sequence[VerifiedRule], tests: Sequence[RuleExample]) -> list[tuple[str, int, str]]:
    """For each test its verdict, how often the rules match besides, and what was written."""
    if not rules:
        return [("alone", 0, "") for _ in tests]
    written = [each.rule.as_dict() for each in rules if isinstance(each.rule, InducedRule)]
    text = "---\n".join(dump({**rule, "id": str(at)}) for at, rule in enumerate(written))
    found = astgrep.scan(text, [test.before for test in tests], tests[0].language.name)
    return [_verdict(test, matches) for test, matches in zip(tests, found, strict=True)]


def judge_finish(shown: Sequence[RuleExample], tests: Sequence[RuleExample]) -> list[tuple[str, int, str]]:
    """The same for what finishing the edits of whole files would write, each test by itself."""
    verdicts = []
    for test in tests:
        ending = ENDINGS[test.language.name]
        demonstrations = [
            Demonstration(f"shown/{at}.{ending}", each.before, each.after) for at, each in enumerate(shown)
        ]
        file = File(f"test/file.{ending}", test.language.name, test.before)
        matches = [
            Match("0", each.start, each.end, each.before, each.after) for each in complete(demonstrations, [file])
        ]
        verdicts.append(_verdict(test, matches))
    return verdicts


def judge_editor(find: Finder, tests: Sequence[RuleExample]) -> list[tuple[str, int, str]]:
    """The same for what an editor would write."""
    found = find([test.before for test in tests])
    return [
        _verdict(test, [each._replace(rule=str(at)) for at, each in enumerate(matches)])
        for test, matches in zip(tests, found, strict=True)
    ]


def edit_of(example: RuleExample) -> Edit | None:
    """The smallest statement that a fix is in, before and after it; None where the two do not correspond."""
    sides = [(example.before, example.after), (example.after, example.before)]
    spans = []
    for data, other in sides:
        low, high = changed(data, other)
        units = Parsed(example.language, data).units(0, len(data))
        spans.append({(unit.start, len(data) - unit.end) for unit in units if unit.start <= low and high <= unit.end})
    start, behind = max(spans[0] & spans[1], key=sum, default=(0, 0))
    if not (start or behind):
        return None
    before, after = (data[start : len(data) - behind].decode(errors="replace") for data, _ in sides)
    return snippet_edit(before, after, example.language.name)


def _verdict(test: RuleExample, matches: Sequence[Match]) -> tuple[str, int, str]:
    match = _at_site(matches, changed(test.before, test.after))
    besides = len(disjoint([each for each in matches if each is not match]))
    if match is None:
        return "alone", besides, ""
    result = apply_matches(test.before, [match])
    exact = "exact" if result == test.after else "spaced" if same_tokens(test, result) else "wrong"
    return exact, besides, f"[{match.rule}] {match.text}  →  {match.replacement}"


def _at_site(matches: Sequence[Match], site: tuple[int, int]) -> Match | None:
    """The smallest match of the most supported rule that touches the site."""
    touching = [each for each in matches if each.start <= site[1] and site[0] <= each.end]
    return min(touching, key=lambda each: (int(each.rule), each.end - each.start), default=None)


def main() -> None:
    """Prints a table for each k, and with --show what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data",
        default=os.environ.get("EDITVEC_DATA"),
        type=Path,
        required="EDITVEC_DATA" not in os.environ,
        help="folder of the data; the default is $EDITVEC_DATA",
    )
    parser.add_argument("--k", type=int, nargs="+", default=[1, 3, 10], help="number of files to learn from")
    parser.add_argument("--draws", type=int, default=2, help="number of draws of k files")
    parser.add_argument("--seed", type=int, default=0, help="seed of the draws")
    parser.add_argument("--editor", help="trained model to use where no rule matches")
    parser.add_argument(
        "--sure", type=float, default=0.8, help="minimum estimated probability that the editor is correct"
    )
    parser.add_argument("--fixers", nargs="*", help="names of the fixers to use; the default is all")
    parser.add_argument("--language", default="csharp", choices=list(FILES), help="language of the files")
    parser.add_argument("--finish", action="store_true", help="finish the edits of the files, without rules")
    parser.add_argument("--held-out", action="store_true", help="use only fixers that nothing was chosen on")
    parser.add_argument("--show", action="store_true", help="print the rules and the wrong results")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    groups: dict[str, list[RuleExample]] = defaultdict(list)
    language = languages.get(options.language)
    assert isinstance(language, Language)
    with gzip.open(options.data / FILES[options.language], "rb") as stream:
        for line in stream:
            row = orjson.loads(line)
            fixer = row["id"].partition("_")[0]
            if (not options.fixers or fixer in options.fixers) and not (options.held_out and fixer in TUNED):
                groups[fixer].append(example_of(row, language))
    editor = load(folder_of(options.editor)) if options.editor else None
    results = {}
    for k in options.k:
        table = {fixer: _run(fixer, examples, k, options, editor) for fixer, examples in sorted(groups.items())}
        results[k] = {fixer: dict(counts) for fixer, counts in table.items()}
        if not options.json:
            _print(k, table)
    if options.json:
        print(json.dumps(results))


def _run(
    fixer: str, examples: list[RuleExample], k: int, options: argparse.Namespace, editor: EditModel | None
) -> Counter[str]:
    counts: Counter[str] = Counter()
    show: bool = options.show
    for draw in range(options.draws):
        order = list(examples)
        random.Random(f"{options.seed} {fixer} {draw}").shuffle(order)
        rules = [] if options.finish else induce(order[:k])
        tests = order[k:]
        counts["rules"] += len(rules)
        counts["draws"] += 1
        if show:
            for at, each in enumerate(rules):
                inside = f"  in {each.rule.inside}" if isinstance(each.rule, InducedRule) and each.rule.inside else ""
                print(
                    f"  {fixer} [{at}] {len(each.verification.support)}× {each.rule.summary}{inside}", file=sys.stderr
                )
        verdicts = judge_finish(order[:k], tests) if options.finish else judge(rules, tests)
        shown = [edit for edit in map(edit_of, order[:k]) if edit is not None and _fits(edit, editor)]
        if editor is not None and shown:
            left = [at for at, (verdict, _, _) in enumerate(verdicts) if verdict == "alone"]
            said = judge_editor(finder_like(FewShotEditor(editor), shown, options.sure), [tests[at] for at in left])
            for at, (verdict, besides, wrote) in zip(left, said, strict=True):
                counts[f"editor {verdict}"] += 1
                verdicts[at] = verdict, verdicts[at][1] + besides, wrote
        for test, (verdict, besides, wrote) in zip(tests, verdicts, strict=True):
            counts[verdict] += 1
            counts["besides"] += besides
            if show and verdict == "wrong":
                low, high = changed(test.after, test.before)
                official = test.after[max(0, low - 30) : high + 30].decode(errors="replace")
                print(f"    wrong {test.id}: {wrote!r}\n          official …{official!r}…", file=sys.stderr)
        for example in order:
            example.__dict__.pop("code_before", None)
            example.__dict__.pop("code_after", None)
    return counts


def _fits(edit: Edit, editor: EditModel | None) -> bool:
    return editor is not None and len(edit.before.tokens) + len(edit.after.tokens) < editor.config.max_tokens


def _print(k: int, table: dict[str, Counter[str]]) -> None:
    print(f"\nk = {k}        sites   exact  +white space  alone   wrong   besides/file  rules")
    shares: list[list[float]] = []
    total: Counter[str] = Counter()
    for fixer, counts in table.items():
        shares.append(_row(fixer, counts))
        total += counts
    _row("micro", total)
    if said := {name: total[f"editor {name}"] for name in VERDICTS if total[f"editor {name}"]}:
        print("of these by the editor, sites: " + ", ".join(f"{name} {count}" for name, count in said.items()))
    means = [sum(column) / len(column) for column in zip(*shares, strict=True)]
    print(f"{'macro':<10}{'':>8}" + "".join(f"{100 * mean:8.1f}" for mean in means))


def _row(name: str, counts: Counter[str]) -> list[float]:
    sites = sum(counts[verdict] for verdict in VERDICTS)
    share = [counts[verdict] / max(sites, 1) for verdict in VERDICTS]
    share[1] += share[0]
    line = "".join(f"{100 * each:8.1f}" for each in share)
    besides, rules = counts["besides"] / max(sites, 1), counts["rules"] / max(counts["draws"], 1)
    print(f"{name:<10}{sites:>8}{line}{besides:12.2f}{rules:10.1f}", flush=True)
    return share


if __name__ == "__main__":
    main()
