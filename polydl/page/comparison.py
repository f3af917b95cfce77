"""Two runs beside each other: what differs in what was asked, and what came out."""

from __future__ import annotations

from dataclasses import dataclass, replace

from polydl.page import units
from polydl.page.run import Run, Timed
from polydl.page.views import plural


@dataclass(frozen=True)
class ComparisonRow:
    """One line: what is compared, and the two texts."""

    label: str
    #: of the first run
    first: str
    #: of the second run
    second: str

    @property
    def differs(self) -> bool:
        return self.first != self.second


@dataclass(frozen=True)
class CommonRow:
    """Something that both runs have timed."""

    name: str
    #: its time in the first run
    first: str
    #: its time in the second run
    second: str
    #: how many times as fast it is in the second run
    ratio: str


@dataclass(frozen=True)
class Common:
    """What both runs have timed, with times in one unit."""

    time_unit: str
    rows: tuple[CommonRow, ...]


def alike(first: Run, second: Run) -> tuple[Run, Run]:
    """Both runs by the same statistic: by medians where only one of them is, and the other holds its winner's."""
    if first.statistic == second.statistic:
        return first, second
    return _by_medians(first), _by_medians(second)


def _by_medians(run: Run) -> Run:
    """A run whose times are medians; what has none has no time. The run itself if its winner has none."""
    winner, best = run.winner, run.best
    if run.statistic == "median" or (winner is not None and (best is None or best.timed.median is None)):
        return run
    if winner is not None and best is not None:
        rate = run.gflops(best.timed.median)
        peak = run.machine.peak_of(winner.threads)
        part = rate / peak if rate and peak else None
        winner = replace(winner, seconds=best.timed.median or 0.0, gflops=rate, peak_fraction=part)
    return replace(
        run,
        statistic="median",
        winner=winner,
        baselines=tuple(map(_by_median, run.baselines)),
        variants=tuple(replace(variant, timed=_by_median(variant.timed)) for variant in run.variants),
        peers=tuple(map(_by_median, run.peers)),
    )


def _by_median(timed: Timed) -> Timed:
    return replace(timed, seconds=timed.median)


def speedup(first: Run, second: Run) -> float | None:
    """How many times as fast the second run's winner is; None unless both runs have one and solve the same nest.

    Both are ``alike``.
    """
    if first.winner is None or second.winner is None or first.flops != second.flops:
        return None
    return first.winner.seconds / second.winner.seconds


def cautions(first: Run, second: Run) -> list[str]:
    """Why the times of two runs that are ``alike`` may not be compared."""
    said = []
    if first.digest != second.digest:
        said.append("The two runs are of different nests.")
    if first.machine.name != second.machine.name:
        said.append("The two runs are of different processors.")
    if first.machine.threads != second.machine.threads:
        said.append("The two runs use different numbers of threads.")
    if first.statistic != second.statistic:
        said.append("The times of one run are medians, those of the other the shortest: these are less at equal speed.")
    peaks = first.machine.peak_gflops, second.machine.peak_gflops
    if peaks[0] and peaks[1] and abs(peaks[0] / peaks[1] - 1) > 0.05:
        said.append(
            f"A core reached {units.gflops(peaks[0])} beside the first run and {units.gflops(peaks[1])} beside the "
            "second: the clock, or other work on the machine, differs."
        )
    return said


def conditions(first: Run, second: Run) -> list[ComparisonRow]:
    """What was asked, of what machine."""
    pairs = [(_conditions(first), _conditions(second))]
    return [
        ComparisonRow(label, one.get(label, units.NOTHING), other.get(label, units.NOTHING))
        for one, other in pairs
        for label in dict.fromkeys([*one, *other])
    ]


def _conditions(run: Run) -> dict[str, str]:
    machine = run.machine
    return {
        "nest": f"{run.function} {run.digest}",
        "file": run.file or units.NOTHING,
        "sizes": " ".join(f"{name}={value}" for name, value in run.defines.items()) or units.NOTHING,
        "operations": units.operations(run.flops),
        "processor": machine.name,
        "threads": str(machine.threads),
        "caches": ", ".join(f"{name} {units.size(size)}" for name, size in machine.caches) or units.NOTHING,
        "FMA peak of a core": units.gflops(machine.peak_gflops),
        "variants ranked": f"{run.counts['ranked']:,}" if "ranked" in run.counts else units.NOTHING,
        "numerics": run.numerics or units.NOTHING,
        "ranker": run.ranker or units.NOTHING,
        **run.setting,
    }


def outcomes(first: Run, second: Run) -> list[ComparisonRow]:
    """What came out."""
    return [
        ComparisonRow(label, one, other)
        for (label, one), (_, other) in zip(_outcomes(first), _outcomes(second), strict=True)
    ]


def _outcomes(run: Run) -> list[tuple[str, str]]:
    winner = run.winner
    kernel = winner.microkernel if winner is not None else None
    return [
        ("winner", winner.id if winner is not None else "none"),
        ("time", units.duration(winner.seconds if winner is not None else None)),
        ("rate", units.gflops(winner.gflops if winner is not None else None)),
        ("of the FMA peak", units.percentage(winner.peak_fraction if winner is not None else None)),
        ("speed-up", units.factor(winner.speedup if winner is not None else None)),
        ("over", winner.over if winner is not None else units.NOTHING),
        ("error", units.significant(winner.error if winner is not None else None, 3)),
        ("microkernel", str(kernel["name"]) if kernel is not None else units.NOTHING),
        ("candidates that passed", plural(run.counts.get("measured", 0), "candidate")),
        ("candidates that failed", plural(run.counts.get("failed", 0), "candidate")),
        ("the whole run", units.duration(run.total_seconds)),
    ]


def common(first: Run, second: Run) -> Common:
    """The programs that both runs have timed, by their names: none of different nests."""
    others = {one.name: one for one in second.timed if first.digest == second.digest}
    pairs = [(one, others[one.name]) for one in first.timed if one.name in others]
    scale = units.time_scale(timed.seconds for pair in pairs for timed in pair)
    rows = [
        CommonRow(
            one.name,
            scale.text(one.seconds),
            scale.text(other.seconds),
            units.factor(one.seconds / other.seconds if one.seconds and other.seconds else None),
        )
        for one, other in pairs
    ]
    return Common(scale.unit, tuple(rows))
