"""Queries over records: selection, the best ones, summaries, pruning, and tables for other programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from polydl.ir.measurement import Status
from polydl.records.record import Kind, Record, Setting

COLUMNS = (
    "date", "kind", "id", "nest", "function", "workload", "flops", "cpu", "threads", "compiler", "libraries",
    "numerics", "cold", "code", "polydl", "run", "status", "seconds_minimum", "seconds_median", "gflops", "error",
    "baseline_seconds", "peak_gflops", "samples", "disturbed", "message", "steps",
)  # fmt: skip


@dataclass(frozen=True)
class Criteria:
    """Conditions on a record, all of which must hold. None and "" are no condition."""

    #: the digest, or the beginning of it
    nest: str = ""
    #: the variant's id, or the beginning of it
    id: str = ""
    #: its whole name
    function: str | None = None
    #: its whole name
    workload: str | None = None
    #: as in ``Setting``
    cpu: str | None = None
    #: of the measurement
    threads: int | None = None
    #: as in ``Setting``, or the beginning of it
    compiler: str = ""
    status: Status | None = None
    kind: Kind | None = None
    #: first date, in the form of ``Record.date`` or the beginning of such a date
    since: str = ""
    #: last date, in the same form
    until: str = ""

    def hold(self, record: Record) -> bool:
        """Whether the record meets all conditions."""
        exact = (
            (self.function, record.function),
            (self.workload, record.workload),
            (self.cpu, record.setting.cpu),
            (self.threads, record.setting.threads),
            (self.status, record.status),
            (self.kind, record.kind),
        )
        return (
            record.nest.startswith(self.nest)
            and record.id.startswith(self.id)
            and record.setting.compiler.startswith(self.compiler)
            and all(wanted is None or wanted == actual for wanted, actual in exact)
            and record.date >= self.since
            and (not self.until or record.date[: len(self.until)] <= self.until)
        )


@dataclass(frozen=True)
class RecordSummary:
    """All records of one nest in one setting."""

    #: ``Scop.digest``
    nest: str
    function: str
    #: name of the ready workload; None if it was none
    workload: str | None
    setting: Setting
    #: number of different variants
    variants: int
    #: number of records
    records: int
    #: number of variants' records without a time
    failed: int
    #: number of runs that they come from
    runs: int
    #: date of the first record
    first: str
    #: date of the last record
    last: str
    #: shortest time of the plain nest, in any of its builds that gave the right answer
    plain_seconds: float | None
    #: the fastest variant; None if none has a time
    best: Record | None


def select(records: Iterable[Record], criteria: Criteria) -> Iterator[Record]:
    """The records that meet the criteria, in their order."""
    return (record for record in records if criteria.hold(record))


def latest(records: Iterable[Record]) -> dict[tuple[str, str, Setting], Record]:
    """The last record of each code in each setting, by (id, code, setting).

    The last complete one, if there is any: an interrupted measurement has fewer samples than an earlier complete one.
    """
    result: dict[tuple[str, str, Setting], Record] = {}
    for record in records:
        key = (record.id, record.code, record.setting)
        if record.complete or key not in result or not result[key].complete:
            result[key] = record
    return result


def best(records: Iterable[Record]) -> tuple[Record, ...]:
    """The fastest variant of each nest in each setting, by ``Record.cost``; no entry where no variant has a time."""
    fastest: dict[tuple[str, Setting], Record] = {}
    for record in records:
        key = (record.nest, record.setting)
        if (
            record.kind == "variant"
            and record.status == "ok"
            and record.complete
            and (key not in fastest or record.cost < fastest[key].cost)
        ):
            fastest[key] = record
    return tuple(fastest.values())


def summaries(records: Iterable[Record]) -> tuple[RecordSummary, ...]:
    """One for each nest and setting."""
    groups: dict[tuple[str, Setting], list[Record]] = {}
    for record in records:
        groups.setdefault((record.nest, record.setting), []).append(record)
    return tuple(_summary(group) for group in groups.values())


def _summary(records: Sequence[Record]) -> RecordSummary:
    variants = [record for record in records if record.kind == "variant"]
    fastest = best(variants)
    last = records[-1]
    return RecordSummary(
        nest=last.nest,
        function=last.function,
        workload=next((record.workload for record in reversed(records) if record.workload), None),
        setting=last.setting,
        variants=len({record.id for record in variants}),
        records=len(records),
        failed=sum(record.status != "ok" for record in variants),
        runs=len({record.run for record in records}),
        first=min(record.date for record in records),
        last=max(record.date for record in records),
        plain_seconds=min((seconds for record in records if (seconds := _plain_seconds(record))), default=None),
        best=fastest[0] if fastest else None,
    )


def _plain_seconds(record: Record) -> float | None:
    plain = record.kind in ("original", "baseline") and record.status == "ok" and record.complete
    return record.seconds_median if plain else None


@dataclass(frozen=True)
class Pruning:
    """Conditions for removing a record, any of which suffices."""

    #: days before now
    older_than_days: float | None = None
    #: the record has no time
    failed: bool = False
    #: another record has the same code in the same setting, and is the later one, or complete where this one is not
    superseded: bool = False
    #: the record is a variant's, and not among this many fastest variants of its nest and setting
    keep_best: int | None = None

    def __call__(self, records: Sequence[Record]) -> Sequence[bool]:
        """For each record of one nest, whether to remove it. This is the argument of ``store.prune``."""
        oldest = ""
        if self.older_than_days is not None:
            # Nothing is older than the calendar.
            with suppress(OverflowError):
                oldest = (datetime.now(UTC) - timedelta(days=self.older_than_days)).isoformat(timespec="seconds")
        last = {key: id(record) for key, record in latest(records).items()}
        kept = None if self.keep_best is None else self._fastest(records, self.keep_best)
        return [
            record.date < oldest
            or (self.failed and record.status != "ok")
            or (self.superseded and last[record.id, record.code, record.setting] != id(record))
            or (kept is not None and record.kind == "variant" and id(record) not in kept)
            for record in records
        ]

    @staticmethod
    def _fastest(records: Sequence[Record], count: int) -> set[int]:
        groups: dict[Setting, list[Record]] = {}
        for record in latest(records).values():
            if record.kind == "variant" and record.status == "ok":
                groups.setdefault(record.setting, []).append(record)
        # The time of few samples is a matter of luck.
        ordered = (sorted(group, key=lambda one: (not one.complete, one.cost)) for group in groups.values())
        return {id(record) for group in ordered for record in group[:count]}


def row(record: Record) -> dict[str, Any]:
    """A record's ``COLUMNS``, flat."""
    setting = record.setting
    values = {
        **{name: getattr(record, name) for name in COLUMNS if hasattr(record, name)},
        **{name: getattr(setting, name) for name in COLUMNS if hasattr(setting, name)},
        "libraries": " ".join(f"{name}={version}" for name, version in setting.libraries),
        "samples": len(record.samples),
        "disturbed": sum(sample.disturbed for sample in record.samples),
        "steps": None if record.variant is None else json.dumps(record.variant.to_json()),
    }
    return {name: values[name] for name in COLUMNS}


def to_csv(records: Iterable[Record]) -> Iterator[str]:
    """The lines of a CSV table with ``COLUMNS``. Of the samples, it has the number alone."""
    yield _csv_line(COLUMNS)
    for record in records:
        yield _csv_line(list(row(record).values()))


def _csv_line(cells: Sequence[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(["" if cell is None else cell for cell in cells])
    return line.getvalue()


def to_json(record: Record) -> dict[str, Any]:
    """A whole record as JSON, for documents that commands print."""
    return {
        **asdict(record),
        "setting": {**asdict(record.setting), "libraries": dict(record.setting.libraries)},
        "variant": None if record.variant is None else record.variant.to_json(),
        "gflops": record.gflops,
    }
