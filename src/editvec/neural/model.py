"""EditModel: an encoder and an editor with one vocabulary.

A model is built, saved and loaded here. It encodes edits and writes candidates.

A saved model is a folder with `config.toml`, `vocab.json`, `model.safetensors` and, if it reads trees, `grammar.json`.
The folder `editors/graph2tree` inside can contain another model whose editor was trained on the same vectors: when an
edit is made like other edits, both editors write. No file in a folder is executed when the model is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from editvec.core.edit import Edit, Tokens
from editvec.core.errors import BadInputError, UserError
from editvec.core.files import write_atomically
from editvec.data.artifacts import artifact
from editvec.neural import config as configuration
from editvec.neural.batch import Batch, by_length, by_source, collate, collate_source
from editvec.neural.candidate import Candidate
from editvec.neural.checkpoint import Arrays, load_weights, save_weights
from editvec.neural.config import ModelConfig
from editvec.neural.editors import editor_class
from editvec.neural.encoders import encoder_class
from editvec.neural.examples import Example, Exampler, NoTreeError
from editvec.neural.grammar import Grammar
from editvec.neural.network import EditNetwork
from editvec.neural.search import Hypothesis
from editvec.neural.vocab import Vocab

CONFIG, VOCAB, GRAMMAR = "config.toml", "vocab.json", "grammar.json"
WEIGHTS, TRAINING_DIGESTS = "model.safetensors", "training_digests.u64"
SECOND = "editors/graph2tree"
"""The folder of the second editor, inside the folder of a model."""
_BATCH, _TOKENS = 128, 16_384
_ROWS = 2_560
"""Maximum number of hypotheses that a search extends at once."""
_READ = 65_536
"""Maximum number of tokens that are read for these hypotheses, including padding."""
PACKAGED_NAME = "packaged"
"""The name of the model that comes with the package."""
MARGIN = 6.0
"""How much less likely than the best hypothesis, in nats, a hypothesis may be before a search drops it; 6 nats are a
factor of 400."""


class EditModel:
    """A network, the vocabulary of its ids, and the config that it was built from."""

    def __init__(self, config: ModelConfig, vocab: Vocab, grammar: Grammar | None = None) -> None:
        self.config, self.vocab, self.grammar = config, vocab, grammar
        self.exampler = Exampler(
            vocab,
            config.max_tokens,
            config.max_context,
            config.lowercase,
            config.context,
            grammar=grammar,
            actions=editor_class(config).needs_trees,
            parsed=config.trees == "parsed",
            copy=config.copy,
        )
        self.network = EditNetwork(config, vocab.sizes, grammar)
        self.second: EditModel | None = None
        """A model with the same reader and encoder and another editor, which also writes when an edit is made like
        other edits."""

    @property
    def edit_dim(self) -> int:
        """Return the length of an edit vector."""
        return self.network.encoder.edit_dim

    @cached_property
    def digest(self) -> str:
        """Return a digest of all that edit vectors depend on: weights, vocabulary, kinds of nodes, config."""
        kinds = None if self.grammar is None else tuple(self.grammar.kind_numbers)
        hashed = blake2b(repr((self.config, self.vocab, kinds)).encode(), digest_size=16)
        for name, values in sorted(self.network.named_arrays().items()):
            if not name.startswith("editor."):
                hashed.update(name.encode() + np.ascontiguousarray(values).tobytes())
        return hashed.hexdigest()

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Return examples as a batch for this model."""
        return collate(examples, changed_only=self.config.changed_only)

    def encode(self, edits: Iterable[Edit]) -> NDArray[np.float32]:
        """Return the edit vectors of edits, in their order: [edits, edit_dim]."""
        examples = map(self.exampler, edits)
        parts = [np.zeros((0, self.edit_dim), np.float32)]
        while window := list(islice(examples, 32 * _BATCH)):
            parts.append(self.encode_examples(window))
        return np.concatenate(parts)

    def encode_examples(self, examples: Sequence[Example]) -> NDArray[np.float32]:
        """Return the edit vectors of examples, in their order: [examples, edit_dim]."""
        vectors = np.empty((len(examples), self.edit_dim), np.float32)
        for places in by_length(examples, _BATCH, _TOKENS):
            vectors[places] = self.network.vectors(self.collate([examples[place] for place in places]))
        return vectors

    def transfer(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return edit vectors for use on edits other than their own: [any, edit_dim].

        `write` takes these vectors when an edit is made like other edits.
        """
        return self.network.transfer(np.asarray(vectors, np.float32))

    def write(
        self, examples: Sequence[Example], vectors: NDArray[np.float32], *, k: int = 5, margin: float = MARGIN
    ) -> list[list[Candidate]]:
        """Return the `k` best candidates for each example, best first.

        The editor reads the before and the context of each example and its row of `vectors` [examples, edit_dim]. It
        does not read `after`.
        """
        vectors = np.asarray(vectors, np.float32)
        answers: list[list[Candidate]] = [[] for _ in examples]
        for places in by_source(examples, max(1, _ROWS // k), _READ):
            found = self.network.search(
                collate_source([examples[place] for place in places]), vectors[places], k=k, margin=margin
            )
            for place, each in zip(places, found, strict=True):
                answers[place] = self._merged(examples[place], each)
        return answers

    def readable(self, edit: Edit) -> Example | None:
        """Return the example of what an editor may see of an edit, or None if the edit has no tree for this model."""
        try:
            return self.exampler(edit, with_after=False)
        except NoTreeError:
            return None

    def _merged(self, example: Example, found: Sequence[Hypothesis]) -> list[Candidate]:
        """Return candidates, best first. Hypotheses with the same tokens are merged and their probabilities added."""
        scores: dict[tuple[Tokens, bool], float] = {}
        for each in found:
            answer = self.network.editor.written(each, example, self.exampler)
            scores[answer] = float(np.logaddexp(scores.get(answer, -np.inf), each.score))
        ranked = sorted(scores.items(), key=lambda item: -item[1])
        return [Candidate(tokens, score, complete) for (tokens, complete), score in ranked]

    def save(self, folder: Path) -> None:
        """Write the model into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / CONFIG, configuration.dumps(self.config).encode())
        self.vocab.save(folder / VOCAB)
        if self.grammar is not None:
            self.grammar.save(folder / GRAMMAR)
        save_weights(folder / WEIGHTS, self.network)


