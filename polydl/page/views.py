"""What the templates iterate over: rows with their texts ready, from a run."""

from __future__ import annotations

from dataclasses import dataclass

from polydl.page import units
from polydl.page.run import Run, ShownVariant, Timed
from polydl.page.steps import step_text

STAGES = {
    "parse": "reading the C",
    "variants": "finding legal variants",
    "analysis": "working sets",
    "ranking": "ranking",
    "compile": "compiling",
    "run": "checking and timing",
}
OTHER_STAGE = "the rest"


@dataclass(frozen=True)
class HeadlineNumber:
    """A number of the headline."""

    label: str
    value: str
    #: what it is of, in small print
    note: str


@dataclass(frozen=True)
class VariantRow:
    """A line of the table of variants."""

    variant: ShownVariant
    #: whether it is the winner
    best: bool
    #: its time, in the table's unit
    seconds: str
    #: between the quartiles of its samples, in percent of the time
    spread: str
    #: how many, and how many of them were disturbed
    samples: str
    #: GFLOPS
    rate: str
    #: the rate in percent of the machine's peak
    peak: str
    #: norm-wise relative error against the original
    error: str
    #: in words, one each
    steps: tuple[str, ...]


@dataclass(frozen=True)
class VariantTable:
    """The table of variants, with times in one unit."""

    time_unit: str
    rows: tuple[VariantRow, ...]


@dataclass(frozen=True)
class Held:
    """What one cache holds of a variant's working sets."""

    #: bytes, in words
    size: str
    #: part of the cache in percent; None for memory
    percent: float | None


@dataclass(frozen=True)
class StageRow:
    """What one stage of the run took, and its part of the whole."""

    name: str
    seconds: str
    percent: float


def plural(count: int, noun: str) -> str:
    """A number with the noun that it counts, which gets an s unless the number is 1."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def lede(run: Run) -> str:
    """The result in one sentence."""
    winner = run.winner
    if winner is None:
        if any(variant.status is not None for variant in run.variants):
            return "No candidate passed: each failed to compile, to run or to give the right answer."
        return "Nothing was compiled or run; these are the variants that would have been."
    if winner.plain:
        passed = any(variant.status == "ok" for variant in run.variants)
        lacks = "is as fast as the plain nest" if passed else "passed; what is left is the plain nest"
        return f"No variant {lacks}, {winner.over}: {units.duration(winner.seconds)}."
    text = f"Variant {winner.id} takes {units.duration(winner.seconds)}"
    if winner.speedup is None:
        return f"{text}."
    base = next((one for one in run.baselines if one.name == winner.over), None)
    took = f" ({units.duration(base.seconds)})" if base is not None else ""
    if winner.speedup < 1:
        return f"{text}: slower than {winner.over}{took}, at {units.factor(winner.speedup)} of its speed."
    return f"{text}: {units.factor(winner.speedup)} as fast as {winner.over}{took}."


def tiles(run: Run) -> list[HeadlineNumber]:
    """The numbers of the headline."""
    winner = run.winner
    if winner is None:
        return []
    threads = plural(winner.threads, "thread")
    samples = len(run.best.timed.samples) if run.best is not None else 0
    note = f"{run.statistic} of {plural(samples, 'sample')}" if samples else run.statistic
    shown = [
        HeadlineNumber("time", units.duration(winner.seconds), note),
        HeadlineNumber("rate", units.gflops(winner.gflops), f"of {units.operations(run.flops)}"),
    ]
    if winner.speedup is not None:
        note = f"over {winner.over}"
        if winner.equal_samples is not None:
            count, seconds, other = winner.equal_samples
            note += f"; {plural(count, 'sample')} of each: {units.duration(seconds)} and {units.duration(other)}"
        shown.append(HeadlineNumber("speed-up", units.factor(winner.speedup), note))
    if winner.peak_fraction is not None:
        shown.append(HeadlineNumber("of the FMA peak", units.percentage(winner.peak_fraction), threads))
    if winner.error is not None:
        shown.append(HeadlineNumber("error", units.significant(winner.error, 3), "norm-wise, relative"))
    return shown


def variant_table(run: Run) -> VariantTable:
    """All variants that were run or would have been; those with a time first, the fastest first of these."""
    ordered = sorted(run.variants, key=lambda one: (one.timed.seconds is None, one.timed.seconds or 0.0, one.rank or 0))
    times = units.time_scale(one.timed.seconds for one in ordered)
    rates = units.rate_scale(run.gflops(one.timed.seconds) for one in ordered)
    best = run.winner.id if run.winner is not None else ""
    return VariantTable(times.unit, tuple(_row(run, variant, variant.id == best, times, rates) for variant in ordered))


def _row(run: Run, variant: ShownVariant, best: bool, times: units.UnitScale, rates: units.UnitScale) -> VariantRow:
    rate = run.gflops(variant.timed.seconds)
    peak = run.machine.peak_of(variant.threads or run.machine.threads)
    return VariantRow(
        variant,
        best,
        seconds=times.text(variant.timed.seconds),
        spread=units.percentage(spread(variant.timed)),
        samples=_samples(variant.timed),
        rate=rates.text(rate),
        peak=units.percentage(rate / peak if rate is not None and peak else None),
        error=units.significant(variant.error, 2),
        steps=tuple(steps(variant)),
    )


def _samples(timed: Timed) -> str:
    """How many samples count, and how many of them were disturbed."""
    if timed.uncertain:
        return f"{len(timed.samples)} ({timed.disturbed} disturbed)"
    return str(len(timed.samples) or units.NOTHING)


def spread(timed: Timed) -> float | None:
    """Between the quartiles, by the time."""
    if timed.quartiles is None or not timed.seconds:
        return None
    low, high = timed.quartiles
    return (high - low) / timed.seconds


def held(run: Run, variant: ShownVariant) -> list[Held]:
    """What each cache holds of the working sets, and what fits none."""
    caches = [
        Held(units.size(variant.working_sets.get(name)), 100 * variant.working_sets.get(name, 0) / size)
        for name, size in run.machine.caches
    ]
    return [*caches, Held(units.size(variant.working_sets.get("memory")), None)]


def stages(run: Run) -> list[StageRow]:
    """The seconds of each stage, and those of none of them."""
    total = run.total_seconds or sum(run.stages.values())
    if not total or not run.stages:
        return []
    spent = {STAGES.get(name, name): seconds for name, seconds in run.stages.items()}
    rest = total - sum(spent.values())
    if rest > 0.005 * total:
        spent[OTHER_STAGE] = rest
    return [StageRow(name, f"{seconds:.2f}", 100 * seconds / total) for name, seconds in spent.items()]


def failures(run: Run) -> list[ShownVariant]:
    """The variants that were tried and did not pass."""
    return [variant for variant in run.variants if variant.status not in (None, "ok")]


def past_peak(run: Run) -> bool:
    """Whether a rate is above the peak, as where fewer products are computed than the source has."""
    peak = run.machine.peak
    rates = [run.gflops(one.seconds) for one in run.timed]
    return peak is not None and any(rate > peak for rate in rates if rate is not None)


def steps(variant: ShownVariant) -> list[str]:
    """A variant's steps in words."""
    return [step_text(step) for step in variant.steps]
