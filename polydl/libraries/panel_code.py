"""Copies of tiles of A and B as loops, in which each register block's part lies in one piece."""

from __future__ import annotations

from polydl.codegen.loop_ir import Assign, Body, Declare, Evaluate, Function, If, Node, Variable
from polydl.codegen.values import Apply, Binary, Element, Expr, Integer, Name, linear
from polydl.libraries.blocking import Operand
from polydl.libraries.tile_code import ELEMENT, added, below, difference, times

#: C of the conversion of bfloat16.
WIDENED = """\
/* A bfloat16 as the float of which it is the upper half. */
static inline float polydl_widened(unsigned short half)
{
  const union { unsigned bits; float number; } whole = {(unsigned)half << 16};
  return whole.number;
}"""
_M, _N, _K, _STEP, _ONE = Name("m"), Name("n"), Name("k"), Name("step"), Integer(1)


def panel(operand: Operand) -> str:
    """The array of the copies, of which each thread has one."""
    return f"polydl_panel_{operand}"


def panel_memory(operand: Operand, elements: int) -> str:
    """C that declares the array."""
    return f"static _Thread_local {ELEMENT} {panel(operand)}[{elements}] __attribute__((aligned(64)));"


def copies(operand: Operand, element: str, *, widened: bool) -> tuple[Function, Function]:
    """The functions that copy a register block's part, and a tile, of an operand with elements of that type of C.

    With ``widened`` they are the bits of bfloat16, and become floats.
    """
    return _copy_block(operand, element, widened=widened), _copy_a(element) if operand == "a" else _copy_b(element)


def row_copy(element: str) -> Function:
    """The function that copies a tile of A, whose elements have that C type, with rows contiguous along k."""
    i, inner = Name("i"), Name("l")
    target = Element("to", (added(times(i, _K), inner),))
    value = Element("a", (added(times(i, Name("am")), times(inner, Name("ak"))),))
    body = below(inner, _K, (below(i, _M, (Assign(target, "=", value),), _ONE),), _ONE)
    return Function(
        "polydl_pack_rows",
        (("long", "m"), ("long", "k"), (f"const {element} *", "a"), ("long", "am"), ("long", "ak"),
         (f"{ELEMENT} *", "to")),
        (body,),
        inlining="",
        comment="Copies a tile of A by rows.",
    )  # fmt: skip


def row_copy_call(low: dict[str, Expr], high: dict[str, Expr], start: Expr) -> Node:
    """Copies the tile of A that begins at ``start`` by rows."""
    sizes = [difference(high[role], low[role]) for role in ("m", "k")]
    return Evaluate(Apply("polydl_pack_rows", (*sizes, start, Name("am"), Name("ak"), Name(panel("a")))))


def copy_call(
    operand: Operand, low: dict[str, Expr], high: dict[str, Expr], block: int, width: int, start: Expr
) -> Node:
    """Copies the tile from ``low`` to ``high`` of an operand's loops, which begins at ``start``.

    ``block`` is how many rows of A, or columns of B, a register block has, and ``width`` the elements of a vector.
    """
    along, strides = ("m", ("am", "ak")) if operand == "a" else ("n", ("bk", "bn"))
    sizes = [difference(high[role], low[role]) for role in (along, "k")]
    blocks = (Integer(block), Integer(width)) if operand == "a" else (Integer(block),)
    return Evaluate(
        Apply(f"polydl_pack_{operand}", (*sizes, *blocks, start, *map(Name, strides), Name(panel(operand))))
    )


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
