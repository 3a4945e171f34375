"""Check the laws of applying rules on all files of real repositories.

The laws: nothing outside an edit changes; git accepts the diff and makes the same bytes of it; no file stops parsing;
applying the rules again changes nothing more.

    python benchmarks/rewrite.py path/to/clone path/to/another
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import click

from editvec.rewrite.patch import unified_diff
from editvec.rewrite.plan import FilePlan
from editvec.rewrite.writer import find_files, is_worth_reading
from editvec.rules.induction import make_rules
from editvec.rules.rule import Rule, load_rules
from editvec.suggest.match import plan_files
from editvec.syntax.snippet import snippet_edit
from editvec.vcs.git import open_repository

EXAMPLES = {
    "csharp": [
        ("x = x + 1;", "x++;"),
        ("await Load(id);", "await Load(id).ConfigureAwait(false);"),
        ("var a = x == null ? null : x.B;", "var a = x?.B;"),
        ("Assert.Equal(a, b);", "Assert.Same(a, b);"),
    ],
    "python": [("self.assertEqual(a, b)", "self.assertEquals(a, b)"), ("y = len(xs) == 0", "y = not xs")],
    "java": [
        ("assertEquals(a, b);", "assertThat(b).isEqualTo(a);"),
        ("if (a.size() == 0) { }", "if (a.isEmpty()) { }"),
    ],
    "javascript": [
        ("a = xs.indexOf(x) !== -1;", "a = xs.includes(x);"),
        ("assert.equal(a, b)", "assert.strictEqual(a, b)"),
    ],
    "typescript": [("expect(a).toEqual(b);", "expect(a).toStrictEqual(b);")],
    "go": [
        ("assert.Equal(t, a, b)", "require.Equal(t, a, b)"),
        ("if err != nil { return err }", "if err != nil { panic(err) }"),
    ],
    "rust": [
        ("let a = x.unwrap();", 'let a = x.expect("is set");'),
        ("let a = b.clone();", "let a = Clone::clone(&b);"),
    ],
    "cpp": [("if (v.size() == 0) { }", "if (v.empty()) { }"), ("a = x == NULL;", "a = x == nullptr;")],
}


def rules_of(language: str) -> list[Rule]:
    """A rule of each example."""
    found = []
    for before, after in EXAMPLES[language]:
        for each in make_rules([snippet_edit(before, after, language, before)]):
            found += load_rules(each.rule.as_yaml())
    return found


def check(change: FilePlan, copy: Path) -> Iterator[str]:
    """What is wrong with a change, compared with what git makes of its diff."""
    shift = at = 0
    for edit in change.edits:
        if change.after[at + shift : edit.start + shift] != change.before[at : edit.start]:
            yield "a byte outside an edit changed"
        shift += len(edit.text) - (edit.end - edit.start)
        at = edit.end
    if change.after[at + shift :] != change.before[at:]:
        yield "a byte behind the edits changed"
    if copy.read_bytes() != change.after:
        yield "git makes something else of the diff"


def run(place: Path) -> int:
    """Checks one repository and prints a line for each rule; the number of broken laws."""
    broken = 0
    with TemporaryDirectory() as name:
        folder, applied = Path(name) / "tree", Path(name) / "applied"
        folder.mkdir()
        archive = open_repository(place).run("archive", "HEAD")
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
        for language in EXAMPLES:
            files = list(find_files([folder], {language}))
            texts = [(file, data) for file in files if is_worth_reading(data := file.read_bytes())]
            for rule in rules_of(language) if texts else []:
                changes = plan_files([rule], texts)
                good = [change for change in changes if not change.problem]
                copytree(folder, applied, symlinks=True)
                diff = b"".join(unified_diff(_name(change, folder), change.before, change.edits) for change in good)
                if diff:
                    command = ["git", "apply", "--whitespace=nowarn", "-"]
                    subprocess.run(command, input=diff, cwd=applied, check=True)
                for change in good:
                    assert change.path is not None
                    for problem in check(change, applied / change.path.relative_to(folder)):
                        broken += 1
                        print(f"{change.path}: {problem}")
                again = plan_files([rule], [(change.path, change.after) for change in good])
                places = sum(len(change.edits) for change in good)
                broken += len(again)
                counts = f"{places:>6} places in {len(good):>4} of {len(texts):>5} files"
                left = f"{len(changes) - len(good)} refused, {len(again)} not done at once"
                print(f"{place.parent.name:<28}{language:<12}{counts}, {left}   {rule.message}", flush=True)
                subprocess.run(["rm", "-rf", str(applied)], check=True)
    return broken


def _name(change: FilePlan, folder: Path) -> bytes:
    assert change.path is not None
    return str(change.path.relative_to(folder)).encode("utf-8", "surrogateescape")


@click.command()
@click.argument("clones", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(clones: tuple[Path, ...]) -> None:
    """Check the laws of applying rules on clones; the exit code is 1 if a law is broken."""
    broken = sum(map(run, clones))
    raise SystemExit(1 if broken else 0)


if __name__ == "__main__":
    main()
