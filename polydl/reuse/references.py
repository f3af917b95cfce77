"""The questions that reuse analysis asks of a nest, whichever way of counting answers them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from polydl.ir.affine import Affine
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, AccessKind
from polydl.ir.working_sets import DependenceKind

# A point in time: the values of a statement's time dimensions, or of the first of them (a time prefix).
Time = tuple[int, ...]
# The time dimensions of one statement, as ``Schedule.of`` returns them.
Dimensions = tuple[int | Loop, ...]
#: (iterator of the source, iterator of the target) pairs that run in a common loop
Couples = tuple[tuple[int, int], ...]

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
    """All accesses of one statement that touch the same element: ``C[i][j] += x`` reads and writes ``C[i][j]``."""

    statement: str
    array: str
    #: access relation, an isl map
    relation: str
    #: as in ``Access``
    subscripts: tuple[Affine, ...] | None
    #: read, write or both
    kinds: tuple[AccessKind, ...]


@dataclass(frozen=True)
class Representative:
    """One source of a dependence with its nearest and its farthest target (paper, Algorithm 1, lines 12 to 14).

    The dependence consists of all pairs of instances whose times first differ in dimension ``level``.
    """

    #: the array through which the statements depend
    array: str
    source_statement: str
    target_statement: str
    #: of the dependences between these ends
    kinds: frozenset[DependenceKind]
    #: time dimension that carries the dependence
    level: int
    #: earliest source
    source: Time
    #: first target of that source
    nearest: Time
    #: last target of that source
    farthest: Time


def references(scop: Scop) -> tuple[Reference, ...]:
    """The references of all statements, in the order of their first accesses."""
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
    """The kinds of dependence from a reference with accesses ``source`` to one with accesses ``target``."""
    return frozenset(_KIND_OF[first, second] for first in source for second in target)


def divergence(source: Dimensions, target: Dimensions) -> int:
    """The number of time dimensions before the first in which the two have different positions in a sequence.

    It is the shorter length where there is none. Both statements run inside of the loops among these dimensions.
    """
    for level, (first, second) in enumerate(zip(source, target, strict=False)):
        if isinstance(first, int) and isinstance(second, int) and first != second:
            return level
    return min(len(source), len(target))


def couples(source: Dimensions, target: Dimensions) -> Couples:
    """The couples of two statements, whose ``Dimensions`` are as long as they are common."""
    loops = zip(source, target, strict=True)
    return tuple(sorted({(a.iterator, b.iterator) for a, b in loops if isinstance(a, Loop) and isinstance(b, Loop)}))


def carrying_levels(source: Dimensions, target: Dimensions) -> tuple[int, ...]:
    """The time dimensions that can carry a dependence: the first in which a source and a later target may differ."""
    common = divergence(source, target)
    levels = tuple(n for n in range(common) if isinstance(source[n], Loop) or isinstance(target[n], Loop))
    if common < min(len(source), len(target)) and _position(source[common]) < _position(target[common]):
        return (*levels, common)
    return levels


def _position(dimension: int | Loop) -> int:
    return dimension if isinstance(dimension, int) else 0


def time_of(dimensions: Dimensions, point: Sequence[int]) -> Time:
    """The time at which an instance runs; ``point`` has the values of its iterators."""
    return tuple(
        d if isinstance(d, int) else d.direction * ((point[d.iterator] - d.origin) // d.size) for d in dimensions
    )
