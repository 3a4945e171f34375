"""Model folders that are not what they say: one clear line each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

import editvec
from editvec.core.errors import BadInputError, UserError
from editvec.neural.model import CONFIG, GRAMMAR, SECOND, VOCAB, WEIGHTS, EditModel
from editvec.suggest.edit import edit as edit_snippet
from tests.neural.edits import random_edits, small_model


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
    _refused(folder, "has the shape .* but the config and the vocabulary need")


def test_a_size_that_no_machine_has(folder: Path) -> None:
    text = (folder / CONFIG).read_text()
    (folder / CONFIG).write_text(text.replace("hidden_dim = 48", "hidden_dim = 60000"))
    _refused(folder, "has the shape .* but the config and the vocabulary need")


def test_other_layers(folder: Path) -> None:
    text = (folder / CONFIG).read_text()
    (folder / CONFIG).write_text(text.replace('encoder = "sequence"', 'encoder = "bag"'))
    _refused(folder, "the weights do not match the config: .* is missing")
    (folder / CONFIG).write_text(text.replace("copy = true", "copy = false"))
    _refused(folder, "the weights do not match the config, which has no")


@pytest.mark.parametrize("keep", [0, 5, 300, -1])
def test_cut_weights(keep: int, folder: Path) -> None:
    file = folder / WEIGHTS
    file.write_bytes(file.read_bytes()[:keep])
    _refused(folder, "damaged weights")


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
        edit_snippet("a ;", vector=model.encode(random_edits(1))[0][:-1], model=model)
    with pytest.raises(UserError, match="either examples of the edit"):
        edit_snippet("a ;", model=model)


def test_an_edit_longer_than_the_limit(folder: Path) -> None:
    model = editvec.load(folder)
    with pytest.raises(UserError, match=r"its before has 101 tokens, but this model reads at most 100"):
        edit_snippet(";" * 101, vector=model.encode(random_edits(1))[0], model=model)


def test_a_damaged_list_of_what_was_seen(tmp_path: Path) -> None:
    from editvec.data.digests import TrainingDigests

    (tmp_path / "seen.u64").write_bytes(b"123")
    with pytest.raises(BadInputError, match="truncated"):
        TrainingDigests.load(tmp_path / "seen.u64")


def _with_second(folder: Path) -> EditModel:
    """The model in a folder, and beside it another with its reader and encoder and an editor of its own."""
    edits = random_edits(5)
    first = editvec.load(folder)
    second = small_model(edits, editor="graph2tree")
    weights = second.network.weights()
    for name, array in first.network.named_arrays().items():
        if not name.startswith("editor."):
            weights[name].value = array.copy()
    second.save(folder / SECOND)
    return second


def test_a_second_editor_is_found_beside_the_first(folder: Path) -> None:
    assert editvec.load(folder).second is None
    second = _with_second(folder)
    edits = random_edits(5)
    found = editvec.load(folder)
    assert found.second is not None
    # The two put edits into batches in other orders, and on some processors a row's last bit depends on its place.
    np.testing.assert_allclose(found.second.encode(edits), found.encode(edits), atol=1e-6)
    whole = second.network.named_arrays()
    for name, weight in found.second.network.named_arrays().items():
        np.testing.assert_array_equal(weight, whole[name], name)
    # A file of the editor alone is enough: the rest is the model's own.
    own = {name: weight for name, weight in second.network.named_arrays().items() if name.startswith("editor.")}
    (folder / SECOND / WEIGHTS).write_bytes(safetensors.numpy.save(own))
    (folder / SECOND / VOCAB).unlink()
    again = editvec.load(folder).second
    assert again is not None
    for name, weight in again.network.named_arrays().items():
        np.testing.assert_array_equal(weight, whole[name], name)


def test_a_second_editor_of_another_model_is_refused(folder: Path) -> None:
    second = _with_second(folder)
    next(iter(second.network.encoder.weights().values())).value += 1.0
    second.save(folder / SECOND)
    _refused(folder, "differs from the weight of the model")


def test_a_second_editor_of_other_sizes_is_refused(folder: Path) -> None:
    second = _with_second(folder)
    text = (folder / SECOND / CONFIG).read_text()
    (folder / SECOND / CONFIG).write_text(text.replace("hidden_dim = 48", "hidden_dim = 64"))
    _refused(folder, "not the config of a second editor")
    second.save(folder / SECOND)
    (folder / SECOND / GRAMMAR).unlink()
    _refused(folder, f"{GRAMMAR} is missing")
