"""Loops that cut others into blocks by hand.

Such as ``for (ii = 0; ii < n; ii += 32)`` around ``for (i = ii; i < min(ii + 32, n); i++)``.
"""

from __future__ import annotations

import islpy as isl

from polydl.ir.scop import Scop
from polydl.ir.statement import Statement


def blocking_loops(scop: Scop) -> tuple[tuple[str, str], ...]:
    """The names of loops that do nothing but cut another loop into blocks, each with that loop's.

    No element that the statements use depends on them, and they follow from the other's counter, which runs from theirs
    up to their next value.
    """
    statements = [each for each in scop.statements if each.box is None]
    pairs = {pair: None for statement in statements for pair in _pairs(statement)}
    return tuple(pairs)


def _pairs(statement: Statement) -> list[tuple[str, str]]:
    """The pairs of one statement's loops."""
    domain = isl.Set(statement.domain)
    used = {
        place
        for access in statement.accesses
        for place in (range(len(statement.iterators)) if access.subscripts is None else access.moving_loops)
    }
    found = []
    for outer in sorted(set(range(len(statement.iterators))) - used):
        step = domain.get_stride(outer).get_num_si()
        for inner in range(outer + 1, len(statement.iterators)):
            if step > 1 and _within_a_block(domain, outer, inner, step):
                found.append((statement.iterators[outer], statement.iterators[inner]))
    return found


def _within_a_block(domain: isl.Set, outer: int, inner: int, step: int) -> bool:
    """Whether the inner counter is the outer one, or one of the ``step - 1`` numbers behind it."""
    space = isl.LocalSpace.from_space(domain.get_space())
    first, second = (isl.Aff.var_on_domain(space, isl.dim_type.set, place) for place in (outer, inner))
    distance = isl.PwAff.from_aff(second.sub(first)).intersect_domain(domain)
    least, most = distance.min_val(), distance.max_val()
    return bool(least.is_int() and most.is_int() and least.get_num_si() >= 0 and most.get_num_si() < step)
