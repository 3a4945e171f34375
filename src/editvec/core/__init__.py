"""Types and helpers that every package uses: edits, errors, files, text and splices.

This package imports nothing else of editvec.
"""
