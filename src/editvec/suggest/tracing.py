"""See which lines of Python files run while a command runs.

A module that Python loads at its start records the lines; it stands outside of the scratch copy. What other languages
run, and what a process records that ends without its clean-up, is not seen.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

import orjson

from editvec.suggest.checker import Checker

_HOOK = """
import atexit, json, os, sys, threading

_here = os.path.dirname(os.path.abspath(__file__))
sys.path = [path for path in sys.path if os.path.abspath(path or ".") != _here]
_wanted = tuple(json.load(open(os.path.join(_here, "files.json"))))
_seen = set()


def _line(frame, event, argument):
    if event == "line":
        _seen.add((frame.f_code.co_filename, frame.f_lineno))
    return _line


def _call(frame, event, argument):
    return _line if frame.f_code.co_filename.endswith(_wanted) else None


def _write():
    sys.settrace(None)
    if _seen:
        with open(os.path.join(_here, "seen-%d.json" % os.getpid()), "w") as stream:
            json.dump(sorted(_seen), stream)


atexit.register(_write)
sys.settrace(_call)
threading.settrace(_call)
sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize
except ImportError:
    pass
"""


def traced(checker: Checker, contents: Mapping[str, bytes], paths: Collection[str]) -> set[tuple[str, int]]:
    """Return the lines of `paths` that ran in a run of a checker's command, as pairs of path and line."""
    with tempfile.TemporaryDirectory(prefix="editvec-trace-") as name:
        folder = Path(name)
        (folder / "sitecustomize.py").write_text(_HOOK, encoding="utf-8")
        (folder / "files.json").write_bytes(orjson.dumps(sorted(paths)))
        path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH", ""))))
        checker.run([contents], {"PYTHONPATH": path})
        seen = [pair for file in folder.glob("seen-*.json") for pair in orjson.loads(file.read_bytes())]
    return {(path, line) for file, line in seen for path in paths if Path(file).as_posix().endswith(f"/{path}")}
