"""The only place that runs ast-grep: rules over texts or files, and what they would write where.

ast-grep runs in a folder of ours, so that no configuration of the user's or of a repository's is read.
"""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

import orjson

from editvec.core.errors import UserError
from editvec.core.match import Match
from editvec.syntax import languages

_IGNORED = ("hidden", "dot", "exclude", "global", "parent", "vcs")


@cache
def program() -> str:
    """ast-grep's own program, as its package installs it."""
    place = Path(sysconfig.get_path("scripts")) / "ast-grep"
    found = str(place) if place.is_file() else which("ast-grep")
    if found is None:
        raise UserError("ast-grep is not installed. Install it with pip install ast-grep-cli.")
    return found


def scan(rules: str, texts: Sequence[bytes], language: str) -> list[list[Match]]:
    """Where the rules of a YAML text match in each of the texts, in order; UserError when ast-grep refuses the
    rules."""
    with TemporaryDirectory(prefix="editvec-") as name:
        folder = Path(name)
        ending = languages.get(language).extensions[0]
        (folder / "texts").mkdir()
        for number, data in enumerate(texts):
            (folder / "texts" / f"{number}{ending}").write_bytes(data)
        found = _run(folder, rules, len(texts))
    return [[_as_it_stood(match, data) for match in each] for each, data in zip(found, texts, strict=True)]


def _as_it_stood(match: Match, data: bytes) -> Match:
    """The match without what ast-grep puts in front of lines that are indented less than the one that it begins in: it
    means to carry code along, and would change what is in a string of several lines."""
    if match.replacement is None or "\n" not in match.text or "\n" not in match.replacement:
        return match
    line = data[data.rfind(b"\n", 0, match.start) + 1 : match.start].decode(errors="replace")
    indent = line[: len(line) - len(line.lstrip())]
    olds = [old for old in match.text.split("\n")[1:] if not old.startswith(indent)]
    if not olds:
        return match
    first, *others = match.replacement.split("\n")
    for at, other in enumerate(others):
        rest = other.removeprefix(indent)
        place = next((place for place, old in enumerate(olds) if rest != other and _begin_alike(rest, old)), None)
        if place is not None:
            others[at] = rest
            del olds[: place + 1]
    return match._replace(replacement="\n".join([first, *others]))


def _begin_alike(line: str, old: str) -> bool:
    """Whether a line is an old one, up to where a rule may have changed its end."""
    one, other = line.rstrip(), old.rstrip()
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return one == other or 2 * same > max(1, min(len(one), len(other)))


def _run(folder: Path, rules: str, count: int) -> list[list[Match]]:
    if not count:
        return []
    (folder / "rules.yml").write_text(rules, encoding="utf-8")
    command = [program(), "scan", "--rule", "rules.yml", "--json=stream"]
    for each in _IGNORED:
        command += ["--no-ignore", each]
    done = subprocess.run([*command, "texts"], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL)
    # 0 and 1 say whether a rule with severity error fired.
    if done.returncode not in (0, 1):
        raise UserError(f"ast-grep does not understand the rule: {_last_words(done.stderr)}")
    found: list[list[Match]] = [[] for _ in range(count)]
    for line in done.stdout.splitlines():
        row = orjson.loads(line)
        place = row.get("replacementOffsets") or row["range"]["byteOffset"]
        match = Match(row["ruleId"], place["start"], place["end"], row["text"], row.get("replacement"))
        found[int(Path(row["file"]).stem)].append(match)
    for matches in found:
        matches.sort(key=lambda match: (match.start, -match.end, match.rule))
    return found


def _last_words(stderr: bytes) -> str:
    lines = [line.strip(" ╰▻✖\t") for line in stderr.decode(errors="replace").splitlines()]
    causes = [
        line for line in lines if line and not line.startswith(("See also", "Help", "Caused by", "Error: Cannot"))
    ]
    return causes[0] if causes else "it said nothing"
