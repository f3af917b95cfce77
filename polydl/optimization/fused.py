"""Fusion as one call: what can be fused and why the rest can't, and the fastest code for the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polydl.execute.rounds import times_as_fast
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics
from polydl.ir.scop import Scop
from polydl.machine import Machine
from polydl.optimization.nest import nest_of
from polydl.optimization.optimize import optimize
from polydl.optimization.optimized import Optimization
from polydl.optimization.platform import machine_on
from polydl.outcome.tried import Tried
from polydl.pipeline import fusion_pairs
from polydl.plan.rewrite_steps import is_fused

if TYPE_CHECKING:
    from polydl.fusion.report import OperatorPair


@dataclass(frozen=True)
class FusionResult:
    """Which operators of a nest can be fused, and the fastest code for the whole."""

    #: the operators two by two, each with the answer and its reason
    pairs: tuple[OperatorPair, ...]
    optimization: Optimization

    @property
    def unfused(self) -> Tried | None:
        """The candidate with the smallest median time that was run and fuses nothing."""
        scop = self.optimization.scop
        apart = [
            each
            for each in self.optimization.tried
            if each.measurement.seconds_median is not None and not is_fused(scop, each.ranked.variant)
        ]
        return min(apart, key=lambda tried: tried.measurement.seconds_median or 0.0, default=None)

    @property
    def speedup(self) -> float | None:
        """How many times as fast the winner is as the fastest that fuses nothing; None if either is missing."""
        winner, unfused = self.optimization.winner, self.unfused
        if winner is None or unfused is None:
            return None
        return times_as_fast(winner.measurement, unfused.measurement)


def fuse(
    nest: Scop | str | Path,
    *,
    machine: Machine | None = None,
    threads: int | None = None,
    numerics: Numerics = DEFAULT_NUMERICS,
    defines: Mapping[str, str | int] | None = None,
    function: str | None = None,
    include_directories: Sequence[str | Path] = (),
    **options: Any,
) -> FusionResult:
    """Fuse the operators of a nest where that is legal and fast; ``options`` are those of ``optimize``.

    The best variant of the ranking that fuses nothing is run beside the others.
    """
    scop = nest_of(nest, function=function, defines=defines, include_directories=include_directories)
    found = machine_on(machine, threads)
    pairs = fusion_pairs(scop, threads=found.threads, numerics=numerics)
    return FusionResult(pairs, optimize(scop, machine=found, numerics=numerics, with_unfused=True, **options))
