"""Choose the edits to learn from: those of some authors, without merges, reverts and what was reverted.

A commit is told to be a merge or a revert by the message that git or a code host writes for it. Merges with several
parents are not mined in the first place; this is about merges that were squashed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from editvec.core.edit import Edit

_MERGE = re.compile(
    r"Merged? (branch|pull request|remote-tracking branch|tag|commit|PR)\b|Merge .{1,80} into \S+$", re.I
)
_REVERT = re.compile(r"Revert(ed|s|ing)?\b|Back(ed)? out\b", re.I)
_REVERTED = re.compile(r"(?:reverts|reverted|reverting|backs out)(?: the)?(?: commit)?:? ([0-9a-f]{7,64})", re.I)
_REVERTED_SUBJECT = re.compile(r'Revert "(.+)"')
_SHORTEST_ID = 7


def to_learn_from(edits: Sequence[Edit], authors: Sequence[str] = ()) -> list[Edit]:
    """Return the edits that count, in their order.

    An edit of a merge or a revert does not count, nor does an edit of a commit that a later one says it reverts.
    `authors` are parts of names, in any case; if there are any, only edits of these authors count.
    """
    wanted = [author.casefold() for author in authors]
    messages = {edit.source.commit: edit.source.message for edit in edits if edit.source}
    undone = _reverted(messages)
    return [
        edit
        for edit in edits
        if edit.source is None
        or (
            edit.source.commit not in undone
            and not is_merge_or_revert(edit.source.message)
            and (not wanted or any(author in edit.source.author.casefold() for author in wanted))
        )
    ]


def is_below(path: str, folders: Sequence[str]) -> bool:
    """Return whether a path is one of the given files or below one of the folders; True if none is given."""
    return not folders or any(each == "." or path == each or path.startswith(f"{each}/") for each in folders)


def is_merge_or_revert(message: str) -> bool:
    """Return whether a commit message says that the commit merges or reverts others."""
    subject = _subject(message)
    return _MERGE.match(subject) is not None or _REVERT.match(subject) is not None


def _reverted(messages: dict[str, str]) -> set[str]:
    """Return the commits that the messages say were reverted; a message names them by id, or by their subject."""
    named: set[str] = set()
    subjects: set[str] = set()
    for message in messages.values():
        if _REVERT.match(_subject(message)):
            named |= {identity.lower() for identity in _REVERTED.findall(message)}
            subjects |= set(_REVERTED_SUBJECT.findall(_subject(message)))
    return {
        commit
        for commit, message in messages.items()
        if any(commit.startswith(identity) for identity in named if len(identity) >= _SHORTEST_ID)
        or _subject(message) in subjects
    }


def _subject(message: str) -> str:
    lines = message.strip().splitlines()
    return lines[0].strip() if lines else ""
