"""What the recipes make of small real histories: the right edits, and everything else dropped for the right reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from editvec.core.edit import Edit
from editvec.core.errors import UserError
from editvec.mining.batch import MiningTask
from editvec.mining.options import pick_languages
from editvec.mining.recipes import get_recipe
from editvec.mining.run import MiningRequest
from editvec.mining.run import mine_to as mine_to_file
from editvec.syntax.canonical import restore
from editvec.vcs import git
from editvec.vcs.filters import is_vendored
from tests.conftest import Repo
from tests.mining.examples import EXAMPLES, Example
from tests.mining.run import Mined, mine

every_language = pytest.mark.parametrize(("language", "example"), list(EXAMPLES.items()), ids=list(EXAMPLES))


def change(repo: Repo, example: Example, before: str, after: str) -> Mined:
    """What mining makes of replacing a piece of the example's text wherever it stands."""
    assert before in example.text
    repo.edit(example.name, example.text, example.text.replace(before, after))
    return mine(repo)


def lines_of(text: str, piece: str) -> tuple[int, int]:
    first = text[: text.index(piece)].count("\n") + 1
    return first, first + piece.count("\n")


# --- the default recipe in every language


@every_language
def test_a_changed_token_gives_the_statement(repo: Repo, language: str, example: Example) -> None:
    before, after = example.token
    found = change(repo, example, before, after)
    edit = found.only
    assert found.report.dropped == {}
    assert (edit.language, edit.before.text, edit.after.text) == (language, before, after)
    assert (" ".join(edit.context_before), " ".join(edit.context_behind)) == example.context
    canonical = edit.canonical
    assert canonical is not None
    forms = (canonical.before, canonical.after, canonical.context_before, canonical.context_behind)
    assert tuple(" ".join(form) for form in forms) == example.canonical
    tokens = (edit.before.tokens, edit.after.tokens, edit.context_before, edit.context_behind)
    assert restore(canonical) == tokens
    assert edit.source is not None
    assert edit.source.lines_before == edit.source.lines_after == lines_of(example.text, before)
    head = repo.git("rev-parse", "HEAD")
    assert (edit.source.commit, edit.source.path, edit.source.author) == (head, example.name, "Ada")
    assert edit.id == f"project|{head}|{example.name}_0"


@every_language
def test_a_changed_header_gives_the_header_alone(repo: Repo, language: str, example: Example) -> None:
    found = change(repo, example, *example.header)
    assert found.texts == [example.header]
    assert found.report.languages == {language: 1}


@every_language
def test_a_line_put_into_a_call_gives_the_statement(repo: Repo, language: str, example: Example) -> None:
    found = change(repo, example, *example.argument)
    assert found.texts == [(example.call, example.call.replace(*example.argument))]
    source = found.only.source
    assert source is not None
    assert source.lines_before == lines_of(example.text, example.call)
    assert source.lines_after == (source.lines_before[0], source.lines_before[1] + 1)
    taken_out = Repo.create(repo.path.parent / "reverse")
    taken_out.edit(example.name, example.text.replace(*example.argument), example.text)
    assert mine(taken_out).texts == [(after, before) for before, after in found.texts]


@every_language
def test_a_whole_new_statement_is_no_edit(repo: Repo, language: str, example: Example) -> None:
    statement = next(line for line in example.text.split("\n") if example.token[0] in line) + "\n"
    found = change(repo, example, statement, statement + statement.replace("total", "start"))
    assert (found.edits, found.report.dropped) == ([], {"pure-insertion": 1})
    repo.commit({example.name: example.text})
    assert mine(repo, revisions=("HEAD~1..HEAD",)).report.dropped == {"pure-deletion": 1}


@every_language
def test_a_comment_is_no_edit(repo: Repo, language: str, example: Example) -> None:
    statement = next(line for line in example.text.split("\n") if example.token[0] in line)
    found = change(repo, example, statement, f"{example.comment} why\n{statement}")
    assert (found.edits, found.report.dropped) == ([], {"comment": 1})
    repo.commit({example.name: example.text.replace(statement, f"{example.comment} because\n{statement}")})
    assert mine(repo, revisions=("HEAD~1..HEAD",)).report.dropped == {"comment": 1}


