"""The main job over a small real history: what is found, verified, still due; and what is left behind on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner, Result

from editvec.cli import app
from editvec.core.edit import Edit, Version
from editvec.core.errors import BadInputError, UserError
from editvec.core.files import write_atomically
from editvec.core.match import Match
from editvec.data import edit_files
from editvec.data.progress import ignore
from editvec.data.project import Project
from editvec.mining import run
from editvec.mining.batch import MiningTask
from editvec.mining.options import pick_languages
from editvec.mining.recipes import get_recipe
from editvec.neural import vocab
from editvec.neural.model import EditModel, load
from editvec.patterns import folder
from editvec.patterns.apply import apply
from editvec.patterns.document import LearnedFrom, PatternEntry
from editvec.patterns.find import find_suggestions
from editvec.patterns.pattern import MIN_CONFIDENCE, RESERVED
from editvec.patterns.pipeline import Learned, LearnRequest, learn_patterns
from editvec.patterns.ranking import Course, section_of
from editvec.patterns.rules import is_of_imports
from editvec.suggest.editor import calibrate, find_by_editor, finder_like
from editvec.suggest.evidence import Evidence
from editvec.suggest.few_shot import FewShotEditor
from editvec.suggest.match import keep_sound
from editvec.syntax.languages import Language, known
from editvec.syntax.snippet import snippet_edit
from editvec.ui.report.patterns import render
from editvec.ui.report.sarif import sarif
from editvec.vcs.git import open_repository
from editvec.vcs.worktree import File, worktree_files
from tests.conftest import Repo
from tests.neural.edits import learn_by_heart, small_config, small_model

EXAMPLE = Path(__file__).parents[2] / "examples" / "demo_history.py"


def _save(target: Path, learned: Learned, about: dict[str, object], page: str) -> None:
    folder.save(target, learned.patterns, learned.edits, about, page)


ABOUT = {"version": "0", "repository": "shop", "head": "", "commits": 0, "hunks": 0, "edits": 0}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("learning") / "shop"
    subprocess.run([sys.executable, str(EXAMPLE), str(place)], check=True, capture_output=True)
    return place


def _request(repository: Path, recipe: str = "default") -> LearnRequest:
    chosen = get_recipe(recipe)
    task = MiningTask(open_repository(repository), chosen, pick_languages((), chosen), ())
    return LearnRequest(run.MiningRequest(task, workers=1, resume=False))


@pytest.fixture(scope="module")
def learned(shop: Path) -> Learned:
    return learn_patterns(_request(shop))


def test_the_patterns_of_the_shop_are_found_and_proved(learned: Learned) -> None:
    changes = {(pattern.before, pattern.after): pattern for pattern in learned.patterns if pattern.rule}
    empty = changes["Assert.Equal(0, $X.Count)", "Assert.Empty($X)"]
    assert (empty.num_edits, empty.commits, empty.authors) == (8, 5, 3)
    assert empty.title == "use `Assert.Empty($X)` instead of `Assert.Equal(0, $X.Count)`"
    assert empty.quotation == "Assert.Empty reads better"
    assert ("$X == null ? null : $X.$M", "$X?.$M") in changes
    assert ("$X == None", "$X is None") in changes
    assert any("ConfigureAwait(false)" in after for _, after in changes)


def test_places_are_what_the_people_left(shop: Path, learned: Learned) -> None:
    by_change = {pattern.before: pattern for pattern in learned.patterns}
    assert sorted(place.path for place in by_change["$X == null ? null : $X.$M"].suggestions) == [
        "src/Orders.cs",
        "src/Refunds.cs",
        "src/Suppliers.cs",
    ]
    for pattern in learned.patterns:
        for place in pattern.suggestions:
            data = (shop / place.path).read_bytes()
            assert data[place.start : place.end].decode() == place.before
            assert (
                data.decode().splitlines()[place.line - 1][place.column - 1 :].startswith(place.before.split("\n")[0])
            )
            assert place.before != place.after


def test_the_same_history_gives_the_same_patterns(shop: Path, learned: Learned) -> None:
    again = learn_patterns(_request(shop))
    assert [PatternEntry.of(pattern, 1, {}) for pattern in again.patterns] == [
        PatternEntry.of(pattern, 1, {}) for pattern in learned.patterns
    ]


def test_a_record_is_believed_by_what_people_did() -> None:
    assert Evidence(10, 10).confidence > 0.9
    assert Evidence(10, 2).confidence < 0.3
    assert Evidence(10, 10, reversed=10).confidence < Evidence(10, 10).confidence / 1.5
    assert Evidence(10, 10, left=100).confidence < 0.35
    assert Evidence(2, 2).confidence < Evidence(20, 20).confidence
    assert Evidence(10, 10, left=8, years=9).confidence < Evidence(10, 10, left=8).confidence
    assert Evidence(10, 10, years=9).confidence < Evidence(10, 10).confidence / 2


def test_a_promise_is_not_due_by_itself(shop: Path, learned: Learned) -> None:
    pattern = next(each for each in learned.patterns if each.rule and each.language == "csharp" and each.suggestions)
    files = list(worktree_files(open_repository(shop), {"csharp"}))
    assert not pattern.reserved
    places = find_suggestions([pattern], files, MIN_CONFIDENCE, lambda *done: None).patterns[pattern.name].suggestions
    assert places
    promise = replace(pattern, reserved="whether `readonly` holds depends on other code")
    shown, possible = (
        find_suggestions([promise], files, least, lambda *done: None).patterns[pattern.name].suggestions
        for least in (MIN_CONFIDENCE, RESERVED)
    )
    assert shown == ()
    assert [each.start for each in possible] == [each.start for each in places]
    assert all(each.confidence <= RESERVED and each.why.endswith(promise.reserved) for each in possible)


def test_a_place_that_would_not_parse_is_no_place(shop: Path, learned: Learned) -> None:
    pattern = next(each for each in learned.patterns if each.before == "$X == null ? null : $X.$M")
    assert pattern.rule is not None
    broken = replace(pattern.rule, yaml=pattern.rule.yaml.replace("fix: $X?.$M", "fix: $X?.($M"))
    assert broken != pattern.rule
    files = list(worktree_files(open_repository(shop), {"csharp"}))
    (found,) = find_suggestions([replace(pattern, rule=broken)], files, 0.0, ignore).patterns.values()
    assert found.suggestions == ()
    assert found.evidence is not None and found.evidence.left == 3


@pytest.mark.parametrize(
    ("language", "imported", "used"),
    [
        ("csharp", "using A.B;", "class C {\n  object F = A.B;\n}"),
        ("java", "import A.B;", "class C {\n  Object f = A.B;\n}"),
        ("python", "from A.B import c", "A.B()"),
        ("go", 'package p\n\nimport A.B "x"', "var c = A.B"),
        ("rust", "use A.B;", "fn f() {\n  A.B();\n}"),
        ("cpp", "#include <A.B>", "int f() {\n  return A.B;\n}"),
        ("javascript", 'import c from "A.B";', "A.B();"),
        ("typescript", 'import c from "A.B";', "A.B();"),
    ],
)
def test_an_import_is_not_due_by_itself(language: str, imported: str, used: str) -> None:
    data = f"{imported}\n\n{used}\n".encode()
    first, second = data.index(b"A.B"), data.rindex(b"A.B")
    matches = [Match("r", start, start + 3, "A.B", "A.D") for start in (first, second)]
    assert [match.start for match in keep_sound(File("f", language, data), matches)] == [second]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("go", '"github.com/pkg/errors"', True),
        ("go", 'import "fmt"', True),
        ("go", 'log "fmt"', True),
        ("go", 'name := "fmt"', False),
        ("go", "return nil", False),
        ("python", "from os import path", True),
        ("python", "import_all(path)", False),
        ("csharp", "using System.Linq;", True),
        ("csharp", "Using(System.Linq);", False),
        ("markdown", "import this", False),
    ],
)
def test_imports_are_told_from_other_code(language: str, text: str, expected: bool) -> None:
    edit = Edit("", language, Version(text, ()), Version(text, ()))
    assert is_of_imports(edit) is expected


def test_imports_are_units() -> None:
    for language in known().values():
        if isinstance(language, Language):
            assert language.imports and language.imports <= language.units


def test_single_words_of_prose_are_only_possible(tmp_path: Path) -> None:
    _history(
        tmp_path,
        "guide.md",
        ["You use this tool. We use that tool.\n\nThey use one tool. All use the same.\n"],
        [(f"{who} use", f"{who} employ") for who in ("You", "We", "They")],
    )
    (pattern,) = [each for each in learn_patterns(_request(tmp_path, "prose")).patterns if each.rule]
    assert pattern.suggestions == ()
    assert "another sense" in pattern.reserved
    shown = learn_patterns(replace(_request(tmp_path, "prose"), min_confidence=RESERVED)).patterns
    assert [place.before for each in shown for place in each.suggestions] == ["use"]


def test_merges_reverts_and_what_was_reverted_are_no_evidence(tmp_path: Path) -> None:
    changes = [(f"a{at} == None", f"a{at} is None") for at in range(6)]
    text = "".join(f"if a{at} == None: f({at})\n\n" for at in range(9))
    _history(tmp_path, "a.py", [text], changes, message="Merge branch 'x' of y, part")
    assert learn_patterns(_request(tmp_path)).patterns == []


def test_only_the_chosen_authors_paths_and_numbers_are_learned_and_shown(shop: Path) -> None:
    request = _request(shop)
    most, every = learn_patterns(replace(request, top=1)).patterns, learn_patterns(request).patterns
    assert len(most) == len({section_of(pattern) for pattern in every}) < len(every)
    assert most[0].name == every[0].name
    of_one = learn_patterns(replace(request, authors=("ada",), min_commits=1))
    assert {edit.source.author for edit in of_one.edits if edit.source} == {"Ada Okafor"}
    mining = replace(request.mining, task=replace(request.mining.task, paths=("tools",)))
    below = learn_patterns(replace(request, mining=mining))
    places = [place.path for each in below.patterns for place in each.suggestions]
    assert places and all(path.startswith("tools/") for path in places)


def test_prose_is_learned_too(tmp_path: Path) -> None:
    _history(
        tmp_path,
        "guide.md",
        ["You can not go. We can not stay.\n\nThey can not eat. All can not win.\n"],
        [("You can not", "You cannot"), ("We can not", "We cannot"), ("They can not", "They cannot")],
    )
    found = learn_patterns(_request(tmp_path, "prose"))
    (pattern,) = [each for each in found.patterns if each.rule]
    assert [place.before for place in pattern.suggestions] == ["can not"]
    assert pattern.suggestions[0].after == "cannot"


def test_a_folder_gives_back_what_was_saved(learned: Learned, tmp_path: Path) -> None:
    _save(tmp_path, learned, ABOUT, "<p>")
    known = folder.load(tmp_path)
    assert [(each.name, each.rule, each.evidence and each.evidence.as_json()) for each in known] == [
        (each.name, each.rule, each.evidence and each.evidence.as_json()) for each in learned.patterns
    ]
    assert folder.pick(known, ["2", known[0].name]) == [known[1], known[0]]
    with pytest.raises(UserError, match="no pattern '77'"):
        folder.pick(known, ["77"])
    assert not (tmp_path / ".gitignore").exists()  # a folder of one's own can be committed
    text = (tmp_path / "patterns.json").read_text()
    (tmp_path / "patterns.json").write_text(text.replace("rules/", "../../rules/").replace('.yml"', '.sh"'))
    with pytest.raises(BadInputError, match="not the name of a rule"):
        folder.load(tmp_path)
    (tmp_path / "patterns.json").write_text("{}")
    with pytest.raises(BadInputError, match="learn again"):
        folder.load(tmp_path)


def test_an_older_document_is_one_clear_error(learned: Learned, tmp_path: Path) -> None:
    _save(tmp_path, learned, ABOUT, "<p>")
    document = orjson.loads((tmp_path / "patterns.json").read_bytes()) | {"schema": 3}
    (tmp_path / "patterns.json").write_bytes(orjson.dumps(document))
    with pytest.raises(BadInputError, match=r"schema version 3, .* reads 4\. Run editvec learn again"):
        folder.load(tmp_path)


def _with_a_variant(learned: Learned) -> Learned:
    """The same with the second pattern as a variant of the first, as a migration that only its author can decide on."""
    first, second, *others = [pattern for pattern in learned.patterns if pattern.rule]
    second = second.with_suggestions(())
    joined = replace(first, variants=(second,), course=Course.MIGRATION, num_reversed=1, reserved="who knows")
    return replace(learned, patterns=[*others, joined])


def test_variants_are_saved_picked_and_applied_with_their_pattern(shop: Path, learned: Learned, tmp_path: Path) -> None:
    joined = _with_a_variant(learned)
    _save(tmp_path, joined, ABOUT, "<p>")
    known = folder.load(tmp_path)
    wanted, found = joined.patterns[-1], known[-1]
    for name in ("title", "quotation", "kind", "course", "num_reversed", "reserved", "confidence", "done"):
        assert getattr(found, name) == getattr(wanted, name)
    assert [each.rule for each in found.rules] == [each.rule for each in wanted.rules]
    (variant,) = folder.pick(known, [wanted.variants[0].name])
    assert variant.rule == wanted.variants[0].rule
    both = apply(str(len(known)), repo=shop, patterns=tmp_path, everywhere=True)
    alone = apply(variant.name, repo=shop, patterns=tmp_path, everywhere=True)
    assert both.num_matches > alone.num_matches > 0
    due = apply(str(len(known)), repo=shop, patterns=tmp_path)  # the variant is due, and the reserved rule is not
    assert due.num_matches == alone.num_matches
    with pytest.raises(UserError, match="no pattern"):
        folder.pick(known, ["none-of-them"])


def test_the_report_shows_sections_rules_and_what_was_learned_from(learned: Learned) -> None:
    joined = _with_a_variant(learned)
    page = render(joined.patterns, {**ABOUT, "learned_from": LearnedFrom(since="2025-01-01", authors=["Ada"])})
    assert page.index("<h2>Habits</h2>") < page.index("<h2>Migrations</h2>")
    assert "Learned only from commits since 2025-01-01, edits of Ada." in page
    assert "only possible: who knows" in page
    assert "2 rules" in page and "% done" in page


def _fewer(learned: Learned) -> Learned:
    """The same without a rule, and that rule's name in the folder."""
    ruled = [pattern for pattern in learned.patterns if pattern.rule]
    return replace(learned, patterns=[pattern for pattern in learned.patterns if pattern is not ruled[0]])


