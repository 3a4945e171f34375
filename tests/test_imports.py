"""The one-way street: a room may import what stands below it, never what stands above."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import editvec

PACKAGE = Path(editvec.__file__).parent

# From the ground up. Rooms on one line do not know each other unless the test says otherwise.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("edit",),
    ("syntax",),
    ("diff",),
    ("formats",),
    ("files",),
    ("store",),
    ("mining",),
    ("stats", "selection", "grammar"),
    ("patterns",),
    ("rewrite",),
    ("config",),
    ("vocab", "seen"),
    ("imitation",),
    ("nn",),
    ("tensors",),
    ("reading", "search"),
    ("encoders", "editors"),
    ("network", "weights"),
    ("model",),
    ("vectorisers",),
    ("index",),
    ("groups", "projection"),
    ("training", "evaluation"),
    ("learning",),
    ("sklearn", "report"),
    ("web", "reproduction"),
    ("cli",),
)


def _floor(room: str) -> int:
    for number, rooms in enumerate(FLOORS):
        if room in rooms:
            return number
    raise AssertionError(f"the room {room} has no floor: add it to FLOORS")


def _imports(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "editvec":
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("editvec.")}
    return found - {"__version__"}


def test_imports_go_down() -> None:
    wrong = []
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] in ("__init__", "__main__"):
            continue
        for room in _imports(file):
            if room != parts[0] and _floor(room) >= _floor(parts[0]):
                wrong.append(f"{file.relative_to(PACKAGE)} imports {room}")
    assert wrong == []


def test_every_room_has_a_floor() -> None:
    rooms = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert rooms - {"__init__", "__main__"} == {room for rooms in FLOORS for room in rooms}


def test_a_model_is_loaded_without_torchs_compiler() -> None:
    code = "import editvec, sys; editvec.load(); print([m for m in sys.modules if m.startswith('torch._dynamo')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['editvec', 'mine', '--help']\n"
        "import editvec.cli\n"
        "try: editvec.cli.main()\n"
        "except SystemExit: pass\n"
        "print([m for m in ('torch', 'pyarrow', 'tree_sitter', 'rich', 'numpy') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "editvec mine ." in done.stdout
