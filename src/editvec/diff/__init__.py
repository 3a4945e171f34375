"""Comparison of before and after: the alignment of their tokens and the matching of their trees."""

from editvec.diff.alignment import Aligned, Alignment, Tag, align, edit_distance, replay
from editvec.diff.matching import Matching, match

__all__ = ["Aligned", "Alignment", "Matching", "Tag", "align", "edit_distance", "match", "replay"]
