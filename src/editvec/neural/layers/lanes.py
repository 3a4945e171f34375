"""Batches side by side, each on its own part of the processor's cores. Recurrent layers make many small products, in
which several cores wait for one another more than they compute; batches that have nothing to do with each other do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

_Part = TypeVar("_Part")

_MOST = 4
"""Lanes. More of them would wait for Python's lock, and each has its batch in memory."""


def in_lanes(work: Callable[[_Part], None], parts: Iterable[_Part]) -> None:
    """Does the work on each part, without gradients, some of them at the same time."""
    parts = list(parts)
    threads = torch.get_num_threads()
    lanes = min(_MOST, threads, len(parts))

    def alone(part: _Part) -> None:
        with torch.inference_mode():
            work(part)

    if lanes < 2:
        for part in parts:
            alone(part)
        return
    try:
        with ThreadPoolExecutor(lanes, initializer=torch.set_num_threads, initargs=(threads // lanes,)) as pool:
            done = [pool.submit(alone, part) for part in parts]
            try:
                for each in done:
                    each.result()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    finally:
        # What a lane is told goes for threads that are begun later, too.
        torch.set_num_threads(threads)