def _rule_names(place: Path) -> set[str]:
    return {file.name for file in (place / "rules").iterdir()}


def test_only_what_learn_wrote_is_replaced_or_removed(learned: Learned, tmp_path: Path) -> None:
    _save(tmp_path, learned, ABOUT, "<p>")
    first = _rule_names(tmp_path)
    manifest = orjson.loads((tmp_path / "manifest.json").read_bytes())
    assert (manifest["schema"], manifest["tool"]) == (1, "editvec")
    assert set(manifest["files"]) == {f"rules/{name}" for name in first} | {
        "patterns.json",
        "edits.jsonl.gz",
        "report.html",
    }
    (tmp_path / "rules" / "my-own.yml").write_text("id: mine")
    (tmp_path / ".gitignore").write_text("*.parquet")
    fewer = _fewer(learned)
    _save(tmp_path, fewer, ABOUT, "<p>")
    gone = first - {f"{pattern.name}.yml" for pattern in fewer.patterns if pattern.rule}
    assert len(gone) == 1
    assert _rule_names(tmp_path) == first - gone | {"my-own.yml"}
    (tmp_path / "rules" / gone.pop()).write_text("id: mine")
    with pytest.raises(UserError, match="not written by learn"):
        _save(tmp_path, learned, ABOUT, "<p>")
    assert (tmp_path / ".gitignore").read_text() == "*.parquet"


