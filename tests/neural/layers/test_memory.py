"""Memory that is freed is there for the next table."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from editvec.neural.layers.memory import uncollected

_COUNT = """
import resource, sys
import torch
from editvec.neural.layers.memory import keep_memory

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

if sys.argv[1] == "kept":
    keep_memory()
for _ in range(6):
    torch.ones(12_000_000)
before = faults()
for _ in range(10):
    torch.ones(12_000_000)
print(faults() - before)
"""


def _faults(how: str) -> int:
    """How often the system had to give a page for ten tables of 48 MB, one after the other."""
    ran = subprocess.run([sys.executable, "-c", _COUNT, how], capture_output=True, text=True, check=True)
    return int(ran.stdout)


@pytest.mark.skipif(
    not any(Path("/lib").glob("*-linux-gnu/libc.so.6")), reason="only glibc gives memory back at once, and can be asked"
)
def test_tables_take_the_place_of_those_before() -> None:
    assert _faults("kept") * 2 < _faults("as it is")


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_waits_and_is_then_what_it_was(on: bool) -> None:
    (gc.enable if on else gc.disable)()
    try:
        with pytest.raises(KeyError), uncollected():
            with uncollected():
                assert not gc.isenabled()
            assert not gc.isenabled()
            raise KeyError
        assert gc.isenabled() is on
    finally:
        gc.enable()
