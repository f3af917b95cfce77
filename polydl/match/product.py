"""Find a matrix product in a statement, from its access relations and strides alone.

The statement must be ``x += y * z`` (or ``x = x + y * z``) over one array written and two others read. For
each loop the distance in memory between neighbouring iterations is known for all three operands; which loops
can be m, n and k follows from those strides, whatever the loops are called and however they are nested.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.bfloat16 import TO_FLOAT
from polydl.contracts import Microkernel, Requirement, StridePattern
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.poly.domains import independent_loops


@dataclass(frozen=True)
class ProductForm:
    """``c += a * b`` with the element strides of each operand along every iterator of the statement.

    ``element`` is the type of a's elements, ``element_b`` that of b's.
    """

    statement: str
    element: str
    element_b: str
    accumulator: str
    c: Access
    a: Access
    b: Access
    strides_c: tuple[int, ...]
    strides_a: tuple[int, ...]
    strides_b: tuple[int, ...]

    def swapped(self) -> ProductForm:
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
        """As microkernels list what they take: the operands' type once if it is the same."""
        return (*dict.fromkeys((self.element, self.element_b)), self.accumulator)


@dataclass(frozen=True)
class GemmMatch:
    """Loops (indices of the statement's iterators) in the roles of one microkernel's pattern.

    Any of ``batchable`` may be summed over in the same call, any of ``rowable`` give it further rows of columns.
    """

    kernel: str
    pattern: str
    form: ProductForm
    m: int
    n: int
    k: int
    batchable: tuple[int, ...]
    rowable: tuple[int, ...] = ()

    @property
    def lda(self) -> int:
        return self.form.strides_a[self.k]

    @property
    def ldc(self) -> int:
        return self.form.strides_c[self.n]

    @property
    def stride_bn(self) -> int:
        return self.form.strides_b[self.n]

    @property
    def stride_bk(self) -> int:
        return self.form.strides_b[self.k]

    @property
    def ldb(self) -> int:
        """B's leading dimension: the larger of its two strides."""
        return max(self.stride_bn, self.stride_bk)


@dataclass(frozen=True)
class NoMatch:
    """Why there is no match, in words for the user."""

    reason: str


_NARROW = ("signed char", "char", "unsigned char", "short", "unsigned short")
_CANONICAL = {"int32_t": "int", "int64_t": "long", "int8_t": "signed char", "uint8_t": "unsigned char"}


def _factors(expression: Expression) -> tuple[Expression, Expression] | None:
    if expression.kind == "op" and expression.text == "*" and len(expression.arguments) == 2:
        return expression.arguments[0], expression.arguments[1]
    return None


def _without_cast_to(expression: Expression, *types: str) -> Expression:
    """The expression inside casts that change nothing because the value has, or is to have, that very type."""
    while expression.kind == "cast" and _CANONICAL.get(expression.text, expression.text) in types:
        expression = expression.arguments[0]
    return expression


def _operand(scop: Scop, statement: Statement, factor: Expression, accumulator: str) -> Access | None:
    """The array element that a factor is, seen through casts and conversions that keep its value."""
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
    """The statement as ``c += a * b`` with strides, or the reason why it isn't one."""
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
        own = [
            index
            for index, argument in enumerate(value.arguments)
            if argument.kind == "access" and statement.access(argument.text, "read").index == c.index
        ]
        if len(own) != 1:
            return NoMatch(f"`{c.array}` is overwritten, not accumulated into")
        value = _without_cast_to(value.arguments[1 - own[0]], accumulator)
    factors = _factors(value)
    if factors is None:
        return NoMatch("what is added is not a product of two array elements")
    a, b = (_operand(scop, statement, factor, accumulator) for factor in factors)
    if a is None or b is None:
        return NoMatch(
            "what is added is not a product of exactly two array elements (a scale factor or a conversion has no "
            "place in it)"
        )
    for operand in (a, b):
        if operand.array == c.array:
            return NoMatch(f"the product is in place: `{operand.array}` is both read and written")
    strides = [_element_strides(scop, access, statement.depth) for access in (c, a, b)]
    if strides[0] is None or strides[1] is None or strides[2] is None:
        return NoMatch("a subscript divides an iterator, so the distance between elements is not constant")
    types = [scop.array(access.array).element for access in (a, b)]
    return ProductForm(statement.name, types[0], types[1], accumulator, c, a, b, strides[0], strides[1], strides[2])


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
    kernel: Microkernel, pattern: StridePattern, form: ProductForm, loops: tuple[int, ...]
) -> list[GemmMatch]:
    candidates = [
        [loop for loop in loops if _role_fits(form, loop, requirements)]
        for requirements in (pattern.m, pattern.n, pattern.k)
    ]
    reductions = [loop for loop in loops if form.strides_c[loop] == 0]
    columns = [loop for loop in loops if form.strides_c[loop] > 0 and form.strides_a[loop] == 0 < form.strides_b[loop]]
    found = []
    for m, n, k in product(*candidates):
        if len({m, n, k}) == 3:
            batchable = tuple(loop for loop in reductions if loop != k)
            rowable = tuple(loop for loop in columns if loop != n)
            found.append(GemmMatch(kernel.name, pattern.name, form, m, n, k, batchable, rowable))
    return found


