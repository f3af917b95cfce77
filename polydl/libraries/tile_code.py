"""The product of one tile as loops: over register blocks, and over k inside of each.

What remains of a tile is no loop over elements. Rows that don't fill a vector are computed together with some before
them: the last vector of a register block overlaps the one before, and all of C is read before any of it is written. A
tile with fewer rows than a vector takes narrower vectors. Columns that don't fill a register block are split evenly:
a block of a single column would wait for A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from polydl.codegen.loop_ir import Assign, Block, Body, Declare, Evaluate, For, Function, If, Node, Switch, Variable
from polydl.codegen.values import (
    Apply,
    Binary,
    Cast,
    Compound,
    Conditional,
    Element,
    Expr,
    Integer,
    Name,
    Unary,
    linear,
)

#: The type of C's elements, in which products are added up.
ELEMENT = "polydl_element"
#: C of the rows, and of the columns, of a tile's next register block.
NEXT_BLOCK = """\
/* Rows of the next register block of a tile with so many left: never so that fewer than a vector remain of it. */
static inline long polydl_rows(long left, long block, long width)
{
  if (left <= block)
    return left;
  return left < block + width ? block - width : block;
}
/* Columns of the next register block: what doesn't fill one is split evenly into blocks of at most 8. */
static inline long polydl_columns(long left, long block)
{
  if (left >= block)
    return block;
  while (left > 8)
    left -= left / 2;
  return left;
}"""
#: The parameter that all products are multiplied by.
SCALE = "scale"
#: The term and their number; the first row and column of a register block, and how many it has.
L, K = Name("l"), Name("k")
ROW, ROWS, COLUMN, COLUMNS = Name("row"), Name("rows"), Name("column"), Name("columns")
#: Whether these are the first terms of C's elements, before which C is set, and the factor that it is set by.
FIRST, FACTOR = Name("first"), Name("factor")
#: Whether C is too large for the second level of cache.
FAR = Name("far")
# How many register blocks of these columns follow one another, and how far apart they lie in B.
_COUNT, _APART = Name("count"), Name("apart")
# The number of one of these blocks, and where its next column of A is.
_BLOCK, _TERM = Name("block"), Name("from")
# Columns that share a pointer into B, as far as addresses scale.
_SHARED = 3
_ZERO, _LAST = Integer(0), Name("last")


def times(first: Expr, *others: Expr) -> Expr:
    """The product; of zero and anything zero."""
    if _ZERO in (first, *others):
        return _ZERO
    for factor in others:
        first = Binary("*", first, factor)
    return first


def added(*terms: Expr) -> Expr:
    """The sum, in which an address may be the first term."""
    return linear([(1, term) for term in terms])


def difference(left: Expr, right: Expr) -> Expr:
    """``left - right`` as one sum; the left one may be an address."""
    return linear([(1, left), (-1, right)])


def unused(*names: str) -> list[Node]:
    """What keeps compilers from warning of parameters that nothing reads."""
    return [Evaluate(Cast("void", Name(name))) for name in names]


def below(iterator: Name, end: Expr, body: Body, step: Expr, first: Expr = _ZERO) -> For:
    """The loop of a ``long`` from ``first`` up to ``end``."""
    return For(iterator.name, first, Binary("<", iterator, end), body, step, type="long")


def tile_function(vectors: int, columns: int) -> str:
    """The name of the function for tiles of these register blocks."""
    return f"polydl_tile{vectors}x{columns}"


@dataclass(frozen=True)
class SumForm:
    """What is done to sums of products on their way to C."""

    #: whether all products are multiplied by ``scale``
    scaled: bool = False
    #: whether C is set where its first terms are added up: to zero, or to itself times ``factor``; None if it is not
    start: Literal["zero", "factor"] | None = None

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Those that functions take for it, behind all others."""
        return (
            *([(ELEMENT, SCALE)] if self.scaled else []),
            *([("int", FIRST.name)] if self.start is not None else []),
            *([(ELEMENT, FACTOR.name)] if self.start == "factor" else []),
        )

    @property
    def arguments(self) -> tuple[Name, ...]:
        """What a function that has these parameters gives another one."""
        return tuple(Name(name) for _, name in self.parameters)


