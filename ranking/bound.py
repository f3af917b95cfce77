"""A time that no variant can beat, for giving up early on variants, or on partly decided candidates.

A bound, no prediction: how far above it a variant ends up is not said.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from polydl.contracts import Candidate, Outlook
from polydl.machine import Machine
from polydl.ranking.ordering import busiest_share

# A core that works alone may run at a higher clock than it did while its peak and its bandwidths were measured.
HEADROOM = 1.2
_FLOAT_BYTES = 4


def lower_bounds(candidates: Sequence[Candidate], machine: Machine) -> tuple[float, ...]:
    """Seconds that each candidate takes at least, on the machine's threads: ``least_seconds`` of what it is."""
    return tuple(least_seconds(_outlook(each), machine) for each in candidates)


def least_seconds(outlook: Outlook, machine: Machine) -> float:
    """Seconds that every variant takes at least which a partly decided candidate may become.

    Every multiply-add of the nest must be issued, on the busiest thread of a nest that does all of them its share. A
    microkernel issues whole vectors along m: where all its tiles are alike, also for the rows that don't fill one.
    Holds for float, and so for wider types. And all that no cache can have kept since the nest ran last must come from
    memory (compulsory traffic). The fewer variants are left, the greater the bound.
    """
    arithmetic = min(_seconds(outlook.flops, rows, iterations, machine) for rows, iterations in outlook.calls)
    kept = sum(level.bytes * -(-machine.threads // level.shared_by) for level in machine.caches)
    bandwidth = machine.bandwidths()[-1] * machine.threads
    return max(arithmetic, (outlook.footprint - kept) / (HEADROOM * bandwidth))


def _seconds(flops: int, rows: int, iterations: float, machine: Machine) -> float:
    lanes = max(1, machine.vector_bytes // _FLOAT_BYTES)
    padding = lanes * -(-rows // lanes) / rows if rows >= lanes else 1.0
    share = busiest_share(iterations, machine.threads) if rows and iterations != inf else 1.0 / machine.threads
    return flops * padding * share / (HEADROOM * machine.peak_gflops * 1e9)


def _outlook(candidate: Candidate) -> Outlook:
    calls = (0, inf)
    for use in candidate.microkernels:
        if 2 * use.m * use.n * use.rows * use.k * use.batch * candidate.calls[use.nest] == candidate.flops:
            calls = use.m, candidate.parallel_iterations[use.nest]
    return Outlook(candidate.flops, candidate.footprint, frozenset([calls]))
