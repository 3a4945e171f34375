"""Values: the nodes that a single example allows to be generalised.

Names that have a meaning of their own are not values. Whether a node is a value is guessed from its position and its
spelling, because the code is never compiled. With several examples, no guess is needed.
"""

from __future__ import annotations

from collections.abc import Callable

from editvec.syntax.cst import Node
from editvec.syntax.languages import Language

_NAMES = ("function", "type", "returns")
"""Fields that hold no values."""


def innermost(node: Node) -> Node:
    """Return the node at the end of a chain of only named children, or the node itself."""
    while len(node.children) == 1 and node.children[0].named:
        node = node.children[0]
    return node


def place_of(node: Node) -> tuple[Node | None, str]:
    """Return the first ancestor that spans more than the node, and the field that the node fills in it."""
    while node.parent is not None and (node.parent.low, node.parent.high) == (node.low, node.high):
        node = node.parent
    return node.parent, node.field


def is_spoken_for(node: Node, language: Language) -> bool:
    """Return whether a name has a fixed meaning at its position: the name of a type or of an attribute."""
    if innermost(node).kind == "type_identifier":
        return True
    inner, parent = node, node.parent
    while parent is not None:
        if inner.field in ("type", "returns") or parent.kind in language.type_places:
            return True
        if (parent.low, parent.high) != (node.low, node.high):
            return False
        inner, parent = parent, parent.parent
    return False


def is_value(node: Node, root: Node, language: Language) -> bool:
    """Return whether any other code could stand in place of a node below a root.

    Values are arguments, variables, literals, accesses and calls. Operators and the names of types, members and called
    functions are not values.
    """
    inner = innermost(node)
    parent, place = place_of(node)
    if not node.named or is_statement(node) or place in _NAMES or inner.kind in language.units | language.bodies:
        return False
    if parent is root and root.field == "function" and place == language.accesses.get(root.kind, ("?", ""))[0]:
        # It is the receiver of the called function, which may be a module: modules and variables look alike.
        return False
    kind = parent.kind if parent is not None else ""
    above = parent.parent.kind if parent is not None and parent.parent is not None else ""
    if {(kind, place), ("*", place), (above, kind, place)} & language.fixed:
        return False
    if inner.kind in language.literals:
        return True
    if inner.kind in language.identifiers or inner.kind in language.member_identifiers:
        return _is_variable(inner, root, kind, place, language)
    if "argument" in node.kind or (parent is not None and "argument" in parent.kind):
        return "argument" not in inner.kind and not inner.is_leaf
    return inner.kind in language.primaries and not inner.is_leaf and "parenthes" not in inner.kind


def _is_variable(node: Node, root: Node, around: str, place: str, language: Language) -> bool:
    receiver, member = language.accesses.get(around, ("", ""))
    if node.text in language.selves or member == (place or "?"):
        return False
    if node.text in language.modules and receiver == place:
        return False
    if node.text[:1].islower() or node.text[:1] == "_":
        return True
    # The name is written like a type, but a type is never an operand.
    twins = [each for each in root.walk() if each.is_leaf and each.kind == node.kind and each.text == node.text]
    return len(twins) > 1 and any(_is_operand(twin, language) for twin in twins)


def _is_operand(node: Node, language: Language) -> bool:
    parent, place = place_of(node)
    return (
        parent is not None
        and parent.kind not in language.accesses
        and place not in _NAMES
        and parent.kind.endswith(("expression", "operator"))
        and not {(parent.kind, place), ("*", place)} & language.fixed
    )


def is_call(node: Node) -> bool:
    """Return whether a node is a call."""
    return any(child.field == "function" for child in innermost(node).children)


def is_called_receiver(node: Node, language: Language) -> bool:
    """Return whether a node is a method call whose result is the receiver of another access, as in `a.b().c`."""
    parent, place = place_of(node)
    if parent is None or language.accesses.get(parent.kind, ("?", ""))[0] != place:
        return False
    return any(child.field == "function" and child.kind in language.accesses for child in innermost(node).children)


def is_carried_name(node: Node, shared: Callable[[Node], bool], language: Language) -> bool:
    """Return whether a node names a member that the edit keeps with the same receiver and arguments.

    `shared` returns whether a node also occurs after the edit.
    """
    access = node.parent
    if access is None or access.kind not in language.accesses or not shared(node):
        return False
    place, name = language.accesses[access.kind]
    receiver = next((child for child in access.children if child.field == place), None)
    if node.field != name or receiver is None or not shared(receiver):
        return False
    call = access.parent
    if access.field != "function" or call is None:
        return True
    if is_called_receiver(call, language):
        return False
    return all(shared(child) for child in call.children if child is not access)


def parameters(root: Node, language: Language) -> frozenset[str]:
    """Return the names that the code itself declares as parameters.

    Other names would mean the same in their place.
    """
    return frozenset(
        node.text
        for node in root.walk()
        if node.is_leaf and node.kind in language.identifiers and _declares_parameter(node, root)
    )


def _declares_parameter(node: Node, root: Node) -> bool:
    around = node.parent
    while around is not None and around is not root.parent:
        if "argument" in around.kind:
            return False
        if "parameter" in around.kind:
            return node.field in ("name", "pattern", "") or around is node.parent
        if len(around.children) > 1 and around is not node.parent:
            return False
        around = around.parent
    return "parameter" in node.kind or "parameter" in node.field


def is_content(node: Node, language: Language) -> bool:
    """Return whether a node is the text between the quotes of a string.

    In some grammars the quotes are named nodes, too; they are not content.
    """
    if not node.named or not node.is_leaf or node.parent is None or node.parent.kind not in language.literals:
        return False
    return not node.kind.endswith(("_start", "_end"))


def is_statement(node: Node) -> bool:
    """Return whether an expression is a whole statement.

    A parser may not accept a metavariable in its place.
    """
    return node.parent is not None and node.parent.kind == "expression_statement"


def is_list(node: Node) -> bool:
    """Return whether a node is a list in brackets, for which no metavariable can stand."""
    plural = node.kind.endswith(("_list", "arguments", "parameters", "block", "body"))
    return plural and bool(node.children) and not node.children[0].named


def is_expression(node: Node, language: Language) -> bool:
    """Return whether a metavariable can stand for the node by itself."""
    if is_list(node):
        return False
    kind = innermost(node).kind
    known = language.primaries | language.identifiers | language.member_identifiers | language.literals
    return (
        kind in known or kind.endswith(("expression", "operator", "lambda", "type", "call")) or "argument" in node.kind
    )
