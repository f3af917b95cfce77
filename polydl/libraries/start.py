"""The statement that sets an array before products are added to it: ``c[i][j] = 0``, ``c[i][j] *= beta``.

A register block that begins with such a value saves C a pass over memory, and where that is zero, C isn't read first.
"""

from __future__ import annotations

from polydl.ir.statement import Access, Statement
from polydl.libraries import extents as sums
from polydl.libraries.product import Role, Start, SymbolicProduct, scalar
from polydl.libraries.symbolic import SymbolicNest
from polydl.match.zero import is_zero


def start_of(nest: SymbolicNest, product: SymbolicProduct) -> Start | None:
    """The statement that sets all elements of C, in loops that run like those of the product that move C.

    Whether nothing else happens to an element between this and its first product is not asked. None where an element
    may have no terms at some sizes of the ranges: loops over terms would not set it.
    """
    if any(fewest(nest, product.trips[role]) < 1 for role in product.added):
        return None
    for statement in nest.scop.statements:
        factor = _factor(nest, statement, product)
        loops = None if factor is None else _loops(nest, statement, product)
        if factor is not None and loops is not None:
            return Start(statement.name, loops, factor)
    return None


def fewest(nest: SymbolicNest, trip: str) -> int:
    """The fewest iterations of a loop within the ranges; 0 where they depend on more than these."""
    terms = sums.parsed(trip, dict.fromkeys(nest.sizes)) or {}
    ranges = {each.name: each for each in nest.ranges}
    if not terms or not (terms.keys() - {""}) <= ranges.keys():
        return 0
    ends = (
        number * (ranges[name].low if number > 0 else ranges[name].high) if name else number
        for name, number in terms.items()
    )
    return sum(ends)


def _factor(nest: SymbolicNest, statement: Statement, product: SymbolicProduct) -> str | None:
    """C of the factor by which a statement multiplies an element of C; "" if it makes it zero; None for another one."""
    body = statement.body
    if body.kind != "op" or body.text not in ("=", "*=") or body.arguments[0].kind != "access":
        return None
    target, value = body.arguments
    written = statement.access(target.text, "write")
    if written.array != product.c.access.array:
        return None
    if body.text == "*=":
        return scalar(nest, statement, value, product.element)
    if is_zero(value):
        return ""
    if value.kind != "op" or value.text != "*" or len(value.arguments) != 2:
        return None
    for one, other in (value.arguments, value.arguments[::-1]):
        if one.kind == "access" and _is_same(statement.access(one.text, "read"), written):
            return scalar(nest, statement, other, product.element)
    return None


def _is_same(one: Access, other: Access) -> bool:
    return one.array == other.array and one.subscripts is not None and one.subscripts == other.subscripts


def _loops(nest: SymbolicNest, statement: Statement, product: SymbolicProduct) -> dict[Role, int] | None:
    """The loop of a statement for each loop of the product that moves C; None if it isn't just these."""
    (written,) = statement.writes
    forms, of_product = written.subscripts, product.c.access.subscripts
    trips = nest.trips.get(statement.name)
    if trips is None or forms is None or of_product is None or statement.depth != len(product.c.strides):
        return None
    if [form.constant for form in forms] != [form.constant for form in of_product]:
        return None
    loops: dict[Role, int] = {}
    for role in product.c.strides:
        moved = [form.coefficients[product.loops[role]] for form in of_product]
        alike = [
            loop
            for loop in range(statement.depth)
            if [form.coefficients[loop] for form in forms] == moved and trips[loop] == product.trips[role]
        ]
        if len(alike) != 1:
            return None
        loops[role] = alike[0]
    return loops
