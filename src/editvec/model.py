"""EditModel: an encoder and an editor over one vocabulary. Builds, saves, loads; encodes edits and applies vectors.

A saved model is a folder: `config.toml`, `vocab.json`, `model.safetensors`, and, where it reads trees, `grammar.json`.
Nothing in it is executed when it is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import safetensors
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from editvec import config as configuration
from editvec.config import Config, ModelConfig
from editvec.diff import Tag, align
from editvec.diff.shapes import Gist, gist_between
from editvec.edit import Edit, Tokens
from editvec.editors import editor_class
from editvec.encoders import encoder_class
from editvec.errors import BadInputError, UserError
from editvec.files import write_atomically
from editvec.grammar import Grammar
from editvec.imitation import LEAST_ANSWERS, MOST_TRIED, Imitation
from editvec.network import EditNetwork
from editvec.search import Hypothesis
from editvec.selection import spread
from editvec.syntax.snippet import restore_answer, snippet_edit
from editvec.tensors.batch import Batch, collate, collate_source
from editvec.tensors.corpus import by_length, by_source
from editvec.tensors.example import Example, Exampler
from editvec.vocab import Vocab, read_tokens

CONFIG, VOCAB, GRAMMAR = "config.toml", "vocab.json", "grammar.json"
WEIGHTS, SEEN = "model.safetensors", "seen.u64"
_BATCH, _TOKENS = 256, 32_768
_ROWS = 2_560
"""Hypotheses that are searched at once."""
_READ = 65_536
"""Tokens that are read for that, padding included."""
PACKAGED = Path(__file__).parent / "packaged"
"""The model that comes with the package."""
MARGIN = 6.0
"""How much less likely than the best, in nats, a hypothesis may be before a search drops it: 400 times."""


class Candidate(NamedTuple):
    """What an editor would write, with its log-probability or, where it was read back, the logarithm of the chance that
    it is right. `complete` is False where it holds a token that the model could not name."""

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
        for places in by_source(examples, max(1, _ROWS // k), _READ):
            found = self.network.search(
                collate_source([examples[place] for place in places]), vectors[places], k=k, margin=margin
            )
            for place, each in zip(places, found, strict=True):
                answers[place] = self._merged(examples[place], each)
        return answers

    def imitate(
        self, examples: Sequence[Example], shown: Sequence[NDArray[np.float32]], *, k: int = 5
    ) -> list[list[Candidate]]:
        """What the editor makes of each example's before and context when it is to do as some edits did, whose vectors
        are beside it: [any but none, edit_dim] each. `after` is not read. It writes with each vector, and what it wrote
        is read back (see `imitation`)."""
        return [
            [Candidate(each.tokens, each.score, True) for each in found[:k]]
            for found in self.imitations(examples, shown, k=k)
        ]

    def imitations(
        self, examples: Sequence[Example], shown: Sequence[NDArray[np.float32]], *, k: int = 5
    ) -> list[list[Imitation]]:
        """All that `imitate` chooses from, the best first. What the model could not name is left out. A model whose
        encoder reads trees cannot read back, and is taken by its word."""
        used = [spread(range(len(each)), MOST_TRIED) for each in shown]
        owners = [owner for owner, rows in enumerate(used) for _ in rows]
        vectors = [each[rows] for each, rows in zip(shown, used, strict=True)]
        borrowed = self.borrow(np.concatenate([np.zeros((0, self.edit_dim), np.float32), *vectors]))
        written = self.write([examples[owner] for owner in owners], borrowed, k=max(k, LEAST_ANSWERS))
        pools: list[dict[Tokens, float]] = [{} for _ in examples]
        for owner, found in zip(owners, written, strict=True):
            pool, share = pools[owner], math.log(len(used[owner]))
            for each in found:
                if each.complete:
                    pool[each.tokens] = float(np.logaddexp(pool.get(each.tokens, -np.inf), each.score - share))
        alike = iter(self._likeness(examples, shown, pools))
        return [
            sorted(
                (Imitation(tokens, log_prob, next(alike)) for tokens, log_prob in pool.items()),
                key=lambda each: -each.score,
            )
            for pool in pools
        ]

    def _likeness(
        self,
        examples: Sequence[Example],
        shown: Sequence[NDArray[np.float32]],
        pools: Sequence[Mapping[Tokens, float]],
    ) -> list[float | None]:
        """Of each answer of each pool, how like the edits shown it is."""
        pairs = [(owner, tokens) for owner, pool in enumerate(pools) for tokens in pool]
        if encoder_class(self.config).needs_trees:
            return [None] * len(pairs)
        read = self.encode_examples([self.exampler.answered(examples[owner], tokens) for owner, tokens in pairs])
        models = [_unit(self.borrow(each)) for each in shown]
        return [
            float((models[owner] @ vector).max())
            for (owner, _), vector in zip(pairs, _unit(self.borrow(read)), strict=True)
        ]

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
        like: Edit | tuple[str, str] | list[Edit | tuple[str, str]] | None = None,
        language: str = "csharp",
        anyway: bool = False,
    ) -> list[Suggestion]:
        """The `k` best `after`s of a snippet or of an edit's `before` (its own `after` is not read), as another
        edit with this vector did, or as an example or several: `apply("i = i + 1;", like=("x = x + 1;", "x++;"))`. What
        the model could not put into the words of `before` is left out, and so is, unless it is wanted `anyway`, what
        puts in or takes away other words than the examples do: none is left of `i = i + 2;`."""
        edit = before if isinstance(before, Edit) else snippet_edit(before, "", language)
        if (vector is None) == (like is None):
            raise UserError("give either an edit vector or an example of the edit, not both.")
        if like is None:
            return self.suggest([edit], [np.asarray(vector, np.float32)[None]], k=k)[0]
        examples = [
            each if isinstance(each, Edit) else snippet_edit(each[0], each[1], edit.language)
            for each in ([like] if isinstance(like, Edit | tuple) else like)
        ]
        if not examples:
            raise UserError("give at least one example of the edit.")
        gists = None if anyway else [frozenset(map(self.gist, examples))]
        return self.suggest([edit], [self.encode(examples)], k=k, gists=gists)[0]

    def suggest(
        self,
        edits: Sequence[Edit],
        shown: Sequence[NDArray[np.float32]],
        *,
        k: int = 5,
        gists: Sequence[frozenset[Gist]] | None = None,
    ) -> list[list[Suggestion]]:
        """The `k` best `after`s of each edit's `before` (its own `after` is not read) that do as the edits did whose
        vectors are beside it, [any but none, edit_dim] each. What the model could not put into the words of `before`
        is left out, and so is what has none of the `gists` beside it, where some are given."""
        for each in shown:
            if each.ndim != 2 or not len(each) or each.shape[1] != self.edit_dim:
                raise UserError(
                    f"an edit vector of this model has {self.edit_dim} numbers, this one's shape is {each.shape[1:]}."
                )
        found = self.imitations([self.exampler(edit, with_after=False) for edit in edits], shown, k=k)
        suggested = []
        for at, (edit, answers) in enumerate(zip(edits, found, strict=True)):
            before = read_tokens(edit, lowercase=self.config.lowercase)[0]
            if gists is not None:
                answers = [each for each in answers if gist_between(before, each.tokens) in gists[at]]
            restored = (self._restored(edit, before, each) for each in answers)
            suggested.append([each for each in restored if each is not None][:k])
        return suggested

    def gist(self, edit: Edit) -> Gist:
        """What an edit puts in and takes away, as this model reads it."""
        return gist_between(*read_tokens(edit, lowercase=self.config.lowercase)[:2])

    def _restored(self, edit: Edit, before: Tokens, answer: Imitation) -> Suggestion | None:
        """An answer in the edit's own words."""
        kept = [
            (place.before, place.after)
            for place in align(before, answer.tokens).positions
            if place.tag is Tag.EQUAL and place.before is not None and place.after is not None
        ]
        written = restore_answer(edit, answer.tokens, kept)
        return None if written is None else Suggestion(written.text, written.tokens, answer.score)

    def save(self, folder: Path, *, config: Config | None = None) -> None:
        """Writes the model into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / CONFIG, configuration.dumps(config or Config(self.config)).encode())
        self.vocab.save(folder / VOCAB)
        if self.grammar is not None:
            self.grammar.save(folder / GRAMMAR)
        save_weights(folder / WEIGHTS, self.network)


def folder_of(name: str | Path | None) -> Path:
    """The folder of a model: itself, or of the one that comes with the package where there is no name or `packaged` and
    no folder of that name."""
    if name is not None and (str(name) != PACKAGED.name or Path(name).is_dir()):
        if not Path(name).is_dir():
            raise UserError(
                f"{name} is not a folder. Give the folder of a trained model, or packaged for the one that comes along."
            )
        return Path(name)
    if not PACKAGED.is_dir():
        raise UserError("this copy of editvec has no model in it. Make it with make model, or give a model's folder.")
    return PACKAGED


def load(name: str | Path | None = None) -> EditModel:
    """The model in a folder, or the one that comes with the package."""
    folder = folder_of(name)
    for part in (CONFIG, VOCAB, WEIGHTS):
        _require(folder, part)
    config, vocab = configuration.load(folder / CONFIG).model, Vocab.load(folder / VOCAB)
    grammar = load_grammar(folder, config)
    # A config may say anything: its sizes are compared with the file's before memory is taken for them.
    with torch.device("meta"):
        model = EditModel(config, vocab, grammar)
    load_weights(folder / WEIGHTS, model.network)
    model.network.eval()
    return model


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows at length one; zero rows stay zero."""
    return functional.normalize(torch.as_tensor(vectors), dim=1).numpy()


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
