"""Read many mutated inputs with every target of tests/fuzz, and count them: what was read, refused, slow or a bug.

    python benchmarks/fuzz.py --inputs 1000000 -o fuzz.json

Each target gets inputs in proportion to its weight, in turns. A worker process reads them, so that a crash of a parser
or an endless loop costs one input, which is reported by its target, seed and number. To repeat one:

    python benchmarks/fuzz.py --repeat code/rust 0 135

With `--atheris SECONDS`, atheris (pip install atheris) looks for inputs that reach new code in each target that
`--only` names.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.fuzz.mutation import mutated
from tests.fuzz.targets import FuzzTarget, targets

CHUNK = 20
"""Inputs of a target of weight 1 in a turn."""
SLOW = 5.0
"""Seconds from which on an input counts as slow."""
ENDLESS = 120.0
"""Seconds after which a worker is killed."""


@dataclass(slots=True)
class TargetReport:
    """What became of the inputs of a target."""

    inputs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    """Number and error of the first inputs that were bugs."""
    slowest: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "inputs": self.inputs,
            "outcomes": dict(+self.outcomes),
            "failures": self.failures,
            "slowest": self.slowest,
        }


def check(target: FuzzTarget, seed: int, start: int, stop: int, current: Path, report: TargetReport) -> None:
    """Read the inputs [start, stop) of a target; the number at work is kept in a file for the parent."""
    with current.open("wb", buffering=0) as mark:
        for number in range(start, stop):
            os.pwrite(mark.fileno(), b"%20d" % number, 0)
            began = time.perf_counter()
            try:
                outcome = target.check(seed, number)
            except Exception as error:
                outcome = "bug"
                if len(report.failures) < 20:
                    report.failures.append(f"{number}: {type(error).__name__}: {str(error)[:200]}")
            seconds = time.perf_counter() - began
            report.outcomes[outcome] += 1
            report.outcomes["slow"] += seconds > SLOW
            report.slowest = max(report.slowest, round(seconds, 2))
            report.inputs += 1


def worker(seed: int, chunks: list[tuple[str, int, int]], current: Path, reported: Path) -> None:
    """Read chunks of inputs and write what became of them after each chunk."""
    with tempfile.TemporaryDirectory() as folder, targets(Path(folder) / "files") as found:
        by_name = {target.name: target for target in found}
        for name, start, stop in chunks:
            report = TargetReport()
            check(by_name[name], seed, start, stop, current, report)
            with reported.open("ab") as stream:
                stream.write(orjson.dumps([name, report.as_json()]) + b"\n")


def run_chunks(seed: int, chunks: list[tuple[str, int, int]], totals: dict[str, TargetReport], folder: Path) -> None:
    """Run chunks in worker processes; an input that ends a worker is counted as a crash or as endless."""
    current, reported = folder / "current", folder / "reported"
    while chunks:
        reported.unlink(missing_ok=True)
        current.write_bytes(b"")
        command = [sys.executable, __file__, "--worker", str(seed), orjson.dumps(chunks).decode(), str(folder)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        reason = _wait(process, current)
        done = 0
        for line in reported.read_bytes().splitlines() if reported.exists() else []:
            name, report = orjson.loads(line)
            _add(totals[name], report)
            done += 1
        chunks = chunks[done:]
        if not chunks or not reason:
            return
        name, start, stop = chunks[0]
        if not current.read_bytes():
            raise SystemExit(f"a worker could not begin ({reason}). Run it by hand: {' '.join(command)}")
        number = int(current.read_bytes())
        totals[name].outcomes[reason] += 1
        totals[name].inputs += 1
        totals[name].failures.append(f"{number}: {reason}")
        # What came before it in the chunk is read again and counted then.
        parts = [(name, start, number), (name, number + 1, stop)]
        chunks = [part for part in parts if part[1] < part[2]] + chunks[1:]


def _wait(process: subprocess.Popen[bytes], current: Path) -> str:
    """Return why a worker ended: nothing, a crash, or an endless input, after which it is killed."""
    last, since = b"", time.monotonic()
    while True:
        try:
            code = process.wait(1)
            return "" if code == 0 else f"crash {code}"
        except subprocess.TimeoutExpired:
            now = current.read_bytes()
            if now != last:
                last, since = now, time.monotonic()
            elif now and time.monotonic() - since > ENDLESS:
                process.kill()
                process.wait()
                return "endless"


def _add(total: TargetReport, report: dict[str, Any]) -> None:
    total.inputs += report["inputs"]
    total.outcomes.update(report["outcomes"])
    total.failures = (total.failures + report["failures"])[:20]
    total.slowest = max(total.slowest, report["slowest"])


def summary(totals: dict[str, TargetReport], seed: int, seconds: float) -> dict[str, Any]:
    """Return the report: all counts, by target and together."""
    together = Counter[str]()
    for each in totals.values():
        together.update(each.outcomes)
    return {
        "seed": seed,
        "inputs": sum(each.inputs for each in totals.values()),
        "outcomes": dict(sorted((name, count) for name, count in together.items() if count)),
        "seconds": round(seconds),
        "targets": {name: each.as_json() for name, each in totals.items()},
    }


def atheris_run(target: FuzzTarget, seconds: int) -> None:
    """Let atheris look for inputs that reach new code; it ends the process at the first bug and keeps the input."""
    import atheris

    corpus = Path(tempfile.mkdtemp(prefix="editvec-atheris-"))
    for number, seed in enumerate(target.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    atheris.instrument_all()
    atheris.Setup([sys.argv[0], str(corpus), f"-max_total_time={seconds}", "-timeout=60"], target.check_input)
    atheris.Fuzz()


def main() -> None:
    """Parse the arguments and run."""
    if sys.argv[1:2] == ["--worker"]:
        folder = Path(sys.argv[4])
        worker(int(sys.argv[2]), orjson.loads(sys.argv[3]), folder / "current", folder / "reported")
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=20_000, help="number of inputs")
    parser.add_argument("--minutes", type=float, default=600, help="time limit")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="targets whose name has this text")
    parser.add_argument("--repeat", nargs=3, metavar=("TARGET", "SEED", "NUMBER"), help="read one input again")
    parser.add_argument("--atheris", type=int, metavar="SECONDS", help="coverage-guided inputs for one target")
    parser.add_argument("-o", "--out", type=Path, help="file for the report as JSON, written after every turn")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, targets(Path(name) / "files") as found:
        if given.repeat:
            target = next(each for each in found if each.name == given.repeat[0])
            data = mutated(target.seeds, target.name, int(given.repeat[1]), int(given.repeat[2]))
            print(data)
            print(target.check_input(data))
            return
        chosen = [target for target in found if given.only in target.name]
        if given.atheris:
            atheris_run(chosen[0], given.atheris)
            return
        weights = {target.name: target.weight for target in chosen}
    run(weights, given)


def run(weights: dict[str, int], given: argparse.Namespace) -> None:
    """Read inputs of all targets in turns until there are enough, and print the report."""
    totals = {name: TargetReport() for name in weights}
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="editvec-fuzz-"))
    turn = 0
    try:
        while sum(each.inputs for each in totals.values()) < given.inputs:
            if time.monotonic() - began > 60 * given.minutes:
                break
            size = min(CHUNK, max(1, given.inputs // sum(weights.values())))
            chunks = [(name, turn * size * weight, (turn + 1) * size * weight) for name, weight in weights.items()]
            run_chunks(given.seed, chunks, totals, folder)
            turn += 1
            report = summary(totals, given.seed, time.monotonic() - began)
            if given.out:
                given.out.write_bytes(orjson.dumps(report, option=orjson.OPT_INDENT_2))
            print(f"{report['inputs']:,} inputs, {report['outcomes']}, {report['seconds']} s", flush=True)
    finally:
        shutil.rmtree(folder)
    for name, each in totals.items():
        for failure in each.failures:
            print(f"{name} {given.seed} {failure}")


if __name__ == "__main__":
    main()
