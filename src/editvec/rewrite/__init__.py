"""Write matches into a user's files; no other room handles byte offsets in them.

No byte outside an edit changes. A file that would parse worse than before is not written.
"""
