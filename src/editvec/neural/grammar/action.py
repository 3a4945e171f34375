"""The four actions that build a tree (section 3.2 of the paper)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expand:
    """ExpandR: fill the slot with a node, a list, a token or nothing, as the label says."""

    label: int


@dataclass(frozen=True, slots=True)
class GenTerm:
    """Write the text of the token that was chosen."""

    text: str


@dataclass(frozen=True, slots=True)
class TreeCp:
    """Fill the slot with a subtree of `before`.

    All of `sources`, places in its list of nodes, hold that subtree: they are one choice, and their probabilities add
    up.
    """

    sources: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reduce:
    """End the children of a node that may have any number of them."""


Action = Expand | GenTerm | TreeCp | Reduce
