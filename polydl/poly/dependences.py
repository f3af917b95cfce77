"""Exact data dependences between statement instances (paper, §3.2).

A dependence relates every source instance to *every* later instance that touches the same element, as the paper's d1,
d2 and d3 do. Legality tests on it are therefore sound and exact, and reuse analysis finds the nearest and the farthest
target in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import islpy as isl

from polydl.errors import AnalysisError
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.working_sets import DependenceKind
from polydl.poly.counting import limited
from polydl.poly.reductions import accumulation, reduction_array
from polydl.poly.schedules import original_schedule, runs_before, schedule_length, time_map
from polydl.poly.texts import map_of

ORDERING_KINDS: tuple[DependenceKind, ...] = ("RAW", "WAR", "WAW")


@dataclass(frozen=True)
class Dependence:
    """All dependent instances of one pair of array references."""

    #: RAW, WAR or WAW; RAR where reuse analysis asks for it
    kind: DependenceKind
    array: str
    #: statement that touches the element first
    source: str
    #: statement that touches it later
    target: str
    #: id of the source's reference (``Access``)
    source_reference: str
    #: id of the target's reference
    target_reference: str
    #: isl map from source instances to target instances
    relation: str
    #: whether both ends are accumulations into the element, by a statement itself unless a caller knows of more: with
    #: reassociation their terms may be added in any order, but not at the same time
    reduction: bool


_KIND: dict[tuple[str, str], DependenceKind] = {
    ("write", "read"): "RAW",
    ("read", "write"): "WAR",
    ("write", "write"): "WAW",
    ("read", "read"): "RAR",
}
# Some ten seconds of isl's work.
_MOST_PAIRS = 30_000


def _pairs(scop: Scop, kinds: tuple[DependenceKind, ...]) -> Iterator[tuple[Statement, Access, Statement, Access]]:
    by_array: dict[str, list[tuple[Statement, Access]]] = {}
    for statement in scop.statements:
        for access in statement.accesses:
            by_array.setdefault(access.array, []).append((statement, access))
    for uses in by_array.values():
        for source, source_access in uses:
            for target, target_access in uses:
                if _KIND[source_access.kind, target_access.kind] in kinds:
                    yield source, source_access, target, target_access


@limited
def dependences(scop: Scop, kinds: tuple[DependenceKind, ...] = ORDERING_KINDS) -> tuple[Dependence, ...]:
    """The dependences of the given kinds, one for each pair of array references that has any dependent instances.

    Raises AnalysisError when isl's quota is used up, and at once for so many pairs that it would be.
    """
    pairs = list(_pairs(scop, kinds))
    if len(pairs) > _MOST_PAIRS:
        raise AnalysisError(
            f"the {len(scop.statements)} statements of the region have {len(pairs):,} pairs of accesses to the same "
            f"array, and polydl relates at most {_MOST_PAIRS:,}",
            remedy="join statements that write the same element into one, or move some to a function of their own",
        )
    schedule = original_schedule(scop)
    length = schedule_length(schedule)
    times = {name: time_map(scop.statement(name), dimensions, length) for name, dimensions in schedule.statements}
    space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[f"t{d}" for d in range(length)])
    earlier = isl.Map.lex_lt(space)
    later = {name: time.apply_range(earlier) for name, time in times.items()}
    before: dict[tuple[str, str], isl.Map] = {}
    accesses = [access for statement in scop.statements for access in statement.accesses]
    instances = {access.relation: map_of(access.relation).reverse() for access in accesses}
    nonempty = []
    for source, source_access, target, target_access in pairs:
        if runs_before(schedule.of(target.name), schedule.of(source.name)):
            continue
        pair = (source.name, target.name)
        if pair not in before:
            before[pair] = later[source.name].apply_range(times[target.name].reverse())
        relation = map_of(source_access.relation).apply_range(instances[target_access.relation]).intersect(before[pair])
        if relation.is_empty():
            continue
        array = source_access.array
        nonempty.append(
            Dependence(
                kind=_KIND[source_access.kind, target_access.kind],
                array=array,
                source=source.name,
                target=target.name,
                source_reference=source_access.reference,
                target_reference=target_access.reference,
                relation=str(relation.coalesce()),
                reduction=source.name == target.name and reduction_array(scop, source) == array,
            )
        )
    return tuple(nonempty)


def in_any_order(scop: Scop, dependence: Dependence) -> bool:
    """Whether both ends of a dependence accumulate into the element, in the same way in one or two statements.

    With reassociation they may then run in any order, but not at the same time. Unlike in a ``reduction``, a term may
    read other elements of the array: what it reads is as it was, since such a read has dependences of its own on every
    accumulation before it and after it.
    """
    found = [accumulation(scop, scop.statement(name)) for name in (dependence.source, dependence.target)]
    references = dependence.source_reference, dependence.target_reference
    return len({each and (each.operation, each.function) for each in found}) == 1 and all(
        each is not None and each.target.array == dependence.array and reference in each.references
        for each, reference in zip(found, references, strict=True)
    )
