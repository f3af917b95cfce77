"""A time that no variant can beat, for giving up on variants early.

A bound, no prediction: how far above it a variant ends up is not said.
"""

from __future__ import annotations

from collections.abc import Sequence

from polydl.contracts import Candidate
from polydl.machine import Machine
from polydl.ranking.ordering import busiest_share

# A core that works alone may run at a higher clock than it did while its peak was measured.
HEADROOM = 1.2
_FLOAT_BYTES = 4


def lower_bounds(candidates: Sequence[Candidate], machine: Machine) -> tuple[float, ...]:
    """Seconds that each candidate takes at least, on the machine's threads.

    Every multiply-add of the nest must be issued, on the busiest thread of a nest that does all of them its share. A
    microkernel issues whole vectors along m: where all its tiles are alike, also for the rows that don't fill one.
    Holds for float, and so for wider types.
    """
    return tuple(_bound(each, machine) for each in candidates)


def _bound(candidate: Candidate, machine: Machine) -> float:
    lanes = max(1, machine.vector_bytes // _FLOAT_BYTES)
    padding, share = 1.0, 1.0 / machine.threads
    for use in candidate.microkernels:
        if 2 * use.m * use.n * use.rows * use.k * use.batch * candidate.calls[use.nest] == candidate.flops:
            share = busiest_share(candidate.parallel_iterations[use.nest], machine.threads)
            if use.m >= lanes:
                padding = lanes * -(-use.m // lanes) / use.m
    return candidate.flops * padding * share / (HEADROOM * machine.peak_gflops * 1e9)
