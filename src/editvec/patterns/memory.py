"""What `learn` remembers between runs: edit vectors, rules and evidence, in the repository's store.

All of it depends only on what their keys say, so it is never out of date. A damaged store costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import orjson
from numpy.typing import NDArray

from editvec.core.about import __version__
from editvec.core.edit import Edit
from editvec.data.digests import content_digest
from editvec.data.progress import Advance
from editvec.data.sampling import spread
from editvec.data.store import DamagedStoreError, Store
from editvec.patterns.rules import Limits, rules_of
from editvec.rules.rule import InducedRule, ProseRule
from editvec.suggest.evidence import Evidence, RuledEdits, collect_evidence
from editvec.suggest.imports import ImportChanges, ShownFile, import_changes, words_of
from editvec.syntax.token import encode
from editvec.vcs.old_files import OldFiles

if TYPE_CHECKING:
    from editvec.neural.model import EditModel

_AT_ONCE = 1024
_EVIDENCE_VERSION = 1
"""Raise it when evidence is collected in another way."""
_RULES_VERSION = 1
"""Raise it when rules are induced in another way."""
_IMPORT_FILES = 6
"""Maximum number of files of a pattern whose imports are compared."""
_IMPORTS_VERSION = 1
"""Raise it when imports are compared in another way."""


def encode_edits(model: EditModel, edits: Sequence[Edit], store: Store | None, advance: Advance) -> NDArray[np.float32]:
    """Return the vectors of edits, [edits, edit_dim]; only those that the store does not know are encoded."""
    digests = [content_digest(edit) for edit in edits] if store is not None else []
    vectors = np.empty((len(edits), model.edit_dim), np.float32)
    known: dict[bytes, NDArray[np.float32]] = {}
    if store is not None:
        with suppress(DamagedStoreError):
            known = store.vectors(model.digest, digests)
    new = [at for at in range(len(edits)) if store is None or digests[at] not in known]
    for at in set(range(len(edits))).difference(new):
        vectors[at] = known[digests[at]]
    for start in range(0, len(new), _AT_ONCE):
        some = new[start : start + _AT_ONCE]
        vectors[some] = model.encode([edits[at] for at in some])
        if store is not None:
            with suppress(DamagedStoreError):
                store.add_vectors(model.digest, [digests[at] for at in some], vectors[some])
        advance(len(edits) - len(new) + start + len(some), len(edits), 0)
    return vectors


def evidence_for(
    old_files: OldFiles, ruled: Sequence[RuledEdits], language: str, store: Store | None
) -> list[Evidence | None]:
    """Return the evidence for each rule of one language; only rules that the store does not know are run."""
    if store is None:
        return collect_evidence(old_files, ruled, language)
    keys = [_key(each) for each in ruled]
    known: dict[bytes, list[int] | None] = {}
    with suppress(DamagedStoreError):
        known = store.evidence(keys)
    new = [at for at, key in enumerate(keys) if key not in known]
    for at, found in zip(new, collect_evidence(old_files, [ruled[at] for at in new], language), strict=True):
        known[keys[at]] = None if found is None else [found.matched, found.edited]
    with suppress(DamagedStoreError):
        store.add_evidence({keys[at]: known[keys[at]] for at in new})
    return [None if (counts := known[key]) is None else Evidence(*counts) for key in keys]


def rules_for(
    edits: Sequence[Edit], limits: Limits, store: Store | None
) -> list[tuple[InducedRule | ProseRule, list[Edit]]]:
    """Return the verified rules of a group of edits; they are induced only if the store does not know the group."""
    if store is None:
        return rules_of(edits, limits)
    said = [part for each in edits for part in _said(each)]
    key = _digest([f"rules {_RULES_VERSION} {__version__}", str(limits), *said])
    with suppress(DamagedStoreError, msgspec.ValidationError):
        if (known := store.evidence([key]).get(key)) is not None:
            stored = msgspec.convert(known, list[tuple[bool, dict[str, Any], list[int]]])
            return [(_rule_of(is_code, rule), [edits[at] for at in made]) for is_code, rule, made in stored]
    found = rules_of(edits, limits)
    places = {edit.id: at for at, edit in enumerate(edits)}
    value = [
        (isinstance(rule, InducedRule), msgspec.to_builtins(rule), [places[edit.id] for edit in made])
        for rule, made in found
    ]
    with suppress(DamagedStoreError, orjson.JSONEncodeError):
        store.add_evidence({key: value})
    return found


def _rule_of(is_code: bool, value: dict[str, Any]) -> InducedRule | ProseRule:
    return msgspec.convert(value, InducedRule) if is_code else msgspec.convert(value, ProseRule)


def _said(edit: Edit) -> tuple[str, ...]:
    """Return all of an edit that its rules depend on."""
    source = edit.source
    origin = (source.commit, source.path) if source else ()
    return edit.id, edit.language, edit.before.text, edit.after.text, *origin


def imports_for(old_files: OldFiles, edits: Sequence[Edit], store: Store | None) -> ImportChanges:
    """Return the imports that come along with edits that mean the same; only some of their files are read."""
    by_moment = {(edit.source.commit, edit.source.path): edit for edit in edits if edit.source and edit.source.commit}
    chosen = [(moment, by_moment[moment]) for moment in spread(sorted(by_moment), _IMPORT_FILES)]
    key = _digest([f"imports {_IMPORTS_VERSION}", *(part for (commit, path), _ in chosen for part in (commit, path))])
    if store is not None:
        with suppress(DamagedStoreError, msgspec.ValidationError):
            known = store.evidence([key])
            if key in known:
                return msgspec.convert(known[key], ImportChanges)
    shown = []
    for moment, edit in chosen:
        before, after = old_files.file(moment), old_files.file_after(moment)
        if before is not None and after is not None:
            old, new = (words_of(encode(token) for token in side.tokens) for side in (edit.before, edit.after))
            shown.append(ShownFile(moment[1], before, after, new - old, old - new))
    found = import_changes(shown)
    if store is not None:
        with suppress(DamagedStoreError):
            store.add_evidence({key: msgspec.to_builtins(found)})
    return found


def _key(ruled: RuledEdits) -> bytes:
    """Return a digest of all that the evidence depends on: the rule and the edits, whose commits never change."""
    parts = [str(_EVIDENCE_VERSION), ruled.rule.yaml]
    for edit in ruled.edits:
        source = edit.source
        parts += [edit.before.text, *((source.commit, source.path, str(source.lines_before)) if source else ())]
    return _digest(parts)


def _digest(parts: Sequence[str]) -> bytes:
    return blake2b(encode("\0".join(parts)), digest_size=16).digest()
