"""The training loop: Adam, clipped gradients, early stopping on dev perplexity, and checkpoints.

A run is a folder with the best model so far and `metrics.jsonl`. Until the run is finished, the folder also contains
`checkpoint.safetensors` and the corpora. The random generator is seeded for every step, so the result of a step depends
only on the checkpoint, and a resumed run gives the same result as an uninterrupted one.
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
from editvec.training.contrast import make_contrast
from editvec.training.corpus import Corpus, Lesson, epoch_batches
from editvec.training.distributed import World
from editvec.training.learner import Learner
from editvec.training.products import precision

CHECKPOINT, METRICS = "checkpoint.safetensors", "metrics.jsonl"
_SAVE_EVERY = 45.0
"""Seconds between checkpoints."""
_DEV_EDITS, _DEV_TOKENS = 64, 8192


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run."""

    epoch: int
    epochs: int
    done: int
    """Number of edits seen in this epoch."""
    total: int
    loss: float
    perplexity: float
    edits_per_second: float
    seconds_left: float
    """Estimated time until the end of this epoch."""
    best: float | None
    stalled: int


class Trainer:
    """A run of training."""

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
        """Return the settings that decide which edits a batch contains, as text."""
        settings = self.settings
        return (
            f"seed {settings.seed}, batches of {settings.batch_edits} edits and {settings.batch_tokens} tokens, "
            f"{settings.vector_swap:g} exchanged"
        )

    def resume(self) -> None:
        """Load the last checkpoint.

        Raises:
            UserError: The checkpoint is damaged, or the config has other batches than the run.
        """
        self.state = load_checkpoint(self.folder / CHECKPOINT, self.learner.named, self.optimiser)
        if self.state.order != self._order():
            raise UserError(
                f"{self.folder / CONFIG} has other batches than the run, which began with {self.state.order}. "
                "Restore these settings, or train again in another folder."
            )

    def run(self) -> RunState:
        """Train until the run is finished.

        Raises:
            KeyboardInterrupt: The user pressed Ctrl-C. A checkpoint was saved.
            UserError: Training diverged.
        """
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
        """Train for the rest of an epoch."""
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
        """Update the weights once.

        Return the sum of the losses, and the sum of the losses per token, over all edits of the batch in all processes.
        """
        settings, world = self.settings, self.world
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate()
        examples = lesson.edits
        torch.manual_seed((settings.seed * 1_000_003 + self.state.step) * world.size + world.rank)
        batch = self.model.collate(self._own(examples))
        demonstrations = is_other = contrast = None
        if lesson.demonstrations is not None:
            demonstrations = self.model.collate(self._own(lesson.demonstrations))
            pairs = zip(self._own(examples), self._own(lesson.demonstrations), strict=True)
            is_other = np.array([one is not other for one, other in pairs])
            if settings.contrast:
                contrast = make_contrast(self._own(examples), self._own(lesson.demonstrations), self.model.collate)
        learner.train()
        with precision(settings.precision):
            found = learner(batch, demonstrations, is_other, contrast)
            losses = -found if contrast is None else -found[0]
        # torch averages the gradients over processes. The weights make the result the mean over all edits.
        weight = float(len(examples) > world.rank)
        self.optimiser.zero_grad()
        penalties = 0.0 if contrast is None else settings.contrast * found[1].sum()
        ((losses.sum() + penalties) * weight * world.size / len(examples)).backward()
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
        """Return this process's share of the examples."""
        return examples[self.world.rank :: self.world.size] or examples[:1]

    def _rate(self) -> float:
        """Return the learning rate of the next step."""
        settings, state = self.settings, self.state
        rate = settings.learning_rate * 0.5**state.halvings
        if settings.warmup_steps:
            rate *= min(1.0, (state.step + 1) / settings.warmup_steps)
        if settings.schedule == "linear":
            # Count edits, not steps, because the number of batches is known only at the end of an epoch.
            rate *= max(0.0, 1 - state.edits / (settings.epochs * self.corpus.num_examples))
        return rate

    def _end_epoch(self, clock: _Clock) -> None:
        """Measure the dev perplexity, save the model if it is the best, and prepare the next epoch."""
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
        """Reload the best model and halve the learning rate."""
        self.world.wait()
        load_weights(self.folder / WEIGHTS, self.model.network)
        self.optimiser = self._new_optimiser()
        self.state.halvings += 1
        self.state.stalled = 0

    def perplexity(self, corpus: Corpus) -> float:
        """Return the perplexity as the paper defines it.

        It is the exponential of the mean, over edits, of the negative log-likelihood per token.
        """
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
        """Return a new optimiser."""
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
        """Return whether any process was interrupted; all processes must stop at the same step."""
        if self.world.size == 1:
            return interrupted.is_set()
        return bool(self.world.sum(torch.tensor(float(interrupted.is_set()))) > 0)

    def _progress(self, speed: _Speed) -> Progress:
        """Return the progress of the run."""
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
    """Seconds of training, including the time before interruptions."""

    def __init__(self, before: float) -> None:
        self._start = time.monotonic() - before
        self._saved = time.monotonic()

    def seconds(self) -> float:
        """Return the seconds of training so far."""
        return time.monotonic() - self._start

    def saved(self) -> None:
        """Record that a checkpoint was saved."""
        self._saved = time.monotonic()

    def since_saved(self) -> float:
        """Return the seconds since the last checkpoint."""
        return time.monotonic() - self._saved


class _Speed:
    """The current speed in edits per second."""

    def __init__(self) -> None:
        self._marks = [(time.monotonic(), 0)]
        self._edits = 0

    def add(self, edits: int) -> None:
        """Record a batch of edits."""
        self._edits += edits
        self._marks.append((time.monotonic(), self._edits))
        del self._marks[:-200]

    def rate(self) -> float:
        """Return the edits per second over the last 200 batches."""
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
    """Yield an event that Ctrl-C or SIGTERM sets, so that the current step is completed.

    A second signal raises KeyboardInterrupt at once.
    """
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
