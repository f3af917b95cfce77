"""Which orders, tilings and parallel loops keep every dependence.

Two tests that agree. ``directions`` reduces the dependences of one nest to the set of sign vectors of
their distances, which answers for thousands of variants in microseconds. ``violations`` checks one complete
schedule against the exact relations with isl; every variant that is run passes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence
from polydl.poly.nests import Nest
from polydl.poly.schedules import schedule_length, time_map

Signs = tuple[int, ...]


@dataclass(frozen=True)
class Directions:
    """Sign vectors (-1, 0, 1 per loop of the nest) of the distances between dependent instances.

    ``ordering`` holds those whose order must be kept; ``reductions`` those of reorderable accumulations,
    which forbid only that source and target run at the same time.
    """

    loops: tuple[str, ...]
    ordering: frozenset[Signs]
    reductions: frozenset[Signs]


def _sign_vectors(deltas: isl.Set, prefix: Signs, depth: int) -> set[Signs]:
    if deltas.is_empty():
        return set()
    if len(prefix) == depth:
        return {prefix}
    dimension = len(prefix)
    found: set[Signs] = set()
    for sign, part in (
        (0, deltas.fix_val(isl.dim_type.set, dimension, isl.Val(0))),
        (1, deltas.lower_bound_val(isl.dim_type.set, dimension, isl.Val(1))),
        (-1, deltas.upper_bound_val(isl.dim_type.set, dimension, isl.Val(-1))),
    ):
        found |= _sign_vectors(part, (*prefix, sign), depth)
    return found


@limited
def directions(scop: Scop, nest: Nest, dependences: Sequence[Dependence], *, reassociate: bool = True) -> Directions:
    """The sign vectors of all dependences inside ``nest`` that its shared outer loops do not carry.

    With ``reassociate`` the terms of a recognised reduction may be added in any order.
    """
    members = set(nest.statements)
    depth = len(nest.loops)
    ordering: set[Signs] = set()
    reductions: set[Signs] = set()
    for dependence in dependences:
        if dependence.source not in members or dependence.target not in members:
            continue
        relation = isl.Map(dependence.relation)
        for dimension in range(nest.depth):
            relation = relation.equate(isl.dim_type.in_, dimension, isl.dim_type.out, dimension)
        if relation.is_empty():
            continue
        relation = relation.project_out(isl.dim_type.in_, 0, nest.depth).project_out(isl.dim_type.out, 0, nest.depth)
        for kind in (isl.dim_type.in_, isl.dim_type.out):
            relation = relation.set_tuple_name(kind, "")
        statement = scop.statement(nest.statements[0])
        found = {
            tuple(sign * way for sign, way in zip(signs, statement.directions[nest.depth :], strict=True))
            for signs in _sign_vectors(relation.deltas(), (), depth)
        }
        (reductions if dependence.reduction and reassociate else ordering).update(found)
    return Directions(nest.loops, frozenset(ordering), frozenset(reductions))


def order_is_legal(found: Directions, order: Sequence[int]) -> bool:
    """Whether time that runs through the loops in this order keeps all dependences.

    ``order`` names each time dimension by the loop that it belongs to; a loop appears once per level of its
    tiling. A tile loop may be equal where its point loop differs, so each is tried both ways.
    """
    last = {loop: position for position, loop in enumerate(order)}
    for signs in found.ordering:
        positions = [position for position, loop in enumerate(order) if signs[loop]]
        for position in positions:
            sign = signs[order[position]]
            if sign < 0:
                return False  # some pair differs here first: all outer tile loops of it may be equal
            if position == last[order[position]]:
                break  # the point loop always differs, nothing further inside can decide
    return True


def parallel_is_legal(found: Directions, order: Sequence[int], position: int) -> bool:
    """Whether the time dimension at ``position`` may run its iterations on different threads."""
    last = {loop: place for place, loop in enumerate(order)}
    for signs in found.ordering | found.reductions:
        if not signs[order[position]]:
            continue
        decided = any(signs[loop] and place == last[loop] for place, loop in enumerate(order[:position]))
        if not decided:
            return False
    return True


def sums_are_legal(found: Directions, order: Sequence[int], position: int) -> bool:
    """``parallel_is_legal``, if those who run the iterations keep sums of their own and add them up at the end."""
    return parallel_is_legal(Directions(found.loops, found.ordering, frozenset()), order, position)


@dataclass(frozen=True)
class Violation:
    """A dependence that a schedule breaks; ``parallel`` names the loop if it is broken by concurrency."""

    dependence: Dependence
    parallel: str | None = None


def _parallel_positions(dimensions: tuple[int | Loop, ...]) -> list[int]:
    return [p for p, d in enumerate(dimensions) if isinstance(d, Loop) and d.parallel]


def _apart(source: tuple[int | Loop, ...], target: tuple[int | Loop, ...]) -> bool:
    """Whether a place in a sequence tells the two apart, so that the loops inside are different ones."""
    return any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(source, target, strict=False))


@limited
def violations(
    scop: Scop, schedule: Schedule, dependences: Sequence[Dependence], *, reassociate: bool = True
) -> tuple[Violation, ...]:
    """Every dependence that ``schedule`` breaks, decided exactly by isl. Empty means legal."""
    length = schedule_length(schedule)
    times = {name: time_map(scop.statement(name), dims, length) for name, dims in schedule.statements}
    space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[f"t{d}" for d in range(length)])
    not_later = isl.Map.lex_ge(space)
    broken = []
    for dependence in dependences:
        moved = (
            isl.Map(dependence.relation).apply_domain(times[dependence.source]).apply_range(times[dependence.target])
        )
        if not (dependence.reduction and reassociate) and not moved.intersect(not_later).is_empty():
            broken.append(Violation(dependence))
            continue
        source, target = schedule.of(dependence.source), schedule.of(dependence.target)
        for position in _parallel_positions(source):
            loop = source[position]
            if not isinstance(loop, Loop) or _apart(source[:position], target[:position]):
                continue
            if dependence.reduction and reassociate and dependence.array in loop.combined:
                continue
            same = moved
            for outer in range(position):
                same = same.equate(isl.dim_type.in_, outer, isl.dim_type.out, outer)
            together = same.subtract(same.equate(isl.dim_type.in_, position, isl.dim_type.out, position))
            if not together.is_empty():
                broken.append(Violation(dependence, loop.name))
                break
    return tuple(broken)
