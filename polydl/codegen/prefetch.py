"""The address from which a microkernel call prefetches, in C.

``polydl.plan.prefetch`` decides what is fetched; the microkernel's ``emit`` writes the instructions.
"""

from __future__ import annotations

from collections.abc import Sequence

from polydl.codegen.print_c import text
from polydl.codegen.values import Expr
from polydl.plan.prefetch import Prefetch, Walk


def prefetch_address(prefetch: Prefetch, tile: str, values: Sequence[Expr]) -> str:
    """Where one call starts to fetch.

    ``tile`` is the address of the call's own tile of A in C, ``values`` are those of the plan's loops.
    """
    number = ""
    for walk in prefetch.inner:
        iteration = _iteration(walk, values)
        number = f"({number}) * {walk.trips} + {iteration}" if number else iteration
    following = f"{tile} + ({_distance(prefetch.outer, values)})"
    return f"{following} + ({number}) * {prefetch.elements}" if number else following


def _iteration(walk: Walk, values: Sequence[Expr]) -> str:
    """The number of the iteration, from 0 on. An inner loop of tiles counts on through those of the outer."""
    value = text(values[walk.place])
    return f"({value} - {walk.first}) % {walk.trips}" if walk.first else f"{value} % {walk.trips}"


def _distance(outer: Sequence[Walk], values: Sequence[Expr]) -> str:
    """Elements to the next tile: a loop at its end starts anew, and the one around it moves on."""
    chosen = ""
    back = 0
    steps = []
    for walk in outer:
        steps.append((walk, walk.stride - back))
        back += (walk.trips - 1) * walk.stride
    for inner, (walk, step) in enumerate(steps):
        if all(other == step for _, other in steps[inner:]):
            return f"{chosen}{step}"
        chosen += f"{_iteration(walk, values)} < {walk.trips - 1} ? {step} : "
    raise AssertionError("the last loop's step equals itself")
