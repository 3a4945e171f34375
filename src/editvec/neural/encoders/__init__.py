"""Edit encoders: they map an edit to a vector.

Each encoder is one file that implements the protocol in `base`, and one line of registration here.
"""

from __future__ import annotations

from collections.abc import Mapping

from editvec.core.errors import UserError
from editvec.neural.config import ModelConfig
from editvec.neural.encoders.bag import BagEncoder
from editvec.neural.encoders.base import EditEncoder
from editvec.neural.encoders.graph import GraphEncoder
from editvec.neural.encoders.none import NoEncoder
from editvec.neural.encoders.sequence import SequenceEncoder
from editvec.neural.vocab import VocabSizes

__all__ = [
    "ENCODERS",
    "BagEncoder",
    "EditEncoder",
    "GraphEncoder",
    "NoEncoder",
    "SequenceEncoder",
    "build_encoder",
    "encoder_class",
]

ENCODERS: Mapping[str, type[EditEncoder]] = {
    "sequence": SequenceEncoder,
    "graph": GraphEncoder,
    "bag": BagEncoder,
    "none": NoEncoder,
}


def encoder_class(config: ModelConfig) -> type[EditEncoder]:
    """Return the class of the encoder that a config names.

    Raises:
        UserError: There is no encoder of that name.
    """
    if config.encoder not in ENCODERS:
        raise UserError(f"no encoder {config.encoder!r}. Choose one of: {', '.join(ENCODERS)}.")
    return ENCODERS[config.encoder]


def build_encoder(config: ModelConfig, sizes: VocabSizes, num_kinds: int) -> EditEncoder:
    """Return the encoder that a config names.

    `sizes` are those of the vocabulary, and `num_kinds` the number of kinds of nodes.
    """
    return encoder_class(config).from_config(config, sizes, num_kinds)
