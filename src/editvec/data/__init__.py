"""Edits as data: files and their formats, statistics, samples, splits, digests and labels."""
