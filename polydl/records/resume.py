"""Resuming from records: which kernels have been measured in this setting, and recording new measurements."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from polydl.errors import RecordsError, ResourceError
from polydl.execute.contract import Finished
from polydl.execute.toolchain import Toolchain
from polydl.ir.cold import Cold
from polydl.ir.kernel import KernelSource
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.machine import Machine
from polydl.records.record import Kind, Record, Setting, code_digest, make_record
from polydl.records.setting import setting_of
from polydl.records.store import Damage, append, directory_of, read

ORIGINAL = "original"
# Fastest kernels of earlier runs that run again beside new ones, since times of different runs are less comparable.
LEADERS = 3
# Statuses that need no second measurement: others mean that the kernel was not compiled to its end, did not run or was
# stopped early.
KNOWN_STATUSES = ("ok", "compile", "crash", "wrong", "inaccurate")
# Those that may be others on data of another seed. What is "ok" has a time, which hardly depends on the data.
_ON_THESE_DATA = ("crash", "wrong", "inaccurate")


@dataclass(frozen=True)
class Known:
    """What records hold of some kernels."""

    #: by id, the last record of each
    records: Mapping[str, Record]
    #: by id, the last record of each whose measurement was interrupted, and is not in ``records``
    begun: Mapping[str, Record] = field(default_factory=dict)
    #: lines that were passed over
    damaged: tuple[Damage, ...] = ()
    #: why nothing could be read
    refusal: RecordsError | None = None


@dataclass(frozen=True)
class Book:
    """The records of one nest in one setting."""

    #: of the records
    directory: Path
    scop: Scop
    setting: Setting
    #: name of the ready workload, if it is one
    workload: str | None
    #: of the data
    seed: int

    def known(self, kernels: Iterable[KernelSource]) -> Known:
        """The records of kernels whose exact code was measured in this setting.

        One that failed on data of another seed may pass on these: such records are none. One that failed on these has
        failed, whatever it does on others.
        """
        codes = {kernel.id: code_digest(kernel) for kernel in kernels}
        damaged: list[Damage] = []
        try:
            valid = [
                record
                for record in read(self.directory, nest=self.scop.digest, damaged=damaged.append)
                if record.setting == self.setting
                and codes.get(record.id) == record.code
                and record.status in KNOWN_STATUSES
                and (record.status not in _ON_THESE_DATA or record.seed == self.seed)
            ]
        except RecordsError as error:
            return Known({}, refusal=error)
        records: dict[str, Record] = {}
        for record in valid:
            last = records.get(record.id)
            failed = last is not None and last.status in _ON_THESE_DATA and record.seed != self.seed
            if record.complete and not failed:
                records[record.id] = record
        begun = {record.id: record for record in valid if record.id not in records}
        return Known(records, begun, tuple(damaged))

    def recorder(self, kernels: Iterable[KernelSource], variants: Mapping[str, Variant]) -> Recorder:
        """What appends a record of each measurement of these kernels, all of one run."""
        return Recorder(self, {kernel.id: code_digest(kernel) for kernel in kernels}, variants)


class Recorder:
    """The ``finished`` callback for ``Executor.measure``: appends a record of each measurement, all of one run.

    A measurement of no kernel that was named is recorded as a peer's. What was verified and has no samples yet is not
    recorded. A measurement that can't be stored is counted, and ends no work.
    """

    def __init__(self, book: Book, codes: Mapping[str, str], variants: Mapping[str, Variant]) -> None:
        self._book = book
        self._codes = dict(codes)
        self._variants = dict(variants)
        self._run = uuid.uuid4().hex[:12]
        #: measurements that were not stored
        self.lost = 0
        #: why the last one was not stored
        self.refusal: ResourceError | RecordsError | None = None

    def add(self, kernels: Iterable[KernelSource], variants: Mapping[str, Variant]) -> None:
        """Further kernels of the run."""
        self._codes.update((kernel.id, code_digest(kernel)) for kernel in kernels)
        self._variants.update(variants)

    def __call__(self, finished: Finished) -> None:
        book, measurement = self._book, finished.measurement
        if not measurement.complete and not measurement.samples:
            return
        codes = self._codes
        kind: Kind = "peer"
        if measurement.id in codes:
            kind = "variant" if measurement.id in self._variants else "baseline"
        if measurement.id == ORIGINAL:
            kind = "original"
        record = make_record(
            measurement,
            kind=kind,
            nest=book.scop.digest,
            function=book.scop.function.name,
            flops=book.scop.flops,
            setting=book.setting,
            run=self._run,
            code=codes.get(measurement.id, ""),
            variant=self._variants.get(measurement.id),
            workload=book.workload,
            baseline_seconds=finished.baseline_seconds,
            peak_gflops=finished.probe_gflops or None,
            seed=book.seed,
        )
        try:
            append(book.directory, [record])
        except (ResourceError, RecordsError) as error:
            self.lost += 1
            self.refusal = error


def book_of(
    scop: Scop,
    machine: Machine,
    toolchain: Toolchain,
    records: str | Path | bool,
    workload: str | None = None,
    *,
    seed: int,
    numerics: Numerics = DEFAULT_NUMERICS,
    cold: Cold = False,
) -> Book | None:
    """The book of a nest in the present setting, for data of that ``seed``.

    ``records`` is a directory, True for the user's, False for no book. Raises OptionError for what is none of these.
    """
    directory = directory_of(records)
    if directory is None:
        return None
    setting = setting_of(machine, toolchain, numerics=numerics, cold=cold)
    return Book(directory, scop, setting, workload, seed)


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


def wanted_again(
    plain: Sequence[str], candidates: Sequence[str], known: Mapping[str, Record], least: Sequence[str] = ()
) -> frozenset[str]:
    """The ids of all kernels to measure, of plain builds and of candidates: ``to_run`` of all together.

    If that is nothing, then ``least``. If any are, the original is among them, which the others are compared with, and
    the fastest of the plain builds, so that what the speed-up is over was timed beside what it is of.
    """
    wanted = set(to_run([*(each for each in plain if each != ORIGINAL), *candidates], known))
    if not wanted and (ORIGINAL not in known or known[ORIGINAL].status != "ok"):
        # Killed before the original's own record; the others run beside it again.
        wanted = set(candidates)
    wanted = wanted or set(least)
    if not wanted:
        return frozenset()
    fastest = min((each for each in plain if each in known), key=lambda name: known[name].cost, default=ORIGINAL)
    return frozenset((ORIGINAL, fastest, *wanted))
