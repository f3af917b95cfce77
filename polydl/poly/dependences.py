"""Exact data dependences between statement instances (paper, §3.2).

A dependence relates every source instance to *every* later instance that touches the same element, as the paper's d1,
d2 and d3 do. Legality tests on it are therefore sound and exact, and reuse analysis finds the nearest and the farthest
target in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from polydl.errors import AnalysisError
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.working_sets import DependenceKind
from polydl.poly.counting import limited
from polydl.poly.schedules import original_schedule, runs_before, schedule_length, time_map

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
    source_reference: str
    target_reference: str
    #: isl map from source instances to target instances
    relation: str
    #: whether an accumulation depends on itself: with reassociation its terms may be added in any order, but not at
    #: the same time
    reduction: bool


_KIND: dict[tuple[str, str], DependenceKind] = {
    ("write", "read"): "RAW",
    ("read", "write"): "WAR",
    ("write", "write"): "WAW",
    ("read", "read"): "RAR",
}
# Some ten seconds of isl's work.
_MOST_PAIRS = 30_000
_FLOATING = ("float", "double", "long double")
_ACCUMULATING = {"+=": "+", "-=": "+", "*=": "*"}


def _truncates(scop: Scop, statement: Statement, array: str) -> bool:
    """Whether an integer accumulates terms that may have a fraction: each addition then rounds, so order matters."""
    if scop.array(array).element in _FLOATING:
        return False
    return any(scop.array(access.array).element in _FLOATING for access in statement.reads) or any(
        node.kind == "call"
        or (node.kind == "cast" and node.text in _FLOATING)
        or (node.kind == "literal" and not node.text.rstrip("uUlL").isdigit())
        for node in statement.body.walk()
    )


def reduction_array(scop: Scop, statement: Statement) -> str | None:
    """The array of a reduction: one that the statement accumulates into with an associative, commutative operator.

    Recognised are ``x += e``, ``x -= e``, ``x *= e`` and ``x = x + e`` (``x * e``, ``fmaxf(x, e)`` ...), where ``e``
    doesn't read the array of ``x`` and has no fraction that an integer ``x`` would lose. None for other statements.
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
    accumulated = [a for a in value.arguments if a.kind == "access" and a.text == reads[0].reference]
    return array if accumulates and len(accumulated) == 1 else None


# Bytes; each thread gets a copy of these arrays on its stack.
_COMBINED_BYTES = 1 << 17


def addition(scop: Scop, statement: Statement) -> Access | None:
    """The write of a reduction by ``+`` or ``-``; None for other statements."""
    array = reduction_array(scop, statement)
    if array is None or len(statement.writes) != 1:
        return None
    body = statement.body
    added = body.text in ("+=", "-=") or (
        body.text == "=" and body.arguments[1].kind == "op" and body.arguments[1].text == "+"
    )
    return statement.writes[0] if added else None


def moves(target: Access, iterator: int) -> bool:
    """Whether the loop's iterator is in a subscript of ``target``; False where subscripts aren't affine."""
    return target.subscripts is not None and any(form.coefficients[iterator] for form in target.subscripts)


def combinable(scop: Scop, statements: Sequence[Statement], loop: Mapping[str, int]) -> tuple[str, ...]:
    """The arrays that a parallel loop may sum into one copy per thread, to be added up at the end.

    All iterations of the loop add to the same elements of these arrays. ``loop`` is the loop's index among the
    iterators of each statement. Empty where another access in the loop touches one of the arrays, where the arrays
    exceed ``_COMBINED_BYTES`` together, where one is a view, and where a statement reduces by another operator.
    """
    arrays: list[str] = []
    for statement in statements:
        if reduction_array(scop, statement) is None or moves(statement.writes[0], loop[statement.name]):
            continue
        target = addition(scop, statement)
        if target is None:
            return ()
        arrays.append(target.array)
    unique = tuple(dict.fromkeys(arrays))
    touched = [access.array for s in statements for access in s.accesses if access.array in unique]
    size = sum(scop.array(name).bytes for name in unique)
    # Each addition reads and writes its element once.
    plain = len(touched) == 2 * len(arrays) and all(not scop.array(name).view_of for name in unique)
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
    before: dict[tuple[str, str], isl.Map] = {}
    nonempty = []
    for source, source_access, target, target_access in pairs:
        if runs_before(schedule.of(target.name), schedule.of(source.name)):
            continue
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
