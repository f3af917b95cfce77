"""The matrix product of a nest with parameters: which loop is m, n and k, and strides as C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polydl.errors import UnsupportedConstructError
from polydl.ir.statement import Access
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
    """``c[m, n] += a[m, k] * b[k, n]`` at any size. m is contiguous in C."""

    statement: str
    #: type of all elements
    element: str
    #: the iterator, as an index, and the C of the number of iterations of each loop
    loops: dict[Role, int]
    trips: dict[Role, str]
    c: Operand
    a: Operand
    b: Operand

    def role(self, iterator: int) -> Role:
        """What the loop with that iterator is."""
        return next(role for role, number in self.loops.items() if number == iterator)


def symbolic_product(nest: SymbolicNest) -> SymbolicProduct:
    """The product of a nest. Raises UnsupportedConstructError for a nest that hasn't exactly one in three loops."""
    scop = nest.scop
    forms = [(statement, product_form(scop, statement)) for statement in scop.statements]
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
        return SymbolicProduct(
            statement.name,
            form.element,
            loops,
            {role: _long(trips[number]) for role, number in loops.items()},
            *(
                Operand(_address(access), {r: _stride(nest, access, loops[r]) for r in roles})
                for access, roles in ((oriented.c, _C), (oriented.a, _A), (oriented.b, _B))
            ),
        )
    raise UnsupportedConstructError(
        "a library is for products in three loops, one of which moves along the rows of the result",
        file=scop.file,
        line=statement.line,
        construct=statement.text,
        remedy="write C[i][j] += A[i][k] * B[k][j], any operand transposed if you like",
    )


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
