"""The words of every room: edits, errors, files, text and splices. Imports nothing of the package."""
