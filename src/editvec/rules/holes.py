"""Trees with holes: what the trees of some examples have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from editvec.rules.sites import NodePair
from editvec.syntax.cst import Key, Node

Keys = tuple[Key, ...]
"""The tokens that a hole stands for in each example."""


@dataclass(eq=False)
class Hole:
    """A position at which the examples differ."""

    keys: Keys
    kinds: tuple[str, ...]
    """The kind of node in each example, as ast-grep sees it: that of the outermost node with this text."""
    inner_kinds: tuple[str, ...]
    """The kind of the innermost node with this text in each example."""
    role: str
    """The field that it fills in its parent, or its own kind if it fills none."""
    many: bool = False
    """Whether it stands for any number of sibling nodes."""
    name: str = ""
    num_uses: int = 0
    mixed: bool = False
    """Whether its positions take different kinds of node, such as a parameter and an argument."""
    leaf: bool = False
    """Whether it stands for a single token in each example."""
    quoted: bool = False
    """Whether it stands between quotes before the edit."""


@dataclass(eq=False)
class Use:
    """A use of a hole: the bytes [start, end) of the first example's text."""

    hole: Hole
    start: int
    end: int
    prefix: str = ""
    """The text in front of it in the same string."""
    suffix: str = ""


@dataclass(eq=False)
class Inner:
    """A node whose kind all examples share, with children that differ; `node` is the first example's."""

    node: Node
    children: list[Template]


Template = Node | Inner | Use
"""A generalised tree: a node that all examples share, a node with differences below it, or a hole."""


@dataclass(eq=False)
class Generalised:
    """The generalisation of some pairs: the templates before and after, and the holes that they share."""

    pairs: tuple[NodePair, ...]
    before: Template
    after: Template
    holes: list[Hole] = field(default_factory=list)


def leaves(template: Template) -> Iterator[Node | Use]:
    """Yield the tokens and holes of a template from left to right."""
    if isinstance(template, Use):
        yield template
    elif isinstance(template, Inner):
        for child in template.children:
            yield from leaves(child)
    else:
        yield from (node for node in template.walk() if node.is_leaf)
