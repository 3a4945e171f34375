"""Hold the order of the rooms: a room imports only rooms that stand before it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import editvec

PACKAGE = Path(editvec.__file__).parent

# From the ground up. Rooms on one layer do not know each other.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("core",),
    ("syntax",),
    ("diff", "vcs", "rules"),
    ("data",),
    ("rewrite", "mining", "neural"),
    ("suggest", "vectors"),
    ("patterns", "evaluation", "training"),
    ("ui",),
    ("reproduction",),
    ("cli",),
)
CORE = ("about", "edit", "errors", "files", "match", "splice", "text")
"""Closed: a new file here needs three rooms that import it."""


def layer_of(room: str) -> int:
    """Return the number of the layer that a room stands on."""
    for number, rooms in enumerate(LAYERS):
        if room in rooms:
            return number
    raise AssertionError(f"the room {room} stands on no layer: add it to LAYERS")


def _imported(file: Path) -> set[str]:
    """Return the modules of the package that a file imports, without the package's name."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "editvec":
            parts = node.module.split(".")[1:]
            found |= {".".join(parts)} if len(parts) > 1 else {".".join([*parts, each.name]) for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {each.name.partition(".")[2] for each in node.names if each.name.startswith("editvec.")}
    return found


def _edges() -> dict[tuple[str, str], list[str]]:
    """Return the imports from room to room, each with the files that make it."""
    edges: dict[tuple[str, str], list[str]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        if len(parts) > 1:
            for module in _imported(file):
                edges.setdefault((parts[0], module.split(".")[0]), []).append(f"{'/'.join(parts)} imports {module}")
    return edges


def test_imports_follow_the_order() -> None:
    wrong = [
        file
        for edge, files in _edges().items()
        for file in files
        if edge[0] != edge[1] and layer_of(edge[1]) >= layer_of(edge[0])
    ]
    assert wrong == []


def test_every_room_has_a_layer() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == {room for rooms in LAYERS for room in rooms}
    assert len(rooms) == 17 and len(LAYERS) <= 11


def picture() -> str:
    """Return the layers as ARCHITECTURE.md shows them, the highest first."""
    return "\n".join("  ".join(rooms) for rooms in reversed(LAYERS))


def test_the_map_shows_this_order() -> None:
    text = (PACKAGE.parent.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert picture() in text, f"ARCHITECTURE.md should show:\n{picture()}"
    assert len(text.splitlines()) <= 250


def test_core_is_closed() -> None:
    assert {path.stem for path in (PACKAGE / "core").glob("*.py")} - {"__init__"} == set(CORE)
    users: dict[str, set[str]] = {name: set() for name in CORE}
    for file in PACKAGE.rglob("*.py"):
        room = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for module in _imported(file):
            if module.startswith("core."):
                users[module.split(".")[1]].add(room)
    assert [name for name, rooms in users.items() if len(rooms - {"core"}) < 3] == []


def test_torch_is_imported_in_training_alone() -> None:
    users = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if any(name.split(".")[0] == "torch" for name in names):
                users.add(file.relative_to(PACKAGE).parts[0])
    assert users == {"training"}


def test_a_model_is_used_without_torch() -> None:
    code = (
        "import editvec, sys\n"
        "model = editvec.load()\n"
        "edit = editvec.Edit('e', 'csharp', *(editvec.Version(t, tuple(t.split())) for t in ('x = 1 ;', 'y = 1 ;')))\n"
        "model.write([model.exampler(edit)], model.encode([edit]))\n"
        "print([name for name in ('torch', 'scipy', 'sklearn', 'pyarrow') if name in sys.modules])"
    )
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
