"""An index: a folder with vectors, ids and edits, in which the nearest edits of an edit are found.

| file | content |
|---|---|
| `index.json` | the number of valid rows, and the vectoriser that computed them, by name and digest |
| `vectors.npy` | the vectors, row after row, memory-mapped |
| `units.npy` | the vectors scaled to length one, for cosine, memory-mapped |
| `token_hashes.npy` | a hash of each edit's tokens, which shows which rows are verbatim the same |
| `edits.sqlite` | the edits of the rows, in the native schema |
| `ivf.faiss` | for large indexes, if faiss is installed: cells of near vectors, one byte per number |
| `vectoriser/` | a baseline that was fitted for this index |

Rows are only appended. A row is valid when the count in `index.json` includes it, and that file is replaced atomically.
So an interrupted writer leaves a valid index with fewer rows, and a reader never sees a partly written row.
"""

from __future__ import annotations

from editvec.vectors.index.building import build
from editvec.vectors.index.cells import METRICS, Metric, unit
from editvec.vectors.index.manifest import NoIndexError
from editvec.vectors.index.opened import Index, Neighbour, for_appending, open_index

__all__ = ["METRICS", "Index", "Metric", "Neighbour", "NoIndexError", "build", "for_appending", "open_index", "unit"]
