"""Examples, batches, corpora: ids stand for tokens, copies point at them, the order is chance that repeats."""

from __future__ import annotations

from dataclasses import fields
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from editvec.core.edit import Edit, Version
from editvec.diff import Tag, align, match
from editvec.neural.batch import EDGE_TYPES, collate
from editvec.neural.examples import TAGS, Example, Exampler, TooLongError
from editvec.neural.grammar import edit_trees, learn
from editvec.neural.vocab import END, MARKS, PAD, PLACE, UNKNOWN, Vocab, build
from editvec.training.corpus import BLOCK, Corpus, build_corpus, epoch_batches
from tests.neural.edits import random_edits

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", "<pad>", "<end>", ""]), max_size=9)


@given(before=WORDS, after=WORDS, above=WORDS, below=WORDS, known=st.sets(st.sampled_from("abcdef")))
def test_ids_stand_for_tokens(
    before: list[str], after: list[str], above: list[str], below: list[str], known: set[str]
) -> None:
    exampler = Exampler(Vocab(tuple(sorted(known))))
    versions = [Version("", tuple(tokens)) for tokens in (before, after)]
    edit = Edit("e", "csharp", versions[0], versions[1], tuple(above), tuple(below))
    example = exampler(edit)
    assert exampler.written(example.before.tolist(), example) == tuple(before)
    written = exampler.written(example.after.tolist(), example)
    reachable = known | set(before) | set(above) | set(below)
    assert written == tuple(token if token in reachable else MARKS[UNKNOWN] for token in after)
    at = len(above)
    assert example.context[at] == PLACE
    assert exampler.written(example.context[:at].tolist(), example) == tuple(above)
    assert exampler.written(example.context[at + 1 :].tolist(), example) == tuple(below)
    alignment = align(before, after).positions
    assert [TAGS[tag] for tag in example.tags] == [position.tag for position in alignment]
    assert example.aligned_before.tolist() == [-1 if p.before is None else p.before for p in alignment]


@given(before=WORDS, after=WORDS, context=WORDS, known=st.sets(st.sampled_from("abcdef")))
def test_an_answer_is_read_back_as_the_edit_that_it_makes(
    before: list[str], after: list[str], context: list[str], known: set[str]
) -> None:
    exampler = Exampler(Vocab(tuple(sorted(known))))
    edit = Edit("e", "csharp", Version("", tuple(before)), Version("", tuple(after)), tuple(context))
    answered = exampler.answered(exampler(edit, with_after=False), tuple(after))
    for field in fields(Example):
        np.testing.assert_array_equal(getattr(answered, field.name), getattr(exampler(edit), field.name))


def test_long_edits_are_refused_and_long_contexts_cut_at_their_far_ends() -> None:
    exampler = Exampler(Vocab(()), max_tokens=5, max_context=6)
    words = tuple(f"w{at}" for at in range(10))
    short = Version("", words[:2])
    with pytest.raises(TooLongError, match="edit x: its after has 10 tokens, but this model reads at most 5"):
        exampler(Edit("x", "csharp", short, Version("", words)))
    example = exampler(Edit("x", "csharp", short, short, words, words))
    assert [example.unknown[place - len(MARKS)] for place in example.context if place != PLACE] == [
        *words[-3:],
        *words[:3],
    ]
    example = exampler(Edit("x", "csharp", short, short, words, words[:1]))
    assert len(example.context) == 7
    assert len(Exampler(Vocab(()), max_context=1)(Edit("x", "csharp", short, short, words, words)).context) == 1


def test_a_context_that_is_not_read_cannot_be_copied_from() -> None:
    edit = Edit("x", "csharp", Version("", ("a",)), Version("", ("b",)), ("b",))
    assert Exampler(Vocab(()))(edit).after[0] == len(MARKS) + 1
    example = Exampler(Vocab(()), context=False)(edit)
    assert example.after[0] == UNKNOWN
    assert example.context.tolist() == [PLACE]


