"""The main job over a small real history: what is found, verified, still due; and what is left behind on disk."""

from __future__ import annotations

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
from editvec.core.match import Match
from editvec.mining import mine
from editvec.mining.batch import MiningTask
from editvec.mining.options import pick_languages
from editvec.mining.recipes import get_recipe
from editvec.neural import vocab
from editvec.neural.model import EditModel, load
from editvec.patterns import folder
from editvec.patterns.find import find_places, sound
from editvec.patterns.learn import Learned, LearnRequest, learn
from editvec.patterns.pattern import MIN_CONFIDENCE, Evidence
from editvec.patterns.rules import is_of_imports
from editvec.suggest.editor import calibrate, find_by_editor, finder_like
from editvec.syntax.languages import Language, known
from editvec.syntax.snippet import snippet_edit
from editvec.ui.report.patterns import render
from editvec.ui.report.sarif import sarif
from editvec.vcs.git import open_repository
from editvec.vcs.worktree import File, present_files
from tests.conftest import Repo
from tests.neural.edits import learn_by_heart, small_config, small_model

EXAMPLE = Path(__file__).parents[2] / "examples" / "demo_history.py"
ABOUT = {"version": "0", "repository": "shop", "head": "", "commits": 0, "hunks": 0, "edits": 0}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("learning") / "shop"
    subprocess.run([sys.executable, str(EXAMPLE), str(place)], check=True, capture_output=True)
    return place


def _request(repository: Path, recipe: str = "default") -> LearnRequest:
    chosen = get_recipe(recipe)
    task = MiningTask(open_repository(repository), chosen, pick_languages((), chosen), ())
    return LearnRequest(mine.MiningRequest(task, workers=1, resume=False))


@pytest.fixture(scope="module")
def learned(shop: Path) -> Learned:
    return learn(_request(shop))


def test_the_patterns_of_the_shop_are_found_and_proved(learned: Learned) -> None:
    changes = {(pattern.before, pattern.after): pattern for pattern in learned.patterns if pattern.rule}
    empty = changes["Assert.Equal(0, $X.Count)", "Assert.Empty($X)"]
    assert (empty.num_edits, empty.commits, empty.authors) == (8, 5, 3)
    assert empty.title == "Assert.Empty reads better"
    assert ("$X == null ? null : $X.$M", "$X?.$M") in changes
    assert ("$X == None", "$X is None") in changes
    assert any("ConfigureAwait(false)" in after for _, after in changes)


def test_places_are_what_the_people_left(shop: Path, learned: Learned) -> None:
    by_change = {pattern.before: pattern for pattern in learned.patterns}
    assert sorted(place.path for place in by_change["$X == null ? null : $X.$M"].places) == [
        "src/Orders.cs",
        "src/Refunds.cs",
        "src/Suppliers.cs",
    ]
    for pattern in learned.patterns:
        for place in pattern.places:
            data = (shop / place.path).read_bytes()
            assert data[place.start : place.end].decode() == place.before
            assert (
                data.decode().splitlines()[place.line - 1][place.column - 1 :].startswith(place.before.split("\n")[0])
            )
            assert place.before != place.after


def test_the_same_history_gives_the_same_patterns(shop: Path, learned: Learned) -> None:
    again = learn(_request(shop))
    assert [pattern.as_json(1, None) for pattern in again.patterns] == [
        pattern.as_json(1, None) for pattern in learned.patterns
    ]


def test_a_record_is_believed_by_what_people_did() -> None:
    assert Evidence(10, 10).confidence > 0.9
    assert Evidence(10, 2).confidence < 0.3
    assert Evidence(10, 10, reversed=10).confidence < Evidence(10, 10).confidence / 1.5
    assert Evidence(10, 10, left=100).confidence < 0.35
    assert Evidence(2, 2).confidence < Evidence(20, 20).confidence
    assert Evidence(10, 10, left=8, years=9).confidence < Evidence(10, 10, left=8).confidence
    assert Evidence(10, 10, years=9).confidence < Evidence(10, 10).confidence / 2


