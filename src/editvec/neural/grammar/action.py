"""The four actions that build a tree (section 3.2 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expand:
    """ExpandR: fill the slot with a node, a list, a token or nothing, according to the label."""

    label: int


@dataclass(frozen=True, slots=True)
class GenTerm:
    """Write the text of the token whose label was chosen."""

    text: str


@dataclass(frozen=True, slots=True)
class TreeCp:
    """Fill the slot with a subtree of `before`.

    `sources` are the indices of all nodes of `before` that hold this subtree. They are one choice: their probabilities
    are added.
    """

    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reduce:
    """End the list of children of a node that can have any number of children."""


Action = Expand | GenTerm | TreeCp | Reduce
