"""Every target reads mutated inputs: some in seconds, thousands by `make laws`, a million by benchmarks/fuzz.py."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.targets import FuzzTarget, targets

NUM_INPUTS = 400 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 3
"""Number of inputs of a target of weight 1."""
CORPUS = Path(__file__).parent / "corpus"
"""Inputs that have been read wrongly: a file per input, in a folder per target."""


@pytest.fixture(scope="module")
def all_targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[FuzzTarget]]:
    with targets(tmp_path_factory.mktemp("fuzz") / "files") as found:
        yield found


def test_whole_inputs_are_read(all_targets: list[FuzzTarget]) -> None:
    """The seeds are valid, so the targets reach what they are to test."""
    for target in all_targets:
        assert target.check_input(target.seeds[0]) == "read", target.name


def test_mutated_inputs_are_read_or_refused(all_targets: list[FuzzTarget]) -> None:
    for target in all_targets:
        outcomes = {target.check(seed=0, number=number) for number in range(NUM_INPUTS * target.weight)}
        assert outcomes <= {"read", "refused"}, target.name


def test_inputs_that_were_read_wrongly_once(all_targets: list[FuzzTarget]) -> None:
    by_name = {target.name.replace("/", "-"): target for target in all_targets}
    files = sorted(CORPUS.glob("*/*"))
    assert files
    for file in files:
        by_name[file.parent.name].check_input(file.read_bytes())
