"""Changes that only an author can decide on, whatever the history says.

Whether a modifier such as `readonly` can be promised, whether callers cope with another type in a signature, and in
which sense a single word of prose is used: none of this can be seen at a place. Such places are never due, only
possible.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from editvec.core.edit import Edit
from editvec.data.sampling import spread
from editvec.rules.sites import RuleExample, edit_example, sites
from editvec.syntax.cst import Cst, Node
from editvec.syntax.languages import Language, Markup, get

_WORD = re.compile(r"\w+|[^\w\s]")
_SAMPLE = 5
"""Maximum number of edits that are parsed to see whether they change signatures."""
_TYPE_FIELDS = frozenset({"type", "returns", "return_type", "result"})
_NAME_FIELDS = frozenset({"name", "declarator"})
"""Fields of the name of a function, which a function that is an expression does not have."""
_ATTRIBUTES = ("attribute", "decorator", "annotation")


def reason_to_ask(before: str, after: str, edits: Sequence[Edit]) -> str:
    """Return why only an author can decide whether a change is right at a place; empty if others can too.

    `before` and `after` are the two sides of the change, and `edits` are edits of one language that made it.
    """
    language = get(edits[0].language)
    if isinstance(language, Markup):
        return "in this sentence the word may have another sense" if _is_single_word(before, after) else ""
    if promised := _promised(before, after, language):
        return f"whether `{promised}` holds depends on other code"
    told = [_changes_signature(example) for example in map(edit_example, spread(edits, _SAMPLE)) if example is not None]
    if told and 2 * sum(told) > len(told):
        return "the type of a parameter or a result is a promise to other code"
    return ""


def _promised(before: str, after: str, language: Language) -> str:
    """Return the modifiers that a change only adds or removes, such as `readonly`; empty if it does anything else."""
    sides = [Counter(_WORD.findall(side)) for side in (before, after)]
    changed = list((sides[0] - sides[1]).keys()) + list((sides[1] - sides[0]).keys())
    return " ".join(sorted(changed)) if changed and set(changed) <= language.promises else ""


def _is_single_word(before: str, after: str) -> bool:
    """Return whether a change of prose replaces, adds or removes at most one word on each side."""
    old, new = Counter(_WORD.findall(before)), Counter(_WORD.findall(after))
    gone, come = (old - new), (new - old)
    return sum(gone.values()) <= 1 and sum(come.values()) <= 1 and any(map(str.isalpha, "".join([*gone, *come])))


def _changes_signature(example: RuleExample) -> bool:
    """Return whether an edit changes nothing but the parameters and types in the header of a function."""
    found = sites(example, joined=True)
    if not found:
        return False
    change = found[0].change
    leaves = [
        *_leaves(example.code_before, change.before, change.before_end),
        *_leaves(example.code_after, change.after, change.after_end),
    ]
    return bool(leaves) and all(_is_in_signature(leaf, example.language) for leaf in leaves)


def _leaves(code: Cst, low: int, high: int) -> list[Node]:
    """Return the leaves of a range of tokens that are no punctuation."""
    return [
        node
        for node in code.root.walk()
        if node.is_leaf and low <= node.low < high and any(map(str.isalnum, node.text))
    ]


def _is_in_signature(leaf: Node, language: Language) -> bool:
    """Return whether a leaf belongs to a parameter or a type in the header of a function."""
    node, told = leaf, False
    while node.parent is not None:
        parent = node.parent
        if any(word in node.kind for word in _ATTRIBUTES) and node.kind != "type_annotation":
            return False
        told = told or node.field in _TYPE_FIELDS or node.kind == "type_annotation" or "parameter" in node.kind
        if _is_named_function(parent, language):
            return told and node.field != "body" and node.kind not in language.bodies
        node = parent
    return False


def _is_named_function(node: Node, language: Language) -> bool:
    has_parameters = any("parameter" in child.kind and "type" not in child.kind for child in node.children)
    is_function = has_parameters or node.kind in language.functions
    return is_function and any(child.field in _NAME_FIELDS for child in node.children)