def folder_of(name: str | Path | None) -> Path:
    """Return the folder of a model.

    Without a name, or for the name `packaged` if there is no folder of that name, this is the model that comes with the
    package.

    Raises:
        UserError: There is no such folder.
    """
    if name is not None and (str(name) != PACKAGED_NAME or Path(name).is_dir()):
        if not Path(name).is_dir():
            raise UserError(
                f"{name} is not a folder. Give the folder of a trained model, or `packaged` for the included model."
            )
        return Path(name)
    return artifact("model")


def load(name: str | Path | None = None) -> EditModel:
    """Return the model in a folder, with its second editor if it has one.

    Without a name, this is the model that comes with the package.

    Raises:
        UserError: There is no such folder.
        BadInputError: The folder does not contain a complete model, or one of its files is damaged.

    Examples:
        >>> import editvec
        >>> model = editvec.load()
        >>> model.encode(editvec.read("edits.jsonl.gz")).shape
        (54, 512)
    """
    folder = folder_of(name)
    for part in (CONFIG, VOCAB, WEIGHTS):
        _require(folder, part)
    vocab = Vocab.load(folder / VOCAB)
    model = _load(folder, configuration.load(folder / CONFIG), vocab)
    if (folder / SECOND / WEIGHTS).is_file():
        model.second = _load_second(folder / SECOND, model)
    return model


def _load(folder: Path, config: ModelConfig, vocab: Vocab, beside: Arrays | None = None) -> EditModel:
    """Return the model in a folder; weights that its file lacks come from `beside`."""
    grammar = load_grammar(folder, config)
    # The sizes in a config can be wrong, so they are compared with the file's before memory is allocated.
    model = EditModel(config, vocab, grammar)
    load_weights(folder / WEIGHTS, model.network, beside=beside)
    return model


def _load_second(folder: Path, first: EditModel) -> EditModel:
    """Return the second editor of a model.

    Its reader and encoder are those of the first model, whether or not its own weight file contains them too.
    """
    _require(folder, CONFIG)
    config = configuration.load(folder / CONFIG)
    if structs.replace(config, editor=first.config.editor, trees=first.config.trees) != first.config:
        raise BadInputError(
            folder / CONFIG,
            None,
            "not the config of a second editor: only `editor` and `trees` may differ from the first.",
        )
    shared = {name: weight for name, weight in first.network.named_arrays().items() if not name.startswith("editor.")}
    return _load(folder, config, first.vocab, shared)


def needs_trees(config: ModelConfig) -> bool:
    """Return whether a model with this config reads trees, and so has a grammar."""
    return encoder_class(config).needs_trees or editor_class(config).needs_trees


def load_grammar(folder: Path, config: ModelConfig) -> Grammar | None:
    """Return the grammar in a model's folder, or None if the config needs no grammar."""
    if not needs_trees(config):
        return None
    _require(folder, GRAMMAR)
    return Grammar.load(folder / GRAMMAR)


def _require(folder: Path, name: str) -> None:
    """Raise BadInputError unless a folder contains a file."""
    if not (folder / name).is_file():
        raise BadInputError(folder, None, f"not a trained model: {name} is missing. Train one with editvec train.")
