"""What learned rankers see of a candidate: numbers that mean the same for every nest and every machine.

Three sets. ``working_sets`` are the paper's statistics (§4.2.2): bytes that each cache holds, and memory. ``rich``
are logarithms of ratios: predicted times over the time of the arithmetic at the machine's peak, sizes over cache
sizes, the microkernel's shape. ``parameters`` are plain sizes and counts, none of them a logarithm. A trained network
works only with the version of the features that it was trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from polydl.contracts import Candidate
from polydl.contracts.microkernel import LONGEST_GROUP
from polydl.ir.kernel import MicrokernelUse
from polydl.machine import Machine
from polydl.model.times import Numbers, Times, predicted_times
from polydl.ranking.ordering import busiest_share

Matrix = np.ndarray[Any, np.dtype[np.float32]]

# The paper's three caches. Further ones count as memory does, missing ones hold nothing.
_LEVELS = 3
# The family of microkernels that has a column of its own.
_AT_RUN_TIME = "compiled at run time"
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
    _AT_RUN_TIME,
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
    "share of the busiest thread", "iterations",
)  # fmt: skip

# Names with versions: a change of what a column means needs another number.
WORKING_SETS = "working sets 1"
RICH = f"rich 6, {len(RICH_NAMES)} columns"
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
    candidates: Sequence[Candidate],
    machine: Machine,
    times: Times | None = None,
    uses: Sequence[MicrokernelUse | None] | None = None,
) -> Matrix:
    """A row of ``RICH_NAMES`` for each candidate, as a single thread would run it, however many the machine has.

    ``times`` are the ``predicted_times`` of a single thread, and ``uses`` each candidate's ``heaviest_use``, if known.
    """
    if not candidates:
        return np.zeros((0, len(RICH_NAMES)), np.float32)
    machine = replace(machine, threads=1) if machine.threads > 1 else machine
    times = times or predicted_times(candidates, machine)
    uses = uses or [heaviest_use(each) for each in candidates]
    total, arithmetic = times.summed(times.total), times.summed(times.arithmetic)
    moved = _three([times.summed(seconds) for seconds in times.transfers])
    ideal = ideal_seconds(candidates, machine)
    longest = np.sort([arithmetic, *moved], axis=0)
    sizes = [level.bytes for level in machine.caches[:_LEVELS]]
    held = np.array([each.working_sets.levels[:_LEVELS] for each in candidates], np.float64).T
    filled = [np.log1p(size / cache) for size, cache in zip(held, sizes, strict=True)]
    beyond = np.array(
        [each.working_sets.memory + sum(each.working_sets.levels[_LEVELS:]) for each in candidates], np.float64
    )
    footprints = np.maximum(np.array([each.footprint for each in candidates], np.float64), 1.0)
    heaviest = np.zeros(len(candidates))
    np.maximum.at(heaviest, np.repeat(np.arange(len(candidates)), times.counts), times.total)
    columns = [
        np.log(_operations(candidates)),
        _ratio(arithmetic, ideal),
        *(_ratio(seconds, ideal) for seconds in moved),
        _ratio(total, ideal),
        _ratio(longest[-2], longest[-1]),
        *filled,
        *[np.zeros(len(candidates))] * (_LEVELS - len(filled)),
        np.log1p(beyond / sizes[-1]),
        *_microkernels(candidates, uses, machine),
        np.where(total > 0, 1.0 - heaviest / np.where(total > 0, total, 1.0), 0.0),
        times.counts,
        *(np.log2(footprints / cache) for cache in (*sizes, *[sizes[-1]] * _LEVELS)[:_LEVELS]),
    ]
    return np.array(columns, np.float32).T.copy()


def predicted(candidates: Sequence[Candidate], machine: Machine, times: Times | None = None) -> Matrix:
    """Logarithms of the times that the cost model predicts on all threads, over the times at their peak.

    ``times`` are the ``predicted_times`` on this machine, if they are known.
    """
    times = times or predicted_times(candidates, machine)
    return _ratio(times.summed(times.total), ideal_seconds(candidates, machine)).astype(np.float32)


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


def ideal_seconds(candidates: Sequence[Candidate], machine: Machine) -> Numbers:
    """The time of each candidate's arithmetic at the peak of all threads."""
    return _operations(candidates) / (machine.peak_gflops * 1e9 * machine.threads)


def _operations(candidates: Sequence[Candidate]) -> Numbers:
    return np.array([max(each.flops, 1) for each in candidates], np.float64)


def heaviest_use(candidate: Candidate) -> MicrokernelUse | None:
    """The microkernel of the nest with the most arithmetic, if it has one."""
    heaviest = candidate.cycles.index(max(candidate.cycles))
    for use in candidate.microkernels:
        if use.nest == heaviest:
            return use
    return None


def _sizes(candidate: Candidate) -> list[float]:
    use = heaviest_use(candidate)
    if use is None:
        return [0.0] * 8
    calls = candidate.calls[use.nest]
    return [float(size) for size in (calls, use.m, use.n * use.rows, use.k, use.batch, use.lda, use.ldb, use.ldc)]


def _moved(candidate: Candidate) -> list[float]:
    """Bytes into each of the paper's three caches."""
    return [float(size) for size in _three([sum(level) for level in zip(*candidate.traffic, strict=True)])]


