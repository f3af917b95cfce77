"""The variant that isl's scheduler gives alone, without any search: what searched variants are compared with."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.errors import AnalysisError, IllegalVariantError
from polydl.ir.numerics import Numerics
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.plan.rewriting import RewrittenScop, rewritten
from polydl.poly.scheduling import permutable_band
from polydl.variants.rewrites.proposed_bands import loop_names
from polydl.variants.rewrites.reschedule import MOST_DEPENDENCES, Reschedule

# Pluto's default.
TILE = 32


def plain_schedule(scop: Scop, *, threads: int, numerics: Numerics) -> Variant:
    """All statements that share an outermost loop in the loops that isl gives them, in tiles of ``TILE``.

    Those for which isl finds no loops that can be tiled together stay as they are. With several ``threads`` these share
    the wavefronts of tiles. Raises AnalysisError where isl would take minutes.
    """
    steps: tuple[Reschedule, ...] = ()
    seen: set[str] = set()
    state = rewritten(scop, steps, numerics=numerics)
    while left := [s for s in state.scop.statements if s.name not in seen]:
        names = [s.name for s in state.scop.statements if s.betas[0] == left[0].betas[0]]
        seen.update(names)
        step = _step(state, names, threads)
        if step is None:
            continue
        try:
            state = rewritten(scop, (*steps, step), numerics=numerics)
        except IllegalVariantError:
            continue
        steps = (*steps, step)
    return Variant(steps)


def beside_plain_loops(
    scop: Scop, picked: Sequence[Variant], *, threads: int, numerics: Numerics
) -> tuple[Variant, ...]:
    """The plain schedule, tried as well where no pick has a microkernel: no search then does worse than isl alone.

    None where isl leaves all statements as they are, or would take minutes.
    """
    if any(variant.microkernels for variant in picked):
        return ()
    try:
        variant = plain_schedule(scop, threads=threads, numerics=numerics)
    except AnalysisError:
        return ()
    return (variant,) if variant.steps else ()


def _step(state: RewrittenScop, names: Sequence[str], threads: int) -> Reschedule | None:
    scop = state.scop
    inside = [d for d in state.dependences if d.source in names and d.target in names]
    if len(inside) > MOST_DEPENDENCES:
        raise AnalysisError(f"isl's scheduler would take minutes for {len(inside)} dependences")
    band = None if any(scop.has_call(name) for name in names) else permutable_band(scop, names, inside)
    if band is None:
        return None
    first, end = band.permutable
    sizes = tuple(TILE if first <= place < end else 1 for place in range(len(band.rows[0])))
    rows = tuple(tuple((*row.coefficients, row.constant) for row in forms) for forms in band.rows)
    members = [scop.statement(name) for name in band.statements]
    return Reschedule(band.statements, loop_names(members, band.rows), rows, sizes, threads > 1)
