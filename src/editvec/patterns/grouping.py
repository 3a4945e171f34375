"""Grouping of edits with the same intent.

Edits with equal signatures form a group. With vectors, groups are then joined if their mean vectors are near and their
changed tokens are similar. The result is deterministic. This module does not compute vectors and does not import torch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from editvec.core.edit import Edit
from editvec.diff.signature import Signature, alikeness, signature_of

NEAR = 0.8
"""Minimum cosine similarity of the mean vectors of two signatures in one group."""
ALIKE = 0.5
"""Minimum share of changed tokens that two signatures in one group have in common."""
_SWEEP_FILES = 3
_BLOCK = 1024

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EditGroup:
    """A group of edits with the same intent in one language.

    `members` are the indices of its edits in the grouped sequence, in ascending order; `medoid` is the index of the
    edit that is nearest to all others.
    """

    language: str
    signatures: tuple[Signature, ...]
    members: tuple[int, ...]
    medoid: int

    def edits(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return the edits of the group; `edits` is the sequence that was grouped."""
        return [edits[position] for position in self.members]


def group(
    edits: Sequence[Edit],
    vectors: Vectors | None = None,
    *,
    min_edits: int = 3,
    min_commits: int = 2,
    min_sweep: int | None = None,
    near: float = NEAR,
    alike: float = ALIKE,
) -> list[EditGroup]:
    """Return the groups with at least `min_edits` edits from at least `min_commits` commits, the largest first.

    `vectors` are the edit vectors, of shape [edits, dim]. Without them, each signature is a group. With `min_sweep`,
    groups from fewer commits are returned too, after the others, if they have that many edits in several files.
    """
    by_signature: dict[tuple[str, Signature], list[int]] = defaultdict(list)
    for position, edit in enumerate(edits):
        signature = signature_of(edit)
        if signature.says_something:
            by_signature[edit.language, signature].append(position)
    ordered = sorted(by_signature.items(), key=lambda item: (-len(item[1]), item[0]))
    found = []
    for language in sorted({language for (language, _), _ in ordered}):
        signatures = [(signature, positions) for (of, signature), positions in ordered if of == language]
        for joined in _joined(signatures, vectors, near, alike):
            members = tuple(sorted(position for at in joined for position in signatures[at][1]))
            made = [edits[position] for position in members]
            if len(made) >= min_edits and (num_commits(made) >= min_commits or is_sweep(made, min_sweep)):
                medoid = _medoid(members, vectors)
                found.append(EditGroup(language, tuple(signatures[at][0] for at in joined), members, medoid))
    return sorted(
        found,
        key=lambda group: (
            num_commits(group.edits(edits)) < min_commits,
            -len(group.members),
            group.language,
            group.signatures,
        ),
    )


def is_sweep(edits: Sequence[Edit], min_sweep: int | None) -> bool:
    """Return whether edits are many enough, in several files, to count although few commits made them."""
    files = {edit.source.path for edit in edits if edit.source}
    return min_sweep is not None and len(edits) >= min_sweep and len(files) >= _SWEEP_FILES


def num_commits(edits: Sequence[Edit]) -> int:
    """Return the number of commits of the edits; each edit without a source counts as one commit."""
    return len({(edit.source.repository, edit.source.commit) if edit.source else edit.id for edit in edits})


def num_authors(edits: Sequence[Edit]) -> int:
    """Return the number of authors of the edits."""
    return len({edit.source.author for edit in edits if edit.source and edit.source.author})


def _joined(
    signatures: Sequence[tuple[Signature, list[int]]], vectors: Vectors | None, near: float, alike: float
) -> list[list[int]]:
    """Join similar signatures; return lists of their indices.

    The signatures are sorted by descending frequency. Each one is joined to the most frequent one before it that is
    near and similar and was not itself joined to another, so that no chains arise.
    """
    if vectors is None or not len(signatures):
        return [[at] for at in range(len(signatures))]
    means = np.stack([_direction(vectors[positions].mean(0)) for _, positions in signatures])
    leader = np.arange(len(signatures))
    for start in range(0, len(signatures), _BLOCK):
        block = means[start : start + _BLOCK]
        rows, columns = np.nonzero(block @ means.T >= near)
        for row, column in zip((rows + start).tolist(), columns.tolist(), strict=True):
            free = leader[row] == row and leader[column] == column and column < row
            if free and alikeness(signatures[row][0], signatures[column][0]) >= alike:
                leader[row] = column
    joined: dict[int, list[int]] = {}
    for at, first in enumerate(leader.tolist()):
        joined.setdefault(first, []).append(at)
    return list(joined.values())


def _medoid(members: tuple[int, ...], vectors: Vectors | None) -> int:
    if vectors is None:
        return members[0]
    directions = np.stack([_direction(vectors[position]) for position in members])
    return members[int(np.argmax(directions @ directions.mean(0)))]


def _direction(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return vector / max(float(np.linalg.norm(vector)), 1e-12)
