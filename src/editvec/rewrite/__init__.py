"""Rules applied to a user's files: the only room that touches a byte offset there.

What is outside an edit stays as it is, byte for byte; a file that parsed and would not parse any more is not written.
"""