@pytest.mark.parametrize("name", ["rules/mine.yml", "notes.txt", "report.html"])
def test_a_folder_of_somebody_else_is_refused(learned: Learned, tmp_path: Path, name: str) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / name).write_text("mine")
    with pytest.raises(UserError, match="Give a new or an empty folder with -o") as caught:
        _save(tmp_path, learned, ABOUT, "<p>")
    assert caught.value.exit_code == 2
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [Path(name).name]


def test_learn_refuses_a_folder_before_it_works(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "mine.yml").write_text("mine")
    with pytest.raises(UserError, match="Give a new or an empty folder"):
        _run("learn", str(shop), "--model", "none", "-o", str(tmp_path))
    assert _rule_names(tmp_path) == {"mine.yml"}


@pytest.mark.parametrize("name", ["rules", "manifest.json", "report.html", "patterns.json"])
def test_links_in_the_folder_are_not_followed(learned: Learned, tmp_path: Path, name: str) -> None:
    place, other = tmp_path / "out", tmp_path / "other"
    _save(place, learned, ABOUT, "<p>")
    (place / name).rename(other)
    (place / name).symlink_to(other)
    before = {path: path.read_bytes() for path in [other, *other.rglob("*")] if path.is_file()}
    with pytest.raises(UserError, match=r"symbolic link|not a regular file"):
        _save(place, _fewer(learned), ABOUT, "<p>")
    assert {path: path.read_bytes() for path in before} == before


