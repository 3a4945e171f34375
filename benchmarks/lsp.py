"""Measure the language server: its start, its memory, and whether it keeps up while somebody types.

A script plays an editor with one server and one clone:

- start: from starting the process to the answer of `initialize`, in seconds, and the processor's share of it;
- memory: the resident memory when the first document is open and nothing happens;
- typing: changes of one document, ten per second, in bursts with pauses after which the server searches. After every
  change, the script asks for the actions at the cursor as an editor does for its light bulb. The time until the answer
  is what a person could notice. The same questions are asked while nothing else happens, as a measure of the machine;
- work: the processor's time of a burst, with all its changes, questions and searches;
- places: from the last change of a burst to the offer for it, without the pause that the server waits for.

One change in every burst is a real edit: an occurrence of `--old` in the document becomes `--new`.

    python benchmarks/lsp.py path/to/clone --file hugolib/page.go --old herrors.Improve --new errs.Improve
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
from lsprotocol import types
from pygls.lsp.client import LanguageClient
from pygls.uris import from_fs_path

STARTS = 5
BURSTS = 8
KEYS = 20
PAUSE = 0.1
IDLE = 0.5


class TypingEditor:
    """A client that measures."""

    def __init__(self, folder: Path, file: Path) -> None:
        self.client = LanguageClient("benchmark", "1")
        self.folder, self.uri = folder, str(from_fs_path(str(file)))
        self.lines = file.read_text(encoding="utf-8").split("\n")
        self.version = 1

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def ignore(params: types.PublishDiagnosticsParams) -> None:
            """Take the hints, which are not measured."""

    async def start(self) -> tuple[float, float]:
        """Start the server; the seconds until its answer, and those of them that the processor worked."""
        begun = time.perf_counter()
        await self.client.start_io(sys.executable, "-m", "editvec", "lsp")
        await self.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(),
                workspace_folders=[types.WorkspaceFolder(str(from_fs_path(str(self.folder))), "clone")],
                initialization_options={"idleSeconds": IDLE},
            )
        )
        seconds = time.perf_counter() - begun
        used = self.process.cpu_times()
        self.client.initialized(types.InitializedParams())
        return seconds, used.user + used.system

    @property
    def process(self) -> psutil.Process:
        """The server's process."""
        server = self.client._server
        assert server is not None
        return psutil.Process(server.pid)

    async def stop(self) -> None:
        """End the server."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()  # type: ignore[no-untyped-call]

    def open(self) -> None:
        """Open the document."""
        item = types.TextDocumentItem(self.uri, "text", self.version, "\n".join(self.lines))
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def write(self, line: int, start: int, end: int, text: str) -> None:
        """Replace a part of a line."""
        self.version += 1
        span = types.Range(types.Position(line, start), types.Position(line, end))
        self.lines[line] = self.lines[line][:start] + text + self.lines[line][end:]
        change = types.TextDocumentContentChangePartial(range=span, text=text)
        identity = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identity, [change]))

    async def ask(self, line: int, *, automatic: bool = True) -> tuple[float, Sequence[object]]:
        """Ask for the actions at a line; the seconds until the answer, and the actions."""
        kind = types.CodeActionTriggerKind.Automatic if automatic else types.CodeActionTriggerKind.Invoked
        at = types.Position(line, 0)
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(self.uri),
            types.Range(at, at),
            types.CodeActionContext([], trigger_kind=kind),
        )
        begun = time.perf_counter()
        found = await self.client.text_document_code_action_async(params)
        return time.perf_counter() - begun, found or ()


async def burst(editor: TypingEditor, line: int, old: str, new: str) -> tuple[list[float], float | None]:
    """Make one edit and type a comment behind it; the times of the answers, and the time until the offer."""
    times = []
    start = editor.lines[line].index(old)
    editor.write(line, start, start + len(old), new)
    for key in range(KEYS):
        end = len(editor.lines[line])
        editor.write(line, end, end, " // note"[key] if key < 8 else "x")
        seconds, _ = await editor.ask(line)
        times.append(seconds)
        await asyncio.sleep(PAUSE)
    last = time.perf_counter()
    for _ in range(400):
        _, found = await editor.ask(line)
        if found:
            return times, time.perf_counter() - last - IDLE + PAUSE
        await asyncio.sleep(0.02)
    return times, None


async def measure(folder: Path, file: Path, old: str, new: str) -> dict[str, object]:
    """Return what was measured."""
    starts = []
    for _ in range(STARTS):
        editor = TypingEditor(folder, file)
        starts.append(await editor.start())
        await editor.stop()
    editor = TypingEditor(folder, file)
    await editor.start()
    editor.open()
    await asyncio.sleep(3 + IDLE)
    memory = editor.process.memory_info().rss
    calm = [(await editor.ask(0))[0] for _ in range(100)]
    places = [number for number, text in enumerate(editor.lines) if old in text][:BURSTS]
    times: list[float] = []
    work: list[float] = []
    offers: list[float] = []
    for line in places:
        before = sum(editor.process.cpu_times()[:2])
        some, offer = await burst(editor, line, old, new)
        work.append(sum(editor.process.cpu_times()[:2]) - before)
        times += some
        offers += [] if offer is None else [offer]
    await asyncio.sleep(3 + IDLE)
    after = editor.process.memory_info().rss
    await editor.stop()
    return {
        "start, wall seconds": [round(wall, 3) for wall, _ in starts],
        "start, processor seconds": [round(cpu, 3) for _, cpu in starts],
        "idle memory, MB": round(memory / 1e6, 1),
        "idle memory after typing, MB": round(after / 1e6, 1),
        "answers in calm, ms": quantiles(calm),
        "answers while typing, ms": quantiles(times),
        "from the last key to the offer, without the pause, ms": quantiles(offers),
        "processor seconds of a burst": [round(each, 2) for each in work],
        "offers": f"{len(offers)} of {len(places)} bursts",
    }


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """The median, the 95th percentile and the maximum, in milliseconds."""
    if len(seconds) < 2:
        return {"n": len(seconds)}
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    facts = {"p50": cuts[9], "p95": cuts[18], "max": max(seconds)}
    return {"n": len(seconds), **{name: round(1e3 * each, 1) for name, each in facts.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clone", type=Path)
    parser.add_argument("--file", required=True, help="a file of the clone, in which the script types")
    parser.add_argument("--old", required=True)
    parser.add_argument("--new", required=True)
    given = parser.parse_args()
    folder = given.clone.resolve()
    print(json.dumps(asyncio.run(measure(folder, folder / given.file, given.old, given.new)), indent=2))


if __name__ == "__main__":
    main()