def test_what_says_too_little_and_imports_rank_lower(learned: Learned) -> None:
    pattern = replace(learned.patterns[0], places=())
    assert not any(each.of_imports for each in learned.patterns)
    finished = replace(pattern, evidence=Evidence(20, 20, years=12.0))
    assert finished.worth > replace(pattern, evidence=Evidence(20, 20, left=200, years=12.0)).worth
    assert finished.worth > replace(finished, of_imports=True).worth
    assert finished.worth > replace(finished, evidence=Evidence(20, 20, reversed=20, years=12.0)).worth


def test_a_promise_is_not_due_by_itself(shop: Path, learned: Learned) -> None:
    pattern = next(each for each in learned.patterns if each.rule and each.language == "csharp" and each.places)
    files = list(present_files(open_repository(shop), {"csharp"}))
    assert not pattern.promises
    assert find_places([pattern], files, 0.0, lambda *done: None)[pattern.name].places
    promise = replace(pattern, before="private $T $X;", after="private readonly $T $X;")
    assert promise.promises
    assert find_places([promise], files, 0.0, lambda *done: None)[pattern.name].places == ()
    assert not replace(promise, after="readonly $T $X;").promises
    assert not replace(promise, before=promise.after, after=promise.before).promises


def test_a_place_that_would_not_parse_is_no_place(shop: Path, learned: Learned) -> None:
    pattern = next(each for each in learned.patterns if each.before == "$X == null ? null : $X.$M")
    assert pattern.rule is not None
    broken = pattern.rule.replace("fix: $X?.$M", "fix: $X?.($M")
    assert broken != pattern.rule
    files = list(present_files(open_repository(shop), {"csharp"}))
    (found,) = find_places([replace(pattern, rule=broken)], files, 0.0, mine.silent).values()
    assert found.places == ()
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
    assert [match.start for match in sound(File("f", language, data), matches)] == [second]


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


def test_prose_is_learned_too(tmp_path: Path) -> None:
    _history(
        tmp_path,
        "guide.md",
        ["You can not go. We can not stay.\n\nThey can not eat. All can not win.\n"],
        [("You can not", "You cannot"), ("We can not", "We cannot"), ("They can not", "They cannot")],
    )
    found = learn(_request(tmp_path, "prose"))
    (pattern,) = [each for each in found.patterns if each.rule]
    assert [place.before for place in pattern.places] == ["can not"]
    assert pattern.places[0].after == "cannot"


def test_a_folder_gives_back_what_was_saved(learned: Learned, tmp_path: Path) -> None:
    folder.save(tmp_path, learned, ABOUT, "<p>")
    known = folder.load(tmp_path)
    assert [(each.name, each.rule, each.evidence and each.evidence.as_json()) for each in known] == [
        (each.name, each.rule, each.evidence and each.evidence.as_json()) for each in learned.patterns
    ]
    assert folder.pick(known, ["2", known[0].name]) == [known[1], known[0]]
    with pytest.raises(UserError, match="no pattern '77'"):
        folder.pick(known, ["77"])
    (tmp_path / "rules" / "gone-by-now.yml").write_text("id: x")
    folder.save(tmp_path, learned, ABOUT, "<p>")
    assert not (tmp_path / "rules" / "gone-by-now.yml").exists()
    assert not (tmp_path / ".gitignore").exists()  # a folder of one's own can be committed
    text = (tmp_path / "patterns.json").read_text()
    (tmp_path / "patterns.json").write_text(text.replace("rules/", "../../rules/").replace('.yml"', '.sh"'))
    with pytest.raises(BadInputError, match="no name of a rule"):
        folder.load(tmp_path)
    (tmp_path / "patterns.json").write_text("{}")
    with pytest.raises(BadInputError, match="Learn again"):
        folder.load(tmp_path)


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
    found = learn(_request(place))
    page = render(found.patterns, {**ABOUT, "repository": hostile}, (), found.edits)
    assert found.patterns
    assert hostile not in page
    assert "&lt;img src=x" in page
    assert page.count("<script") == 2


def test_sarif_names_the_bytes_of_each_place(learned: Learned) -> None:
    document = sarif(learned.patterns)
    results = document["runs"][0]["results"]
    places = [place for pattern in learned.patterns for place in pattern.places]
    assert len(results) == len(places) > 0
    region = results[0]["locations"][0]["physicalLocation"]["region"]
    assert region["byteLength"] == places[0].end - places[0].start


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