@every_language
def test_white_space_is_no_edit(repo: Repo, language: str, example: Example) -> None:
    before = example.token[0]
    found = change(repo, example, before, before.replace(", ", " ,   "))
    assert (found.edits, found.report.dropped) == ([], {"formatting": 1})


@every_language
def test_a_line_break_is_no_edit(repo: Repo, language: str, example: Example) -> None:
    before = example.token[0]
    found = change(repo, example, before, before.replace(", ", ",\n            "))
    assert (found.edits, found.report.dropped) == ([], {"formatting": 1})


@every_language
def test_a_renamed_variable_is_no_edit_unless_asked_for(repo: Repo, language: str, example: Example) -> None:
    # Lines between its uses, so that no hunk is too long.
    text = example.text.replace("\n", "\n\n")
    repo.edit(example.name, text, text.replace("total", "amount"))
    found = mine(repo)
    assert found.edits == []
    assert found.report.dropped["rename-only"] >= 5
    kept = mine(repo, keep=("rename-only",))
    assert (example.token[0], example.token[0].replace("total", "amount")) in kept.texts
    assert "rename-only" not in kept.report.dropped


@every_language
def test_another_literal_is_no_edit_unless_asked_for(repo: Repo, language: str, example: Example) -> None:
    before = example.token[0]
    after = before.replace('"a"', '"b"').replace("'a'", "'b'")
    found = change(repo, example, before, after)
    assert (found.edits, found.report.dropped) == ([], {"literal-only": 1})
    assert mine(repo, keep=("literal-only",)).texts == [(before, after)]


@every_language
def test_code_that_does_not_parse_is_no_edit(repo: Repo, language: str, example: Example) -> None:
    before = example.token[0]
    found = change(repo, example, before, before.replace(", ", " ] ("))
    assert found.edits == []
    assert set(found.report.dropped) & {"syntax-error", "no-unit", "unaligned"}


def test_only_the_languages_asked_for(repo: Repo) -> None:
    for at in (0, 1):
        repo.commit({e.name: e.text.replace(e.token[0], e.token[at]) for e in EXAMPLES.values()})
    assert mine(repo).report.languages == dict.fromkeys(EXAMPLES, 1)
    assert mine(repo, languages=("go", "rust")).report.languages == {"go": 1, "rust": 1}
    with pytest.raises(UserError, match="Did you mean python"):
        mine(repo, languages=("pyton",))
    with pytest.raises(UserError, match="--recipe prose"):
        mine(repo, languages=("markdown",))


# --- where one edit ends and the next begins

BODY = """class A
{{
    int limit;

    void M(int start)
    {{
        var total = start;
        Log(total);
        {}
        Log(limit);
        Log(start);
        Log(total, start);
    }}
}}
"""


def body(repo: Repo, before: str, after: str, recipe: str = "default") -> Mined:
    """What mining makes of one statement in place of another."""
    repo.edit("a.cs", BODY.format(before), BODY.format(after))
    return mine(repo, recipe)


def test_two_statements_that_change_together_are_two_edits(repo: Repo) -> None:
    found = body(repo, "Send(total);\n        Wait(total);", "Send(total, 1);\n        Wait(total, 1);")
    assert found.texts == [("Send(total);", "Send(total, 1);"), ("Wait(total);", "Wait(total, 1);")]
    assert [edit.id[-4:] for edit in found.edits] == ["cs_0", "cs_1"]


def test_a_statement_that_becomes_two_is_one_edit(repo: Repo) -> None:
    found = body(repo, "Send(total, start);", "Send(total);\n        Send(start);")
    assert found.texts == [("Send(total, start);", "Send(total);\n        Send(start);")]


def test_a_local_is_not_the_member_of_another_object(repo: Repo) -> None:
    edit = body(repo, "other.start = start;", "other.start = total;").only
    assert edit.model_before == ("other", ".", "start", "=", "VAR0", ";")
    assert edit.model_after == ("other", ".", "start", "=", "VAR1", ";")


def test_a_comment_behind_a_statement_is_not_part_of_it(repo: Repo) -> None:
    assert body(repo, "Send(total); // old", "Send(start); // new").texts == [("Send(total);", "Send(start);")]


