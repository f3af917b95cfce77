"""Kernels measured in one process that they share, at one problem size after the other."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from polydl.execute.child import Child, ChildError
from polydl.execute.contract import Built, Finished, FinishedCallback, TimingPolicy
from polydl.execute.job import is_input, job_of
from polydl.execute.participant import Participant
from polydl.execute.resources import choose_cores
from polydl.execute.rounds import usual_rate
from polydl.execute.timing import sample_of
from polydl.ir.measurement import Measurement
from polydl.ir.scop import Scop

_COMMAND = (sys.executable, "-P", "-m", "polydl.execute.shared_worker")


class SharedProcess:
    """Starts the process when it is needed, and anew after one has ended. It is a context manager."""

    def __init__(self, threads: int, policy: TimingPolicy, seed: int, directory: Path, array_bytes: int) -> None:
        self._cores = choose_cores(threads)
        self._policy = policy
        self._seed = seed
        self._directory = directory
        self._array_bytes = array_bytes
        self._stack = ExitStack()
        self._child: Child | None = None

    def __enter__(self) -> SharedProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

    def measure(
        self,
        kernels: Sequence[Built],
        reference: Built,
        scop: Scop,
        finished: FinishedCallback | None = None,
    ) -> tuple[Measurement, ...] | None:
        """Time the kernels beside each other at the sizes of ``scop``, all of them right by the ``reference``.

        None if one fails, so that they must be measured apart. The arrays of ``scop`` have no more bytes than was said.
        ``finished`` is called as ``Executor.measure`` calls it.
        """
        libraries = {kernel.kernel.id: str(kernel.library) for kernel in kernels if kernel.library is not None}
        if len(libraries) < len(kernels) or reference.library is None or _has_globals(scop):
            return None
        policy = self._policy
        job = job_of(scop, self._cores, self._seed, policy, self._directory)
        inputs = [each.name for each in scop.function.parameters if is_input(scop, scop.array(each.array))]
        try:
            reply = self._running().request(
                "measure",
                # The checked runs, each within the limit of one, and the walks over arrays.
                (1 + len(kernels)) * policy.timeout_seconds + 2 * job.walk_seconds,
                reference=str(reference.library),
                libraries=libraries,
                parameters=job.parameters,
                inputs=inputs,
                data=asdict(job.data),
                tolerance=job.tolerance,
                path=str(job.result(0)),
                rounds=policy.rounds,
                minimum_seconds=policy.minimum_sample_seconds,
                budget_seconds=policy.budget_seconds,
            )
        except ChildError as failure:
            if failure.status in ("crash", "timeout"):
                self._stack.close()
                self._child = None
            return None
        participants = [Participant(kernel, error=reply["errors"][kernel.kernel.id]) for kernel in kernels]
        for participant in participants:
            participant.raw = [sample_of(sample) for sample in reply["samples"][participant.id]]
        usual = usual_rate(sample for participant in participants for sample in participant.raw)
        measurements = tuple(participant.measurement(usual) for participant in participants)
        baseline = next((each.seconds_median for each in measurements if each.id == reference.kernel.id), None)
        if finished is not None:
            for measurement in measurements:
                finished(Finished(measurement, baseline, usual))
        return measurements

    def _running(self) -> Child:
        if self._child is None:
            child = self._stack.enter_context(Child(self._cores, self._directory, _COMMAND))
            child.request("start", self._policy.timeout_seconds, cores=list(self._cores), array_bytes=self._array_bytes)
            self._child = child
        return self._child


def _has_globals(scop: Scop) -> bool:
    """Whether the nest has arrays that are variables of the file: each library has its own."""
    return any(array.storage == "global" for array in scop.arrays)
