"""What a register block loads and keeps: all iterations of some innermost loops in one of the vector loop around them.

What several of these iterations read is loaded once, if it can stay in a register from its first use to its last one.
Sums are loaded and stored once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

from polydl.ir.scop import Scop
from polydl.ir.statement import Statement

# Of an instruction, beside its sum: they are in registers for a moment, whatever else is.
_OPERANDS = 2


@dataclass(frozen=True)
class VectorCounts:
    """Counts of one iteration of the vector loop, in vectors."""

    #: Instances of the statement, each with so many multiply-adds or other operations.
    instances: int
    operations: int
    loads: int
    stores: int
    #: Registers that sums and what is read again take at once.
    live: int
    #: Those that take what the vector loop leaves alone, which may be loaded again instead.
    kept: int


def register_block(
    scop: Scop, statement: Statement, loops: Sequence[tuple[int, int]], vector: int, registers: int, lanes: int
) -> VectorCounts:
    """Counts for the unrolled ``loops``, outermost first, as (iterator, iterations), in a loop over ``vector``.

    ``registers`` vectors of ``lanes`` elements fit into registers. What the vector loop sums up stays there from its
    first iteration to its last. Accesses that are not affine are loaded in each instance.
    """
    counts = tuple(count for _, count in loops)
    targets = {(access.array, access.subscripts) for access in statement.writes}
    instances, loads, stores, live, kept = prod(counts), 0, 0, _OPERANDS, 0
    varying: list[tuple[int, int]] = []
    for access in statement.accesses:
        if access.subscripts is None:
            loads += instances
            continue
        strides = tuple(scop.stride(access, iterator) for iterator, _ in loops)
        distinct, longest = _uses(strides, counts)
        # Elements that lie apart are picked from so many vectors, or one by one.
        vectors = distinct * min(abs(scop.stride(access, vector)), lanes)
        if access.kind == "write":
            live += distinct
            stores += vectors
        elif (access.array, access.subscripts) in targets:
            loads += vectors
        elif vectors:
            varying.append((vectors, longest))
        else:
            kept += distinct
    for vectors, longest in varying:
        live += longest
        loads += vectors if live <= registers else max(vectors, instances)
    # What the vector loop leaves alone stays in registers if there are any left.
    loads += 0 if live + kept <= registers else kept
    return VectorCounts(instances, instances * statement.operations_per_instance, loads, stores, live, kept)


@lru_cache(maxsize=1 << 12)
def _uses(strides: tuple[int, ...], counts: tuple[int, ...]) -> tuple[int, int]:
    """Of the elements that loops with these strides and iterations use: how many, and how many are in use at once."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for time, point in enumerate(product(*map(range, counts))):
        offset = sum([stride * number for stride, number in zip(strides, point, strict=True)])
        first.setdefault(offset, time)
        last[offset] = time
    starts, ends = sorted(first.values()), sorted(last.values())
    most = gone = 0
    for number, time in enumerate(starts, 1):
        while ends[gone] < time:
            gone += 1
        most = max(most, number - gone)
    return len(first), most
