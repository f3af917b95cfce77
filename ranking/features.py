"""What learned rankers see of a candidate: numbers that mean the same for every nest and every machine.

Three sets. ``working_sets`` are the paper's statistics (§4.2.2): bytes that each cache holds, and memory. ``rich``
are logarithms of ratios: predicted times over the time of the arithmetic at the machine's peak, sizes over cache
sizes, the microkernel's shape. ``parameters`` are plain sizes and counts, none of them a logarithm. A trained network
works only with the version of the features that it was trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd, log, log1p, log2
from typing import Any

import numpy as np

from polydl.contracts import Candidate
from polydl.machine import Machine
from polydl.ranking.cost_model import NestTime, nest_times
from polydl.ranking.ordering import busiest_share
from polydl.types import MicrokernelUse

Matrix = np.ndarray[Any, np.dtype[np.float32]]

# The paper's three caches. Further ones count as memory does, missing ones hold nothing.
_LEVELS = 3
_FLOAT_BYTES = 4
_LINE_BYTES = 64
_PAGE_BYTES = 4096
# Addresses so far apart lie in the same set of a first- or second-level cache, as those of most processors are made.
_SET_PERIODS = (4096, 65536)
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
    "rows",
    "k",
    "batch",
    "m in whole vectors",
    "vectors of C",
    "depth",
    *(f"leading {operand}" for operand in "ABC"),
    *(f"leading {operand} over its run" for operand in "ABC"),
    *(f"{operand} lines per set of {level}" for operand in "ABC" for level in ("L1", "L2")),
    "pages",
    *(f"run of {operand}" for operand in "ABC"),
    "A in L1",
    "B in L1",
    "C in L1",
    "call in L1",
    "call in L2",
    "shared B",
    "ahead",
    "libxsmm",
    "microkernel",
    "copies",
    "nests",
    *(f"arrays in {level}" for level in ("L1", "L2", "L3")),
)

# The column of the cost model's own prediction for one thread.
PREDICTED = RICH_NAMES.index("predicted")

PARAMETER_NAMES = (
    "operations", "calls", "m", "columns", "k", "batch", "leading A", "leading B", "leading C", "held by L1",
    "held by L2", "held by L3", "held by memory", "into L1", "into L2", "into L3", "cycles", "nests",
    "iterations of the busiest thread", "iterations",
)  # fmt: skip

# Names with versions: a change of what a column means needs another number.
WORKING_SETS = "working sets 1"
RICH = f"rich 3, {len(RICH_NAMES)} columns"
PARAMETERS = f"parameters 1, {len(PARAMETER_NAMES)} columns"


def working_sets(candidates: Sequence[Candidate]) -> Matrix:
    """A row for each candidate: bytes held by L1, L2, L3 and memory, in that order."""
    rows = np.zeros((len(candidates), _LEVELS + 1), np.float64)
    for row, candidate in zip(rows, candidates, strict=True):
        levels = candidate.working_sets.levels
        inner = levels[:_LEVELS]
        row[: len(inner)] = inner
        row[_LEVELS] = candidate.working_sets.memory + sum(levels[_LEVELS:])
    return rows.astype(np.float32)


def rich(
    candidates: Sequence[Candidate], machine: Machine, times: Sequence[Sequence[NestTime]] | None = None
) -> Matrix:
    """A row of ``RICH_NAMES`` for each candidate, as a single thread would run it, however many the machine has.

    ``times`` are the ``nest_times`` of each on this machine, if they are known.
    """
    if machine.threads > 1:
        machine, times = replace(machine, threads=1), None
    alone = [nest_times(each, machine) for each in candidates] if times is None else times
    # Many variants of a nest call the same microkernel.
    known: dict[tuple[MicrokernelUse, int], list[float]] = {}
    rows = [_row(each, machine, own, known) for each, own in zip(candidates, alone, strict=True)]
    return np.array(rows, np.float32).reshape(len(candidates), len(RICH_NAMES))


def predicted(
    candidates: Sequence[Candidate], machine: Machine, times: Sequence[Sequence[NestTime]] | None = None
) -> Matrix:
    """Logarithms of the times that the cost model predicts on all threads, over the times at their peak."""
    known = [nest_times(each, machine) for each in candidates] if times is None else times
    ratios = [
        _ratio(sum([time.total for time in own]), ideal_seconds(each, machine))
        for each, own in zip(candidates, known, strict=True)
    ]
    return np.array(ratios, np.float32)


def parameters(candidates: Sequence[Candidate], machine: Machine) -> Matrix:
    """A row of ``PARAMETER_NAMES`` for each candidate: sizes in elements or bytes, and counts."""
    held = working_sets(candidates)
    rows = [
        [
            float(each.flops),
            *_sizes(each),
            *own.tolist(),
            *_moved(each),
            sum(each.cycles),
            float(len(each.cycles)),
            busiest_share(max(each.parallel_iterations), machine.threads),
            float(max(each.parallel_iterations)),
        ]
        for each, own in zip(candidates, held, strict=True)
    ]
    return np.array(rows, np.float32).reshape(len(candidates), len(PARAMETER_NAMES))


def ideal_seconds(candidate: Candidate, machine: Machine) -> float:
    """The time of a candidate's arithmetic at the peak of all threads."""
    return max(candidate.flops, 1) / (machine.peak_gflops * 1e9 * machine.threads)


