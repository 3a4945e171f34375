"""Groups: by shape, by vectors and shape together; their names."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from editvec.core.edit import Edit, Source, Version
from editvec.diff.signature import alikeness, signature_of
from editvec.patterns.grouping import group, num_authors, num_commits
from editvec.patterns.naming import Messages, slug_of, subject_of


def edit(before: str, after: str, commit: str = "c1", message: str = "", author: str = "a") -> Edit:
    versions = [Version(text, tuple(text.split())) for text in (before, after)]
    source = Source("r", commit, "f.cs", author=author, message=message)
    return Edit(f"{commit}:{before}", "csharp", versions[0], versions[1], source=source)


EMPTY = [
    edit(f"Assert . Equal ( 0 , {name} . Count ) ;", f"Assert . Empty ( {name} ) ;", f"c{at}", "Use Assert.Empty")
    for at, name in enumerate(("VAR3", "VAR1", "items", "VAR0 . Rows"))
]


def test_a_shape_is_what_changed_with_variables_in_order() -> None:
    one = signature_of(edit("f ( VAR7 , VAR2 ) ;", "g ( VAR2 ) ;"))
    other = signature_of(edit("x = f ( VAR1 , y ) ;", "x = g ( y ) ;"))
    assert one == other
    assert one.runs == ((("f",), ("g",)), (("VAR0", ","), ()))


def test_variables_and_literals_alone_say_nothing() -> None:
    assert not signature_of(edit("f ( VAR0 ) ;", "f ( VAR1 ) ;")).says_something
    assert not signature_of(edit("f ( LITERAL ) ;", "f ( VAR1 ) ;")).says_something
    assert signature_of(edit("f ( VAR0 ) ;", "f ( & VAR0 ) ;")).says_something


def test_a_shape_is_whole_when_it_puts_in_no_variable_of_its_own() -> None:
    assert signature_of(edit("f ( VAR3 , VAR4 ) ;", "f ( VAR3 , null ) ;")).is_whole
    assert signature_of(edit("x = VAR3 == null ? y : z ;", "x = VAR3 ?? z ;")).is_whole
    assert signature_of(edit("VAR3 = VAR3 + 1 ;", "+ + VAR3 ;")).is_whole
    assert signature_of(edit("a ; VAR1", "VAR1 ; b")).is_whole
    assert not signature_of(edit("f ( VAR3 ) ;", "f ( VAR3 , VAR4 ) ;")).is_whole


def test_punctuation_alone_names_nothing() -> None:
    assert not signature_of(edit("f ( a ) ;", "f ( a , VAR1 ) ;")).names_something
    assert signature_of(edit("f ( a ) ;", "f ( a , null ) ;")).names_something
    assert signature_of(EMPTY[0]).removed_names == {"Equal", "0", ",", ".", "Count"}


def test_edits_of_one_shape_from_several_commits_are_a_group() -> None:
    once = edit("a ( ) ;", "b ( ) ;")
    (found,) = group([once, *EMPTY])
    assert found.members == (1, 2, 3, 4)
    assert num_commits(found.edits([once, *EMPTY])) == 4
    assert num_authors(found.edits([once, *EMPTY])) == 1
    same_commit = [edit(f"a ( {at} ) ;", f"b ( {at} ) ;") for at in range(5)]
    assert group(same_commit) == []
    assert len(group(same_commit, min_commits=1)) == 1
    assert group(same_commit, min_sweep=5) == []  # in one file
    files = [replace(each, source=Source("r", "c1", f"{at}.cs")) for at, each in enumerate(same_commit)]
    assert [len(found.members) for found in group([*files, *EMPTY], min_sweep=5)] == [4, 5]


def test_near_vectors_join_shapes_that_are_alike_and_no_others() -> None:
    long = [
        edit("x = a . b == null ? null : a . b . C ;", "x = a . b ? . C ;", f"c{at}") for at in range(2)
    ]  # removes one more name
    short = [edit(f"x = VAR{at} == null ? null : VAR{at} . C ;", f"x = VAR{at} ? . C ;", f"d{at}") for at in range(3)]
    foreign = [edit("Run ( ) ;", "Stop ( ) ;", f"e{at}") for at in range(2)]
    edits = [*long, *short, *foreign]
    near = np.tile(np.array([1, 0], np.float32), (len(edits), 1))
    (found,) = group(edits, near, alike=0.3)
    assert found.members == (0, 1, 2, 3, 4)
    assert found.signatures[0] == signature_of(short[0])
    far = near.copy()
    far[:2] = [0, 1]
    (found,) = group(edits, far, alike=0.3)
    assert found.members == (2, 3, 4)


def test_the_order_of_edits_does_not_change_the_groups() -> None:
    rng = random.Random(1)
    edits = [*EMPTY, *(edit(f"a ( {at % 3} ) ;", f"b ( {at % 3} ) ;", f"k{at}") for at in range(9))]
    vectors = np.random.default_rng(0).normal(size=(len(edits), 8)).astype(np.float32)
    wanted = {frozenset(edits[place].id for place in found.members) for found in group(edits, vectors)}
    for _ in range(5):
        order = rng.sample(range(len(edits)), len(edits))
        shuffled = [edits[place] for place in order]
        found = group(shuffled, vectors[order])
        assert {frozenset(shuffled[place].id for place in each.members) for each in found} == wanted


def test_alikeness_is_a_share() -> None:
    one, other = signature_of(EMPTY[0]), signature_of(edit("f ( ) ;", "g ( ) ;"))
    assert alikeness(one, one) == 1
    assert alikeness(one, other) == 0


def test_names_come_from_messages_and_from_tokens() -> None:
    others = [edit(f"a{at} ( ) ;", f"b{at} ( ) ;", f"o{at}", f"Refactor the thing {at}") for at in range(20)]
    messages = Messages([*EMPTY, *others])
    assert messages.quotation(EMPTY, {"empty", "assert"}) == "Use Assert.Empty"
    assert messages.quotation(EMPTY, {"await"}) == ""
    assert "assert.empty" in messages.telling(EMPTY)
    assert subject_of("feat(core): use foo (#123)\n\nlong") == "use foo"
    assert subject_of("") == ""
    assert slug_of(signature_of(EMPTY[0])) == "equal-count-to-empty"
    assert (
        slug_of(signature_of(edit("f ( x ) ;", "f ( x ) . ConfigureAwait ( false ) ;"))) == "add-configure-await-false"
    )
    assert slug_of(signature_of(edit("f ( x ) ;", "f ( & x ) ;"))) == "rewrite"
    assert slug_of(signature_of(edit("f ( x ) ;", "f ( & x ) ;")), "Take the address") == "take-the-address"
