"""Sites: where an example changes, and the pairs of nodes that can represent the change, the smallest first."""

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
"""Maximum number of tokens in a pair's node before; larger pairs are not used."""
_MAX_PAIRS = 8


class NodePair(NamedTuple):
    """A node before the edit and the node that stands in its place after it."""

    before: Node
    after: Node


class SiteChange(NamedTuple):
    """A change of tokens: [before, before_end) became [after, after_end)."""

    before: int
    before_end: int
    after: int
    after_end: int


@dataclass(frozen=True, eq=False)
class RuleExample:
    """An edit as two texts that parse: whole files, or fragments in a wrapping.

    Within the scopes, a rule must do exactly what the edit did. What the rule does outside of them is not judged.
    """

    id: str
    language: Language
    before: bytes
    after: bytes
    scope: tuple[int, int]
    """The bytes of `before` in which a rule is judged."""
    scope_after: tuple[int, int]
    one_of_many: bool = False
    """Whether the edit could also have been made elsewhere in the text.

    If so, the scopes are what the edit changed, and only the smallest match there is judged.
    """

    @cached_property
    def code_before(self) -> Cst:
        """Return the text before, parsed."""
        return Cst(self.language, self.before, _span(self.before, self.after))

    @cached_property
    def code_after(self) -> Cst:
        """Return the text after, parsed."""
        return Cst(self.language, self.after, _span(self.after, self.before))

    @property
    def text_before(self) -> str:
        """Return the text before within its scope."""
        return self.before[slice(*self.scope)].decode(errors="replace")

    @property
    def text_after(self) -> str:
        """Return the text after within its scope."""
        return self.after[slice(*self.scope_after)].decode(errors="replace")


@dataclass(frozen=True, eq=False)
class Site:
    """A change of an example, with its pairs of nodes, the smallest first."""

    example: RuleExample
    change: SiteChange
    pairs: tuple[NodePair, ...]


def file_example(identity: str, language: Language, before: bytes, after: bytes) -> RuleExample:
    """Return an example of two whole files, in which everything is judged."""
    return RuleExample(identity, language, before, after, (0, len(before)), (0, len(after)))


def edit_example(edit: Edit) -> RuleExample | None:
    """Return an edit as an example, in the first wrapping in which both of its versions parse.

    Return None if there is no such wrapping, or if the edit is of prose.
    """
    language = languages.get(edit.language)
    if not isinstance(language, Language):
        return None
    before, after = encode(edit.before.text), encode(edit.after.text)
    for opening, closing in wrappings(language, before):
        texts = [opening + each + closing for each in (before, after)]
        start = len(opening)
        example = RuleExample(
            edit.id, language, texts[0], texts[1], (start, start + len(before)), (start, start + len(after))
        )
        if not example.code_before.has_error and not example.code_after.has_error:
            return example
    return None


def wrappings(language: Language, text: bytes) -> list[tuple[bytes, bytes]]:
    """Return the wrappings to try for a piece of code: for fragments, for headers without a body, and for patterns."""
    tried = language.wrappers + language.header_wrappers
    if text.rstrip().endswith(b":"):
        # A header that ends with a colon also parses without its body, but as another kind of node.
        tried = language.header_wrappers + language.wrappers
    return [(opening.encode(), closing.encode()) for opening, closing in tried + language.places]


def sites(example: RuleExample, *, joined: bool = False) -> list[Site]:
    """Return the sites of an example: one for each run of changed lines, or one for all if `joined`."""
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
    """Return the span of the bytes that differ from another version, extended to whole lines."""
    low = num_common(data, other)
    end = num_common(data[low:][::-1], other[low:][::-1])
    return max(data.rfind(b"\n", 0, low), 0), (data.find(b"\n", len(data) - end) % (len(data) + 1))


def num_common(one: bytes, other: bytes) -> int:
    """Return the length in bytes of the prefix that two texts share."""
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
    """Return the change without the equal tokens at both ends; None if nothing is left."""
    while low < high and start < end and one.tokens[low] == other.tokens[start]:
        low, start = low + 1, start + 1
    while low < high and start < end and one.tokens[high - 1] == other.tokens[end - 1]:
        high, end = high - 1, end - 1
    return SiteChange(low, high, start, end) if low < high or start < end else None


def _pairs(example: RuleExample, change: SiteChange) -> tuple[NodePair, ...]:
    """Return the pairs of nodes around a change with equal neighbours, the smallest first."""
    one, other = example.code_before, example.code_after
    # Positions count from the change, not from the file's ends: other changes shift the tokens behind them.
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
