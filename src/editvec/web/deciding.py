"""Accepting and rejecting places one by one: what was accepted is a patch on disk at any time."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from editvec.files import write_atomically
from editvec.patterns.pattern import Pattern, Place
from editvec.rewrite.patch import unified_diff
from editvec.rewrite.splice import TextEdit
from editvec.syntax.token import encode

_VERDICTS = ("accept", "reject", "")


class Decisions:
    """What a person says about the places of patterns in the work tree at `top`; the accepted ones go into `patch`."""

    def __init__(self, patterns: Sequence[Pattern], top: Path, patch: Path) -> None:
        self._top, self._patch = top, patch
        self._places = {
            f"{number}-{index}": place
            for number, pattern in enumerate(patterns, 1)
            for index, place in enumerate(pattern.places)
        }
        self._said: dict[str, str] = {}
        self._lock = Lock()

    def state(self) -> dict[str, Any]:
        """Everything said so far."""
        return {"said": self._said, "patch": str(self._patch), "accepted": len(self._accepted())}

    def decide(self, request: Any) -> dict[str, Any]:
        """Takes one verdict, {place, verdict}, and writes the patch anew; ValueError for what makes no sense."""
        if not isinstance(request, dict) or request.get("place") not in self._places:
            raise ValueError("no such place")
        if request.get("verdict") not in _VERDICTS:
            raise ValueError("accept, reject or nothing is expected")
        with self._lock:
            self._said[request["place"]] = request["verdict"]
            write_atomically(self._patch, self.diff())
        return self.state()

    def diff(self) -> bytes:
        """The accepted places as a diff that `git apply` takes; ValueError when a file is no longer as it was."""
        by_file: dict[str, list[Place]] = defaultdict(list)
        for place in self._accepted():
            by_file[place.path].append(place)
        parts = []
        for path, places in sorted(by_file.items()):
            data = (self._top / path).read_bytes()
            if any(data[place.start : place.end] != encode(place.before) for place in places):
                raise ValueError(f"{path} changed meanwhile: start again")
            edits = [
                TextEdit(place.start, place.end, encode(place.after))
                for place in sorted(places, key=lambda each: each.start)
            ]
            parts.append(unified_diff(os.fsencode(path), data, edits))
        return b"".join(parts)

    def _accepted(self) -> list[Place]:
        return [self._places[key] for key, verdict in self._said.items() if verdict == "accept"]
