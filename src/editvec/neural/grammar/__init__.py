"""The grammar of trees, and their construction step by step. This package does not use torch.

A grammar is read from trees: it records the productions of each kind of node, and the labels that occurred in each slot
of a production. A derivation is a tree under construction. The oracle computes the actions that build a given tree, and
copies subtrees where possible.
"""

from editvec.neural.grammar.action import Action, Expand, GenTerm, Reduce, TreeCp
from editvec.neural.grammar.builder import learn
from editvec.neural.grammar.derivation import Derivation
from editvec.neural.grammar.grammar import Grammar, UnseenError
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
