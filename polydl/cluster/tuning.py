"""Many nests at once on a cluster: each nest is analysed in a process of its own, for each type of processor."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

from polydl.cluster.executor import EXECUTOR, ClusterExecutor
from polydl.cluster.nodes import connected, types_of
from polydl.errors import OptionError
from polydl.machine import Machine
from polydl.machine.elsewhere import is_here
from polydl.optimization.tuning import Tuned, TuningTask, tuned

# Processes for each node, so that one is timed on while the code for the next is made.
_PROCESSES_PER_NODE = 2
_MOST_PROCESSES = 32


def machines_of(
    address: str, keys: Sequence[str], *, threads: int | None, patience: float
) -> dict[str, tuple[ClusterExecutor, Machine]]:
    """An executor and the machine for each type of processor: those of ``keys``, or all that are there.

    Raises OptionError for a type that is not there and for more threads than its nodes have cores, ResourceError if
    no scheduler answers or no node comes.
    """
    client = connected(address)
    try:
        types = types_of(client.scheduler_info(n_workers=-1)["workers"])
    finally:
        client.close()
    if not types and not keys:
        raise OptionError(f"{address} has no nodes", remedy="start some with `polydl worker`, or name --cpu")
    described = {}
    for key in keys or sorted(types):
        executor = EXECUTOR.on(address, key, patience)
        try:
            machine = executor.describe()
        finally:
            executor.close()
        if threads is not None and threads > machine.cores:
            raise OptionError(
                f"{threads} threads asked for, and the nodes of type {key} have {machine.cores} cores",
                remedy="ask for fewer (--threads), or name other types (--cpu)",
            )
        machine = replace(machine, threads=threads or machine.cores)
        # Not the same one: each process connects by itself.
        described[key] = EXECUTOR.on(address, key, patience), replace(machine, at_hand=is_here(machine))
    return described


def tune_on_cluster(
    nests: Sequence[TuningTask],
    described: Mapping[str, tuple[ClusterExecutor, Machine]],
    *,
    records: Path,
    fresh: bool = False,
    compiler: str | None = None,
    **options: Any,
) -> Iterator[Tuned]:
    """Optimize all nests for all types of processors, and yield each result as soon as it is there.

    The arguments are those of ``polydl.optimization.tuning.tune``. Where there are several types, the folder of a nest
    has one for each. The nodes are shared by all: what is compiled for one nest is compiled while another is timed. A
    nest whose process ended is a failed result.
    """
    jobs = [
        (replace(nest, directory=nest.directory / key) if len(described) > 1 else nest, executor, machine)
        for nest in nests
        for key, (executor, machine) in described.items()
    ]
    left = list(reversed(jobs))
    busy: dict[Future[Tuned], tuple[ProcessPoolExecutor, TuningTask, Machine]] = {}

    def begin(pool: ProcessPoolExecutor) -> None:
        nest, executor, machine = left.pop()
        future = pool.submit(_one, nest, executor, machine, records=records, fresh=fresh, compiler=compiler, **options)
        busy[future] = pool, nest, machine

    try:
        for _ in range(min(len(jobs), _PROCESSES_PER_NODE * len(described) + 1, _MOST_PROCESSES)):
            begin(_pool())
        while busy:
            for future in wait(busy, return_when=FIRST_COMPLETED).done:
                pool, nest, machine = busy.pop(future)
                try:
                    result = future.result()
                except BrokenProcessPool:
                    ended = "the process that optimized it ended"
                    result = Tuned(nest, machine.cpu_id, "failed", ended, None, False, 0.0)
                    pool = _pool()
                if left:
                    begin(pool)
                else:
                    pool.shutdown()
                yield result
    except BaseException:
        for pool, _, _ in busy.values():
            pool.shutdown(wait=False, cancel_futures=True)
        # Python waits for them at its end; what they measured by now is in the records.
        for process in multiprocessing.active_children():
            process.terminate()
        raise


def _pool() -> ProcessPoolExecutor:
    """A process of its own for one nest at a time, so that its end is that of one nest.

    One that forks would share the connection and what isl knows.
    """
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def _one(nest: TuningTask, executor: ClusterExecutor, machine: Machine, **options: Any) -> Tuned:
    try:
        return tuned(nest, machine=machine, executor=executor, **options)
    finally:
        executor.close()
