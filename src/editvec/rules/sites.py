"""Where an example changes, and the pairs of nodes that can stand for the change, the smallest first."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import NamedTuple

from editvec.core.edit import Edit
from editvec.syntax import languages
from editvec.syntax.cst import Cst, Node
from editvec.syntax.languages import Language
from editvec.syntax.token import encode

_MAX_TOKENS = 120
"""Larger pairs are no patterns."""
_MAX_PAIRS = 8


class NodePair(NamedTuple):
    """A node before and the node that stands in its place after."""

    before: Node
    after: Node


class SiteChange(NamedTuple):
    """Tokens [before, before_end) became tokens [after, after_end)."""

    before: int
    before_end: int
    after: int
    after_end: int


@dataclass(frozen=True, eq=False)
class RuleExample:
    """An edit as two texts that parse: files, or fragments in a wrapping.

    A rule must do within the scopes what the edit did, no more and no less; what is outside is not judged.
    """

    id: str
    language: Language
    before: bytes
    after: bytes
    scope: tuple[int, int]
    """The bytes of `before` that count."""
    scope_after: tuple[int, int]
    one_of_many: bool = False
    """Whether the edit could have been made at more places of the text: then the scopes are what it changed,
    and only the smallest match there is judged."""

    @cached_property
    def code_before(self) -> Cst:
        """The text before, parsed."""
        return Cst(self.language, self.before, _span(self.before, self.after))

    @cached_property
    def code_after(self) -> Cst:
        """The text after, parsed."""
        return Cst(self.language, self.after, _span(self.after, self.before))

    @property
    def text_before(self) -> str:
        """What the scope said."""
        return self.before[slice(*self.scope)].decode(errors="replace")

    @property
    def text_after(self) -> str:
        """What the scope says."""
        return self.after[slice(*self.scope_after)].decode(errors="replace")


@dataclass(frozen=True, eq=False)
class Site:
    """One change of an example with its pairs, the smallest first."""

    example: RuleExample
    change: SiteChange
    pairs: tuple[NodePair, ...]


def file_example(identity: str, language: Language, before: bytes, after: bytes) -> RuleExample:
    """An example of two whole files, in which everything counts."""
    return RuleExample(identity, language, before, after, (0, len(before)), (0, len(after)))


def edit_example(edit: Edit) -> RuleExample | None:
    """An edit's texts in the first wrapping in which both parse; None where there is none, as for prose."""
    language = languages.get(edit.language)
    if not isinstance(language, Language):
        return None
    before, after = encode(edit.before.text), encode(edit.after.text)
    for opening, closing in _wrappings(language, before):
        texts = [opening + each + closing for each in (before, after)]
        start = len(opening)
        example = RuleExample(
            edit.id, language, texts[0], texts[1], (start, start + len(before)), (start, start + len(after))
        )
        if not example.code_before.has_error and not example.code_after.has_error:
            return example
    return None


def _wrappings(language: Language, text: bytes) -> list[tuple[bytes, bytes]]:
    """The language's wrappings for fragments, for headers without their body, and all places of patterns."""
    tried = language.wrappers + language.header_wrappers
    if text.rstrip().endswith(b":"):
        # A header that ends like this also parses without its body, as something else.
        tried = language.header_wrappers + language.wrappers
    return [(opening.encode(), closing.encode()) for opening, closing in tried + language.places]


def sites(example: RuleExample, *, joined: bool = False) -> list[Site]:
    """The changes of an example: one for each run of changed lines, or all joined into one."""
    found = []
    for change in _changes(example, joined):
        pairs = _pairs(example, change)
        if pairs:
            found.append(Site(example, change, pairs))
    return found


def _changes(example: RuleExample, joined: bool) -> list[SiteChange]:
    one, other = example.code_before, example.code_after
    if joined:
        whole = _trim(one, other, 0, len(one.tokens), 0, len(other.tokens))
        return [whole] if whole else []
    lines = tuple(data.splitlines(keepends=True) for data in (example.before, example.after))
    starts = [_offsets(each) for each in lines]
    found = []
    for tag, i0, i1, j0, j1 in SequenceMatcher(None, lines[0], lines[1], autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        span = [
            code.token_at(place[at]) if place[at] else 0
            for code, place, at in (
                (one, starts[0], i0),
                (one, starts[0], i1),
                (other, starts[1], j0),
                (other, starts[1], j1),
            )
        ]
        change = _trim(one, other, *span)
        if change:
            found.append(change)
    return found


def _span(data: bytes, other: bytes) -> tuple[int, int]:
    """The bytes that differ from another version, with the lines around them."""
    low = num_common(data, other)
    end = num_common(data[low:][::-1], other[low:][::-1])
    return max(data.rfind(b"\n", 0, low), 0), (data.find(b"\n", len(data) - end) % (len(data) + 1))


def num_common(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _offsets(lines: list[bytes]) -> list[int]:
    found = [0]
    for line in lines:
        found.append(found[-1] + len(line))
    return found


def _trim(one: Cst, other: Cst, low: int, high: int, start: int, end: int) -> SiteChange | None:
    """The change without the tokens that both versions begin and end with; None when nothing is left."""
    while low < high and start < end and one.tokens[low] == other.tokens[start]:
        low, start = low + 1, start + 1
    while low < high and start < end and one.tokens[high - 1] == other.tokens[end - 1]:
        high, end = high - 1, end - 1
    return SiteChange(low, high, start, end) if low < high or start < end else None


def _pairs(example: RuleExample, change: SiteChange) -> tuple[NodePair, ...]:
    """The pairs of nodes around a change that have the same neighbours, the smallest first."""
    one, other = example.code_before, example.code_after
    # Other changes of the file shift the tokens behind this one: count from the change, not from the file's ends.
    places: dict[tuple[int, int], list[Node]] = {}
    for node in other.around(change.after, change.after_end):
        places.setdefault((change.after - node.low, node.high - change.after_end), []).append(node)
    found: dict[tuple[int, int], list[Node]] = {}
    for node in one.around(change.before, change.before_end):
        found.setdefault((change.before - node.low, node.high - change.before_end), []).append(node)
    pairs: list[NodePair] = []
    for place in sorted(found, key=sum):
        if place not in places or not _same_around(one, other, change, place):
            continue
        inner = [node for node in found[place] if node.named], [node for node in places[place] if node.named]
        if not inner[0] or not inner[1] or not inner[0][0].whole or not inner[1][0].whole:
            continue
        if inner[0][-1].high - inner[0][-1].low > _MAX_TOKENS:
            continue
        if not example.one_of_many and not _in_scope(example, inner[0][-1]):
            break
        pairs.append(NodePair(inner[0][-1], inner[1][-1]))
        outer = NodePair(inner[0][0], inner[1][0])
        if outer != pairs[-1] and outer.before.parent is not None and outer.after.parent is not None:
            pairs.append(outer)
    return tuple(pairs[:_MAX_PAIRS])


def _in_scope(example: RuleExample, node: Node) -> bool:
    return example.scope[0] <= node.start and node.end <= example.scope[1]


def _same_around(one: Cst, other: Cst, change: SiteChange, place: tuple[int, int]) -> bool:
    left, right = place
    return (
        one.tokens[change.before - left : change.before] == other.tokens[change.after - left : change.after]
        and one.tokens[change.before_end : change.before_end + right]
        == other.tokens[change.after_end : change.after_end + right]
    )
