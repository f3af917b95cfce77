"""The matrix product of a nest with parameters: which loop is m, n and k, which are around them, and strides as C."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.codegen import print_c
from polydl.codegen.lowering import affine
from polydl.codegen.values import Expr
from polydl.ir.statement import Access, Expression, Statement
from polydl.libraries import extents as sums
from polydl.libraries.coalescing import Coalesced, coalesced_loops
from polydl.libraries.symbolic import SymbolicNest
from polydl.match.product import NoMatch, ProductForm, product_form

#: What a loop is to a product: ``m``, ``n``, ``k``, or one around these, ``o1`` and so on in the source's order.
Role = str
INNER: tuple[Role, ...] = ("m", "n", "k")
# The types of operands that may be added up in each type.
_ELEMENTS = {
    "float": ("float", BFLOAT16),
    "double": ("double",),
    "int": ("signed char", "char", "unsigned char", "short", "unsigned short"),
}
_FRACTIONAL = ("float", "double")
_INTEGER = re.compile(r"0[xX][0-9a-fA-F]+|\d+")


@dataclass(frozen=True)
class ProductArray:
    """An array of a product."""

    access: Access
    #: type of its elements
    element: str
    #: C of the elements by which one iteration of each loop that moves it moves it
    strides: dict[Role, str]

    def address(self, iterators: Sequence[Expr]) -> str:
        """C of the address of the element where the statement's iterators have these values."""
        assert self.access.subscripts is not None
        places = "".join(f"[{print_c.whole(affine(form, iterators))}]" for form in self.access.subscripts)
        return f"&{self.access.array}{places}"


@dataclass(frozen=True)
class Start:
    """A statement that sets each element of C before products are added to it: to zero, or to itself times a factor."""

    statement: str
    #: the iterator of each loop that moves C, as an index of this statement's
    loops: dict[Role, int]
    #: C of what an element is multiplied by; "" where it becomes zero
    factor: str


