"""Extraction of edits from hunks: code by syntax, prose by sentences."""
