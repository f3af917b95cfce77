"""The matrix product of a nest with parameters: which loop is m, n and k, and strides as C."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from polydl.errors import UnsupportedConstructError
from polydl.ir.statement import Access, Expression, Statement
from polydl.libraries.symbolic import SymbolicNest
from polydl.match.product import NoMatch, product_form

Role = Literal["m", "n", "k"]
_ELEMENTS = ("float", "double")


@dataclass(frozen=True)
class Operand:
    """An array of a product."""

    #: C of the address of the element that the first iteration takes
    address: str
    #: C of the elements by which one iteration of each loop that moves it moves it
    strides: dict[Role, str]


@dataclass(frozen=True)
class SymbolicProduct:
    """``c[m, n] += scale * a[m, k] * b[k, n]`` at any size. m is contiguous in C."""

    statement: str
    #: type of all elements
    element: str
    #: the iterator, as an index, and the C of the number of iterations of each loop
    loops: dict[Role, int]
    trips: dict[Role, str]
    c: Operand
    a: Operand
    b: Operand
    #: C of what all products are multiplied by; "" for 1
    scale: str = ""

    def role(self, iterator: int) -> Role:
        """What the loop with that iterator is."""
        return next(role for role, number in self.loops.items() if number == iterator)


def symbolic_product(nest: SymbolicNest) -> SymbolicProduct:
    """The product of a nest. Raises UnsupportedConstructError for a nest that hasn't exactly one in three loops."""
    scop = nest.scop
    scaled = [unscaled(nest, statement) for statement in scop.statements]
    forms = [(statement, product_form(scop, statement)) for statement, _ in scaled]
    products = [(statement, form) for statement, form in forms if not isinstance(form, NoMatch)]
    if len(products) != 1:
        reasons = "; ".join(f"line {one.line}: {form.reason}" for one, form in forms if isinstance(form, NoMatch))
        raise UnsupportedConstructError(
            f"a library is for one matrix product, and the region has {len(products) or 'none'}"
            f"{f' ({reasons})' if not products else ''}",
            file=scop.file,
            line=scop.line,
            remedy="put one product C[i][j] += A[i][k] * B[k][j] into the region, or optimize for one shape: "
            "polydl optimize FILE -D NAME=VALUE",
        )
    statement, form = products[0]
    if form.types not in {(element, element) for element in _ELEMENTS}:
        raise UnsupportedConstructError(
            f"a library multiplies float or double, not {' by '.join(form.types[:-1])} into {form.accumulator}",
            file=scop.file,
            line=statement.line,
            construct=statement.text,
            remedy="optimize it for one shape: polydl optimize FILE -D NAME=VALUE",
        )
    for oriented in (form, form.swapped()):
        moves = {name: _moving(access) for name, access in (("c", oriented.c), ("a", oriented.a), ("b", oriented.b))}
        m = moves["c"] & moves["a"] - moves["b"]
        n = moves["c"] & moves["b"] - moves["a"]
        k = moves["a"] & moves["b"] - moves["c"]
        if not len(m) == len(n) == len(k) == 1:
            continue
        loops: dict[Role, int] = {"m": min(m), "n": min(n), "k": min(k)}
        if statement.depth != len(loops) or _stride(nest, oriented.c, loops["m"]) != "1":
            continue
        trips = nest.trips[statement.name]
        scale = next(factors for each, factors in scaled if each is statement)
        c, a, b = (
            Operand(_address(access), {r: _stride(nest, access, loops[r]) for r in roles})
            for access, roles in ((oriented.c, _C), (oriented.a, _A), (oriented.b, _B))
        )
        lengths = {role: _long(trips[number]) for role, number in loops.items()}
        return SymbolicProduct(statement.name, form.element, loops, lengths, c, a, b, " * ".join(scale))
    raise UnsupportedConstructError(
        "a library is for products in three loops, one of which moves along the rows of the result",
        file=scop.file,
        line=statement.line,
        construct=statement.text,
        remedy="write C[i][j] += A[i][k] * B[k][j], any operand transposed if you like",
    )


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
        return node.text
    if node.kind == "op" and node.text == "-" and len(node.arguments) == 1:
        negated = scalar(nest, statement, node.arguments[0], element)
        return None if negated is None else f"(-{negated})"
    if node.kind != "access":
        return None
    array = nest.scop.array(statement.access(node.text, "read").array)
    written = {access.array for each in nest.scop.statements for access in each.writes}
    fits = array.storage == "parameter" and not array.extents and array.element == element
    return array.name if fits and array.name not in written else None


_C: tuple[Role, ...] = ("m", "n")
_A: tuple[Role, ...] = ("m", "k")
_B: tuple[Role, ...] = ("k", "n")


def _moving(access: Access) -> set[int]:
    """The iterators that move an access."""
    assert access.subscripts is not None
    return {number for form in access.subscripts for number, factor in enumerate(form.coefficients) if factor}


def _long(size: str) -> str:
    return size if size.isdigit() else f"(long){size}"


def _stride(nest: SymbolicNest, access: Access, iterator: int) -> str:
    """C of the elements by which an iteration of a loop moves an access."""
    assert access.subscripts is not None
    terms = []
    for dimension, form in enumerate(access.subscripts):
        factor = form.coefficients[iterator]
        if factor:
            factors = [*([str(factor)] if factor != 1 else []), *map(_long, nest.stride(access.array, dimension))]
            terms.append(" * ".join(factors) or "1")
    return " + ".join(terms)


def _address(access: Access) -> str:
    assert access.subscripts is not None
    return f"&{access.array}{''.join(f'[{form.constant}]' for form in access.subscripts)}"
