"""Neural editors: they write `after`, given before, the context and an edit vector.

Each editor is one file that implements the protocol in `base`, and one line of registration here.
"""

from __future__ import annotations

from collections.abc import Mapping

from editvec.core.errors import UserError
from editvec.neural.config import ModelConfig
from editvec.neural.editors.base import Editor
from editvec.neural.editors.graph2tree import Graph2TreeEditor
from editvec.neural.editors.seq2seq import Seq2SeqEditor
from editvec.neural.grammar import Grammar
from editvec.neural.reading import Reader

__all__ = ["EDITORS", "Editor", "Graph2TreeEditor", "Seq2SeqEditor", "build_editor", "editor_class"]

EDITORS: Mapping[str, type[Editor]] = {
    "seq2seq": Seq2SeqEditor,
    "graph2tree": Graph2TreeEditor,
}


def editor_class(config: ModelConfig) -> type[Editor]:
    """Return the class of the editor that a config names.

    Raises:
        UserError: There is no editor of that name.
    """
    if config.editor not in EDITORS:
        raise UserError(f"no editor {config.editor!r}. Choose one of: {', '.join(EDITORS)}.")
    return EDITORS[config.editor]


def build_editor(config: ModelConfig, reader: Reader, edit_dim: int, grammar: Grammar | None) -> Editor:
    """Return the editor that a config names, for vectors of `edit_dim` numbers."""
    return editor_class(config).from_config(config, reader, edit_dim, grammar)
