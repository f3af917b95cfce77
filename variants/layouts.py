"""Which rewrites of a scop are worth a space of their own.

Coalescing: where the loop outside a microkernel's n loop goes on through memory where the n loop ends, both
together make one longer loop. Packing: where an operand that is only read lies the wrong way for every
microkernel, a copy with its dimensions in another order lies right.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from polydl.poly.products import GemmMatch, NoMatch, ProductForm, product_form
from polydl.types import Access, Coalesce, Pack, Rewrite, Scop, Statement


def coalescing_choices(statement: Statement, matches: Sequence[GemmMatch]) -> tuple[Coalesce, ...]:
    """Pairs of loops of a matched product that walk on through the output and through B as one loop would."""
    if statement.box is None:
        return ()
    found: list[Coalesce] = []
    extents = [high - low + 1 for low, high in statement.box]
    for match in matches:
        form, inner = match.form, match.n
        for outer in range(statement.depth):
            if outer == inner or extents[outer] == 1 or extents[inner] == 1:
                continue
            if form.strides_a[outer] == 0 and all(
                strides[inner] > 0 and strides[outer] == extents[inner] * strides[inner]
                for strides in (form.strides_c, form.strides_b)
            ):
                step = Coalesce(statement.name, statement.iterators[outer], statement.iterators[inner])
                if step not in found:
                    found.append(step)
    return tuple(found)


def packing_choices(scop: Scop, statement: Statement) -> tuple[tuple[Pack, ...], ...]:
    """Copies that turn a product's operands so that a GEMM microkernel can read them, the fewest bytes first."""
    form = product_form(scop, statement)
    if isinstance(form, NoMatch) or statement.box is None:
        return ()
    extents = [high - low + 1 for low, high in statement.box]
    loops = [loop for loop in range(statement.depth) if extents[loop] > 1]
    found: dict[tuple[Pack, ...], int] = {}
    for oriented in (form, form.swapped()):
        for m, n, k in product(loops, repeat=3):
            packs = _packs(scop, statement, oriented, m, n, k)
            if packs:
                found[packs] = sum(scop.array(pack.array).bytes for pack in packs)
    return tuple(sorted(found, key=lambda packs: (found[packs], str(packs))))


def _packs(scop: Scop, statement: Statement, form: ProductForm, m: int, n: int, k: int) -> tuple[Pack, ...] | None:
    """The copies that make these roles fit; None if the roles are wrong or nothing needs a copy."""
    c, a, b = form.strides_c, form.strides_a, form.strides_b
    if c[m] != 1 or not a[m] or b[m] or c[n] < 1 or a[n] or not b[n] or c[k] or not a[k] or not b[k]:
        return None
    packs: list[Pack] = []
    if a[m] != 1:
        order = _order_with_last(form.a, [k, m])
        if order is None:
            return None
        packs.append(Pack(statement.name, form.a.array, order))
    if b[k] != 1 and b[n] != 1:
        order = _order_with_last(form.b, [n, k])
        if order is None:
            return None
        packs.append(Pack(statement.name, form.b.array, order))
    written = {access.array for each in scop.statements for access in each.writes}
    if any(pack.array in written for pack in packs) or len({pack.array for pack in packs}) != len(packs):
        return None
    return tuple(packs) or None


def _order_with_last(access: Access, loops: Sequence[int]) -> tuple[int, ...] | None:
    """The array's dimensions with those that ``loops`` alone walk through moved to the end, in that order."""
    assert access.subscripts is not None
    last = []
    for loop in loops:
        alone = [
            dimension
            for dimension, form in enumerate(access.subscripts)
            if [i for i, coefficient in enumerate(form.coefficients) if coefficient] == [loop]
            and form.coefficients[loop] == 1
        ]
        if not alone:
            return None
        last.append(alone[0])
    return (*(d for d in range(len(access.subscripts)) if d not in last), *last)


def rewrite_choices(
    scop: Scop, statement: Statement, matches: Sequence[GemmMatch], *, preferred: bool
) -> tuple[tuple[Rewrite, ...], ...]:
    """Rewrites to try for one product. ``preferred`` says that the best microkernel matches already."""
    found: list[tuple[Rewrite, ...]] = [(step,) for step in coalescing_choices(statement, matches)]
    if not preferred:
        found += packing_choices(scop, statement)[:2]
    return tuple(found)