def test_a_link_that_the_user_names_is_followed_to_a_folder_of_learns(learned: Learned, tmp_path: Path) -> None:
    real = tmp_path / "real"
    _save(real, learned, ABOUT, "<p>")
    (tmp_path / "link").symlink_to(real)
    _save(tmp_path / "link", _fewer(learned), ABOUT, "<p>")
    (real / "manifest.json").unlink()
    (real / "patterns.json").unlink()
    with pytest.raises(UserError, match="did not write"):
        _save(tmp_path / "link", learned, ABOUT, "<p>")


def test_a_default_folder_that_is_a_link_is_refused(shop: Path, tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    (repo.path / ".editvec").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="symbolic link"):
        _run("learn", str(repo.path), "--model", "none")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    "files",
    [
        ["../victim.yml"],
        ["rules/../../victim.yml"],
        ["/victim.yml"],
        ["rules/a\\b.yml"],
        ["rules/"],
        ["rules/.yml"],
        [""],
        ["victim.yml"],
        [7],
        "rules/a.yml",
        None,
    ],
)
def test_a_manifest_never_names_files_elsewhere(learned: Learned, tmp_path: Path, files: object) -> None:
    place = tmp_path / "out"
    _save(place, learned, ABOUT, "<p>")
    for victim in (tmp_path / "victim.yml", place / "victim.yml"):
        victim.write_text("precious")
    manifest = orjson.loads((place / "manifest.json").read_bytes()) | {"files": files}
    (place / "manifest.json").write_bytes(orjson.dumps(manifest))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BadInputError):
        _save(place, _fewer(learned), ABOUT, "<p>")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema":2,"tool":"editvec","files":[]}', "7"])
