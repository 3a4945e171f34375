"""editvec learns from edits: it mines them from git histories, represents them as vectors and applies them by example.

Every verb of the command line is one function here, with the same name and the same defaults.

Examples:
    >>> import editvec
    >>> editvec.mine(".", "edits.jsonl.gz").edits
    >>> model = editvec.load()
    >>> vectors = model.encode(editvec.read("edits.jsonl.gz"))
    >>> editvec.edit("count = count + 1;", like=("x = x + 1;", "x++;"), model=model)[0].text
    'count++;'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from editvec.core.about import __version__
from editvec.core.edit import Canonical, Edit, Source, Version
from editvec.core.errors import UserError

if TYPE_CHECKING:
    from editvec.data.cache import cache
    from editvec.data.convert import convert
    from editvec.data.edit_files import read, write
    from editvec.data.splits import split
    from editvec.data.stats import stats
    from editvec.evaluation.evaluate import evaluate
    from editvec.evaluation.probe import probe
    from editvec.evaluation.transfer import transfer
    from editvec.mining.mine import mine
    from editvec.neural.model import EditModel, load
    from editvec.patterns.apply import apply
    from editvec.patterns.find import find
    from editvec.patterns.learn import learn
    from editvec.reproduction.reproduce import reproduce
    from editvec.rewrite.undo import undo
    from editvec.suggest.edit import edit
    from editvec.suggest.finish import finish
    from editvec.suggest.rule import rule
    from editvec.training.training import train
    from editvec.ui.draw import draw
    from editvec.ui.lsp.serving import lsp
    from editvec.ui.map import map
    from editvec.ui.rate import rate
    from editvec.ui.serve import serve
    from editvec.ui.show import show
    from editvec.vectors.cluster import cluster
    from editvec.vectors.encode import encode
    from editvec.vectors.neighbours import neighbours

__all__ = [
    "Canonical",
    "Edit",
    "EditModel",
    "Source",
    "UserError",
    "Version",
    "__version__",
    "apply",
    "cache",
    "cluster",
    "convert",
    "draw",
    "edit",
    "encode",
    "evaluate",
    "find",
    "finish",
    "learn",
    "load",
    "lsp",
    "map",
    "mine",
    "neighbours",
    "probe",
    "rate",
    "read",
    "reproduce",
    "rule",
    "serve",
    "show",
    "split",
    "stats",
    "train",
    "transfer",
    "undo",
    "write",
]

_MODULES = {
    "EditModel": "neural.model",
    "apply": "patterns.apply",
    "cache": "data.cache",
    "cluster": "vectors.cluster",
    "convert": "data.convert",
    "draw": "ui.draw",
    "edit": "suggest.edit",
    "encode": "vectors.encode",
    "evaluate": "evaluation.evaluate",
    "find": "patterns.find",
    "finish": "suggest.finish",
    "learn": "patterns.learn",
    "load": "neural.model",
    "lsp": "ui.lsp.serving",
    "map": "ui.map",
    "mine": "mining.mine",
    "neighbours": "vectors.neighbours",
    "probe": "evaluation.probe",
    "rate": "ui.rate",
    "read": "data.edit_files",
    "reproduce": "reproduction.reproduce",
    "rule": "suggest.rule",
    "serve": "ui.serve",
    "show": "ui.show",
    "split": "data.splits",
    "stats": "data.stats",
    "train": "training.training",
    "transfer": "evaluation.transfer",
    "undo": "rewrite.undo",
    "write": "data.edit_files",
}
"""Where each name is found. It is imported when it is first used, so that `import editvec` stays quick."""


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'editvec' has no attribute {name!r}")
    return getattr(import_module(f"editvec.{_MODULES[name]}"), name)
