"""Legality of loop orders, tilings and parallel loops: whether they keep every dependence.

There are two tests, and they agree. ``directions`` reduces the dependences of one nest to direction vectors, with which
thousands of variants are tested in microseconds each. ``violations`` checks one complete schedule against the exact
dependence relations with isl; every variant that is run has passed it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

import islpy as isl

from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.working_sets import DependenceKind
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence
from polydl.poly.iterations import in_one_iteration
from polydl.poly.nests import Nest
from polydl.poly.schedules import runs_before, schedule_length, time_map
from polydl.poly.texts import map_of

# A direction vector: -1, 0 or 1 for each loop of a nest.
Signs = tuple[int, ...]


@dataclass(frozen=True)
class Directions:
    """Direction vectors of a nest: the signs of the distances between dependent instances."""

    #: the nest's loops, outermost first
    loops: tuple[str, ...]
    #: of dependences whose source must run before the target
    ordering: frozenset[Signs]
    #: of reductions that may be reassociated, each with the array that it adds to: source and target may run in any
    #: order, but not at the same time
    reductions: frozenset[tuple[str, Signs]]

    @cached_property
    def all(self) -> frozenset[Signs]:
        """Of all dependences."""
        return self.ordering | {signs for _, signs in self.reductions}

    def without(self, sums: Collection[str]) -> frozenset[Signs]:
        """Of all dependences but reductions of these arrays."""
        return self.ordering | {signs for array, signs in self.reductions if array not in sums}


def _sign_vectors(deltas: isl.Set, prefix: Signs, depth: int) -> set[Signs]:
    """The sign vectors, ``depth`` long and beginning with ``prefix``, of the points of a set of distances."""
    if deltas.is_empty():
        return set()
    if len(prefix) == depth:
        return {prefix}
    dimension = len(prefix)
    vectors: set[Signs] = set()
    for sign, part in (
        (0, deltas.fix_val(isl.dim_type.set, dimension, isl.Val(0))),
        (1, deltas.lower_bound_val(isl.dim_type.set, dimension, isl.Val(1))),
        (-1, deltas.upper_bound_val(isl.dim_type.set, dimension, isl.Val(-1))),
    ):
        vectors |= _sign_vectors(part, (*prefix, sign), depth)
    return vectors


@limited
def directions(scop: Scop, nest: Nest, dependences: Sequence[Dependence], *, reassociate: bool = True) -> Directions:
    """The direction vectors of all dependences inside ``nest`` that its shared outer loops don't carry.

    With ``reassociate`` the terms of a recognised reduction may be added in any order. Raises AnalysisError when
    isl's quota is used up.
    """
    members = set(nest.statements)
    depth = len(nest.loops)
    ordering: set[Signs] = set()
    reductions: set[tuple[str, Signs]] = set()
    for dependence in dependences:
        if dependence.source not in members or dependence.target not in members:
            continue
        relation = in_one_iteration(map_of(dependence.relation), range(nest.depth))
        if relation.is_empty():
            continue
        relation = relation.project_out(isl.dim_type.in_, 0, nest.depth).project_out(isl.dim_type.out, 0, nest.depth)
        for kind in (isl.dim_type.in_, isl.dim_type.out):
            relation = relation.set_tuple_name(kind, "")
        statement = scop.statement(nest.statements[0])
        vectors = {
            tuple(sign * way for sign, way in zip(signs, statement.directions[nest.depth :], strict=True))
            for signs in _sign_vectors(relation.deltas(), (), depth)
        }
        if dependence.reduction and reassociate:
            reductions |= {(dependence.array, signs) for signs in vectors}
        else:
            ordering |= vectors
    return Directions(nest.loops, frozenset(ordering), frozenset(reductions))


def order_is_legal(directions: Directions, order: Sequence[int]) -> bool:
    """Whether a loop order keeps all dependences.

    ``order`` gives the loop of each time dimension, outermost first, as an index into ``directions.loops``; a loop that
    is tiled appears once per level of its tiling. Two instances may have the same tile and different points in it, so
    a tile loop alone does not decide which one is first.
    """
    last = {loop: position for position, loop in enumerate(order)}
    for signs in directions.ordering:
        positions = [position for position, loop in enumerate(order) if signs[loop]]
        for position in positions:
            sign = signs[order[position]]
            if sign < 0:
                return False  # some pair differs here first: all outer tile loops of it may be equal
            if position == last[order[position]]:
                break  # the point loop always differs, nothing further inside can decide
    return True


def parallel_is_legal(directions: Directions, order: Sequence[int], position: int, sums: Collection[str] = ()) -> bool:
    """Whether the time dimension at ``position`` of ``order`` may run its iterations on different threads, or lanes.

    Each of them has copies of the arrays ``sums`` to add to, which are added up at the end.
    """
    last = {loop: innermost for innermost, loop in enumerate(order)}
    for signs in directions.without(sums) if sums else directions.all:
        if not signs[order[position]]:
            continue
        decided = any(signs[loop] and outer == last[loop] for outer, loop in enumerate(order[:position]))
        if not decided:
            return False
    return True


@dataclass(frozen=True)
class Violation:
    """A dependence that a schedule breaks."""

    dependence: Dependence
    #: the parallel loop whose threads break it; None where the order does
    parallel: str | None = None

    def reason(self, scop: Scop, by: str = "") -> str:
        """What is broken, in words with source lines; ``scop`` has the statements that the dependence is between.

        ``by`` says what put the instances into an order that breaks it, where that is known.
        """
        by = f"running `{self.parallel}` in parallel" if self.parallel else by
        return f"{in_words(scop, self.dependence)} is broken{f' by {by}' if by else ''}"


def in_words(scop: Scop, dependence: Dependence) -> str:
    """A dependence as messages say it: its kind and its array, its statements and their source lines."""
    source, target = scop.statement(dependence.source), scop.statement(dependence.target)
    return between_in_words(dependence.kind, dependence.array, source, target)


def between_in_words(kind: DependenceKind, array: str, source: Statement, target: Statement) -> str:
    """``in_words`` for a dependence between two statements that is known by these alone."""
    between = f"within {source.place}" if source.name == target.name else f"from {source.place} to {target.place}"
    return f"the {kind} dependence on `{array}` {between}"


Times = tuple[int | Loop, ...]


def _parallel_loops(source: Times, target: Times) -> dict[int, Loop]:
    """The parallel loops around either of two statements, one of which may run in a single iteration of one."""
    return {p: d for times in (source, target) for p, d in enumerate(times) if isinstance(d, Loop) and d.parallel}


def _apart(source: Times, target: Times) -> bool:
    """Whether two time prefixes have different positions in a sequence: the loops after them are different loops."""
    return any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in zip(source, target, strict=False))


# What breaks a dependence, by the dependence and the times of its source and its target; None if nothing does.
Decided = dict[tuple[Dependence, Times, Times], Violation | None]


@limited
def violations(
    scop: Scop,
    schedule: Schedule,
    dependences: Sequence[Dependence],
    *,
    reassociate: bool = True,
    decided: Decided | None = None,
) -> tuple[Violation, ...]:
    """Every dependence that ``schedule`` breaks, decided exactly by isl; empty for a legal schedule.

    With ``reassociate`` the terms of a recognised reduction may be added in any order. Callers that ask about many
    schedules of one scop, with the same ``reassociate``, keep in ``decided`` what is known of statements that the next
    one leaves where they are. Raises AnalysisError when isl's quota is used up.
    """
    known = {} if decided is None else decided
    length = schedule_length(schedule)
    maps: dict[str, isl.Map] = {}
    broken = []
    for dependence in dependences:
        source, target = schedule.of(dependence.source), schedule.of(dependence.target)
        if runs_before(source, target):
            continue
        # Where both are in a sequence of nests makes no difference.
        outside = _equal_positions(source, target)
        key = dependence, source[outside:], target[outside:]
        if key not in known:
            for name, times in ((dependence.source, source), (dependence.target, target)):
                if name not in maps:
                    maps[name] = time_map(scop.statement(name), times, length)
            moved = map_of(dependence.relation).apply_domain(maps[dependence.source])
            moved = moved.apply_range(maps[dependence.target])
            known[key] = _violation(dependence, moved, source, target, length, reassociate)
        violation = known[key]
        if violation is not None:
            broken.append(violation)
    return tuple(broken)


def _equal_positions(source: Times, target: Times) -> int:
    """The number of leading time dimensions that are the same positions of both."""
    alike = (isinstance(a, int) and isinstance(b, int) and a == b for a, b in zip(source, target, strict=False))
    return sum(1 for _ in takewhile(bool, alike))


def _violation(
    dependence: Dependence, moved: isl.Map, source: Times, target: Times, length: int, reassociate: bool
) -> Violation | None:
    """What breaks a dependence whose source and target run at these times; ``moved`` relates their points in time."""
    if not (dependence.reduction and reassociate):
        space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[f"t{d}" for d in range(length)])
        if not moved.intersect(isl.Map.lex_ge(space)).is_empty():
            return Violation(dependence)
    for position, loop in _parallel_loops(source, target).items():
        if _apart(source[:position], target[:position]):
            continue
        if dependence.reduction and reassociate and dependence.array in loop.combined:
            continue
        same = in_one_iteration(moved, range(position))
        together = same.subtract(in_one_iteration(same, [position]))
        if not together.is_empty():
            return Violation(dependence, loop.name)
    return None