def test_a_damaged_manifest_is_one_error(learned: Learned, tmp_path: Path, text: str) -> None:
    _save(tmp_path, learned, ABOUT, "<p>")
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(BadInputError, match="manifest") as caught:
        _save(tmp_path, learned, ABOUT, "<p>")
    assert caught.value.exit_code == 3


def test_a_folder_of_an_older_version_is_taken_over(learned: Learned, tmp_path: Path) -> None:
    place = tmp_path / ".editvec"
    _save(place, learned, ABOUT, "<p>")
    first = _rule_names(place)
    (place / "manifest.json").unlink()
    (place / "rules" / "my-own.yml").write_text("id: mine")
    (tmp_path / "victim.yml").write_text("precious")
    document = orjson.loads((place / "patterns.json").read_bytes())
    document["patterns"][0]["name"] = "../../victim"
    (place / "patterns.json").write_bytes(orjson.dumps(document))
    _save(place, _fewer(learned), ABOUT, "<p>")
    assert len(first - _rule_names(place)) == 1
    assert "my-own.yml" in _rule_names(place)
    assert (tmp_path / "victim.yml").read_text() == "precious"
    (place / "manifest.json").unlink()
    (place / "patterns.json").write_text('{"schema": 1, "patterns": [7]}')
    with pytest.raises(UserError, match="this version of learn cannot replace"):
        _save(place, learned, ABOUT, "<p>")


