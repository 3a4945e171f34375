"""Compare what a rule writes through editvec with what ast-grep alone writes with the same rule, byte by byte.

    python benchmarks/differential.py path/to/clone other/clone.git -o differential.json

HEAD of each clone is unpacked twice below a temporary folder. One copy is written by `ast-grep scan -U`, again until it
changes nothing, the other one by `editvec apply -U`. Each file that differs gets a reason, or counts as unexplained.
Before it writes, editvec prints its diff, which `git apply --check` must accept.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import orjson

import editvec
from editvec.core.errors import UserError
from editvec.core.text import FileText
from editvec.rewrite.patch import unified_diff
from editvec.rewrite.writer import find_files, is_worth_reading
from editvec.rules.astgrep import program

RULES = {
    "python": [("$A == None", "$A is None"), ("len($A) > 0", "bool($A)"), ("print($A)", "log.info($A)")],
    "go": [("len($A) == 0", "isEmpty($A)"), ("errors.New($A)", "errors.Newf($A)")],
    "rust": [("$A.unwrap()", "$A?"), ("println!($A)", "log::info!($A)"), ("$A.len() == 0", "$A.is_empty()")],
    "java": [("$A.size() == 0", "$A.isEmpty()"), ("System.out.println($A)", "log.info($A)")],
    "javascript": [("$A == null", "$A === null"), ("console.log($A)", "log($A)")],
    "typescript": [("$A == null", "$A === null"), ("console.log($A)", "log($A)")],
    "csharp": [("$A == null", "$A is null"), ("Assert.AreEqual($A, $B)", "Assert.That($B, Is.EqualTo($A))")],
    "cpp": [("$A == NULL", "$A == nullptr"), ("$A.size() == 0", "$A.empty()")],
}
ROUNDS = 10
OTHERS = {".c", ".h"}


def unpack(clone: Path, folder: Path) -> None:
    """Unpack HEAD of a clone as a new repository."""
    folder.mkdir()
    archive = subprocess.run(["git", "-C", clone, "archive", "HEAD"], check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", "-C", folder, *command], check=True, capture_output=True)


def by_astgrep(rule: Path, files: list[Path], folder: Path) -> bool:
    """Let ast-grep write files until nothing changes; return whether that happened."""
    for _ in range(ROUNDS):
        before = {file: file.read_bytes() for file in files}
        for start in range(0, len(files), 500):
            names = [str(file.relative_to(folder)) for file in files[start : start + 500]]
            options = [
                part
                for name in ("hidden", "dot", "exclude", "global", "parent", "vcs")
                for part in ("--no-ignore", name)
            ]
            command = [program(), "scan", "--rule", str(rule), "-U", *options, "--", *names]
            subprocess.run(command, cwd=folder, capture_output=True)
        if all(file.read_bytes() == data for file, data in before.items()):
            return True
    return False


def compare(rule: str, clone_files: dict[str, bytes], folder: Path) -> Counter[str]:
    """Return how many files are equal, and how many differ by reason."""
    path = folder.parent / "rule.yml"
    path.write_text(rule)
    found: Counter[str] = Counter()
    done = editvec.apply(path, [folder])
    for plan in done.plans:
        assert plan.path is not None
        name = plan.path.relative_to(folder).as_posix()
        diff = unified_diff(name.encode(), plan.before, plan.edits)
        checked = subprocess.run(["git", "-C", folder, "apply", "--check"], input=diff, capture_output=True)
        found["diffs accepted" if not checked.returncode else "diffs refused"] += 1
    done = editvec.apply(path, [folder], update=True)
    ours = {name: (folder / name).read_bytes() for name in clone_files}
    refused = {line.split(": not written: ")[0]: line.split(": not written: ")[1] for line in done.problems}
    for name, data in clone_files.items():
        (folder / name).write_bytes(data)
    by_astgrep(path, [folder / name for name in clone_files], folder)
    for name, data in clone_files.items():
        theirs = (folder / name).read_bytes()
        (folder / name).write_bytes(data)
        if theirs == data == ours[name]:
            found["no match"] += 1
        elif theirs == ours[name]:
            found["equal"] += 1
        else:
            found[reason(name, data, ours[name], theirs, refused.get(str(folder / name), ""))] += 1
    return found


def reason(name: str, data: bytes, ours: bytes, theirs: bytes, refused: str) -> str:
    """Return why two results differ."""
    if refused:
        return f"refused: {refused.rstrip('.')}"
    if ours.translate(None, b"()") == theirs.translate(None, b"()"):
        return "differs: brackets that keep the meaning"
    if ours.replace(b"\r\n", b"\n") == theirs.replace(b"\r\n", b"\n"):
        return "differs: line ends of the file"
    if b"".join(ours.split()) == b"".join(theirs.split()):
        return "differs: indentation of lines that ast-grep moves"
    if FileText(data).codec != "utf-8":
        return "differs: not UTF-8, which ast-grep does not read"
    if theirs == data and Path(name).suffix in OTHERS:
        return "differs: ast-grep reads this ending as C, editvec as C++"
    return "unexplained"


def main() -> None:
    """Parse the arguments, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--max-files", type=int, default=2_000)
    parser.add_argument("-o", "--out", type=Path)
    given = parser.parse_args()
    report: dict[str, dict[str, int]] = {}
    total: Counter[str] = Counter()
    for clone in given.clones:
        with tempfile.TemporaryDirectory(prefix="editvec-differential-") as name:
            folder = Path(name) / "tree"
            unpack(clone, folder)
            for language, pairs in RULES.items():
                files = list(find_files([folder], {language}))[: given.max_files]
                texts = {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
                texts = {path: data for path, data in texts.items() if is_worth_reading(data)}
                for before, after in pairs if texts else []:
                    rule = f"id: r\nlanguage: {language}\nrule: {{pattern: '{before}'}}\nfix: '{after}'\n"
                    try:
                        found = compare(rule, texts, folder)
                    except UserError as error:
                        found = Counter({f"refused: {error}": 1})
                    key = f"{clone.parent.name if clone.name == 'repo' else clone.stem} {language} {before}"
                    report[key] = dict(found)
                    total.update(found)
                    print(key, dict(found), flush=True)
    print("together", dict(total))
    if given.out:
        given.out.write_bytes(orjson.dumps({"together": dict(total), "rules": report}, option=orjson.OPT_INDENT_2))


if __name__ == "__main__":
    main()
