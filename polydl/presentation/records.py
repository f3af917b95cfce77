"""Records of measurements, as tables and documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polydl.ir.cold import Cold
from polydl.presentation.notation import (
    NOTHING,
    counted,
    duration,
    loop_order,
    nests_of,
    number,
    parallel_loop,
    percentage,
    wrapped,
)
from polydl.presentation.tables import rendered, table
from polydl.records.queries import RecordSummary, to_json
from polydl.records.record import Record
from polydl.records.store import Damage

_COLD: Mapping[Cold, str] = {False: "", True: " cold", "constants": " cold constants"}

if TYPE_CHECKING:
    from polydl.learning.replay import Replayed
    from polydl.outcome.store_state import StoreState

_SHOWN_FILES, _SHOWN_LINES = 3, 8


def summaries_table(summaries: Sequence[RecordSummary]) -> str:
    """A line for each nest and setting with its fastest record, and the processors below."""
    headings = ["nest", "of", "threads", "best", "GFLOPS", "speed-up", "last", "variants", "failed", "compiler"]
    right = ["threads", "best", "GFLOPS", "speed-up", "variants", "failed"]
    rows = table(*headings, right=right, fold=["compiler"])
    for summary in summaries:
        best, plain = summary.best, summary.plain_seconds
        seconds = best.seconds_median if best is not None else None
        rows.add_row(
            summary.nest,
            summary.workload or summary.function,
            f"{summary.setting.threads}{_COLD[summary.setting.cold]}",
            duration(seconds),
            number(best.gflops if best is not None else None),
            f"{plain / seconds:.2f}" if plain and seconds else NOTHING,
            summary.last[:10],
            str(summary.variants),
            str(summary.failed),
            summary.setting.compiler,
        )
    processors = sorted({summary.setting.cpu for summary in summaries})
    return "\n".join([rendered(rows, keys=2), "", *(f"Processor  {cpu}" for cpu in processors)])


def summary_document(summary: RecordSummary) -> dict[str, Any]:
    """What a line of ``summaries_table`` is made of, as JSON."""
    setting = {**asdict(summary.setting), "libraries": dict(summary.setting.libraries)}
    return {**vars(summary), "setting": setting, "best": None if summary.best is None else to_json(summary.best)}


def records_table(records: Sequence[Record]) -> str:
    """A line for each record; ``(-2)`` behind its samples says that two of them were disturbed."""
    headings = [
        "date",
        "id",
        "nest",
        "of",
        "threads",
        "median",
        "shortest",
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
            record.id,
            record.nest,
            record.workload or record.function,
            str(record.setting.threads),
            duration(record.seconds_median),
            duration(record.seconds_minimum),
            number(record.gflops),
            percentage(share),
            f"{len(record.samples)}{f' (-{disturbed})' if disturbed else ''}",
            record.status,
        )
    return rendered(rows, keys=2)


def best_text(records: Sequence[Record]) -> str:
    """The fastest variant of each nest and setting, with a line for each of its nests; other kernels are left out."""
    rows = table("nest", "of", "threads", "id", "best", "GFLOPS", "measured", "loops, outermost first", "parallel",
                 right=["threads", "best", "GFLOPS"], fold=["loops, outermost first"])  # fmt: skip
    for record in records:
        if record.variant is None:
            continue
        for place, nest in enumerate(nests_of(record.variant)):
            structure = [loop_order(record.variant, nest), parallel_loop(record.variant, nest)]
            if place:
                rows.add_row(*[""] * 7, *structure)
            else:
                first = [record.nest, record.workload or record.function, str(record.setting.threads), record.id]
                first += [duration(record.seconds_median), number(record.gflops), record.date[:10]]
                rows.add_row(*first, *structure)
    return rendered(rows, keys=2)


def damage_text(damage: Damage) -> str:
    """Where a line is that holds no record, and why it holds none; or what is no file."""
    if damage.line is None:
        return f"{damage.file}: {damage.reason}"
    if damage.torn:
        return f"{damage.file}:{damage.line}: the last line is torn (a process was killed)"
    return f"{damage.file}:{damage.line}: {damage.reason}"


def damages_text(damages: Sequence[Damage]) -> str:
    """How many lines and how many things that are no files were passed over, and where; "" for none."""
    lines: dict[Path, list[str]] = {}
    others: list[str] = []
    for damage in damages:
        if damage.line is None:
            others.append(str(damage.file))
        else:
            lines.setdefault(damage.file, []).append(str(damage.line))
    texts = []
    if lines:
        count = len(damages) - len(others)
        places = [
            f"{file}:{', '.join(numbers[:_SHOWN_LINES])}{', ...' if len(numbers) > _SHOWN_LINES else ''}"
            for file, numbers in lines.items()
        ]
        more = f" and in {counted(len(places) - _SHOWN_FILES, 'more file')}" if len(places) > _SHOWN_FILES else ""
        texts.append(
            f"{counted(count, 'line')} passed over, no {'records' if count > 1 else 'record'} "
            f"({'; '.join(places[:_SHOWN_FILES])}{more}); `polydl records damaged` says why, "
            "`polydl records prune --damaged` drops such lines"
        )
    if others:
        more = f" and {len(others) - _SHOWN_FILES} more" if len(others) > _SHOWN_FILES else ""
        several = len(others) > 1
        texts.append(
            f"passed over, no ordinary {'files' if several else 'file'}: {'; '.join(others[:_SHOWN_FILES])}{more} "
            f"(move {'them' if several else 'it'} elsewhere)"
        )
    return "; ".join(texts)


def store_texts(store: StoreState) -> list[str]:
    """What was wrong with the records while an optimization used them, one text each."""
    texts = [damages_text(store.damaged)] if store.damaged else []
    return [*texts, store.refused] if store.refused else texts


def replay_text(replayed: Sequence[Replayed], gone: Sequence[Damage]) -> str:
    """How many recorded variants can still be applied, how many of these to a changed nest, and why others can't.

    ``gone`` are lines whose steps this polydl does not know.
    """
    reasons = [one.reason for one in replayed if one.reason] + [one.reason for one in gone]
    count = len(replayed) + len(gone)
    lines = [f"Replayed  {count - len(reasons)} of {count} recorded variants can be applied"]
    changed = Counter(one.record.workload for one in replayed if one.nest_changed and not one.reason)
    for workload, times in changed.most_common():
        lines += wrapped(f"{times} of them to {workload}, whose nest has changed since it was measured", "  ")
    for reason, times in Counter(reasons).most_common():
        lines += wrapped(f"{times} can't: {reason}", "  ")
    return "\n".join(lines)
