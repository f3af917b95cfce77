"""Records of measurements, as tables and documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from polydl.presentation.notation import (
    NOTHING,
    duration,
    loop_order,
    nests_of,
    number,
    parallel_loop,
    percentage,
    rendered,
    table,
    wrapped,
)
from polydl.records.queries import Summary, to_json
from polydl.records.record import Record
from polydl.records.store import Damage

if TYPE_CHECKING:
    from polydl.learning.replay import Replayed


def summaries_table(summaries: Sequence[Summary]) -> str:
    headings = ["nest", "of", "threads", "compiler", "variants", "failed", "best", "GFLOPS", "speed-up", "last"]
    rows = table(*headings, right=["threads", "variants", "failed", "best", "GFLOPS", "speed-up"], fold=["compiler"])
    for summary in summaries:
        best, baseline = summary.best, summary.baseline_seconds
        seconds = best.seconds_minimum if best is not None else None
        rows.add_row(
            summary.nest,
            summary.workload or summary.function,
            f"{summary.setting.threads}{' cold' if summary.setting.cold else ''}",
            summary.setting.compiler,
            str(summary.variants),
            str(summary.failed),
            duration(seconds),
            number(best.gflops if best is not None else None),
            f"{baseline / seconds:.2f}" if baseline and seconds else NOTHING,
            summary.last[:10],
        )
    processors = sorted({summary.setting.cpu for summary in summaries})
    return "\n".join([rendered(rows), "", *(f"Processor  {cpu}" for cpu in processors)])


def summary_document(summary: Summary) -> dict[str, Any]:
    setting = {**asdict(summary.setting), "libraries": dict(summary.setting.libraries)}
    return {**vars(summary), "setting": setting, "best": None if summary.best is None else to_json(summary.best)}


def records_table(records: Sequence[Record]) -> str:
    headings = [
        "date",
        "nest",
        "of",
        "id",
        "threads",
        "time (min)",
        "median",
        "GFLOPS",
        "of probe",
        "samples",
        "status",
    ]
    rows = table(*headings, right=headings[4:10])
    for record in records:
        share = (
            record.gflops / (record.peak_gflops * record.setting.threads)
            if record.gflops and record.peak_gflops
            else None
        )
        disturbed = sum(sample.disturbed for sample in record.samples)
        rows.add_row(
            record.date[:16].replace("T", " "),
            record.nest,
            record.workload or record.function,
            record.id,
            str(record.setting.threads),
            duration(record.seconds_minimum),
            duration(record.seconds_median),
            number(record.gflops),
            percentage(share),
            f"{len(record.samples)}{f' (-{disturbed})' if disturbed else ''}",
            record.status,
        )
    return rendered(rows)


def best_text(records: Sequence[Record]) -> str:
    rows = table("nest", "of", "threads", "id", "loops, outermost first", "parallel", "best", "GFLOPS", "measured",
                 right=["threads", "best", "GFLOPS"], fold=["loops, outermost first"])  # fmt: skip
    for record in records:
        if record.variant is None:
            continue
        for place, nest in enumerate(nests_of(record.variant)):
            structure = [loop_order(record.variant, nest), parallel_loop(record.variant, nest)]
            if place:
                rows.add_row("", "", "", "", *structure, "", "", "")
            else:
                first = [record.nest, record.workload or record.function, str(record.setting.threads), record.id]
                rows.add_row(
                    *first, *structure, duration(record.seconds_minimum), number(record.gflops), record.date[:10]
                )
    return rendered(rows)


def damage_text(damage: Damage) -> str:
    if damage.torn:
        return f"{damage.file}:{damage.line}: the last line is torn, and was passed over (a process was killed)"
    return f"{damage.file}:{damage.line}: passed over, since it is no record: {damage.reason}"


def replay_text(count: int, failed: Sequence[Replayed]) -> str:
    """How many of ``count`` recorded variants can still be applied, and why others can't."""
    lines = [f"Replayed  {count - len(failed)} of {count} recorded variants can be applied"]
    for reason, times in Counter(one.reason for one in failed).most_common():
        lines += wrapped(f"{times} can't: {reason}", "  ")
    return "\n".join(lines)
