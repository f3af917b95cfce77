"""The winner is computed over a ring, too, where rounding can't hide a mistake."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polydl.ir.measurement import Exactness, Measurement
from polydl.system.files import temporary_directory

if TYPE_CHECKING:
    from polydl.execute.rings import Ring
    from polydl.optimization.optimized import Optimization

# Most seconds that the check may take: over the field, which a C++ compiler is needed for, longer.
_MOST_SECONDS: dict[Ring, float] = {"integers modulo 2^32": 0.3, "integers modulo 2^31 - 1": 1.0}


def with_exactness(result: Optimization, seed: int) -> Optimization:
    """The winner is computed over a ring, too, where that takes little time. One that differs there is none.

    Where it would take long, ``exactness`` says how long.
    """
    from polydl.execute.exactness import compare_exactly, estimated_seconds, ring_of

    best = result.winner
    if best is None or result.toolchain is None:
        return result
    expected = estimated_seconds(result.scop, best.kernel)
    if expected > _MOST_SECONDS[ring_of(result.scop, best.kernel)]:
        reason = f"it would take about {expected:,.{0 if expected >= 10 else 1}f} s"
        return replace(result, exactness=Exactness("not applicable", "", reason))
    with temporary_directory() as directory:
        exactness = compare_exactly(result.scop, best.kernel, result.toolchain, directory, seed=seed)
    if exactness.verdict != "differs":
        return replace(result, exactness=exactness)
    message = f"over the {exactness.ring} another result: {exactness.reason}"
    wrong = replace(best, measurement=Measurement(best.kernel.id, "wrong", message=message), record=None)
    return with_exactness(replace(result, tried=tuple(wrong if each is best else each for each in result.tried)), seed)
