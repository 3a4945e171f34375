"""Safe reading of YAML: plain values only, and no text that becomes large or endless when its aliases are followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from editvec.core.errors import BadInputError

if TYPE_CHECKING:
    import yaml

MAX_CHARACTERS = 1_000_000
"""Maximum size of a text."""
MAX_NODES = 100_000
"""Maximum number of values in a document, where a value counts each time that an alias stands for it."""
_ADVICE = "Correct it, or make a rule with editvec rule."


def read_yaml(text: str, name: object) -> list[Any]:
    """Return the documents of a YAML text; `name` names the text in error messages.

    Raises:
        BadInputError: The text is not YAML, it is too large, or its aliases contain themselves.
    """
    import yaml

    if len(text) > MAX_CHARACTERS:
        raise BadInputError(name, None, f"it has more than {MAX_CHARACTERS:,} characters", _ADVICE)
    found = []
    try:
        loader = yaml.SafeLoader(text)
        try:
            while loader.check_node():
                node = loader.get_node()
                if node is not None and _num_nodes(node, {}) > MAX_NODES:
                    raise BadInputError(name, None, f"it has more than {MAX_NODES:,} values", _ADVICE)
                found.append(loader.construct_document(node))
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else None
        raise BadInputError(
            name, line, f"this is not valid YAML ({_reason(error.problem or error)})", _ADVICE
        ) from None
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise BadInputError(name, None, f"this is not valid YAML ({_reason(error)})", _ADVICE) from None
    except RecursionError:
        raise BadInputError(name, None, "this YAML is nested too deeply, or contains itself", _ADVICE) from None
    return found


def _reason(error: object) -> str:
    return " ".join(str(error).split())


def _num_nodes(node: yaml.Node, known: dict[int, int]) -> int:
    """Return the number of values in a node with all aliases followed; a node in itself exceeds Python's stack."""
    if id(node) not in known:
        value = node.value
        below = [each for pair in value for each in (pair if isinstance(pair, tuple) else (pair,))]
        total = 1 if isinstance(value, str) else 1 + sum(_num_nodes(each, known) for each in below)
        known[id(node)] = min(total, MAX_NODES + 1)
    return known[id(node)]
