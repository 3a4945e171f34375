"""Run ast-grep: match rules in texts, with what each match would be replaced by.

No other module runs ast-grep. It runs in a temporary folder, so it reads no configuration of the user or of a
repository.
"""

from __future__ import annotations

import logging
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
from editvec.syntax.facts import facts_of
from editvec.syntax.languages import Language

_SECONDS, _BYTES_PER_SECOND = 30, 100_000
"""Time limit of a call, and how fast it must be beyond that; ast-grep usually reads some megabytes per second."""
_log = logging.getLogger("editvec")
_IGNORED = ("hidden", "dot", "exclude", "global", "parent", "vcs")


@cache
def program() -> str:
    """Return the path of the ast-grep program, if possible the one that its Python package installed.

    Raises:
        UserError: ast-grep is not installed.
    """
    place = Path(sysconfig.get_path("scripts")) / "ast-grep"
    found = str(place) if place.is_file() else which("ast-grep")
    if found is None:
        raise UserError("ast-grep is not installed. Install it with pip install ast-grep-cli.")
    return found


def scan(rules: str, texts: Sequence[bytes], language: str) -> list[list[Match]]:
    """Return the matches of the rules in a YAML text, for each of the texts in order.

    A text that takes too long is skipped with a warning: it has no matches.

    Raises:
        UserError: ast-grep does not accept the rules, or is not installed.
    """
    facts = facts_of(known) if isinstance(known := languages.get(language), Language) else None
    readable = [number for number, data in enumerate(texts) if facts is None or facts.is_readable(data)]
    matches: list[list[Match]] = [[] for _ in texts]
    waiting = [readable] if readable else []
    num_skipped = len(texts) - len(readable)
    while waiting:
        numbers = waiting.pop()
        try:
            found = _scan_within(rules, [texts[number] for number in numbers], language)
        except subprocess.TimeoutExpired:
            if len(numbers) == 1:
                num_skipped += 1
                continue
            middle = len(numbers) // 2
            waiting += (numbers[middle:], numbers[:middle])
            continue
        for number, each in zip(numbers, found, strict=True):
            matches[number] = each
    if num_skipped:
        _log.warning("editvec: %d %s texts were skipped: they take too long to parse.", num_skipped, language)
    return matches


def _scan_within(rules: str, texts: Sequence[bytes], language: str) -> list[list[Match]]:
    with TemporaryDirectory(prefix="editvec-") as name:
        folder = Path(name)
        ending = languages.get(language).extensions[0]
        (folder / "texts").mkdir()
        for number, data in enumerate(texts):
            (folder / "texts" / f"{number}{ending}").write_bytes(data)
        found = _run(folder, rules, len(texts))
    return [[_as_it_stood(match, data) for match in each] for each, data in zip(found, texts, strict=True)]


def _as_it_stood(match: Match, data: bytes) -> Match:
    """Return the match without the indentation that ast-grep adds to lines that had less of it.

    ast-grep indents a replacement like the line in which the match begins, because it expects code to move as a block.
    In lines that are indented less, such as those of a string of several lines, that would change the text.
    """
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
    """Return whether a line is an old line whose end a rule may have changed."""
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
    seconds = _SECONDS + sum(file.stat().st_size for file in (folder / "texts").iterdir()) / _BYTES_PER_SECOND
    done = subprocess.run(
        [*command, "texts"], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds
    )
    # Both mean success: 1 says that a rule with severity error matched.
    if done.returncode not in (0, 1):
        raise UserError(f"ast-grep does not understand the rule ({_last_words(done.stderr)}). Correct the rule.")
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
    return causes[0] if causes else "it gave no reason"
