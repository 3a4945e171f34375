"""Conversion between edits and lines of foreign formats: GitHubEdits and WikiAtomicEdits.

A ValueError says what is wrong with a line, or why a format cannot represent an edit. Reading a line and writing it
again gives the same values: fields without a counterpart in `Edit` are kept in its `extra`, and what the published
GitHubEdits format has no field for (the language, the original text, the author) is written to an additional field.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

import orjson

from editvec.core.edit import Canonical, Edit, Source, Tokens, Version
from editvec.data import roslyn
from editvec.syntax import tree

_FIELDS = {
    "Id": str,
    "PrevCodeChunk": str,
    "UpdatedCodeChunk": str,
    "PrevCodeChunkTokens": list,
    "UpdatedCodeChunkTokens": list,
    "PrecedingContext": list,
    "SucceedingContext": list,
}
_TREES = ("PrevCodeAST", "UpdatedCodeAST")
_ORDER = (
    "Id",
    "PrevCodeChunk",
    "UpdatedCodeChunk",
    "PrevCodeChunkTokens",
    "UpdatedCodeChunkTokens",
    "PrevCodeAST",
    "UpdatedCodeAST",
    "PrecedingContext",
    "SucceedingContext",
)
_OWN = "EditVec"
_MINED_ID = re.compile(r"([^|]+)\|([0-9a-f]{7,64})\|(.+)_\d+", re.S)
_LABELLED_ID = re.compile(r"([A-Za-z]+\d+)_\d+")


def edit_from_githubedits(record: dict[str, Any]) -> Edit:
    """Return the edit of a record in the published GitHubEdits format.

    Raises:
        ValueError: A field is missing or has an unexpected value.
    """
    for name, kind in _FIELDS.items():
        if name not in record:
            raise ValueError(f"the field {name} is missing")
        if not isinstance(record[name], kind):
            raise ValueError(f"the field {name} is not a {'list' if kind is list else 'string'}")
    before, after = _tokens(record, "PrevCodeChunkTokens"), _tokens(record, "UpdatedCodeChunkTokens")
    trees = [_tree(record, name, tokens) for name, tokens in zip(_TREES, (before, after), strict=True)]
    identity = record["Id"]
    mined, labelled = _MINED_ID.fullmatch(identity), _LABELLED_ID.fullmatch(identity)
    extra = {name: value for name, value in record.items() if name not in (*_ORDER, _OWN)}
    message = extra.pop("CommitMessage", "") if mined and isinstance(extra.get("CommitMessage"), str) else ""
    plain = Edit(
        id=identity,
        language="csharp",
        before=Version(record["PrevCodeChunk"], before, trees[0]),
        after=Version(record["UpdatedCodeChunk"], after, trees[1]),
        context_before=_tokens(record, "PrecedingContext"),
        context_behind=_tokens(record, "SucceedingContext"),
        source=Source(mined[1], mined[2], mined[3], message=message) if mined else None,
        label=labelled[1] if labelled else "",
        extra=orjson.dumps(extra).decode() if extra else "",
    )
    return _with_own(plain, record[_OWN]) if _OWN in record else plain


def edit_to_githubedits(edit: Edit) -> bytes:
    """Return an edit as a line of the published GitHubEdits format.

    The line has the canonical tokens, and trees if the edit has Roslyn trees. What the format has no field for is
    written to the additional field `EditVec`.

    Raises:
        ValueError: The edit holds text that is not valid Unicode.
    """
    context_before, context_behind = edit.model_context
    record: dict[str, Any] = {
        "Id": edit.id,
        "PrevCodeChunk": _canonical_text(edit.before.text, edit, edit.model_before),
        "UpdatedCodeChunk": _canonical_text(edit.after.text, edit, edit.model_after),
        "PrevCodeChunkTokens": edit.model_before,
        "UpdatedCodeChunkTokens": edit.model_after,
        "PrevCodeAST": roslyn.to_json(tree.loads(edit.before.tree)) if edit.before.tree else None,
        "UpdatedCodeAST": roslyn.to_json(tree.loads(edit.after.tree)) if edit.after.tree else None,
        "PrecedingContext": context_before,
        "SucceedingContext": context_behind,
    }
    if edit.source and edit.source.message and _MINED_ID.fullmatch(edit.id):
        record["CommitMessage"] = edit.source.message
    if edit.extra:
        record |= orjson.loads(edit.extra)
    if own := _own(edit):
        record[_OWN] = own
    try:
        line: bytes = orjson.dumps(record)
        return line + b"\n"
    except orjson.JSONEncodeError as error:
        raise ValueError(f"cannot be written as JSON ({error})") from None


def _own(edit: Edit) -> dict[str, Any]:
    """Return what the published fields cannot express; empty for an edit that was read from a published file."""
    mined, labelled = _MINED_ID.fullmatch(edit.id), _LABELLED_ID.fullmatch(edit.id)
    source, form = edit.source, edit.canonical
    found: dict[str, Any] = {}
    if edit.language != "csharp":
        found["language"] = edit.language
    if edit.label != (labelled[1] if labelled else ""):
        found["label"] = edit.label
    if source != (Source(mined[1], mined[2], mined[3], message=source.message if source else "") if mined else None):
        found["source"] = (
            None if source is None else {field.name: getattr(source, field.name) for field in fields(source)}
        )
    if form is not None:
        found |= {
            "before": [edit.before.text, edit.before.tokens],
            "after": [edit.after.text, edit.after.tokens],
            "context": [edit.context_before, edit.context_behind],
            "names": form.names,
            "literals": form.literals,
        }
    return found


def _with_own(plain: Edit, own: Any) -> Edit:
    """Return the edit of the published fields, completed with those of the additional field."""
    try:
        found = replace(
            plain, language=str(own.get("language", plain.language)), label=str(own.get("label", plain.label))
        )
        if "source" in own:
            found = replace(found, source=None if own["source"] is None else _source(own["source"]))
        if "names" not in own:
            return found
        form = Canonical(
            plain.before.tokens,
            plain.after.tokens,
            plain.context_before,
            plain.context_behind,
            _words(own["names"]),
            _words(own["literals"]),
        )
        (before, after), context = (
            ((own[side][0], _words(own[side][1])) for side in ("before", "after")),
            own["context"],
        )
        return replace(
            found,
            before=Version(str(before[0]), before[1], plain.before.tree),
            after=Version(str(after[0]), after[1], plain.after.tree),
            context_before=_words(context[0]),
            context_behind=_words(context[1]),
            canonical=form,
        )
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"the field {_OWN} is invalid ({error})") from None


def _source(said: dict[str, Any]) -> Source:
    date = said.get("author_date")
    lines = [said.get(name) for name in ("lines_before", "lines_after")]
    before, after = ((int(each[0]), int(each[1])) if each else None for each in lines)
    texts = {name: str(said.get(name, "")) for name in ("repository", "commit", "path", "author", "message")}
    return Source(
        **texts, author_date=datetime.fromisoformat(date) if date else None, lines_before=before, lines_after=after
    )


def _words(values: Any) -> Tokens:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("a list of strings is expected")
    return tuple(values)


def _canonical_text(text: str, edit: Edit, tokens: Tokens) -> str:
    """Return the text if it is already canonical, else the canonical tokens joined by spaces."""
    return text if edit.canonical is None else " ".join(tokens)


def _tokens(record: dict[str, Any], name: str) -> Tokens:
    tokens = record[name]
    if not all(isinstance(token, str) for token in tokens):
        raise ValueError(f"the field {name} holds a value that is not a string")
    return tuple(tokens)


def _tree(record: dict[str, Any], name: str, tokens: Tokens) -> str | None:
    if record.get(name) is None:
        return None
    try:
        return tree.dumps(roslyn.from_json(record[name], tokens))
    except ValueError as error:
        raise ValueError(f"the field {name}: {error}") from None


def edit_from_tsv(line: bytes) -> Edit:
    """Return the edit of a line of WikiAtomicEdits; columns after the third are kept.

    Raises:
        ValueError: The line is not UTF-8, has fewer than three columns, or has an empty sentence.
    """
    try:
        cells = line.decode().rstrip("\r\n").split("\t")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 (byte {error.start})") from None
    if len(cells) < 3:
        raise ValueError(f"the line has {len(cells)} of 3 columns: sentence, phrase and edited sentence")
    sentence, phrase, edited, *rest = cells
    if not sentence.strip() or not edited.strip():
        raise ValueError("the sentence or the edited sentence is empty")
    extra = {"phrase": phrase, "columns": rest, "end": _line_end(line)}
    return Edit(
        id=f"{_digest(line):016x}",
        language="text",
        before=Version(sentence, tuple(sentence.split())),
        after=Version(edited, tuple(edited.split())),
        source=Source(rest[1]) if len(rest) > 1 else None,
        extra=orjson.dumps(extra).decode(),
    )


def edit_to_tsv(edit: Edit) -> bytes:
    """Return an edit as a line of WikiAtomicEdits.

    The format can represent only the insertion or the deletion of one phrase. A deletion is written as the insertion
    that it reverses, with `del` in a fourth column.

    Raises:
        ValueError: The format cannot represent the edit.
    """
    known: dict[str, Any] = orjson.loads(edit.extra) if edit.extra else {}
    if "phrase" in known and "columns" in known:
        cells = [edit.before.text, known["phrase"], edit.after.text, *known["columns"]]
        return ("\t".join(cells) + str(known.get("end", "\n"))).encode()
    before, after = edit.before.tokens, edit.after.tokens
    forward = len(after) > len(before)
    short, long = (before, after) if forward else (after, before)
    head = 0
    while head < len(short) and short[head] == long[head]:
        head += 1
    size = len(long) - len(short)
    if size == 0 or short[head:] != long[head + size :]:
        raise ValueError("this format can represent only the insertion or deletion of one phrase")
    cells = [" ".join(short), " ".join(long[head : head + size]), " ".join(long), "ins" if forward else "del"]
    cells += [edit.source.repository] if edit.source else []
    if any("\t" in cell or "\n" in cell for cell in cells):
        raise ValueError("a token contains a tab or a line break")
    return ("\t".join(cells) + "\n").encode()


def _line_end(line: bytes) -> str:
    return line[len(line.rstrip(b"\r\n")) :].decode()


def _digest(line: bytes) -> int:
    from hashlib import blake2b

    return int.from_bytes(blake2b(line, digest_size=8).digest())
