"""The server as editors use it: a process, the protocol, and the recorded capabilities of three editors."""

from __future__ import annotations

import asyncio
import os
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
EDITORS = {"visual-studio-code": "utf-16", "neovim": "utf-8", "emacs": "utf-32"}
MANY = 24


@pytest_asyncio.fixture(loop_scope="module", scope="module", params=EDITORS)
async def any_editor(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Editor]:
    """One server per recorded editor, for all tests of this file."""
    editor = make_editor()
    home = tmp_path_factory.mktemp("home")
    env = {**os.environ, "XDG_CACHE_HOME": str(home / "cache")}
    await editor.start(request.param, [], env, {"settings": {"idleSeconds": 0.1}})
    assert editor.encoding == EDITORS[request.param]
    yield editor
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


async def test_the_same_change_is_offered_where_it_was_made(editor: Editor, project: Repo) -> None:
    orders, users = project.path / "tests/test_orders.py", project.path / "tests/test_users.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual")
    actions = await editor.actions(orders, "assertEqual(")
    (title,) = actions
    assert actions[title].kind == "refactor.rewrite"
    edit = await editor.choose(actions[title])
    # 😀 is one, two or four columns wide. If one place were wrong, the text would not be this one.
    assert editor.text(orders) == HEAD + WIDE.replace("assertEquals", "assertEqual")
    if edit.change_annotations is None:
        assert "review" not in title
        assert "assertEquals" in editor.text(users), "a client that cannot ask gets the likely places alone"
    else:
        assert "review 4 (2 files)" in title
        assert editor.text(users) == USERS.replace("assertEquals", "assertEqual")


