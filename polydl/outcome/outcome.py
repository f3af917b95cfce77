"""What an optimization found: its variants, their ranking and measurements, the winner and its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polydl import durations
from polydl.calibration.first_use import FirstUse
from polydl.errors import ExecutionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.cold import Cold
from polydl.ir.measurement import Exactness, Measurement
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics
from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.scop import Scop
from polydl.machine import Machine
from polydl.outcome import winning
from polydl.outcome.baselines import Baseline, fastest, speedup
from polydl.outcome.search_report import SearchReport
from polydl.outcome.store_state import StoreState
from polydl.outcome.tried import Tried
from polydl.records.record import Record

if TYPE_CHECKING:
    from polydl.contracts import Candidate
    from polydl.execute.callable import LoadedKernel, PreparedKernel
    from polydl.ir.variant import Variant
    from polydl.plan.apply import Applied
    from polydl.variants.generation import Generation
    from polydl.variants.variant_space import VariantSpace


@dataclass(frozen=True, repr=False)
class Outcome:
    """Everything that one ``optimize`` found, as a value: ``Optimization`` shows it as a page as well."""

    scop: Scop
    machine: Machine
    space: VariantSpace
    #: the legal variants that were generated
    generation: Generation
    ranking: Ranking
    #: variants that were run, or would have been, each after its place in the ranking
    picks: tuple[tuple[int, RankedVariant], ...]
    #: builds of the plain nest that were timed; empty if nothing was run
    baselines: tuple[Baseline, ...]
    #: variants that were compiled and run
    tried: tuple[Tried, ...]
    #: paths of what was written, by kind: c, header, library, report
    files: Mapping[str, Path]
    #: wall-clock seconds of each stage
    seconds: Mapping[str, float]
    #: what compiles the variants; None where nothing is compiled
    toolchain: Toolchain | None
    #: the best FMA rate of one core seen beside the measurements, in GFLOPS of the types that the nest computes in
    peak_gflops: float
    #: what variants may do to sums and products
    numerics: Numerics = DEFAULT_NUMERICS
    #: what was flushed from the caches before each invocation
    cold: Cold = False
    #: what was wrong with the records
    store: StoreState = field(default_factory=StoreState)
    #: the winner's check over a ring; None where nothing was run here
    exactness: Exactness | None = None
    #: What the ranker saw of each variant.
    analysed: tuple[Candidate, ...] = ()
    #: What the emitted function is called.
    exported: str = ""
    #: Instruction sets that the code may use and this processor lacks. If there are any, or if the machine is not at
    #: hand, nothing was run, and the first of the ranking is emitted.
    lacking: tuple[str, ...] = ()
    #: whether an interruption ended it before all picks were measured; ``tried`` are those that were
    interrupted: bool = False
    #: whether the variants are those that the caller named
    asked: bool = False
    #: what a search beyond the first picks gained; None without a budget
    search: SearchReport | None = None
    #: the calls of microkernels that were timed before the ranking; None if none were
    first_use: FirstUse | None = None
    #: the winner's function that prepares constants itself at every call; None unless it has such to prepare
    unprepared: Measurement | None = None
    #: of the library among ``files``; "" if there is none
    library_sha256: str = ""

    @property
    def baseline(self) -> Baseline | None:
        """The fastest correct build of the plain nest, which speed-ups are over; None if nothing was run."""
        return fastest(self.baselines)

    @property
    def plain(self) -> Baseline | None:
        """The plain nest that wins, since no variant is as fast as its fastest build; None where one is.

        It wins as well where no variant passed, if one at least is less accurate or took too long. None where all fail
        otherwise, where the caller named the variants, and where an interruption came before both have a sample.
        """
        winner, baseline = self.winner, self.baseline
        if baseline is None or self.asked:
            return None
        if winner is None:
            return baseline if not self.interrupted and winning.no_match(self.tried) else None
        if self.interrupted and not (winner.measurement.samples and baseline.measurement.samples):
            return None
        return baseline if winning.behind(winner, self.baselines) else None

    @property
    def speedup(self) -> float | None:
        """How many times as fast what was emitted is as ``baseline``; None without a winner."""
        winner = self.winner
        if self.plain is not None:
            return 1.0
        return None if winner is None else speedup(winner.measurement, self.baselines)

    @property
    def winner(self) -> Tried | None:
        """The verified candidate that is emitted, or None if none was run or none passed (see ``winning.py``)."""
        return winning.winner(self.tried, self.baselines, interrupted=self.interrupted)

    def __repr__(self) -> str:
        winner = self.winner
        if winner is None and self.plain is not None:
            outcome = "the plain nest wins"
        elif winner is None:
            outcome = "no winner" if self.tried else "none run"
        else:
            measured = winner.measurement if winner.record is None else winner.record.measurement
            outcome = f"winner {durations.shown(measured.seconds_median or 0.0)}, {winner.rank}. in the ranking"
        run = f"{len(self.tried)} of {len(self.ranking.entries)} variants run"
        return f"<{type(self).__name__} of {self.scop.function.name} ({self.scop.file}): {run}, {outcome}>"

    @property
    def source(self) -> str:
        """The winner's C, as it was emitted. Raises ExecutionError if nothing was run."""
        if "c" not in self.files:
            raise ExecutionError("there is no winner's C", remedy="run optimize without no_run")
        return self.files["c"].read_text(encoding="utf-8")

    @property
    def recorded(self) -> tuple[Record, ...]:
        """The earlier measurements that were taken over."""
        return tuple(each.record for each in self.tried if each.record is not None)

    def applied(self, variant: Variant) -> Applied:
        """A variant as it was applied to the nest."""
        return self.space.apply(variant)

    @property
    def best(self) -> LoadedKernel:
        """The winner as a Python callable over numpy arrays, by parameter name.

        Raises ExecutionError if nothing was run or emitted, OptionError if another library has taken its place.
        """
        if "library" not in self.files:
            raise ExecutionError("there is no compiled winner", remedy="run optimize without no_run")
        from polydl.execute.callable import load

        return load(self.files["library"], self.scop, self.exported, sha256=self.library_sha256)

    def prepare(self, *constants: Any, **named: Any) -> PreparedKernel:
        """The winner with its constants prepared: a callable over the other arrays, by parameter name.

        Constants are given in the order of the function's parameters, or by name. Raises OptionError if the nest has no
        constants, ExecutionError if nothing was run or emitted, ArgumentError for an array that doesn't fit, and
        ResourceError where memory lacks.
        """
        return self.best.prepare(*constants, **named)
