"""Sums that loops around a short vector loop add to again and again: one variable for each lane.

They stay in registers, which what lies in memory under two names can't; and shorter sums round less. Where there is
nothing but such sums, iterations of the loop next to the lanes take turns with several variables, so that none waits
for the addition of the one before. Where terms are many, what that loop has summed up is added to variables of the
loops around it: two short chains of additions round less than a long one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from polydl.codegen.sums import Sum, partial_type
from polydl.codegen.trees import fixed_range, turns, values_of
from polydl.ir.scop import Scop

# Lanes that a sum may have in registers, and the terms that each of them adds up over several loops.
_LONGEST_ROW = 64
_MOST_TERMS = 256
# Vectors that such a sum adds to in turn: an addition takes about as many cycles.
_IN_TURN = 4


@dataclass(frozen=True)
class Row:
    """A sum kept in ``arrays`` of ``length`` elements of a type, by the counter of the loop over its lanes.

    None of the terms are added to what is ``outer``, but what an inner loop has summed up.
    """

    arrays: tuple[str, ...]
    iterator: str
    length: int
    element: str
    each: Sum
    outer: bool = False

    def __str__(self) -> str:
        return f"{self.arrays[0].removesuffix('_0')}[{self.iterator}]"


def rows_of(
    scop: Scop,
    nearest: isl.AstNode,
    lane: isl.AstNode,
    statements: Collection[str],
    sums: Mapping[str, Sequence[Sum | None]],
    terms: Mapping[str, tuple[int, int]],
    width: int,
    within: bool,
) -> dict[str, Row]:
    """By statement, what is kept of those under the loop over lanes ``lane``, inside of the loop ``nearest``.

    ``sums`` are by statement those that each loop around, from the outermost on, adds to, where lanes have elements of
    their own; all loops together add up so many ``terms``. Vectors have ``width`` elements.
    """
    lanes = fixed_range(lane)
    if not lanes or lanes[0] or len(lanes) > _LONGEST_ROW:
        return {}
    name = str(lane.for_get_iterator().get_id().name)
    span = len(fixed_range(nearest))
    several = min(span, _IN_TURN // -(-len(lanes) // width))
    found: dict[str, Row] = {}
    for arrays, outer in ((several, False), (1, True), (1, False)):
        found = {}
        for number, statement in enumerate(sorted(statements)):
            around = sums.get(statement, (None,))
            before, own = terms[statement]
            own = -(-own // several) if outer or arrays > 1 else own
            few = max(before, own) <= _MOST_TERMS if outer else before * own <= _MOST_TERMS
            each = around[0] if len(around) == 1 or (all(around) and few) else None
            if each is not None and _names_lane(values_of(lane, statement), name, each):
                variable = f"polydl_{'part' if within else 'row'}{number}"
                names = tuple(variable + suffix for suffix, _ in turns("", arrays)) if arrays > 1 else (variable,)
                kind = partial_type(scop, each, own if outer else before * own)
                found[statement] = Row(names, name, len(lanes), kind, each, outer)
        if (arrays > 1 or (outer and several > 1)) and len(found) < len(statements):
            continue
        if not outer or (several > 1 and all(len(around) > 1 for around in sums.values())):
            break
    return found


def _names_lane(values: Sequence[str], lane: str, each: Sum) -> bool:
    """Whether a loop's counter is a whole subscript of a sum's element, so that each lane has its own."""
    if lane not in values or each.target.subscripts is None:
        return False
    iterator = values.index(lane)
    used = [form for form in each.target.subscripts if form.coefficients[iterator]]
    return len(used) == 1 and sum(map(abs, used[0].coefficients)) == 1
