"""Operands whose rows do not lie along the output's, and when a copy in which they do pays.

These are images that are walked in strides, and images whose rows are too short for a call or its vectors, padded so
that they don't go on where the output's do. Either what the iterations read is gathered (im2col, ``gather``), or, for
filters of several rows, which im2col copies the image for each of, rows are made for each column of the filter alone
(``unfold``).
"""

from __future__ import annotations

from collections.abc import Iterator

from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Statement
from polydl.machine import LIMITS
from polydl.match.product import NoMatch, ProductForm, product_form
from polydl.variants.rewrites.split import extents_of

# How often each element of a copy must be used to pay for it.
GATHERED_USES = 32


def oriented_rows(scop: Scop, statement: Statement) -> Iterator[tuple[ProductForm, int, int | None]]:
    """A product either way round, with the loops along rows of the output that its A follows, if there are any.

    The first is that along which the output is contiguous; the other goes on where that one ends, or is None.
    """
    form = product_form(scop, statement)
    if isinstance(form, NoMatch) or statement.box is None:
        return
    for oriented in (form, form.swapped()):
        rows = _rows(statement, oriented)
        if rows is not None:
            yield (oriented, *rows)


def _rows(statement: Statement, form: ProductForm) -> tuple[int, int | None] | None:
    """The loop along rows of the output that A follows, and the one that goes on where they end, if there is one."""
    extents, c = extents_of(statement), form.strides_c
    walked_too = [
        loop
        for loop in range(statement.depth)
        if extents[loop] > 1 and c[loop] and form.strides_a[loop] and not form.strides_b[loop]
    ]
    m = next((loop for loop in walked_too if c[loop] == 1), None)
    if m is None:
        return None
    return m, next((loop for loop in walked_too if loop != m and c[loop] == extents[m]), None)


def pays(statement: Statement, copied: int, array: Array) -> bool:
    """Whether a copy of so many elements is small enough, and used often enough."""
    small = copied * array.element_bytes <= LIMITS.gathered_copy_bytes
    return small and statement.instances >= GATHERED_USES * copied
