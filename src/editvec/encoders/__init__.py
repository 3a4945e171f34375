"""Edit encoders: edit → vector. One file each, one protocol, one line of registration here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from editvec.config import ModelConfig
from editvec.encoders.bag import BagEncoder
from editvec.encoders.base import EditEncoder
from editvec.encoders.none import NoEncoder
from editvec.encoders.sequence import SequenceEncoder
from editvec.errors import UserError

__all__ = ["ENCODERS", "BagEncoder", "EditEncoder", "NoEncoder", "SequenceEncoder", "build_encoder"]

ENCODERS: Mapping[str, Callable[[ModelConfig, int], EditEncoder]] = {
    "sequence": SequenceEncoder.from_config,
    "bag": BagEncoder.from_config,
    "none": NoEncoder.from_config,
}


def build_encoder(config: ModelConfig, num_known: int) -> EditEncoder:
    """The encoder that a config names, over `num_known` ids of a vocabulary."""
    if config.encoder not in ENCODERS:
        raise UserError(f"no encoder {config.encoder!r}. There are: {', '.join(ENCODERS)}.")
    return ENCODERS[config.encoder](config, num_known)
