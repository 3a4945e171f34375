"""Mutations of inputs that know a little of their structure: bytes, lines, brackets, numbers, words of a dictionary.

The same target, seed and number give the same input, so a failure is repeated by its number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

Mutation = Callable[[Random, bytes, Sequence[bytes]], bytes]

WORDS = (
    *(
        each.encode()
        for each in "( ) [ ] { } < > \" ' ` ; : , . ? ?. ?? => -> :: // /* */ # @ $ $$$A $X \\ % &".split()
    ),
    b'"""',
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b"\0",
    b"\x0c",
    b"\xef\xbb\xbf",
    b"\xff\xfe",
    b"\xe9",
    b"\xed\xa0\x80",
    "\u2028 \u202e \U0001f600".encode(),
    b"null",
    b"true",
    b"-1",
    b"0",
    b"1e999",
    b"18446744073709551616",
    b"NaN",
    b"../../x",
    b"/etc/passwd",
    b"<script>",
    b"\\udce9",
    b"\\u0000",
    b"&a *a",
    b"!!python/object",
    b"log(a, b)",
    b"=======\n",
    b"@@ -1 +1 @@\n",
    b"diff --git a/x b/x\n",
    b"VAR0",
    b"LITERAL",
)
"""Words that parsers treat in a special way."""


def mutated(seeds: Sequence[bytes], target: str, seed: int, number: int) -> bytes:
    """Return the input of a number: one of the seeds after some mutations."""
    random = Random(f"{target}/{seed}/{number}")
    data = random.choice(seeds)
    for _ in range(min(8, 1 + int(random.expovariate(0.7)))):
        data = random.choice(_MUTATIONS)(random, data, seeds)
    return data[:MAX_BYTES]


MAX_BYTES = 64 * 1024


def _span(random: Random, data: bytes) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + int(random.expovariate(0.1)))


def _flip(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    if not data:
        return b"\0"
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def _insert_word(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    at = random.randint(0, len(data))
    return data[:at] + random.choice(WORDS) + data[at:]


def _replace_by_word(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(random, data)
    return data[:start] + random.choice(WORDS) + data[end:]


def _delete(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(random, data)
    return data[:start] + data[end:]


def _cut(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    return data[: random.randint(0, len(data))]


def _repeat(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(random, data)
    return data[:end] + data[start:end] * random.randint(1, 40) + data[end:]


def _nest(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    start, end = _span(random, data)
    opening, closing = random.choice([(b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b'{"a":', b"}"), (b"<", b">")])
    depth = random.choice([2, 20, 400, 3000])
    return data[:start] + opening * depth + data[start:end] + closing * depth + data[end:]


def _splice(random: Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    other = random.choice(seeds)
    start, end = _span(random, data)
    low = random.randint(0, len(other))
    return data[:start] + other[low : low + random.randint(0, 200)] + data[end:]


def _swap_lines(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def _change_number(random: Random, data: bytes, _: Sequence[bytes]) -> bytes:
    places = [at for at, byte in enumerate(data[:4096]) if 48 <= byte <= 57]
    if not places:
        return data
    at = random.choice(places)
    return data[:at] + random.choice([b"-1", b"0", b"99999999999", b"1.5", b'"1"', b"null", b"9"]) + data[at + 1 :]


_MUTATIONS: tuple[Mutation, ...] = (
    _flip,
    _insert_word,
    _insert_word,
    _replace_by_word,
    _delete,
    _cut,
    _repeat,
    _nest,
    _splice,
    _swap_lines,
    _change_number,
)
