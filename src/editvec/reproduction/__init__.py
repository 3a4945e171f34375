"""The paper's tables and figures again, by name: trains what is missing, reuses what is there, compares."""

from editvec.reproduction.tables import TABLES, Table, budget, make
from editvec.reproduction.workshop import Workshop

__all__ = ["TABLES", "Table", "Workshop", "budget", "make"]
