"""The product of one tile with vectors along k: dot products, whose lanes are added up at the end.

Terms that don't fill a vector are the last lanes of one whose other lanes count as zeros. Products of fewer terms than
a vector has are added up one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from polydl.codegen.loop_ir import Assign, Block, Body, Declare, Evaluate, Function, If, Node, Switch, Variable
from polydl.codegen.values import (
    Apply,
    Binary,
    Cast,
    Compound,
    Element,
    Expr,
    Integer,
    Name,
    Unary,
    linear,
)
from polydl.libraries.tile_code import (
    COLUMN,
    COLUMNS,
    ELEMENT,
    FACTOR,
    FIRST,
    ROW,
    ROWS,
    SCALE,
    K,
    L,
    SumForm,
    added,
    below,
    by_columns,
    column_counts,
    constant,
    difference,
    operands,
    times,
    unused,
    vector_name,
)

#: C of the rows of a tile's next register block.
EVEN_ROWS = """\
/* Rows of the next register block of a tile with so many left: as even as can be. */
static inline long polydl_even_rows(long left, long block)
{
  const long blocks = (left + block - 1) / block;
  return (left + blocks - 1) / blocks;
}"""
_ZERO = Integer(0)
# Sums that a processor adds to at once while it waits for none of them: a register block of fewer has each in parts.
_SUMS = 8
#: The type of integers as long as C's elements, whose bits select lanes.
BITS = "polydl_lane"


def bits_name(width: int) -> str:
    """C of the type of a vector of so many of them."""
    return f"polydl_lanes{width}"


def in_register(vector_bytes: int) -> str:
    """C that keeps a vector which several products read in a register; compilers read it again for each of them.

    Where the compiler's target has no registers of that size, nothing is kept.
    """
    has, constraint = {64: ("__AVX512F__", "v"), 32: ("__AVX__", "x")}.get(vector_bytes, ("__SSE2__", "x"))
    lines = [f"#if defined({has})", f'#define polydl_in_register(vector) __asm__("" : "+{constraint}"(vector))']
    if vector_bytes <= 16:
        lines += ["#elif defined(__aarch64__)", '#define polydl_in_register(vector) __asm__("" : "+w"(vector))']
    return "\n".join([*lines, "#else", "#define polydl_in_register(vector) ((void)(vector))", "#endif"])


def lane_types(element: str, width: int) -> list[str]:
    """C that declares them, for elements of that type."""
    return [
        f"typedef {'long' if element == 'double' else 'int'} {BITS};",
        f"typedef {BITS} {bits_name(width)} __attribute__((vector_size({width} * sizeof({BITS})), "
        f"aligned(sizeof({BITS})), may_alias));",
    ]


def dot_tile_name(rows: int, columns: int) -> str:
    """The name of the function for tiles of these register blocks."""
    return f"polydl_dots{rows}x{columns}_tile"


def _block_name(rows: int, columns: int) -> str:
    return f"polydl_dots{rows}x{columns}"


def dot_tile(rows: int, columns: int, form: SumForm) -> Function:
    """The function that adds one tile's product to C. Rows of A, and columns of B, are contiguous along k."""
    names = ("am", "place", "bn", "to", "cn")
    arguments = (K, added(Name("a"), times(ROW, Name("am"))), *map(Name, names), *form.arguments)

    def blocks_of(count: int) -> Node:
        return by_columns(partial(_block_name, count), arguments, columns)

    inner: Body = (
        Assign(ROWS, "=", Apply("polydl_even_rows", (difference(Name("m"), ROW), Integer(rows)))),
        constant(f"{ELEMENT} *", "to", added(Name("c"), ROW, times(COLUMN, Name("cn")))),
        Switch(ROWS, tuple((count, (blocks_of(count),)) for count in range(rows, 0, -1))),
    )
    outer: Body = (
        Assign(COLUMNS, "=", Apply("polydl_columns", (difference(Name("n"), COLUMN), Integer(columns)))),
        constant(f"const {ELEMENT} *", "place", added(Name("b"), times(COLUMN, Name("bn")))),
        Declare("long", (Variable("rows"),)),
        below(ROW, Name("m"), inner, ROWS),
    )
    body = (Declare("long", (Variable("columns"),)), below(COLUMN, Name("n"), outer, COLUMNS))
    parameters = (*(("long", role) for role in ("m", "n", "k")), *operands(("am",), ("bn",)), *form.parameters)
    return Function(dot_tile_name(rows, columns), parameters, body, inlining="")


