"""What a page shows of one run. Times are in seconds, sizes in bytes, rates in GFLOPS; what is not known is None."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Statistic = Literal["median", "shortest"]


@dataclass(frozen=True)
class Timed:
    """A program with its times."""

    name: str
    kind: Literal["variant", "baseline", "peer"]
    #: of the same statistic as the headline
    seconds: float | None
    #: seconds of the shortest sample
    shortest: float | None = None
    #: seconds
    median: float | None = None
    #: the samples that count
    samples: tuple[float, ...] = ()
    #: number of samples during which something else ran
    disturbed: int = 0
    #: whether these count, too, since there are too few others
    uncertain: bool = False
    #: what it says of itself: version, algorithm, flags
    note: str = ""

    @property
    def quartiles(self) -> tuple[float, float] | None:
        """A quarter of the samples is shorter than the first, a quarter longer than the second; None below three."""
        if len(self.samples) < 3:
            return None
        low, _, high = statistics.quantiles(self.samples, n=4, method="inclusive")
        return low, high


@dataclass(frozen=True)
class ShownVariant:
    """A variant that was run or, where nothing was, that would have been."""

    id: str
    #: place in the ranking, from 1
    rank: int | None
    #: as the report's JSON has them
    steps: tuple[Mapping[str, Any], ...]
    timed: Timed
    #: as ``Measurement.status``; None if it was not run
    status: str | None
    #: why it failed, or what a reader should know of its samples
    message: str = ""
    #: what the ranker says of it; less is better
    score: float | None = None
    #: norm-wise relative error against the original
    error: float | None = None
    #: by the name of a cache, and ``memory`` for what fits none
    working_sets: Mapping[str, int] = field(default_factory=dict)
    #: bytes that the model expects to be brought into each cache, by its name
    traffic: Mapping[str, int] = field(default_factory=dict)
    #: when it was measured, if that was before this run
    recorded: str | None = None
    #: on how many it runs; None where the document doesn't say, and for all threads of the machine
    threads: int | None = None


@dataclass(frozen=True)
class Reuse:
    """A dependence, and the data touched between its ends."""

    array: str
    #: that carries it
    loop: str
    #: RAW, WAR, WAW and RAR, those that are between these ends
    kinds: tuple[str, ...]
    #: to the nearest target
    minimum_bytes: int
    #: to the farthest target
    maximum_bytes: int


@dataclass(frozen=True)
class MachineOfRun:
    """The machine that a run was for, as its document describes it."""

    name: str
    #: of the processor that could be used
    cores: int | None
    #: that kernels ran on
    threads: int
    #: (name, bytes), innermost first
    caches: tuple[tuple[str, int], ...]
    #: of one core
    peak_gflops: float | None
    #: bytes per second of all threads, by the name of a cache and ``memory``
    bandwidths: Mapping[str, float]
    #: whether bandwidths were measured with all cores at once
    calibrated: bool

    @property
    def peak(self) -> float | None:
        """GFLOPS of all threads."""
        return self.peak_of(self.threads)

    def peak_of(self, threads: int) -> float | None:
        """GFLOPS of so many threads."""
        return None if self.peak_gflops is None else self.peak_gflops * threads


@dataclass(frozen=True)
class ShownWinner:
    """The fastest variant, as the headline has it."""

    #: the variant's
    id: str
    #: of one invocation, the median
    seconds: float
    #: 10^9 floating-point operations per second
    gflops: float | None
    #: how many times as fast as ``over``
    speedup: float | None
    #: what the speed-up is over
    over: str
    #: samples of each, and the two medians that the speed-up is made of, where they are clearly not those of all
    equal_samples: tuple[int, float, float] | None
    #: on how many it runs
    threads: int
    #: by the peak of these threads
    peak_fraction: float | None
    #: norm-wise relative error against the original
    error: float | None
    #: what it does to sums and products, in words; "" if the document says nothing
    rounding: str
    #: its call, as the report's JSON has it; None for plain loops
    microkernel: Mapping[str, Any] | None
    #: as the report lists them
    reuses: tuple[Reuse, ...]
    #: whether it is the plain nest, since no variant was as fast
    plain: bool = False


@dataclass(frozen=True)
class Run:
    """One run as a page shows it."""

    #: what the person named: a path, or the id of a run
    source: str
    function: str
    #: the C file; "" if the document doesn't say
    file: str
    #: macros, by name
    defines: Mapping[str, str]
    #: of the nest, ``Scop.digest``
    digest: str
    #: floating-point operations of one invocation
    flops: int
    machine: MachineOfRun
    #: as the report's JSON has them
    arrays: tuple[Mapping[str, Any], ...]
    #: how many variants were generated, ranked, measured and failed, by these words
    counts: Mapping[str, int]
    baselines: tuple[Timed, ...]
    variants: tuple[ShownVariant, ...]
    peers: tuple[Timed, ...]
    #: None if nothing was run, or nothing was right
    winner: ShownWinner | None
    #: what times are: the median of the samples, or the shortest
    statistic: Statistic
    ranker: str
    #: of all that was ranked, in order
    scores: tuple[float | None, ...]
    #: C of the nest as it was written; None if there is none to show
    original_code: str | None
    #: C of the winner's kernel; None if there is none to show
    winner_code: str | None
    #: seconds of each stage, without the total
    stages: Mapping[str, float]
    #: of the whole run
    total_seconds: float | None
    #: when the first of the measurements was taken, if not in this run
    measured: str | None
    #: what variants could do to sums and products; "" if the document says nothing
    numerics: str
    #: compiler, libraries and the like, by name
    setting: Mapping[str, str]
    #: all of it, as it was read
    document: Mapping[str, Any]

    def gflops(self, seconds: float | None) -> float | None:
        """Operations of the nest per nanosecond; None without a time."""
        return self.flops / seconds / 1e9 if seconds else None

    @property
    def timed(self) -> tuple[Timed, ...]:
        """All that has a time: baselines, variants that passed, peers."""
        passed = [variant.timed for variant in self.variants if variant.status == "ok"]
        return tuple(one for one in (*self.baselines, *passed, *self.peers) if one.seconds is not None)

    @property
    def best(self) -> ShownVariant | None:
        """The variant of ``winner``."""
        return next((one for one in self.variants if self.winner is not None and one.id == self.winner.id), None)

    def intensity(self, variant: ShownVariant, cache: str | None = None) -> float | None:
        """Operations per byte brought into a cache, by default the last one; None where the model says nothing."""
        if not self.machine.caches:
            return None
        moved = variant.traffic.get(cache or self.machine.caches[-1][0])
        return self.flops / moved if moved else None
