"""The paper's tables and figures again, by name: trains what is missing, reuses what is there, compares."""

from editvec.reproduction.artifacts import Artifacts
from editvec.reproduction.tables import TABLES, Table, budget, make

__all__ = ["TABLES", "Artifacts", "Table", "budget", "make"]
