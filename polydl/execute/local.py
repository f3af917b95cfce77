"""The executor that runs kernels on this machine, each in a process of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polydl.errors import ResourceError, UnsupportedConstructError
from polydl.execute.arrays import GUARD_BYTES
from polydl.execute.build import build
from polydl.execute.child import ChildError
from polydl.execute.contract import Built, FinishedCallback, Peer, Progress, ProgressCallback, TimingPolicy
from polydl.execute.resources import DISK_FULL, available_bytes, choose_cores, disk_full
from polydl.execute.rounds import usual_rate
from polydl.execute.session import Job, Participant, Session
from polydl.execute.tolerance import tolerance
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.scop import Array, Parameter, Scop
from polydl.native import runtime

# An interpreter with NumPy, in bytes.
_PROCESS_BYTES = 64 << 20
_MOST_PROCESSES = 64
# Inputs of at least this size together are in memory once, for all processes.
_SHARED_BYTES = 32 << 20
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
    ) -> tuple[Measurement, ...]:
        """See ``Executor.measure``. Also raises MissingComponentError if the C runtime is not installed."""
        runtime()
        cores = choose_cores(threads)
        original = Participant(reference)
        others = [Participant(candidate) for candidate in candidates]
        foreign = [Participant(peer) for peer in peers]
        report: Callable[[Progress], None] = progress if progress is not None else lambda _: None
        with _temporary_directory(reference.source.parent) as directory:
            try:
                job = _job(scop, cores, seed, policy, directory)
            except UnsupportedConstructError as error:
                original.failure = ChildError("unsupported", error.message)
            else:
                most = max([job.bytes, *(peer.bytes for peer in peers)])
                # The peers first, so that they are in one wave with the first candidates.
                session = Session(job, original, [*foreign, *others], report, finished)
                session.run(processes_at_once(most, available_bytes(), shared=job.shared_bytes))
        for other in (*others, *foreign):
            if isinstance(other.program, Built) and other.program.library is None:
                other.failure = ChildError("compile", other.program.message)
            elif original.failure is not None and other.failure is None and not other.raw:
                because = f"not run, since the original nest failed: {original.failure.message}"
                other.failure = ChildError("unsupported", because)
        everyone = (original, *others, *foreign)
        usual = usual_rate(sample for participant in everyone for sample in participant.raw)
        return tuple(participant.measurement(usual) for participant in everyone)


EXECUTOR = LocalExecutor()


def processes_at_once(array_bytes: int, available: int, *, shared: int = 0) -> int:
    """The number of processes that fit into ``available`` bytes of memory.

    A process has ``array_bytes`` of arrays, of which all processes share ``shared``. Raises ResourceError if not even
    one fits.
    """
    if array_bytes + _PROCESS_BYTES > _ALONE * available:
        raise ResourceError(
            f"the arrays take {array_bytes / 1e9:.2f} GB, and {available / 1e9:.2f} GB of memory are free",
            remedy="use smaller sizes, or free memory",
        )
    process_bytes = array_bytes - shared + _PROCESS_BYTES
    return max(1, min(int((_TOGETHER * available - shared) / process_bytes), _MOST_PROCESSES))


def _job(scop: Scop, cores: tuple[int, ...], seed: int, policy: TimingPolicy, directory: Path) -> Job:
    carried = [(scop.array(parameter.array), parameter) for parameter in scop.function.parameters]
    global_arrays = [array for array in scop.arrays if array.storage == "global"]
    arrays = [array for array, _ in carried] + global_arrays
    parameters = [_describe(array, parameter) for array, parameter in carried]
    # Numbers like these the workers give to the contents of their arrays.
    inputs = [(stream, array) for stream, array in enumerate(arrays[: len(carried)]) if _is_input(scop, array)]
    if sum(array.bytes for _, array in inputs) < _SHARED_BYTES:
        inputs = []
    return Job(
        parameters=parameters,
        global_arrays=[_describe(array) for array in global_arrays],
        bytes=sum(array.bytes + 2 * GUARD_BYTES for array in arrays),
        shared=[{**parameters[stream], "stream": stream} for stream, _ in inputs],
        shared_bytes=sum(array.bytes + 2 * GUARD_BYTES for _, array in inputs),
        cores=cores,
        seed=seed,
        tolerance=tolerance(scop),
        directory=directory,
        policy=policy,
    )


def _is_input(scop: Scop, array: Array) -> bool:
    """Whether the nest reads the array and never writes it."""
    written = {access.array for statement in scop.statements for access in statement.writes}
    return bool(array.extents) and array.name not in written


def _describe(array: Array, parameter: Parameter | None = None) -> dict[str, Any]:
    return {
        "name": array.name if parameter is None else parameter.name,
        "element": array.element,
        "extents": list(array.extents),
        "value": None if parameter is None else parameter.value,
    }


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
