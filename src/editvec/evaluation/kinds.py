"""Kinds of small edits (a name, an argument, a literal), told from the tokens of a line before and after."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from editvec.mining.sweeps import Sweep, changed_runs, line_tokens


class EditKind(Enum):
    """What a small edit changes."""

    NAME = "name"
    ARGUMENT = "argument"
    WRAP = "wrap"
    TYPE = "type"
    LITERAL = "literal"
    KEYWORD = "keyword"
    INSERTION = "insertion"
    DELETION = "deletion"
    OTHER = "other"


class _TokenRun(NamedTuple):
    """Tokens that were replaced, and the tokens on both sides of them; empty at the ends of the line."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    left: str
    right: str

    @property
    def changed(self) -> tuple[str, ...]:
        return self.removed + self.added


_NAME = re.compile(r"[A-Za-z_$][\w$]*$")
_LITERAL = re.compile(r"[\d\"']|(?:true|false|True|False|null|nil|None|undefined|nullptr)$")
_KEYWORDS = frozenset(
    "abstract async auto await class const constexpr def default defer dyn enum explicit export extern final fn for "
    "func function if import in inline interface internal let mut new noexcept override partial private protected pub "
    "public readonly ref return sealed static struct throw throws typename unsafe val var virtual void volatile while "
    "with yield".split()
)
_PRIMITIVES = frozenset(
    "any auto bool boolean byte char decimal double error f32 f64 float float32 float64 i32 i64 int int32 int64 isize "
    "long never number object short size_t str string u8 u16 u32 u64 uint unknown usize var void".split()
)
_JOINTS = frozenset({".", "::", "?.", "->"})
_TYPE_MARKS = frozenset({*"<>[],|&?*.:", "->"})
_BEFORE_TYPES = frozenset({":", "->", "<", "|", "extends", "implements"})
_OPEN, _CLOSE = "([{", ")]}"


def kind_of(before: str, after: str) -> EditKind:
    """Return the kind of a line's change; the first kind that fits."""
    runs = _runs(line_tokens(before), line_tokens(after))
    if not runs:
        return EditKind.OTHER
    removed = [token for run in runs for token in run.removed]
    added = [token for run in runs for token in run.added]
    tests = {
        EditKind.KEYWORD: all(token in _KEYWORDS for token in removed + added),
        EditKind.TYPE: all(map(_is_type_text, runs)) and any(map(_is_at_type, runs)),
        EditKind.WRAP: any(_depth(run.removed) != _depth(run.added) for run in runs),
        EditKind.LITERAL: bool(removed) and all(map(_LITERAL.match, removed)),
        EditKind.ARGUMENT: len(runs) == 1 and _is_argument(runs[0]),
        EditKind.NAME: all(run.removed and run.added and _is_name(run.changed) for run in runs),
        EditKind.INSERTION: not removed,
        EditKind.DELETION: not added,
    }
    return next((kind for kind, fits in tests.items() if fits), EditKind.OTHER)


def kind_of_sweep(sweep: Sweep) -> EditKind:
    """Return the most frequent kind of the sites of a sweep; of equally frequent ones, that of the earlier site."""
    return Counter(kind_of(site.before, site.after) for site in sweep.sites).most_common(1)[0][0]


def _runs(before: Sequence[str], after: Sequence[str]) -> list[_TokenRun]:
    framed = ["", *before, ""]
    return [
        _TokenRun(tuple(before[low:high]), tuple(after[start:end]), framed[low], framed[high + 1])
        for low, high, start, end in changed_runs(before, after)
    ]


def _depth(tokens: Iterable[str]) -> int:
    """Return by how many brackets a run of tokens goes in (positive) or out (negative)."""
    return sum((token in _OPEN) - (token in _CLOSE) for token in tokens)


def _is_argument(run: _TokenRun) -> bool:
    """Return whether a run adds or removes an item of a list in brackets."""
    if run.removed and run.added:
        return False
    return "," in (run.changed[0], run.changed[-1]) or (run.left == "(" and run.right == ")")


def _is_type_text(run: _TokenRun) -> bool:
    """Return whether all changed tokens can belong to a type."""
    return all(
        (token[0].isupper() or token in _PRIMITIVES) if _NAME.match(token) else token in _TYPE_MARKS
        for token in run.changed
    )


def _is_at_type(run: _TokenRun) -> bool:
    """Return whether a run changes names in front of a name, or behind a mark that types stand behind."""
    if not any(map(_NAME.match, run.changed)):
        return False
    declares = bool(_NAME.match(run.right)) and run.left not in _JOINTS and run.right not in _KEYWORDS
    return declares or run.left in _BEFORE_TYPES or run.changed[0] in _BEFORE_TYPES


def _is_name(tokens: Iterable[str]) -> bool:
    return all(_NAME.match(token) or token in _JOINTS for token in tokens)
