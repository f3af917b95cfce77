"""Loops that several statements run in: how many, and whether their iterations get in each other's way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.poly.schedules import time_map


def loops_around_all(statements: Sequence[Statement]) -> int:
    """How many loops, from the outermost one on, are around all of these statements."""
    first = statements[0]
    least = min(statement.depth for statement in statements)
    places = (place for place in range(least) if any(s.betas[place] != first.betas[place] for s in statements))
    return next(places, least)


def iterations_are_apart(scop: Scop, times: Mapping[str, tuple[int | Loop, ...]], place: int) -> bool:
    """Whether no iteration of a loop touches an element that another iteration of it writes, loops outside being equal.

    ``times`` are the time dimensions of all statements inside, and ``place`` is that of the loop.
    """
    touched: dict[str, list[isl.Map]] = {}
    written: dict[str, list[isl.Map]] = {}
    for name, dimensions in times.items():
        statement = scop.statement(name)
        time = time_map(statement, dimensions[: place + 1]).reverse()
        for access in statement.accesses:
            elements = time.apply_range(isl.Map(access.relation))
            touched.setdefault(access.array, []).append(elements)
            if access.kind == "write":
                written.setdefault(access.array, []).append(elements)
    return not any(
        iterations_meet(first, second, place)
        for array, writes in written.items()
        for first in writes
        for second in touched[array]
    )


def iterations_meet(first: isl.Map, second: isl.Map, place: int) -> bool:
    """Whether different iterations of a loop have an element in common, loops outside being equal.

    Both maps lead from time to elements; ``place`` is the loop's among the dimensions of time.
    """
    common = first.apply_range(second.reverse())
    for outer in range(place):
        common = common.equate(isl.dim_type.in_, outer, isl.dim_type.out, outer)
    same = common.equate(isl.dim_type.in_, place, isl.dim_type.out, place)
    return not common.is_subset(same)
