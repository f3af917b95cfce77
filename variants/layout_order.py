"""Nests that walk through memory once and straight on: one order of their loops is enough.

Where a nest uses each element of its large arrays once, and all of these are laid out alike, no order of its loops lets
a cache hold anything for longer than the order of the layout does, and that one walks in the longest runs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import prod

from polydl.ir.affine import Affine
from polydl.ir.scop import Scop
from polydl.variants.rewrites.accesses import apart

# Iterations of an innermost loop whose sums stay in registers.
SHORT = 64


def layout_order(
    scop: Scop,
    statements: Sequence[str],
    loops: Sequence[str],
    depth: int,
    extents: Mapping[str, int],
    first_cache_bytes: int,
) -> tuple[str, ...] | None:
    """The loops that run more than once in the order of the arrays' layout; None if another one may be better.

    It is the best if all of these loops move along all arrays in the same order of strides, to another element in each
    iteration, and each array is accessed at one place per iteration. What is read again and again may lie otherwise if
    the first cache, of ``first_cache_bytes``, holds it all; and so may what is summed up, if a ``SHORT`` innermost loop
    has an element for each iteration. ``depth`` loops lie around the ``loops`` of the nest.
    """
    places = [depth + place for place, name in enumerate(loops) if extents[name] > 1]
    counts = [extents[name] for name in loops if extents[name] > 1]
    walked: dict[str, tuple[Affine, ...]] = {}
    small: dict[tuple[str, tuple[Affine, ...]], int] = {}
    sums: list[list[int]] = []
    orders: set[tuple[int, ...]] = set()
    for statement in [scop.statement(name) for name in statements]:
        for access in statement.accesses:
            if access.subscripts is None or statement.depth != depth + len(loops):
                return None
            strides = [scop.stride(access, place) for place in places]
            if not all(strides):
                touched = prod(count for count, stride in zip(counts, strides, strict=True) if stride)
                small[access.array, access.subscripts] = touched * scop.array(access.array).element_bytes
                sums += [strides] if access.kind == "write" else []
                continue
            if walked.setdefault(access.array, access.subscripts) != access.subscripts or not apart(
                zip(strides, counts, strict=True)
            ):
                return None
            orders.add(tuple(sorted(range(len(places)), key=lambda number: -strides[number])))
    if len(orders) != 1 or sum(small.values()) > first_cache_bytes:
        return None
    [order] = orders
    written = {access.array for name in statements for access in scop.statement(name).writes}
    if walked.keys() & {array for array, _ in small} & written:
        return None
    if sums and (counts[order[-1]] > SHORT or any(strides[order[-1]] != 1 for strides in sums)):
        return None
    return tuple(loops[places[number] - depth] for number in order)


def contiguous(
    scop: Scop, statements: Sequence[str], loops: Sequence[str], depth: int, among: Collection[str]
) -> frozenset[str]:
    """Loops, of those ``among`` a nest's, along which the most accesses are contiguous or constant; if none, all."""
    scores: dict[str, int] = {}
    for place, loop in enumerate(loops):
        if loop in among:
            accesses = [access for name in statements for access in scop.statement(name).accesses]
            strides = [abs(scop.stride(each, depth + place)) for each in accesses if each.subscripts is not None]
            scores[loop] = sum({0: 1, 1: 2}.get(stride, -2) for stride in strides)
    best = max(scores.values(), default=0)
    return frozenset(loop for loop, score in scores.items() if score == best) or frozenset(loops)
