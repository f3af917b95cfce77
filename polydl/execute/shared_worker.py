"""The child process that runs several kernels at one problem size after the other:
``python -m polydl.execute.shared_worker COMMANDS REPLIES`` (two file descriptors).

A process for each kernel keeps them apart, and takes some seconds for a dozen kernels. Those for any size are measured
at hundreds of sizes, and share a process and its arrays. If one of them crashes, or is wrong, the parent measures all
of them apart there.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from polydl.element_types import element_dtype
from polydl.execute.arrays import Buffer, Data
from polydl.execute.comparison import changed
from polydl.execute.sampling import Reply, TimingSampler, serve
from polydl.execute.worker import FilledArrays, Worker
from polydl.ir.measurement import Status
from polydl.system.sandbox import limit

# Times as long as the fastest kernel: one that takes longer gives one sample.
_BEHIND = 2.0
# An invocation that takes so many seconds is a sample, without trying, and needs no warm-up.
_ONE_INVOCATION_SECONDS = 0.02
_FEWEST_ROUNDS = 2


class _NotMeasuredError(Exception):
    """The kernels can't be measured in one process."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


class SharedWorker:
    """Each public method answers the command of its name."""

    def start(self, cores: list[int], array_bytes: int) -> Reply:
        """Pin this process to the cores. No problem will have more than so many bytes of arrays."""
        self._sampler = TimingSampler(cores)
        limit(array_bytes, len(cores))
        return {}

    def measure(
        self,
        reference: str,
        libraries: dict[str, str],
        parameters: list[Reply],
        inputs: list[str],
        data: Reply,
        tolerance: float,
        path: str,
        rounds: int,
        minimum_seconds: float,
        budget_seconds: float,
    ) -> Reply:
        """Check kernels against the reference, whose result is stored at ``path``, and time them in interleaved rounds.

        ``libraries`` are paths by a kernel's id; ``inputs`` are the parameters that no kernel writes. ``samples`` are
        replies of ``TimingSampler.sample`` by id, ``errors`` norm-wise ones. ``failed`` says why there is neither.
        """
        buffers = _buffers(parameters)
        given = {name: buffers[name] for name in inputs}
        written = {name: buffer for name, buffer in buffers.items() if name not in given}
        shared = FilledArrays(given, Data(**data), written)
        try:
            shared, offsets = self._expected(shared, reference, parameters, path)
            kernels = [
                self._checked(shared, identity, library, parameters, path, offsets, tolerance)
                for identity, library in libraries.items()
            ]
            _calibrate(kernels, minimum_seconds)
            _time(kernels, rounds, budget_seconds, shared.data.seed)
            _check_memory(buffers, shared)
        except _NotMeasuredError as failure:
            return {"failed": failure.status, "message": str(failure)}
        return {
            "samples": {each.id: each.samples for each in kernels},
            "errors": {each.id: each.error for each in kernels},
        }

    def _expected(
        self, shared: FilledArrays, reference: str, parameters: list[Reply], path: str
    ) -> tuple[FilledArrays, dict[str, int]]:
        """Store the result of the reference. Returns the data that it has one for, and its offsets in the file."""
        reply: Reply = {}
        for signed in (True, False):
            shared = replace(shared, data=replace(shared.data, signed=signed))
            for buffer in shared.buffers.values():
                buffer.fill(shared.data)
            worker = self._opened(shared, reference, parameters)
            worker.run()
            reply = worker.store(path)
            if reply["finite"]:
                break
        if reply["wrong"] is not None:
            raise _NotMeasuredError("wrong", reply["wrong"])
        return shared, reply["offsets"]

    def _checked(
        self,
        shared: FilledArrays,
        identity: str,
        library: str,
        parameters: list[Reply],
        path: str,
        offsets: dict[str, int],
        tolerance: float,
    ) -> _Kernel:
        """A kernel whose first run was right."""
        worker = self._opened(shared, library, parameters)
        first = worker.run()
        verdict = worker.compare(path, offsets, tolerance, {}, unchanged=False)
        if verdict["wrong"] is not None:
            raise _NotMeasuredError("wrong", f"{identity}: {verdict['wrong']}")
        return _Kernel(identity, worker, verdict["error"], first["seconds"], first)

    def _opened(self, shared: FilledArrays, library: str, parameters: list[Reply]) -> Worker:
        worker = Worker(shared)
        reply = worker.open(self._sampler, library, parameters, [], asdict(shared.data))
        if "failed" in reply:
            raise _NotMeasuredError(reply["failed"], reply["message"])
        return worker


@dataclass
class _Kernel:
    """A kernel that was right, while it is timed."""

    id: str
    worker: Worker
    #: norm-wise
    error: float | None
    #: of one invocation
    seconds: float
    #: the checked run
    first: Reply
    #: invocations in one sample
    repeats: int = 1
    #: as the worker answered, in the order in which they were taken
    samples: list[Reply] = field(default_factory=list)


def _calibrate(kernels: Sequence[_Kernel], minimum_seconds: float) -> None:
    """Find how many invocations a sample takes; the checked run of a long one is its first sample."""
    for kernel in kernels:
        if kernel.seconds >= _ONE_INVOCATION_SECONDS:
            kernel.samples.append(kernel.first)
            continue
        tried = kernel.worker.calibrate(minimum_seconds, warmup=1, cold=False)
        kernel.repeats, kernel.seconds = tried["repeats"], tried["seconds"]


def _time(kernels: Sequence[_Kernel], rounds: int, budget_seconds: float, seed: int) -> None:
    """Samples of all kernels in each round, in random order; of those that are far behind one alone."""
    generator = random.Random(seed)
    most = _BEHIND * min(kernel.seconds for kernel in kernels)
    deadline = time.monotonic() + budget_seconds
    for number in range(rounds):
        if number >= _FEWEST_ROUNDS and time.monotonic() > deadline:
            break
        chosen = [kernel for kernel in kernels if kernel.seconds <= most or not kernel.samples]
        generator.shuffle(chosen)
        for kernel in chosen:
            warmup = int(kernel.seconds < _ONE_INVOCATION_SECONDS)
            kernel.samples.append(kernel.worker.sample(kernel.repeats, warmup, False))


def _check_memory(buffers: Mapping[str, Buffer], shared: FilledArrays) -> None:
    """Whether all kernels left alone what is none of theirs."""
    for buffer in buffers.values():
        if damage := buffer.damage():
            raise _NotMeasuredError("wrong", damage)
    for name, buffer in shared.buffers.items():
        if changed(buffer, shared.data):
            raise _NotMeasuredError("wrong", f"`{name}` is changed")


def _buffers(parameters: list[Reply]) -> dict[str, Buffer]:
    """The memory of all parameters, by name."""
    return {
        each["name"]: Buffer(each["name"], element_dtype(each["element"]), tuple(each["extents"]), stream)
        for stream, each in enumerate(parameters)
    }


def main(commands: int, replies: int) -> None:
    """Answers ``start`` and ``measure``, on these file descriptors, until the parent closes the pipe or dies."""
    worker = SharedWorker()
    serve(commands, replies, (worker.start, worker.measure))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