@given(seed=st.integers(0, 999), size=st.integers(0, 30))
def test_copies_are_all_the_places_with_the_same_token(seed: int, size: int) -> None:
    edits = random_edits(4, seed)
    vocab = build({f"w{at}": 1 for at in range(40)}, size=size, min_count=1)
    batch = collate(Exampler(vocab).all(edits))
    after = batch.target.after.ids
    for source, copies in (
        (batch.source.before, batch.target.from_before),
        (batch.source.context, batch.target.from_context),
    ):
        expected = {
            (row, target, place)
            for row in range(4)
            for target in range(int(batch.target.after.lengths[row]))
            for place in range(int(source.lengths[row]))
            if after[row, target] == source.ids[row, place]
        }
        rows, targets = copies.targets // after.shape[1], copies.targets % after.shape[1]
        assert set(zip(rows.tolist(), targets.tolist(), copies.places.tolist(), strict=True)) == expected


def test_masks_are_true_where_something_is() -> None:
    batch = collate(Exampler(Vocab(())).all(random_edits(9)))
    for ragged in (batch.source.before, batch.source.context, batch.target.after):
        np.testing.assert_array_equal(ragged.ids != PAD, ragged.mask)
    last = np.take_along_axis(batch.target.after.ids, batch.target.after.lengths[:, None] - 1, 1)
    assert (last == END).all()


def test_changed_positions_alone() -> None:
    edits = random_edits(9)
    examples = Exampler(Vocab(())).all(edits)
    batch = collate(examples, changed_only=True)
    for row, edit in enumerate(edits):
        changed = align(edit.before.tokens, edit.after.tokens).changed
        assert all(position.tag is not Tag.EQUAL for position in changed)
        length = int(batch.alignment.tags.lengths[row])
        assert length == max(1, len(changed))
        if changed:
            assert [TAGS[tag] for tag in batch.alignment.tags.ids[row, :length]] == [p.tag for p in changed]


def test_the_graph_of_an_edit_has_the_edges_of_its_trees() -> None:
    edits = random_edits(6)
    grammar = learn([each for edit in edits for each in edit_trees(edit)])
    exampler = Exampler(Vocab(()), grammar=grammar)
    graph = collate(exampler.all(edits)).graph
    assert graph is not None
    start = 0
    expected = set()
    names = {name: number for number, name in enumerate(EDGE_TYPES)}
    for row, edit in enumerate(edits):
        trees = edit_trees(edit)
        offsets = []
        for tree in trees:
            nodes = tree.nodes()
            offsets.append(start)
            for place, node in enumerate(nodes):
                assert graph.owners[start + place] == row
                assert graph.kinds[start + place] == grammar.kind_numbers[node.kind]
            at = {id(node): start + place for place, node in enumerate(nodes)}
            for node in nodes:
                for child in node.children:
                    if id(child) in at:
                        expected |= {(at[id(node)], at[id(child)], names["child"])}
                        expected |= {(at[id(child)], at[id(node)], names["parent"])}
            leaves = [at[id(node)] for node in nodes if node.leaf]
            for one, other in pairwise(leaves):
                expected |= {(one, other, names["next token"]), (other, one, names["previous token"])}
            start += len(nodes)
        found = match(*trees, align(trees[0].tokens(), trees[1].tokens()))
        for name, pairs in (("equal", found.equal), ("replaced", found.replaced)):
            for one, other in pairs:
                here, there = one + offsets[0], other + offsets[1]
                expected |= {(here, there, names[name]), (there, here, names[name])}
    edges = zip(*(part.tolist() for part in graph.edges), strict=True)
    assert set(edges) == expected
    tokens = [token for edit in edits for token in edit.before.tokens]
    assert len(graph.before_tokens.nodes) == len(tokens)


def test_a_corpus_holds_trees_too(tmp_path: Path) -> None:
    edits = random_edits(30)
    grammar = learn([each for edit in edits for each in edit_trees(edit)])
    examples = Exampler(Vocab(()), grammar=grammar).all(edits)
    for first, second in zip(build_corpus(tmp_path / "c.arrow", examples), examples, strict=True):
        assert first.trees is not None
        assert second.trees is not None
        for item in fields(first.trees):
            assert np.array_equal(getattr(first.trees, item.name), getattr(second.trees, item.name))