@pytest.mark.parametrize("stop", range(8))
def test_an_interrupted_learn_leaves_a_folder_of_its_own(
    learned: Learned, tmp_path: Path, stop: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, calls = tmp_path / "out", 0

    def write_or_stop(path: Path, content: bytes | memoryview) -> None:
        nonlocal calls
        calls += 1
        if calls > stop:
            (path.parent / f".{path.name}.x.partial").touch()
            raise KeyboardInterrupt
        write_atomically(path, content)

    for begun in (False, True):
        if begun:
            _save(place, learned, ABOUT, "<p>")
        monkeypatch.setattr("editvec.patterns.folder.write_atomically", write_or_stop)
        calls = 0
        with pytest.raises(KeyboardInterrupt):
            _save(place, _fewer(learned), ABOUT, "<p>")
        monkeypatch.setattr("editvec.patterns.folder.write_atomically", write_atomically)
        _save(place, _fewer(learned), ABOUT, "<p>")
        assert len(folder.load(place)) == len(learned.patterns) - 1


def test_the_report_escapes_what_a_repository_says(tmp_path: Path) -> None:
    hostile = '<img src=x onerror="document.title=1">'
    place = tmp_path / "hostile"
    _history(
        place,
        "a.py",
        [f"x = [1, '{hostile}']\n" + "".join(f"if a{at} == None: f({at})\n\n" for at in range(6))],
        [(f"a{at} == None", f"a{at} is None") for at in range(5)],
        message=f"{hostile} </script><script>document.title=1</script>",
    )
    found = learn_patterns(_request(place))
    page = render(found.patterns, {**ABOUT, "repository": hostile}, (), found.edits)
    assert found.patterns
    assert hostile not in page
    assert "&lt;img src=x" in page
    assert page.count("<script") == 2


def test_sarif_names_the_bytes_of_each_place(learned: Learned) -> None:
    document = sarif(learned.patterns, Project())
    results = document["runs"][0]["results"]
    suggestions = [place for pattern in learned.patterns for place in pattern.suggestions]
    assert len(results) == len(suggestions) > 0
    region = results[0]["locations"][0]["physicalLocation"]["region"]
    assert region["byteLength"] == suggestions[0].end - suggestions[0].start


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_learn_find_and_apply_on_the_command_line(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)
    done = _run("learn", "--model", "none", "--json")
    document = orjson.loads(done.stdout)
    assert document["schema"] == 4
    assert (shop / ".editvec" / "report.html").is_file()
    status = subprocess.run(["git", "status", "--porcelain"], capture_output=True, check=True, cwd=shop)
    assert status.stdout == b""
    suggestions = orjson.loads(_run("find", "--format", "json").stdout)
    assert len(suggestions) == sum(len(each["suggestions"]) for each in document["patterns"])
    assert orjson.loads(_run("find", "1", "--format", "sarif").stdout)["version"] == "2.1.0"
    assert _run("find", "--check").exit_code == 1
    assert orjson.loads(_run("find", "--changed-since", "HEAD", "--format", "json").stdout) == []
    diff = _run("apply", "1").stdout
    applied = subprocess.run(["git", "apply", "--check"], input=diff.encode(), cwd=shop)
    assert diff and applied.returncode == 0
    document["patterns"][0]["evidence"]["matched"] = 500
    (shop / ".editvec" / "patterns.json").write_bytes(orjson.dumps(document))
    with pytest.raises(UserError, match="--everywhere"):
        _run("apply", "1")
    assert _run("apply", "1", "--everywhere").stdout == diff
    assert f"[default: ({MIN_CONFIDENCE:g});" in _run("find", "--help").stdout


def test_a_file_name_that_is_not_utf_8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = os.fsdecode(b"caf\xe9.py")
    place = tmp_path / os.fsdecode(b"r\xe9po")
    lines = [f"if a{at} == None: f({at})\n\n" for at in range(6)]
    changes = [(f"a{at} == None", f"a{at} is None") for at in range(5)]
    _history(place, "a.py", ["".join(lines)], changes)
    (place / name).write_text("x = 1\nif b == None: f(b)\n")
    monkeypatch.chdir(place)
    document = json.loads(_run("learn", "--model", "none", "--json").stdout)
    due = {each["path"] for pattern in document["patterns"] for each in pattern["suggestions"]}
    assert due == {"a.py", name}
    assert folder.load(place / ".editvec")
    assert "due" in _run("learn", "--model", "none").stdout
    done = _run("find", "--format", "json")
    assert {each["path"] for each in json.loads(done.stdout)} == {"a.py", name}
    assert r"caf\udce9.py" in done.stdout
    results = json.loads(_run("find", "--format", "sarif").stdout)["runs"][0]["results"]
    suggestions = [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results]
    assert sorted(suggestions) == ["a.py", "caf%E9.py"]
    assert r"caf\udce9.py:2:4" in _run("find").stdout
    assert name in [each["path"].rpartition("/")[2] for each in json.loads(_run("apply", "1", "--json").stdout)]
    diff = _run("apply", "1", name).stdout
    assert r"caf\351.py" in diff
    subprocess.run(["git", "apply"], input=diff.encode(), check=True)
    assert (place / name).read_text() == "x = 1\nif b is None: f(b)\n"
    _run("apply", "1", "--everywhere", "-U")
    subprocess.run(["git", "add", "."], check=True)
    subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "x"], check=True)
    (place / name).write_text("x = 2\nif b is None: f(b)\n")
    subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qam", "x"], check=True)
    for ending in ("parquet", "jsonl"):
        _run("mine", ".", "-o", str(tmp_path / f"e.{ending}"))
        _run("show", str(tmp_path / f"e.{ending}"), "--json")
    assert any(edit.source and edit.source.path == r"caf\xe9.py" for edit in edit_files.read(tmp_path / "e.parquet"))


