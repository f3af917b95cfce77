"""The executor that runs kernels on this machine, each in a process of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path

from polydl.codegen.original import original
from polydl.codegen.wider import widened, wider
from polydl.element_types import element_dtype, is_floating, spacing
from polydl.errors import ResourceError, UnsupportedConstructError
from polydl.execute.build import Building, build
from polydl.execute.child import ChildError
from polydl.execute.contract import (
    NO_SAMPLES,
    Batch,
    Built,
    FinishedCallback,
    Peer,
    Progress,
    ProgressCallback,
    TimingPolicy,
)
from polydl.execute.expected import Originals, Wider
from polydl.execute.given import given_arrays
from polydl.execute.job import Job, job_of
from polydl.execute.own_headers import own_headers, write_copies
from polydl.execute.participant import Participant
from polydl.execute.resources import available_bytes, choose_cores
from polydl.execute.rounds import raw_sample, usual_rate
from polydl.execute.session import Session
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement, Sample
from polydl.ir.scop import Scop
from polydl.native import runtime
from polydl.system.full_disk import DISK_FULL, disk_full
from polydl.system.turns import alone

# An interpreter with NumPy, in bytes.
_PROCESS_BYTES = 64 << 20
_MOST_PROCESSES = 64
# Parts of the free memory that all processes together, and a single one, may fill.
_TOGETHER, _ALONE = 0.6, 0.9


class LocalExecutor:
    """Builds with this machine's compiler and measures on its cores; satisfies ``Executor``."""

    name = "local"

    def build(
        self,
        kernels: Sequence[KernelSource],
        toolchain: Toolchain,
        directory: Path,
        *,
        jobs: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> tuple[Built, ...]:
        """See ``polydl.execute.build.build``."""
        return build(kernels, toolchain, directory, jobs=jobs, progress=progress)

    def measure(
        self,
        candidates: Sequence[Built],
        reference: Built,
        scop: Scop,
        *,
        threads: int,
        policy: TimingPolicy,
        seed: int = 0,
        progress: ProgressCallback | None = None,
        finished: FinishedCallback | None = None,
        peers: Sequence[Peer] = (),
        most_error: float = inf,
        earlier: Mapping[str, Sequence[Sample]] = NO_SAMPLES,
        more: Callable[[], Batch] | None = None,
    ) -> tuple[Measurement, ...]:
        """See ``Executor.measure``. Also raises MissingComponentError if the C runtime is not installed.

        Processes that compute beside this one wait meanwhile.
        """
        runtime()
        cores = choose_cores(threads)
        plain = _participant(reference, earlier)
        others = [_participant(candidate, earlier) for candidate in candidates]
        foreign = [Participant(peer) for peer in peers]

        def further() -> list[Participant]:
            batch = more() if more is not None else Batch()
            later = [_participant(candidate, batch.earlier) for candidate in batch.candidates]
            others.extend(later)
            return later

        report: Callable[[Progress], None] = progress if progress is not None else lambda _: None
        with alone(), _temporary_directory(reference.source.parent) as directory:
            try:
                job = replace(job_of(scop, cores, seed, policy, directory), most_error=most_error)
                given = given_arrays(scop, job, reference.toolchain)
                # Arrays in files are in memory as often as there are processes.
                streams = {stream for stream, *_ in given}
                shared = [each for each in job.shared if each["stream"] not in streams]
                job = replace(job, data=replace(job.data, given=given), shared=shared)
            except UnsupportedConstructError as error:
                plain.failure = ChildError("unsupported", error.message)
            except ChildError as failure:
                plain.failure = failure
            else:
                most, available = max([job.bytes, *(peer.bytes for peer in peers)]), available_bytes()
                if job.bytes + job.shared_bytes + _PROCESS_BYTES > _ALONE * available:
                    job = replace(job, shared=[])
                # The peers first, so that they are in one wave with the first candidates.
                at_once = processes_at_once(most, available, shared=job.shared_bytes)
                with _originals(reference, job, _wide_job(scop, job, seed)) as originals:
                    session = Session(job, originals, plain, [*foreign, *others], report, finished, further)
                    session.run(at_once)
        for other in (*others, *foreign):
            if isinstance(other.program, Built) and other.program.library is None:
                other.failure = ChildError(other.program.status, other.program.message)
            elif plain.failure is not None and other.failure is None and not other.raw:
                because = f"not run, since the original nest failed: {plain.failure.message}"
                other.failure = ChildError("unsupported", because)
        everyone = (plain, *others, *foreign)
        usual = usual_rate(sample for participant in everyone for sample in participant.raw)
        return tuple(participant.outcome(usual) for participant in everyone)


EXECUTOR = LocalExecutor()


def processes_at_once(array_bytes: int, available: int, *, shared: int = 0) -> int:
    """The number of processes that fit into ``available`` bytes of memory.

    A process has ``array_bytes`` of arrays, of which all processes share ``shared``; while one is verified on other
    data, it has a copy. Raises ResourceError if not even one process fits.
    """
    if array_bytes + _PROCESS_BYTES > _ALONE * available:
        raise ResourceError(
            f"the arrays take {array_bytes / 1e9:.2f} GB, and {available / 1e9:.2f} GB of memory are free",
            remedy="use smaller sizes, or free memory",
        )
    process_bytes = array_bytes - shared + _PROCESS_BYTES
    room = min(_TOGETHER * available - shared, _ALONE * available - 2 * shared)
    return max(1, min(int(room / process_bytes), _MOST_PROCESSES))


def _participant(built: Built, earlier: Mapping[str, Sequence[Sample]]) -> Participant:
    return Participant(built, earlier=tuple(raw_sample(sample) for sample in earlier.get(built.kernel.id, ())))


@contextmanager
def _originals(built: Built, job: Job, wide: tuple[Job, KernelSource] | None) -> Iterator[Callable[[], Originals]]:
    """The builds of the original nest beside the one for speed, in the job's directory; the call waits for compilers.

    What every measurement needs is compiled from now on, what takes the place of a miscompiled original when it is
    needed.
    """
    toolchain = built.toolchain
    needed = [(built.kernel, toolchain.in_order)]
    if wide is not None:
        needed.append((wide[1], toolchain))

    def cautious() -> Built:
        return build([built.kernel], toolchain.cautious, job.directory / "cautious")[0]

    def compiled() -> Originals:
        reference, *widened = building.results()
        timed = [
            (toolchain.name, lambda: built),
            (toolchain.cautious.name, cautious),
            (toolchain.in_order.name, lambda: reference),
        ]
        wider = None if wide is None else Wider(wide[0], widened[0], _least_errors(job))
        return Originals(reference, timed, wider)

    with Building(needed, job.directory / "builds") as building:
        yield compiled


def _least_errors(job: Job) -> dict[str, float]:
    arrays = {array["name"]: element_dtype(array["element"]) for array in job.parameters + job.global_arrays}
    return {name: spacing(dtype) / 8 for name, dtype in arrays.items() if is_floating(dtype)}


def _wide_job(scop: Scop, job: Job, seed: int) -> tuple[Job, KernelSource] | None:
    """The nest in wider types, unless nothing rounds there or memory is scarce."""
    wide = wider(scop)
    if wide is None:
        return None
    wide_job = job_of(wide, job.cores, seed, job.policy, job.directory)
    if wide_job.bytes + 2 * job.bytes > _TOGETHER * available_bytes():
        return None
    kernel = original(wide)
    headers = own_headers([scop.source], kernel.compile_flags)
    copies = write_copies(headers, partial(widened, scop), job.directory / "wider-headers")
    kernel = replace(kernel, id="wider", compile_flags=(copies, *kernel.compile_flags))
    return replace(wide_job, data=replace(wide_job.data, widened=True, given=job.data.given)), kernel


@contextmanager
def _temporary_directory(parent: Path) -> Iterator[Path]:
    try:
        temporary = tempfile.TemporaryDirectory(prefix="measuring-", dir=parent)
    except OSError as error:
        if error.errno in DISK_FULL:
            raise disk_full(parent) from None
        raise ResourceError(f"can't write to {parent}: {error.strerror}") from None
    with temporary as directory:
        yield Path(directory)
