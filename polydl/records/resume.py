"""Resuming from records: which kernels have been measured in this setting, and recording new measurements."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from polydl.execute.contract import Finished
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.machine import Machine
from polydl.records.record import Kind, Record, Setting, code_digest, make_record
from polydl.records.setting import setting_of
from polydl.records.store import append, default_directory, read

ORIGINAL = "original"
# Fastest kernels of earlier runs that run again beside new ones, since times of different runs are less comparable.
LEADERS = 3
# Statuses that need no second measurement: others mean that the kernel did not run or was stopped early.
_KNOWN = ("ok", "compile", "crash", "wrong")


@dataclass(frozen=True)
class Book:
    """The records of one nest in one setting."""

    #: of the records
    directory: Path
    scop: Scop
    setting: Setting
    #: name of the ready workload, if it is one
    workload: str | None = None

    def known(self, kernels: Iterable[KernelSource]) -> dict[str, Record]:
        """``{id: record}`` of the kernels whose exact code was measured in this setting; the last record of each."""
        codes = {kernel.id: code_digest(kernel) for kernel in kernels}
        return {
            record.id: record
            for record in read(self.directory, nest=self.scop.digest)
            if record.setting == self.setting and codes.get(record.id) == record.code and record.status in _KNOWN
        }

    def writer(self, kernels: Iterable[KernelSource], variants: Mapping[str, Variant]) -> Callable[[Finished], None]:
        """The ``finished`` callback for ``Executor.measure``: appends a record of each measurement, all of one run.

        A measurement that is neither of a variant nor of the original is recorded as a peer's.
        """
        run = uuid.uuid4().hex[:12]
        codes = {kernel.id: code_digest(kernel) for kernel in kernels}

        def write(finished: Finished) -> None:
            measurement = finished.measurement
            kind: Kind = "original" if measurement.id == ORIGINAL else "variant" if measurement.id in codes else "peer"
            record = make_record(
                measurement,
                kind=kind,
                nest=self.scop.digest,
                function=self.scop.function.name,
                flops=self.scop.flops,
                setting=self.setting,
                run=run,
                code=codes.get(measurement.id, ""),
                variant=variants.get(measurement.id),
                workload=self.workload,
                baseline_seconds=finished.baseline_seconds,
                peak_gflops=finished.probe_gflops or None,
            )
            append(self.directory, [record])

        return write


def book_of(
    scop: Scop,
    machine: Machine,
    toolchain: Toolchain,
    records: str | Path | bool,
    workload: str | None = None,
    *,
    strict_fp: bool = False,
    cold: bool = False,
) -> Book | None:
    """The book of a nest in the present setting. ``records`` is a directory, True for the user's, False for no book."""
    if records is False:
        return None
    directory = default_directory() if records is True else Path(records)
    return Book(directory, scop, setting_of(machine, toolchain, strict_fp=strict_fp, cold=cold), workload)


def to_run(ids: Sequence[str], known: Mapping[str, Record]) -> tuple[str, ...]:
    """The ids of the candidates to measure, in the order of ``ids``.

    These are the candidates without a record. The ``LEADERS`` fastest of the others are measured again, unless no
    candidate is new and the records of these are all of one run.
    """
    missing = [identity for identity in ids if identity not in known]
    passed = sorted(
        (known[identity] for identity in ids if identity in known), key=lambda record: (not record.final, record.cost)
    )
    leaders = [record for record in passed[:LEADERS] if record.status == "ok"]
    settled = not missing and len({record.run for record in leaders}) <= 1
    again = set() if settled else {record.id for record in leaders}
    return tuple(identity for identity in ids if identity not in known or identity in again)
