"""Recognition of matrix products in statements, from access relations and strides alone.

The statement must be ``x += y * z`` (or ``x = x + y * z``), where x is an element of one array and y and z are
elements of two others. Each loop has a stride in each of the three arrays. These strides decide which loops can be m,
n and k; the names of the loops and their order do not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import islpy as isl

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.bfloat16 import TO_FLOAT
from polydl.contracts import Microkernel, Requirement, StridePattern
from polydl.contracts.microkernel import LONGEST_GROUP
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.poly.domains import independent_loops


@dataclass(frozen=True)
class ProductForm:
    """A statement ``c += a * b``. Strides are in elements, one for each iterator of the statement."""

    #: name of the statement
    statement: str
    #: type of A's elements
    element: str
    #: type of B's elements
    element_b: str
    #: type of C's elements
    accumulator: str
    #: the write of C
    c: Access
    a: Access
    b: Access
    #: of ``c``
    strides_c: tuple[int, ...]
    #: of ``a``
    strides_a: tuple[int, ...]
    #: of ``b``
    strides_b: tuple[int, ...]

    def swapped(self) -> ProductForm:
        """The same product with A and B in each other's place."""
        return ProductForm(
            self.statement,
            self.element_b,
            self.element,
            self.accumulator,
            self.c,
            self.b,
            self.a,
            self.strides_c,
            self.strides_b,
            self.strides_a,
        )

    @property
    def types(self) -> tuple[str, ...]:
        """The types as ``Microkernel.elements`` lists them: that of the operands, once if it is the same, and C's."""
        return (*dict.fromkeys((self.element, self.element_b)), self.accumulator)


@dataclass(frozen=True)
class GemmMatch:
    """One way to give a microkernel the loops of a product. Loops are indices into the statement's iterators."""

    #: name of the microkernel
    kernel: str
    form: ProductForm
    #: the loop that moves C and A
    m: int
    #: the loop that moves C and B
    n: int
    #: the loop that moves A and B
    k: int
    #: further loops that C does not move with: the same call may sum over them
    batchable: tuple[int, ...]
    #: further loops that move C and B but not A: they give the same call further rows of n columns
    rowable: tuple[int, ...] = ()
    #: elements of C's only column, where loop n has one iteration and moves neither operand; else 0
    only_column: int = 0

    @property
    def lda(self) -> int:
        """A's leading dimension: elements from one k to the next."""
        return self.form.strides_a[self.k]

    @property
    def stride_am(self) -> int:
        """Elements of A from one m to the next."""
        return self.form.strides_a[self.m]

    @property
    def in_groups(self) -> bool:
        """Whether both operands hold all of the loop k side by side, and the next m of A lies behind that."""
        return self.lda == 1 and self.stride_am > 1 and self.stride_bk == 1 and self.stride_am <= LONGEST_GROUP

    @property
    def ldc(self) -> int:
        """C's leading dimension: elements from one column (n) to the next."""
        return self.only_column or self.form.strides_c[self.n]

    @property
    def stride_bn(self) -> int:
        """Elements of B from one n to the next."""
        return self.form.strides_b[self.n]

    @property
    def stride_bk(self) -> int:
        """Elements of B from one k to the next."""
        return self.form.strides_b[self.k]

    @property
    def ldb(self) -> int:
        """B's leading dimension: the larger of its two strides."""
        return max(self.stride_bn, self.stride_bk)

    def overlaps(self, m: int, n: int, rows: Sequence[tuple[int, int]]) -> bool:
        """Whether rows of m by n elements of C have some in common, as the taps of a transposed convolution do.

        ``rows`` are the loops that make them, each with its iterations. A call keeps its part of C in registers, so
        that it would write what another row of it has added over.
        """
        for steps in product(*(range(1 - count, count) for _, count in rows)):
            distance = abs(sum(self.form.strides_c[loop] * step for (loop, _), step in zip(rows, steps, strict=True)))
            columns = distance // self.ldc
            if any(steps) and any(
                between < n and abs(distance - between * self.ldc) < m for between in (columns, columns + 1)
            ):
                return True
        return False


@dataclass(frozen=True)
class NoMatch:
    """There is no match."""

    #: why, in words for the user
    reason: str
    #: whether the microkernel is for elements of other types
    other_types: bool = False


_NARROW = ("signed char", "char", "unsigned char", "short", "unsigned short")
_CANONICAL = {"int32_t": "int", "int64_t": "long", "int8_t": "signed char", "uint8_t": "unsigned char"}


def _factors(expression: Expression) -> tuple[Expression, Expression] | None:
    if expression.kind == "op" and expression.text == "*" and len(expression.arguments) == 2:
        return expression.arguments[0], expression.arguments[1]
    return None


def _without_cast_to(expression: Expression, *types: str) -> Expression:
    """The expression inside of casts to any of ``types``, which the caller knows to keep its value."""
    while expression.kind == "cast" and _CANONICAL.get(expression.text, expression.text) in types:
        expression = expression.arguments[0]
    return expression


