"""What changed between before and after: the alignment of their tokens."""

from editvec.diff.alignment import Aligned, Alignment, Tag, align, edit_distance, replay

__all__ = ["Aligned", "Alignment", "Tag", "align", "edit_distance", "replay"]
