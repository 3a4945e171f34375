"""Settings as typed values: read from TOML or from `KEY=VALUE`, checked against a schema, written as TOML.

A section of settings is a `msgspec.Struct`. A wrong key or value is one error that names it, and the nearest key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec
import orjson

from editvec.core.errors import BadInputError, UserError

Section = TypeVar("Section", bound=msgspec.Struct)
_WHERE = re.compile(r" - at `[^`]*`$")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file; UserError when it cannot be read, BadInputError when it is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadInputError(path, None, f"not TOML ({error})") from None
    except OSError as error:
        raise UserError(f"cannot read {path} ({error.strerror}).") from None


def changed(section: Section, values: Mapping[str, Any]) -> Section:
    """Return a section with some keys set; values may be text, as a command line has them.

    Raises:
        UserError: A key is unknown, or a value is not what the section's schema says.
    """
    kinds = {each.name: each.type for each in msgspec.structs.fields(section)}
    checked = {}
    for key, value in values.items():
        if key not in kinds:
            raise UserError(unknown(key, kinds))
        try:
            checked[key] = msgspec.convert(value, kinds[key], strict=not isinstance(value, str))
        except msgspec.ValidationError as error:
            message = _WHERE.sub("", str(error)).replace("Expected", "expected").replace("Invalid", "invalid")
            raise UserError(f"{key} = {value}: {message}.") from None
    return msgspec.structs.replace(section, **checked)


def unknown(key: str, known: Iterable[str], what: str = "setting") -> str:
    """Return the error for an unknown key, with the nearest known one."""
    known = list(known)
    near = get_close_matches(key, known, n=1)
    return f"no {what} {key!r}. " + (f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}.")


def check_keys(kind: type[msgspec.Struct], content: Mapping[str, Any], where: str) -> None:
    """Check that a mapping, and the mappings in it, have only keys that their sections have.

    Raises:
        UserError: A key is unknown; the message begins with `where` and names the nearest key.
    """
    kinds = {each.encode_name: each.type for each in msgspec.structs.fields(kind)}
    for key, value in content.items():
        if key not in kinds:
            raise UserError(f"{where}: {unknown(key, kinds)}")
        inner = next((each for each in _parts(kinds[key]) if _is_section(each)), None)
        if inner is not None and isinstance(value, dict | list):
            for each in value.values() if isinstance(value, dict) else value:
                if isinstance(each, dict):
                    check_keys(inner, each, where)


def _parts(kind: Any) -> Iterator[Any]:
    """Yield the types that a type is made of."""
    yield kind
    for part in get_args(kind):
        yield from _parts(part)


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def as_toml(sections: Mapping[str, msgspec.Struct]) -> str:
    """Return sections as TOML, every key of them."""
    lines = []
    for name, section in sections.items():
        values = msgspec.structs.asdict(section)
        lines += [f"[{name}]", *(f"{key} = {_value(value)}" for key, value in values.items()), ""]
    return "\n".join(lines)


def _value(value: Any) -> str:
    # JSON's numbers, booleans and strings are TOML's, too, but for one character.
    text: bytes = orjson.dumps(value)
    return text.decode().replace("\x7f", "\\u007f")
