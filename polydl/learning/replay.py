"""Recorded variants applied again: whether each of them still means what it meant when it was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from polydl import pipeline
from polydl.errors import PolydlError
from polydl.files import temporary_directory
from polydl.ir.scop import Scop
from polydl.plan.apply import apply
from polydl.records.record import Record
from polydl.workloads import workload


@dataclass(frozen=True)
class Replayed:
    """A recorded variant, and the reason why it can't be applied any more, empty if it can."""

    record: Record
    reason: str


def replay(
    records: Iterable[Record], *, prove: bool = False, done: Callable[[int], None] | None = None
) -> Iterator[Replayed]:
    """Apply the variant of each record of a ready workload to that workload; other records are passed over.

    With ``prove`` isl proves each complete schedule legal once more, which takes some ten milliseconds each. ``done``
    is told how many are.
    """
    count = 0
    for record in records:
        if record.variant is None or record.workload is None:
            continue
        yield Replayed(record, _reason(record, prove))
        count += 1
        if done is not None:
            done(count)


def _reason(record: Record, prove: bool) -> str:
    assert record.workload is not None
    assert record.variant is not None
    try:
        scop = _workload(record.workload)
        if scop.digest != record.nest:
            return f"the nest of {record.workload} is another one now ({scop.digest}, not {record.nest})"
        kernels = pipeline.microkernels()
        apply(scop, record.variant, kernels, numerics=record.setting.numerics, prove=prove)
    except PolydlError as error:
        return str(error)
    return ""


@lru_cache(maxsize=8)
def _workload(name: str) -> Scop:
    with temporary_directory() as directory:
        return pipeline.parse(workload(name).write(directory))
