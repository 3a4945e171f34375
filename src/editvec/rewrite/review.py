"""Accepting and rejecting places one by one: what was accepted is a patch on disk at any time, and what was said is
there again the next time."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import orjson

from editvec.core.files import from_json, to_json, write_atomically
from editvec.core.match import Suggestion
from editvec.core.text import FileText
from editvec.patterns.pattern import Pattern
from editvec.rewrite.patch import unified_diff

_VERDICTS = ("accept", "reject", "")


class Decisions:
    """What a person says about the places of patterns in the work tree at `top`; the accepted ones go into `patch`."""

    def __init__(self, patterns: Sequence[Pattern], top: Path, patch: Path) -> None:
        self._top, self._patch, self._kept = top, patch, patch.with_suffix(".json")
        self._places: dict[str, Suggestion] = {}
        self._names: dict[str, str] = {}
        for number, pattern in enumerate(patterns, 1):
            for index, place in enumerate(pattern.places):
                key = f"{number}-{index}"
                self._places[key] = place
                self._names[key] = f"{pattern.id} {place.start} {place.path} {place.before}"
        self._said: dict[str, str] = {}
        self.num_lost = 0
        """Of what was accepted before, as many places are no longer there."""
        self._lock = Lock()
        self._remember()

    def state(self) -> dict[str, Any]:
        """Everything said so far."""
        return {"said": self._said, "patch": str(self._patch), "accepted": len(list(_accepted(self._said)))}

    def decide(self, request: Any) -> dict[str, Any]:
        """Takes one verdict, {place, verdict}, and writes the patch anew; ValueError for what makes no sense, or when
        the place's file is no longer as it was. What was accepted where a file changed since is taken back."""
        if not isinstance(request, dict) or request.get("place") not in self._places:
            raise ValueError("no such place")
        if request.get("verdict") not in _VERDICTS:
            raise ValueError("accept, reject or nothing is expected")
        key = request["place"]
        with self._lock:
            said = {other: verdict for other, verdict in self._said.items() if self._is_there(self._places[other])}
            said[key] = request["verdict"]
            if said[key] == "accept" and not self._is_there(self._places[key]):
                raise ValueError(f"{self._places[key].path} changed meanwhile: start again")
            diff = self._diff(said)
            self._said = said
            write_atomically(self._patch, diff)
            kept = {self._names[other]: verdict for other, verdict in said.items() if verdict}
            write_atomically(self._kept, to_json(kept, indent=True))
        return self.state()

    def _remember(self) -> None:
        """What was said another time about places that are still there."""
        try:
            kept = from_json(self._kept.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return
        if isinstance(kept, dict):
            self._said = {key: kept[name] for key, name in self._names.items() if kept.get(name) in _VERDICTS}
            before = sum(verdict == "accept" for verdict in kept.values())
            self.num_lost = before - len(list(_accepted(self._said)))

    def _diff(self, said: dict[str, str]) -> bytes:
        """The accepted places as a diff that `git apply` takes."""
        by_file: dict[str, list[Suggestion]] = defaultdict(list)
        for key in _accepted(said):
            by_file[self._places[key].path].append(self._places[key])
        parts = []
        for path, places in sorted(by_file.items()):
            source = FileText((self._top / path).read_bytes())
            places.sort(key=lambda each: each.start)
            edits = [source.edit(place.start, place.end, place.after) for place in places]
            parts.append(unified_diff(os.fsencode(path), source.data, edits))
        return b"".join(parts)

    def _is_there(self, place: Suggestion) -> bool:
        """Whether a place is as it was when it was found."""
        try:
            data = FileText((self._top / place.path).read_bytes()).utf8
        except OSError:
            return False
        return data[place.start : place.end] == place.before.encode(errors="surrogateescape")


def _accepted(said: dict[str, str]) -> Iterable[str]:
    return (key for key, verdict in said.items() if verdict == "accept")
