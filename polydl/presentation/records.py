"""Records of measurements, as tables and documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

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
)
from polydl.records.queries import Summary, to_json
from polydl.records.record import Record
from polydl.records.store import Damage


def summaries_table(summaries: Sequence[Summary]) -> str:
    headings = ["nest", "of", "threads", "compiler", "variants", "failed", "best", "GFLOPS", "speed-up", "last"]
    made = table(*headings, right=["threads", "variants", "failed", "best", "GFLOPS", "speed-up"], fold=["compiler"])
    for each in summaries:
        best, baseline = each.best, each.baseline_seconds
        seconds = best.seconds_minimum if best is not None else None
        made.add_row(
            each.nest,
            each.workload or each.function,
            f"{each.setting.threads}{' cold' if each.setting.cold else ''}",
            each.setting.compiler,
            str(each.variants),
            str(each.failed),
            duration(seconds),
            number(best.gflops if best is not None else None),
            f"{baseline / seconds:.2f}" if baseline and seconds else NOTHING,
            each.last[:10],
        )
    processors = sorted({each.setting.cpu for each in summaries})
    return "\n".join([rendered(made), "", *(f"Processor  {cpu}" for cpu in processors)])


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
    made = table(*headings, right=headings[4:10])
    for each in records:
        share = each.gflops / (each.peak_gflops * each.setting.threads) if each.gflops and each.peak_gflops else None
        disturbed = sum(sample.disturbed for sample in each.samples)
        made.add_row(
            each.date[:16].replace("T", " "),
            each.nest,
            each.workload or each.function,
            each.id,
            str(each.setting.threads),
            duration(each.seconds_minimum),
            duration(each.seconds_median),
            number(each.gflops),
            percentage(share),
            f"{len(each.samples)}{f' (-{disturbed})' if disturbed else ''}",
            each.status,
        )
    return rendered(made)


def best_text(records: Sequence[Record]) -> str:
    made = table("nest", "of", "threads", "id", "loops, outermost first", "parallel", "best", "GFLOPS", "measured",
                 right=["threads", "best", "GFLOPS"], fold=["loops, outermost first"])  # fmt: skip
    for each in records:
        if each.variant is None:
            continue
        for place, nest in enumerate(nests_of(each.variant)):
            structure = [loop_order(each.variant, nest), parallel_loop(each.variant, nest)]
            if place:
                made.add_row("", "", "", "", *structure, "", "", "")
            else:
                first = [each.nest, each.workload or each.function, str(each.setting.threads), each.id]
                made.add_row(*first, *structure, duration(each.seconds_minimum), number(each.gflops), each.date[:10])
    return rendered(made)


def damage_text(damage: Damage) -> str:
    if damage.torn:
        return f"{damage.file}:{damage.line}: the last line is torn, and was passed over (a process was killed)"
    return f"{damage.file}:{damage.line}: passed over, since it is no record: {damage.reason}"
