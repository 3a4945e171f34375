"""Check on every file of real repositories that tokens and gaps together are the file.

For each clone, every file at HEAD in a supported language is split into tokens and joined again. The table has, per
language, how many files are equal byte for byte (the limit is all), and how many files the grammar parsed without an
error.

    python benchmarks/lossless.py path/to/clone path/to/another
"""

from __future__ import annotations

import argparse
from collections import Counter

from editvec.syntax import Language, language_of, prose
from editvec.syntax.token import Token, gaps, join
from editvec.syntax.treesitter import Parsed
from editvec.vcs import git
from editvec.vcs.objects import Blobs


def main() -> None:
    """Checks the files of all clones."""
    parser = argparse.ArgumentParser(description="Check that tokenizing is lossless on all files of clones.")
    parser.add_argument("repos", nargs="+", help="clones")
    files: Counter[str] = Counter()
    same: Counter[str] = Counter()
    sound: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for place in parser.parse_args().repos:
        repository = git.open_repository(place)
        blobs = Blobs(repository, 5_000_000)
        for entry in repository.run("ls-tree", "-r", "-z", "HEAD").split(b"\0"):
            facts, _, path = entry.partition(b"\t")
            language = language_of(path.decode(errors="replace"))
            if language is None or not facts.startswith(b"100"):
                continue
            data = blobs.read(facts.split()[2])
            if data is None:
                continue
            if isinstance(language, Language):
                parsed = Parsed(language, data)
                tokens = [Token(*leaf[:3]) for leaf in parsed.leaves(0, len(data))]
                sound[language.name] += not parsed.tree.root_node.has_error
            else:
                tokens = prose.tokenize(data)
                sound[language.name] += 1
            files[language.name] += 1
            size[language.name] += len(data)
            same[language.name] += join(tokens, gaps(data, tokens)) == data
        blobs.close()
    for name, number in files.most_common():
        print(
            f"{name:12}{number:7,} files {size[name] / 1e6:7.1f} MB  byte for byte {same[name] / number:8.2%}  "
            f"parsed without an error {sound[name] / number:7.2%}"
        )


if __name__ == "__main__":
    main()
