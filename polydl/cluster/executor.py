"""The executor that compiles on any node of a cluster, and times on one of the right type, alone on it."""

from __future__ import annotations

import pickle
import queue
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polydl.cluster import work
from polydl.cluster.nodes import SLOTS, alone, connected, types_of, unknown
from polydl.errors import OptionError, ResourceError
from polydl.execute.contract import (
    NO_SAMPLES,
    Batch,
    Built,
    Finished,
    FinishedCallback,
    Peer,
    Progress,
    ProgressCallback,
    TimingPolicy,
)
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement, Sample
from polydl.ir.scop import Scop
from polydl.machine import Machine
from polydl.system.waiting import add_waited

if TYPE_CHECKING:
    from distributed import Client, Future

# How often a task is begun anew whose node was lost.
_ATTEMPTS = 5
# Seconds between two looks at what happened.
_LOOK = 0.2
# What times goes before what compiles for later ones.
_TIMING_PRIORITY = 10


@dataclass(frozen=True)
class ClusterExecutor:
    """Nodes of one type of processor for timing, and all nodes for compiling; satisfies ``Executor``."""

    #: of the scheduler; empty before ``on``
    address: str = ""
    #: the type of processor
    key: str = ""
    #: how long to wait for a node of that type, in seconds
    patience: float = 300.0
    name: str = field(default="cluster", init=False)

    def on(self, address: str, key: str, patience: float = 300.0) -> ClusterExecutor:
        """The same for a cluster."""
        return ClusterExecutor(address, key, patience)

    def close(self) -> None:
        """End the connection, if there is one."""
        if "_client" in vars(self):
            self._client.close()

    def describe(self) -> Machine:
        """The machine that the nodes of this type are. Raises ResourceError if there is none."""
        described: Machine = self._done(lambda slots: self._submit(work.describe, alone(self.key, slots)))
        return described

    def build(
        self,
        kernels: Sequence[KernelSource],
        toolchain: Toolchain,
        directory: Path,
        *,
        jobs: int | None = None,  # noqa: ARG002
        progress: ProgressCallback | None = None,
    ) -> tuple[Built, ...]:
        """One result per kernel, in order, with its files in ``directory``; the cluster says how many at a time.

        Raises ResourceError if no node of the type is left.
        """
        directory.mkdir(parents=True, exist_ok=True)
        left, results = {kernel.id: kernel for kernel in kernels}, dict[str, Built]()
        for _ in range(_ATTEMPTS):
            pending = {
                self._submit(work.compiled, {SLOTS: 1}, kernel, toolchain): name for name, kernel in left.items()
            }
            last = time.monotonic()
            with self._cancelled_unless_done(pending):
                while pending:
                    for future in [each for each in pending if each.done()]:
                        name = pending.pop(future)
                        if not self._lost(future):
                            results[name] = future.result().placed(directory)
                            del left[name]
                            if progress is not None:
                                progress(Progress("build", len(results), len(kernels), name))
                            last = time.monotonic()
                    time.sleep(_LOOK / 4)
                    last = self._looked(last)
            if not left:
                return tuple(results[kernel.id] for kernel in kernels)
        raise _lost_too_often()

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
        """See ``Executor.measure``. Each batch of ``more`` is timed beside the fastest so far.

        Of a lost node, what was measured by then is kept, and another one goes on. Raises ResourceError if no node of
        the type is there, OptionError for peers, which are programs of this machine.
        """
        if peers:
            raise OptionError("other libraries are not timed on a cluster", remedy="use `polydl bench` on each node")
        base = work.Timing((), work.taken(reference), scop, threads, policy, seed, most_error, earlier, "")
        results: dict[str, Measurement] = {}
        everyone, batch = list(candidates), list(candidates)
        while True:
            results |= self._measured(batch, base, finished)
            if progress is not None:
                progress(Progress("time", len(results), len(results)))
            further = more() if more is not None else Batch()
            if not further.candidates:
                break
            everyone += further.candidates
            batch = [*_fastest(everyone, results), *further.candidates]
            base = replace(base, earlier={**base.earlier, **further.earlier})
        return tuple(results[each.kernel.id] for each in (reference, *everyone))

    def _measured(
        self, batch: Sequence[Built], base: work.Timing, finished: FinishedCallback | None
    ) -> dict[str, Measurement]:
        """The measurements of a batch and of the original, by id, by as many nodes in turn as are lost."""
        results: dict[str, Measurement] = {}
        begun: dict[str, Sequence[Sample]] = {}

        def tell(one: Finished) -> None:
            if one.measurement.id in results and one.measurement.complete:
                return
            if one.measurement.complete:
                results[one.measurement.id] = one.measurement
            else:
                begun[one.measurement.id] = one.measurement.samples
            if finished is not None:
                finished(one)

        for _ in range(_ATTEMPTS):
            left = tuple(work.taken(each) for each in batch if each.kernel.id not in results)
            topic = f"polydl-{uuid.uuid4().hex}"
            task = replace(base, candidates=left, earlier={**base.earlier, **begun}, topic=topic)
            messages: queue.Queue[tuple[float, bytes]] = queue.Queue()
            self._client.subscribe_topic(topic, messages.put)
            submitted = time.monotonic()
            slots = self._slots()
            future = self._submit(work.timed, alone(self.key, slots), task, priority=_TIMING_PRIORITY)
            with self._cancelled_unless_done({future: topic}):
                self._wait(future, partial(_drained, messages, tell))
            self._client.unsubscribe_topic(topic)
            if not self._lost(future):
                timed: work.ClusterMeasurements = future.result()
                # The node may have been at work for others first.
                add_waited(time.monotonic() - submitted - timed.seconds)
                for one in timed.finished:
                    tell(one)
                ids = [each.built.kernel.id for each in (task.reference, *left)]
                return {**results, **dict(zip(ids, timed.measurements, strict=True))}
        raise _lost_too_often()

    @cached_property
    def _client(self) -> Client:
        if not self.address:
            raise OptionError("no cluster is named", remedy="give the address of its scheduler (--cluster)")
        return connected(self.address)

    def _slots(self) -> int:
        """The slots of the nodes of this type, once there is one. Raises ResourceError if none comes."""
        until = time.monotonic() + self.patience
        while True:
            types = types_of(self._client.scheduler_info(n_workers=-1)["workers"])
            if self.key in types:
                return types[self.key]
            if time.monotonic() > until:
                raise unknown(self.key, types, self.patience)
            time.sleep(_LOOK)

    def _submit(self, function: Callable[..., Any], needs: Mapping[str, float], *values: Any, priority: int = 0) -> Any:
        # With a key of its own, so that what is compiled again is compiled.
        return self._client.submit(function, *values, resources=dict(needs), priority=priority, pure=False)

    def _done(self, submit: Callable[[int], Any]) -> Any:
        """The result of a task, by as many nodes in turn as are lost."""
        for _ in range(_ATTEMPTS):
            future = submit(self._slots())
            with self._cancelled_unless_done({future: ""}):
                self._wait(future, lambda: None)
            if not self._lost(future):
                return future.result()
        raise _lost_too_often()

    def _wait(self, future: Future, look: Callable[[], None]) -> None:
        """Until the task ended, however long it waits for its turn; ResourceError if no node is left to run it."""
        last = time.monotonic()
        while not future.done():
            look()
            time.sleep(_LOOK)
            last = self._looked(last)
        look()

    def _looked(self, last: float) -> float:
        """When nodes were looked for: now if that was long ago. Raises ResourceError if none of the type comes."""
        if time.monotonic() - last <= self.patience / 4:
            return last
        self._slots()
        return time.monotonic()

    @staticmethod
    def _lost(future: Future) -> bool:
        """Whether the node is gone that the task ran on, or was to run on."""
        from distributed import KilledWorker

        return future.cancelled() or isinstance(future.exception(), KilledWorker)

    @contextmanager
    def _cancelled_unless_done(self, futures: Mapping[Any, str]) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._client.cancel([future for future in futures if not future.done()], force=True)
            raise


EXECUTOR = ClusterExecutor()


def _drained(messages: queue.Queue[tuple[float, bytes]], tell: FinishedCallback) -> None:
    """Tell of all measurements that came by now, each with the time when it was sent."""
    with suppress(queue.Empty):
        while True:
            _, one = messages.get_nowait()
            tell(pickle.loads(one))


def _fastest(everyone: Sequence[Built], results: Mapping[str, Measurement]) -> list[Built]:
    """The fastest so far, beside which further ones are timed; none if none passed."""
    passed = [each for each in everyone if each.kernel.id in results and results[each.kernel.id].status == "ok"]
    return sorted(passed, key=lambda built: results[built.kernel.id].seconds_median or inf)[:1]


def _lost_too_often() -> ResourceError:
    return ResourceError(
        f"{_ATTEMPTS} nodes in turn were lost with the same task",
        remedy="see the nodes' logs; what was measured is kept",
    )
