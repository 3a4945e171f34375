"""Vectors, ids and edits in a folder: the nearest edits of an edit.

| file | content |
|---|---|
| `index.json` | how many rows count, and the vectoriser that made them, by name and digest |
| `vectors.npy` | the vectors, row after row |
| `units.npy` | the same at length one, so that cosine needs no second look; both are mapped, not read |
| `forms.npy` | a digest of each edit's tokens: which rows are verbatim the same |
| `edits.sqlite` | the edits of the rows, in the native schema |
| `ivf.faiss` | for large indexes, where faiss is installed: cells of near vectors, each vector in a byte a number |
| `vectoriser/` | a baseline that was fitted for this index |

Rows are only ever added behind the last, and count when `index.json` says so, which is replaced at once: an
interrupted writer leaves a sound index of fewer rows, and a reader never sees half of one.
"""

from __future__ import annotations

from editvec.vectors.index.building import build
from editvec.vectors.index.cells import METRICS, Metric, unit
from editvec.vectors.index.manifest import NoIndexError
from editvec.vectors.index.opened import Index, Neighbour, for_appending, open_index

__all__ = ["METRICS", "Index", "Metric", "Neighbour", "NoIndexError", "build", "for_appending", "open_index", "unit"]
