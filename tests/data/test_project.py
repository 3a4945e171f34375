"""The settings of a project: where they are found, what is refused, and which files they leave."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

import editvec
from editvec.core.errors import BadInputError, UserError
from editvec.data.project import FILES, ProjectSettings, project_of, settings_schema
from tests.cli.run import run
from tests.conftest import Repo

SCHEMA = Path(__file__).parents[2] / "docs/editvec.schema.json"
SECTION = "[tool.editvec]\n"


def text_of(name: str, body: str) -> str:
    """The content of a file of settings."""
    return SECTION + body if name == "pyproject.toml" else body


@pytest.mark.parametrize("name", FILES)
def test_the_nearest_file_wins_and_nothing_is_merged(repo: Repo, name: str) -> None:
    repo.commit({"editvec.toml": 'since = "2 years ago"\nexclude = ["a"]\n', "sub/deep/a.py": ""})
    repo.write({f"sub/{name}": text_of(name, 'since = "1 year ago"\n')})
    project = project_of(repo.path / "sub" / "deep")
    assert project.path == repo.path / "sub" / name
    assert (project.settings.since, project.settings.exclude) == ("1 year ago", [])
    assert project_of(repo.path).settings.since == "2 years ago"


def test_the_order_in_a_folder(repo: Repo) -> None:
    repo.write({name: text_of(name, "") for name in FILES})
    for name in FILES:
        assert project_of(repo.path).path == repo.path / name
        (repo.path / name).unlink()
    repo.write({"pyproject.toml": "[project]\nname = 'editvec'\n"})
    assert project_of(repo.path).path is None


def test_files_above_the_work_tree_do_not_count(tmp_path: Path, repo: Repo) -> None:
    (repo.path.parent / "editvec.toml").write_text('since = "1 year ago"\n')
    assert project_of(repo.path).path is None
    lonely = tmp_path / "lonely" / "inner"
    lonely.mkdir(parents=True)
    (lonely.parent / "editvec.toml").write_text("")
    assert project_of(lonely).path is None
    assert project_of(lonely.parent).path == lonely.parent / "editvec.toml"


def test_a_given_file_and_none(repo: Repo, tmp_path: Path) -> None:
    repo.write({"editvec.toml": 'since = "1 year ago"\n', "src/a.py": ""})
    other = tmp_path / "other.toml"
    other.write_text('exclude = ["src/"]\n')
    given = project_of(repo.path, other)
    assert given.settings.since is None and not given.covers("src/a.py")
    assert project_of(repo.path, isolated=True).settings == ProjectSettings()
    with pytest.raises(UserError, match="exclude each other"):
        project_of(repo.path, other, isolated=True)
    with pytest.raises(UserError, match="cannot read"):
        project_of(repo.path, tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("sinse = 1", "no setting 'sinse'. Did you mean since?"),
        ("[pattern.add-is]\nreport_only = true", "Did you mean report-only?"),
        ("[[mute]]\npattern = 'a'\npaths = 'b'", "no setting 'paths'. Did you mean path?"),
        ("min-confidence = 2", "min-confidence"),
        ("severity = 'loud'", "severity"),
        ("[[mute]]\nreason = 'a'", "pattern"),
        ("languages = ['pyton']", "Did you mean python?"),
    ],
)
def test_mistakes_name_the_file_and_the_key(repo: Repo, body: str, complaint: str) -> None:
    for name in FILES:
        body_there = (
            body.replace("[[", "[[tool.editvec.").replace("[pat", "[tool.editvec.pat") if "py" in name else body
        )
        repo.write({name: text_of(name, body_there)})
        with pytest.raises(UserError) as error:
            project_of(repo.path)
        assert complaint in str(error.value) and name in str(error.value)
        (repo.path / name).unlink()


def test_a_file_that_is_not_toml_is_damaged(repo: Repo) -> None:
    repo.write({"editvec.toml": "since = "})
    with pytest.raises(BadInputError, match="not TOML"):
        project_of(repo.path)


def test_include_and_exclude_are_relative_to_their_folder(repo: Repo) -> None:
    repo.write({"sub/editvec.toml": 'include = ["src/", "*.pyi"]\nexclude = ["**/gen/*", "!**/gen/keep.py"]\n'})
    project = project_of(repo.path / "sub")
    read = [
        path
        for path in ("sub/src/a.py", "sub/b.pyi", "sub/b.py", "sub/src/gen/a.py", "sub/src/gen/keep.py", "src/a.py")
        if project.covers(path)
    ]
    assert read == ["sub/src/a.py", "sub/b.pyi", "sub/src/gen/keep.py"]
    assert project.covers(repo.path / "sub/src/a.py")
    chosen = project.chosen(["sub/b.py"])
    assert chosen("sub/b.py") and not chosen("sub/c.py")
    assert not project.chosen(["sub/b.py"], force_exclude=True)("sub/b.py")


def test_show_says_where_each_value_comes_from(repo: Repo) -> None:
    repo.commit({"a.py": "x = 1\n", "b.py": "x = 1\n", "c.go": "package c\n", "skip.py": "x = 1\n"})
    repo.write({"editvec.toml": 'exclude = ["b.py"]\nlanguages = ["python"]\n', ".ignore": "skip.py\n"})
    repo.write({"sub/.ignore": "/x.py\n", "sub/x.py": "", "x.py": "", ".gitignore": "x.py\n!/sub/x.py\n"})
    shown = {each.key: (each.value, each.origin) for each in editvec.config(repo=repo.path).settings}
    assert shown["exclude"] == (["b.py"], str(repo.path / "editvec.toml"))
    assert shown["severity"] == ("hint", "default")
    assert run("config", "show", "--show-files", cwd=repo.path).stdout == "a.py\n"
    assert run("config", "show", "--show-files", "--isolated", cwd=repo.path).stdout == "a.py\nb.py\nc.go\n"
    assert 'exclude = ["b.py"]' in run("config", "show", cwd=repo.path).stdout
    assert json.loads(run("config", "--json", cwd=repo.path).stdout)["settings"]["languages"]["value"] == ["python"]


def test_the_schema_in_the_documentation_is_current() -> None:
    made = json.loads(run("config", "schema").stdout)
    assert made == settings_schema()
    assert json.loads(SCHEMA.read_text()) == made, "Run `editvec config schema > docs/editvec.schema.json`."


def test_the_schema_says_what_is_accepted() -> None:
    Draft7Validator.check_schema(settings_schema())
    validator = Draft7Validator(settings_schema())
    good = tomllib.loads(
        'include = ["src/"]\nmin-confidence = 0.5\n[pattern.x]\nseverity = "error"\nreport-only = true\n'
        '[[mute]]\npattern = "x"\npath = "a/"\nreason = "why"\n'
    )
    assert list(validator.iter_errors(good)) == []
    for bad in ({"sinse": 1}, {"severity": "loud"}, {"mute": [{"path": "a"}]}, {"pattern": {"x": {"severty": "hint"}}}):
        assert list(validator.iter_errors(bad)) != []