def _history(place: Path, name: str, texts: list[str], changes: list[tuple[str, str]], message: str = "Tidy") -> None:
    place.mkdir(exist_ok=True)
    (text,) = texts

    def git(*arguments: str) -> None:
        person = ["-c", "user.name=A", "-c", "user.email=a@b"]
        subprocess.run(["git", *person, "-C", str(place), *arguments], check=True, capture_output=True)

    git("init", "--quiet")
    for number in range(len(changes) + 1):
        if number:
            text = text.replace(*changes[number - 1])
        (place / name).write_text(text)
        git("add", ".")
        git("commit", "--quiet", "-m", f"{message} {number}")


@pytest.fixture(scope="module")
def shop_model(learned: Learned) -> EditModel:
    """A small model that knows the shop's edits by heart."""
    edits = [
        snippet_edit(edit.before.text, edit.after.text, edit.language, edit.id)
        for edit in learned.edits
        if edit.language == "csharp" and ("null" in edit.before.text or "Assert" in edit.before.text)
    ]
    model = EditModel(
        small_config(hidden_dim=48, embed_dim=32, edit_dim=32, dropout=0.0, residual=True, changed_only=True),
        vocab.build(vocab.count_tokens(edits), size=500, min_count=1),
    )
    model.network.initialise(0)
    learn_by_heart(model, edits, steps=120, rate=5e-3)
    return model


