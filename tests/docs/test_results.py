"""The results page is what its generator makes, and every number says where it comes from."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATOR = runpy.run_path(str(ROOT / "benchmarks/results.py"))
EXPERIMENTS = sorted((ROOT / "docs/experiments").glob("*.md"))


def test_page_is_what_the_generator_makes() -> None:
    made = GENERATOR["render"](GENERATOR["read"]())
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    assert page == made, "Run `python benchmarks/results.py`."


def test_every_result_has_its_experiment() -> None:
    results = [result for section in GENERATOR["read"]() for result in section["results"]]
    assert results
    for result in results:
        assert (ROOT / f"docs/experiments/{result['experiment']}.md").is_file(), result["experiment"]
        assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", result["date"]), result
        assert all(result[name] for name in ("metric", "value", "data", "command")), result


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_experiments_have_their_headings(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}-[a-z0-9-]+", path.stem)
    assert text.startswith("# ")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Question", "Command", "Result", "Decision"]
