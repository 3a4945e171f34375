"""Edits as vectors: vectorisers, the index for nearest-neighbour search, clusters and projections."""
