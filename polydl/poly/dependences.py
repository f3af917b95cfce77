"""Exact data dependences between statement instances (paper, §3.2).

A dependence relates every source instance to *every* later instance that touches the same element,
as the paper's d1, d2 and d3 do: all pairs, in the order of the source. That makes the legality test
both sound and exact, and gives the nearest and the farthest reuse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.working_sets import DependenceKind
from polydl.poly.counting import limited
from polydl.poly.schedules import original_schedule, schedule_length, time_map

ORDERING_KINDS: tuple[DependenceKind, ...] = ("RAW", "WAR", "WAW")
ALL_KINDS: tuple[DependenceKind, ...] = ("RAW", "WAR", "WAW", "RAR")


@dataclass(frozen=True)
class Dependence:
    """``relation`` is an isl map from source to target instances.

    ``reduction`` marks the dependences of an accumulation on itself: its terms may be added in any order
    when reassociation is allowed, but not at the same time.
    """

    kind: DependenceKind
    array: str
    source: str
    target: str
    source_reference: str
    target_reference: str
    relation: str
    reduction: bool


_KIND: dict[tuple[str, str], DependenceKind] = {
    ("write", "read"): "RAW",
    ("read", "write"): "WAR",
    ("write", "write"): "WAW",
    ("read", "read"): "RAR",
}
_FLOATING = ("float", "double", "long double")
_ACCUMULATING = {"+=": "+", "-=": "+", "*=": "*"}


def _truncates(scop: Scop, statement: Statement, array: str) -> bool:
    """Whether terms with a fraction are added to an integer: then each addition rounds, and their order matters."""
    if scop.array(array).element in _FLOATING:
        return False
    return any(scop.array(access.array).element in _FLOATING for access in statement.reads) or any(
        node.kind == "call"
        or (node.kind == "cast" and node.text in _FLOATING)
        or (node.kind == "literal" and not node.text.rstrip("uUlL").isdigit())
        for node in statement.body.walk()
    )


def reduction_array(scop: Scop, statement: Statement) -> str | None:
    """The array that a statement accumulates into with an associative, commutative operator, or None.

    Recognised are ``x += e``, ``x -= e``, ``x *= e`` and ``x = x + e`` (``x * e``, ``fmaxf(x, e)`` ...), where
    ``e`` doesn't read the array of ``x`` and has no fraction that an integer ``x`` would lose.
    """
    body = statement.body
    if body.kind != "op" or len(body.arguments) != 2 or body.arguments[0].kind != "access":
        return None
    target, value = body.arguments
    written = [access for access in statement.writes if access.reference == target.text]
    if len(written) != 1 or len(statement.writes) != 1:
        return None
    array = written[0].array
    if _truncates(scop, statement, array):
        return None
    reads = [access for access in statement.reads if access.array == array]
    if body.text in _ACCUMULATING:
        return array if len(reads) == 1 and reads[0].index == written[0].index else None
    if body.text != "=" or len(reads) != 1 or reads[0].index != written[0].index:
        return None
    accumulates = (value.kind == "op" and value.text in ("+", "*") and len(value.arguments) == 2) or (
        value.kind == "call" and value.text in ("fmaxf", "fmax", "fminf", "fmin") and len(value.arguments) == 2
    )
    own = [a for a in value.arguments if a.kind == "access" and a.text == reads[0].reference]
    return array if accumulates and len(own) == 1 else None


# Bytes; each thread gets a copy of these arrays on its stack.
_COMBINED_BYTES = 1 << 17


def addition(scop: Scop, statement: Statement) -> Access | None:
    """The element that a statement adds to (or subtracts from), if it does nothing else."""
    array = reduction_array(scop, statement)
    if array is None or len(statement.writes) != 1:
        return None
    body = statement.body
    added = body.text in ("+=", "-=") or (
        body.text == "=" and body.arguments[1].kind == "op" and body.arguments[1].text == "+"
    )
    return statement.writes[0] if added else None


def moves(target: Access, iterator: int) -> bool:
    """Whether the iterations of a loop write different elements."""
    return target.subscripts is not None and any(form.coefficients[iterator] for form in target.subscripts)


def combinable(scop: Scop, statements: Sequence[Statement], loop: Mapping[str, int]) -> tuple[str, ...]:
    """The arrays that a loop adds to in all its iterations, if threads may keep copies and add these up at the end.

    ``loop`` is its place among each statement's iterators. Nothing else in it may touch these arrays, and they must be
    small. Empty where one of the statements reduces in another way.
    """
    found: list[str] = []
    for statement in statements:
        if reduction_array(scop, statement) is None or moves(statement.writes[0], loop[statement.name]):
            continue
        target = addition(scop, statement)
        if target is None:
            return ()
        found.append(target.array)
    unique = tuple(dict.fromkeys(found))
    touched = [access.array for s in statements for access in s.accesses if access.array in unique]
    size = sum(scop.array(name).bytes for name in unique)
    # Each addition reads and writes its element once.
    plain = len(touched) == 2 * len(found) and all(not scop.array(name).view_of for name in unique)
    return unique if plain and size <= _COMBINED_BYTES else ()


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
    """All dependences of the given kinds that are not empty, per pair of array references."""
    schedule = original_schedule(scop)
    length = schedule_length(schedule)
    times = {name: time_map(scop.statement(name), dimensions, length) for name, dimensions in schedule.statements}
    space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[f"t{d}" for d in range(length)])
    earlier = isl.Map.lex_lt(space)
    before: dict[tuple[str, str], isl.Map] = {}
    found = []
    for source, source_access, target, target_access in _pairs(scop, kinds):
        pair = (source.name, target.name)
        if pair not in before:
            before[pair] = times[source.name].apply_range(earlier).apply_range(times[target.name].reverse())
        relation = (
            isl.Map(source_access.relation)
            .apply_range(isl.Map(target_access.relation).reverse())
            .intersect(before[pair])
        )
        if relation.is_empty():
            continue
        array = source_access.array
        found.append(
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
    return tuple(found)
