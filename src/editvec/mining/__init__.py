"""git history → edits: walk, extract, filter, split."""
