"""The training loop: Adam, clipped gradients, early stopping on dev perplexity, checkpoints.

A run is a folder: the best model so far, `metrics.jsonl`, and, until it has finished, `checkpoint.safetensors` and the
corpora. What a step computes depends on the checkpoint alone: chance
is seeded anew for every step, so a run that was interrupted is the run that was not.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
import torch
from torch import nn

from editvec.core.errors import UserError
from editvec.core.files import write_atomically
from editvec.neural.batch import by_length
from editvec.neural.checkpoint import load_weights, save_weights
from editvec.neural.examples import Example
from editvec.neural.model import CONFIG, WEIGHTS, EditModel
from editvec.training.checkpoint import RunState, load_checkpoint, save_checkpoint
from editvec.training.config import Config
from editvec.training.corpus import Corpus, Lesson, epoch_batches
from editvec.training.distributed import World
from editvec.training.learner import Learner
from editvec.training.products import precision

CHECKPOINT, METRICS = "checkpoint.safetensors", "metrics.jsonl"
_SAVE_EVERY = 45.0
_DEV_EDITS, _DEV_TOKENS = 64, 8192


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    epoch: int
    epochs: int
    done: int
    """Edits of this epoch seen."""
    total: int
    loss: float
    perplexity: float
    edits_per_second: float
    seconds_left: float
    """Until the end of this epoch."""
    best: float | None
    stalled: int


class Trainer:
    """One run of training."""

    def __init__(
        self,
        model: EditModel,
        config: Config,
        corpus: Corpus,
        dev: Corpus,
        folder: Path,
        *,
        world: World | None = None,
        watch: Callable[[Progress], None] = lambda progress: None,
    ) -> None:
        self.model, self.config, self.settings = model, config, config.training
        self.corpus, self.dev, self.folder = corpus, dev, folder
        self.world = world or World()
        self.watch = watch
        self.learner = Learner(model.network)
        self.optimiser = self._new_optimiser()
        self.state = RunState(order=self._order())

    def _order(self) -> str:
        """Return what decides which edits a batch has."""
        settings = self.settings
        return (
            f"seed {settings.seed}, batches of {settings.batch_edits} edits and {settings.batch_tokens} tokens, "
            f"{settings.vector_swap:g} exchanged"
        )

    def resume(self) -> None:
        """Go back to the last checkpoint."""
        self.state = load_checkpoint(self.folder / CHECKPOINT, self.learner.named, self.optimiser)
        if self.state.order != self._order():
            raise UserError(
                f"{self.folder / CONFIG} has other batches than the run began with ({self.state.order}). "
                "Set them back, or start again in another folder."
            )

    def run(self) -> RunState:
        """Train until it has finished. Ctrl-C saves where it is, then raises KeyboardInterrupt."""
        learner = self.world.wrap(self.learner)
        with _denormals_flushed(), _deferred_interrupt() as interrupted:
            clock = _Clock(self.state.seconds)
            self._keep(clock)
            while not self.state.finished:
                self._epoch(learner, clock, interrupted)
                self._end_epoch(clock)
            self._keep(clock)
        return self.state

    def _epoch(self, learner: nn.Module, clock: _Clock, interrupted: threading.Event) -> None:
        settings, state = self.settings, self.state
        batches = epoch_batches(
            self.corpus,
            seed=settings.seed,
            epoch=state.epoch,
            batch_edits=settings.batch_edits,
            batch_tokens=settings.batch_tokens,
            vector_swap=settings.vector_swap,
            first=state.batch,
        )
        speed = _Speed()
        for lesson in batches:
            loss, logs = self._step(learner, lesson)
            state.batch += 1
            state.step += 1
            state.edits += len(lesson.edits)
            state.epoch_edits += len(lesson.edits)
            state.epoch_loss += loss
            state.epoch_logs += logs
            speed.add(len(lesson.edits))
            if self.world.leads:
                self.watch(self._progress(speed))
                if clock.since_saved() > _SAVE_EVERY:
                    self._keep(clock)
            if self._stop_asked(interrupted):
                self._keep(clock)
                raise KeyboardInterrupt

    def _step(self, learner: nn.Module, lesson: Lesson) -> tuple[float, float]:
        """Make one update, and return the sums of the losses of the batch's edits and of their losses a token.

        Both count those of other processes.
        """
        settings, world = self.settings, self.world
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate()
        examples = lesson.edits
        torch.manual_seed((settings.seed * 1_000_003 + self.state.step) * world.size + world.rank)
        batch = self.model.collate(self._own(examples))
        shown = is_other = None
        if lesson.shown is not None:
            shown = self.model.collate(self._own(lesson.shown))
            pairs = zip(self._own(examples), self._own(lesson.shown), strict=True)
            is_other = np.array([one is not other for one, other in pairs])
        learner.train()
        with precision(settings.precision):
            losses = -learner(batch, shown, is_other)
        # A process averages over its own share, torch over processes: the weights make it the mean of all edits.
        weight = float(len(examples) > world.rank)
        self.optimiser.zero_grad()
        (losses.sum() * weight * world.size / len(examples)).backward()
        norm = nn.utils.get_total_norm([w.grad for w in self.learner.parameters() if w.grad is not None])
        if not math.isfinite(float(norm)):
            raise UserError(
                f"training diverged at step {self.state.step}: the gradient is not finite. "
                f"Lower learning_rate (now {self.settings.learning_rate:g}) in {self.folder / CONFIG}, then --resume."
            )
        if norm > settings.clip:
            nn.utils.clip_grads_with_norm_(self.learner.parameters(), settings.clip, norm)
        self.optimiser.step()
        each = losses.detach() * weight
        by_token = each / torch.from_numpy(np.maximum(batch.num_tokens, 1))
        loss, logs = world.sum(torch.stack([each.sum(), by_token.sum()])).tolist()
        return loss, logs

    def _own(self, examples: list[Example]) -> list[Example]:
        """Return the share of this process."""
        return examples[self.world.rank :: self.world.size] or examples[:1]

    def _rate(self) -> float:
        """Return the learning rate of the next step."""
        settings, state = self.settings, self.state
        rate = settings.learning_rate * 0.5**state.halvings
        if settings.warmup_steps:
            rate *= min(1.0, (state.step + 1) / settings.warmup_steps)
        if settings.schedule == "linear":
            # By edits, not steps: how many batches a corpus makes is only known at the end of an epoch.
            rate *= max(0.0, 1 - state.edits / (settings.epochs * self.corpus.num_examples))
        return rate

    def _end_epoch(self, clock: _Clock) -> None:
        state, settings = self.state, self.settings
        self._keep(clock)
        perplexity = self.perplexity(self.dev)
        state.metrics.append(
            {
                "epoch": state.epoch + 1,
                "step": state.step,
                "learning_rate": self._rate(),
                "loss": state.epoch_loss / max(1, state.epoch_edits),
                "perplexity": math.exp(state.epoch_logs / max(1, state.epoch_edits)),
                "dev_perplexity": perplexity,
                "seconds": round(clock.seconds(), 1),
            }
        )
        if state.best is None or perplexity < state.best:
            state.best, state.best_epoch, state.stalled = perplexity, state.epoch + 1, 0
            if self.world.leads:
                save_weights(self.folder / WEIGHTS, self.model.network)
        else:
            state.stalled += 1
        state.epoch += 1
        state.batch = state.epoch_edits = 0
        state.epoch_loss = state.epoch_logs = 0.0
        state.finished = state.epoch >= settings.epochs
        if settings.schedule == "patience" and state.stalled >= settings.patience:
            if state.halvings >= settings.halvings:
                state.finished = True
            else:
                self._halve()
        self._keep(clock)

    def _halve(self) -> None:
        """Go back to the best model with half the rate."""
        self.world.wait()
        load_weights(self.folder / WEIGHTS, self.model.network)
        self.optimiser = self._new_optimiser()
        self.state.halvings += 1
        self.state.stalled = 0

    def perplexity(self, corpus: Corpus) -> float:
        """Return the paper's perplexity: exp of the mean over edits of an edit's negative log-likelihood a token."""
        sums = torch.zeros(2, dtype=torch.float64)
        self.learner.eval()
        with torch.inference_mode():
            for number in range(self.world.rank, corpus.num_blocks, self.world.size):
                block = corpus.block(number)
                for places in by_length(block, _DEV_EDITS, _DEV_TOKENS):
                    batch = self.model.collate([block[place] for place in places])
                    logs = self.learner(batch) / torch.from_numpy(np.maximum(batch.num_tokens, 1))
                    sums += torch.tensor([-float(logs.double().sum()), len(places)], dtype=torch.float64)
        total, count = self.world.sum(sums).tolist()
        return math.exp(total / count)

    def _new_optimiser(self) -> torch.optim.Adam:
        return torch.optim.Adam(self.learner.parameters(), self.settings.learning_rate, fused=True)

    def _keep(self, clock: _Clock) -> None:
        """Write the checkpoint and the metrics."""
        if self.world.leads:
            self.state.seconds = clock.seconds()
            save_checkpoint(self.folder / CHECKPOINT, self.learner.named, self.optimiser, self.state)
            lines = b"".join(orjson.dumps(row) + b"\n" for row in self.state.metrics)
            write_atomically(self.folder / METRICS, lines)
            clock.saved()

    def _stop_asked(self, interrupted: threading.Event) -> bool:
        """Return whether any process was asked to stop: all must leave at the same step."""
        if self.world.size == 1:
            return interrupted.is_set()
        return bool(self.world.sum(torch.tensor(float(interrupted.is_set()))) > 0)

    def _progress(self, speed: _Speed) -> Progress:
        state = self.state
        return Progress(
            epoch=state.epoch + 1,
            epochs=self.settings.epochs,
            done=state.epoch_edits,
            total=self.corpus.num_examples,
            loss=state.epoch_loss / max(1, state.epoch_edits),
            perplexity=math.exp(state.epoch_logs / max(1, state.epoch_edits)),
            edits_per_second=speed.rate(),
            seconds_left=(self.corpus.num_examples - state.epoch_edits) / max(speed.rate(), 1e-9),
            best=state.best,
            stalled=state.stalled,
        )


class _Clock:
    """Seconds of work, over interruptions."""

    def __init__(self, before: float) -> None:
        self._start = time.monotonic() - before
        self._saved = time.monotonic()

    def seconds(self) -> float:
        return time.monotonic() - self._start

    def saved(self) -> None:
        self._saved = time.monotonic()

    def since_saved(self) -> float:
        return time.monotonic() - self._saved


class _Speed:
    """Edits a second, of late."""

    def __init__(self) -> None:
        self._marks = [(time.monotonic(), 0)]
        self._edits = 0

    def add(self, edits: int) -> None:
        self._edits += edits
        self._marks.append((time.monotonic(), self._edits))
        del self._marks[:-200]

    def rate(self) -> float:
        (start, before), (end, now) = self._marks[0], self._marks[-1]
        return (now - before) / max(end - start, 1e-9)


@contextmanager
def _denormals_flushed() -> Iterator[None]:
    """Take denormal numbers for zeros inside."""
    # Vanishing gradients are denormal numbers, which a CPU multiplies many times as slowly.
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


@contextmanager
def _deferred_interrupt() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C or SIGTERM sets, so that a step is not cut; a second one does cut."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def ask(number: int, frame: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
