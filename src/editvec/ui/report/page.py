"""What all pages share: data put into HTML so that nothing in it can end its script or be read as markup."""

from __future__ import annotations

from typing import Any

import orjson

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def embedded_json(value: Any) -> str:
    """JSON for the inside of a script element: no letter of it can mean anything to an HTML parser."""
    text = orjson.dumps(value).decode()
    for letter, escape in _ESCAPES.items():
        text = text.replace(letter, escape)
    return text
