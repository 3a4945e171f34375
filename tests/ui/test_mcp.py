"""The server for agents, asked by the client of the SDK over stdio."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.conftest import Repo

ROOT = Path(__file__).parents[2]
TESTS = "".join(f"def test_{at}():\n    self.assertEquals(total({at}), {at})\n\n\n" for at in range(8))
DONE = TESTS.replace("assertEquals", "assertEqual")
READING = {"finish_edits", "find_places", "list_patterns", "explain_pattern"}


@pytest.fixture
def begun(repo: Repo) -> Repo:
    """A work tree in which four of eight calls were renamed by hand."""
    repo.commit({"test_a.py": TESTS})
    repo.write({"test_a.py": TESTS.replace("assertEquals", "assertEqual", 4)})
    return repo


def ask(repo: Path, questions: Callable[[Client], Awaitable[None]], *options: str) -> None:
    """Starts the server in a process of its own and asks it."""
    command = ["-m", "editvec", "mcp", "-C", str(repo), *options]
    environment = {"PYTHONPATH": str(ROOT / "src"), "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"]}
    parameters = StdioServerParameters(command=sys.executable, args=command, env=environment)

    async def run() -> None:
        async with Client(parameters) as client:
            await questions(client)

    asyncio.run(asyncio.wait_for(run(), 120))


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """The structured answer of a tool; it must not be an error."""
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


async def complaint(client: Client, tool: str, **arguments: Any) -> str:
    """The error of a tool."""
    answer = await client.call_tool(tool, arguments)
    assert answer.is_error
    return str(answer.content)


def test_places_are_found_page_by_page_and_nothing_is_written(begun: Repo) -> None:
    async def questions(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == READING
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        first = await call(client, "finish_edits", limit=3)
        assert (first["total"], first["shown"], first["next_cursor"]) == (4, 3, 3)
        rest = await call(client, "finish_edits", limit=3, cursor=3)
        assert (rest["shown"], rest["next_cursor"]) == (1, None)
        ids = [place["id"] for place in first["places"] + rest["places"]]
        assert {name.split("@")[0] for name in ids} == {f"test_a.py:{line}" for line in (18, 22, 26, 30)}
        assert "between 1 and 100" in await complaint(client, "finish_edits", limit=1000)
        assert "not in the work tree" in await complaint(client, "finish_edits", paths=["../"])
        assert "Run editvec learn first" in await complaint(client, "find_places")
        assert "apply_places" in await complaint(client, "apply_places", ids=ids, expected_count=4, dry_run=False)

    before = (begun.path / "test_a.py").read_text()
    ask(begun.path, questions)
    assert (begun.path / "test_a.py").read_text() == before


def test_places_are_written_after_a_dry_run_all_or_none(begun: Repo) -> None:
    file = begun.path / "test_a.py"
    before = file.read_text()

    async def questions(client: Client) -> None:
        ids = [place["id"] for place in (await call(client, "finish_edits"))["places"]]
        dry = await call(client, "apply_places", ids=ids, expected_count=4)
        assert (dry["written"], dry["count"], dry["files"]) == (False, 4, ["test_a.py"])
        assert dry["diff"].count("+    self.assertEqual(") == 4 and file.read_text() == before
        for wrong in ({"ids": ids, "expected_count": 3}, {"ids": [*ids, "x:1@0"], "expected_count": 5}):
            await complaint(client, "apply_places", dry_run=False, **wrong)
        assert file.read_text() == before
        file.write_text(before + "\n")
        assert "has changed" in await complaint(client, "apply_places", ids=ids, expected_count=4, dry_run=False)
        file.write_text(before)
        assert (await call(client, "apply_places", ids=ids, expected_count=4, dry_run=False))["written"]
        assert file.read_text() == DONE

    ask(begun.path, questions, "--allow-write")
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, "-m", "editvec", "undo"], cwd=begun.path, env=environment, check=True)
    assert file.read_text() == before
