"""Check that published data is read and written without loss: every file is read, written and compared byte by byte.

For each file, the program prints how many edits have the same JSON values, the same bytes, and trees whose tokens are
exactly the list of tokens. The limit is all edits.

    python benchmarks/roundtrip.py --data $EDITVEC_DATA
"""

from __future__ import annotations

import argparse
import gzip
import os
from pathlib import Path

import orjson

from editvec.core.edit import Edit, Version
from editvec.data import formats
from editvec.data.native import record_of
from editvec.syntax import tree


def has_exact_tree(version: Version) -> bool:
    """Whether the tokens of a version's tree are its tokens."""
    return version.tree is None or tree.loads(version.tree).tokens() == version.tokens


def _from_json(line: bytes) -> Edit:
    return formats.edit_from_githubedits(record_of(line))


def check(path: Path) -> str:
    """One line about a file."""
    number = same_values = same_bytes = exact = 0
    is_json = ".jsonl" in path.name
    read = _from_json if is_json else formats.edit_from_tsv
    write = formats.edit_to_githubedits if is_json else formats.edit_to_tsv
    with gzip.open(path, "rb") as stream:
        for line in stream:
            edit = read(line)
            again = write(edit)
            number += 1
            same_bytes += again == line
            same_values += not is_json or orjson.loads(again) == orjson.loads(line)
            exact += has_exact_tree(edit.before) and has_exact_tree(edit.after)
    shares = (same_values / number, same_bytes / number, exact / number)
    return f"{number:9,} edits  values {shares[0]:.4%}  bytes {shares[1]:.4%}  trees {shares[2]:.4%}"


def main() -> None:
    """Checks every file of the data folder."""
    parser = argparse.ArgumentParser(description="Check that published data is read and written without loss.")
    parser.add_argument("--data", type=Path, default=os.environ.get("EDITVEC_DATA"), help="folder of the data")
    folder = parser.parse_args().data
    if folder is None:
        parser.error("give --data or set EDITVEC_DATA")
    names = sorted([*Path(folder).rglob("*.jsonl.gz"), *Path(folder).rglob("*.tsv.gz")])
    for path in names:
        if "_files" not in path.name:
            print(f"{path.relative_to(folder)!s:32} {check(path)}", flush=True)


if __name__ == "__main__":
    main()
