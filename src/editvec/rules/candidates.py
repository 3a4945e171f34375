"""Candidate rules for sites that look alike, the most general first.

Nothing is verified here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

import tree_sitter as ts

from editvec.rules.antiunify import NAMES, UnboundError, generalise
from editvec.rules.holes import Generalised, Hole, Inner, Template, Use
from editvec.rules.rule import InducedRule, Metavariable, RulePiece, digest
from editvec.rules.sites import NodePair, Site
from editvec.rules.template import name_holes, weigh, write
from editvec.rules.values import innermost, is_list, is_spoken_for
from editvec.syntax.cst import Node, parse
from editvec.syntax.languages import Language

MIN_WEIGHT = 0.5
"""Minimum weight of a template: `await $X` is specific enough, `$X.$M()` is not."""
_ENOUGH = 1.2
"""Minimum weight of a template that needs no condition on its parent."""
_MANY_EXAMPLES = 4
"""Minimum number of different texts of one kind that limits a metavariable to that kind."""
_MAX_LEVELS = 3
_MAX_RENDERINGS = 12
_TYPE_NAME = re.compile(r"[A-Z]\w{2,}")
"""How type names are written; a name that is written like this is a type in any position."""
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_METAVARIABLE = re.compile(r"\$(?:\$\$)?_?([A-Z][A-Z0-9_]*)")


def levels(sites: Sequence[Site]) -> Iterator[tuple[NodePair, ...]]:
    """Yield the smallest pairs of all sites for each kind of node that all have, the smallest kind first."""
    seen = set()
    for pair in sites[0].pairs:
        kinds = (pair.before.kind, pair.after.kind)
        if kinds in seen or not is_usable(pair, sites[0].example.language):
            continue
        seen.add(kinds)
        chosen = [_of_kinds(site, *kinds) for site in sites]
        if all(chosen):
            yield tuple(p for p in chosen if p is not None)


def is_usable(pair: NodePair, language: Language) -> bool:
    """Return whether a pair can become a pattern.

    A single name may mean anything, so it is only usable if a type or an attribute becomes another one. Arguments
    without the function that is called are not usable.
    """
    if innermost(pair.before).is_leaf:
        return all(is_spoken_for(node, language) and _TYPE_NAME.match(node.text) for node in pair)
    return not is_list(pair.before)


def _of_kinds(site: Site, before: str, after: str) -> NodePair | None:
    alike = [pair for pair in site.pairs if pair.before.kind == before]
    return next((pair for pair in alike if pair.after.kind == after), alike[0] if alike else None)


def common(
    sites: Sequence[Site], language: Language, *, min_weight: float = MIN_WEIGHT, narrow: bool = False
) -> Iterator[Generalised]:
    """Yield what the sites have in common, for each level at which it is specific enough.

    With `narrow`, a single site keeps the names of called functions.
    """
    for pairs in levels(sites):
        try:
            found = generalise(pairs, language, with_names=True, narrow=narrow)
            if weigh(found.before, language) < _ENOUGH:
                found = generalise(pairs, language, narrow=narrow)
            if weigh(found.before, language) < _ENOUGH:
                # One name is seldom what an edit is about: not every `unwrap`, but that of a `lock`.
                found = generalise(pairs, language, narrow=narrow, receivers=True)
        except UnboundError:
            continue
        if not isinstance(found.before, Use) and weigh(found.before, language) >= min_weight:
            yield found


def candidates(sites: Sequence[Site], language: Language, *, min_weight: float = MIN_WEIGHT) -> list[InducedRule]:
    """Return the rules that the sites may be examples of, the most general first.

    If these are too general, they are those that keep the names of called functions.
    """
    return _candidates(sites, language, min_weight, narrow=False) or _candidates(
        sites, language, min_weight, narrow=True
    )


def ladder(sites: Sequence[Site], language: Language) -> list[InducedRule]:
    """Return everything that the sites may be examples of, also what is very general, the most general first."""
    steps = [rule for narrow in (False, True) for rule in _candidates(sites, language, 0.0, narrow=narrow)]
    return sorted(dict.fromkeys(steps), key=lambda rule: rule.weight)


def _candidates(sites: Sequence[Site], language: Language, min_weight: float, *, narrow: bool) -> list[InducedRule]:
    rules: list[InducedRule] = []
    number = 0
    for found in common(sites, language, min_weight=0.0, narrow=narrow):
        name_holes(found, language)
        if any(hole.num_uses == 1 and not _may_vanish(hole) for hole in found.holes) or _calls_anything(found):
            continue
        rule = _rule(found, language)
        if rule is None or rule.before.text == rule.after:
            continue
        before = [pair.before for pair in found.pairs]
        variants = [rule]
        if unlike := _after_pattern(found, language):
            variants.append(replace(rule, unlike=(unlike, *_other_readings(unlike, language))))
        parents = {(node.parent.kind, node.field) if node.parent is not None else ("", "") for node in before}
        ((parent, field), *others) = parents
        if field == "function" and not others:
            # A called function is recognised by its call, which the fix does not have to touch.
            variants = [replace(each, inside=parent, field=field) for each in variants]
        elif innermost(before[0]).is_leaf:
            # Only its position identifies a single name, unless it is written like a type.
            if not others:
                variants = [replace(each, inside=parent, field=field) for each in variants]
            elif not _TYPE_NAME.fullmatch(before[0].text):
                continue
        elif not others and parent and (field == "type" or any(map(_moves, found.pairs))):
            # A type may be right in one position and wrong in another. The same is true of an edit that changes the
            # kind of the parent.
            variants = [replace(each, inside=parent, field=field) for each in variants]
        elif rule.weight < _ENOUGH and not others and parent and parent not in language.bodies:
            variants += [replace(each, inside=parent, weight=each.weight + 0.4) for each in variants]
        kept = [each for each in variants if each.weight >= min_weight]
        rules += kept
        number += bool(kept)
        if number >= _MAX_LEVELS:
            break
    return rules


def _moves(pair: NodePair) -> bool:
    """Return whether the parent of a pair changes its kind, such as a conversion that becomes a call."""
    one, other = pair.before.parent, pair.after.parent
    return one is not None and other is not None and one.kind != other.kind


def _calls_anything(found: Generalised) -> bool:
    """Return whether the edit changes the arguments of a call without fixing what is called.

    Such a rule is never right, because it always matters what is called.
    """
    before, after = dict(_calls(found.before)), dict(_calls(found.after))
    return any(hole in after and after[hole] != arguments for hole, arguments in before.items())


def _calls(template: Template) -> Iterator[tuple[int, str]]:
    """Yield the id of each hole that is called or constructed, with the text of its arguments."""
    if not isinstance(template, Inner):
        return
    called = next((child for child in template.children if isinstance(child, Use) and not child.hole.many), None)
    given = next((child for child in template.children if not isinstance(child, Use) and is_list(_node(child))), None)
    if called is not None and given is not None and "argument" in _node(given).kind:
        yield id(called.hole), "".join(write(given, one_line=True).split())
    for child in template.children:
        yield from _calls(child)


def _may_vanish(hole: Hole) -> bool:
    """Return whether an edit may drop what a hole stands for.

    That must be a single token of one kind, and not the name that the edit is about.
    """
    return hole.leaf and len(set(hole.inner_kinds)) == 1 and hole.role not in NAMES


def _rule(found: Generalised, language: Language) -> InducedRule | None:
    name_holes(found, language)
    text = write(found.before, one_line=bool(language.terminator))
    kind = _node(found.before).kind
    place = find_place(text, kind, language)
    after = _usual_after(found, language)
    if place is None or _is_broken(text + after):
        return None
    metavariables = tuple(
        _metavariable(hole, language, loosens=_loosens(hole.name, text, after, language)) for hole in found.holes
    )
    piece = RulePiece(text, kind, place)
    return InducedRule(
        id=digest(language.name, text, after, kind),
        language=language.name,
        before=piece,
        also=_other_readings(piece, language),
        after=after,
        metavariables=metavariables,
        weight=weigh(found.before, language),
    )


def _is_broken(text: str) -> bool:
    """Return whether a text has bytes that are not characters, which YAML cannot hold."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _node(template: Template) -> Node:
    assert not isinstance(template, Use)
    return template.node if isinstance(template, Inner) else template


