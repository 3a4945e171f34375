"""Each verb of the command line is one function of the library, with the same name and the same defaults."""

from __future__ import annotations

import inspect
from typing import Any

import click
import pytest

import editvec
from editvec.cli import app

PRINTING = frozenset("as_json by_label check help interactive output pruned".split())
"""Options that say how results are printed, or which exit code they give."""
PRINTING_OF = {
    "cluster": {"show"},
    "finish": {"diff", "explain"},
    "lsp": {"stdio"},
    "stats": {"most"},
    "undo": {"listing"},
}
SPELT = {
    "apply": {"arguments": {"rule", "paths"}, "interactive": {"choose"}},
    "edit": {"befores": {"like"}, "afters": {"like"}},
    "show": {"skip_bad": {"damage"}},
}
"""What the command line takes in another form than the function."""
CALLBACKS = frozenset("choose decide notice progress ready watch".split())
"""What only a function can be given: somebody to tell, or to ask."""
ONLY_LIBRARY = {"edit": {"vector"}, "learn": {"report"}}
NO_FUNCTION = {"completion"}
"""A verb of the shell alone."""
VERBS = sorted(set(app.commands) - NO_FUNCTION)


def _options(verb: str) -> dict[str, Any]:
    """Return the options and arguments of a verb that its function takes too, with their defaults."""
    command = app.commands[verb]
    context = click.Context(command)
    spelt = SPELT.get(verb, {})
    hidden = PRINTING | PRINTING_OF.get(verb, set()) | set(spelt)
    return {
        str(each.name): _plain(each.get_default(context)) for each in command.params if str(each.name) not in hidden
    }


def _parameters(verb: str) -> dict[str, Any]:
    spelt = set().union(*SPELT.get(verb, {}).values())
    hidden = CALLBACKS | ONLY_LIBRARY.get(verb, set()) | spelt
    found = inspect.signature(getattr(editvec, verb)).parameters
    return {name: _plain(each.default) for name, each in found.items() if name not in hidden}


def _plain(default: Any) -> Any:
    """Return a default as both sides can have it: nothing given is None, and a path is its text."""
    if default is inspect.Parameter.empty or default == () or repr(default).startswith("Sentinel"):
        return None
    return default if default is None or isinstance(default, bool | int | float) else str(default)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_a_function_with_the_same_defaults(verb: str) -> None:
    assert _options(verb) == _parameters(verb)


@pytest.mark.parametrize("verb", VERBS)
def test_a_function_is_documented(verb: str) -> None:
    text = inspect.getdoc(getattr(editvec, verb)) or ""
    assert text.split("\n")[0].endswith("."), "the first line is a sentence"
    hints = inspect.get_annotations(getattr(editvec, verb))
    assert set(inspect.signature(getattr(editvec, verb)).parameters) | {"return"} == set(hints)


def test_all_names_are_there() -> None:
    assert all(getattr(editvec, name) is not None for name in editvec.__all__)
    assert set(VERBS) <= set(editvec.__all__)
