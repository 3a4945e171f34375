"""What an edit encoder is."""

from __future__ import annotations

from torch import Tensor, nn

from editvec.reading import Read
from editvec.tensors.batch import Batch


class EditEncoder(nn.Module):
    """Edits → vectors. It sees before and after."""

    edit_dim: int
    reads: bool = True
    """Whether it uses what a reader made of the tokens; where not, `before` and `after` are None."""
    needs_trees: bool = False

    def forward(self, batch: Batch, before: Read | None, after: Read | None) -> Tensor:
        """The vectors of a batch, whose tokens a reader has read: [batch, edit_dim]."""
        raise NotImplementedError