def _operand(scop: Scop, statement: Statement, factor: Expression, accumulator: str) -> Access | None:
    """The read of the array element that is the factor; None for any other factor.

    Casts and conversions around it that keep its value are ignored.
    """
    inner = factor
    while inner.kind == "cast":
        inner = inner.arguments[0]
    if inner.kind == "call" and inner.text == TO_FLOAT and accumulator == "float":
        if _without_cast_to(factor, "float") != inner or inner.arguments[0].kind != "access":
            return None
        access = statement.access(inner.arguments[0].text, "read")
        return access if scop.array(access.array).element == BFLOAT16 else None
    if inner.kind != "access":
        return None
    access = statement.access(inner.text, "read")
    element = scop.array(access.array).element
    wider = ("int", accumulator) if element in _NARROW and accumulator in ("int", "long") else ()
    return access if _without_cast_to(factor, element, *wider) == inner else None


def _element_strides(scop: Scop, access: Access, depth: int) -> tuple[int, ...] | None:
    if access.subscripts is None:
        return None
    return tuple(scop.stride(access, loop) for loop in range(depth))


def product_form(scop: Scop, statement: Statement) -> ProductForm | NoMatch:
    """The statement as ``c += a * b``, or the reason why it isn't a product."""
    body = statement.body
    if body.kind != "op" or body.text not in ("+=", "=") or len(body.arguments) != 2:
        return NoMatch("it is not an accumulation `x += y * z`")
    target = body.arguments[0]
    if target.kind != "access":
        return NoMatch("it does not write an array element")
    c = statement.access(target.text, "write")
    accumulator = scop.array(c.array).element
    value = _without_cast_to(body.arguments[1], accumulator)
    if body.text == "=":
        if value.kind != "op" or value.text != "+" or len(value.arguments) != 2:
            return NoMatch("it is not an accumulation `x += y * z`")
        accumulated = [
            index
            for index, argument in enumerate(value.arguments)
            if argument.kind == "access" and statement.access(argument.text, "read").index == c.index
        ]
        if len(accumulated) != 1:
            return NoMatch(f"`{c.array}` is overwritten, not accumulated into")
        value = _without_cast_to(value.arguments[1 - accumulated[0]], accumulator)
    factors = _factors(value)
    if factors is None:
        return NoMatch("what is added is not a product of two array elements")
    a, b = (_operand(scop, statement, factor, accumulator) for factor in factors)
    if a is None or b is None:
        return NoMatch(
            "what is added is not a product of exactly two array elements (a scale factor or a conversion belongs to "
            "an operand that is computed beforehand)"
        )
    for operand in (a, b):
        if operand.array == c.array and not _apart(statement, c, operand):
            return NoMatch(f"the product is in place: `{operand.array}` is both read and written")
    strides = [_element_strides(scop, access, statement.depth) for access in (c, a, b)]
    if strides[0] is None or strides[1] is None or strides[2] is None:
        return NoMatch("a subscript divides an iterator, so the distance between elements is not constant")
    types = [scop.array(access.array).element for access in (a, b)]
    return ProductForm(statement.name, types[0], types[1], accumulator, c, a, b, strides[0], strides[1], strides[2])


def _apart(statement: Statement, written: Access, read: Access) -> bool:
    """Whether what is written and what is read of the same array are different elements, as long as no loop moves
    whose bounds depend on others: a microkernel's loops are among the rest."""
    if statement.box is not None:
        return False
    return _are_apart(written.relation, read.relation, tuple(independent_loops(statement)))


@lru_cache(maxsize=1024)
def _are_apart(written: str, read: str, loops: tuple[int, ...]) -> bool:
    first, second = isl.Map(written), isl.Map(read)
    for place in sorted(loops, reverse=True):
        first = first.project_out(isl.dim_type.in_, place, 1)
        second = second.project_out(isl.dim_type.in_, place, 1)
    return bool(first.intersect(second).is_empty())


_GROUPS = {"two": 2, "four": 4}


def _meets(requirement: Requirement, stride: int) -> bool:
    if requirement == "zero":
        return stride == 0
    if requirement == "one":
        return stride == 1
    if requirement in _GROUPS:
        return stride == _GROUPS[requirement]
    if requirement == "many":
        return stride > 1
    return stride > 0


def _role_fits(form: ProductForm, loop: int, requirements: tuple[Requirement, Requirement, Requirement]) -> bool:
    strides = (form.strides_c[loop], form.strides_a[loop], form.strides_b[loop])
    return all(_meets(requirement, stride) for requirement, stride in zip(requirements, strides, strict=True))


