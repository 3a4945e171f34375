"""Embed data in HTML so that nothing in it can end the script element or be read as markup."""

from __future__ import annotations

from typing import Any

import orjson

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def embedded_json(value: Any) -> str:
    """Return JSON for a script element, with all characters escaped that are special in HTML."""
    text = orjson.dumps(value).decode()
    for letter, escape in _ESCAPES.items():
        text = text.replace(letter, escape)
    return text