def tile(vectors: int, width: int, columns: int, form: SumForm) -> Function:
    """The function that adds one tile's product to C, given which operands are copied, and whether C is far.

    Its register blocks have up to so many vectors of ``width`` elements of m, by up to so many columns of n.
    """
    narrower = [(_at_least(size), 2, size) for size in _narrower(width)]
    full = [(Binary(">", ROWS, Integer((count - 1) * width)), count, width) for count in range(vectors, 1, -1)]
    choices = [*full, (_at_least(width), 1, width), *narrower]
    rows: Body = (_by_columns(1, 1, columns, form),)
    for condition, count, size in reversed(choices):
        largest = (count, size) == (vectors, width)
        rows = (If(condition, (_by_columns(count, size, columns, form, largest=largest),), rows),)
    left, whole = difference(Name("n"), COLUMN), Binary("==", COLUMNS, Integer(columns))
    inner: Body = (
        Assign(COLUMNS, "=", Apply("polydl_columns", (left, Integer(columns)))),
        Assign(_COUNT, "=", Conditional(whole, Binary("/", left, COLUMNS), Integer(1))),
        constant(f"const {ELEMENT} *", "place", added(Name("b"), times(COLUMN, _if_copied("b", K, Name("bn"))))),
        constant("const long", "stride_bk", _if_copied("b", COLUMNS, Name("bk"))),
        constant("const long", "stride_bn", _if_copied("b", Integer(1), Name("bn"))),
        constant("const long", _APART.name, times(COLUMNS, _if_copied("b", K, Name("bn")))),
        constant(f"{ELEMENT} *", "to", added(Name("c"), ROW, times(COLUMN, Name("cn")))),
        *rows,
    )
    next_rows = Apply("polydl_rows", (difference(Name("m"), ROW), Integer(vectors * width), Integer(width)))
    outer: Body = (
        Assign(ROWS, "=", next_rows),
        constant(f"const {ELEMENT} *", "from", added(Name("a"), _if_copied("a", times(ROW, K), ROW))),
        constant("const long", "stride_a", _if_copied("a", ROWS, Name("ak"))),
        Declare("long", (Variable("columns"), Variable(_COUNT.name))),
        below(COLUMN, Name("n"), inner, times(_COUNT, COLUMNS)),
    )
    body = (Declare("long", (Variable("rows"),)), below(ROW, Name("m"), outer, ROWS))
    flags = (("int", "packed_a"), ("int", "packed_b"), ("int", FAR.name))
    parameters = (
        *(("long", role) for role in ("m", "n", "k")),
        *flags,
        *operands(("ak",), ("bk", "bn")),
        *form.parameters,
    )
    return Function(tile_function(vectors, columns), parameters, body, inlining="")


def register_blocks(vectors: int, width: int, columns: int, form: SumForm) -> list[Function]:
    """The functions of the register blocks into which tiles are cut."""
    rows = [(count, width) for count in range(1, vectors + 1)]
    rows += [(2, size) for size in _narrower(width)]
    blocks = [
        _register_block(count, size, number, form)
        for count, size in (*rows, (1, 1))
        for number in column_counts(columns)
    ]
    return [*blocks, _register_block(vectors, width, columns, form, fetches=True)]


def vector_widths(width: int) -> list[int]:
    """Elements of the vectors that register blocks have, the longest first."""
    return [*([width] if width > 1 else []), *_narrower(width)]


def vector_name(width: int) -> str:
    """C of the type of a vector of so many elements, or of one."""
    return f"polydl_vector{width}" if width > 1 else ELEMENT


def vector_type(element: str, width: int) -> str:
    """C that declares vectors of so many elements of a type, at any place in memory."""
    return (
        f"typedef {element} polydl_vector{width} __attribute__((vector_size({width} * sizeof({element})), "
        f"aligned(sizeof({element})), may_alias));"
    )


def _narrower(width: int) -> list[int]:
    """Elements of the vectors for what is shorter than a whole one: its half, and so on."""
    return [width >> power for power in range(1, width.bit_length() - 1)]


def column_counts(columns: int) -> list[int]:
    """Columns of the register blocks of a tile, the largest first: those that ``polydl_columns`` returns."""
    return [columns, *range(min(columns - 1, 8), 0, -1)]


def _block_name(vectors: int, width: int, columns: int) -> str:
    return f"polydl_block{vectors}x{width}x{columns}"