def _usual_after(found: Generalised, language: Language) -> str:
    """Return the text after, with the white space that most examples have."""
    texts = Counter[str]()
    for number in range(min(len(found.pairs), _MAX_RENDERINGS)):
        turned = found.pairs[number:] + found.pairs[:number]
        again = _again(found, turned, language) if number else found
        name_holes(again, language)
        texts[write(again.after, one_line=False)] += 1
    name_holes(found, language)
    return texts.most_common(1)[0][0]


def _again(found: Generalised, pairs: Sequence[NodePair], language: Language) -> Generalised:
    """Return the same generalisation with another example first."""
    again = generalise(pairs, language, with_names=True)
    return again if len(again.holes) == len(found.holes) else generalise(pairs, language)


def _after_pattern(found: Generalised, language: Language) -> RulePiece | None:
    """Return the text after as a pattern, if it could be mistaken for before; otherwise None.

    Its metavariables match anything.
    """
    if isinstance(found.after, Use) or _node(found.after).kind != _node(found.before).kind:
        return None
    text = write(found.after, one_line=bool(language.terminator), prefix="_")
    kind = _node(found.after).kind
    place = find_place(text, kind, language)
    return RulePiece(text, kind, place) if place is not None else None


@lru_cache(maxsize=4096)
def find_place(text: str, kind: str, language: Language) -> tuple[str, str] | None:
    """Return the first of the language's places in which a pattern is one node of a kind, or None.

    A place is the code in front of the pattern and behind it. A pattern with `$$$` for any number of statements may not
    parse in any place; ast-grep accepts it all the same, so a place with a syntax error is returned for it.
    """
    plain, size = _without_metavariables(text)
    flawed = None
    for opening, closing in language.places:
        root = parse(language, plain.join((opening, closing)).encode("utf-8", "surrogateescape")).root_node
        start = len(opening.encode())
        if _first(root, kind) != (start, start + size):
            continue
        if not root.has_error:
            return opening, closing
        flawed = flawed or (opening, closing)
    return flawed if "$$$" in text else None


