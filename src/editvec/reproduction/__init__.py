"""Reproduce the paper's tables and figures: train missing models, reuse existing ones, compare the numbers."""

from editvec.reproduction.artifacts import Artifacts
from editvec.reproduction.tables import TABLES, Table, budget, make

__all__ = ["TABLES", "Artifacts", "Table", "budget", "make"]
