"""Generate pages while MkDocs builds the site: command line reference, Python reference, list of experiments.

MkDocs loads this file as a hook (see `hooks` in mkdocs.yml). The pages exist only in the built site, so they cannot
disagree with the code.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import click
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
CLI_PAGE, API_PAGE, EXPERIMENTS_PAGE = "reference/cli.md", "reference/api.md", "experiments/index.md"
SCHEMAS_PAGE = "reference/schemas.md"
EXPERIMENT = re.compile(r"\d{4}-\d{2}-\d{2}-[a-z0-9-]+\.md")

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Finish, learn and apply", ("finish", "learn", "find", "apply", "undo", "rule", "serve", "lsp")),
    ("Edit files", ("mine", "show", "draw", "stats", "convert", "split", "cache")),
    ("Models", ("train", "evaluate", "edit")),
    ("Edit vectors", ("encode", "neighbours", "cluster", "map", "probe", "transfer", "rate")),
)
"""The order of the verbs on the page. A verb that is not named here is listed under "Other"."""


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages to the site (called by MkDocs)."""
    src = str(ROOT / "src")
    if src not in sys.path:
        sys.path.insert(0, src)
    from editvec.cli import app

    files.append(File.generated(config, CLI_PAGE, content=cli_page(app)))
    files.append(File.generated(config, API_PAGE, content=api_page(ROOT / "src/editvec/__init__.py")))
    files.append(File.generated(config, SCHEMAS_PAGE, content=schemas_page()))
    docs = Path(config["docs_dir"])
    files.append(File.generated(config, EXPERIMENTS_PAGE, content=experiments_page(experiments(docs))))
    return files


def schemas_page() -> str:
    """Return the JSON schemas of the files that are described by types, as Markdown."""
    import json

    import msgspec

    from editvec.neural.config import ModelConfig
    from editvec.patterns.document import PatternsDocument
    from editvec.suggest.document import FinishDocument
    from editvec.training.config import Config

    kinds: tuple[tuple[str, type], ...] = (
        ("`patterns.json`", PatternsDocument),
        ("`finish --json`", FinishDocument),
        ("`config.toml` of a run", Config),
        ("`config.toml` of a model", ModelConfig),
    )
    parts = ["# Schemas\n", "JSON schemas, made from the types that read and write these files and outputs.\n"]
    for title, kind in kinds:
        schema = json.dumps(msgspec.json.schema(kind), indent=2)
        parts.append(f"## {title}\n\n```json\n{schema}\n```\n")
    return "\n".join(parts)


def experiments(docs: Path) -> list[tuple[Path, str]]:
    """Return the files of experiments with their titles, the newest first."""
    found = sorted((path for path in (docs / "experiments").iterdir() if EXPERIMENT.fullmatch(path.name)), reverse=True)
    return [(path, path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")) for path in found]


def experiments_page(found: list[tuple[Path, str]]) -> str:
    """Return the list of experiments as Markdown."""
    lines = [
        "# Experiments\n",
        "Each experiment has a page of its own: the question, the command, the result and the decision, failures "
        "included. A page is not changed when a later experiment supersedes it. The current figures are in "
        "[Results](../results.md).\n",
        "Unless a page says otherwise: 2 cores, 24 GiB of memory, no GPU, Debian 12, Python 3.11, git 2.39, "
        "tree-sitter 0.25. *Replica* means data made in the paper's way from the same kind of sources, not the "
        "paper's own files; `$EDITVEC_DATA` is the folder that holds it.\n",
        "| date | experiment |",
        "|---|---|",
    ]
    lines += [f"| {path.name[:10]} | [{title}]({path.name}) |" for path, title in found]
    return "\n".join(lines) + "\n"


def cli_page(app: click.Group) -> str:
    """Return the command line reference as Markdown, read from the click commands."""
    context = click.Context(app, info_name="editvec")
    known = {verb for _, verbs in GROUPS for verb in verbs}
    others = tuple(name for name in app.commands if name not in known)
    parts = [
        "# Command line\n",
        "This page is generated from the commands themselves: it shows the text of `editvec VERB --help`.\n",
        "Exit codes: 0 success; 1 something was found (`--check`), there is nothing to suggest, or a file could not be "
        "written; 2 wrong usage; 3 a damaged input file; 4 git failed; 130 interrupted.\n",
    ]
    for title, verbs in (*GROUPS, ("Other", others)):
        present = [verb for verb in verbs if verb in app.commands]
        if present:
            parts.append(f"## {title}\n")
            parts += [_verb(app.commands[verb], verb, context) for verb in present]
    return "\n".join(parts)


def _verb(command: click.Command, name: str, parent: click.Context) -> str:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f"### editvec {name} {{ #{name} }}\n",
        f"```text\neditvec {name} {usage}\n```\n",
        _help(command.help or ""),
    ]
    records = [
        record
        for param in command.params
        if (record := param.get_help_record(context)) and (record[1] or isinstance(param, click.Option))
    ]
    if records:
        lines += ["| option | meaning |", "|---|---|"]
        lines += [f"| `{_cell(option)}` | {_prose(meaning)} |" for option, meaning in records]
        lines.append("")
    return "\n".join(lines)


def _help(text: str) -> str:
    """Return a help text as Markdown. A paragraph that click must not wrap (it begins with \\b) holds examples."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if paragraph.lstrip().startswith("\b"):
            parts.append(f"```sh\n{paragraph.replace(chr(8), '').strip()}\n```\n")
        else:
            parts.append(_prose(" ".join(paragraph.split())) + "\n")
    return "\n".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _prose(text: str) -> str:
    """Return plain text as Markdown that shows the same characters, in a table too."""
    escaped = re.sub(r"([\\`*_\[\]#])", r"\\\1", text)
    return escaped.replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;")


def api_page(init: Path) -> str:
    """Return a page of mkdocstrings directives, one for each public name of the package.

    The names are read from the source, without importing it: `__all__`, and the imports that say where each name is
    defined.
    """
    tree = ast.parse(init.read_text(encoding="utf-8"))
    homes: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            homes |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    public = next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
    )
    names = sorted((name for name in public if not name.startswith("_")), key=str.lower)
    functions = [name for name in names if not name[0].isupper()]
    types = [name for name in names if name[0].isupper()]
    parts = [
        "# Python\n",
        "`import editvec` is quick: what needs a model or an optional dependency is imported when it is first used. "
        "A mistake of the caller raises `editvec.UserError`, whose message says what to do next.\n",
    ]
    for title, group in (("Functions", functions), ("Types", types)):
        if group:
            parts.append(f"## {title}\n")
            parts += [
                f"::: {homes.get(name, f'editvec.{name}')}\n    options:\n      heading_level: 3\n" for name in group
            ]
    return "\n".join(parts)
