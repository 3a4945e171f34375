"""The open documents: their texts as the editor has them, and what the user did to them.

A text that a document has had before is an undo or a redo. What the user changed is remembered, so that no suggestion
takes it back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

from lsprotocol import types

from editvec.core.splice import TextEdit, splice
from editvec.suggest.intents import changed_lines
from editvec.syntax.lexer import LexedText
from editvec.ui.lsp.positions import Positions

_REMEMBERED = 500
"""Maximum number of earlier texts of a document by which an undo is recognised."""
_OWN_CHANGES = 200

ContentChange = types.TextDocumentContentChangePartial | types.TextDocumentContentChangeWholeDocument


class OpenBuffer:
    """A document that is open in the editor."""

    def __init__(self, uri: str, path: Path, text: str, version: int, encoding: str) -> None:
        self.uri, self.path, self.version = uri, path, version
        self._encoding = encoding
        self.data = _utf8(text)
        self.opened = self.data
        """The text when the document was opened."""
        self.rested = self.data
        """The text when the user last paused."""
        self.paused = self.data
        """The text before what was changed last, up to the last pause."""
        self.is_undone = False
        """Whether the last change was an undo or a redo."""
        self._seen = deque([_digest(self.data)], _REMEMBERED)
        self._rests = {_digest(self.data)}
        self._own: deque[tuple[str, str]] = deque(maxlen=_OWN_CHANGES)

    @property
    def positions(self) -> Positions:
        """Return the positions in the text as it is now."""
        return Positions(self.data, self._encoding)

    def change(self, changes: Iterable[ContentChange], version: int) -> None:
        """Take over changes of the text, in order."""
        is_backspace = False
        for each in changes:
            if isinstance(each, types.TextDocumentContentChangePartial):
                positions = self.positions
                start, end = positions.offset(each.range.start), positions.offset(each.range.end)
                # Editors tell of an undo as of any other change, and of a backspace as of the undo of one letter.
                is_backspace = not each.text and len(self.data[start:end].decode("utf-8", "replace")) == 1
                self.data = splice(self.data, [TextEdit(start, max(start, end), _utf8(each.text))])
            else:
                is_backspace = False
                self.data = _utf8(each.text)
        self.version = version
        digest = _digest(self.data)
        self.is_undone = digest in self._rests or (digest in self._seen and not is_backspace)
        self._seen.append(digest)

    def rest(self) -> bytes:
        """Take note that the user paused, and return the text of the pause before."""
        earlier = self.rested
        if earlier != self.data:
            self.paused, self.rested = earlier, self.data
            self._rests.add(_digest(self.data))
            self._own.extend(_line_changes(earlier, self.data))
        return earlier

    @property
    def own_changes(self) -> Sequence[tuple[str, str]]:
        """Return lines as they were and as the user made them, up to the last pause."""
        return self._own


def normalised(line: str) -> str:
    """Return a line by which a place is recognised after an edit elsewhere: without indentation, spaces as one."""
    return " ".join(line.split())


def _line_changes(before: bytes, after: bytes) -> list[tuple[str, str]]:
    one, other = LexedText(before), LexedText(after)
    found = []
    for low, high, start, end in changed_lines(one, other):
        if high - low == end - start:
            found += [(_line(one, low + at), _line(other, start + at)) for at in range(high - low)]
        else:
            olds, news = (
                " ".join(_line(text, number) for number in range(*span))
                for text, span in ((one, (low, high)), (other, (start, end)))
            )
            found.append((olds, news))
    return found


def _line(text: LexedText, number: int) -> str:
    return normalised(text.text_of(number).decode("utf-8", "replace"))


def new_lines(before: bytes, after: bytes) -> frozenset[int]:
    """Return the lines, counted from 1, of a text that differ from the text before."""
    if before == after:
        return frozenset()
    ranges = changed_lines(LexedText(before), LexedText(after))
    return frozenset(line + 1 for _, _, start, end in ranges for line in range(start, end))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=12).digest()
