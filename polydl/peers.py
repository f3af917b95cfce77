"""The best candidates of an optimization beside other programs that solve the same problem."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from polydl import registry
from polydl.codegen.original import original
from polydl.errors import ExecutionError, OptionError
from polydl.execute.contract import Executor, Peer, TimingPolicy
from polydl.ir.measurement import Measurement
from polydl.optimization import relayed
from polydl.pipeline import ProgressCallback
from polydl.records.resume import book_of

if TYPE_CHECKING:
    from polydl.optimization import Optimization, Tried


@dataclass(frozen=True)
class PeerComparison:
    """What one interleaved run gave: the original nest, the leaders with new measurements, the peers in order.

    A peer's measurement carries in ``message`` what the peer says of itself (version, algorithm).
    """

    baseline: Measurement
    leaders: tuple[Tried, ...]
    peers: tuple[Measurement, ...]


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
) -> PeerComparison:
    """Measure the fastest ``leaders`` of an optimization once more, in the same rounds as the peers.

    The measurements of the optimization itself only chose the leaders, so that a lucky sample there gains nothing
    here. With ``cold``, caches are flushed before each computation, the peers' as the leaders'. All of these go to
    ``records`` under ``workload``, as for ``optimize``. Raises ExecutionError if no candidate passed, OptionError for
    ``leaders`` or ``rounds`` below 1.
    """
    if leaders < 1:
        raise OptionError(f"{leaders} leaders", remedy="at least 1")
    passed = [tried for tried in result.tried if tried.measurement.status == "ok"]
    if result.toolchain is None or not passed:
        raise ExecutionError("there is no candidate that ran and passed", remedy="optimize with run=True first")
    best = sorted(passed, key=lambda tried: tried.measurement.seconds_minimum or 0.0)[:leaders]
    executor: Executor = registry.load("executors", "local")
    policy = TimingPolicy(rounds=rounds, budget_seconds=budget_seconds, timeout_seconds=timeout_seconds, cold=cold)
    with tempfile.TemporaryDirectory(prefix="polydl-peers-") as directory:
        kernels = [original(result.scop), *(tried.kernel for tried in best)]
        book = book_of(
            result.scop, result.machine, result.toolchain, records, workload, strict_fp=result.strict_fp, cold=cold
        )
        variants = {tried.kernel.id: tried.ranked.variant for tried in best}
        built = executor.build(kernels, result.toolchain, Path(directory), progress=relayed(progress))
        measured = executor.measure(
            built[1:],
            built[0],
            result.scop,
            threads=result.machine.threads,
            policy=policy,
            seed=seed,
            progress=relayed(progress),
            finished=book.writer(kernels, variants) if book is not None else None,
            peers=peers,
        )
    count = len(best) + 1
    return PeerComparison(
        baseline=measured[0],
        leaders=tuple(
            replace(tried, measurement=measurement, record=None)
            for tried, measurement in zip(best, measured[1:count], strict=True)
        ),
        peers=tuple(measured[count:]),
    )