def dot_blocks(rows: int, width: int, columns: int, form: SumForm) -> list[Function]:
    """The functions of the register blocks into which tiles are cut, for vectors of ``width`` elements."""
    return [_dot_block(count, width, number, form) for count in range(1, rows + 1) for number in column_counts(columns)]


def _dot_block(rows: int, width: int, columns: int, form: SumForm) -> Function:
    """The function that adds the dot products of ``rows`` rows of A and ``columns`` columns of B to C."""
    kind, places = vector_name(width), [(v, u) for u in range(columns) for v in range(rows)]
    sums = [f"c{v}_{u}" for v, u in places]
    parts = -(-_SUMS // len(sums))
    body: list[Node] = unused(*(["am"] if rows == 1 else []), *(["bn", "cn"] if columns == 1 else []))
    long: list[Node] = [
        Declare(kind, (Variable(_part(name, part), initial=Compound(kind, (_ZERO,))),))
        for part in range(parts)
        for name in sums
    ]
    rest = Binary("%", K, Integer(width))
    first_term: Expr = _ZERO
    if parts > 1:
        together = tuple(Block(_terms(rows, columns, width, masked=False, part=part)) for part in range(parts))
        first_term = Name("even")
        long += [
            constant("const long", "even", difference(K, Binary("%", K, Integer(parts * width)))),
            below(L, first_term, together, Integer(parts * width)),
            *(Assign(Name(name), "+=", Name(_part(name, part))) for part in range(1, parts) for name in sums),
        ]
    one = _terms(rows, columns, width, masked=False)
    long.append(below(L, difference(K, rest), one, Integer(width), first_term))
    lanes = Compound(bits_name(width), tuple(map(Integer, range(width))))
    first = Binary("-", Integer(width), Name("rest"))
    mask = Binary(">=", lanes, Binary("+", Compound(bits_name(width), (_ZERO,)), Cast(BITS, first)))
    tail: Body = (
        constant("const long", "l", difference(K, Integer(width))),
        constant(f"const {bits_name(width)}", "mask", mask),
        *_terms(rows, columns, width, masked=True),
    )
    long += [constant("const long", "rest", rest), If(Name("rest"), tail)]
    long.append(Declare(ELEMENT, (Variable("sums", extents=(len(places),)),)))
    done = 0
    while done < len(sums):
        count = min(width, 1 << (len(sums) - done).bit_length() - 1)
        nodes, total = _totals(sums[done : done + count], width)
        target = Unary("*", Cast(f"{vector_name(count)} *", added(Name("sums"), Integer(done))))
        long += [*nodes, Assign(target, "=", total)]
        done += count
    for number, (v, u) in enumerate(places):
        long.append(_stored(Element("sums", (Integer(number),)), Integer(v), Integer(u), form))
    body.append(If(Binary("<", K, Integer(width)), _short(rows, columns, form), tuple(long)))
    parameters = (("long", "k"), *operands(("am",), ("bn",)), *form.parameters)
    return Function(_block_name(rows, columns), parameters, tuple(body), inlining="")


def _part(total: str, part: int) -> str:
    """The name of a part of a sum."""
    return f"{total}_part{part}" if part else total


def _stored(total: Expr, row: Expr, column: Expr, form: SumForm) -> Node:
    """Adds a sum to C, or to what C is set to."""
    element = Element("c", (added(*([row] if row != _ZERO else []), times(column, Name("cn"))),))
    value = times(Name(SCALE), total) if form.scaled else total
    more = Assign(element, "+=", value)
    if form.start is None:
        return more
    start = Cast(ELEMENT, _ZERO) if form.start == "zero" else Binary("*", FACTOR, element)
    return If(FIRST, (Assign(element, "=", Binary("+", start, value)),), (more,))


def _short(rows: int, columns: int, form: SumForm) -> Body:
    """The dot products of fewer terms than a vector has."""
    v, u = Name("v"), Name("u")
    product = Binary(
        "*",
        Element("a", (added(times(v, Name("am")), L),)),
        Element("b", (added(times(u, Name("bn")), L),)),
    )
    inner: Body = (
        Declare(ELEMENT, (Variable("total", initial=_ZERO),)),
        below(L, K, (Assign(Name("total"), "+=", product),), Integer(1)),
        _stored(Name("total"), v, u, form),
    )
    return (below(u, Integer(columns), (below(v, Integer(rows), inner, Integer(1)),), Integer(1)),)


def _terms(rows: int, columns: int, width: int, *, masked: bool, part: int = 0) -> Body:
    """Adds the products of ``width`` terms, the first of which is ``part`` vectors after term ``l``, to part of a sum.

    With a mask the lanes that are not in it count as zeros, in both operands: an infinity times zero is no zero.
    """
    kind = vector_name(width)

    def read(operand: str, stride: str, number: int) -> Expr:
        place = linear([(1, Name(operand)), (1, L), (part * width, Integer(1)), (number, Name(stride))])
        if not masked:
            return Unary("*", Cast(f"const {kind} *", place))
        bits = Unary("*", Cast(f"const {bits_name(width)} *", place))
        return Cast(kind, Binary("&", bits, Name("mask")))

    body: list[Node] = [constant(f"const {kind}", f"a{v}", read("a", "am", v)) for v in range(rows)]
    for u in range(columns):
        body.append(Declare(kind, (Variable(f"b{u}", initial=read("b", "bn", u)),)))
        if rows > 1:
            body.append(Evaluate(Apply("polydl_in_register", (Name(f"b{u}"),))))
        products = (Binary("*", Name(f"a{v}"), Name(f"b{u}")) for v in range(rows))
        body += [Assign(Name(_part(f"c{v}_{u}", part)), "+=", each) for v, each in enumerate(products)]
    return tuple(body)


def _totals(sums: Sequence[str], width: int) -> tuple[list[Node], Expr]:
    """The sum of the lanes of each vector, as a vector of them. Their number is a power of two, at most ``width``.

    Two vectors become one, with half as many lanes for each of their sums, until one is left; then it becomes shorter.
    """
    nodes: list[Node] = []
    names, lanes = list(sums), width
    while len(names) > 1:
        pairs = list(zip(names[::2], names[1::2], strict=True))
        names = []
        for one, other in pairs:
            names.append(f"{one}_{lanes}")
            nodes.append(constant(f"const {vector_name(width)}", names[-1], _halves_added(one, other, width, lanes)))
        lanes //= 2
    (name,) = names
    while lanes > 1:
        width //= 2
        value = _halves_added(name, "", 2 * width, lanes)
        if width == 1:
            return nodes, value
        name = f"{name}_{lanes}"
        nodes.append(constant(f"const {vector_name(width)}", name, value))
        lanes //= 2
    return nodes, Name(name)


def _halves_added(one: str, other: str, width: int, lanes: int) -> Expr:
    """The two halves of each sum's lanes added, of one vector of ``width`` elements or of two.

    A sum has ``lanes`` neighbouring elements, and half as many in the result.
    """
    if width == 2 and not other:
        return Binary("+", *(Element(one, (Integer(lane),)) for lane in range(2)))
    elements = range(2 * width if other else width)
    halves = ([lane for lane in elements if lane % lanes // (lanes // 2) == half] for half in (0, 1))
    vectors = (Name(one), Name(other or one))
    low, high = (Apply("__builtin_shufflevector", (*vectors, *map(Integer, half))) for half in halves)
    return Binary("+", low, high)