def operands(a: Sequence[str], b: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The parameters for A, B and C with these strides of A and of B."""
    return (
        (f"const {ELEMENT} *", "a"), *(("long", stride) for stride in a),
        (f"const {ELEMENT} *", "b"), *(("long", stride) for stride in b),
        (f"{ELEMENT} *", "c"), ("long", "cn"),
    )  # fmt: skip


def by_columns(name: Callable[[int], str], arguments: Sequence[Expr], columns: int) -> Switch:
    """Calls the register block with as many columns as there are, up to ``columns``, by its name."""
    calls = {number: Evaluate(Apply(name(number), tuple(arguments))) for number in column_counts(columns)}
    return Switch(COLUMNS, tuple((number, (call,)) for number, call in calls.items()))


def _at_least(width: int) -> Expr:
    return Binary(">=", ROWS, Integer(width))


def _if_copied(operand: str, copied: Expr, otherwise: Expr) -> Expr:
    return Conditional(Name(f"packed_{operand}"), copied, otherwise)


def constant(kind: str, name: str, value: Expr) -> Declare:
    """The declaration of a variable of C type ``kind`` with a value that nothing changes."""
    return Declare(kind, (Variable(name, initial=value),))


def _by_columns(vectors: int, width: int, columns: int, form: SumForm, *, largest: bool = False) -> Switch:
    """Calls the register block with as many columns as there are; the ``largest``, of a C that is far, prefetches."""
    last = difference(ROWS, Integer(width))
    names = ("from", "stride_a", "place", "stride_bk", "stride_bn", "to", "cn")
    arguments = (K, last, _COUNT, _APART, *map(Name, names), *form.arguments)
    switch = by_columns(partial(_block_name, vectors, width), arguments, columns)
    if not largest:
        return switch
    (_, usual), *others = switch.cases
    fetching = Evaluate(Apply(_fetching_name(vectors, width, columns), arguments))
    return Switch(COLUMNS, ((columns, (If(FAR, (fetching,), usual),)), *others))


def _begun(sums: Sequence[tuple[Name, Expr]], vector: str, zero: Expr, form: SumForm) -> Body:
    """Declares variables with what vectors of C are before the products are added to them."""
    if form.start is None:
        return tuple(constant(vector, target.name, element) for target, element in sums)
    value = [(zero if form.start == "zero" else Binary("*", FACTOR, element)) for _, element in sums]
    return (
        Declare(vector, tuple(Variable(target.name) for target, _ in sums)),
        If(
            FIRST,
            tuple(Assign(target, "=", start) for (target, _), start in zip(sums, value, strict=True)),
            tuple(Assign(target, "=", element) for target, element in sums),
        ),
    )


def _fetching_name(vectors: int, width: int, columns: int) -> str:
    return f"{_block_name(vectors, width, columns)}_ahead"


def _register_block(vectors: int, width: int, columns: int, form: SumForm, *, fetches: bool = False) -> Function:
    """The function of ``count`` register blocks that follow one another in n, which are ``apart`` elements of B.

    Each has ``vectors`` of rows, the last of which begins at row ``last``. Products that are scaled are added up by
    themselves, multiplied by the factor, and added to C. One that ``fetches`` prefetches what the next block has of C:
    rows of C are too far apart for processors to see them coming.
    """
    vector = vector_name(width)
    starts: list[Expr] = [Integer(number * width) for number in range(vectors - 1)]
    starts.append(_LAST if vectors > 1 else _ZERO)
    pointers = [Name(f"b{first}") for first in range(0, columns, _SHARED)]
    places = [(v, u) for u in range(columns) for v in range(vectors)]

    def read(address: Expr) -> Expr:
        return Unary("*", Cast(f"const {vector} *", address))

    def of_c(v: int, u: int) -> Expr:
        return linear([(1, Name("c")), (1, starts[v]), (u, Name("cn"))])

    def total(v: int, u: int) -> Name:
        return Name(f"c{v}_{u}")

    def column(u: int) -> Block:
        element = Element(pointers[u // _SHARED].name, (linear([(u % _SHARED, Name("bn"))]),))
        products = (Assign(total(v, u), "+=", Binary("*", Name(f"a{v}"), Name("b"))) for v in range(vectors))
        return Block((Declare(ELEMENT, (Variable("b", initial=element),), constant=True), *products))

    zero = Compound(vector, (_ZERO,)) if width > 1 else _ZERO
    body: list[Node] = [Declare(f"const {ELEMENT} *", (Variable(_TERM.name, initial=Name("a")),))]
    if form.scaled:
        body += [constant(vector, total(v, u).name, zero) for v, u in places]
    else:
        body += _begun([(total(v, u), read(of_c(v, u))) for v, u in places], vector, zero, form)
    body += [
        constant(f"const {ELEMENT} *", pointer.name, linear([(1, Name("b")), (number * _SHARED, Name("bn"))]))
        for number, pointer in enumerate(pointers)
    ]
    terms: Body = (
        *(constant(f"const {vector}", f"a{v}", read(added(_TERM, start))) for v, start in enumerate(starts)),
        Assign(_TERM, "+=", Name("ak")),
        *map(column, range(columns)),
        *(Assign(pointer, "+=", Name("bk")) for pointer in pointers),
    )
    if fetches:
        body += [Evaluate(Apply("__builtin_prefetch", (of_c(v, columns + u),))) for v, u in places]
    body.append(below(L, K, terms, Integer(1)))
    if form.scaled:
        body += _begun([(Name(f"from{v}_{u}"), read(of_c(v, u))) for v, u in places], vector, zero, form)
        body += [
            Assign(total(v, u), "=", Binary("+", Name(f"from{v}_{u}"), Binary("*", Name(SCALE), total(v, u))))
            for v, u in places
        ]
    body += [Assign(Unary("*", Cast(f"{vector} *", of_c(v, u))), "=", total(v, u)) for v, u in places]
    body += [Assign(Name("b"), "+=", _APART), Assign(Name("c"), "+=", linear([(columns, Name("cn"))]))]
    ignored = unused(*(["last"] if vectors == 1 else []), *(["bn"] if columns == 1 else []))
    function = (*ignored, below(_BLOCK, _COUNT, tuple(body), Integer(1)))
    long = (("long", name) for name in ("k", "last", _COUNT.name, _APART.name))
    parameters = (*long, *operands(("ak",), ("bk", "bn")), *form.parameters)
    name = _fetching_name(vectors, width, columns) if fetches else _block_name(vectors, width, columns)
    return Function(name, parameters, function, inlining="")
