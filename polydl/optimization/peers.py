"""The best candidates of an optimization beside other programs that solve the same problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from polydl import registry
from polydl.arguments import seed_of, whole
from polydl.codegen.original import original
from polydl.errors import ExecutionError
from polydl.execute.contract import Executor, FinishedCallback, Peer, TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.numerics import most_error
from polydl.optimization.measuring import relayed
from polydl.outcome.baselines import Baseline
from polydl.pipeline import ProgressCallback
from polydl.plan.rewrite_steps import has_fewer_products
from polydl.records.resume import book_of
from polydl.system.files import temporary_directory

# For choosing one of several kernels, which is then measured anew.
_TRIAL_ROUNDS = 3
_TRIAL_SECONDS = 20.0

if TYPE_CHECKING:
    from polydl.optimization.optimized import Optimization
    from polydl.outcome.tried import Tried


@dataclass(frozen=True)
class PeerComparison:
    """What one interleaved run gave: the original nest, the leaders with new measurements, the peers in order.

    A peer's measurement carries in ``message`` what the peer says of itself (version, algorithm).
    """

    #: the original nest
    baseline: Measurement
    leaders: tuple[Tried, ...]
    #: in the order in which they were given
    peers: tuple[Measurement, ...]
    #: of other kernels for the same nest
    builds: tuple[Measurement, ...] = ()
    #: the build of the plain nest that the optimization hands back, if it does
    plain: Baseline | None = None


def leading(passed: Sequence[Tried], count: int) -> list[Tried]:
    """The ``count`` with the smallest medians, and as many of those that compute every product of the source."""
    ordered = sorted(passed, key=lambda tried: tried.measurement.seconds_median or 0.0)
    direct = [tried for tried in ordered if not has_fewer_products(tried.ranked.variant)]
    chosen = {id(tried) for tried in (*ordered[:count], *direct[:count])}
    return [tried for tried in ordered if id(tried) in chosen]


def compare_with_peers(
    result: Optimization,
    peers: Sequence[Peer],
    *,
    leaders: int = 3,
    rounds: int = 15,
    budget_seconds: float = 30.0,
    timeout_seconds: float = 60.0,
    seed: int = 0,
    cold: bool = False,
    records: str | Path | bool = True,
    workload: str | None = None,
    progress: ProgressCallback | None = None,
    builds: Sequence[tuple[KernelSource, Toolchain]] = (),
) -> PeerComparison:
    """Measure the fastest ``leaders`` of an optimization once more, in the same rounds as the peers.

    The plain nest is measured beside them where it is what the optimization hands back.
    Where some of these compute fewer products than the source has, the fastest ``leaders`` of those that compute every
    product are measured, too.
    The measurements of the optimization itself only chose the leaders, so that a lucky sample there gains nothing
    here. With ``cold``, caches are flushed before each computation, the peers' as the leaders'. All of these go to
    ``records`` under ``workload``, as for ``optimize``. ``builds`` are further kernels for the same nest, each with its
    compiler, and are verified as the leaders are. Raises ExecutionError if no candidate passed and the plain nest
    is not what is handed back, OptionError for ``leaders`` or ``rounds`` below 1.
    """
    leaders, rounds, seed = whole("leaders", leaders, 1), whole("rounds", rounds, 1), seed_of(seed)
    passed = [tried for tried in result.tried if tried.measurement.status == "ok"]
    if result.toolchain is None or (not passed and result.plain is None):
        remedy = "optimize another nest" if result.tried else "optimize with run=True first"
        raise ExecutionError("there is no candidate that ran and passed", remedy=remedy)
    best = leading(passed, leaders)
    policy = TimingPolicy(rounds=rounds, budget_seconds=budget_seconds, timeout_seconds=timeout_seconds, cold=cold)
    kernels = [original(result.scop), *(tried.kernel for tried in best)]
    book = book_of(
        result.scop,
        result.machine,
        result.toolchain,
        records,
        workload,
        seed=seed,
        numerics=result.numerics,
        cold=cold,
    )
    variants = {tried.kernel.id: tried.ranked.variant for tried in best}
    plain = [] if result.plain is None else [(result.plain.build.kernel, result.plain.build.toolchain)]
    measured = _measured(
        result,
        [(kernels, result.toolchain), *(([kernel], compiler) for kernel, compiler in (*builds, *plain))],
        policy,
        seed=seed,
        progress=progress,
        finished=book.recorder(kernels, variants) if book is not None else None,
        peers=peers,
    )
    count = len(best) + 1
    end = count + len(builds)
    return PeerComparison(
        baseline=measured[0],
        leaders=tuple(
            replace(tried, measurement=measurement, record=None)
            for tried, measurement in zip(best, measured[1:count], strict=True)
        ),
        peers=measured[end + len(plain) :],
        builds=measured[count:end],
        plain=None if result.plain is None else replace(result.plain, measurement=measured[end], record=None),
    )


def tried_kernels(
    result: Optimization,
    kernels: Sequence[KernelSource],
    toolchain: Toolchain,
    *,
    timeout_seconds: float = 60.0,
    seed: int = 0,
    cold: bool = False,
    progress: ProgressCallback | None = None,
) -> tuple[Measurement, ...]:
    """Verify and time kernels for the nest of an optimization in a few rounds: enough to choose one of them.

    Measurements are in the order of the kernels, whose ids may be the same. No record is kept. Raises ExecutionError
    if nothing was run in the optimization.
    """
    if result.toolchain is None:
        raise ExecutionError("there is no nest that ran", remedy="optimize with run=True first")
    numbered = [replace(kernel, id=f"{kernel.id}-{number}") for number, kernel in enumerate(kernels)]
    policy = TimingPolicy(
        rounds=_TRIAL_ROUNDS, budget_seconds=_TRIAL_SECONDS, timeout_seconds=timeout_seconds, cold=cold
    )
    wanted = [([original(result.scop)], result.toolchain), (numbered, toolchain)]
    return _measured(result, wanted, policy, seed=seed, progress=progress)[1:]


def _measured(
    result: Optimization,
    wanted: Sequence[tuple[Sequence[KernelSource], Toolchain]],
    policy: TimingPolicy,
    *,
    seed: int,
    progress: ProgressCallback | None,
    finished: FinishedCallback | None = None,
    peers: Sequence[Peer] = (),
) -> tuple[Measurement, ...]:
    """Build kernels, each group by its compiler, and measure them in the same rounds as the peers, in this order.

    The first kernel of all is the original nest, which the others are verified against.
    """
    executor: Executor = registry.load("executors", "local")
    with temporary_directory() as directory:
        reference, *others = (
            built
            for kernels, compiler in wanted
            for built in executor.build(kernels, compiler, directory, progress=relayed(progress))
        )
        return executor.measure(
            others,
            reference,
            result.scop,
            threads=result.machine.threads,
            policy=policy,
            seed=seed,
            progress=relayed(progress),
            finished=finished,
            peers=peers,
            most_error=most_error(result.numerics),
        )