def _matches_of(
    kernel: Microkernel, pattern: StridePattern, form: ProductForm, loops: tuple[int, ...], extents: Mapping[int, int]
) -> list[GemmMatch]:
    candidates = [
        [loop for loop in loops if _role_fits(form, loop, requirements)]
        for requirements in (pattern.m, pattern.n, pattern.k)
    ]
    reductions = [loop for loop in loops if form.strides_c[loop] == 0]
    columns = [loop for loop in loops if form.strides_c[loop] > 0 and form.strides_a[loop] == 0 < form.strides_b[loop]]
    if not candidates[1] and pattern.m[1] in _GROUPS:
        # A product of a matrix and a vector: a loop of one iteration stands for its only column. Those without groups
        # are left to plain loops, which fill vectors with them.
        idle = [
            loop for loop in loops if extents.get(loop) == 1 and not form.strides_a[loop] and not form.strides_b[loop]
        ]
        candidates[1] = idle[-1:]
    matches = []
    for m, n, k in product(*candidates):
        if len({m, n, k}) == 3:
            batchable = tuple(loop for loop in reductions if loop not in (n, k))
            rowable = tuple(loop for loop in columns if loop != n)
            only_column = 0 if form.strides_b[n] else extents[m]
            matches.append(GemmMatch(kernel.name, form, m, n, k, batchable, rowable, only_column))
    return matches


def _stride_reason(statement: Statement, form: ProductForm, kernel: Microkernel, loops: tuple[int, ...]) -> str:
    reductions = [statement.iterators[loop] for loop in loops if form.strides_c[loop] == 0]
    if not reductions:
        return "no loop sums over the product"
    table = "; ".join(
        f"{statement.iterators[loop]}: {form.strides_c[loop]}, {form.strides_a[loop]}, {form.strides_b[loop]}"
        for loop in loops
    )
    contiguous = "m contiguous in the output and one operand, n or k contiguous in the other"
    if any("many" in pattern.m for pattern in kernel.patterns):
        contiguous = "m contiguous in the output, m or k contiguous in one operand"
    return (
        f"the strides of `{form.c.array}`, `{form.a.array}`, `{form.b.array}` along the loops ({table}) fit no "
        f"pattern of `{kernel.name}` ({contiguous})"
    )


def match(
    scop: Scop, statement: Statement, loops: tuple[int, ...], kernel: Microkernel
) -> tuple[GemmMatch, ...] | NoMatch:
    """All ways to give ``kernel`` loops of a statement as m, n and k, or the reason why there is none.

    ``loops`` are the iterators (indices) that may be chosen: those that belong to the statement's nest alone. Loops
    whose bounds depend on other loops stay outside of the call. Matches are ordered by ldc, then by ldb.
    """
    reason = kernel.unavailable()
    if reason is not None:
        return NoMatch(reason)
    form = product_form(scop, statement)
    if isinstance(form, NoMatch):
        return form
    independent = independent_loops(statement)
    rectangular = tuple(loop for loop in loops if loop in independent)
    if len(rectangular) < min(3, len(loops)):
        return NoMatch("the loops' bounds depend on each other, so a tile is not a rectangle")
    orientations = [orientation for orientation in (form, form.swapped()) if orientation.types in kernel.elements]
    if not orientations:
        operands = " by ".join(form.types[:-1])
        reason = f"`{kernel.name}` does not multiply {operands} into {form.accumulator}"
        return NoMatch(reason, other_types=True)
    if len(rectangular) < 3:
        return NoMatch("a matrix product needs three loops of its own")
    extents = {loop: high - low + 1 for loop, (low, high) in enumerate(statement.box or ())}
    matches: list[GemmMatch] = []
    taken: set[tuple[str, int, int, int]] = set()
    for pattern in kernel.patterns:
        for oriented in orientations:
            for candidate in _matches_of(kernel, pattern, oriented, rectangular, extents):
                key = (candidate.form.a.reference, candidate.m, candidate.n, candidate.k)
                if key not in taken:
                    taken.add(key)
                    matches.append(candidate)
    if not matches:
        return NoMatch(_stride_reason(statement, form, kernel, rectangular))
    return tuple(sorted(matches, key=lambda candidate: (candidate.ldc, candidate.ldb)))


_FLOATS = ("float", "double")


@dataclass(frozen=True)
class PointProduct:
    """A product that a bilinear algorithm (Winograd's, Strassen's) may compute in its transform domain.

    Loops are indices into the statement's iterators.
    """

    form: ProductForm
    #: loops that the points of the transform domain replace
    transformed: frozenset[int]
    #: of the loops that move B and C but not A, the one with the smallest stride in C
    result_loop: int
    #: of the loops that move A and B but not C, the one with the smallest stride in A
    sum_loop: int

    @property
    def columns(self) -> list[int]:
        """Loops that move A and C but not B, by decreasing stride in C."""
        c, a, b = self.form.strides_c, self.form.strides_a, self.form.strides_b
        loops = [loop for loop in range(len(c)) if c[loop] and a[loop] and not b[loop]]
        return sorted(loops, key=lambda loop: -c[loop])


def float_forms(scop: Scop, statement: Statement) -> tuple[ProductForm, ...]:
    """A product of floats or doubles in both orientations, first as written; empty if the statement isn't one.

    All its loops must start at 0 and count up, and its domain must be a box.
    """
    form = product_form(scop, statement)
    if isinstance(form, NoMatch) or statement.box is None or any(way != 1 for way in statement.directions):
        return ()
    if any(low for low, _ in statement.box) or form.types not in {(element, element) for element in _FLOATS}:
        return ()
    return form, form.swapped()
