"""Loops that add a row up, written by hand, and the passes over them."""

from __future__ import annotations

from loops_by_hand import adds, array, at, c, loop, times

from polydl.codegen.context import Context, StatementFacts
from polydl.codegen.loop_ir import Body, Node
from polydl.codegen.passes import (
    reductions,
    vectorize,
)
from polydl.codegen.values import (
    Expr,
)

ARRAYS = (
    array("z", 16),
    array("s", 90),
    array("A", 16, 90),
    array("x", 90),
    array("r", 16),
    array("a"),
    array("d", element="double"),
)
SUM = StatementFacts(vector=frozenset({1}), sums={1: "z"}, counts={1: 90}, lanes=16)
UPDATE = StatementFacts(vector=frozenset({1}), counts={1: 90}, lanes=16)


def row(term: Expr, *, last: int | Expr = 89, more: tuple[Node, ...] = ()) -> Body:
    """The loop over a row, which adds each ``term`` to its element of z."""
    return (loop("j", 1, last, adds("S", at("z", "i"), term), *more),)


PRODUCT = times(at("A", "i", "j"), at("x", "j"))


def summed(ir: Body, known: Context, *passes: object) -> list[str]:
    """The lines of a body after the passes that find sums, and further ones."""
    for each in (vectorize, reductions, *passes):
        ir = each.run(ir, known)  # type: ignore[attr-defined]
    return c(ir)