def _same(first: Example, second: Example) -> bool:
    fields = ("before", "context", "after", "tags", "aligned_before", "aligned_after")
    return first.unknown == second.unknown and all(
        np.array_equal(getattr(first, name), getattr(second, name)) for name in fields
    )


def _corpus(tmp_path: Path, number: int) -> tuple[Corpus, list[Example]]:
    vocab = build({f"w{at}": 1 for at in range(40)}, size=20, min_count=1)
    examples = Exampler(vocab).all(random_edits(number))
    return build_corpus(tmp_path / f"{number}.arrow", examples), examples


def _bytes(example: Example) -> bytes:
    return example.before.tobytes() + example.after.tobytes() + example.context.tobytes()


@pytest.mark.parametrize("number", [0, 1, BLOCK, BLOCK + 7])
def test_a_corpus_holds_its_examples(number: int, tmp_path: Path) -> None:
    corpus, examples = _corpus(tmp_path, number)
    assert corpus.num_examples == number
    assert all(_same(first, second) for first, second in zip(corpus, examples, strict=True))


def test_an_epoch_sees_every_example_once_in_batches_of_similar_length(tmp_path: Path) -> None:
    corpus, examples = _corpus(tmp_path, 2 * BLOCK + 100)
    batches = list(epoch_batches(corpus, seed=3, epoch=0, batch_edits=16, batch_tokens=300))
    seen = [example for lesson in batches for example in lesson.edits]
    assert sorted(map(_bytes, seen)) == sorted(map(_bytes, examples))
    for batch, shown in batches:
        assert shown is None
        widest = max(len(e.before) + len(e.after) + len(e.context) for e in batch)
        assert len(batch) <= 16
        assert len(batch) == 1 or len(batch) * widest <= 300
        lengths = [(len(e.before) + len(e.after)) // 2 for e in batch]
        assert max(lengths) - min(lengths) <= 4


def test_an_epoch_can_be_entered_anywhere_and_differs_from_the_next(tmp_path: Path) -> None:
    corpus, _ = _corpus(tmp_path, BLOCK + 200)

    def batches(epoch: int, first: int) -> list[list[bytes]]:
        found = epoch_batches(corpus, seed=1, epoch=epoch, batch_edits=8, batch_tokens=10**6, first=first)
        return [[example.before.tobytes() for example in lesson.edits] for lesson in found]

    whole = batches(0, 0)
    assert whole[5:] == batches(0, 5)
    assert list(islice(whole, 3)) != batches(1, 0)[:3]


def test_in_an_exchange_others_of_the_same_shape_are_shown(tmp_path: Path) -> None:
    def edit(name: str, old: str, new: str) -> Edit:
        before, after = (("call", name, verb, "(", ")") for verb in (old, new))
        return Edit(name, "csharp", Version(" ".join(before), before), Version(" ".join(after), after))

    edits = [edit(f"w{at}", *verbs) for at in range(6) for verbs in (("a", "b"), ("c", "d"))]
    alone = edit("alone", "x", "y")
    exampler = Exampler(build({f"w{at}": 1 for at in range(6)}, size=40, min_count=1), signatures=True)
    corpus = build_corpus(tmp_path / "shapes.arrow", exampler.all([*edits, alone]))

    def lessons(first: int = 0) -> list[tuple[list[bytes], list[bytes] | None]]:
        found = epoch_batches(corpus, seed=1, epoch=0, batch_edits=4, batch_tokens=10**6, vector_swap=0.5, first=first)
        return [
            (
                [example.before.tobytes() for example in each.edits],
                None if each.demonstrations is None else [example.before.tobytes() for example in each.demonstrations],
            )
            for each in found
        ]

    whole = [
        each
        for epoch in range(8)
        for each in epoch_batches(corpus, seed=1, epoch=epoch, batch_edits=4, batch_tokens=10**6, vector_swap=0.5)
    ]
    pairs = [
        pair for each in whole if each.demonstrations for pair in zip(each.edits, each.demonstrations, strict=True)
    ]
    assert 0 < sum(each.demonstrations is not None for each in whole) < len(whole)
    for learned, shown in pairs:
        assert learned.signatures.tolist() == shown.signatures.tolist()
        assert (learned is shown) == ("alone" in learned.unknown)
    assert lessons()[2:] == lessons(2)
