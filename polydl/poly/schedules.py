"""Schedules as isl maps from statement instances to points in time."""

from __future__ import annotations

import islpy as isl

from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.poly.texts import map_of, set_of


def original_schedule(scop: Scop) -> Schedule:
    """The order of the source in 2d+1 form: positions in a sequence (betas) and loops take turns."""
    statements = []
    for statement in scop.statements:
        dimensions: list[int | Loop] = [statement.betas[0]]
        for index, (iterator, direction) in enumerate(zip(statement.iterators, statement.directions, strict=True)):
            dimensions += [Loop(iterator, index, direction=direction), statement.betas[index + 1]]
        statements.append((statement.name, tuple(dimensions)))
    return Schedule(tuple(statements))


def time_expression(statement: Statement, dimension: int | Loop) -> str:
    """One time dimension in isl's syntax, over the statement's iterators."""
    if isinstance(dimension, int):
        return str(dimension)
    expression = statement.iterators[dimension.iterator]
    if dimension.origin:
        expression = f"({expression} - {dimension.origin})"
    if dimension.size != 1:
        expression = f"floor(({expression})/{dimension.size})"
    return expression if dimension.direction == 1 else f"-({expression})"


def time_map(statement: Statement, dimensions: tuple[int | Loop, ...], length: int | None = None) -> isl.Map:
    """The isl map from the statement's domain to time, padded with zeros to ``length`` dimensions."""
    expressions = [time_expression(statement, dimension) for dimension in dimensions]
    expressions += ["0"] * ((length or 0) - len(expressions))
    text = f"{{ {statement.name}[{', '.join(statement.iterators)}] -> [{', '.join(expressions)}] }}"
    return map_of(text).intersect_domain(set_of(statement.domain))


def schedule_length(schedule: Schedule) -> int:
    """The greatest number of time dimensions of a statement; 0 without statements."""
    return max((len(dimensions) for _, dimensions in schedule.statements), default=0)


def runs_before(first: tuple[int | Loop, ...], second: tuple[int | Loop, ...]) -> bool:
    """Whether every instance at one statement's time dimensions runs before all at another's, by positions alone.

    That is what the first different positions say where no loop is outside of them.
    """
    for one, other in zip(first, second, strict=False):
        if not isinstance(one, int) or not isinstance(other, int):
            return False
        if one != other:
            return one < other
    return False