def heaviest_use(candidate: Candidate) -> MicrokernelUse | None:
    """The microkernel of the nest with the most arithmetic, if it has one."""
    heaviest = candidate.cycles.index(max(candidate.cycles))
    return next((use for use in candidate.microkernels if use.nest == heaviest), None)


def _sizes(candidate: Candidate) -> list[float]:
    use = heaviest_use(candidate)
    if use is None:
        return [0.0] * 8
    calls = candidate.calls[use.nest]
    return [float(size) for size in (calls, use.m, use.n * use.rows, use.k, use.batch, use.lda, use.ldb, use.ldc)]


def _moved(candidate: Candidate) -> list[float]:
    """Bytes into each of the paper's three caches; the outermost cache's last."""
    totals = [float(sum(level)) for level in zip(*candidate.traffic, strict=True)]
    return [*totals[: _LEVELS - 1], *[0.0] * (_LEVELS - len(totals)), totals[-1]]


def _row(
    candidate: Candidate,
    machine: Machine,
    times: Sequence[NestTime],
    known: dict[tuple[MicrokernelUse, int], list[float]],
) -> list[float]:
    totals = [time.total for time in times]
    total = sum(totals)
    ideal = ideal_seconds(candidate, machine)
    transfers = [sum(level) for level in zip(*[time.transfers for time in times], strict=True)]
    transfers = [*transfers[: _LEVELS - 1], *[0.0] * (_LEVELS - len(transfers)), transfers[-1]]
    arithmetic = sum([time.arithmetic for time in times])
    longest = sorted([arithmetic, *transfers], reverse=True)
    held = candidate.working_sets.levels[:_LEVELS]
    sizes = [level.bytes for level in machine.caches[:_LEVELS]]
    filled = [log1p(size / cache) for size, cache in zip(held, sizes, strict=True)]
    filled += [0.0] * (_LEVELS - len(filled))
    return [
        log(max(candidate.flops, 1)),
        _ratio(arithmetic, ideal),
        *(_ratio(seconds, ideal) for seconds in transfers[:_LEVELS]),
        _ratio(total, ideal),
        _ratio(longest[1], longest[0]),
        *filled,
        log1p(candidate.working_sets.memory / sizes[-1]),
        *_microkernel(candidate, machine, known),
        1.0 - max(totals) / total if total else 0.0,
        float(len(times)),
        *(log2(max(candidate.footprint, 1) / cache) for cache in (*sizes, *[sizes[-1]] * _LEVELS)[:_LEVELS]),
    ]