@lru_cache(maxsize=4096)
def _other_readings(piece: RulePiece, language: Language) -> tuple[RulePiece, ...]:
    """Return the other kinds of node that a statement or a member can be in another place.

    For instance, a field looks like a variable. An example is a fragment of a file, so the kind that it had there is
    unknown.
    """
    if piece.kind not in language.units:
        return ()
    found: dict[str, RulePiece] = {}
    plain, size = _without_metavariables(piece.text)
    for opening, closing in language.places:
        root = parse(language, plain.join((opening, closing)).encode("utf-8", "surrogateescape")).root_node
        start = len(opening.encode())
        node = root.descendant_for_byte_range(start, start + size)
        while node is not None and (node.start_byte, node.end_byte) == (start, start + size):
            kind = node.type
            if kind in language.units and kind != piece.kind and not root.has_error:
                found.setdefault(kind, RulePiece(piece.text, kind, (opening, closing)))
            node = node.parent
    return tuple(each for kind, each in found.items() if find_place(piece.text, kind, language) == each.place)


def _without_metavariables(text: str) -> tuple[str, int]:
    """Return a pattern as code with names for its metavariables, and its size in bytes."""
    plain = _METAVARIABLE.sub(lambda match: f"z{match[1]}", text)
    return plain, len(plain.encode("utf-8", "surrogateescape"))


def _first(root: ts.Node, kind: str) -> tuple[int, int] | None:
    """Return the span of the first named node of a kind, or None."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == kind and node.is_named:
            return node.start_byte, node.end_byte
        stack += reversed(node.children)
    return None


def _metavariable(hole: Hole, language: Language, *, loosens: bool) -> Metavariable:
    """Return the metavariable of a hole, with the constraints that the examples support.

    If the examples disagree, or if there is only one, it matches anything that can stand in its place. With `loosens`,
    an expression with operators cannot.
    """
    if hole.many:
        return Metavariable(hole.name, many=True)
    if hole.quoted:
        words = all(_IDENTIFIER.fullmatch(" ".join(key)) for key in hole.keys)
        return Metavariable(hole.name, regex=r"^[A-Za-z_]\w*$" if words else "")
    wrapped = hole.kinds != hole.inner_kinds
    if hole.mixed or (wrapped and len(set(hole.kinds)) > 1):
        return Metavariable(hole.name)
    kinds = set(hole.inner_kinds)
    general = kinds & (language.primaries - language.literals)
    if general and (len(kinds) > 1 or len(set(hole.keys)) < _MANY_EXAMPLES) and hole.role not in NAMES:
        # Where a variable can stand, any expression can that binds as tightly as a variable.
        if not loosens:
            return Metavariable(hole.name)
        kinds |= language.primaries
    return Metavariable(hole.name, kinds=tuple(sorted(kinds)), wrapped=wrapped)


def _loosens(name: str, before: str, after: str, language: Language) -> bool:
    """Return whether an expression with operators fits a metavariable before, but would fall apart after."""
    return _holds(before, name, language) and not _holds(after, name, language)


@lru_cache(maxsize=4096)
def _holds(text: str, name: str, language: Language) -> bool:
    """Return whether an expression with operators stays one expression at each use of the metavariable."""
    loose = language.loose
    spans: list[int] = []
    plain, at = "", 0
    for match in _METAVARIABLE.finditer(text):
        plain += text[at : match.start()]
        if match[1] == name:
            spans.append(len(plain.encode("utf-8", "surrogateescape")))
        plain += loose if match[1] == name else f"z{match[1]}"
        at = match.end()
    plain += text[at:]
    for opening, closing in language.places:
        root = parse(language, plain.join((opening, closing)).encode("utf-8", "surrogateescape")).root_node
        if not root.has_error:
            start = len(opening.encode())
            return all(_is_node(root, start + span, start + span + len(loose)) for span in spans)
    return False


def _is_node(root: ts.Node, start: int, end: int) -> bool:
    node = root.descendant_for_byte_range(start, end)
    return node is not None and (node.start_byte, node.end_byte) == (start, end)
