"""Recorded variants applied again to the ready workloads that they were measured on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from polydl import pipeline
from polydl.errors import PolydlError
from polydl.frontend.child import fork_server
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.plan.apply import apply
from polydl.records.record import Record
from polydl.system.files import temporary_directory
from polydl.workloads import workload


@dataclass(frozen=True)
class Replayed:
    """A recorded variant, applied again."""

    record: Record
    #: why it can't be applied any more, which names the step; empty if it can
    reason: str
    #: whether the workload has another nest today than the one that was measured
    nest_changed: bool


def replay(
    records: Iterable[Record], *, prove: bool = False, done: Callable[[int], None] | None = None
) -> Iterator[Replayed]:
    """Apply the variant of each record of a ready workload to what that workload is today; others are passed over.

    With ``prove`` isl proves each complete schedule legal once more, which takes some ten milliseconds each. ``done``
    is told how many are.
    """
    count = 0
    with fork_server():
        for record in records:
            if record.variant is None or record.workload is None:
                continue
            yield _replayed(record, record.workload, record.variant, prove)
            count += 1
            if done is not None:
                done(count)


def _replayed(record: Record, name: str, variant: Variant, prove: bool) -> Replayed:
    reason, nest = "", ""
    try:
        scop = _workload(name)
        nest = scop.digest
        apply(scop, variant, pipeline.microkernels(), numerics=record.setting.numerics, prove=prove)
    except PolydlError as error:
        reason = str(error)
    return Replayed(record, reason, nest not in ("", record.nest))


# All ready workloads: records of one lie in several files, and each nest that is read anew is analysed anew.
@lru_cache(maxsize=1024)
def _workload(name: str) -> Scop:
    with temporary_directory() as directory:
        return pipeline.parse(workload(name).write(directory))
