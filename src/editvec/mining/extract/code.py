"""Extraction of edits from a changed code file: hunks to syntactic units, pairs of units, edits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from editvec.core.edit import Canonical, Edit, Version
from editvec.core.text import BOM, line_of
from editvec.mining.recipes import Recipe
from editvec.syntax.canonical import Passage, canonicalise, is_declared
from editvec.syntax.languages import Language
from editvec.syntax.leaves import ERROR, Leaf
from editvec.syntax.token import decode
from editvec.syntax.treesitter import Parsed
from editvec.syntax.units import Unit
from editvec.vcs.history import Hunk

Tally = Counter[str]

_CONTINUES = re.compile(rb"[,(\[{+\-*/|&=.?:\\]\s*$|^\s*[.)\]&|+?:<>]|^\s*(?:and|or|is|as)\b")
_ASIDE = re.compile(rb"\s*(?:(?://|/\*|\*(?:\s|/|$)).*|\[[A-Za-z_].*\]\s*)?", re.S)
"""A line without code in a language with braces: blank, comment or attribute."""
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*"')
_PLAIN = frozenset({"int", "long", "string", "float", "LITERAL", "var"})
_MIN_SHARED_WORDS = 0.6


class Region(NamedTuple):
    """A changed region: 0-based first line and number of lines on both sides."""

    before: int
    num_before: int
    after: int
    num_after: int


@dataclass(frozen=True, slots=True)
class UnitPair:
    """The spans of an edit in the two versions: bytes [start, end) before and after."""

    before: tuple[int, int]
    after: tuple[int, int]


def refuse_by_text(hunk: Hunk, language: Language, recipe: Recipe) -> str | None:
    """Return the filter that drops a hunk by its lines alone, without parsing; None if the hunk passes."""
    if hunk.num_before > recipe.max_lines or hunk.num_after > recipe.max_lines:
        return "too-many-lines"
    removed, added = _plain(hunk)
    if b"".join(b"".join(removed).split()) == b"".join(b"".join(added).split()):
        return "formatting"
    if all(_is_comment(line, language) for line in removed + added):
        return "comment"
    if recipe.drops("literal-only") and _STRING.sub(b'""', b"\n".join(removed)) == _STRING.sub(
        b'""', b"\n".join(added)
    ):
        return "literal-only"
    if not removed and not _continues(added):
        return "pure-insertion"
    if not added and not _continues(removed):
        return "pure-deletion"
    if recipe.single_line_statements and not all(_may_end_statement(line, language) for line in removed + added):
        return "no-unit"
    return None


def _plain(hunk: Hunk) -> tuple[list[bytes], list[bytes]]:
    """Return the lines of both sides, without the byte order mark at the start of a file."""
    sides = hunk.sides()
    if not hunk.before:
        for lines in sides:
            lines[:1] = [line.removeprefix(BOM) for line in lines[:1]]
    return sides


def _may_end_statement(line: bytes, language: Language) -> bool:
    """Return whether a line can be the last line of a statement that the recipe `iclr19` accepts.

    Such a line ends with the terminator, which only a comment may follow.
    """
    bare = line.partition(b"//")[0].strip() if language.comment_marks[0] == b"//" else line.strip()
    if not bare:
        return True
    return (bare.endswith(language.terminator) or b'"' in line) and not re.match(language.other_lines, bare)


def _is_comment(line: bytes, language: Language) -> bool:
    bare = line.strip()
    return not bare or bare.startswith(language.comment_marks)


def _continues(lines: Sequence[bytes]) -> bool:
    """Return whether lines that were only added, or only removed, can be part of a statement.

    That is so if the first line continues the line before it, or the last one is continued by the next line.
    """
    full = [line for line in lines if line.strip()]
    return bool(full) and bool(_CONTINUES.search(full[0]) or _CONTINUES.search(full[-1]))


def extract(
    regions: Sequence[Region], before: Parsed, after: Parsed, recipe: Recipe, tally: Tally
) -> Iterator[tuple[Edit, tuple[int, int], tuple[int, int]]]:
    """Yield the edits of a file, each with its lines (1-based, inclusive) before and after.

    Dropped candidates are counted in `tally` by filter.
    """
    cut = _Cutter(before, after, recipe, tally)
    taken: list[tuple[int, int]] = []
    for region in regions:
        for pair in cut.pairs(region):
            low, high = pair.before
            if any(start < high and low < end for start, end in taken):
                continue
            edit = cut.edit(pair)
            if edit is not None:
                taken.append(pair.before)
                yield edit, _lines(before, pair.before), _lines(after, pair.after)


def _lines(parsed: Parsed, span: tuple[int, int]) -> tuple[int, int]:
    return line_of(parsed.line_starts, span[0]) + 1, line_of(parsed.line_starts, span[1] - 1) + 1


def find_regions(all_hunks: Sequence[Hunk], passing: Sequence[Hunk], recipe: Recipe, tally: Tally) -> Iterator[Region]:
    """Yield the regions from which edits are extracted.

    Without the filter `crowded`, each hunk is a region. With it, hunks with fewer unchanged lines between them than
    the context has are merged into one region.
    """
    if not recipe.drops("crowded"):
        for hunk in passing:
            yield Region(hunk.before, hunk.num_before, hunk.after, hunk.num_after)
        return
    wanted = set(passing)
    # Two passes: hunks that are close to each other once silent hunks are removed are also close with them.
    for neighbours in _groups(all_hunks, recipe.context_lines):
        if not wanted.intersection(neighbours):
            continue
        telling = [hunk for hunk in neighbours if not _is_silent(hunk)]
        tally["comment"] += len(wanted.intersection(neighbours).difference(telling))
        for group in _groups(telling, recipe.context_lines):
            inside = len(wanted.intersection(group))
            if not inside:
                continue
            first, last = group[0], group[-1]
            num_before = last.before + last.num_before - first.before
            num_after = last.after + last.num_after - first.after
            if max(num_before, num_after) > recipe.max_lines:
                tally["crowded"] += inside
            elif recipe.same_line_count and num_before != num_after:
                tally["line-counts-differ"] += inside
            else:
                yield Region(first.before, num_before, first.after, num_after)


def _is_silent(hunk: Hunk) -> bool:
    """Return whether a hunk changes only layout, comments and attributes, which the canonical form does not have."""
    before, after = (
        b"".join(b"\n".join([line for line in lines if not _ASIDE.fullmatch(line)]).split()) for lines in hunk.sides()
    )
    return before == after


def _groups(hunks: Sequence[Hunk], room: int) -> Iterator[list[Hunk]]:
    """Yield groups of successive hunks with fewer than `room` unchanged lines between them."""
    group: list[Hunk] = []
    for hunk in hunks:
        if group and hunk.before - (group[-1].before + group[-1].num_before) >= room:
            yield group
            group = []
        group.append(hunk)
    if group:
        yield group


class _Cutter:
    """An extractor of edits from the two versions of one file."""

    def __init__(self, before: Parsed, after: Parsed, recipe: Recipe, tally: Tally) -> None:
        self.before = before
        self.after = after
        self.recipe = recipe
        self.tally = tally

    def pairs(self, region: Region) -> list[UnitPair]:
        """Return the corresponding spans of a region; if there are none, count the filter."""
        low = _span(self.before, region.before, region.num_before)
        high = _span(self.after, region.after, region.num_after)
        if self.recipe.single_line_statements:
            return self._statement_lines(region)
        units_before, units_after = self.before.units(*low), self.after.units(*high)
        if not units_before or not units_after:
            self.tally[_why_no_unit(region, units_before, units_after)] += 1
            return []
        if len(units_before) == len(units_after) and self._correspond(units_before, units_after):
            pairs = [
                UnitPair((one.start, one.end), (other.start, other.end))
                for one, other in zip(units_before, units_after, strict=True)
                if self._text(self.before, one) != self._text(self.after, other)
            ]
            if not pairs:
                self.tally["comment"] += 1
            return pairs
        if _are_siblings(units_before) and _are_siblings(units_after):
            first, last = units_before[0], units_before[-1]
            start, end = units_after[0], units_after[-1]
            return [UnitPair((first.start, last.end), (start.start, end.end))]
        self.tally["unaligned"] += 1
        return []

    def _text(self, parsed: Parsed, unit: Unit) -> bytes:
        return parsed.data[unit.start : unit.end]

    def _correspond(self, units_before: Sequence[Unit], units_after: Sequence[Unit]) -> bool:
        """Return whether units correspond one by one.

        A single unit always corresponds to a single unit; of several, each pair must have a similarity of 0.5 or more.
        """
        if len(units_before) == 1:
            return True
        return all(
            Levenshtein.normalized_similarity(self._text(self.before, one), self._text(self.after, other)) >= 0.5
            for one, other in zip(units_before, units_after, strict=True)
        )

    def _statement_lines(self, region: Region) -> list[UnitPair]:
        """Return the pairs for the recipe `iclr19`.

        Every line with tokens must end one whole statement of an allowed kind.
        """
        spans = []
        for parsed, first, count in (
            (self.before, region.before, region.num_before),
            (self.after, region.after, region.num_after),
        ):
            found: list[Unit] = []
            for line in range(first, first + count):
                leaves = parsed.leaves(*_span(parsed, line, 1))
                if not leaves:
                    continue
                unit = _statement_ending(parsed, leaves)
                if unit is None:
                    self.tally["no-unit"] += 1
                    return []
                found.append(unit)
            if not found:
                self.tally["no-unit"] += 1
                return []
            spans.append((found[0].start, found[-1].end))
        return [UnitPair(spans[0], spans[1])]

    def edit(self, pair: UnitPair) -> Edit | None:
        """Return the edit of a pair; if a filter drops it, count the filter and return None."""
        one, other = self.before.leaves(*pair.before), self.after.leaves(*pair.after)
        reason = self._refuse(one, other)
        if reason is None:
            around = _context(self.before, pair.before, self.recipe.context_lines)
            canonical = canonicalise(Passage(self.before, one), Passage(self.after, other), *around, self.recipe.naming)
            reason = self._refuse_canonical(canonical, one, other)
        if reason is not None:
            self.tally[reason] += 1
            return None
        return Edit(
            id="",
            language=self.before.language.name,
            before=Version(decode(self.before.data[slice(*pair.before)]), _texts(one)),
            after=Version(decode(self.after.data[slice(*pair.after)]), _texts(other)),
            context_before=_texts(around[0].leaves),
            context_behind=_texts(around[1].leaves),
            canonical=canonical,
        )

    def _refuse(self, one: Sequence[Leaf], other: Sequence[Leaf]) -> str | None:
        texts, others = _texts(one), _texts(other)
        if texts == others:
            return "formatting"
        if not texts or not others:
            return "no-unit"
        if max(len(texts), len(others)) >= self.recipe.max_tokens:
            return "too-long"
        if self._broken(self.before, one) or self._broken(self.after, other):
            return "syntax-error"
        if self.recipe.drops("rewrite") and _is_rewrite(texts, others, self.recipe.min_similarity):
            return "rewrite"
        return None

    def _broken(self, parsed: Parsed, leaves: Sequence[Leaf]) -> bool:
        return any(leaf.kind == ERROR for leaf in leaves) or parsed.has_error(leaves[0].start, leaves[-1].end)

    def _refuse_canonical(self, canonical: Canonical, one: Sequence[Leaf], other: Sequence[Leaf]) -> str | None:
        if canonical.before == canonical.after:
            return "literal-only" if self.recipe.drops("literal-only") else None
        if self.recipe.drops("rename-only") and self._is_renaming(canonical, one, other):
            return "rename-only"
        if self.recipe.drops("trivial") and not (_is_telling(canonical.before) and _is_telling(canonical.after)):
            return "trivial"
        return None

    def _is_renaming(self, canonical: Canonical, one: Sequence[Leaf], other: Sequence[Leaf]) -> bool:
        """Return whether an edit only renames variables.

        That is so if only names differ, no old name is declared in the scope after the edit, and no new name is
        declared in the scope before it.
        """
        if len(one) != len(other):
            return False
        for leaf, new, name, new_name in zip(one, other, canonical.before, canonical.after, strict=True):
            if name == new_name:
                continue
            if not (name.startswith("VAR") and new_name.startswith("VAR")):
                return False
            if is_declared(self.after, new._replace(text=leaf.text)):
                return False
            if is_declared(self.before, leaf._replace(text=new.text)):
                return False
        return True


def _texts(leaves: Sequence[Leaf]) -> tuple[str, ...]:
    return tuple([leaf.text for leaf in leaves])


def _span(parsed: Parsed, first: int, count: int) -> tuple[int, int]:
    """Return the byte span of whole lines, without surrounding white space.

    If nothing remains, the result is an empty span at the start of the first line.
    """
    starts = parsed.line_starts
    low, high = starts[min(first, len(starts) - 1)], starts[min(first + count, len(starts) - 1)]
    text = parsed.data[low:high]
    end = low + len(text.rstrip())
    start = end - len(text.strip())
    return (start, end) if start < end else (low, low)


def _context(parsed: Parsed, span: tuple[int, int], num_lines: int) -> tuple[Passage, Passage]:
    starts = parsed.line_starts
    first, last = line_of(starts, span[0]), line_of(starts, span[1] - 1)
    low = starts[max(0, first - num_lines)]
    high = starts[min(len(starts) - 1, last + 1 + num_lines)]
    return Passage(parsed, parsed.leaves(low, span[0])), Passage(parsed, parsed.leaves(span[1], high))


def _statement_ending(parsed: Parsed, leaves: Sequence[Leaf]) -> Unit | None:
    """Return the single statement of an allowed kind that ends with the tokens of a line, or None.

    A literal may span several lines, because it is one token in the canonical form.
    """
    units = parsed.units(leaves[0].start, leaves[-1].end)
    if len(units) != 1 or units[0].kind not in parsed.language.single_line_statements or not units[0].whole:
        return None
    at, end = leaves[-1].end, units[0].end
    for leaf in parsed.leaves(at, end):
        if b"\n" in parsed.data[at : leaf.start]:
            return None
        at = leaf.end
    return units[0] if at == end else None


def _is_rewrite(before: Sequence[str], after: Sequence[str], least: float) -> bool:
    """Return whether two versions have too little in common to be one edit.

    That is so if their token sequences have a similarity below `least`, and they share less than 60 % of the words of
    the version with fewer words.
    """
    if Levenshtein.normalized_similarity(before, after) >= least:
        return False
    words, others = (Counter(token for token in tokens if token[0].isalpha()) for tokens in (before, after))
    shorter = min(words.total(), others.total())
    return shorter < 2 or (words & others).total() < _MIN_SHARED_WORDS * shorter


def _why_no_unit(region: Region, units_before: Sequence[Unit], units_after: Sequence[Unit]) -> str:
    if not region.num_before and not units_before:
        return "pure-insertion"
    if not region.num_after and not units_after:
        return "pure-deletion"
    return "no-unit"


def _are_siblings(units: Sequence[Unit]) -> bool:
    return all(unit.whole for unit in units) and len({unit.parent for unit in units}) == 1


def _is_telling(tokens: Sequence[str]) -> bool:
    return any(token not in _PLAIN and any(c.isalnum() or c in "_=+<>|^~$`" for c in token) for token in tokens)
