"""From places to edits: which an action takes, what stands in the answer, and what is written to the disk."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lsprotocol import types

import editvec
from editvec.core.match import Suggestion
from editvec.ui.lsp.actions import choose
from editvec.ui.lsp.buffers import OpenBuffer
from editvec.ui.lsp.clients import ClientFacts
from editvec.ui.lsp.edits import REVIEW, SURE, TextSource, workspace_edit, write_files
from editvec.ui.lsp.offers import Offer
from editvec.ui.lsp.roots import WorkspaceRoot
from tests.conftest import Repo

ASKS = ClientFacts(has_annotations=True, honors_annotations=True, has_versions=True)
PLAIN = ClientFacts(has_versions=True)


@pytest.fixture
def root(repo: Repo) -> Iterator[WorkspaceRoot]:
    with ThreadPoolExecutor(1) as worker:
        yield WorkspaceRoot(repo.path, repo.path, "utf-16", worker, lambda _: None)


def place(path: str, confidence: float, text: bytes = b"x = old\n") -> Suggestion:
    start = text.index(b"old")
    return Suggestion(path, 1, 5, start, start + 3, "old", "new", confidence, "same line", "e")


def offer_of(*places: Suggestion, text: bytes = b"x = old\n") -> Offer:
    return Offer("e", "old → new", (), frozenset(), places, {each.path: text for each in places})


def test_uncertain_places_are_for_clients_that_ask(root: WorkspaceRoot) -> None:
    offer = offer_of(place("a.py", 0.9), place("b.py", 0.5))
    asked, plain = choose(root, offer, ASKS), choose(root, offer, PLAIN)
    assert asked is not None and plain is not None
    assert [each.path for each in asked.suggestions] == ["a.py", "b.py"]
    assert asked.title == "editvec: Make the same change in 1 more place, review 1 (2 files)"
    assert [each.path for each in plain.suggestions] == ["a.py"]
    assert choose(root, offer_of(place("b.py", 0.5)), PLAIN) is None
    only = choose(root, offer_of(place("b.py", 0.5)), ASKS)
    assert only is not None and only.title == "editvec: Review 1 place for the same change (1 file)"


def test_too_many_files_are_not_opened(root: WorkspaceRoot) -> None:
    many = [place(f"f{n}.py", 0.9) for n in range(20)]
    choice = choose(root, offer_of(*many, place("g.py", 0.5)), ASKS)
    assert choice is not None and not choice.is_written
    assert len(choice.suggestions) == 20, "possible places only as long as their files can be opened"
    more = choose(root, offer_of(*many, place("h.py", 0.85)), PLAIN)
    assert more is not None and more.is_written and more.title.endswith("(21 files, written to the disk)")
    root.buffers["h.py"] = OpenBuffer("file:///h.py", Path("/h.py"), "x = old\n", 1, "utf-16")
    fewer = choose(root, offer_of(*many, place("h.py", 0.85)), PLAIN)
    assert fewer is not None and not fewer.is_written


def test_edits_have_annotations_versions_and_columns_of_the_client(repo: Repo) -> None:
    wide, marked = "😀 = old\n".encode(), b"\xef\xbb\xbfx = old\n"
    repo.write({"a.py": wide, "b.py": marked})
    source = TextSource(repo.path, {"a.py": ("untitled:a", 7, wide)})
    places = [place("a.py", 0.9, wide), place("b.py", 0.5, marked)]
    planned = source.plan(places, {"a.py": wide, "b.py": marked})
    edit = workspace_edit(planned, ASKS, "utf-16")
    assert edit.change_annotations and [each.needs_confirmation for each in edit.change_annotations.values()] == [
        *(False, True)
    ]
    one, other = edit.document_changes or ()
    assert isinstance(one, types.TextDocumentEdit) and isinstance(other, types.TextDocumentEdit)
    assert (one.text_document.uri, one.text_document.version, other.text_document.version) == ("untitled:a", 7, None)
    # 😀 is two units wide; editors do not show the byte order mark.
    assert one.edits == [types.AnnotatedTextEdit(SURE, _span(0, 5, 8), "new")]
    assert other.edits == [types.AnnotatedTextEdit(REVIEW, _span(0, 4, 7), "new")]
    plain = workspace_edit(planned, ClientFacts(), "utf-32")
    assert plain.document_changes is None and plain.changes
    assert plain.changes["untitled:a"] == [types.TextEdit(_span(0, 4, 7), "new")]


def _span(line: int, start: int, end: int) -> types.Range:
    return types.Range(types.Position(line, start), types.Position(line, end))


def test_files_that_have_changed_or_would_break_are_left_alone(repo: Repo) -> None:
    text = b"x = old\n"
    repo.write({"same.py": text, "changed.py": b"y = old\n", "latin.py": b"x = old # \xe9\n", "bad.py": text})
    breaking = Suggestion("bad.py", 1, 5, 4, 7, "old", "((", 0.9, "", "e")
    places = [place("same.py", 0.9), place("changed.py", 0.9), place("latin.py", 0.9), breaking, place("gone.py", 0.9)]
    planned = TextSource(repo.path, {}).plan(places, {each.path: text for each in places})
    assert [file.path.name for file in planned.files] == ["same.py"]
    assert {each.partition(":")[0] for each in planned.problems} == {"changed.py", "latin.py", "bad.py", "gone.py"}


def test_written_files_keep_their_line_ends_and_are_taken_back(repo: Repo) -> None:
    text = b"x = old\r\ny = 1\r\n"
    repo.commit({"a.py": text, "open.py": text})
    more = Suggestion("a.py", 1, 5, 4, 7, "old", "new\nz = 2", 0.9, "", "e")
    source = TextSource(repo.path, {"open.py": ("file:///open.py", 1, text)})
    planned = source.plan([more, place("open.py", 0.9, text)], {"a.py": text, "open.py": text})
    rest = write_files(planned, repo.path)
    assert (repo.path / "a.py").read_bytes() == b"x = new\r\nz = 2\r\ny = 1\r\n"
    assert [file.path.name for file in rest.files] == ["open.py"] and rest.problems == []
    assert (repo.path / "open.py").read_bytes() == text, "an open document is for the editor"
    assert editvec.undo(repo.path).num_edits == 1
    assert (repo.path / "a.py").read_bytes() == text
