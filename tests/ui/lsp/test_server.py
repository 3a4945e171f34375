"""The server as editors use it: a process, the protocol, and the recorded capabilities of three editors."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

import editvec
from editvec.ui.lsp.edits import REVIEW, SURE
from tests.conftest import Repo
from tests.suggest.test_finish import ORDERS, OTHER, USERS
from tests.ui.lsp.editor import Editor, make_editor

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning"),
]
HEAD = "# 😀 é\n"
"""A first line with characters of one to four bytes, one of them beyond the basic plane."""
WIDE = "".join(f"def test_{n}():\n    print('😀é'); self.assertEquals(total({n}), {n * 10})\n\n\n" for n in range(6))
ONE = pytest.mark.parametrize("any_editor", ["neovim"], indirect=True)
"""For what does not depend on what the client can do."""
EDITORS = {"visual-studio-code": "utf-16", "neovim": "utf-8", "emacs": "utf-32"}


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=EDITORS)
async def any_editor(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """One server per recorded editor, for all tests of this file."""
    editor = make_editor()
    home = tmp_path_factory.mktemp("home")
    env = {**os.environ, "XDG_CACHE_HOME": str(home / "cache")}
    await editor.start(request.param, [], env, {"settings": {"idleSeconds": 0.1}})
    try:
        assert editor.encoding == EDITORS[request.param]
        yield editor
    finally:
        await editor.stop()


@pytest.fixture
def project(repo: Repo) -> Repo:
    """A work tree with ten calls that can be renamed, in two files."""
    repo.commit({"tests/test_orders.py": HEAD + WIDE, "tests/test_users.py": USERS, "app.py": OTHER})
    return repo


@pytest.fixture
def editor(any_editor: Editor, project: Repo) -> Iterator[Editor]:
    """An editor with the project as a folder of its workspace."""
    any_editor.applied.clear()
    any_editor.client.messages.clear()
    any_editor.add(project.path)
    yield any_editor
    any_editor.remove(project.path)


def likely(project: Repo) -> Counter[str]:
    """The number of likely places per file, as the command line finds them after the first call was renamed."""
    orders = (project.path / "tests/test_orders.py").read_text(encoding="utf-8")
    users = (project.path / "tests/test_users.py").read_text(encoding="utf-8")
    renamed = (HEAD + WIDE).replace("assertEquals", "assertEqual", 1)
    project.write({"tests/test_orders.py": renamed, "tests/test_users.py": USERS})
    found = Counter(each.path for each in editvec.finish(repo=project.path).likely)
    project.write({"tests/test_orders.py": orders, "tests/test_users.py": users})
    return found


async def test_the_same_change_is_offered_where_it_was_made(editor: Editor, project: Repo) -> None:
    orders, users = project.path / "tests/test_orders.py", project.path / "tests/test_users.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual")
    actions = await editor.offered(orders, "assertEqual(")
    (title,) = actions
    assert actions[title].kind == "refactor.rewrite"
    edit = await editor.choose(actions[title])
    # 😀 is one, two or four columns wide. If one place were wrong, the text would not be this one.
    assert editor.text(orders) == HEAD + WIDE.replace("assertEquals", "assertEqual")
    if edit.change_annotations is None:
        assert "review" not in title, "a client that cannot ask gets the likely places alone"
        assert editor.text(users).count("assertEquals") == 4 - likely(project)["tests/test_users.py"]
    else:
        assert title.endswith("(2 files)")
        assert editor.text(users) == USERS.replace("assertEquals", "assertEqual")


async def test_ticks_follow_confidence(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual")
    (action,) = (await editor.offered(orders, "assertEqual(")).values()
    edit = await editor.choose(action)
    if not edit.change_annotations:
        return
    confirm = {name: each.needs_confirmation for name, each in edit.change_annotations.items()}
    assert {SURE: False, REVIEW: True}.items() >= confirm.items()
    (params,) = editor.applied
    assert params.label == "editvec: make the same change"
    sure = Counter[str]()
    for change in edit.document_changes or ():
        assert isinstance(change, types.TextDocumentEdit)
        assert all(isinstance(each, types.AnnotatedTextEdit) for each in change.edits)
        names = [each.annotation_id for each in change.edits if isinstance(each, types.AnnotatedTextEdit)]
        sure[f"tests/{Path(change.text_document.uri).name}"] += names.count(SURE)
    assert +sure == likely(project)


async def test_hints_come_after_the_second_edit_and_go_with_the_last_place(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    uri = editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual")
    await editor.settle()
    assert editor.hints(orders) == []
    editor.replace(orders, "assertEquals", "assertEqual")
    await editor.wait_for_hints(orders, [11, 15, 19, 23])
    first = editor.client.diagnostics[uri][0]
    assert first.severity == types.DiagnosticSeverity.Hint and first.source == "editvec"
    assert first.message.startswith("assertEquals → assertEqual, as in tests/test_orders.py:3 and 1 more (")
    fixes = await editor.actions(orders, "assertEquals(total(2)")
    fix = next(each for title, each in fixes.items() if "here: assertEquals → assertEqual" in title)
    assert fix.kind == "quickfix" and fix.diagnostics and fix.diagnostics[0].message == first.message
    await editor.choose(fix)
    await editor.wait_for_hints(orders, [15, 19, 23])
    editor.replace(orders, "assertEquals", "assertEqual", 3)
    await editor.wait_for_hints(orders, [])


@ONE
async def test_an_undo_or_a_redo_offers_nothing(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual", 2)
    await editor.wait_for_hints(orders, [11, 15, 19, 23])
    editor.replace(orders, "assertEqual(total(1)", "assertEquals(total(1)")
    await editor.wait_for_hints(orders, [])
    editor.replace(orders, "assertEquals(total(1)", "assertEqual(total(1)")
    await editor.settle()
    assert editor.hints(orders) == [] and await editor.actions(orders, "assertEqual(") == {}
    editor.replace(orders, "assertEquals(total(4)", "assertEqual(total(4)")
    await editor.wait_for_hints(orders, [11, 15, 23])


@ONE
async def test_what_the_user_took_back_is_not_offered_again(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual", 3)
    await editor.wait_for_hints(orders, [15, 19, 23])
    # Line 7 again as it was, with a change elsewhere, so that the text is none that it has been before.
    editor.replace(orders, "# 😀", "# changed 😀")
    editor.replace(orders, "assertEqual(total(1)", "assertEquals(total(1)")
    await editor.settle()
    assert editor.hints(orders) == [15, 19, 23]


@ONE
async def test_a_refused_place_stays_refused_when_it_moves(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual", 2)
    await editor.wait_for_hints(orders, [11, 15, 19, 23])
    refuse = (await editor.actions(orders, "assertEquals(total(3)"))["editvec: Do not suggest this change here"]
    await editor.choose(refuse)
    await editor.until(lambda: 15 not in editor.hints(orders))
    editor.replace(orders, "😀 é\n", "😀 é\n\n\n")
    editor.save(orders)
    await editor.until(lambda: 13 in editor.hints(orders))
    await editor.settle()
    assert 17 not in editor.hints(orders)


@ONE
async def test_a_muted_edit_is_not_offered(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual", 2)
    await editor.wait_for_hints(orders, [11, 15, 19, 23])
    await editor.choose((await editor.actions(orders, "assertEquals("))["editvec: Mute this change"])
    await editor.wait_for_hints(orders, [])
    assert await editor.actions(orders, "assertEqual(") == {}
    await editor.until(lambda: (project.path / "editvec.toml").exists())
    assert "[[mute]]" in (project.path / "editvec.toml").read_text()


@ONE
async def test_comments_and_settings_of_the_project_are_respected(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    (project.path / "editvec.toml").write_text('exclude = ["test_users.py"]\n')
    editor.open(orders)
    editor.replace(orders, "total(3), 30)", "total(3), 30)  # editvec: ignore")
    editor.replace(orders, "assertEquals", "assertEqual", 2)
    await editor.until(lambda: 19 in editor.hints(orders))
    assert 15 not in editor.hints(orders)
    offered = await editor.offered(orders, "assertEqual(")
    assert offered and all("file" in title and "(1 file" in title for title in offered)


@ONE
async def test_an_incomplete_edit_offers_nothing(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals(total(0), 0)", "assertEqual(total(0")
    assert await editor.actions(orders, "assertEqual(") == {}
    editor.replace(orders, "assertEqual(total(0", "assertEqual(total(0), 0)")
    assert len(await editor.offered(orders, "assertEqual(")) == 1


@ONE
async def test_only_the_asked_kinds_are_answered(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual")
    assert len(await editor.offered(orders, "assertEqual(")) == 1
    assert len(await editor.actions(orders, "assertEqual(", only=["refactor"])) == 1
    assert await editor.actions(orders, "assertEqual(", only=["quickfix"]) == {}
    assert await editor.actions(orders, "assertEqual(", only=["source.fixAll"]) == {}


@ONE
async def test_the_palette_finishes_what_the_editor_does_not_know(editor: Editor, project: Repo) -> None:
    orders, users = project.path / "tests/test_orders.py", project.path / "tests/test_users.py"
    project.write({"tests/test_users.py": USERS.replace("assertEquals", "assertEqual", 2)})
    uri = editor.open(orders)
    await editor.run("editvec.finish", {"uri": uri})
    assert "assertEquals" not in editor.text(users)


@ONE
async def test_the_palette_explains_and_describes(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    uri = editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual")
    await editor.offered(orders, "assertEqual(")
    said = await editor.run("editvec.explain", {"uri": uri, "line": 6})
    assert "made at tests/test_orders.py:3" in str(said) and "tests/test_orders.py:7: " in str(said)
    about = str(await editor.run("editvec.debugInformation"))
    assert f'"position encoding": "{editor.encoding}"' in about and str(project.path) in about


@ONE
async def test_files_outside_the_workspace_get_no_answer(editor: Editor, make_repo: Callable[..., Repo]) -> None:
    other = make_repo("other")
    other.commit({"a.py": ORDERS})
    file = other.path / "a.py"
    editor.open(file)
    editor.replace(file, "assertEquals", "assertEqual")
    assert await editor.actions(file, "assertEqual(") == {}
    editor.close(file)


@ONE
async def test_the_edit_of_one_folder_is_not_offered_in_another(editor: Editor, make_repo: Callable[..., Repo]) -> None:
    other = make_repo("other")
    other.commit({"a.py": ORDERS})
    file = other.path / "a.py"
    editor.add(other.path)
    editor.open(file)
    editor.replace(file, "assertEquals", "assertEqual")
    (action,) = (await editor.offered(file, "assertEqual(")).values()
    assert action.title.endswith("(1 file)")
    editor.remove(other.path)


@ONE
async def test_settings_change_while_the_server_runs(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    uri = editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual", 2)
    await editor.wait_for_hints(orders, [11, 15, 19, 23])
    editor.configure({"idleSeconds": 0.1, "hints": "information"})
    seen = editor.client.diagnostics
    await editor.until(lambda: {each.severity for each in seen[uri]} == {types.DiagnosticSeverity.Information})
    editor.configure({"idleSeconds": 0.1, "hints": "off", "idelSeconds": 1})
    await editor.wait_for_hints(orders, [])
    await editor.until(lambda: any("Did you mean idleSeconds?" in each.message for each in editor.client.log_messages))
    editor.configure({"idleSeconds": 0.1})


async def test_files_are_watched_if_the_client_does_that(editor: Editor) -> None:
    if editor.encoding == EDITORS["neovim"]:
        assert editor.registered == []
        return
    await editor.until(lambda: bool(editor.registered))
    (registered,) = editor.registered
    assert registered.method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    assert "**/.editvec/patterns.json" in str(registered.register_options)


@ONE
async def test_learning_is_a_command_with_progress(editor: Editor, project: Repo) -> None:
    uri = editor.open(project.path / "app.py")
    await editor.run("editvec.learn", {"uri": uri})
    assert editor.client.messages[-1].message == "editvec: 0 patterns with a verified rule."
    (reports,) = editor.client.progress_reports.values()
    assert [type(each).__name__ for each in reports] == ["WorkDoneProgressBegin", "WorkDoneProgressEnd"]
    assert (project.path / ".editvec/patterns.json").exists()


async def test_requests_for_documents_that_are_gone_are_answered(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual")
    actions = [each for each in (await editor.offered(orders, "assertEqual(")).values() if not each.edit]
    editor.close(orders)
    for action in (each for each in actions if not each.command):
        with pytest.raises(Exception, match=r"(?i)modified"):
            await asyncio.wait_for(editor.client.code_action_resolve_async(action), 10)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A history in which a call was renamed in four commits, with learned patterns, and a file where it was not."""
    learned = Repo.create(tmp_path_factory.mktemp("history") / "learned")
    for number in range(8):
        rest = f"\n\ndef f{number}(x):\n    return dict(x.items_{number}())\n"
        learned.commit({f"mod{number}.py": f"def h(x):\n    log.warn('value %s', x)\n{rest}"})
        learned.commit({f"mod{number}.py": f"def h(x):\n    log.warning('value %s', x)\n{rest}"})
    learned.commit({"late.py": LATE})
    editvec.learn(learned.path, model="none")
    return learned


