"""What two edits have in common as trees."""

from __future__ import annotations

import pytest

from editvec.rules.similarity import site_of, tree_similarity


def _kin(one: tuple[str, str], other: tuple[str, str], language: str = "csharp") -> float:
    found = [site_of(language, before.split(), after.split()) for before, after in (one, other)]
    assert found[0] is not None and found[1] is not None
    assert tree_similarity(found[0], found[1]) == tree_similarity(found[1], found[0])
    return tree_similarity(found[0], found[1])


@pytest.mark.parametrize(
    ("seed", "before", "right", "wrong"),
    [
        (
            ("a = a ?? b ;", "a ??= b ;"),
            "this . Url = this . Url ?? c ;",
            "this . Url ??= c ;",
            "this ??= this . Url ?? c ;",
        ),
        (
            ("f ( a * b + 1 ) ;", "f ( ( a * b ) + 1 ) ;"),
            "x [ i ] = Least + c * i ;",
            "x [ i ] = Least + ( c * i ) ;",
            "x [ i ] = ( Least ) + c * i ;",
        ),
        (
            ("Log ( a ) ;", "Log . Debug ( a ) ;"),
            "Log ( b , c ) ;",
            "Log . Debug ( b , c ) ;",
            "Log ( b . Debug , c ) ;",
        ),
    ],
)
def test_the_same_edit_elsewhere_is_closer_kin(seed: tuple[str, str], before: str, right: str, wrong: str) -> None:
    assert _kin(seed, (before, right)) > _kin(seed, (before, wrong))


def test_nothing_in_common_is_nothing() -> None:
    assert _kin(("x = 1 ;", "x = y ;"), ("return Load ( a ) ;", "return await Load ( a ) ;")) < 0.5


def test_what_changes_no_tree_has_no_site() -> None:
    assert site_of("text", ["a", "b"], ["a", "c"]) is None
    assert site_of("csharp", ["f", "(", ")", ";"], ["f", "(", ")", ";"]) is None
