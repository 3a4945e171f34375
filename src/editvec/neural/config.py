"""The configuration of a model.

Only builders and the command line use it; layers take plain keyword arguments.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from editvec.core.errors import BadInputError, UserError
from editvec.data.settings import as_toml, changed, read_toml, unknown

Dim = Annotated[int, Meta(ge=1, lt=2**16)]
Half = Annotated[int, Meta(ge=2, lt=2**16, multiple_of=2)]
"""A size that is split into halves, one per direction of a biLSTM."""
Count = Annotated[int, Meta(ge=1, lt=2**31)]
OptionalCount = Annotated[int, Meta(ge=0, lt=2**31)]
Share = Annotated[float, Meta(ge=0, lt=1)]


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The architecture of a model: all settings that are needed to build a saved model again."""

    encoder: str = "sequence"
    editor: str = "seq2seq"
    vocab_size: Count = 10_000
    min_count: Count = 2
    num_pieces: OptionalCount = 0
    """Maximum number of learned pieces, of which tokens outside the vocabulary are read and written. With 0, such
    tokens can only be copied."""
    lowercase: bool = False
    max_tokens: Count = 100
    """Maximum tokens of before and of after. Training skips longer edits; other commands refuse them."""
    max_context: Count = 160
    """Maximum tokens of the context. Of a longer context, the tokens farthest from the edit are cut off."""
    embed_dim: Half = 128
    tag_dim: Dim = 32
    hidden_dim: Dim = 256
    """Size of the decoder's state."""
    edit_dim: Half = 512
    dropout: Share = 0.3
    """Dropout on the attention vector, as in the original code."""
    embed_dropout: Share = 0.0
    context: bool = True
    context_start: bool = True
    """Put the context into the decoder's initial state, as in the paper (the original code leaves it out)."""
    copy: bool = True
    shared_reader: bool = True
    """Let the encoder and the editor share one biLSTM that reads tokens."""
    changed_only: bool = False
    """Let the sequence encoder read only the changed positions (Pravilov et al., 2021)."""
    residual: bool = False
    """Represent a token as the sum of its state and its embedding, so that a rare token keeps its identity."""
    token_skip: OptionalCount = 0
    """Number of added tokens that have their own linear path into the edit vector (encoder `sequence`) and from the
    vector to the generator; 0 disables this path."""
    transfer_layer: bool = False
    """Pass a vector through a linear layer before it is used on an edit other than its own."""
    unknown_slots: Annotated[int, Meta(ge=0, lt=2**16)] = 0
    """Number of embeddings for tokens outside the vocabulary, by their order in the edit; with 0, all of these tokens
    share one embedding."""
    tied: bool = False
    """Use the embeddings as the generator's weights."""
    head_size: OptionalCount = 0
    """Number of frequent tokens that the generator scores first. It scores the other tokens only if one of them is
    needed (Grave et al., 2017). With 0, it scores all tokens at once."""
    tail_dim: Dim = 128
    trees: Literal["file", "parsed"] = "file"
    """file: the trees that came with the data, or tree-sitter's if there are none. parsed: always tree-sitter's."""
    graph_layers: Count = 2
    graph_steps: Count = 5
    graph_dropout: Share = 0.2


SECTION = "model"


def load(path: Path) -> ModelConfig:
    """Return the model's section of a config file.

    Missing settings have their defaults. Other sections are not read.

    Raises:
        BadInputError: The section has an unknown setting or an invalid value.
    """
    found = read_toml(path)
    section = found.get(SECTION, {})
    if not isinstance(section, dict):
        raise BadInputError(path, None, unknown(SECTION, [], what="section"))
    try:
        return changed(ModelConfig(), section)
    except UserError as error:
        raise BadInputError(path, None, str(error)) from None


def dumps(config: ModelConfig) -> str:
    """Return the config as TOML, with all settings."""
    return as_toml({SECTION: config})
