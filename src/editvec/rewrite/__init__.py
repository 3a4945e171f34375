"""Rules applied to a user's files: the only room that touches a byte offset there.

What is outside an edit stays as it is, byte for byte; a file that would parse worse than before is not written.
"""
