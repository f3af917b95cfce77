"""Copies of tiles of A and B as loops, in which each register block's part lies in one piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from polydl.codegen.loop_ir import Assign, Body, Declare, Evaluate, Function, If, Node, Variable
from polydl.codegen.values import Apply, Binary, Cast, Conditional, Element, Expr, Integer, Name, Unary, linear
from polydl.libraries.blocking import Operand
from polydl.libraries.tile_code import ELEMENT, added, below, constant, difference, times, vector_name

#: C of the conversion of bfloat16.
WIDENED = """\
/* A bfloat16 as the float of which it is the upper half. */
static inline float polydl_widened(unsigned short half)
{
  const union { unsigned bits; float number; } whole = {(unsigned)half << 16};
  return whole.number;
}"""
#: Elements in a side of the squares that are transposed in registers.
SQUARE = 4
_SIDE = Integer(SQUARE)
# Rows of a copy are written one after the other if elements that follow each other in one are at most so many apart.
_NEAR = 64
_START = Name("start")
_M, _N, _K, _STEP, _ONE = Name("m"), Name("n"), Name("k"), Name("step"), Integer(1)


def panel(operand: Operand | Literal["c"]) -> str:
    """The array of an operand's copies, or of sums on their way to C, of which each thread has one."""
    return f"polydl_panel_{operand}"


def panel_memory(operand: Operand | Literal["c"], elements: int) -> str:
    """C that declares the array."""
    return f"static _Thread_local {ELEMENT} {panel(operand)}[{elements}] __attribute__((aligned(64)));"


def copies(operand: Operand, element: str, *, widened: bool) -> tuple[Function, Function]:
    """The functions that copy a register block's part, and a tile, of an operand with elements of that type of C.

    With ``widened`` they are the bits of bfloat16, and become floats.
    """
    return _copy_block(operand, element, widened=widened), _copy_a(element) if operand == "a" else _copy_b(element)


def row_copy(element: str) -> Function:
    """The function that copies a tile of A, whose elements have that C type, with rows contiguous along k.

    What lies contiguous along m is transposed in squares. Of the rows beside these, each is copied by itself if its
    elements are near each other, and otherwise all together, so that a line of a cache is read once.
    """
    i, inner, row, ak = Name("i"), Name("l"), Name("row"), Name("ak")
    rows, terms = Name("rows"), Name("terms")
    copied = Assign(
        Element("to", (added(times(i, _K), inner),)),
        "=",
        Element("a", (added(times(i, Name("am")), times(inner, ak)),)),
    )
    remaining = below(inner, _K, (below(i, added(row, _SIDE), (copied,), _ONE, row),), _ONE, terms)
    by_rows = below(i, _M, (below(inner, _K, (copied,), _ONE),), _ONE, rows)
    together = below(inner, _K, (below(i, _M, (copied,), _ONE, rows),), _ONE)
    of_squares = difference(_M, Binary("%", _M, _SIDE))
    body: Body = (
        constant("const long", rows.name, Conditional(Binary("==", Name("am"), _ONE), of_squares, Integer(0))),
        constant("const long", terms.name, difference(_K, Binary("%", _K, _SIDE))),
        below(row, rows, (below(_START, terms, _square(row), _SIDE), remaining), _SIDE),
        If(Binary("<=", ak, Integer(_NEAR)), (by_rows,), (together,)),
    )
    return Function(
        "polydl_pack_rows",
        (("long", "m"), ("long", "k"), (f"const {element} *", "a"), ("long", "am"), ("long", "ak"),
         (f"{ELEMENT} *", "to")),
        body,
        inlining="",
        comment="Copies a tile of A by rows.",
    )  # fmt: skip


def _square(row: Expr) -> Body:
    """Transposes the elements of some rows of a tile at as many values of k, in registers."""
    numbers = range(SQUARE)
    sources = [added(Name("a"), row, times(added(_START, Integer(number)), Name("ak"))) for number in numbers]
    targets = [added(Name("to"), times(added(row, Integer(number)), _K), _START) for number in numbers]
    return turned(sources, targets)


def turned(sources: Sequence[Expr], targets: Sequence[Expr]) -> Body:
    """Writes the columns of a square, of which these are the addresses of the rows, to these addresses."""
    kind = vector_name(SQUARE)

    def shuffled(name: str, one: str, other: str, lanes: Sequence[int]) -> Node:
        value = Apply("__builtin_shufflevector", (Name(one), Name(other), *map(Integer, lanes)))
        return constant(f"const {kind}", name, value)

    read = [constant(f"const {kind}", f"a{n}", _vector(place)) for n, place in enumerate(sources)]
    pairs = [
        shuffled(f"{half}{first}", f"a{first}", f"a{first + 1}", lanes)
        for half, lanes in (("low", (0, 4, 1, 5)), ("high", (2, 6, 3, 7)))
        for first in (0, 2)
    ]
    columns = [
        shuffled(f"row{number}", f"{half}0", f"{half}2", lanes)
        for number, (half, lanes) in enumerate(
            (half, lanes) for half in ("low", "high") for lanes in ((0, 1, 4, 5), (2, 3, 6, 7))
        )
    ]
    written = [Assign(_vector(place, ""), "=", Name(f"row{n}")) for n, place in enumerate(targets)]
    return (*read, *pairs, *columns, *written)


