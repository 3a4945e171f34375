"""Model folders that are not what they say: one clear line each."""

from __future__ import annotations

from pathlib import Path

import pytest

import editvec
from editvec.errors import BadInputError, UserError
from editvec.model import CONFIG, VOCAB, WEIGHTS
from tests.model.edits import random_edits, small_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small_model(random_edits(5)).save(tmp_path / "m")
    return tmp_path / "m"


def _refused(folder: Path, complaint: str) -> None:
    with pytest.raises(UserError, match=complaint) as caught:
        editvec.load(folder)
    assert "\n" not in str(caught.value)


def test_no_folder(tmp_path: Path) -> None:
    _refused(tmp_path / "nowhere", "is not a folder")


@pytest.mark.parametrize("name", [CONFIG, VOCAB, WEIGHTS])
def test_a_missing_file(name: str, folder: Path) -> None:
    (folder / name).unlink()
    _refused(folder, f"{name} is missing")


def test_a_wrong_size(folder: Path) -> None:
    text = (folder / CONFIG).read_text()
    (folder / CONFIG).write_text(text.replace("hidden_dim = 48", "hidden_dim = 64"))
    _refused(folder, "has the size .* its config and vocabulary make it")


def test_a_size_that_no_machine_has(folder: Path) -> None:
    text = (folder / CONFIG).read_text()
    (folder / CONFIG).write_text(text.replace("hidden_dim = 48", "hidden_dim = 60000"))
    _refused(folder, "has the size .* its config and vocabulary make it")


def test_other_layers(folder: Path) -> None:
    text = (folder / CONFIG).read_text()
    (folder / CONFIG).write_text(text.replace('encoder = "sequence"', 'encoder = "bag"'))
    _refused(folder, "not the weights of this config: .* is missing")
    (folder / CONFIG).write_text(text.replace("copy = true", "copy = false"))
    _refused(folder, "not the weights of this config: it has no")


@pytest.mark.parametrize("keep", [0, 5, 300, -1])
def test_cut_weights(keep: int, folder: Path) -> None:
    file = folder / WEIGHTS
    file.write_bytes(file.read_bytes()[:keep])
    _refused(folder, "not sound weights")


def test_a_misspelt_key(folder: Path) -> None:
    (folder / CONFIG).write_text("[model]\nembed_dims = 32\n")
    _refused(folder, "no setting 'embed_dims'. Did you mean embed_dim?")


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1}', b"[1]", b'["a", "a"]', b"\xff"])
def test_a_damaged_vocabulary(content: bytes, folder: Path) -> None:
    (folder / VOCAB).write_bytes(content)
    _refused(folder, "not a vocabulary")


def test_vectors_of_another_size(folder: Path) -> None:
    model = editvec.load(folder)
    with pytest.raises(UserError, match="has 32 numbers"):
        model.apply("a ;", model.encode(random_edits(1))[0][:-1])
    with pytest.raises(UserError, match="either an edit vector or an example"):
        model.apply("a ;")


def test_an_edit_longer_than_the_limit(folder: Path) -> None:
    model = editvec.load(folder)
    with pytest.raises(UserError, match=r"its before has 101 tokens, this model reads up to 100"):
        model.apply(";" * 101, model.encode(random_edits(1))[0])


def test_a_damaged_list_of_what_was_seen(tmp_path: Path) -> None:
    from editvec.seen import Seen

    (tmp_path / "seen.u64").write_bytes(b"123")
    with pytest.raises(BadInputError, match="cut short"):
        Seen.load(tmp_path / "seen.u64")
