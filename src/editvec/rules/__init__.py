"""Make groups of edits into rules that people can read and ast-grep can run.

The functions are pure functions of edits. Only `astgrep` runs the ast-grep program.
"""
