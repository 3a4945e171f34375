"""Known places of patterns: a file that lists them, so that only new ones are reported.

A place is recognised by a fingerprint of its pattern, its file and its text, not by its line. Places that no longer
exist are removed from the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

import msgspec
import orjson

from editvec.core.errors import BadInputError, UserError
from editvec.core.files import from_json, to_json, write_atomically
from editvec.core.match import Suggestion
from editvec.patterns.pattern import Pattern

SCHEMA = 1


class KnownPlace(msgspec.Struct, frozen=True, forbid_unknown_fields=True, order=True):
    """A known place."""

    path: str
    pattern: str
    """The id of the pattern."""
    before: str
    """The text of the place."""
    fingerprint: str


class KnownPlaces(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All known places."""

    schema: int
    places: list[KnownPlace]


def fingerprints_of(patterns: Iterable[Pattern]) -> dict[tuple[str, Suggestion], str]:
    """Return a fingerprint for each place, by the name of its pattern.

    It depends on the pattern, the file and the text without white space, and counts equal texts in one file.
    """
    found = {}
    for pattern in patterns:
        seen: Counter[tuple[str, str]] = Counter()
        for each in sorted(pattern.suggestions, key=lambda place: (place.path, place.start)):
            text = "".join(each.before.split())
            seen[each.path, text] += 1
            parts = repr((pattern.id, each.path, text, seen[each.path, text]))
            found[pattern.name, each] = blake2b(parts.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return found


def read_baseline(path: Path) -> KnownPlaces | None:
    """Return the known places in a file; None if there is no file.

    Raises:
        UserError: The file cannot be read.
        BadInputError: The file is damaged or of another version.
    """
    if not path.exists():
        return None
    advice = "Remove the file and run editvec find --baseline again."
    try:
        baseline = msgspec.convert(from_json(path.read_bytes()), KnownPlaces)
    except (orjson.JSONDecodeError, msgspec.ValidationError) as error:
        raise BadInputError(path, None, f"not a baseline ({error})", advice) from None
    except OSError as error:
        raise UserError(f"cannot read {path} ({error.strerror}).") from None
    if baseline.schema != SCHEMA:
        raise BadInputError(path, None, f"schema {baseline.schema}, this version reads {SCHEMA}", advice)
    return baseline


def update_baseline(
    path: Path, known: KnownPlaces | None, patterns: Iterable[Pattern], prints: Mapping[tuple[str, Suggestion], str]
) -> None:
    """Write the places that are still there: all of them if there was no file, else those that were known.

    The file is written only if it changes.
    """
    old = None if known is None else {each.fingerprint for each in known.places}
    places = [
        KnownPlace(each.path, pattern.id, each.before, prints[pattern.name, each])
        for pattern in patterns
        for each in pattern.suggestions
        if old is None or prints[pattern.name, each] in old
    ]
    baseline = KnownPlaces(SCHEMA, sorted(places))
    if known is None or baseline.places != sorted(known.places):
        write_atomically(path, to_json(msgspec.to_builtins(baseline), indent=True) + b"\n")
