"""The operations and the memory that none of a scop's variants can do without."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce

import islpy as isl

from polydl.errors import AnalysisError
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.poly.counting import count, quota
from polydl.poly.texts import map_of

# What isl may spend on one array: some tenths of a second.
_OPERATIONS = 2_000_000


def least_work(scop: Scop, ahead: Collection[str]) -> tuple[int, int]:
    """Floating-point operations, and bytes that are read or written, of each variant.

    Some have done the statements called ``ahead`` before, and have one tile of a local array in memory. Of an array
    that isl can't count the elements of, there may be none.
    """
    statements = [each for each in scop.statements if each.name not in ahead]
    touched: dict[str, int] = {}
    for name in dict.fromkeys(access.array for each in statements for access in each.accesses):
        memory = scop.array(scop.array(name).memory)
        if memory.storage != "local":
            size = _elements(statements, name) * memory.element_bytes
            touched[memory.name] = max(size, touched.get(memory.name, 0))
    return sum(each.flops for each in statements), sum(touched.values())


def _elements(statements: Sequence[Statement], name: str) -> int:
    """How many elements of an array are used by this name."""
    accesses = [access for each in statements for access in each.accesses if access.array == name]
    try:
        with quota(isl.DEFAULT_CONTEXT, _OPERATIONS):
            ranges = (map_of(access.relation).range() for access in accesses)
            return count(reduce(lambda one, other: one.union(other), ranges), operations=_OPERATIONS)
    except AnalysisError:
        return 0
