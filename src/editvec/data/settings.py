"""Settings as typed values: read from TOML or from `KEY=VALUE`, checked against a schema, written as TOML.

A section of settings is a `msgspec.Struct`. A wrong key or value is one error that names it, and the nearest key.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

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