def _three(levels: Sequence[Any]) -> list[Any]:
    """Of any number of caches, the paper's three: of more, the outermost is the third; missing ones get nothing."""
    return (
        [*levels[: _LEVELS - 1], levels[-1]]
        if len(levels) >= _LEVELS
        else [*levels, *[0.0 * levels[0]] * (_LEVELS - len(levels))]
    )


def _ratio(part: Numbers, whole: Numbers) -> Numbers:
    found: Numbers = np.log(np.maximum(part / np.maximum(whole, 1e-30), _LEAST))
    return found


_CALL = attrgetter("m", "n", "rows", "k", "batch", "lda", "ldb", "ldc", "stride_am", "stride_bn", "stride_bk", "ahead")


def _microkernels(candidates: Sequence[Candidate], uses: Sequence[MicrokernelUse | None], machine: Machine) -> Numbers:
    """A row for each name from ``calls`` to ``microkernel``; zeros where there is none."""
    found = np.zeros((RICH_NAMES.index("microkernel") - RICH_NAMES.index("calls") + 1, len(candidates)))
    known = [(place, use) for place, use in enumerate(uses) if use is not None]
    if known:
        numbers = np.array(
            [(*_CALL(use), *use.element_bytes, candidates[place].calls[use.nest]) for place, use in known], np.int64
        ).T
        at_run_time = np.array([use.family == _AT_RUN_TIME for _, use in known])
        found[:, [place for place, _ in known]] = _calls(numbers, at_run_time, machine)
    return found


def _calls(numbers: Numbers, at_run_time: Numbers, machine: Machine) -> Numbers:
    """``numbers`` has a row for each of ``_CALL``, for the bytes of an element of C, A and B, and for the calls."""
    m, n, rows, k, batch, lda, ldb, ldc, stride_am, stride_bn, stride_bk, ahead, *others = numbers
    bytes_c, bytes_a, bytes_b, calls = others
    core = machine.core
    columns, depth = n * rows, k * batch
    lanes = np.maximum(1, machine.vector_bytes // bytes_c)
    first, second = machine.caches[0].bytes, machine.caches[min(1, len(machine.caches) - 1)].bytes
    operands = [bytes_a * m * depth, bytes_b * columns * depth, bytes_c * m * columns]
    # All steps of k side by side in rows of A; groups of two or four of them make columns.
    by_row = (lda == 1) & (stride_am > LONGEST_GROUP)
    number, length, apart = np.where(by_row, (m * batch, k, stride_am), (depth, m, lda))
    # Of each operand: how many runs through memory, how long each is, and how far apart they are.
    blocks = [
        (number, bytes_a * length, bytes_a * apart),
        (columns * batch, bytes_b * k, bytes_b * ldb),
        (columns, bytes_c * m, bytes_c * ldc),
    ]
    vectors = -(-m // lanes)
    return np.array(
        [
            np.log(np.maximum(calls, 1)),
            np.log(2.0 * m * columns * depth),
            *(np.log2(size) for size in (m, columns, rows, k, batch)),
            m / (lanes * vectors),
            np.log2(vectors * columns),
            np.log2(depth),
            *(np.log2(stride) for _, _, stride in blocks),
            *(
                np.log2(np.maximum(stride, width) / run)
                for (_, run, stride), width in zip(blocks, (bytes_a, bytes_b, bytes_c), strict=True)
            ),
            *(
                np.log2(_lines_per_set(*block, period, core.line_bytes))
                for block in blocks
                for period in core.same_set_bytes
            ),
            np.log2(sum(_pages(*block, core.page_bytes) for block in blocks)),
            *(np.log2(_run(*block)) for block in blocks),
            *(np.minimum(4.0, size / first) for size in operands),
            np.minimum(4.0, sum(operands) / first),
            np.minimum(4.0, sum(operands) / second),
            np.log2(_uses_of_each(n, k, stride_bn, stride_bk)),
            ahead > 0,
            at_run_time,
            np.ones(len(m)),
        ]
    )


def _uses_of_each(n: Numbers, k: Numbers, stride_n: Numbers, stride_k: Numbers) -> Numbers:
    """How often a call uses each element of B in one product, on average: windows of neighbouring columns overlap."""
    found = np.ones(len(n))
    for one, other, further, nearer in ((k, n, stride_k, stride_n), (n, k, stride_n, stride_k)):
        steps = further // np.maximum(nearer, 1)
        overlap = (nearer > 0) & (steps * nearer == further) & (steps < other)
        found = np.where(overlap, n * k / ((one - 1) * steps + other), found)
    return found


def _lines_per_set(count: Numbers, run: Numbers, stride: Numbers, period: int, line_bytes: int) -> Numbers:
    """How many lines of a block fall into each set of a cache that they use at all."""
    lines = -(-run // line_bytes)
    starts = np.minimum(count, period // np.gcd(stride, period))
    found: Numbers = count * lines / np.minimum(period // line_bytes, starts * lines)
    return found


def _pages(count: Numbers, run: Numbers, stride: Numbers, page_bytes: int) -> Numbers:
    """How many pages of memory a block lies in, about."""
    apart = count * np.maximum(1.0, run / page_bytes)
    return np.where(stride >= page_bytes, apart, np.maximum(1.0, count * stride / page_bytes))


def _run(count: Numbers, run: Numbers, stride: Numbers) -> Numbers:
    """Bytes of a block that lie one after the other."""
    return np.where(stride <= run, count * run, run)
