"""The function of a kernel with constants that prepares them itself, verified and timed beside the original nest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from polydl.codegen.original import harness, original
from polydl.execute.contract import Executor, TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.system.files import temporary_directory

if TYPE_CHECKING:
    from polydl.optimization.optimized import Optimization

_BUDGET_SECONDS = 5.0
_MOST_ROUNDS = 7


def with_unprepared(result: Optimization, executor: Executor, policy: TimingPolicy, seed: int) -> Optimization:
    """The winner's function that prepares constants itself, verified and timed as well, by the ``policy`` of picks.

    Where it does not pass, for whatever reason, the winner is none, and the next one takes its place: all that is
    emitted is verified.
    """
    best, toolchain = result.winner, result.toolchain
    if best is None or toolchain is None or result.plain is not None or not best.kernel.prepared_bytes:
        return result
    measured = _measured(result, best.kernel, toolchain, executor, policy, seed)
    if measured.status == "ok":
        return replace(result, unprepared=measured)
    message = f"the function that prepares its constants itself: {measured.message}"
    failed = replace(best, measurement=replace(measured, id=best.kernel.id, message=message), record=None)
    others = tuple(failed if each is best else each for each in result.tried)
    return with_unprepared(replace(result, tried=others), executor, policy, seed)


def _measured(
    result: Optimization,
    kernel: KernelSource,
    toolchain: Toolchain,
    executor: Executor,
    policy: TimingPolicy,
    seed: int,
) -> Measurement:
    """The measurement of a kernel where each invocation prepares and runs; a failure is a value, as everywhere."""
    scop = result.scop
    whole = replace(
        kernel,
        id=f"{kernel.id}-unprepared",
        harness=harness(scop, kernel.function),
        interface=replace(kernel.interface, prepared=None),
    )
    with temporary_directory() as directory:
        plain, built = executor.build([original(scop), whole], toolchain, directory)
        _, measured, *_ = executor.measure(
            [built],
            plain,
            scop,
            threads=result.machine.threads,
            policy=replace(policy, rounds=_MOST_ROUNDS, budget_seconds=_BUDGET_SECONDS),
            seed=seed,
            most_error=result.space.most_error,
        )
    return measured