def test_the_number_of_lines(repo: Repo) -> None:
    call = "Send(\n            {},\n            {},\n            {});"
    before, after = call.format("total", "total", "limit"), call.format("start", "limit", "total")
    assert body(repo, before, after).texts == [(before, after)]
    assert mine(repo, max_lines=2).report.dropped == {"too-many-lines": 1}


def test_the_number_of_tokens(repo: Repo) -> None:
    assert len(body(repo, "Send(total);", "Send(start);").edits) == 1
    assert len(mine(repo, max_tokens=6).edits) == 1
    assert mine(repo, max_tokens=5).report.dropped == {"too-long": 1}


def test_a_rewrite(repo: Repo) -> None:
    found = body(repo, "Send(total, 5);", "throw new Exception(Text.Of(limit) + Name);")
    assert (found.edits, found.report.dropped) == ([], {"rewrite": 1})
    assert len(mine(repo, keep=("rewrite",)).edits) == 1


# --- the recipe iclr19


def test_iclr19_takes_single_statements_and_renames_by_name_alone(repo: Repo) -> None:
    edit = body(repo, "other.start = start;", "other.start = total;", "iclr19").only
    assert edit.model_before == ("other", ".", "VAR0", "=", "VAR0", ";")
    assert edit.model_after == ("other", ".", "VAR0", "=", "VAR1", ";")
    assert (len(edit.context_before), len(edit.context_behind)) == (11, 17)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("if (total > limit) Send(total);", "if (total > start) Send(total);", "no-unit"),
        ("return;", "return total;", "no-unit"),
        ("Send(total,\n            start);", "Send(limit,\n            start);", "no-unit"),
        ("Send(total, start);", "Send(total);\n        Send(start);", "line-counts-differ"),
        ("total = 2;", "total = 3;", "literal-only"),
        ("x();", "y();", None),
        ("total = start;", "total = limit;", None),
    ],
)
def test_what_iclr19_takes(repo: Repo, before: str, after: str, reason: str | None) -> None:
    found = body(repo, before, after, "iclr19")
    assert found.report.dropped == ({reason: 1} if reason else {})
    assert found.texts == ([] if reason else [(before, after)])


def test_iclr19_merges_what_is_close_and_drops_what_is_crowded(repo: Repo) -> None:
    text = BODY.format("Send(total, 5);")
    near = text.replace("Send(total, 5)", "Send(total, limit)").replace("Log(start);", "Log(start, 1);")
    repo.edit("a.cs", text, near)
    edit = mine(repo, "iclr19").only
    assert edit.before.text == "Send(total, 5);\n        Log(limit);\n        Log(start);"
    far = text.replace("Send(total, 5)", "Send(total, limit)").replace("Log(total, start)", "Log(start, 1)")
    repo.commit({"a.cs": text})
    repo.commit({"a.cs": far})
    last = ("HEAD~1..HEAD",)
    assert mine(repo, "iclr19", revisions=last).report.dropped == {"crowded": 2}
    assert len(mine(repo, "iclr19", revisions=last, keep=("crowded",)).edits) == 2
    assert len(mine(repo, revisions=last).edits) == 2


def test_iclr19_drops_the_trivial(repo: Repo) -> None:
    """Nothing but literals and punctuation on a side tells nothing."""
    before, after = "'a' + 'b';", "'a', 'b';"
    repo.edit("a.js", f"f();\n{before}\n", f"f();\n{after}\n")
    assert reasons(mine(repo, "iclr19")) == (0, {"trivial": 1})
    assert mine(repo, "iclr19", keep=("trivial",)).texts == [(before, after)]
    assert mine(repo).texts == [(before, after)]


# --- the recipe prose

