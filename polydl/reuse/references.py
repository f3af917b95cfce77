"""What reuse analysis asks of a nest, however it is answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polydl.ir.affine import Affine
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, AccessKind
from polydl.ir.working_sets import DependenceKind

Time = tuple[int, ...]
Dimensions = tuple[int | Loop, ...]

# In the order in which results list them.
KINDS: tuple[DependenceKind, ...] = ("RAW", "WAR", "WAW", "RAR")
_KIND_OF: dict[tuple[AccessKind, AccessKind], DependenceKind] = {
    ("write", "read"): "RAW",
    ("read", "write"): "WAR",
    ("write", "write"): "WAW",
    ("read", "read"): "RAR",
}


@dataclass(frozen=True)
class Reference:
    """The accesses of one statement to one array that touch the same element: ``C[i][j] +=`` reads and writes it."""

    statement: str
    array: str
    relation: str
    subscripts: tuple[Affine, ...] | None
    kinds: tuple[AccessKind, ...]


@dataclass(frozen=True)
class Representative:
    """One source of a dependence and its targets, as points in time (paper, Algorithm 1, lines 12 to 14).

    The dependence holds all pairs of instances that first differ in time dimension ``level``. ``source`` is the
    earliest of its sources, ``nearest`` and ``farthest`` the first and the last target of that source.
    """

    array: str
    source_statement: str
    target_statement: str
    kinds: frozenset[DependenceKind]
    level: int
    source: Time
    nearest: Time
    farthest: Time


def references(scop: Scop) -> tuple[Reference, ...]:
    grouped: dict[tuple[str, str, str, tuple[Affine, ...] | None], list[Access]] = {}
    for statement in scop.statements:
        for access in statement.accesses:
            key = (statement.name, access.array, access.relation, access.subscripts)
            grouped.setdefault(key, []).append(access)
    return tuple(
        Reference(statement, array, relation, subscripts, tuple(sorted({access.kind for access in accesses})))
        for (statement, array, relation, subscripts), accesses in grouped.items()
    )


def pair_kinds(source: Sequence[AccessKind], target: Sequence[AccessKind]) -> frozenset[DependenceKind]:
    return frozenset(_KIND_OF[first, second] for first in source for second in target)


def divergence(source: Dimensions, target: Dimensions) -> int:
    """How many leading time dimensions two statements have in common: up to different positions in a sequence."""
    for level, (first, second) in enumerate(zip(source, target, strict=False)):
        if isinstance(first, int) and isinstance(second, int) and first != second:
            return level
    return min(len(source), len(target))


def carrying_levels(source: Dimensions, target: Dimensions) -> tuple[int, ...]:
    """The time dimensions in which an instance of ``source`` can first differ from a later one of ``target``."""
    common = divergence(source, target)
    levels = tuple(n for n in range(common) if isinstance(source[n], Loop) or isinstance(target[n], Loop))
    if common < min(len(source), len(target)) and _position(source[common]) < _position(target[common]):
        return (*levels, common)
    return levels


def _position(dimension: int | Loop) -> int:
    return dimension if isinstance(dimension, int) else 0


def time_of(dimensions: Dimensions, point: Sequence[int]) -> Time:
    return tuple(
        d if isinstance(d, int) else d.direction * ((point[d.iterator] - d.origin) // d.size) for d in dimensions
    )