def _stride_reason(statement: Statement, form: ProductForm, kernel: Microkernel, loops: tuple[int, ...]) -> str:
    reductions = [statement.iterators[loop] for loop in loops if form.strides_c[loop] == 0]
    if not reductions:
        return "no loop sums over the product"
    table = "; ".join(
        f"{statement.iterators[loop]}: {form.strides_c[loop]}, {form.strides_a[loop]}, {form.strides_b[loop]}"
        for loop in loops
    )
    return (
        f"the strides of `{form.c.array}`, `{form.a.array}`, `{form.b.array}` along the loops ({table}) fit no "
        f"pattern of `{kernel.name}` (m contiguous in the output and one operand, n or k contiguous in the other)"
    )


def match(
    scop: Scop, statement: Statement, loops: tuple[int, ...], kernel: Microkernel
) -> tuple[GemmMatch, ...] | NoMatch:
    """All role assignments of ``kernel`` for a statement, among its own ``loops`` (iterator indices).

    Loops whose bounds depend on others stay outside of the call.
    Assignments are ordered by how tightly the output tile is packed (small ldc first), then by pattern.
    """
    reason = kernel.unavailable()
    if reason is not None:
        return NoMatch(reason)
    form = product_form(scop, statement)
    if isinstance(form, NoMatch):
        return form
    independent = independent_loops(statement)
    own = tuple(loop for loop in loops if loop in independent)
    if len(own) < min(3, len(loops)):
        return NoMatch("the loops' bounds depend on each other, so a tile is not a rectangle")
    orientations = [each for each in (form, form.swapped()) if each.types in kernel.elements]
    if not orientations:
        operands = " by ".join(form.types[:-1])
        return NoMatch(f"`{kernel.name}` does not multiply {operands} into {form.accumulator}")
    if len(own) < 3:
        return NoMatch("a matrix product needs three loops of its own")
    found: list[GemmMatch] = []
    taken: set[tuple[str, int, int, int]] = set()
    for pattern in kernel.patterns:
        for oriented in orientations:
            for candidate in _matches_of(kernel, pattern, oriented, own):
                key = (candidate.form.a.reference, candidate.m, candidate.n, candidate.k)
                if key not in taken:
                    taken.add(key)
                    found.append(candidate)
    if not found:
        return NoMatch(_stride_reason(statement, form, kernel, own))
    return tuple(sorted(found, key=lambda candidate: (candidate.ldc, candidate.ldb)))


_FLOATS = ("float", "double")


@dataclass(frozen=True)
class PointProduct:
    """A product ``form``, of whose loops points take the place of some, those that are ``gone``.

    Of the loops of A's sums, ``summed`` is the one closest together in A, and ``made`` that of the result which is
    closest together there and moves B as well.
    """

    form: ProductForm
    gone: frozenset[int]
    made: int
    summed: int

    @property
    def columns(self) -> list[int]:
        """Loops that move A and the result and not B, the innermost in the result last."""
        c, a, b = self.form.strides_c, self.form.strides_a, self.form.strides_b
        found = [loop for loop in range(len(c)) if c[loop] and a[loop] and not b[loop]]
        return sorted(found, key=lambda loop: -c[loop])


def float_forms(scop: Scop, statement: Statement) -> tuple[ProductForm, ...]:
    """The statement as a product of floats, its loops from zero on and forwards, either way round; none if it isn't."""
    form = product_form(scop, statement)
    if isinstance(form, NoMatch) or statement.box is None or any(way != 1 for way in statement.directions):
        return ()
    if any(low for low, _ in statement.box) or form.types not in {(each, each) for each in _FLOATS}:
        return ()
    return form, form.swapped()
