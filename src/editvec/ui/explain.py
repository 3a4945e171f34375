"""Explain a derivation in words: one line per action, indented by the depth in the tree."""

from __future__ import annotations

from collections.abc import Iterable

from editvec.core.edit import Edit
from editvec.neural.grammar.action import Action, Expand, GenTerm, Reduce, TreeCp
from editvec.neural.grammar.builder import learn
from editvec.neural.grammar.derivation import Derivation
from editvec.neural.grammar.grammar import ROOT_FIELD, Grammar, Label, SlotKind, UnseenError
from editvec.neural.grammar.oracle import SourceTree, take
from editvec.neural.grammar.trees import edit_trees
from editvec.syntax.tree import Tree


def tell(grammar: Grammar, source: SourceTree, actions: Iterable[Action]) -> list[str]:
    """Return the lines that explain a derivation, one per action."""
    lines = []
    derivation = Derivation.start(grammar)
    for action in actions:
        lines.append("  " * _depth(derivation) + _line(grammar, source, action))
        derivation = take(derivation, source, action)
    return lines


def grammar_of(edits: Iterable[Edit]) -> Grammar:
    """Learn the grammar of edits; edits without trees are ignored."""
    trees: list[Tree] = []
    for edit in edits:
        try:
            trees += edit_trees(edit)
        except UnseenError:
            continue
    return learn(trees)


def _depth(derivation: Derivation) -> int:
    depth, frame = 0, derivation.frame
    while frame is not None:
        depth, frame = depth + 1, frame.above
    return depth


def _line(grammar: Grammar, source: SourceTree, action: Action) -> str:
    match action:
        case Expand(number):
            return f"ExpandR  {_labelled(grammar.labels[number])}"
        case GenTerm(text):
            return f"GenTerm  {text}"
        case TreeCp(places):
            node = source.nodes[places[0]]
            more = f"  ({len(places)} places)" if len(places) > 1 else ""
            return f"TreeCp   {node.kind}: {' '.join(node.tokens())}{more}"
        case Reduce():
            return "Reduce"


def _labelled(label: Label) -> str:
    name = "nothing" if label.shape is SlotKind.ABSENT else label.kind
    if label.shape is SlotKind.SILENT:
        name = f"no {label.field or label.kind}"
    return f"{label.field}: {name}" if label.field and label.field != ROOT_FIELD else name
