"""Passes over loops: each takes a body and what is known of its statements, and gives another body."""

from __future__ import annotations

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Body
from polydl.codegen.passes import (
    accumulators,
    common_values,
    dead_stores,
    epilogue,
    extrema,
    factors,
    fences,
    lane_accumulators,
    long_counters,
    next_tile,
    openmp_pragmas,
    parallel_loops,
    prefetch,
    private_arrays,
    reciprocals,
    reductions,
    residues,
    rounded_stores,
    scalar_replacement,
    streaming_stores,
    transposing_copies,
    unroll_and_jam,
    vector_strips,
    vectorize,
    wide_subscripts,
)

ORDER = (
    prefetch.run,
    next_tile.run,
    epilogue.run,
    parallel_loops.run,
    accumulators.run,
    unroll_and_jam.run,
    vectorize.run,
    transposing_copies.run,
    residues.run,
    reductions.run,
    factors.run,
    reciprocals.run,
    scalar_replacement.run,
    dead_stores.run,
    lane_accumulators.run,
    streaming_stores.run,
    common_values.run,
    rounded_stores.run,
    openmp_pragmas.run,
    private_arrays.run,
    vector_strips.run,
    fences.run,
    long_counters.run,
    wide_subscripts.run,
    extrema.run,
)


def run(ir: Body, context: Context) -> Body:
    """All passes, one after the other."""
    for each in ORDER:
        ir = each(ir, context)
    return ir
