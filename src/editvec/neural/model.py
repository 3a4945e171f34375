"""EditModel: an encoder and an editor over one vocabulary. Builds, saves, loads; encodes edits and applies vectors.

A saved model is a folder: `config.toml`, `vocab.json`, `model.safetensors`, and, where it reads trees, `grammar.json`.
In its folder `second` there may be another model whose editor was trained on the same vectors: where an edit is made as
others were, both write. Nothing in a folder is executed when it is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit, Tokens
from editvec.core.errors import BadInputError, UserError
from editvec.core.files import write_atomically
from editvec.data.sampling import spread
from editvec.diff import Tag, align
from editvec.diff.signature import ChangedTokens, changed_tokens_between
from editvec.neural import config as configuration
from editvec.neural.batch import Batch, by_length, by_source, collate, collate_source
from editvec.neural.checkpoint import Arrays, load_weights, save_weights
from editvec.neural.config import Config, ModelConfig
from editvec.neural.editors import editor_class
from editvec.neural.encoders import encoder_class
from editvec.neural.examples import Example, Exampler, NoTreeError
from editvec.neural.grammar import Grammar
from editvec.neural.network import EditNetwork
from editvec.neural.search import Hypothesis
from editvec.neural.vocab import UNKNOWN, Vocab, read_tokens
from editvec.rules.similarity import site_of, tree_similarity
from editvec.suggest.few_shot import LEAST_ANSWERS, MOST_COMPARED, MOST_TRIED, Demonstrations, FewShotAnswer, is_made_of
from editvec.syntax.parse import are_sound
from editvec.syntax.snippet import restore_answer, snippet_edit
from editvec.syntax.spacing import Habits, habits_of

CONFIG, VOCAB, GRAMMAR = "config.toml", "vocab.json", "grammar.json"
WEIGHTS, TRAINING_DIGESTS = "model.safetensors", "training_digests.u64"
SECOND = "editors/graph2tree"
"""In a model's folder, that of its second editor."""
_BATCH, _TOKENS = 256, 32_768
_ROWS = 2_560
"""Hypotheses that are searched at once."""
_READ = 65_536
"""Tokens that are read for that, padding included."""
PACKAGED = Path(__file__).parent.parent / "artifacts" / "model"
PACKAGED_NAME = "packaged"
"""The model that comes with the package."""
MARGIN = 6.0
"""How much less likely than the best, in nats, a hypothesis may be before a search drops it: 400 times."""


class Candidate(NamedTuple):
    """What an editor would write, with its log-probability or, where it was read back, the logarithm of the chance that
    it is right. `complete` is False where it holds a token that the model could not name."""

    tokens: Tokens
    score: float
    complete: bool


