"""Which nests of an applied variant depend on constant arrays alone, so that they can run once, ahead of all calls.

A constant is an array that holds the same at every call (``Scop.constants``). A nest can be prepared if all that it
reads are constants and what other prepared nests write, and if nobody else writes what it writes. What it writes is
then the same at every call as well. Nests that share an outermost loop are prepared together or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polydl.errors import IllegalVariantError
from polydl.ir.alignment import ALIGNMENT
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Statement
from polydl.plan.nest_plan import NestPlan, Plan
from polydl.poly.dependences import Dependence
from polydl.poly.legality import in_words


@dataclass(frozen=True)
class Prepared:
    """What runs once, ahead of all calls, and the arrays that it leaves for them."""

    #: names of the statements
    statements: frozenset[str] = frozenset()
    #: indices of their nests
    nests: frozenset[int] = frozenset()
    #: the arrays that they write, in the order of the scop; views are not among them
    arrays: tuple[Array, ...] = ()

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where each array begins in the buffer that holds all of them, in bytes."""
        places = [0]
        for array in self.arrays:
            places.append(places[-1] + -(-array.bytes // ALIGNMENT) * ALIGNMENT)
        return tuple(places[:-1])

    @property
    def bytes(self) -> int:
        """The size of the buffer, a multiple of the alignment; 0 where nothing is prepared."""
        return sum(-(-array.bytes // ALIGNMENT) * ALIGNMENT for array in self.arrays)


def prepared(scop: Scop, plan: Plan) -> Prepared:
    """The largest set of nests that can be prepared; none without constants."""
    if not scop.constants:
        return Prepared()
    place = {name: dimensions[0] for name, dimensions in plan.schedule.statements}
    nest_of = {name: nest for nest in plan.nests for name in nest.nest.statements}
    left = _unchanging(scop, {each.name for each in scop.statements if _may_be(scop, each, nest_of[each.name])}, place)
    written = {_memory(scop, access.array) for each in scop.statements if each.name in left for access in each.writes}
    return Prepared(
        frozenset(left),
        frozenset(nest_of[name].nest.index for name in left),
        tuple(array for array in scop.arrays if array.name in written),
    )


def preparable(scop: Scop) -> frozenset[str]:
    """The names of the statements that can be prepared where each has a nest of its own; none without constants."""
    if not scop.constants:
        return frozenset()
    alone = {each.name: number for number, each in enumerate(scop.statements)}
    return frozenset(_unchanging(scop, {each.name for each in scop.statements if _writes_local(scop, each)}, alone))


def _unchanging(scop: Scop, left: set[str], place: Mapping[str, Any]) -> set[str]:
    """Of the statements ``left``, those that depend on constants alone; with one go all others at its place."""
    constant = {array.name for array in scop.arrays if array.storage == "constant"} | set(scop.constants)
    while True:
        others = [each for each in scop.statements if each.name not in left]
        changing = {_memory(scop, access.array) for each in others for access in each.writes}
        fixed = constant | {
            _memory(scop, access.array) for each in scop.statements if each.name in left for access in each.writes
        }
        stray = {place[each.name] for each in others}
        for statement in scop.statements:
            read = {_memory(scop, access.array) for access in statement.reads}
            written = {_memory(scop, access.array) for access in statement.writes}
            if not read <= fixed - changing or written & changing:
                stray.add(place[statement.name])
        kept = {name for name in left if place[name] not in stray}
        if kept == left:
            return left
        left = kept


def proved(scop: Scop, part: Prepared, dependences: Sequence[Dependence]) -> None:
    """Check that no dependence leads from what is left to what is prepared, which runs first.

    Nor may a call change what was prepared: the only dependences from there are of values that are read. Raises
    IllegalVariantError.
    """
    for dependence in dependences:
        if dependence.kind == "RAR":
            continue
        source, target = (name in part.statements for name in (dependence.source, dependence.target))
        if (target and not source) or (source and not target and dependence.kind != "RAW"):
            raise IllegalVariantError(f"{in_words(scop, dependence)} is broken by preparing one of them")


def _may_be(scop: Scop, statement: Statement, nest: NestPlan) -> bool:
    """Whether a statement writes local arrays only, in code that is polydl's own."""
    transform = nest.nest.transform
    if nest.nest.annotated is not None or (transform is not None and transform.transform.after):
        return False
    return _writes_local(scop, statement)


def _writes_local(scop: Scop, statement: Statement) -> bool:
    arrays = [scop.array(_memory(scop, access.array)) for access in statement.writes]
    return all(array.storage == "local" and array.extents for array in arrays)


def _memory(scop: Scop, name: str) -> str:
    return scop.array(name).memory