def _vector(place: Expr, qualifier: str = "const ") -> Expr:
    """The elements of a side at an address."""
    return Unary("*", Cast(f"{qualifier}{vector_name(SQUARE)} *", place))


def row_copy_call(low: dict[str, Expr], high: dict[str, Expr], start: Expr) -> Node:
    """Copies the tile of A that begins at ``start`` by rows."""
    sizes = [difference(high[role], low[role]) for role in ("m", "k")]
    return Evaluate(Apply("polydl_pack_rows", (*sizes, start, Name("am"), Name("ak"), Name(panel("a")))))


def copy_call(
    operand: Operand,
    low: dict[str, Expr],
    high: dict[str, Expr],
    block: int,
    width: int,
    start: Expr,
    stride_of_terms: Expr,
) -> Node:
    """Copies the tile from ``low`` to ``high`` of an operand's loops, which begins at ``start``.

    ``block`` is how many rows of A, or columns of B, a register block has, and ``width`` the elements of a vector.
    ``stride_of_terms`` is the operand's along k.
    """
    along, stride = ("m", "am") if operand == "a" else ("n", "bn")
    sizes = [difference(high[role], low[role]) for role in (along, "k")]
    blocks = (Integer(block), Integer(width)) if operand == "a" else (Integer(block),)
    strides = (Name(stride), stride_of_terms) if operand == "a" else (stride_of_terms, Name(stride))
    return Evaluate(Apply(f"polydl_pack_{operand}", (*sizes, *blocks, start, *strides, Name(panel(operand)))))


def _copy_block(operand: Operand, element: str, *, widened: bool) -> Function:
    count, i, inner = Name("count"), Name("i"), Name("l")

    def copied(step: Expr) -> Node:
        value: Expr = Element("from", (added(times(i, step) if step != _ONE else i, times(inner, Name("along_k"))),))
        value = Apply("polydl_widened", (value,)) if widened else value
        return Assign(Element("panel", (added(times(inner, count), i),)), "=", value)

    side_by_side = below(inner, _K, (below(i, count, (copied(_ONE),), _ONE),), _ONE)
    apart = below(i, count, (below(inner, _K, (copied(_STEP),), _ONE),), _ONE)
    return Function(
        f"polydl_pack_block_{operand}",
        (("long", "count"), ("long", "k"), (f"const {element} *", "from"), ("long", "step"), ("long", "along_k"),
         (f"{ELEMENT} *", "panel")),
        (If(Binary("==", _STEP, _ONE), (side_by_side,), (apart,)),),
        inlining="",
        comment=f"Copies what a register block reads of {operand}: its rows, or columns, all of one k together.",
    )  # fmt: skip


def _copy_a(element: str) -> Function:
    row, rows = Name("row"), Name("rows")
    body: Body = (
        Assign(rows, "=", Apply("polydl_rows", (difference(_M, row), Name("block"), Name("width")))),
        _block("a", rows, times(row, Name("am")), ("am", "ak"), times(row, _K)),
    )
    return Function(
        "polydl_pack_a",
        (("long", "m"), ("long", "k"), ("long", "block"), ("long", "width"), (f"const {element} *", "a"),
         ("long", "am"), ("long", "ak"), (f"{ELEMENT} *", "to")),
        (Declare("long", (Variable("rows"),)), below(row, _M, body, rows)),
        inlining="",
        comment="Copies a tile of A: its register blocks one after the other.",
    )  # fmt: skip


def _copy_b(element: str) -> Function:
    column, columns = Name("column"), Name("columns")
    body: Body = (
        Assign(columns, "=", Apply("polydl_columns", (difference(_N, column), Name("block")))),
        _block("b", columns, times(column, Name("bn")), ("bn", "bk"), times(column, _K)),
    )
    return Function(
        "polydl_pack_b",
        (("long", "n"), ("long", "k"), ("long", "block"), (f"const {element} *", "b"), ("long", "bk"), ("long", "bn"),
         (f"{ELEMENT} *", "to")),
        (Declare("long", (Variable("columns"),)), below(column, _N, body, columns)),
        inlining="",
        comment="Copies a tile of B in the same way.",
    )  # fmt: skip


def _block(operand: Operand, count: Name, start: Expr, strides: tuple[str, str], place: Expr) -> Node:
    """Copies a register block's part that begins ``start`` elements after the tile to ``place`` in the copy."""
    first, target = added(Name(operand), start), linear([(1, Name("to")), (1, place)])
    return Evaluate(Apply(f"polydl_pack_block_{operand}", (count, _K, first, *map(Name, strides), target)))
