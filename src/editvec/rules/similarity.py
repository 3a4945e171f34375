"""Tree similarity: how much two edits have in common as trees, whatever their names are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from editvec.core.edit import Edit, Version
from editvec.rules.candidates import common
from editvec.rules.sites import Site, edit_example, sites
from editvec.rules.template import weigh

_LEVELS = 2
"""Number of levels that are compared, from the smallest change that both edits have upwards."""


def site_of(language: str, before: Sequence[str], after: Sequence[str]) -> Site | None:
    """Return the site at which an edit, given as tokens, changes its tree.

    Return None if the edit has no tree, as for prose, or changes nothing.
    """
    one, other = (Version(" ".join(tokens), tuple(tokens)) for tokens in (before, after))
    example = edit_example(Edit("", language, one, other))
    found = sites(example, joined=True) if example is not None else []
    return found[0] if found else None


def tree_similarity(one: Site, other: Site) -> float:
    """Return the tree similarity of two edits of one language.

    It is the weight of what anti-unification finds in both of them: an operator or a keyword counts a little, a name 1.
    It is larger by 1 if a node of the same kind becomes a node of the same other kind in both.
    """
    language = one.example.language
    shared = islice(common([one, other], language, min_weight=0.0), _LEVELS)
    said = max((weigh(found.before, language) + weigh(found.after, language) for found in shared), default=0.0)
    return said + (_kinds(one) == _kinds(other))


def _kinds(site: Site) -> tuple[str, str]:
    smallest = site.pairs[0]
    return smallest.before.kind, smallest.after.kind
