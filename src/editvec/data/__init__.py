"""Edits as data: files and their formats, statistics, sampling, splits, digests, labels and the store."""
