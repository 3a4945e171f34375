"""Neural editors: (before, context, vector) → after. One file each, one protocol, one line of registration here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from editvec.config import ModelConfig
from editvec.editors.base import Editor
from editvec.editors.seq2seq import Seq2SeqEditor
from editvec.errors import UserError
from editvec.reading import Reader

__all__ = ["EDITORS", "Editor", "Seq2SeqEditor", "build_editor"]

EDITORS: Mapping[str, Callable[[ModelConfig, Reader, int], Editor]] = {
    "seq2seq": Seq2SeqEditor.from_config,
}


def build_editor(config: ModelConfig, reader: Reader, edit_dim: int) -> Editor:
    """The editor that a config names, for vectors of `edit_dim`."""
    if config.editor not in EDITORS:
        raise UserError(f"no editor {config.editor!r}. There are: {', '.join(EDITORS)}.")
    return EDITORS[config.editor](config, reader, edit_dim)
