"""What is fuzzed: code in every language, prose, diffs, rules, texts, every kind of file, HTTP messages.

A target reads an input and checks the laws that hold for every input. It may refuse the input with a UserError of one
line. Anything else that escapes is a bug.
"""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from editvec.core.edit import Demonstration
from editvec.core.errors import UserError
from editvec.core.match import Match
from editvec.core.splice import TextEdit, compose, shrink, splice
from editvec.core.text import FileText
from editvec.mining.extract import code, prose
from editvec.mining.extract.versions import version_after
from editvec.mining.recipes import get_recipe
from editvec.rewrite.patch import unified_diff
from editvec.rewrite.precedence import bracketed
from editvec.rules.prose import find_prose
from editvec.rules.rule import ProseRule, load_rules
from editvec.suggest.complete import complete
from editvec.syntax.cst import Cst
from editvec.syntax.languages import Language, Markup, code_languages, get
from editvec.syntax.prose import tokenize as tokenize_prose
from editvec.syntax.token import gaps, join
from editvec.syntax.treesitter import Parsed, tokenize
from editvec.ui.server import LocalServer
from editvec.vcs.history import Hunk, _read_hunks, unquote
from editvec.vcs.worktree import File
from tests.fuzz.files import FileKind, file_kinds
from tests.fuzz.mutation import mutated
from tests.syntax.samples import SAMPLES

Outcome = str
"""`read`, or `refused` if the input gave a UserError."""


@dataclass(frozen=True, slots=True)
class FuzzTarget:
    """Something that reads inputs; `weight` is its share of the inputs, larger for what takes little time."""

    name: str
    seeds: Sequence[bytes]
    read: Callable[[bytes], object]
    weight: int = 1

    def check(self, seed: int, number: int) -> Outcome:
        """Read the input of a number; whatever is not a UserError of one line escapes."""
        return self.check_input(mutated(self.seeds, self.name, seed, number))

    def check_input(self, data: bytes) -> Outcome:
        """Read an input."""
        try:
            self.read(data)
        except UserError as error:
            assert str(error) and "\n" not in str(error), f"the message has several lines: {error}"
            return "refused"
        return "read"


@contextmanager
def targets(folder: Path) -> Iterator[list[FuzzTarget]]:
    """Return all targets; files and a server that they need exist until the end."""
    with _served() as port:
        yield [
            *(_code(language) for language in code_languages()),
            *(FuzzTarget(f"prose/{name}", _PROSE, partial(_read_prose, name), 4) for name in ("markdown", "text")),
            *(FuzzTarget(f"mining/{name}", [text.encode()], partial(_mine, name)) for name, text in SAMPLES.items()),
            FuzzTarget("diffs", _TEXTS, _read_diff, 8),
            FuzzTarget("quoted names", [b'"a\\303\\251\\"b"', b"plain"], unquote, 8),
            FuzzTarget("texts", _TEXTS, _edit_text, 8),
            FuzzTarget("rules", _RULES, _read_rules, 2),
            *(_file(kind) for kind in file_kinds(folder)),
            FuzzTarget("http", _REQUESTS, partial(_request, port), 2),
        ]


_TEXTS = [
    b"one\r\ntwo\r\nthree\r\n",
    "é b\nc d\n\n漢字 \U0001f600\n".encode(),
    "\ufeffa b\nc\n".encode("utf-16-le"),
    b"no end",
]
_PROSE = [
    b"# Title\n\nSome words. More words here.\n\n- item one\n- item *two*\n\n```py\ncode()\n```\n",
    b"The first sentence. The second one, e.g. this.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n",
]
_RULES = [
    b"id: a\nlanguage: markdown\nprose: {find: old word}\nfix: new word\n",
    b"id: b\nlanguage: python\nrule: {pattern: log($A)}\nfix: debug($A)\n"
    b"---\nid: c\nlanguage: go\nrule: {kind: x}\nfix: y\n",
    b"a: &a [1, *a]\nb: !!float x\n",
]
_REQUESTS = [
    b"GET /?token=TOKEN HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    b"POST /d HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nX-Token: TOKEN\r\nContent-Type: application/json\r\n"
    b'Content-Length: 7\r\n\r\n{"a":1}',
    b"GET /data?token=x HTTP/1.0\r\nHost: example.org\r\nOrigin: http://example.org\r\n\r\n",
]


def _code(language: Language) -> FuzzTarget:
    return FuzzTarget(f"code/{language.name}", [SAMPLES[language.name].encode()], partial(_read_code, language))


def _file(kind: FileKind) -> FuzzTarget:
    whole = kind.path.read_bytes()

    def read(data: bytes) -> None:
        kind.path.write_bytes(data)
        try:
            kind.read()
        finally:
            kind.path.write_bytes(whole)

    return FuzzTarget(f"file/{kind.name}", [whole], read, 4 if kind.is_cheap else 1)


def _read_code(language: Language, data: bytes) -> None:
    tokens = tokenize(language, data)
    assert join(tokens, gaps(data, tokens)) == data
    text = FileText(data).utf8
    Cst(language, text)
    random = Random(data)
    if tokens:
        token = random.choice(tokens)
        match = Match("r", token.start, token.end, token.text, "a + b")
        assert set(bracketed(language, data, [match])) <= {match, match._replace(replacement="(a + b)")}
    lines = text.split(b"\n")
    at = random.randrange(len(lines))
    path = f"a{language.extensions[0]}"
    shown = b"\n".join([*lines[:at], lines[at].replace(b"a", b"bb", 1) + b" ", *lines[at + 1 :]])
    for each in complete([Demonstration(path, text, shown)], [File(path, language.name, shown)]):
        assert 0 <= each.start <= each.end <= len(shown)


