"""A run from files of edits: the vocabulary, the corpora, the folder of the run, and its resumption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from msgspec import structs

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.core.files import check_place, make_folder, remove_partial, write_atomically
from editvec.data import edit_files
from editvec.data.digests import Notes
from editvec.data.splits import token_hash
from editvec.neural import vocab
from editvec.neural.checkpoint import load_what_fits, save_weights
from editvec.neural.editors import editor_class
from editvec.neural.encoders import encoder_class
from editvec.neural.examples import Example, NoTreeError, TooLongError
from editvec.neural.grammar import UnseenError, edit_trees, learn
from editvec.neural.model import CONFIG, GRAMMAR, TRAINING_DIGESTS, VOCAB, WEIGHTS, EditModel, load_grammar, needs_trees
from editvec.neural.pieces import learn_pieces
from editvec.neural.vocab import Vocab
from editvec.syntax.tree import Tree
from editvec.training import config as configuration
from editvec.training.checkpoint import RunState
from editvec.training.config import Config
from editvec.training.corpus import Corpus, build_corpus
from editvec.training.distributed import World, joined
from editvec.training.loop import CHECKPOINT, Progress, Trainer
from editvec.training.products import resolved

_CORPORA = ("train.arrow", "dev.arrow")
INIT = "init.safetensors"
"""The file with the weights of the model that a run begins with, if there is one."""
_HELD_OUT, _MOST_HELD_OUT = 0.05, 10_000


class OtherFailedError(UserError):
    """Another process failed and has reported why."""


Watch = Callable[[Progress], None]
Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a run. Without `dev`, one edit in twenty of `train` is held out."""

    train: Path
    dev: Path | None = None


def train(
    folder: Path,
    files: Files,
    config: Config,
    *,
    init: EditModel | None = None,
    editor: str | None = None,
    watch: Watch = lambda progress: None,
    notice: Notice = lambda text: None,
) -> RunState:
    """Train a new model into a folder.

    With `init`, training begins with that model and its vocabulary, and the config determines only the training. If
    `editor` differs from the editor of that model, the config also determines which trees are read, and the parts that
    both models share begin with its weights. If that model has no pieces and the config asks for some, they are learned
    and added.

    Raises:
        UserError: The folder already holds a run or a model, a file has no usable edit, or training diverged.
    """
    if (folder / CHECKPOINT).exists():
        raise UserError(f"{folder} already holds a run. Use --resume to continue it, or choose another folder.")
    if (folder / WEIGHTS).exists():
        raise UserError(f"{folder} already holds a trained model. Choose another folder.")
    if init is not None:
        model = init.config
        if editor is not None and editor != model.editor:
            model = structs.replace(model, editor=editor, trees=config.model.trees)
        if not model.num_pieces:
            model = structs.replace(model, num_pieces=config.model.num_pieces)
        config = structs.replace(config, model=model)
    with joined() as world:
        failed: UserError | None = None
        if world.leads:
            try:
                _prepare(folder, files, config, init, notice)
            except UserError as error:
                failed = error
        if not world.all_well(failed is None):
            raise failed or OtherFailedError("the first process could not prepare the run.")
        return _run(folder, config, world, watch, resume=False)


def resume(folder: Path, *, watch: Watch = lambda progress: None) -> RunState:
    """Resume the run in a folder; the result is the same as without the interruption.

    Raises:
        UserError: The folder holds no run, or its files are damaged.
    """
    if not (folder / CHECKPOINT).exists():
        done = "training is finished." if (folder / WEIGHTS).exists() else "start one without --resume."
        raise UserError(f"{folder} holds no run to resume: {done}")
    config = configuration.load(folder / CONFIG)
    with joined() as world:
        if world.leads:
            remove_partial(folder)
        return _run(folder, config, world, watch, resume=True)


