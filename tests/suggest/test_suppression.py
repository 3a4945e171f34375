"""Suppression comments in every language: which lines they cover, and what only looks like one."""

from __future__ import annotations

import pytest

import editvec
from editvec.data.project import MutedPattern, Project, ProjectSettings
from editvec.suggest.suppression import silence_of, suppressions_in, unused_in
from editvec.vcs.worktree import File
from tests.conftest import Repo

CODE = {
    "csharp": ("// {0}", "int a = 1;"),
    "python": ("# {0}", "a = 1"),
    "java": ("/* {0} */", "int a = 1;"),
    "javascript": ("// {0}", "let a = 1;"),
    "typescript": ("// {0}", "let a = 1;"),
    "tsx": ("/* {0} */", "let a = 1;"),
    "go": ("// {0}", "var a = 1"),
    "rust": ("// {0}", "static A: u8 = 1;"),
    "cpp": ("// {0}", "int a = 1;"),
    "markdown": ("<!-- {0} -->", "A line."),
    "latex": ("% {0}", "A line."),
    "rst": (".. {0}", "A line."),
}
PYTHON = File("a.py", "python", b"")


def targets(language: str, text: str) -> list[tuple[int | None, set[str]]]:
    """The lines and the names of the suppressions in a text."""
    return [(each.target, set(each.names)) for each in suppressions_in(language, text.encode())]


@pytest.mark.parametrize("language", CODE)
def test_each_language_has_comments_for_lines_and_files(language: str) -> None:
    comment, code = CODE[language]
    alone = comment.format("editvec: ignore[add-is, 0123456789] -- a reason")
    assert targets(language, f"{code}\n{alone}\n\n{code}\n") == [(4, {"add-is", "0123456789"})]
    assert targets(language, f"{code}\n{comment.format('editvec: ignore-file[a]')}\n{code}\n") == [(None, {"a"})]
    assert targets(language, f"{comment.format('editvec: ignore')}\n{code}\n") == [(2, set())]
    if language != "rst":
        assert targets(language, f"{code}\n{code}  {comment.format('editvec: ignore[a]')}\n{code}\n") == [(2, {"a"})]


@pytest.mark.parametrize(
    "text",
    [
        'a = "# editvec: ignore[a]"\n',
        "# write editvec: ignore[a] to silence it\na = 1\n",
        "# editvec: ignored\na = 1\n",
        "# editvec: ignore[]\na = 1\n",
        "# editvec: ignore-all\na = 1\n",
    ],
)
def test_what_only_looks_like_a_suppression(text: str) -> None:
    assert targets("python", text) == []


def test_other_comments_stand_beside() -> None:
    assert targets("python", "a = 1  # type: ignore  # editvec: ignore[a]\n") == [(1, {"a"})]
    assert targets("python", "# editvec: ignore[a]\n# a comment\nb = 1\n") == [(3, {"a"})]


def test_a_place_is_silenced_by_a_comment_or_by_the_settings() -> None:
    data = b"# editvec: ignore[a]\nx = 1\ny = (1 +\n     2)  # editvec: ignore[b]\n"
    file, project = PYTHON._replace(data=data), Project()
    assert silence_of(project, {"a"}, file, data.index(b"x"), data.index(b"x") + 5)
    assert not silence_of(project, {"b"}, file, data.index(b"x"), data.index(b"x") + 5)
    place = (data.index(b"y"), data.index(b")") + 1)
    silence = silence_of(project, {"b", "0123"}, file, *place)
    assert silence is not None and silence.text == "a comment in line 4"
    assert not silence_of(project, {"a"}, file, *place)
    muted = Project(ProjectSettings(mute=[MutedPattern(pattern="a", path="*.py", reason="old")]))
    silence = silence_of(muted, {"a"}, file, *place)
    assert silence is not None and silence.text == "muted in the settings: old"
    assert not silence_of(muted, {"a"}, file._replace(path="a.pyi"), *place)


def test_comments_that_suppress_nothing_are_found_for_patterns_that_ran() -> None:
    file = PYTHON._replace(data=b"# editvec: ignore[a, b, c]\nx = 1\n# editvec: ignore\ny = 1\n")
    first, second = suppressions_in("python", file.data)
    ran = [{"a", "1"}, {"b", "2"}]
    unused = unused_in(file, ran, [(first, {"a", "1"})])
    assert [(each.line, each.name) for each in unused] == [(1, "b"), (3, "")]
    assert unused_in(file, ran, [(first, {"a"}), (first, {"b"}), (second, {"a"})]) == []


def test_finish_leaves_suppressed_places_alone(repo: Repo) -> None:
    lines = [f"self.assertEquals(total({number}), {number})\n" for number in range(6)]
    repo.commit({"t.py": "".join(lines)})
    repo.write({"t.py": "".join(lines).replace("assertEquals", "assertEqual", 2)})
    found = editvec.finish(repo=repo.path)
    edit = found.edits[0].id
    assert {each.line for each in found.suggestions} == {3, 4, 5, 6}
    lines[2] = lines[2].replace("\n", f"  # editvec: ignore[{edit}]\n")
    lines[3] = lines[3].replace("\n", "  # editvec: ignore[other]\n")
    repo.commit({"t.py": "".join(lines)})
    repo.write({"t.py": "".join(lines).replace("assertEquals", "assertEqual", 2)})
    assert {each.line for each in editvec.finish(repo=repo.path).suggestions} == {4, 5, 6}
    assert editvec.mute(edit, repo=repo.path).pattern == edit
    assert editvec.finish(repo=repo.path).suggestions == []
    assert len(editvec.finish(repo=repo.path, isolated=True).suggestions) == 3
