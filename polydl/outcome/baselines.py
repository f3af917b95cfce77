"""The plain nest as a programmer would build it for speed: what every speed-up is over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from polydl.execute.rounds import times_as_fast
from polydl.execute.toolchain import Toolchain
from polydl.ir.counts import counted
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.numerics import EXACT, REORDERED, UNKNOWN, Rounding
from polydl.records.record import Record


@dataclass(frozen=True, repr=False)
class PlainBuild:
    """The plain nest with a compiler and flags."""

    #: compiler, flags and directive, for people
    name: str
    kernel: KernelSource
    toolchain: Toolchain
    #: the loops with other directives than the source's, or without these; "" where they are as they were written
    region: str = ""
    #: ``region`` where each directive asks ``team.BETWEEN`` first, before loops that were proved parallel; "" without
    asking_region: str = ""
    #: on how many it runs
    threads: int = 1

    def __repr__(self) -> str:
        return f"<PlainBuild {self.name}>"


@dataclass(frozen=True, repr=False)
class Baseline:
    """A plain build that was verified and timed."""

    build: PlainBuild
    measurement: Measurement
    #: the earlier measurement that this one is; None if it was measured now
    record: Record | None = None

    def __repr__(self) -> str:
        threads = counted(self.build.threads, "thread")
        return f"<Baseline {self.name}: {self.measurement.outcome} on {threads}>"

    @property
    def name(self) -> str:
        """Compiler, flags and directive."""
        return self.build.name

    @property
    def seconds(self) -> float | None:
        """Median time of one invocation; None if it failed."""
        return self.measurement.seconds_median


def fastest(baselines: Iterable[Baseline]) -> Baseline | None:
    """The one with the smallest median among those that compute the right result; None if there is none."""
    passed = [each for each in baselines if each.measurement.status == "ok"]
    return min(passed, key=lambda baseline: baseline.seconds or 0.0, default=None)


def speedup(measurement: Measurement, baselines: Sequence[Baseline]) -> float | None:
    """How many times as fast as the fastest baseline; None if either has no time."""
    best = fastest(baselines)
    return None if best is None else times_as_fast(measurement, best.measurement)


def plain_rounding(baseline: Baseline) -> Rounding:
    """What a build lets the compiler do to sums and products."""
    flags = [flag for flag in baseline.build.kernel.compile_flags if flag.endswith("-math")]
    if not flags:
        return replace(EXACT, methods=("what the source says",))
    kept = UNKNOWN if "-ffast-math" in flags else REORDERED
    return replace(kept, methods=(f"what {' '.join(flags)} lets the compiler do",))
