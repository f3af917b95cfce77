"""What learned rankers see of a candidate: numbers that mean the same for every nest and every machine.

Two sets. ``working_sets`` are the paper's statistics (§4.2.2): bytes that each cache holds, and memory. ``rich`` are
logarithms of ratios: predicted times over the time of the arithmetic at the machine's peak, sizes over cache sizes,
the microkernel's shape. A trained network works only with the version of the features that it was trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polydl.contracts import Candidate
from polydl.machine import Machine
from polydl.ranking.cost_model import NestTime, nest_times
from polydl.ranking.ordering import idle_share

WORKING_SETS_VERSION = 1
RICH_VERSION = 1

Matrix = np.ndarray[Any, np.dtype[np.float32]]

# The paper's three caches. Further ones count as memory does, missing ones hold nothing.
_LEVELS = 3
_FLOAT_BYTES = 4
# Leading dimensions that are a multiple of this, in bytes, put columns into the same sets of a first-level cache.
_ALIAS_BYTES = 4096
# The smallest part of the ideal time that counts, so that logarithms stay finite.
_LEAST = 1e-3

RICH_NAMES = (
    "log operations",
    "arithmetic",
    *(f"into {level}" for level in ("L1", "L2", "L3")),
    "predicted",
    "slowest over second slowest",
    *(f"held by {level}" for level in ("L1", "L2", "L3", "memory")),
    "calls",
    "operations per call",
    "m",
    "columns",
    "k",
    "batch",
    "m in whole vectors",
    "leading A",
    "leading B",
    "leading C",
    "A aliases",
    "B aliases",
    "C aliases",
    "A in L1",
    "B in L1",
    "C in L1",
    "call in L1",
    "call in L2",
    "microkernel",
    "copies",
    "idle",
)


def working_sets(candidates: Sequence[Candidate]) -> Matrix:
    """A row for each candidate: bytes held by L1, L2, L3 and memory, in that order."""
    rows = np.zeros((len(candidates), _LEVELS + 1), np.float64)
    for row, candidate in zip(rows, candidates, strict=True):
        levels = candidate.working_sets.levels
        inner = levels[:_LEVELS]
        row[: len(inner)] = inner
        row[_LEVELS] = candidate.working_sets.memory + sum(levels[_LEVELS:])
    return rows.astype(np.float32)


def rich(candidates: Sequence[Candidate], machine: Machine) -> Matrix:
    """A row of ``RICH_NAMES`` for each candidate."""
    return np.array([_row(each, machine) for each in candidates], np.float32).reshape(len(candidates), len(RICH_NAMES))


def _row(candidate: Candidate, machine: Machine) -> list[float]:
    times = nest_times(candidate, machine)
    ideal = max(candidate.flops, 1) / (machine.peak_gflops * 1e9 * machine.threads)
    transfers = [sum(time.transfers[level] for time in times) for level in range(len(machine.caches))]
    transfers = [*transfers[: _LEVELS - 1], *[0.0] * (_LEVELS - len(transfers)), transfers[-1]]
    arithmetic = sum(time.arithmetic for time in times)
    longest = sorted([arithmetic, *transfers], reverse=True)
    held = candidate.working_sets.levels[:_LEVELS]
    sizes = [level.bytes for level in machine.caches[:_LEVELS]]
    filled = [np.log1p(size / cache) for size, cache in zip(held, sizes, strict=True)]
    filled += [0.0] * (_LEVELS - len(filled))
    return [
        np.log(max(candidate.flops, 1)),
        _ratio(arithmetic, ideal),
        *(_ratio(seconds, ideal) for seconds in transfers[:_LEVELS]),
        _ratio(sum(time.total for time in times), ideal),
        _ratio(longest[1], longest[0]),
        *filled,
        np.log1p(candidate.working_sets.memory / sizes[-1]),
        *_microkernel(candidate, machine),
        _copies(times),
        idle_share(candidate, machine),
    ]


def _ratio(part: float, whole: float) -> float:
    return float(np.log(max(part / max(whole, 1e-30), _LEAST)))


def _microkernel(candidate: Candidate, machine: Machine) -> list[float]:
    """Of the nest with the most arithmetic; zeros where that has no microkernel."""
    heaviest = max(range(len(candidate.cycles)), key=lambda nest: candidate.cycles[nest])
    found = [(use, candidate.calls[use.nest]) for use in candidate.microkernels if use.nest == heaviest]
    if not found:
        return [0.0] * (RICH_NAMES.index("microkernel") - RICH_NAMES.index("calls") + 1)
    use, calls = found[0]
    columns = use.n
    depth = use.k * use.batch
    lanes = max(1, machine.vector_bytes // _FLOAT_BYTES)
    first, second = machine.caches[0].bytes, machine.caches[min(1, len(machine.caches) - 1)].bytes
    operands = [_FLOAT_BYTES * size for size in (use.m * depth, columns * depth, use.m * columns)]
    leading = [_FLOAT_BYTES * size for size in (use.lda, use.ldb, use.ldc)]
    return [
        np.log(max(calls, 1)),
        np.log(2.0 * use.m * columns * depth),
        np.log2(use.m),
        np.log2(columns),
        np.log2(use.k),
        np.log2(use.batch),
        use.m / (lanes * -(-use.m // lanes)),
        *(np.log2(size) for size in leading),
        *(float(size % _ALIAS_BYTES == 0) for size in leading),
        *(min(4.0, size / first) for size in operands),
        min(4.0, sum(operands) / first),
        min(4.0, sum(operands) / second),
        1.0,
    ]


def _copies(times: Sequence[NestTime]) -> float:
    """The part of the predicted time that is not spent in the heaviest nest."""
    total = sum(time.total for time in times)
    return 1.0 - max(time.total for time in times) / total if total else 0.0