PROSE = """# A title

First comes a sentence. The quick fox jumps over the dog. Last comes this one.

```
code in a fence
```

Another paragraph is here.
"""


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.rst", "a.tex"])
def test_prose_gives_the_sentence(repo: Repo, name: str) -> None:
    text = PROSE.replace("# A title\n\n", "").replace("```\n", "")
    repo.edit(name, text, text.replace("quick fox", "slow fox"))
    edit = mine(repo, "prose").only
    assert edit.before.text == "The quick fox jumps over the dog."
    assert edit.after.text == "The slow fox jumps over the dog."
    assert edit.before.tokens == ("The", "quick", "fox", "jumps", "over", "the", "dog", ".")
    assert edit.context_before == ("First", "comes", "a", "sentence", ".")
    assert edit.context_behind == ("Last", "comes", "this", "one", ".")
    assert edit.canonical is None
    assert edit.source is not None
    assert edit.source.lines_before == (1, 1)
    assert mine(repo).edits == []


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("quick fox jumps over the dog", "slow fox jumps over the cat", "scattered"),
        ("The quick", "One more sentence. The quick", "pure-insertion"),
        (" Last comes this one.", "", "pure-deletion"),
        ("sentence. The", "sentence.\nThe", "formatting"),
        ("code in", "text in", "no-unit"),
        ("The quick fox jumps over the dog.", "Nothing of it remains at all in this text now.", "rewrite"),
        ("here.\n", "here.\n\nA new paragraph is born.\n", "pure-insertion"),
        ("\nAnother paragraph is here.\n", "", "pure-deletion"),
    ],
)
def test_what_prose_drops(repo: Repo, before: str, after: str, reason: str) -> None:
    repo.edit("a.md", PROSE, PROSE.replace(before, after))
    found = mine(repo, "prose")
    assert (found.edits, found.report.dropped) == ([], {reason: 1})
    if reason in {"scattered", "rewrite"}:
        assert len(mine(repo, "prose", keep=("scattered", "rewrite")).edits) == 1


# --- filters that look at more than one edit


def python(callee: str, *, around: str = "start") -> str:
    return f"def f(items):\n    {around}()\n    total = {callee}(items)\n    return total\n"


def reasons(found: Mined) -> tuple[int, dict[str, int]]:
    return len(found.edits), dict(found.report.dropped)


def commits_of(edits: list[Edit]) -> list[str]:
    return [edit.source.commit for edit in edits if edit.source]


def test_a_cherry_pick_is_seen_once(repo: Repo) -> None:
    repo.commit({"a.py": python("first")})
    original = repo.commit({"a.py": python("last")}, day=50)
    repo.commit({"a.py": python("first", around="begin")})
    repo.commit({"a.py": python("last", around="begin")}, day=50)
    found = mine(repo)
    assert (commits_of(found.edits)[0], found.report.dropped) == (original, {"cherry-pick": 1})
    assert "cherry-pick" not in mine(repo, keep=("cherry-pick",)).report.dropped
    assert len(mine(repo, keep=("cherry-pick",)).edits) == len(found.edits) + 1


def test_the_same_change_by_another_author_or_at_another_time_is_no_cherry_pick(repo: Repo) -> None:
    for author, day, around in (("Ada", 50, "a"), ("Bo", 50, "b"), ("Ada", 51, "c")):
        repo.commit({"a.py": python("first", around=around), "marker": around})
        repo.commit({"a.py": python("last", around=around)}, author=author, day=day)
    assert "cherry-pick" not in mine(repo).report.dropped


def test_an_edit_in_a_copied_file_is_seen_once(repo: Repo) -> None:
    repo.edit("a.py", python("first"), python("last"))
    repo.edit("copy/a.py", python("first"), python("last"))
    repo.edit("copy/b.py", python("first"), python("last"))
    found = mine(repo)
    assert reasons(found) == (2, {"near-duplicate": 1})
    assert [edit.source.path for edit in found.edits if edit.source] == ["a.py", "copy/b.py"]
    assert reasons(mine(repo, keep=("near-duplicate",))) == (3, {})


def test_a_frequent_edit_is_seen_only_so_often(repo: Repo) -> None:
    repo.commit({f"{at}.py": python("first", around=f"f{at}") for at in range(5)})
    repo.commit({f"{at}.py": python("last", around=f"f{at}") for at in range(5)})
    assert reasons(mine(repo)) == (5, {})
    assert reasons(mine(repo, max_repeats=2)) == (2, {"frequent": 3})
    assert reasons(mine(repo, max_repeats=2, keep=("frequent",))) == (5, {})


