"""Growing arrays on disk: ordinary `.npy` files that are memory-mapped and appended to in place."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from editvec.core.errors import BadInputError

_ROWS = re.compile(rb"\((\d{1,18}),")
_HEADER = 128
"""Fixed number of bytes before the rows, so that a header with a new number of rows replaces the old one."""


def append(path: Path, start: int, values: NDArray[Any]) -> None:
    """Write rows after the first `start` rows, over anything that an interrupted writer left there."""
    values = np.ascontiguousarray(values)
    width = values.itemsize * int(np.prod(values.shape[1:]))
    with path.open("r+b" if path.exists() else "w+b") as stream:
        stream.truncate(_HEADER + start * width)
        stream.seek(_HEADER + start * width)
        stream.write(values.data)
        stream.flush()
        os.fsync(stream.fileno())
        # The header is written last, so that a reader never expects rows that are not there yet.
        stream.seek(0)
        stream.write(_header(values.dtype, (start + len(values), *values.shape[1:])))


def mapped(path: Path, kind: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the first rows of a file, memory-mapped.

    Raises:
        BadInputError: The file does not contain rows of this type and shape.
    """
    if not int(np.prod(shape)):
        return np.zeros(shape, kind)
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEADER)
        size = path.stat().st_size
    except OSError:
        head, size = b"", 0
    # Only the number of rows may differ. The header is compared, not read: it is a Python expression.
    rows = _ROWS.search(head)
    sound = rows is not None and head == _header(np.dtype(kind), (int(rows[1]), *shape[1:]))
    if not sound or size < _HEADER + int(np.prod(shape)) * np.dtype(kind).itemsize:
        raise BadInputError(path, None, "the file is missing, truncated or from another index. Encode the edits again.")
    return np.memmap(path, kind, "r", offset=_HEADER, shape=shape)


def _header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    text = repr({"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}).encode()
    room = _HEADER - npy.MAGIC_LEN - 2
    return npy.magic(1, 0) + room.to_bytes(2, "little") + text.ljust(room - 1) + b"\n"