def _prepare(folder: Path, files: Files, config: Config, init: EditModel | None, notice: Notice) -> None:
    """Write the vocabulary, the grammar, the corpora and the config of a run."""
    model, share = config.model, config.training.fraction
    # A run can be resumed on another machine, so the precision is fixed now.
    precision = resolved(config.training.precision)
    config = structs.replace(config, training=structs.replace(config.training, precision=precision))
    _check(folder, files, config)
    notes = Notes()
    counts = vocab.count_tokens(notes.noting(_edits(files, "train", share)), lowercase=model.lowercase)
    trees = needs_trees(model)
    if init is not None:
        words = init.vocab
        if model.num_pieces and words.pieces is None:
            words = Vocab(words.tokens, learn_pieces(counts.keys() - words.ids.keys(), model.num_pieces))
        save_weights(folder / INIT, init.network)
    else:
        words = vocab.build(counts, size=model.vocab_size, min_count=model.min_count, num_pieces=model.num_pieces)
    grammar = None
    if trees:
        same = init is not None and structs.replace(init.config, num_pieces=model.num_pieces) == model
        known = init.grammar if init is not None and same else None
        grammar = known or learn(_trees(files, share, model.trees == "parsed"))
    exampler = replace(EditModel(model, words, grammar).exampler, signatures=config.training.vector_swap > 0)
    for side, name in zip(("train", "dev"), _CORPORA, strict=True):
        dropped = Counter[str]()
        maker = replace(exampler, forget=config.training.forget) if side == "train" else exampler
        corpus = build_corpus(folder / name, _examples(_edits(files, side, share, trees=trees), maker, dropped))
        if not corpus.num_examples:
            raise UserError(
                f"{files.dev if side == 'dev' and files.dev else files.train} has no edit to {_USES[side]}."
            )
        if dropped["long"]:
            notice(f"{dropped['long']:,} edits of {side} are longer than {model.max_tokens} tokens and are left out")
        if dropped["tree"]:
            notice(f"{dropped['tree']:,} edits of {side} have no tree and are left out")
        notice(f"{side}: {corpus.num_examples:,} edits")
    notes.seen().save(folder / TRAINING_DIGESTS)
    words.save(folder / VOCAB)
    if grammar is not None:
        grammar.save(folder / GRAMMAR)
    write_atomically(folder / CONFIG, configuration.dumps(config).encode())


def _check(folder: Path, files: Files, config: Config) -> None:
    """Report wrong settings and files before the long work begins."""
    model, training = config.model, config.training
    EditModel(model, Vocab(()))
    if training.contrast and encoder_class(model).needs_trees:
        raise UserError(f"contrast does not work with the encoder {model.encoder}. Set contrast=0.")
    if training.forget and (not model.num_pieces or editor_class(model).needs_trees):
        raise UserError("forget needs pieces and an editor that writes them (seq2seq). Set forget=0.")
    for file in (files.train, files.dev):
        if file is not None:
            next(edit_files.read(file, trees=False), None)
    make_folder(folder)
    check_place(folder / CONFIG)


_USES = {"train": "train on. Give another file", "dev": "measure progress with. Give a file with --dev"}


def _run(folder: Path, config: Config, world: World, watch: Watch, *, resume: bool) -> RunState:
    """Train, or resume training, and remove the temporary files of the run."""
    model = EditModel(config.model, Vocab.load(folder / VOCAB), load_grammar(folder, config.model))
    model.network.initialise(config.training.seed)
    corpora = [Corpus(folder / name) for name in _CORPORA]
    trainer = Trainer(model, config, corpora[0], corpora[1], folder, world=world, watch=watch)
    if resume:
        trainer.resume()
    elif (folder / INIT).exists():
        load_what_fits(folder / INIT, model.network)
    if config.training.editor_only:
        for name, weight in trainer.learner.named.items():
            weight.requires_grad_(name.startswith("editor."))
    state = trainer.run()
    world.wait()
    if world.leads:
        for name in (CHECKPOINT, INIT, *_CORPORA):
            (folder / name).unlink(missing_ok=True)
    return state


def _edits(files: Files, side: str, share: float, *, trees: bool = False) -> Iterator[Edit]:
    """Return the edits of one side: train or dev."""
    if files.dev is not None:
        found: Iterable[Edit] = edit_files.read(files.train if side == "train" else files.dev, trees=trees)
    else:
        found = _side(edit_files.read(files.train, trees=trees), held_out=side == "dev")
    return iter(found) if side == "dev" else part_of(found, share)


def part_of(edits: Iterable[Edit], share: float) -> Iterator[Edit]:
    """Return a share of edits.

    The choice does not depend on a seed, and a smaller share is a part of every larger one, so runs on 20 % see the
    same edits.
    """
    return (edit for edit in edits if share >= 1 or _draw("share", edit) < share)


def _trees(files: Files, share: float, parsed: bool) -> Iterator[Tree]:
    """Yield the trees of a training set."""
    for edit in _edits(files, "train", share, trees=not parsed):
        try:
            yield from edit_trees(edit, parsed=parsed)
        except UnseenError:
            continue


def _side(edits: Iterable[Edit], *, held_out: bool) -> Iterator[Edit]:
    """Yield either the held-out edits or the others."""
    count = 0
    for edit in edits:
        held = count < _MOST_HELD_OUT and _draw("dev", edit) < _HELD_OUT
        count += held
        if held is held_out:
            yield edit


def _draw(purpose: str, edit: Edit) -> float:
    """Return a pseudo-random number from 0 to 1 that is always the same for an edit and a purpose."""
    form = f"{purpose}\0{edit.id}\0{token_hash(edit)}"
    digest = blake2b(form.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


def _examples(edits: Iterable[Edit], exampler: Callable[[Edit], Example], dropped: Counter[str]) -> Iterator[Example]:
    """Yield the examples of edits; edits without an example are counted in `dropped`."""
    for edit in edits:
        try:
            yield exampler(edit)
        except TooLongError:
            dropped["long"] += 1
        except NoTreeError:
            dropped["tree"] += 1
