"""Variants, rankings, working sets and measurements, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from polydl.machine import Machine
from polydl.presentation.notation import (
    NOTHING,
    counted,
    duration,
    level_columns,
    loop_order,
    nests_of,
    number,
    parallel_loop,
    percentage,
    rendered,
    shape,
    table,
    wrapped,
)
from polydl.report import FAILED_FOLDER, failure_message, gflops, microkernel_uses
from polydl.types import RankedVariant, Ranking, Variant

if TYPE_CHECKING:
    from pathlib import Path

    from polydl.doctor import Component
    from polydl.pipeline import Optimization, Tried
    from polydl.variants.generate import VariantSpace

_MESSAGE_LINES = 20


def variants_table(space: VariantSpace, variants: Sequence[Variant]) -> str:
    made = table("id", "loops, outermost first", "parallel", "m,n,k,batch", fold=["loops, outermost first"])
    for variant in variants:
        uses = microkernel_uses(space, variant)
        for place, nest in enumerate(nests_of(variant)):
            first = variant.id if place == 0 else ""
            made.add_row(first, loop_order(variant, nest), parallel_loop(variant, nest), shape(uses, nest))
    return rendered(made)


def structure_table(space: VariantSpace, entries: Sequence[RankedVariant], machine: Machine) -> str:
    """Ranked variants: loops, parallel loop, microkernel, working sets and predicted cost."""
    levels = [*(level.name for level in machine.caches), "memory"]
    loops = "loops, outermost first"
    headings = ["#", "id", loops, "parallel", "m,n,k,batch", *levels, "cost"]
    made = table(*headings, right=["#", *levels, "cost"], fold=[loops])
    for rank, entry in enumerate(entries, 1):
        uses = microkernel_uses(space, entry.variant)
        for place, nest in enumerate(nests_of(entry.variant)):
            structure = [loop_order(entry.variant, nest), parallel_loop(entry.variant, nest), shape(uses, nest)]
            if place:
                made.add_row("", "", *structure)
            else:
                sizes = level_columns(entry.working_sets)
                made.add_row(str(rank), entry.variant.id, *structure, *sizes, number(entry.score))
    return rendered(made)


def reasons_text(entries: Sequence[RankedVariant]) -> str:
    """The ranker's reason for each place."""
    lines = ["Reasons"]
    for rank, entry in enumerate(entries, 1):
        lines += wrapped(f"{rank:3}  {entry.variant.id}  {entry.reason}", "  ")
    return "\n".join(lines)


def measured_table(result: Optimization) -> str:
    """One line per candidate that was run."""
    headings = ["#", "id", "time (min)", "median", "GFLOPS", "of peak", "speed-up", "error", "status"]
    made = table(*headings, right=["#", *headings[2:8]])
    peak = result.peak_gflops * result.machine.threads
    baseline = result.baseline.seconds_minimum if result.baseline is not None else None
    for each in result.tried:
        measurement = each.measurement
        seconds = measurement.seconds_minimum
        rate = gflops(result.scop, seconds)
        made.add_row(
            str(each.rank),
            each.kernel.id,
            duration(seconds),
            duration(measurement.seconds_median),
            number(rate),
            percentage(None if rate is None else rate / peak),
            f"{baseline / seconds:.2f}" if baseline and seconds else NOTHING,
            number(measurement.error, 2),
            measurement.status,
        )
    return rendered(made)


def winner_text(result: Optimization, winner: Tried) -> str:
    seconds = winner.measurement.seconds_minimum
    rate = gflops(result.scop, seconds) or 0.0
    threads = result.machine.threads
    share = percentage(rate / (result.peak_gflops * threads))
    lines = [
        f"Winner  {winner.kernel.id} (rank {winner.rank}): {duration(seconds)}, {number(rate)} GFLOPS, {share} of the "
        f"FMA peak of {counted(threads, 'thread')} ({number(result.peak_gflops * threads)} GFLOPS)"
    ]
    baseline = result.baseline.seconds_minimum if result.baseline is not None else None
    if baseline and seconds:
        lines.append(
            f"  the plain nest: {duration(baseline)}, {number(gflops(result.scop, baseline))} GFLOPS; "
            f"speed-up {baseline / seconds:.2f}"
        )
    return "\n".join(lines)


def failures_text(result: Optimization, directory: Path) -> str:
    """What each candidate that failed had to say; empty if none did."""
    blocks = []
    for each in result.tried:
        if each.measurement.status != "ok":
            kept = directory / FAILED_FOLDER / f"{each.kernel.id}.c"
            title = f"candidate {each.rank} ({each.kernel.id}): {each.measurement.status}, its C is kept in {kept}"
            blocks.append(_failure(title, failure_message(each.measurement)))
    return "\n".join(blocks)


def _failure(title: str, message: str) -> str:
    lines = message.splitlines()
    shown = lines[:_MESSAGE_LINES]
    if len(lines) > len(shown):
        shown.append(f"({counted(len(lines) - len(shown), 'more line')} in the report)")
    return "\n".join([title, *(f"  {line}" for line in shown)])


def files_text(files: Mapping[str, Path]) -> str:
    return "\n".join(["Files", *(f"  {path}" for path in files.values())])


def seconds_text(seconds: Mapping[str, float]) -> str:
    stages = ", ".join(f"{stage} {spent:.1f}" for stage, spent in seconds.items() if stage != "total")
    return f"Total  {seconds['total']:.1f} s: {stages}"


def ranking_text(space: VariantSpace, ranking: Ranking, shown: int, machine: Machine) -> str:
    entries = ranking.entries[: shown or None]
    title = f"Ranking  {counted(len(ranking.entries), 'variant')} by {ranking.ranker}, the first {len(entries)}"
    return f"{title}\n\n{structure_table(space, entries, machine)}\n\n{reasons_text(entries)}"


def components_text(components: Sequence[Component]) -> str:
    lines = []
    for component in components:
        state = "works" if component.works else "broken" if component.found else "missing"
        optional = "" if component.required else " (optional)"
        lines.append(f"{state:8} {component.name}{optional}  {component.version}".rstrip())
        if component.where:
            lines.append(f"         {component.where}")
        lines += [f"         {line}" for line in component.self_test.splitlines()]
        if not component.works:
            lines.append(f"         to get it: {component.remedy}")
    return "\n".join(lines)