async def test_ticks_follow_confidence(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual")
    (action,) = (await editor.actions(orders, "assertEqual(")).values()
    edit = await editor.choose(action)
    if not edit.change_annotations:
        return
    assert edit.change_annotations[SURE].needs_confirmation is False
    assert edit.change_annotations[REVIEW].needs_confirmation is True
    (params,) = editor.applied
    assert params.label == "editvec: make the same change"
    found = {}
    for change in edit.document_changes or ():
        assert isinstance(change, types.TextDocumentEdit)
        for each in change.edits:
            assert isinstance(each, types.AnnotatedTextEdit)
            found.setdefault(each.annotation_id, []).append(Path(change.text_document.uri).name)
    assert found == {SURE: ["test_orders.py"] * 5, REVIEW: ["test_users.py"] * 4}


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
    assert "test_orders.py:3 and 1 more: assertEquals → assertEqual" in first.message
    fixes = await editor.actions(orders, "assertEquals(total(2)")
    fix = next(each for title, each in fixes.items() if "here: assertEquals → assertEqual" in title)
    assert fix.kind == "quickfix" and fix.diagnostics and fix.diagnostics[0].message == first.message
    await editor.choose(fix)
    await editor.wait_for_hints(orders, [15, 19, 23])
    editor.replace(orders, "assertEquals", "assertEqual", 3)
    await editor.wait_for_hints(orders, [])


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


async def test_a_refused_place_stays_refused_when_it_moves(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual", 2)
    await editor.wait_for_hints(orders, [11, 15, 19, 23])
    refuse = (await editor.actions(orders, "assertEquals(total(3)"))["editvec: Do not suggest this change here"]
    await editor.choose(refuse)
    await editor.until(lambda: 15 not in editor.hints(orders))
    editor.replace(orders, "😀 é\n", "😀 é\n\n\n")
    await editor.until(lambda: 13 in editor.hints(orders))
    await editor.settle()
    assert 17 not in editor.hints(orders)


async def test_a_muted_edit_is_not_offered(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual", 2)
    await editor.wait_for_hints(orders, [11, 15, 19, 23])
    await editor.choose((await editor.actions(orders, "assertEquals("))["editvec: Mute this change"])
    await editor.wait_for_hints(orders, [])
    assert await editor.actions(orders, "assertEqual(") == {}


async def test_an_incomplete_edit_offers_nothing(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals(total(0), 0)", "assertEqual(total(0")
    assert await editor.actions(orders, "assertEqual(") == {}
    editor.replace(orders, "assertEqual(total(0", "assertEqual(total(0), 0)")
    assert len(await editor.actions(orders, "assertEqual(")) == 1


async def test_only_the_asked_kinds_are_answered(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual")
    assert len(await editor.actions(orders, "assertEqual(", only=["refactor"])) == 1
    assert await editor.actions(orders, "assertEqual(", only=["quickfix"]) == {}
    assert await editor.actions(orders, "assertEqual(", only=["source.fixAll"]) == {}


async def test_too_many_files_are_written_to_the_disk_and_taken_back(editor: Editor, project: Repo) -> None:
    # The same call in the same surroundings, so that all places are likely.
    each = ORDERS.replace("total", "total_of")
    project.commit({f"tests/more/test_{n}.py": each for n in range(MANY)})
    first = project.path / "tests/more/test_0.py"
    editor.open(first)
    editor.replace(first, "assertEquals", "assertEqual", 3)
    actions = await editor.actions(first, "assertEqual(")
    (title,) = actions
    assert "written to the disk" in title
    await editor.choose(actions[title])
    assert editor.text(first) == each.replace("assertEquals", "assertEqual")
    assert all("assertEquals" not in editor.text(project.path / f"tests/more/test_{n}.py") for n in range(MANY))
    assert "editvec undo" in editor.client.messages[-1].message
    await editor.run("editvec.undo", {"uri": editor.uri(first)})
    assert (project.path / "tests/more/test_1.py").read_text() == each


async def test_the_palette_finishes_explains_and_describes(editor: Editor, project: Repo) -> None:
    orders, users = project.path / "tests/test_orders.py", project.path / "tests/test_users.py"
    # An edit of the work tree that the editor knows nothing of.
    project.write({"tests/test_users.py": USERS.replace("assertEquals", "assertEqual", 2)})
    uri = editor.open(orders)
    await editor.run("editvec.finish", {"uri": uri})
    assert "assertEquals" not in editor.text(users)
    editor.replace(orders, "print", "say", 2)
    said = await editor.run("editvec.explain", {"uri": uri})
    assert "print" in str(said) and "likely of" in str(said)
    about = await editor.run("editvec.debugInformation")
    assert f'"position encoding": "{editor.encoding}"' in str(about) and str(project.path) in str(about)


async def test_files_outside_the_workspace_get_no_answer(editor: Editor, make_repo: Callable[..., Repo]) -> None:
    other = make_repo("other")
    other.commit({"a.py": ORDERS})
    file = other.path / "a.py"
    editor.open(file)
    editor.replace(file, "assertEquals", "assertEqual")
    assert await editor.actions(file, "assertEqual(") == {}
    editor.close(file)


async def test_the_edit_of_one_folder_is_not_offered_in_another(editor: Editor, make_repo: Callable[..., Repo]) -> None:
    other = make_repo("other")
    other.commit({"a.py": ORDERS})
    file = other.path / "a.py"
    editor.add(other.path)
    editor.open(file)
    editor.replace(file, "assertEquals", "assertEqual")
    (action,) = (await editor.actions(file, "assertEqual(")).values()
    assert action.title.endswith("(1 file)")
    editor.remove(other.path)


async def test_requests_for_documents_that_are_gone_are_answered(editor: Editor, project: Repo) -> None:
    orders = project.path / "tests/test_orders.py"
    editor.open(orders)
    editor.replace(orders, "assertEquals", "assertEqual")
    actions = [each for each in (await editor.actions(orders, "assertEqual(")).values() if each.data]
    editor.close(orders)
    for action in actions:
        with pytest.raises(Exception, match=r"(?i)modified"):
            await asyncio.wait_for(editor.client.code_action_resolve_async(action), 10)


async def test_learned_patterns_are_due_fixed_and_refused(editor: Editor, make_repo: Callable[..., Repo]) -> None:
    learned = make_repo("learned")
    for number in range(4):
        name = f"mod{number}.py"
        text = f"def f{number}(x):\n    return dict(x.items_{number}())\n"
        learned.commit({name: f"def f{number}(x):\n    log.warn('value %s', x)\n" + text, "n.txt": str(number)})
        learned.commit({name: f"def f{number}(x):\n    log.warning('value %s', x)\n" + text})
    body = "".join(f"def g{n}(y):\n    log.warn('other {n}', y)\n\n\n" for n in range(3))
    learned.commit({"late.py": body})
    editvec.learn(learned.path, model="none")
    late = learned.path / "late.py"
    editor.add(learned.path)
    uri = editor.open(late)
    await editor.wait_for_hints(late, [2, 6, 10])
    first = editor.client.diagnostics[uri][0]
    assert "log.warning" in first.message or "warning" in first.message
    actions = await editor.actions(late, "log.warn('other 0'")
    refuse = next(each for title, each in actions.items() if title.startswith("editvec: Do not suggest"))
    await editor.choose(refuse)
    await editor.wait_for_hints(late, [6, 10])
    for kind in ("source.fixAll.editvec", "source.fixAll"):
        fixes = await editor.actions(late, "def g0", only=[kind])
        assert all(each.kind == "source.fixAll.editvec" for each in fixes.values())
    editor.remove(learned.path)
