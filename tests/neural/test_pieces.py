"""Pieces: every token comes back from its pieces, and a model reads and writes with them what it never saw."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.neural.batch import collate, collate_source
from editvec.neural.examples import Exampler
from editvec.neural.names import MOST_PIECES
from editvec.neural.pieces import Pieces, learn_pieces
from editvec.neural.vocab import END, UNKNOWN, Vocab
from editvec.suggest.edit import edit as edit_snippet
from tests.neural.edits import edit, learn_by_heart, random_edits, small_model

WORDS = [
    f"{verb}{noun}{'s' * plural}" for verb in ("get", "set", "has") for noun in ("Item", "Name") for plural in (0, 1)
]
LEARNED = learn_pieces(WORDS, 30)


@given(st.text())
def test_every_token_comes_back(token: str) -> None:
    assert LEARNED.join(LEARNED.split(token)) == token
    assert Pieces(()).join(Pieces(()).split(token)) == token


def test_frequent_parts_become_pieces() -> None:
    assert [LEARNED.texts[number] for number in LEARNED.split("hasItems")] == ["has", "Items"]
    assert [LEARNED.texts[number] for number in LEARNED.split("setUp")] == ["set", "U", "p"]


def test_the_order_of_tokens_does_not_matter() -> None:
    shuffled = random.Random(0).sample(WORDS, len(WORDS))
    assert learn_pieces(shuffled, 30) == LEARNED
    assert learn_pieces(WORDS, 5).learned == LEARNED.learned[:5]


def test_a_vocabulary_with_pieces_comes_back_from_its_file(tmp_path: Path) -> None:
    words = Vocab(("a", ""), LEARNED)
    words.save(tmp_path / "v.json")
    assert Vocab.load(tmp_path / "v.json") == words
    assert len(words) == words.num_words + len(LEARNED)


def test_a_coined_token_is_written_by_its_pieces() -> None:
    exampler = Exampler(Vocab(("a",), LEARNED))
    made = edit("a getItem", "a setNames getItem", above="hasName")
    example = exampler(made)
    assert (example.unknown, example.coined) == (("getItem", "hasName"), ("setNames",))
    assert UNKNOWN not in example.symbols
    assert example.symbols[-1] == END
    assert exampler.can_write(example)
    for ids in (example.after, example.symbols):
        assert exampler.written(ids.tolist(), example) == made.after.tokens
    # Without pieces, there is no way to write it.
    closed = Exampler(Vocab(("a",)))
    assert not closed.can_write(closed(made))
    # A token that would take too many steps is left out.
    assert not exampler.can_write(exampler(edit("a", "é" * 100)))


def test_the_names_of_after_are_not_in_its_source() -> None:
    exampler = Exampler(Vocab((), LEARNED))
    examples = exampler.all([edit("getItem", "setName"), edit("", "hasItem"), edit("setItem", "setItem")])
    source, batch = collate_source(examples), collate(examples)
    assert source.before.names is not None and batch.target.after.names is not None
    assert len(source.before.names.pieces) == 2
    assert source.before.names.starts.tolist() == [0, 1, 1]
    assert len(batch.target.after.names.pieces) == 4
    assert batch.target.after.names.starts.tolist() == [0, 2, 3]


def test_a_name_is_read_by_its_pieces_and_their_order() -> None:
    edits = [edit("a", after) for after in ("getItem", "Itemget", "getItem", "x" * 3 * MOST_PIECES)]
    model = small_model(edits, vocab_size=1, num_pieces=30)
    embedding = model.network.reader.embedding
    spelled = embedding.spell(model.collate(model.exampler.all(edits)).target.after.names)
    assert spelled is not None
    one, other, same, long = spelled.table
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other, atol=1e-3)
    assert np.isfinite(long).all()
    vectors = model.encode(edits)
    np.testing.assert_allclose(vectors[0], vectors[2], atol=1e-6)
    assert not np.allclose(vectors[0], vectors[1], atol=1e-3)


@pytest.mark.parametrize("token_skip", [0, 2])
def test_a_model_learns_to_spell(token_skip: int) -> None:
    edits = [edit(f"call {one} ( )", f"call {other} ( )") for one, other in zip(WORDS[:5], WORDS[5:10], strict=True)]
    model = small_model(edits, vocab_size=3, num_pieces=30, token_skip=token_skip, tied=True, scale=1.0)
    learn_by_heart(model, edits, likely=0.7)
    for made, vector in zip(edits, model.encode(edits), strict=True):
        assert edit_snippet(made, vector=vector, model=model)[0].tokens == made.after.tokens


def test_forgotten_tokens_are_spelled() -> None:
    edits = random_edits(40)
    tokens = tuple(f"t{at}" for at in range(1000))
    words = Vocab((*tokens, *(f"w{at}" for at in range(40))), Pieces(()))
    sure, forgetful = Exampler(words), Exampler(words, forget=0.5)
    assert not any(example.spellings.size for example in sure.all(edits))
    forgotten = forgetful.all(edits)
    assert any(example.coined for example in forgotten)
    for made, example in zip(edits, forgotten, strict=True):
        assert forgetful.written(example.symbols.tolist(), example) == made.after.tokens
        assert forgetful.written(example.before.tolist(), example) == made.before.tokens
    frequent = forgetful(edit(" ".join(tokens[:90]), "t0"))
    assert frequent.unknown == ()
