"""The names of commands and kinds of actions that the server and its clients share."""

from __future__ import annotations

from lsprotocol.types import CodeActionKind

APPLY, REFUSE, MUTE = "editvec.applyPlaces", "editvec.refuse", "editvec.mute"
FINISH, LEARN, UNDO = "editvec.finish", "editvec.learn", "editvec.undo"
EXPLAIN, DEBUG = "editvec.explain", "editvec.debugInformation"
COMMANDS = (APPLY, REFUSE, MUTE, FINISH, LEARN, UNDO, EXPLAIN, DEBUG)
QUICK_FIX, REWRITE = CodeActionKind.QuickFix, CodeActionKind.RefactorRewrite
FIX_ALL = "source.fixAll.editvec"
KINDS = (QUICK_FIX, REWRITE, FIX_ALL)
