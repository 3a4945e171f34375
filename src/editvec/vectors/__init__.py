"""Edits as vectors: vectorisers, the index of neighbours, clusters and projections."""
