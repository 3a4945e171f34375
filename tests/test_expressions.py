"""Regular expressions of the package take linear time: a search for texts on which one of them does not."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

import editvec

SIZE, LARGER = 4_000, 16_000
GROWTH = 8.0
"""Maximum growth of the time for four times the text; with quadratic work it is 16."""
_NOTICEABLE = 0.02
_WITH_EXTRAS = ("training", "evaluation", "reproduction", "cli")
"""Rooms that are left out here, because they load libraries of extras or read no text of others."""
_ANCHORED = {"editvec.data.formats._MINED_ID"}
"""Expressions that are only matched with a whole text, so they never begin at each of its characters."""


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """Yield the expressions that are compiled when the package is imported, with their names."""
    for module in pkgutil.walk_packages(editvec.__path__, "editvec."):
        if module.name.split(".")[1] in _WITH_EXTRAS or module.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern) and f"{module.name}.{name}" not in _ANCHORED:
                yield f"{module.name}.{name}", value


def pumps(pattern: re.Pattern[Any], number: int) -> Iterator[str]:
    """Yield short texts to repeat, made of the characters of an expression."""
    random = Random(pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1"))
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    letters = sorted({*text, *"ab0 _-/\"'\n\t.<"} - {"\\"})
    for _ in range(number):
        yield "".join(random.choice(letters) for _ in range(random.choice([1, 1, 2, 3, 6])))


def seconds(pattern: re.Pattern[Any], pump: str, size: int) -> float:
    text = (pump * (size // len(pump) + 1))[:size] + "\x01"
    data: Any = text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
    began = time.process_time()
    for number, _ in enumerate(pattern.finditer(data)):
        if number > size:
            break
    return time.process_time() - began


def growth(pattern: re.Pattern[Any], pump: str) -> float:
    """Return how much longer a search takes in a larger text; 1 if neither takes a noticeable time."""
    large = seconds(pattern, pump, LARGER)
    if large < _NOTICEABLE:
        return 1.0
    large = min(large, *(seconds(pattern, pump, LARGER) for _ in range(2)))
    return large / max(min(seconds(pattern, pump, SIZE) for _ in range(3)), _NOTICEABLE / 16)


@pytest.mark.thorough
def test_no_expression_takes_more_than_linear_time() -> None:
    slow = [
        (name, pump, round(found, 1))
        for name, pattern in patterns()
        for pump in pumps(pattern, 20)
        if (found := growth(pattern, pump)) > GROWTH
    ]
    assert not slow


@pytest.mark.parametrize("expression", [r"(a|aa)+$", r"\s+x"])
def test_the_search_finds_slow_expressions(expression: str) -> None:
    if expression == r"\s+x":
        assert growth(re.compile(expression), " ") > GROWTH
    else:
        assert seconds(re.compile(expression), "a", 24) > 10 * seconds(re.compile(expression), "a", 12)
