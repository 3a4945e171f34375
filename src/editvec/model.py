"""EditModel: an encoder and an editor over one vocabulary. Builds, saves, loads; encodes edits and applies vectors.

A saved model is a folder: `config.toml`, `vocab.json`, `model.safetensors`, and, where it reads trees, `grammar.json`.
Nothing in it is executed when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import safetensors
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor

from editvec import config as configuration
from editvec.config import Config, ModelConfig
from editvec.diff import Tag, align
from editvec.edit import Edit, Tokens
from editvec.editors import editor_class
from editvec.encoders import encoder_class
from editvec.errors import BadInputError, UserError
from editvec.files import write_atomically
from editvec.grammar import Grammar
from editvec.network import EditNetwork
from editvec.search import Hypothesis
from editvec.syntax.snippet import restore_answer, snippet_edit
from editvec.tensors.batch import Batch, collate, collate_source
from editvec.tensors.corpus import by_length
from editvec.tensors.example import Example, Exampler
from editvec.vocab import Vocab, read_tokens

CONFIG, VOCAB, GRAMMAR = "config.toml", "vocab.json", "grammar.json"
WEIGHTS, SEEN = "model.safetensors", "seen.u64"
_BATCH, _TOKENS = 256, 32_768
_ROWS = 640
"""Hypotheses that are searched at once."""
PACKAGED = Path(__file__).parent / "packaged"
"""The model that comes with the package."""
MARGIN = 6.0
"""How much less likely than the best, in nats, a hypothesis may be before a search drops it: 400 times."""


class Candidate(NamedTuple):
    """What an editor would write, with its log-probability. `complete` is False where it holds a token that the
    model could not name."""

    tokens: Tokens
    score: float
    complete: bool


class Suggestion(NamedTuple):
    """A candidate in the words of the snippet that it is for."""

    text: str
    tokens: Tokens
    score: float


class EditModel:
    """A network, the vocabulary that its ids are of, and the config that built it."""

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
        )
        self.network = EditNetwork(config, len(vocab), grammar)

    @property
    def edit_dim(self) -> int:
        """The length of an edit vector."""
        return self.network.encoder.edit_dim

    def collate(self, examples: Sequence[Example]) -> Batch:
        """Examples as this model reads them."""
        return collate(examples, changed_only=self.config.changed_only)

    def encode(self, edits: Iterable[Edit]) -> NDArray[np.float32]:
        """The edit vectors of edits, in their order: [edits, edit_dim]."""
        examples = map(self.exampler, edits)
        parts = [np.zeros((0, self.edit_dim), np.float32)]
        while window := list(islice(examples, 16 * _BATCH)):
            parts.append(self.encode_examples(window))
        return np.concatenate(parts)

    def encode_examples(self, examples: Sequence[Example]) -> NDArray[np.float32]:
        """The edit vectors of examples, in their order: [examples, edit_dim]."""
        vectors = np.empty((len(examples), self.edit_dim), np.float32)
        with self.network.asked():
            for places in by_length(examples, _BATCH, _TOKENS):
                vectors[places] = self.network.vectors(self.collate([examples[place] for place in places])).numpy()
        return vectors

    def borrow(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Edit vectors for use on other edits than their own: what `write` takes then."""
        with torch.inference_mode():
            return self.network.borrow(torch.as_tensor(vectors, dtype=torch.float32)).numpy()

    def write(
        self, examples: Sequence[Example], vectors: NDArray[np.float32] | Tensor, *, k: int = 5, margin: float = MARGIN
    ) -> list[list[Candidate]]:
        """What the editor makes of each example's before and context with the vector beside it. `after` is not read."""
        vectors = torch.as_tensor(vectors, dtype=torch.float32)
        answers: list[list[Candidate]] = [[] for _ in examples]
        order = sorted(range(len(examples)), key=lambda place: len(examples[place].before))
        size = max(1, _ROWS // k)
        for start in range(0, len(order), size):
            places = order[start : start + size]
            found = self.network.search(
                collate_source([examples[place] for place in places]), vectors[places], k=k, margin=margin
            )
            for place, each in zip(places, found, strict=True):
                answers[place] = self._merged(examples[place], each)
        return answers

    def _merged(self, example: Example, found: Sequence[Hypothesis]) -> list[Candidate]:
        """Candidates, best first; hypotheses that come to the same tokens are one, their probabilities summed."""
        scores: dict[tuple[Tokens, bool], float] = {}
        for each in found:
            answer = self.network.editor.written(each, example, self.exampler)
            scores[answer] = float(np.logaddexp(scores.get(answer, -np.inf), each.score))
        ranked = sorted(scores.items(), key=lambda item: -item[1])
        return [Candidate(tokens, score, complete) for (tokens, complete), score in ranked]

    def apply(
        self,
        before: str | Edit,
        vector: NDArray[np.float32] | None = None,
        k: int = 5,
        *,
        like: Edit | tuple[str, str] | None = None,
        language: str = "csharp",
    ) -> list[Suggestion]:
        """The `k` best `after`s of a snippet or of an edit's `before` (its own `after` is not read), with an edit
        vector or with that of an example: `apply("i = i + 2;", like=("x = x + 1;", "x++;"))`. The vector is taken as
        that of another edit. What the model could not put into the words of `before` is left out."""
        edit = before if isinstance(before, Edit) else snippet_edit(before, "", language)
        if (vector is None) == (like is None):
            raise UserError("give either an edit vector or an example of the edit, not both.")
        if like is not None:
            vector = self.encode([like if isinstance(like, Edit) else snippet_edit(*like, edit.language)])[0]
        vector = np.asarray(vector, np.float32)
        if vector.shape != (self.edit_dim,):
            raise UserError(
                f"an edit vector of this model has {self.edit_dim} numbers, this one's shape is {vector.shape}."
            )
        read = read_tokens(edit, lowercase=self.config.lowercase)[0]
        suggestions = []
        for found in self.write([self.exampler(edit, with_after=False)], self.borrow(vector[None]), k=k)[0]:
            kept = [
                (place.before, place.after)
                for place in align(read, found.tokens).positions
                if place.tag is Tag.EQUAL and place.before is not None and place.after is not None
            ]
            written = restore_answer(edit, found.tokens, kept) if found.complete else None
            if written is not None:
                suggestions.append(Suggestion(written.text, written.tokens, found.score))
        return suggestions

    def save(self, folder: Path, *, config: Config | None = None) -> None:
        """Writes the model into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / CONFIG, configuration.dumps(config or Config(self.config)).encode())
        self.vocab.save(folder / VOCAB)
        if self.grammar is not None:
            self.grammar.save(folder / GRAMMAR)
        save_weights(folder / WEIGHTS, self.network)


def load(folder: str | Path | None = None) -> EditModel:
    """The model in a folder, or the one that comes with the package."""
    if folder is None and not PACKAGED.is_dir():
        raise UserError("this copy of editvec has no model in it. Make it with make model, or give a model's folder.")
    folder = PACKAGED if folder is None else Path(folder)
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder. Give the folder of a trained model.")
    for name in (CONFIG, VOCAB, WEIGHTS):
        _require(folder, name)
    config, vocab = configuration.load(folder / CONFIG).model, Vocab.load(folder / VOCAB)
    grammar = load_grammar(folder, config)
    # A config may say anything: its sizes are compared with the file's before memory is taken for them.
    with torch.device("meta"):
        model = EditModel(config, vocab, grammar)
    load_weights(folder / WEIGHTS, model.network)
    model.network.eval()
    return model


def needs_trees(config: ModelConfig) -> bool:
    """Whether a model of this config reads trees, and so has a grammar."""
    return encoder_class(config).needs_trees or editor_class(config).needs_trees


def load_grammar(folder: Path, config: ModelConfig) -> Grammar | None:
    """The grammar in a model's folder, for a config that needs one."""
    if not needs_trees(config):
        return None
    _require(folder, GRAMMAR)
    return Grammar.load(folder / GRAMMAR)


def _require(folder: Path, name: str) -> None:
    if not (folder / name).is_file():
        raise BadInputError(folder, None, f"not a trained model: {name} is missing. Train one with editvec train.")


def save_weights(path: Path, network: EditNetwork) -> None:
    """Writes a network's weights; a weight that two layers share is written once."""
    weights = {name: weight.detach().contiguous() for name, weight in network.named_parameters()}
    write_atomically(path, safetensors.torch.save(weights))


def load_weights(path: Path, network: EditNetwork) -> None:
    """Reads what `save_weights` wrote into a network of the same shape."""
    try:
        found = safetensors.torch.load(path.read_bytes())
    except (safetensors.SafetensorError, OSError) as error:
        raise BadInputError(path, None, f"not sound weights ({error}). Train again or copy the file again.") from None
    wanted = dict(network.named_parameters())
    if missing := sorted(wanted.keys() - found.keys()):
        raise BadInputError(path, None, f"not the weights of this config: {missing[0]} is missing.")
    if foreign := sorted(found.keys() - wanted.keys()):
        raise BadInputError(path, None, f"not the weights of this config: it has no {foreign[0]}.")
    for name, weight in wanted.items():
        if found[name].shape != weight.shape:
            have, want = tuple(found[name].shape), tuple(weight.shape)
            raise BadInputError(path, None, f"{name} has the size {have}, its config and vocabulary make it {want}.")
    if any(weight.is_meta for weight in wanted.values()):
        network.to_empty(device="cpu")
    with torch.no_grad():
        for name, weight in network.named_parameters():
            weight.copy_(found[name])
