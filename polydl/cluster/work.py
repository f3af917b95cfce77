"""What nodes do: describe themselves, compile, and time. Each function is one task and runs in a worker."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from polydl.execute.build import build
from polydl.execute.contract import Built, Finished, TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement, Sample
from polydl.ir.scop import Scop
from polydl.machine import Machine
from polydl.system.files import temporary_directory, write_atomically

#: the scheduler's topic of all tasks that ended: kind, worker, and when each began and ended, seconds since 1970
INTERVALS = "polydl-intervals"


@dataclass(frozen=True)
class Compiled:
    """A kernel as one node compiled it, for any other."""

    #: its paths are those of the node that compiled it
    built: Built
    #: the library; None if the compiler failed
    library: bytes | None

    def placed(self, directory: Path) -> Built:
        """The kernel as a build whose files are written to a directory here."""
        source = directory / self.built.source.name
        write_atomically(source, self.built.kernel.c)
        if self.library is None:
            return replace(self.built, source=source)
        library = directory / f"{self.built.kernel.id}.so"
        write_atomically(library, self.library)
        library.chmod(0o755)
        return replace(self.built, source=source, library=library)


def taken(built: Built) -> Compiled:
    """A kernel whose files are here."""
    return Compiled(built, None if built.library is None else built.library.read_bytes())


@dataclass(frozen=True)
class Timing:
    """What is to be timed; the fields are arguments of ``Executor.measure``."""

    candidates: tuple[Compiled, ...]
    #: the original nest
    reference: Compiled
    scop: Scop
    #: OpenMP threads of each program
    threads: int
    policy: TimingPolicy
    #: of the data and of the order of rounds
    seed: int
    #: by how many times an error may be larger than that of the source's arithmetic
    most_error: float
    #: samples that were taken before, by the kernel's id
    earlier: Mapping[str, Sequence[Sample]]
    #: the scheduler's topic that each measurement is told to as soon as it is there
    topic: str


@dataclass(frozen=True)
class ClusterMeasurements:
    """The measurements of the original and of all candidates, and those among them that were told of."""

    #: the original's is the first
    measurements: tuple[Measurement, ...]
    #: those that are complete, in the order in which they ended
    finished: tuple[Finished, ...]
    #: that they took on the node
    seconds: float


def describe() -> Machine:
    """The node, with speeds that are measured at its first use."""
    with _noted("describe"):
        return Machine.detect()


def compiled(kernel: KernelSource, toolchain: Toolchain) -> Compiled:
    """Compile one kernel. A compiler's failure is a value."""
    with _noted("compile"), temporary_directory() as directory:
        [built] = build([kernel], toolchain, directory, jobs=1)
        return taken(built)


def timed(work: Timing) -> ClusterMeasurements:
    """Verify and time kernels. Nothing else may run on the node meanwhile."""
    from distributed import get_worker

    worker, began = get_worker(), time.monotonic()
    told: list[Finished] = []

    def tell(one: Finished) -> None:
        told.append(one)
        worker.log_event(work.topic, pickle.dumps(one))

    with _noted("time"), temporary_directory() as directory:
        measurements = EXECUTOR.measure(
            [each.placed(directory) for each in work.candidates],
            work.reference.placed(directory),
            work.scop,
            threads=work.threads,
            policy=work.policy,
            seed=work.seed,
            most_error=work.most_error,
            finished=tell,
            earlier=work.earlier,
        )
    complete = tuple(one for one in told if one.measurement.complete)
    return ClusterMeasurements(measurements, complete, time.monotonic() - began)


@contextmanager
def _noted(kind: str) -> Iterator[None]:
    from distributed import get_worker

    worker, began = get_worker(), time.time()
    try:
        yield
    finally:
        note = {"kind": kind, "worker": worker.address, "process": os.getpid(), "began": began, "ended": time.time()}
        worker.log_event(INTERVALS, note)