@dataclass(frozen=True)
class SymbolicProduct:
    """``c[m, n] += scale * a[m, k] * b[k, n]`` at any size, in any loops around. m is contiguous in C."""

    statement: str
    #: type in which products are added up: that of C's elements
    element: str
    #: the iterator of each loop, as an index
    loops: dict[Role, int]
    #: the iterations of each loop, as a sum of sizes
    trips: dict[Role, str]
    c: ProductArray
    a: ProductArray
    b: ProductArray
    #: the source's names of the loops, and of the arrays as ``a``, ``b`` and ``c``
    names: dict[str, str]
    #: C of what all products are multiplied by; "" for 1
    scale: str = ""
    #: whether the last rows (m) may be computed after all others, and their terms in any order: proved for all sizes
    rows_apart: bool = False
    #: what sets C where the first terms of an element are added up, so that C isn't read there; None without it
    start: Start | None = None
    #: loops that run as one with m or with k, where a blocking copies A so; None where none can
    coalesced: Coalesced | None = None

    @property
    def outer(self) -> tuple[Role, ...]:
        """The loops around m, n and k, in the source's order."""
        return tuple(role for role in self.loops if role not in INNER)

    @property
    def added(self) -> tuple[Role, ...]:
        """The loops over the terms of an element of C: k, and those around that don't move C."""
        return tuple(role for role in self.loops if role not in self.c.strides)

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements that it computes."""
        return (self.statement,) if self.start is None else (self.start.statement, self.statement)

    @property
    def operands(self) -> dict[str, ProductArray]:
        """The operands by the names ``a``, ``b`` and ``c``."""
        return {"a": self.a, "b": self.b, "c": self.c}

    @property
    def copied(self) -> frozenset[str]:
        """Those of ``a`` and ``b`` that are always copied: of narrower elements, and where m is not contiguous in A."""
        strided = {"a"} if self.a.strides["m"] != "1" else set()
        return frozenset(strided | {name for name in ("a", "b") if self.operands[name].element != self.element})

    def role(self, iterator: int) -> Role:
        """What the loop with that iterator is."""
        return next(role for role, number in self.loops.items() if number == iterator)


def symbolic_product(nest: SymbolicNest) -> SymbolicProduct | None:
    """The product of a nest that register blocks can compute: of several, the one with most terms; None without one."""
    known = [_product_of(nest, statement) for statement in nest.scop.statements if statement.name in nest.trips]
    products = [product for product in known if product is not None]
    return max(products, key=lambda product: _terms(nest, product), default=None)


def _terms(nest: SymbolicNest, product: SymbolicProduct) -> float:
    total = 1.0
    for trip in product.trips.values():
        total *= sums.value(trip, nest.largest)
    return total


def _product_of(nest: SymbolicNest, statement: Statement) -> SymbolicProduct | None:
    plain, scale = unscaled(nest, statement)
    form = product_form(nest.scop, plain)
    if isinstance(form, NoMatch) or form.element not in _ELEMENTS.get(form.accumulator, ()):
        return None
    if form.element_b not in _ELEMENTS[form.accumulator]:
        return None
    for oriented in (form, form.swapped()):
        loops = _loops(nest, statement, oriented)
        if loops is None:
            continue
        c, a, b = (_operand(nest, access, loops) for access in (oriented.c, oriented.a, oriented.b))
        trips = {role: nest.trips[statement.name][number] for role, number in loops.items()}
        names = {role: statement.iterators[number] for role, number in loops.items()}
        for name, operand in (("a", a), ("b", b), ("c", c)):
            names[name] = nest.scop.array(operand.access.array).memory
        alike = {each.element for each in (a, b, c)} == {form.accumulator}
        accesses = {"a": oriented.a, "b": oriented.b, "c": oriented.c}
        return SymbolicProduct(
            statement.name, form.accumulator, loops, trips, c, a, b, names, " * ".join(scale),
            coalesced=coalesced_loops(nest, accesses, loops, trips) if alike else None,
        )  # fmt: skip
    return None


def _operand(nest: SymbolicNest, access: Access, loops: Mapping[Role, int]) -> ProductArray:
    moving = access.moving_loops
    strides = {role: _stride(nest, access, loop) for role, loop in loops.items() if loop in moving}
    return ProductArray(access, nest.scop.array(access.array).element, strides)


def _loops(nest: SymbolicNest, statement: Statement, form: ProductForm) -> dict[Role, int] | None:
    """Which loop is what, if one moves along the rows of C and A alone: m; of others for n and k the longest."""
    if any(access.subscripts is None for access in (form.c, form.a, form.b)):
        return None
    c, a, b = (access.moving_loops for access in (form.c, form.a, form.b))
    trips = [sums.value(trip, nest.largest) for trip in nest.trips[statement.name]]

    def longest(loops: Collection[int]) -> list[int]:
        return sorted(loops, key=lambda loop: (-trips[loop], loop))[:1]

    m = longest({loop for loop in c & a - b if _stride(nest, form.c, loop) == "1"})
    n, k = longest(c & b - a), longest(a & b - c)
    if not (m and n and k):
        return None
    # Blocks of C are read and written as a whole: an element must be in one of their rows and columns.
    if any(subscript.coefficients[m[0]] and subscript.coefficients[n[0]] for subscript in form.c.subscripts or ()):
        return None
    inner = {"m": m[0], "n": n[0], "k": k[0]}
    around = [number for number in range(statement.depth) if number not in inner.values()]
    return {**inner, **{f"o{place}": number for place, number in enumerate(around, 1)}}


def unscaled(nest: SymbolicNest, statement: Statement) -> tuple[Statement, tuple[str, ...]]:
    """``x += alpha * y * z`` as ``x += y * z``, and C of the factors; ``x -= y * z`` has the factor -1.

    A factor is a literal or a parameter of x's type that nothing writes. A statement of another form is returned as it
    is, without factors.
    """
    body = statement.body
    if body.text not in ("+=", "-=") or len(body.arguments) != 2 or body.arguments[0].kind != "access":
        return statement, ()
    target, value = body.arguments
    element = nest.scop.array(statement.access(target.text, "write").array).element
    operands: list[Expression] = []
    factors = ["-1"] if body.text == "-=" else []
    left = [value]
    while left:
        node = left.pop()
        factor = scalar(nest, statement, node, element)
        if node.kind == "op" and node.text == "*" and len(node.arguments) == 2:
            left += reversed(node.arguments)
        elif factor is not None:
            factors.append(factor)
        else:
            operands.append(node)
    if len(operands) != 2 or not factors:
        return statement, ()
    plain = Expression("op", "+=", (target, Expression("op", "*", tuple(operands))))
    return replace(statement, body=plain), tuple(factors)


def scalar(nest: SymbolicNest, statement: Statement, node: Expression, element: str) -> str | None:
    """C of a literal, or of a parameter of that type that the nest doesn't write, or their negative; else None."""
    if node.kind == "literal":
        # An accumulator of integers takes none of the source's fractions, nor what has a type of its own.
        return node.text if element in _FRACTIONAL or _INTEGER.fullmatch(node.text) else None
    if node.kind == "op" and node.text == "-" and len(node.arguments) == 1:
        negated = scalar(nest, statement, node.arguments[0], element)
        return None if negated is None else f"(-{negated})"
    if node.kind != "access":
        return None
    array = nest.scop.array(statement.access(node.text, "read").array)
    written = {access.array for each in nest.scop.statements for access in each.writes}
    fits = array.storage == "parameter" and not array.extents and array.element == element
    return array.name if fits and array.name not in written else None


def _stride(nest: SymbolicNest, access: Access, iterator: int) -> str:
    """C of the elements by which an iteration of a loop moves an access."""
    assert access.subscripts is not None
    terms = []
    for dimension, form in enumerate(access.subscripts):
        factor = form.coefficients[iterator]
        if factor:
            factors = [*([str(factor)] if factor != 1 else []), *map(sums.long, nest.stride(access.array, dimension))]
            terms.append(" * ".join(factors) or "1")
    return " + ".join(terms)