def _hunk(before: bytes, after: bytes) -> Hunk:
    """Return the one hunk that turns a text into another one."""
    old, new = (text.split(b"\n") for text in (before, after))
    low = 0
    while low < min(len(old), len(new)) - 1 and old[low] == new[low]:
        low += 1
    high = 0
    while high < min(len(old), len(new)) - low - 1 and old[-1 - high] == new[-1 - high]:
        high += 1
    removed, added = old[low : len(old) - high], new[low : len(new) - high]
    text = b"".join([b"-%s\n" % line for line in removed] + [b"+%s\n" % line for line in added])
    return Hunk(low, len(removed), low, len(added), text)


def _mine(name: str, data: bytes) -> None:
    before, language = SAMPLES[name].encode(), get(name)
    assert isinstance(language, Language)
    hunk, recipe, tally = _hunk(before, data), get_recipe("default"), Counter[str]()
    code.refuse_by_text(hunk, language, recipe)
    regions = list(code.find_regions([hunk], [hunk], recipe, tally))
    for edit, *_ in code.extract(regions, Parsed(language, before), Parsed(language, data), recipe, tally):
        assert edit.before.tokens != edit.after.tokens


def _read_prose(name: str, data: bytes) -> None:
    markup = get(name)
    assert isinstance(markup, Markup)
    tokens = tokenize_prose(data)
    assert join(tokens, gaps(data, tokens)) == data
    text = FileText(data).utf8
    before = _PROSE[0]
    list(prose.extract([_hunk(before, text)], markup, before, text, get_recipe("default"), Counter()))
    for match in find_prose(ProseRule(name, "words", "names"), text):
        assert 0 <= match.start <= match.end <= len(text)


def _random_edits(data: bytes) -> list[TextEdit]:
    random = Random(data)
    offsets = sorted(random.randint(0, len(data)) for _ in range(2 * random.randint(0, 3)))
    pairs = zip(offsets[::2], offsets[1::2], strict=True)
    return [TextEdit(low, high, random.choice([b"", b"x", b"\n", b"a\nb\r\n"])) for low, high in pairs]


def _read_diff(data: bytes) -> None:
    """What a diff says is what the edits do; any bytes that look like a diff can be read."""
    edits = _random_edits(data)
    diff = unified_diff(b"a", data, edits)
    if diff and diff.count(b"\n\\ No newline") == 0:
        hunks = _read_hunks(_without_context(diff))
        assert version_after(data, hunks) == splice(data, edits)
    _read_hunks(data)


def _without_context(diff: bytes) -> bytes:
    """Return a diff with every hunk cut into hunks without context, as git's -U0 prints them."""
    parts: list[bytes] = []
    old = new = 0
    removed: list[bytes] = []
    added: list[bytes] = []

    def close() -> None:
        nonlocal old, new
        if removed or added:
            low, high = old + bool(removed), new + bool(added)
            parts.append(b"@@ -%d,%d +%d,%d @@\n" % (low, len(removed), high, len(added)))
            parts.extend(removed + added)
            old, new = old + len(removed), new + len(added)
            removed.clear()
            added.clear()

    for line in diff.split(b"\n")[2:-1]:
        if line.startswith(b"@@ "):
            close()
            before, after = line.split(b" ")[1:3]
            old, new = (_start(each) for each in (before, after))
        elif line[:1] in (b"-", b"+"):
            (removed if line[:1] == b"-" else added).append(line + b"\n")
        else:
            close()
            old, new = old + 1, new + 1
    close()
    return b"".join(parts)


def _start(numbers: bytes) -> int:
    first, _, count = numbers[1:].partition(b",")
    return int(first) - (count != b"0")


def _edit_text(data: bytes) -> None:
    """Edits of a text in any encoding change the text as the edits say, and two rounds are one."""
    source = FileText(data)
    text = source.utf8.decode()
    random = Random(data)
    low, high = sorted(random.randint(0, len(text)) for _ in range(2))
    start, end = (len(text[:at].encode()) for at in (low, high))
    edit = source.edit(start, end, "ab")
    assert splice(data, [edit]).decode(source.codec) == text[:low] + "ab" + text[high:]
    small = shrink(data, edit)
    assert splice(data, [small] if small else []) == splice(data, [edit])
    first = _random_edits(data)
    second = _random_edits(splice(data, first))
    assert splice(data, compose(data, first, second)) == splice(splice(data, first), second)


def _read_rules(data: bytes) -> None:
    for rule in load_rules(data.decode(errors="replace")):
        if rule.prose is not None:
            list(find_prose(rule.prose, _PROSE[0]))


@contextmanager
def _served() -> Iterator[tuple[int, str]]:
    def post(said: object) -> dict[str, object]:
        if not isinstance(said, dict):
            raise ValueError("an object is expected")
        return {"said": said}

    server = LocalServer("<p>page</p>", lambda: {"a": 1}, post)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server.port, server.token
    finally:
        server.stop()
        thread.join()


def _request(server: tuple[int, str], data: bytes) -> None:
    """Send bytes: the server answers with HTTP or closes, and answers the next request."""
    port, token = server
    data = data.replace(b"PORT", b"%d" % port).replace(b"TOKEN", token.encode())
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        answer = b""
        # The server may close before it has read everything.
        with suppress(OSError):
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                answer += part
    # An answer to HTTP 0.9 has no head.
    assert not answer or answer.startswith((b"HTTP/1.", b'{"error"', b"<p>page</p>", b"<!DOCTYPE HTML>")), answer[:80]
