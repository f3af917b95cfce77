"""Copies that transpose, which emitted code makes in squares: which they are.

The emitted code follows these rules, and so does what it is predicted to take.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.plan.nest_plan import NestPlan, loop_bounds, trips
from polydl.poly.nests import Nest

#: Of a side of a square, in both arrays: every line of either is read or written in one go.
SQUARE_BYTES = 64
#: Of a vector: with fewer elements along a side there is no whole square of vectors.
VECTOR_BYTES = 16


class TransposingCopy(NamedTuple):
    """The innermost loops of a copy that run more than once."""

    #: Loops that run through the rows of the target, outermost first: one after the other they are contiguous in what
    #: is read, and in equal steps through what is written.
    rows: tuple[tuple[Loop, int], ...]
    #: The loop inside of them, which is contiguous in what is written; each loop with its iterations.
    columns: tuple[Loop, int]
    #: Elements along a side of a square.
    side: int


def transposing_copy(scop: Scop, plan: NestPlan) -> TransposingCopy | None:
    """The loops of a nest that transpose; None for other nests.

    The nest copies elements of one type from an array to another. None of the loops runs backwards or in the iterations
    of another one. The only one on threads is a loop through rows that has no others beside it.
    """
    if len(plan.nest.statements) > 1 or plan.inner or plan.nest.call is not None or plan.streamed or plan.vector_bytes:
        return None
    statement = scop.statement(plan.nest.statements[0])
    # Asked of every nest: few copy anything.
    if not _copies(scop, statement):
        return None
    running = [(loop, count) for loop, count in zip(plan.loops, trips(plan), strict=True) if count > 1]
    if len(running) < 2 or not all(_is_simple(loop) for loop, _ in running[-2:]):
        return None
    [target], [source] = statement.writes, statement.reads
    *around, columns = running
    if columns[0].parallel or scop.stride(target, columns[0].iterator) != 1:
        return None
    rows: list[tuple[Loop, int]] = []
    row = scop.stride(target, around[-1][0].iterator)
    for loop, count in reversed(around):
        before = prod(n for _, n in rows)
        steps = scop.stride(target, loop.iterator), scop.stride(source, loop.iterator)
        if steps != (before * row, before) or not _is_simple(loop) or (rows and loop.parallel):
            break
        rows.insert(0, (loop, count))
        if loop.parallel:
            break
    size = scop.array(target.array).element_bytes
    apart = min(row, scop.stride(source, columns[0].iterator))
    if not rows or min(apart, prod(count for _, count in rows), columns[1]) < max(2, VECTOR_BYTES // size):
        return None
    return TransposingCopy(tuple(rows), columns, max(1, SQUARE_BYTES // size))


def order_in_squares(scop: Scop, nest: Nest) -> tuple[str, ...] | None:
    """The order, outermost first, in which a nest's loops that run more than once make a copy in squares; or None.

    Another order reads or writes single elements of lines, and so takes longer.
    """
    if len(nest.statements) > 1 or not _copies(scop, scop.statement(nest.statements[0])):
        return None
    statement, bounds = scop.statement(nest.statements[0]), loop_bounds(scop, nest)
    [target], [source] = statement.writes, statement.reads
    places = [nest.depth + place for place, (low, high) in enumerate(bounds) if high > low]
    around = [place for place in places if abs(scop.stride(target, place)) != 1]
    columns = [place for place in places if place not in around]
    rows = [place for place in around if abs(scop.stride(source, place)) == 1]
    if len(columns) != 1 or len(rows) != 1 or not scop.stride(source, columns[0]):
        return None
    around.sort(key=lambda place: (place != rows[0], abs(scop.stride(target, place))), reverse=True)
    loops = (
        Loop(nest.loops[place - nest.depth], place, direction=statement.directions[place])
        for place in (*around, *columns)
    )
    plan = NestPlan(nest, tuple(loops), (), bounds, None)
    return tuple(loop.name for loop in plan.loops) if transposing_copy(scop, plan) is not None else None


def _is_simple(loop: Loop) -> bool:
    """Whether a loop advances by one element, forwards, and is not unrolled."""
    return (loop.size, loop.direction, loop.unrolled) == (1, 1, False)


def _copies(scop: Scop, statement: Statement) -> bool:
    """Whether a statement is ``x = y`` of elements of one type in different arrays, in a rectangle of iterations."""
    body = statement.body
    if (body.kind, body.text) != ("op", "=") or [each.kind for each in body.arguments] != ["access", "access"]:
        return False
    if len(statement.writes) != 1 or len(statement.reads) != 1 or any(a.subscripts is None for a in statement.accesses):
        return False
    to, of = (scop.array(access.array) for access in (statement.writes[0], statement.reads[0]))
    return statement.box is not None and to.memory != of.memory and to.element == of.element
