"""Sums and extrema that vector loops take in variables: which they are, and how many vectors each of them has.

The emitted code follows these rules, and so does what it is predicted to take.
"""

from __future__ import annotations

from polydl.ir.scop import Scop
from polydl.plan.nest_plan import NestPlan
from polydl.poly.legality import Directions, parallel_is_legal
from polydl.poly.reductions import moves, reduction

OPERATIONS = frozenset({"+", "max", "min"})
"""What lanes of a vector loop may accumulate, each for itself."""
_LANES = frozenset({2, 4, 8, 16})
# Vectors that all sums of a loop have together: an addition takes about as many cycles.
_MOST_VECTORS = 4
# Additions to each of them that joining them takes no time beside.
_FEWEST_TURNS = 4


def vector_sums(scop: Scop, plan: NestPlan, directions: Directions) -> dict[int, dict[str, str]]:
    """The arrays that a vector loop would have to accumulate in parts, by its place in time and by statement.

    Only where that is allowed.
    """
    found = {place: sums_of_loop(scop, plan, directions, position) for position, place in enumerate(plan.places)}
    return {place: arrays for place, arrays in found.items() if arrays}


def sums_of_loop(scop: Scop, plan: NestPlan, directions: Directions, position: int) -> dict[str, str]:
    """The same of one of the plan's own loops, by its position; nothing where that is not allowed."""
    arrays: dict[str, str] = {}
    for statement in (scop.statement(name) for name in plan.nest.statements):
        found = reduction(scop, statement)
        if found is None or moves(found.target, plan.loops[position].iterator):
            continue
        if found.operation not in OPERATIONS:
            return {}
        arrays[statement.name] = found.target.array
    legal = parallel_is_legal(directions, plan.order(), position, arrays.values())
    return arrays if legal and len(set(arrays.values())) == len(arrays) else {}


def separate_lanes(lanes: int, trips: int) -> int:
    """How many lanes of a vector loop have variables of their own for each sum; 0 if one does for all.

    ``lanes`` are those of a vector, ``trips`` the fewest iterations of the loop.
    """
    return lanes if lanes in _LANES and lanes <= trips // 2 else 0


def separate_vectors(sums: int, lanes: int, trips: int, *, called: bool) -> int:
    """How many vectors of ``lanes`` each of a loop's ``sums`` has, so that none waits for the one before.

    One where functions are ``called``, which leave no registers.
    """
    vectors = 1 if called else max(1, _MOST_VECTORS // sums)
    while vectors > 1 and trips < _FEWEST_TURNS * vectors * lanes:
        vectors //= 2
    return vectors
