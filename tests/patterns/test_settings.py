"""What the settings and comments of a project change for learn, find, apply and mute."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import editvec
from editvec.core.errors import UserError
from editvec.patterns.pattern import MIN_CONFIDENCE
from editvec.suggest.complete import LIKELY
from tests.cli.run import run

EXAMPLE = Path(__file__).parents[2] / "examples" / "demo_history.py"
REPORT, REFUNDS = "tools/report.py", "tools/refunds.py"


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("settings") / "shop"
    subprocess.run([sys.executable, str(EXAMPLE), str(place)], check=True, capture_output=True)
    editvec.learn(place, model="none", workers=1)
    return place


@pytest.fixture
def shop(learned: Path, tmp_path: Path) -> Path:
    """A repository with learned patterns, for each test alone."""
    return Path(shutil.copytree(learned, tmp_path / "shop"))


def places(shop: Path, *patterns: str, paths: tuple[Path, ...] = (), **options: object) -> set[str]:
    """The files and lines where patterns are due."""
    found = editvec.find(patterns, paths, repo=shop, **options)  # type: ignore[arg-type]
    return {f"{each.path}:{each.line}" for pattern in found.patterns for each in pattern.suggestions}


def test_find_reads_what_the_settings_leave(shop: Path) -> None:
    everything = places(shop, "add-is")
    assert len(everything) == 5
    (shop / "editvec.toml").write_text('exclude = ["tools/report.py"]\n')
    assert places(shop, "add-is") == {each for each in everything if REPORT not in each}
    assert places(shop, "add-is", isolated=True) == everything
    assert places(shop, "add-is", paths=(shop / REPORT,)) == {f"{REPORT}:32"}
    assert places(shop, "add-is", paths=(shop / REPORT,), force_exclude=True) == set()
    assert places(shop, "add-is", paths=(shop / "tools",)) == places(shop, "add-is")
    (shop / "editvec.toml").write_text('languages = ["csharp"]\n')
    assert places(shop, "add-is") == set()
    (shop / "editvec.toml").unlink()
    (shop / ".ignore").write_text("/tools/refunds.py\n")
    assert places(shop, "add-is") == {each for each in everything if REFUNDS not in each}


def test_a_pattern_is_as_certain_in_one_file_as_in_all(shop: Path) -> None:
    (alone,) = editvec.find(["add-is"], [shop / REPORT], repo=shop).patterns
    (whole,) = editvec.find(["add-is"], repo=shop).patterns
    assert alone.confidence == whole.confidence


def test_thresholds_of_the_project_and_of_a_pattern(shop: Path) -> None:
    (shop / "editvec.toml").write_text("min-confidence = 0.99\n")
    assert places(shop) == set()
    assert len(places(shop, "add-is", min_confidence=0.1)) == 5
    (shop / "editvec.toml").write_text("min-confidence = 0.99\n[pattern.add-is]\nmin-confidence = 0.5\n")
    assert places(shop) == places(shop, "add-is")
    with pytest.raises(UserError, match="--everywhere"):
        editvec.apply("1", repo=shop)


def test_the_folder_of_patterns_can_be_set(shop: Path) -> None:
    (shop / ".editvec").rename(shop / "rules-of-ours")
    with pytest.raises(UserError, match="editvec learn first"):
        editvec.find(repo=shop)
    (shop / "editvec.toml").write_text('patterns = "rules-of-ours"\n')
    assert len(places(shop, "add-is")) == 5
    assert editvec.apply("add-is", repo=shop).num_matches == 5


def test_learn_reads_what_the_settings_leave(shop: Path, tmp_path: Path) -> None:
    (shop / "editvec.toml").write_text('languages = ["python"]\nexclude = ["tools/s*.py"]\n')
    found = editvec.learn(shop, tmp_path / "out", model="none", workers=1)
    assert {pattern.language for pattern in found.patterns} == {"python"}
    paths = {edit.source.path for edit in found.edits if edit.source}
    paths |= {place.path for pattern in found.patterns for place in pattern.suggestions}
    assert paths and not any(path.startswith("tools/s") for path in paths)
    (shop / "editvec.toml").write_text('since = "2100-01-01"\n')
    assert editvec.learn(shop, tmp_path / "none", model="none", workers=1).edits == []


@pytest.mark.parametrize("name", ["add-is", "id"])
def test_comments_suppress_by_name_and_by_id(shop: Path, name: str) -> None:
    (pattern,) = editvec.find(["add-is"], repo=shop).patterns
    word = pattern.id if name == "id" else name
    file = shop / REPORT
    lines = file.read_text().splitlines()
    lines[31] += f"  # editvec: ignore[{word}]"
    lines.append("# editvec: ignore[add-is, no-such-pattern]")
    file.write_text("\n".join(lines) + "\n")
    found = editvec.find(["add-is"], repo=shop)
    assert f"{REPORT}:32" not in places(shop, "add-is") and len(places(shop, "add-is")) == 4
    assert [(each.suggestion.line, each.silence.text) for each in found.suppressed] == [(32, "a comment in line 32")]
    assert [(each.line, each.name) for each in found.unused] == [(len(lines), "add-is")]
    assert "suppresses nothing" in run("find", "add-is", cwd=shop).stderr
    assert editvec.apply("add-is", repo=shop).num_matches == 4


@pytest.mark.parametrize("name", ["editvec.toml", "pyproject.toml"])
def test_mute_keeps_what_stands_in_the_file(shop: Path, name: str) -> None:
    before = "# our settings\n[tool.editvec]\n" if name == "pyproject.toml" else "# our settings\n"
    before += 'exclude = [  # why\n  "a",\n]\n'
    behind = "\n[tool.other]\na = 1  # one\n" if name == "pyproject.toml" else ""
    (shop / name).write_text(before + behind)
    done = run("mute", "add-is", "--path", "/tools/report.py", "--reason", 'we "like" it', cwd=shop)
    assert name in done.stdout
    text = (shop / name).read_text()
    for kept in (before, behind.strip()):
        assert kept in text
    assert "# add-is: $X == None → $X is None" in text
    assert f"{REPORT}:32" not in places(shop, "add-is") and len(places(shop, "add-is")) == 4
    assert not editvec.mute("add-is", path="/tools/report.py", repo=shop).is_new
    assert (shop / name).read_text() == text
    assert editvec.mute("add-is", repo=shop).is_new
    assert places(shop, "add-is") == set()
    assert editvec.apply("add-is", repo=shop).num_matches == 0


def test_mute_makes_a_file_and_knows_its_patterns(shop: Path) -> None:
    assert editvec.mute("1", repo=shop / "src").path == shop / "editvec.toml"
    assert len(places(shop)) == 23
    with pytest.raises(UserError, match="no pattern 'nothing'"):
        editvec.mute("nothing", repo=shop)


def test_only_likely_places_are_written_unless_possible_ones_are_asked_for(shop: Path) -> None:
    (pattern,) = editvec.find(["add-is"], repo=shop).patterns
    assert MIN_CONFIDENCE <= pattern.confidence < LIKELY
    assert run("find", "add-is", "-U", cwd=shop).stdout == "0 places in 0 files written.\n"
    assert run("find", "add-is", "--diff", cwd=shop).stdout == ""
    with pytest.raises(UserError, match="possible, not likely"):
        editvec.apply("add-is", repo=shop, update=True)
    patch = run("find", "add-is", "--diff", "--possible", cwd=shop).stdout
    before = (shop / REPORT).read_text()
    assert run("find", "add-is", "-U", "--possible", cwd=shop).stdout.startswith("5 places in 3 files written.")
    assert "is None" in patch and (shop / REPORT).read_text() == before.replace("encoding == None", "encoding is None")
    assert places(shop, "add-is") == set()
    editvec.undo(shop)
    assert (shop / REPORT).read_text() == before
    assert len(editvec.apply("add-is", repo=shop, update=True, possible=True).plans) == 3


def test_likely_places_are_written(shop: Path) -> None:
    believe(shop)
    assert run("find", "add-is", "-U", cwd=shop).stdout.startswith("5 places")


def test_a_pattern_that_is_only_reported_is_never_written(shop: Path) -> None:
    believe(shop)
    (shop / "editvec.toml").write_text("[pattern.add-is]\nreport-only = true\n")
    assert len(places(shop, "add-is")) == 5
    assert editvec.find(["add-is"], repo=shop, update=True, possible=True).num_written == 0
    with pytest.raises(UserError, match="report-only"):
        editvec.apply("add-is", repo=shop, update=True, everywhere=True)


def believe(shop: Path) -> None:
    """Makes the history say that people edit all places of the pattern."""
    file = shop / ".editvec/patterns.json"
    document = json.loads(file.read_bytes())
    for each in document["patterns"]:
        each["evidence"] |= {"matched": 90, "edited": 90}
    file.write_text(json.dumps(document))


def test_a_baseline_lists_known_places_and_becomes_shorter(shop: Path) -> None:
    known = shop / "known.json"
    check = ("find", "--check", "--baseline", known)
    run("find", "--check", "--new-only", "--baseline", known, cwd=shop, code=2)
    run("find", "--check", cwd=shop, code=1)
    assert "28 places, 28 known" in run(*check, cwd=shop).stderr
    assert len(json.loads(known.read_bytes())["places"]) == 28
    file = shop / REPORT
    file.write_text("\n\n" + file.read_text() + "\ndef late(found):\n    return found == None\n")
    assert "29 places, 28 known" in run(*check, cwd=shop, code=1).stderr
    new = run(*check, "--new-only", "--format", "json", cwd=shop, code=1)
    assert [each["before"] for each in json.loads(new.stdout)] == ["found == None"]
    file.write_text(file.read_text().replace("encoding == None", "encoding is None"))
    assert run(*check, "--new-only", "add-is", cwd=shop, code=1).stderr.endswith("1 place.\n")
    assert len(json.loads(known.read_bytes())["places"]) == 28, "only a whole search makes it shorter"
    run(*check, cwd=shop, code=1)
    assert len(json.loads(known.read_bytes())["places"]) == 27
    known.write_text("{}")
    run(*check, cwd=shop, code=3)


@pytest.mark.parametrize("name", ["gitlab", "rdjson", "sarif", "json"])
def test_each_format_lists_all_places(shop: Path, name: str) -> None:
    document = json.loads(run("find", "--format", name, cwd=shop).stdout)
    if name == "sarif":
        document = document["runs"][0]["results"]
    assert len(document["diagnostics"] if name == "rdjson" else document) == 28
    assert len(run("find", "--format", "github", cwd=shop).stdout.splitlines()) == 28