LATE = "".join(f"def g{n}(y):\n    log.warn('other 😀 {n}', y)\n\n\n" for n in range(3))


async def test_learned_patterns_are_due_fixed_and_refused(editor: Editor, history: Repo) -> None:
    late = history.path / "late.py"
    editor.add(history.path)
    uri = editor.open(late)
    await editor.wait_for_hints(late, [2, 6, 10])
    first = editor.client.diagnostics[uri][0]
    assert (
        first.message.startswith("use `log.warning` instead of `log.warn`") and "people edited 8 of 8" in first.message
    )
    actions = await editor.actions(late, "log.warn('other 😀 1'")
    await editor.choose(next(each for each in actions.values() if each.diagnostics))
    assert editor.text(late) == LATE.replace("log.warn('other 😀 1'", "log.warning('other 😀 1'")
    await editor.wait_for_hints(late, [2, 10])
    actions = await editor.actions(late, "log.warn('other 😀 0'")
    await editor.choose(next(each for title, each in actions.items() if title.startswith("editvec: Do not suggest")))
    await editor.wait_for_hints(late, [10])
    for kind in ("source.fixAll.editvec", "source.fixAll"):
        (fix,) = (await editor.actions(late, "def g0", only=[kind])).values()
        assert fix.kind == "source.fixAll.editvec"
    await editor.choose(fix)
    # The refused place stays as it was.
    assert [line.strip()[:12] for line in editor.text(late).splitlines() if "log" in line] == [
        *("log.warn('ot", "log.warning(", "log.warning("),
    ]
    editor.remove(history.path)
