"""Edits that mean the same become rules that people can read and ast-grep can run.

Pure functions over edits. `astgrep` is the only module that runs ast-grep.
"""