def test_the_editor_finds_places_where_it_is_sure(shop: Path, learned: Learned, shop_model: EditModel) -> None:
    pattern = next(each for each in learned.patterns if each.before == "$X == null ? null : $X.$M")
    pieces = [snippet_edit(each.before.text, each.after.text, each.language) for each in pattern.edits]
    sure = calibrate(FewShotEditor(shop_model), pieces, FewShotEditor(shop_model).show(pieces))
    assert sure is not None and sure.right == sure.said >= 3
    files = list(worktree_files(open_repository(shop), {"csharp"}))
    found = find_by_editor(FewShotEditor(shop_model), pattern.edits, files, Evidence(0, 0))
    assert {(place.path, place.after) for place in found} <= {
        ("src/Orders.cs", "return order?.Courier;"),
        ("src/Refunds.cs", "return one?.Owner;"),
        ("src/Suppliers.cs", "return one?.Owner;"),
    }
    assert found
    evidence = Evidence(sure.said, sure.right, left=len(found))
    assert {place.confidence for place in found} == {evidence.confidence}
    given_up = find_by_editor(FewShotEditor(shop_model), pattern.edits, files, Evidence(0, 0, reversed=9, years=6.0))
    assert {place.confidence for place in given_up} == {replace(evidence, reversed=9, years=6.0).confidence}


def test_a_statement_that_the_editor_puts_in_has_a_line_indented_as_its_place() -> None:
    example = snippet_edit("Save(user);", "Check(user);\nSave(user);", "csharp", "e")
    (found,) = finder_like(FewShotEditor(load()), [example], 0.3)(
        [b"class A {\n\tvoid M(Order order) {\n\t\tSave(order);\n\t}\n}\n"]
    )
    assert [match.replacement for match in found] == ["Check(order);\n\t\tSave(order);"]


def test_an_editor_follows_examples_in_texts() -> None:
    find = finder_like(FewShotEditor(load()), [snippet_edit("Log(a);", "Log.Debug(a);", "csharp", "e")], 0.7)
    texts = [b"class A {\n  void M() {\n    Log(one, two);\n    Save(one);\n  }\n}\n", b"class B {\n}\n"]
    assert [[match.replacement for match in matches] for matches in find(texts)] == [["Log.Debug(one, two);"], []]


def test_an_editor_follows_an_example_whose_names_are_others() -> None:
    find = finder_like(
        FewShotEditor(load()),
        [snippet_edit("return x == null ? null : x.Name;", "return x?.Name;", "csharp", "e")],
        0.3,
    )
    text = b"class A {\n  object M() {\n    total = total + 2;\n    return bill == null ? null : bill.Owner;\n  }\n}\n"
    assert [match.replacement for match in find([text])[0]] == ["return bill?.Owner;"]


def test_an_editor_that_is_never_right_says_nothing(shop: Path, learned: Learned) -> None:
    pattern = next(each for each in learned.patterns if each.before == "$X == null ? null : $X.$M")
    model = small_model(list(pattern.edits))
    assert calibrate(FewShotEditor(model), pattern.edits, FewShotEditor(model).show(pattern.edits)) is None
    files = list(worktree_files(open_repository(shop), {"csharp"}))
    assert find_by_editor(FewShotEditor(model), pattern.edits, files, Evidence(0, 0)) == ()


def test_new_files_and_other_encodings_are_present(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({".gitignore": "ignored.cs\n", "a.cs": "class A { }", "ignored.cs": "class I { }"})
    repo.git("add", "a.cs")
    (repo.path / "new.cs").write_bytes("class Ä { }".encode("latin-1"))
    (repo.path / "wide.cs").write_bytes("class Ö { }".encode("utf-16"))
    (repo.path / "link.cs").symlink_to("a.cs")
    found = {file.path: file.data.decode() for file in worktree_files(open_repository(repo.path), {"csharp"})}
    assert found == {"a.cs": "class A { }", "new.cs": "class Ä { }", "wide.cs": "\ufeffclass Ö { }"}
