"""What trees are legal, and how one is built step by step. Free of torch.

A grammar is read from trees: which productions a kind of node has, which labels were ever seen in each slot of them.
A derivation is a tree under construction; the oracle says which actions build a given tree, copying what it can.
"""

from editvec.neural.grammar.action import Action, Expand, GenTerm, Reduce, TreeCp
from editvec.neural.grammar.derivation import Derivation
from editvec.neural.grammar.grammar import Grammar, UnseenError, learn
from editvec.neural.grammar.oracle import SourceTree, derive, derive_steps, replay
from editvec.neural.grammar.trees import before_tree, edit_trees

__all__ = [
    "Action",
    "Derivation",
    "Expand",
    "GenTerm",
    "Grammar",
    "Reduce",
    "SourceTree",
    "TreeCp",
    "UnseenError",
    "before_tree",
    "derive",
    "derive_steps",
    "edit_trees",
    "learn",
    "replay",
]
