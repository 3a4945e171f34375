"""One line of a foreign format ↔ one edit. ValueError says what is wrong with a line, or what it cannot hold.

Reading and writing again gives the same values: what has no place in an `Edit` travels in its `extra`, and what the
published GitHubEdits format has no field for (the language, the text itself, its author) in a field of its own.
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
    """Return the edit of a record of the published GitHubEdits format."""
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
    """An edit as a line of the published GitHubEdits format: canonical tokens, trees where the edit has Roslyn's. In a
    field of our own what that format has none for."""
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
    """What the published fields do not say of an edit; nothing of one that was published."""
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
    """The edit that the published fields say, with what they do not."""
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
        raise ValueError(f"the field {_OWN} is not sound ({error})") from None


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
    """The text itself where it is canonical already, else the canonical tokens with a space between them."""
    return text if edit.canonical is None else " ".join(tokens)


def _tokens(record: dict[str, Any], name: str) -> Tokens:
    tokens = record[name]
    if not all(isinstance(token, str) for token in tokens):
        raise ValueError(f"the field {name} holds something that is no string")
    return tuple(tokens)


def _tree(record: dict[str, Any], name: str, tokens: Tokens) -> str | None:
    if record.get(name) is None:
        return None
    try:
        return tree.dumps(roslyn.from_json(record[name], tokens))
    except ValueError as error:
        raise ValueError(f"the field {name}: {error}") from None


def edit_from_tsv(line: bytes) -> Edit:
    """An edit of WikiAtomicEdits: the sentence is before, the edited sentence after; further columns are kept."""
    try:
        cells = line.decode().rstrip("\r\n").split("\t")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 (byte {error.start})") from None
    if len(cells) < 3:
        raise ValueError(f"{len(cells)} columns, expected sentence, phrase and edited sentence")
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
    """An edit as a line of WikiAtomicEdits. Only an edit that inserts or deletes one phrase fits; a deletion is
    written as the insertion that it undoes, with `del` in a fourth column."""
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
        raise ValueError("not the insertion or deletion of one phrase, which is all that this format holds")
    cells = [" ".join(short), " ".join(long[head : head + size]), " ".join(long), "ins" if forward else "del"]
    cells += [edit.source.repository] if edit.source else []
    if any("\t" in cell or "\n" in cell for cell in cells):
        raise ValueError("a tab or a line break in a token")
    return ("\t".join(cells) + "\n").encode()


def _line_end(line: bytes) -> str:
    return line[len(line.rstrip(b"\r\n")) :].decode()


def _digest(line: bytes) -> int:
    from hashlib import blake2b

    return int.from_bytes(blake2b(line, digest_size=8).digest())
