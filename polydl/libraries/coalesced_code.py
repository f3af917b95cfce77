"""The copy of a tile of A whose rows, and whose terms, are each those of several loops, as C."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.codegen.loop_ir import Assign, Body, Declare, Evaluate, Function, If, Node, Variable
from polydl.codegen.values import Apply, Binary, Cast, Conditional, Element, Expr, Integer, Name, Unary, linear, plus
from polydl.libraries.coalescing import Coalesced
from polydl.libraries.panel_code import panel
from polydl.libraries.tile_code import ELEMENT, added, below, constant, difference, times, vector_name

_FUNCTION = "polydl_pack_coalesced"
_M, _K, _ROW, _ROWS, _I, _L, _TO = (Name(name) for name in ("m", "k", "row", "rows", "i", "l", "to"))
# Rows of a register block that lie side by side in A: how many such pieces there are, the number of one, its rows, and
# how far vectors reach that copy all of them.
_PIECES, _PIECE, _LENGTH, _REACH = Name("pieces"), Name("piece"), Name("length"), Name("reach")
# The arrays of where each piece begins in the block, and in A.
_PLACES, _OFFSETS = "places", "offsets"
# Where a term's rows begin in A, and the end of all that the nest reads of A.
_SOURCE, _END = Name("source"), Name("end")
_ZERO, _ONE = Integer(0), Integer(1)


def coalesced_copy(loops: Coalesced, element: str, width: int, largest: int, *, contiguous: bool) -> Function:
    """The function that copies a tile of A, whose elements have that C type.

    A register block has up to ``largest`` rows, each of its terms one after the other. Where m is ``contiguous`` in A,
    they are copied by vectors of ``width`` elements. Each of these may write over the beginning of what is copied next,
    and read elements that are not of the tile, but none behind the last one that the nest reads.
    """
    block: Body = (
        Assign(_ROWS, "=", Apply("polydl_rows", (difference(_M, _ROW), Name("block"), Name("width")))),
        Assign(_PIECES, "=", _ZERO),
        *([Assign(_REACH, "=", _ZERO)] if contiguous else []),
        below(_I, _ROWS, _piece(loops.rows, width if contiguous else 0), _LENGTH),
        Assign(Element(_PLACES, (_PIECES,)), "=", _ROWS),
        *_digits(loops.terms, Name("first_k")),
        Declare(f"const {element} *", (Variable(_SOURCE.name, initial=added(Name("a"), *_moved(loops.terms))),)),
        below(_L, _K, (*_copied(width if contiguous else 0), Assign(_TO, "+=", _ROWS), *_next(loops.terms)), _ONE),
    )
    numbers = [_ROWS, _LENGTH, _PIECES, *([_REACH] if contiguous else [])]
    body: Body = (
        *([] if contiguous else [Evaluate(Cast("void", _END))]),
        Declare("long", tuple(Variable(each.name) for each in numbers)),
        Declare("long", (Variable(_PLACES, (largest + 1,)), Variable(_OFFSETS, (largest,)))),
        below(_ROW, _M, block, _ROWS),
    )
    parameters = (
        *(("long", name) for name in ("m", "k", "first_m", "first_k", "block", "width")),
        *((f"const {element} *", name) for name in ("a", _END.name)),
        *(("long", each.name) for each in _sizes(loops)),
        (f"{ELEMENT} *", _TO.name),
    )
    words = "Copies a tile of A, of which several loops are the rows and the terms: its register blocks in turn."
    return Function(_FUNCTION, parameters, body, inlining="", comment=words)


def coalesced_copy_call(
    loops: Coalesced,
    low: dict[str, Expr],
    high: dict[str, Expr],
    block: int,
    width: int,
    start: Expr,
    last: Expr,
) -> Node:
    """Copies the tile from ``low`` to ``high`` of the coalesced loops m and k.

    ``start`` is where A begins for all of their iterations, ``last`` the address of the last element that is read. A
    register block has ``block`` rows, in vectors of ``width``.
    """
    sizes = [difference(high[role], low[role]) for role in ("m", "k")]
    end = plus(last, 1)
    trips = {f"trip_{role}": Name(role) for role in (*loops.rows, *loops.terms)}
    others = (trips.get(each.name, each) for each in _sizes(loops))
    arguments = (*sizes, low["m"], low["k"], Integer(block), Integer(width), start, end, *others, Name(panel("a")))
    return Evaluate(Apply(_FUNCTION, arguments))


def _sizes(loops: Coalesced) -> list[Name]:
    """The parameters for the loops: iterations of all but the outermost ones, and strides in A."""
    trips = [_trip(role) for chain in (loops.rows, loops.terms) for role in chain[:-1]]
    return [*trips, *(_stride(role) for role in (*loops.rows, *loops.terms))]


def _trip(role: str) -> Name:
    return Name(f"trip_{role}")


def _stride(role: str) -> Name:
    return Name(f"a{role}")


def _counter(role: str) -> Name:
    return Name(f"at_{role}")


def _moved(roles: Sequence[str]) -> list[Expr]:
    """By how much the counters of loops move A."""
    return [times(_counter(role), _stride(role)) for role in roles]


def _digits(roles: Sequence[str], number: Expr) -> list[Node]:
    """Declares the counters of loops, innermost first, in the iteration with that number of all of them together."""
    nodes: list[Node] = []
    for role in roles[:-1]:
        nodes.append(_counted(role, Binary("%", number, _trip(role))))
        number = Binary("/", number, _trip(role))
    return [*nodes, _counted(roles[-1], number)]


def _counted(role: str, value: Expr) -> Node:
    return Declare("long", (Variable(_counter(role).name, initial=value),))


def _piece(roles: Sequence[str], width: int) -> Body:
    """Adds the piece of the block that begins at its row ``i``; vectors of ``width`` copy it, or none where it is 0."""
    left, offset = difference(_ROWS, _I), Element(_OFFSETS, (_PIECES,))
    length: Expr = left
    if len(roles) > 1:
        in_piece = difference(_trip(roles[0]), _counter(roles[0]))
        length = Conditional(Binary("<", in_piece, left), in_piece, left)
    end = Name("reached")
    vectors = (
        Binary("*", Binary("/", linear([(1, _LENGTH)], width - 1), Integer(width)), Integer(width)) if width else _ZERO
    )
    farthest: Body = (
        constant("const long", end.name, added(offset, vectors)),
        If(Binary(">", end, _REACH), (Assign(_REACH, "=", end),)),
    )
    return (
        *_digits(roles, added(Name("first_m"), _ROW, _I)),
        Assign(_LENGTH, "=", length),
        Assign(Element(_PLACES, (_PIECES,)), "=", _I),
        Assign(offset, "=", added(*_moved(roles))),
        *(farthest if width else ()),
        Assign(_PIECES, "+=", _ONE),
    )


def _copied(width: int) -> Body:
    """Copies the rows of one term, by vectors of ``width`` where these don't read too far; by none where it is 0."""
    first, end = Element(_PLACES, (_PIECE,)), Element(_PLACES, (added(_PIECE, _ONE),))
    step = _stride("m") if not width else _ONE
    along = difference(_I, first)
    offset = added(Element(_OFFSETS, (_PIECE,)), times(along, step) if not width else along)
    single = Assign(Element(_TO.name, (_I,)), "=", Element(_SOURCE.name, (offset,)))
    one_by_one = below(_PIECE, _PIECES, (below(_I, end, (single,), _ONE, first),), _ONE)
    if not width:
        return (one_by_one,)
    kind = vector_name(width)
    source = Unary("*", Cast(f"const {kind} *", added(_SOURCE, offset)))
    vector = Assign(Unary("*", Cast(f"{kind} *", added(_TO, _I))), "=", source)
    by_vectors = below(_PIECE, _PIECES, (below(_I, end, (vector,), Integer(width), first),), _ONE)
    return (If(Binary("<=", added(_SOURCE, _REACH), _END), (by_vectors,), (one_by_one,)),)


def _next(roles: Sequence[str]) -> Body:
    """Counts on to the next term."""
    role, *outer = roles
    step: Body = (Assign(_SOURCE, "+=", _stride(role)),)
    if not outer:
        return step
    back = Assign(_SOURCE, "-=", times(_trip(role), _stride(role)))
    around = (Assign(_counter(role), "=", _ZERO), back, *_next(outer))
    return (*step, Assign(_counter(role), "+=", _ONE), If(Binary("==", _counter(role), _trip(role)), around))
