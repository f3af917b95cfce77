"""OpenMP's clauses for a loop, from what is known of its statements."""

from __future__ import annotations

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import For, Pragma
from polydl.poly.reductions import Operation


def directive(kind: str, loop: For, context: Context, *, collapse: int = 0, simdlen: int = 0) -> Pragma:
    """The directive, with what lanes or threads accumulate."""
    facts = context.of(loop.body)
    dealt = [each.parallel[loop.place] for each in facts if loop.place in each.parallel] if "for" in kind else []
    variables: list[tuple[Operation, str, tuple[int, ...]]] = []
    variables += [(each.operation, each.variable, ()) for each in loop.reductions]
    known = {each.target.array for each in loop.reductions}
    arrays = sorted({name for each in dealt for name in each.combined} - known)
    return Pragma(
        kind,
        collapse,
        simdlen,
        any(each.dynamic for each in dealt),
        (*variables, *(("+", name, context.arrays[name].extents) for name in arrays)),
    )


def simdlen(loop: For, context: Context) -> int:
    """The elements of whole vectors, where the loop fills one; 0 if it doesn't.

    Beside wider elements the narrowest fill one as well: parts of vectors that are stored apart can't be loaded at once
    soon after, and parts that are converted take more instructions (gcc needs two to four times as long for bytes
    beside floats).
    """
    facts = context.of(loop.body)
    trips = context.fewest_trips(loop)
    lengths = (
        max(each.most_lanes for each in facts),
        max(each.lanes for each in facts),
        min(each.lanes for each in facts),
    )
    return next((lanes for lanes in lengths if 1 < lanes <= trips), 0)