def test_a_commit_gives_only_so_many_edits(repo: Repo) -> None:
    repo.commit({f"{at}.py": python(f"first{at}") for at in range(5)})
    repo.commit({f"{at}.py": python(f"last{at}") for at in range(5)})
    repo.commit({"0.py": python("best0")})
    assert reasons(mine(repo)) == (6, {})
    capped = mine(repo, max_per_commit=2)
    assert reasons(capped) == (3, {"commit-cap": 3})
    assert capped.edits == mine(repo, max_per_commit=2).edits
    paths = [edit.source.path for edit in capped.edits if edit.source]
    assert paths[:2] == sorted(paths[:2])
    assert reasons(mine(repo, max_per_commit=2, keep=("commit-cap",))) == (6, {})


@pytest.mark.parametrize("name", ["a_pb2.py", "jquery.min.js", "Form.Designer.cs", "api.pb.go", "parser.generated.ts"])
def test_a_generated_file_by_its_name(repo: Repo, name: str) -> None:
    repo.edit(name, "x = first(1);\n", "x = last(1);\n")
    assert mine(repo).report.dropped == {"generated": 1}
    assert "generated" not in mine(repo, keep=("generated",)).report.dropped


@pytest.mark.parametrize(
    "head",
    [
        "# @generated by a tool",
        "# Code generated by protoc-gen-go. DO NOT EDIT.",
        "# This file was automatically generated by SWIG",
        "# <auto-generated>",
    ],
)
def test_a_generated_file_by_what_it_says(repo: Repo, head: str) -> None:
    repo.edit("a.py", f"{head}\n{python('first')}", f"{head}\n{python('last')}")
    assert reasons(mine(repo)) == (0, {"generated": 1})
    assert reasons(mine(repo, keep=("generated",))) == (1, {})


@pytest.mark.parametrize("folder", ["vendor", "src/third_party", "node_modules/x", "a/Vendor/b"])
def test_a_vendored_file(repo: Repo, folder: str) -> None:
    repo.commit({f"{folder}/a.py": python("first"), "vendored_by_us.py": python("first")})
    repo.commit({f"{folder}/a.py": python("last"), "vendored_by_us.py": python("last")})
    assert reasons(mine(repo)) == (1, {"vendored": 1})
    assert reasons(mine(repo, keep=("vendored",))) == (2, {})


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tests/catch.hpp", True),
        ("catch_amalgamated.cpp", True),
        ("src/sqlite3.c", True),
        ("web/js/jquery-3.1.0.js", True),
        ("jquery-1.9.1.slim.js", True),
        ("src/jquery.js", False),
        ("src/catch_all.hpp", False),
        ("try-catch.js", False),
        ("lib/sqlite3.py", False),
        ("migrate-2.js", False),
    ],
)
def test_a_library_in_one_file(path: str, expected: bool) -> None:
    assert is_vendored(path) is expected


def test_a_commit_that_mostly_moves_white_space_gives_nothing(repo: Repo) -> None:
    def file(gap: str, callee: str) -> str:
        return "".join(f"x{at} = f({at},{gap}y)\n\n" for at in range(45)) + python(callee)

    repo.edit("a.py", file("", "first"), file(" ", "last"))
    assert reasons(mine(repo)) == (0, {"formatting": 45, "mass-reformatting": 1})
    assert reasons(mine(repo, keep=("mass-reformatting",))) == (1, {"formatting": 45})


def test_only_some_filters_can_be_off() -> None:
    with pytest.raises(UserError, match="this filter cannot be turned off"):
        get_recipe("default", keep=("syntax-error",))


# --- any number of processes


@pytest.mark.parametrize("recipe", ["default", "iclr19"])
def test_one_process_and_two_write_the_same_file(repo: Repo, tmp_path: Path, recipe: str) -> None:
    example = EXAMPLES["csharp"]
    repo.history(
        {
            example.name: example.text.replace("Log(total", f"Log{at % 50}(total").encode(),
            "b.cs": b"class B%d {}\n" % at,
        }
        for at in range(300)
    )
    files = []
    for workers in (1, 2):
        chosen = get_recipe(recipe)
        task = MiningTask(git.open_repository(repo.path), chosen, pick_languages((), chosen), ())
        files.append(tmp_path / f"{workers}.parquet")
        report = mine_to_file(MiningRequest(task, workers=workers, resume=False), files[-1])
        assert report.mined_now == 300
        assert report.edits >= 49
    assert files[0].read_bytes() == files[1].read_bytes()
