"""A time that no variant can beat, for giving up early on variants, or on partly decided candidates.

A bound, no prediction: how far above it a variant ends up is not said.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from polydl.contracts import Calls, Candidate, Outlook
from polydl.contracts.ranking import distinct, in_tiles, within_peak
from polydl.ir.scop import REAL_BYTES
from polydl.machine import Machine
from polydl.ranking.ordering import busiest_share

# Of bfloat16s, for one of floats to their full accuracy: each is the sum of three (microkernels/amx_operands.py).
_PRODUCTS_OF_FLOATS = 6


def lower_bounds(candidates: Sequence[Candidate], machine: Machine) -> tuple[float, ...]:
    """Seconds that each candidate takes at least, on the machine's threads: ``least_seconds`` of what it is.

    Its arrays count whole, and those of nests without a microkernel as ``float`` or wider: candidates say no more.
    """
    return tuple(least_seconds(_outlook(each), machine) for each in candidates)


def least_seconds(outlook: Outlook, machine: Machine) -> float:
    """Seconds that every variant takes at least which a partly decided candidate may become.

    It is the most of three times. Every multiply-add must be issued, on the busiest thread of a nest that does all of
    them its share. A microkernel issues whole vectors along m: where all its tiles are alike, also for the rows that
    don't fill one. In tile registers, products start no faster than ``Core.tile_start_cycles`` says; what else there
    may be is taken to be done in vector registers meanwhile. Holds for float, and so for wider types: of others no
    operations are counted. Into each cache comes what this and the smaller ones can't have kept since the nest ran last
    (compulsory traffic), and for each call what they can't have held of its operands when it began. The fewer variants
    are left, the greater the bound.
    """
    compulsory = max(
        (outlook.footprint - _kept(machine, level)) / (machine.core.clock_headroom * bandwidth * machine.threads)
        for level, bandwidth in enumerate(machine.bandwidths()[1:])
    )
    calls = min(max(_arithmetic(outlook.flops, each, machine), _operands(each, machine)) for each in outlook.calls)
    return max(calls, compulsory)


def _kept(machine: Machine, level: int) -> int:
    """Bytes that a cache and the smaller ones keep at most, on all threads together.

    Threads run on different cores while there are any left: each has a cache to itself where there are enough of them.
    """
    return sum(
        each.bytes * min(machine.threads, -(-machine.cores // each.shared_by)) for each in machine.caches[: level + 1]
    )


def _share(calls: Calls, machine: Machine) -> float:
    """The part of all calls that the busiest thread runs at least."""
    known = calls.rows and calls.iterations != inf
    return busiest_share(calls.iterations, machine.threads) if known else 1.0 / machine.threads


def _arithmetic(flops: int, calls: Calls, machine: Machine) -> float:
    lanes = machine.vector_elements(REAL_BYTES["float"])
    rows, rate = calls.rows, machine.peak_gflops * 1e9
    padding = lanes * -(-rows // lanes) / rows if rows >= lanes else 1.0
    if calls.in_tiles:
        padding, rate = 1.0, _tile_rate(machine) + (0.0 if rows else rate)
    return flops * padding * _share(calls, machine) / (machine.core.clock_headroom * rate)


def _tile_rate(machine: Machine) -> float:
    """Operations of floats that a core does in a second at most in tile registers."""
    return machine.core.tile_operations_per_cycle / _PRODUCTS_OF_FLOATS / machine.cycle_seconds


def _operands(calls: Calls, machine: Machine) -> float:
    """Seconds in which the busiest thread's calls read their operands into the caches that it has for itself."""
    sources = [level.bandwidth_bytes_per_second for level in machine.caches[1:]]
    sources.append(machine.memory_bandwidth_bytes_per_second)
    longest, held = 0.0, 0
    for level, bandwidth in zip(machine.caches, sources, strict=True):
        if min(machine.threads, level.shared_by) > 1:
            break
        held += level.bytes
        brought = calls.count * max(0, calls.operand_bytes - held)
        longest = max(longest, brought * _share(calls, machine) / (machine.core.clock_headroom * bandwidth))
    return longest


def _outlook(candidate: Candidate) -> Outlook:
    calls = Calls(in_tiles=any(in_tiles(use.family) for use in candidate.microkernels))
    for use in candidate.microkernels:
        count = candidate.calls[use.nest]
        if 2 * use.m * use.n * use.rows * use.k * use.batch * count == candidate.flops:
            _, a, b = use.element_bytes
            operands = a * distinct(use.m, use.stride_am, use.k, use.lda)
            operands += b * distinct(use.n, use.stride_bn, use.k, use.stride_bk)
            iterations = candidate.parallel_iterations[use.nest]
            calls = Calls(use.m, iterations, count, operands, in_tiles(use.family))
    narrowest = [min(use.element_bytes) for use in candidate.microkernels]
    flops = within_peak(candidate.flops, narrowest)
    return Outlook(flops, candidate.footprint, frozenset([calls]))
