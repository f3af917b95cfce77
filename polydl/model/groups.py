"""What groups of statements that run together take: of each group the larger of its transfers and its arithmetic.

By this, combinations of fusions are compared.

As in kernel fusion on other processors, the two overlap. Each array that a body touches is moved once from where all
the data lie; bodies that share only outer loops find again what they touched in the same iteration, if that fits the
second cache level. Good enough to leave out the worst; what is kept is analysed and ranked like any other variant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.machine import Machine


@dataclass(frozen=True)
class Prediction:
    """Seconds, and the bytes that move between the cores and where the data lie."""

    #: of all instances together
    seconds: float
    #: that move
    bytes: int


@dataclass(frozen=True)
class LoopGroup:
    """Statements that run together: the body of each, how many outermost loops are common, the loops' orders."""

    statements: tuple[Statement, ...]
    #: for each statement, the number of the body that it is in
    bodies: tuple[int, ...]
    #: outermost loops that are common
    shared: int
    #: for each statement, its iterators, the outermost loop's first
    orders: tuple[tuple[str, ...], ...]
    #: whether its common loops run on threads
    threaded: bool


def predict(scop: Scop, groups: Sequence[LoopGroup], machine: Machine) -> Prediction:
    """The time of the groups one after the other, on all threads where they can use them."""
    arrays = {access.array for group in groups for s in group.statements for access in s.accesses}
    total = sum(scop.array(name).bytes for name in arrays)
    seconds, moved = 0.0, 0
    for group in groups:
        threads = machine.threads if group.threaded else 1
        rate = _rate(machine, total, threads)
        size = _bytes(scop, group, machine)
        work = sum(statement.flops / _share_of_peak(scop, statement, machine) for statement in group.statements)
        arithmetic = work / (machine.peak_gflops * 1e9 * machine.core.plain_loop_share * threads)
        starting = machine.core.thread_start_seconds if threads > 1 else 0.0
        seconds += max(size / (rate * threads), arithmetic) + starting
        moved += size
    return Prediction(seconds, moved)


def _rate(machine: Machine, total: int, threads: int) -> float:
    """Bytes per second that each of so many threads reads from the smallest cache that holds all of the data."""
    rates = machine.bandwidths(threads)
    for level, rate in zip(machine.caches, rates, strict=False):
        if total <= level.bytes:
            return rate
    return rates[-1]


def _share_of_peak(scop: Scop, statement: Statement, machine: Machine) -> float:
    """The peak with elements as wide as those that a statement writes, as a part of that with ``float``."""
    width = max(scop.array(access.array).element_bytes for access in statement.writes)
    return machine.vector_elements(width) / machine.vector_elements(4)


def _bytes(scop: Scop, group: LoopGroup, machine: Machine) -> int:
    """Bytes moved; what is written counts twice, since its lines are fetched first."""
    room = machine.second_cache_bytes
    kept = _slice_bytes(scop, group) <= room
    total = 0
    touched: dict[str, dict[int, int]] = {}
    for statement, body, order in zip(group.statements, group.bodies, group.orders, strict=True):
        for access in statement.accesses:
            written = any(a.array == access.array for s in group.statements for a in s.writes)
            size = _footprint(scop, statement, access) * (2 if written else 1)
            size *= _scatter(scop, statement, access, order, group.shared, machine.core.line_bytes)
            by_body = touched.setdefault(access.array, {})
            near = max(by_body.values(), default=0) if kept else by_body.get(body, 0)
            total += max(0, size - near)
            by_body[body] = max(size, by_body.get(body, 0))
    return total


def _ranges(statement: Statement) -> Mapping[str, int]:
    box = statement.box or ()
    return {name: high - low + 1 for name, (low, high) in zip(statement.iterators, box, strict=False)}


def _footprint(scop: Scop, statement: Statement, access: Access, without: Sequence[str] = ()) -> int:
    """Bytes of an array that a statement touches, the loops ``without`` standing still."""
    array = scop.array(access.array)
    ranges = _ranges(statement)
    if access.subscripts is None or not ranges:
        return array.bytes
    used = [
        name
        for place, name in enumerate(statement.iterators)
        if name not in without and any(form.coefficients[place] for form in access.subscripts)
    ]
    return min(array.bytes, prod(ranges[name] for name in used) * array.element_bytes)


def _slice_bytes(scop: Scop, group: LoopGroup) -> int:
    """Bytes that one iteration of the common loops touches in one body and again in another.

    What only one body touches may go past the caches.
    """
    sizes: dict[str, int] = {}
    bodies: dict[str, set[int]] = {}
    for statement, body, order in zip(group.statements, group.bodies, group.orders, strict=True):
        for access in statement.accesses:
            size = _footprint(scop, statement, access, order[: group.shared])
            sizes[access.array] = max(size, sizes.get(access.array, 0))
            bodies.setdefault(access.array, set()).add(body)
    return sum(size for array, size in sizes.items() if len(bodies[array]) > 1)


def _scatter(
    scop: Scop, statement: Statement, access: Access, order: Sequence[str], shared: int, line_bytes: int
) -> int:
    """How much more of each line is moved than used, where the contiguous loop is outside of others."""
    if access.subscripts is None or shared == statement.depth:
        return 1
    steps = scop.array(access.array).strides
    strides = {
        name: sum(s * f.coefficients[place] for s, f in zip(steps, access.subscripts, strict=True))
        for place, name in enumerate(statement.iterators)
    }
    moving = [name for name in order if strides[name]]
    contiguous = [name for name in moving if abs(strides[name]) == 1]
    if not contiguous or contiguous[0] not in order[:shared] or moving[-1] == contiguous[0]:
        return 1
    return max(1, line_bytes // scop.array(access.array).element_bytes)