def _ratio(part: float, whole: float) -> float:
    return log(max(part / max(whole, 1e-30), _LEAST))


def _microkernel(
    candidate: Candidate, machine: Machine, known: dict[tuple[MicrokernelUse, int], list[float]]
) -> list[float]:
    """Of the nest with the most arithmetic; zeros where that has no microkernel."""
    use = heaviest_use(candidate)
    if use is None:
        return [0.0] * (RICH_NAMES.index("microkernel") - RICH_NAMES.index("calls") + 1)
    key = (use, candidate.calls[use.nest])
    row = known.get(key)
    if row is None:
        row = known[key] = _calls(*key, machine)
    return row


def _calls(use: MicrokernelUse, calls: int, machine: Machine) -> list[float]:
    columns = use.n * use.rows
    depth = use.k * use.batch
    lanes = max(1, machine.vector_bytes // _FLOAT_BYTES)
    first, second = machine.caches[0].bytes, machine.caches[min(1, len(machine.caches) - 1)].bytes
    operands = [_FLOAT_BYTES * size for size in (use.m * depth, columns * depth, use.m * columns)]
    leading = [_FLOAT_BYTES * size for size in (use.lda, use.ldb, use.ldc)]
    # Of each operand: how many runs through memory, how long each is, and how far apart they are.
    blocks = [
        (depth, _FLOAT_BYTES * use.m, leading[0]),
        (columns * use.batch, _FLOAT_BYTES * use.k, leading[1]),
        (columns, _FLOAT_BYTES * use.m, leading[2]),
    ]
    return [
        log(max(calls, 1)),
        log(2.0 * use.m * columns * depth),
        log2(use.m),
        log2(columns),
        log2(use.rows),
        log2(use.k),
        log2(use.batch),
        use.m / (lanes * -(-use.m // lanes)),
        log2(-(-use.m // lanes) * columns),
        log2(depth),
        *(log2(size) for size in leading),
        *(
            log2(_FLOAT_BYTES * max(stride, 1) / run)
            for stride, (_, run, _) in zip((use.lda, use.ldb, use.ldc), blocks, strict=True)
        ),
        *(log2(_lines_per_set(*block, period)) for block in blocks for period in _SET_PERIODS),
        log2(sum(_pages(*block) for block in blocks)),
        *(log2(_run(*block)) for block in blocks),
        *(min(4.0, size / first) for size in operands),
        min(4.0, sum(operands) / first),
        min(4.0, sum(operands) / second),
        log2(_uses_of_each(use.n, use.k, use.stride_bn, use.stride_bk)),
        float(use.ahead > 0),
        float(use.name == "libxsmm"),
        1.0,
    ]


def _uses_of_each(n: int, k: int, stride_n: int, stride_k: int) -> float:
    """How often a call uses each element of B in one product, on average: windows of neighbouring columns overlap."""
    for one, other, further, nearer in ((n, k, stride_n, stride_k), (k, n, stride_k, stride_n)):
        if nearer and further % nearer == 0 and further // nearer < other:
            return n * k / ((one - 1) * (further // nearer) + other)
    return 1.0


def _lines_per_set(count: int, run: int, stride: int, period: int) -> float:
    """How many lines of a block fall into each set of a cache that they use at all."""
    lines = -(-run // _LINE_BYTES)
    starts = min(count, period // gcd(stride, period))
    return count * lines / min(period // _LINE_BYTES, starts * lines)


def _pages(count: int, run: int, stride: int) -> float:
    """How many pages of memory a block lies in, about."""
    if stride >= _PAGE_BYTES:
        return count * max(1.0, run / _PAGE_BYTES)
    return max(1.0, count * stride / _PAGE_BYTES)


def _run(count: int, run: int, stride: int) -> int:
    """Bytes of a block that lie one after the other."""
    return count * run if stride <= run else run
