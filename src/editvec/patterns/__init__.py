"""Edits that mean the same → rules that people can read and ast-grep can run, each with its proof.

Pure functions over edits; free of torch. `astgrep` is the only module that runs ast-grep.
"""

from editvec.patterns.induction import induce, make_rules, why_not
from editvec.patterns.proof import Proof, Proved, prove
from editvec.patterns.rule import Metavariable, ProseRule, Rule, load_rules
from editvec.patterns.site import Example, edit_example, file_example

__all__ = [
    "Example",
    "Metavariable",
    "Proof",
    "ProseRule",
    "Proved",
    "Rule",
    "edit_example",
    "file_example",
    "induce",
    "load_rules",
    "make_rules",
    "prove",
    "why_not",
]