def test_learn_find_and_apply_on_the_command_line(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop)
    done = _run("learn", "--model", "none", "--json")
    document = orjson.loads(done.stdout)
    assert document["schema"] == 1
    assert (shop / ".editvec" / "report.html").is_file()
    status = subprocess.run(["git", "status", "--porcelain"], capture_output=True, check=True, cwd=shop)
    assert status.stdout == b""
    places = orjson.loads(_run("find", "--format", "json").stdout)
    assert len(places) == sum(len(each["places"]) for each in document["patterns"])
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
    sure = calibrate(shop_model, pieces, shop_model.show(pieces))
    assert sure is not None and sure.right == sure.said >= 3
    files = list(present_files(open_repository(shop), {"csharp"}))
    found = find_by_editor(shop_model, pattern, files, Evidence(0, 0))
    assert {(place.path, place.after) for place in found} <= {
        ("src/Orders.cs", "return order?.Courier;"),
        ("src/Refunds.cs", "return one?.Owner;"),
        ("src/Suppliers.cs", "return one?.Owner;"),
    }
    assert found
    evidence = Evidence(sure.said, sure.right, left=len(found))
    assert {place.confidence for place in found} == {evidence.confidence}
    promise = replace(pattern, before="$T $X;", after="readonly $T $X;")
    assert find_by_editor(shop_model, promise, files, Evidence(0, 0)) == ()
    given_up = find_by_editor(shop_model, pattern, files, Evidence(0, 0, reversed=9, years=6.0))
    assert {place.confidence for place in given_up} == {replace(evidence, reversed=9, years=6.0).confidence}


def test_a_statement_that_the_editor_puts_in_has_a_line_indented_as_its_place() -> None:
    example = snippet_edit("Save(user);", "Check(user);\nSave(user);", "csharp", "e")
    (found,) = finder_like(load(), [example], 0.3)([b"class A {\n\tvoid M(Order order) {\n\t\tSave(order);\n\t}\n}\n"])
    assert [match.replacement for match in found] == ["Check(order);\n\t\tSave(order);"]


def test_an_editor_follows_examples_in_texts() -> None:
    find = finder_like(load(), [snippet_edit("Log(a);", "Log.Debug(a);", "csharp", "e")], 0.7)
    texts = [b"class A {\n  void M() {\n    Log(one, two);\n    Save(one);\n  }\n}\n", b"class B {\n}\n"]
    assert [[match.replacement for match in matches] for matches in find(texts)] == [["Log.Debug(one, two);"], []]


def test_an_editor_follows_an_example_whose_names_are_others() -> None:
    find = finder_like(
        load(), [snippet_edit("return x == null ? null : x.Name;", "return x?.Name;", "csharp", "e")], 0.3
    )
    text = b"class A {\n  object M() {\n    total = total + 2;\n    return bill == null ? null : bill.Owner;\n  }\n}\n"
    assert [match.replacement for match in find([text])[0]] == ["return bill?.Owner;"]


def test_an_editor_that_is_never_right_says_nothing(shop: Path, learned: Learned) -> None:
    pattern = next(each for each in learned.patterns if each.before == "$X == null ? null : $X.$M")
    model = small_model(list(pattern.edits))
    assert calibrate(model, pattern.edits, model.show(pattern.edits)) is None
    files = list(present_files(open_repository(shop), {"csharp"}))
    assert find_by_editor(model, pattern, files, Evidence(0, 0)) == ()


def test_new_files_and_other_encodings_are_present(tmp_path: Path) -> None:
    repo = Repo.create(tmp_path / "r")
    repo.write({".gitignore": "ignored.cs\n", "a.cs": "class A { }", "ignored.cs": "class I { }"})
    repo.git("add", "a.cs")
    (repo.path / "new.cs").write_bytes("class Ä { }".encode("latin-1"))
    (repo.path / "wide.cs").write_bytes("class Ö { }".encode("utf-16"))
    (repo.path / "link.cs").symlink_to("a.cs")
    found = {file.path: file.data.decode() for file in present_files(open_repository(repo.path), {"csharp"})}
    assert found == {"a.cs": "class A { }", "new.cs": "class Ä { }", "wide.cs": "\ufeffclass Ö { }"}
