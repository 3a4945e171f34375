"""The configuration of a model. Only builders and the command line see it; layers take plain keyword arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from editvec.core.errors import BadInputError, UserError
from editvec.data.settings import as_toml, changed, read_toml, unknown

Dim = Annotated[int, Meta(ge=1, lt=2**16)]
Half = Annotated[int, Meta(ge=2, lt=2**16, multiple_of=2)]
"""A size of which each direction of a biLSTM has one half."""
Count = Annotated[int, Meta(ge=1, lt=2**31)]
OptionalCount = Annotated[int, Meta(ge=0, lt=2**31)]
Share = Annotated[float, Meta(ge=0, lt=1)]


class ModelConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a model is. A saved model needs all of it to be built again."""

    encoder: str = "sequence"
    editor: str = "seq2seq"
    vocab_size: Count = 10_000
    min_count: Count = 2
    lowercase: bool = False
    max_tokens: Count = 100
    """Longest before or after; a longer edit is left out of training and refused elsewhere."""
    max_context: Count = 160
    """Longest context; a longer one loses its far ends."""
    embed_dim: Half = 128
    tag_dim: Dim = 32
    hidden_dim: Dim = 256
    """State of the decoder."""
    edit_dim: Half = 512
    dropout: Share = 0.3
    """On the attention vector, as in the original code."""
    embed_dropout: Share = 0.0
    context: bool = True
    context_start: bool = True
    """Put the context into the decoder's initial state, as in the paper (the original code leaves it out)."""
    copy: bool = True
    shared_reader: bool = True
    """Let encoder and editor read tokens through one biLSTM."""
    changed_only: bool = False
    """Let the sequence encoder read the changed positions alone (Pravilov et al., 2021)."""
    residual: bool = False
    """Read a token as its state plus its embedding, so that a rare token keeps its identity."""
    token_skip: OptionalCount = 0
    """Number of added tokens with a linear path of their own into the edit vector (encoder `sequence`) and out of it
    to the generator; 0 leaves all to the recurrent layers."""
    transfer_layer: bool = False
    """Pass a vector that is used on another edit than its own through a linear layer first."""
    unknown_slots: Annotated[int, Meta(ge=0, lt=2**16)] = 0
    """Embeddings for tokens outside the vocabulary by their order in the edit; 0 reads all of them alike."""
    tied: bool = False
    """Use the embeddings as the generator's weights."""
    head_size: OptionalCount = 0
    """Number of frequent tokens that the generator scores first, the others only when it means one of them (Grave et
    al., 2017); 0 scores all at once."""
    tail_dim: Dim = 128
    trees: Literal["file", "parsed"] = "file"
    """file: the trees that the data came with, or tree-sitter's where it has none. parsed: tree-sitter's always."""
    graph_layers: Count = 2
    graph_steps: Count = 5
    graph_dropout: Share = 0.2


SECTION = "model"


def load(path: Path) -> ModelConfig:
    """Return the model's section of a config file; what it leaves out has its default. Other sections are not read."""
    found = read_toml(path)
    section = found.get(SECTION, {})
    if not isinstance(section, dict):
        raise BadInputError(path, None, unknown(SECTION, [], what="section"))
    try:
        return changed(ModelConfig(), section)
    except UserError as error:
        raise BadInputError(path, None, str(error)) from None


def dumps(config: ModelConfig) -> str:
    """Return the config as TOML, every key of it."""
    return as_toml({SECTION: config})