class SnippetCandidate(NamedTuple):
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
        self.second: EditModel | None = None
        """A model with the same reader and encoder and another editor, which also writes what is to be like other
        edits."""

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
        for places in by_length(examples, _BATCH, _TOKENS):
            vectors[places] = self.network.vectors(self.collate([examples[place] for place in places]))
        return vectors

    def transfer(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Edit vectors for use on other edits than their own: what `write` takes then."""
        return self.network.transfer(np.asarray(vectors, np.float32))

    def write(
        self, examples: Sequence[Example], vectors: NDArray[np.float32], *, k: int = 5, margin: float = MARGIN
    ) -> list[list[Candidate]]:
        """What the editor makes of each example's before and context with the vector beside it. `after` is not read."""
        vectors = np.asarray(vectors, np.float32)
        answers: list[list[Candidate]] = [[] for _ in examples]
        for places in by_source(examples, max(1, _ROWS // k), _READ):
            found = self.network.search(
                collate_source([examples[place] for place in places]), vectors[places], k=k, margin=margin
            )
            for place, each in zip(places, found, strict=True):
                answers[place] = self._merged(examples[place], each)
        return answers

    def show(self, edits: Sequence[Edit]) -> Demonstrations:
        """Edits to do as."""
        examples = self.exampler.all(edits)
        unnamed, places = [], []
        for edit, example in zip(edits, examples, strict=True):
            before, after = read_tokens(edit, lowercase=self.config.lowercase)[:2]
            names = tuple(after[at] for at in (example.after == UNKNOWN).nonzero()[0])
            unnamed.append(() if any(is_made_of(name, edit) for name in names) else names)
            places.append(site_of(edit.language, before, after))
        afters = tuple(edit.after for edit in edits)
        return Demonstrations(self.encode_examples(examples), tuple(unnamed), tuple(places), afters)

    def write_like(
        self, edits: Sequence[Edit], shown: Sequence[Demonstrations], *, k: int = 5
    ) -> list[list[Candidate]]:
        """What the editors make of each edit's before and context (`after` is not read) when they are to do as the
        edits did that are shown beside it. They write with each vector, and what they wrote is read back (see
        `imitation`)."""
        return [
            [Candidate(each.tokens, each.score, True) for each in found[:k]]
            for found in self.few_shot_answers(edits, shown, k=k)
        ]

    def few_shot_answers(
        self,
        edits: Sequence[Edit],
        shown: Sequence[Demonstrations],
        *,
        k: int = 5,
        allowed_changes: Sequence[frozenset[ChangedTokens]] | None = None,
    ) -> list[list[FewShotAnswer]]:
        """All that `write_like` chooses from, the best first. What the model could not name and the edits shown do not
        name either is left out, and so is what does not parse where before does, and what has none of the
        `allowed_changes` beside it, where some are given. A model whose encoder reads trees cannot read back, and is
        taken by its word."""
        examples = [self.exampler(edit, with_after=False) for edit in edits]
        pools: list[dict[Tokens, float]] = [{} for _ in edits]
        for owner, tokens, log_prob in self._pooled(edits, examples, shown, k=max(k, LEAST_ANSWERS)):
            pools[owner][tokens] = float(np.logaddexp(pools[owner].get(tokens, -np.inf), log_prob))
        for at, (edit, pool) in enumerate(zip(edits, pools, strict=True)):
            before = self._before(edit)
            answers = [
                each
                for each in pool
                if allowed_changes is None or changed_tokens_between(before, each) in allowed_changes[at]
            ]
            sound = are_sound(edit.language, " ".join(before), [" ".join(answer) for answer in answers])
            pools[at] = {answer: pool[answer] for answer, is_sound in zip(answers, sound, strict=True) if is_sound}
        alike = iter(self._likeness(examples, shown, pools))
        found = [[FewShotAnswer(tokens, log_prob, next(alike)) for tokens, log_prob in pool.items()] for pool in pools]
        return [
            sorted(self._compared(edit, each, some), key=lambda answer: -answer.score)
            for edit, each, some in zip(edits, shown, found, strict=True)
        ]

    def _compared(self, edit: Edit, shown: Demonstrations, answers: Sequence[FewShotAnswer]) -> list[FewShotAnswer]:
        """Answers to an edit's before with what their changes of its tree share with the edits shown."""
        places = [site for row in spread(range(len(shown.sites)), MOST_COMPARED) if (site := shown.sites[row])]
        if not places:
            return list(answers)
        before, compared = self._before(edit), []
        for answer in answers:
            place = site_of(edit.language, before, answer.tokens)
            similarity = max(tree_similarity(place, each) for each in places) if place is not None else 0.0
            compared.append(answer._replace(tree_similarity=similarity))
        return compared

    def _before(self, edit: Edit) -> Tokens:
        return read_tokens(edit, lowercase=self.config.lowercase)[0]

    def _pooled(
        self, edits: Sequence[Edit], examples: Sequence[Example], shown: Sequence[Demonstrations], *, k: int
    ) -> Iterator[tuple[int, Tokens, float]]:
        """What each editor wrote for each edit with each vector: the edit's place, the tokens, and their share of the
        mean probability."""
        writers: list[tuple[EditModel, Sequence[Example | None]]] = [(self, examples)]
        if self.second is not None:
            writers.append((self.second, [self.second.readable(edit) for edit in edits]))
        used = [spread(range(len(each.vectors)), MOST_TRIED) for each in shown]
        shares = [
            math.log(len(rows) * sum(read[owner] is not None for _, read in writers)) for owner, rows in enumerate(used)
        ]
        for writer, read in writers:
            asked = [
                (owner, row, example)
                for owner, example in enumerate(read)
                if example is not None
                for row in used[owner]
            ]
            if not asked:
                continue
            vectors = self.transfer(np.stack([shown[owner].vectors[row] for owner, row, _ in asked]))
            written = writer.write([example for *_, example in asked], vectors, k=k)
            for (owner, row, _), found in zip(asked, written, strict=True):
                for each in found:
                    tokens = each.tokens if each.complete else shown[owner].named(row, each.tokens)
                    if tokens is not None:
                        yield owner, tokens, each.score - shares[owner]

    def readable(self, edit: Edit) -> Example | None:
        """What the editor may see of an edit; None where it has no tree that the model could read."""
        try:
            return self.exampler(edit, with_after=False)
        except NoTreeError:
            return None

    def _likeness(
        self,
        examples: Sequence[Example],
        shown: Sequence[Demonstrations],
        pools: Sequence[Mapping[Tokens, float]],
    ) -> list[float | None]:
        """Of each answer of each pool, how like the edits shown it is."""
        pairs = [(owner, tokens) for owner, pool in enumerate(pools) for tokens in pool]
        if encoder_class(self.config).needs_trees:
            return [None] * len(pairs)
        read = self.encode_examples([self.exampler.answered(examples[owner], tokens) for owner, tokens in pairs])
        models = [_unit(self.transfer(each.vectors)) for each in shown]
        return [
            float((models[owner] @ vector).max())
            for (owner, _), vector in zip(pairs, _unit(self.transfer(read)), strict=True)
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
    ) -> list[SnippetCandidate]:
        """The `k` best `after`s of a snippet or of an edit's `before` (its own `after` is not read), as another
        edit with this vector did, or as an example or several: `apply("i = i + 1;", like=("x = x + 1;", "x++;"))`. What
        the model could not put into the words of `before` is left out, and so is, unless it is wanted `anyway`, what
        puts in or takes away other words than the examples do: none is left of `i = i + 2;`."""
        edit = before if isinstance(before, Edit) else snippet_edit(before, "", language)
        if (vector is None) == (like is None):
            raise UserError("give either an edit vector or an example of the edit, not both.")
        if like is None:
            return self.suggest([edit], [Demonstrations(np.asarray(vector, np.float32)[None])], k=k)[0]
        examples = [
            each if isinstance(each, Edit) else snippet_edit(each[0], each[1], edit.language)
            for each in ([like] if isinstance(like, Edit | tuple) else like)
        ]
        if not examples:
            raise UserError("give at least one example of the edit.")
        allowed_changes = None if anyway else [frozenset(map(self.changed_tokens, examples))]
        return self.suggest([edit], [self.show(examples)], k=k, allowed_changes=allowed_changes)[0]

    def suggest(
        self,
        edits: Sequence[Edit],
        shown: Sequence[Demonstrations],
        *,
        k: int = 5,
        allowed_changes: Sequence[frozenset[ChangedTokens]] | None = None,
    ) -> list[list[SnippetCandidate]]:
        """The `k` best `after`s of each edit's `before` (its own `after` is not read) that do as the edits did that are
        shown beside it. What the model could not put into the words of `before` is left out, and so is what has none
        of the `allowed_changes` beside it, where some are given."""
        for vectors, *_ in shown:
            if vectors.ndim != 2 or not len(vectors) or vectors.shape[1] != self.edit_dim:
                shape = vectors.shape[1:]
                raise UserError(
                    f"an edit vector of this model has {self.edit_dim} numbers, this one's shape is {shape}."
                )
        suggested = []
        for edit, each_shown, answers in zip(
            edits, shown, self.few_shot_answers(edits, shown, k=k, allowed_changes=allowed_changes), strict=True
        ):
            before, habits = self._before(edit), habits_of(each_shown.afters)
            restored = [
                each
                for answer in answers
                if answer.tokens != before and (each := self._restored(edit, before, answer, habits)) is not None
            ]
            sound = are_sound(edit.language, edit.before.text, [each.text for each in restored])
            suggested.append([each for each, is_sound in zip(restored, sound, strict=True) if is_sound][:k])
        return suggested

    def changed_tokens(self, edit: Edit) -> ChangedTokens:
        """What an edit puts in and takes away, as this model reads it."""
        return changed_tokens_between(*read_tokens(edit, lowercase=self.config.lowercase)[:2])

    def _restored(self, edit: Edit, before: Tokens, answer: FewShotAnswer, habits: Habits) -> SnippetCandidate | None:
        """An answer in the edit's own words."""
        kept = [
            (place.before, place.after)
            for place in align(before, answer.tokens).positions
            if place.tag is Tag.EQUAL and place.before is not None and place.after is not None
        ]
        written = restore_answer(edit, answer.tokens, kept, habits)
        return None if written is None else SnippetCandidate(written.text, written.tokens, answer.score)

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
    if name is not None and (str(name) != PACKAGED_NAME or Path(name).is_dir()):
        if not Path(name).is_dir():
            raise UserError(
                f"{name} is not a folder. Give the folder of a trained model, or packaged for the one that comes along."
            )
        return Path(name)
    if not PACKAGED.is_dir():
        raise UserError("this copy of editvec has no model in it. Make it with make model, or give a model's folder.")
    return PACKAGED


def load(name: str | Path | None = None) -> EditModel:
    """The model in a folder, or the one that comes with the package; with its second editor, if it has one."""
    folder = folder_of(name)
    for part in (CONFIG, VOCAB, WEIGHTS):
        _require(folder, part)
    vocab = Vocab.load(folder / VOCAB)
    model = _load(folder, configuration.load(folder / CONFIG).model, vocab)
    if (folder / SECOND / WEIGHTS).is_file():
        model.second = _load_second(folder / SECOND, model)
    return model


def _load(folder: Path, config: ModelConfig, vocab: Vocab, beside: Arrays | None = None) -> EditModel:
    grammar = load_grammar(folder, config)
    # A config may say anything: its sizes are compared with the file's before memory is taken for them.
    model = EditModel(config, vocab, grammar)
    load_weights(folder / WEIGHTS, model.network, beside=beside)
    return model


def _load_second(folder: Path, first: EditModel) -> EditModel:
    """The second editor of a model. Its reader and encoder are the model's own, whether they are in its file too."""
    _require(folder, CONFIG)
    config = configuration.load(folder / CONFIG).model
    if replace(config, editor=first.config.editor, trees=first.config.trees) != first.config:
        raise BadInputError(folder / CONFIG, None, "not the config of a second editor: it differs in more than that.")
    shared = {name: weight for name, weight in first.network.named_arrays().items() if not name.startswith("editor.")}
    return _load(folder, config, first.vocab, shared)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows at length one; zero rows stay zero."""
    unit: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1)[:, None], np.float32(1e-12))
    return unit


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
