"""A C function around loop nests as a tree, which a generator makes and a reduction takes apart.

Extents of arrays are not part of what is drawn: ``fitted`` derives them from the subscripts, so that every change of a
tree is a program that stays within its arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

FUNCTION = "nest"
BFLOAT16 = "bfloat16"
FLOATING = ("float", "double")
MATH = {"float": "f", "double": ""}
# A range, both ends included.
Range = tuple[int, int]


@dataclass(frozen=True)
class Sum:
    """An affine form of iterators: terms of (coefficient, iterator) and a constant, divided with a positive divisor."""

    #: coefficients with names of iterators
    terms: tuple[tuple[int, str], ...] = ()
    #: what is added to the terms
    constant: int = 0
    #: positive; the quotient is rounded down
    divisor: int = 1

    def text(self) -> str:
        words: list[str] = []
        for coefficient, name in self.terms:
            size = name if abs(coefficient) == 1 else f"{abs(coefficient)} * {name}"
            words += ([" - ", size] if coefficient < 0 else [" + ", size]) if words else [
                f"-{size}" if coefficient < 0 else size
            ]  # fmt: skip
        if self.constant or not words:
            sign = " - " if self.constant < 0 else " + "
            words += [sign, str(abs(self.constant))] if words else [str(self.constant)]
        inner = "".join(words)
        return inner if self.divisor == 1 else f"({inner}) / {self.divisor}"

    def range(self, ranges: Mapping[str, Range], known: Mapping[tuple[tuple[int, str], ...], Range]) -> Range:
        """The least and the greatest value, from those of the iterators and of forms that conditions bound."""
        low = sum(min(c * ranges[name][0], c * ranges[name][1]) for c, name in self.terms)
        high = sum(max(c * ranges[name][0], c * ranges[name][1]) for c, name in self.terms)
        if self.terms in known:
            low, high = max(low, known[self.terms][0]), min(high, known[self.terms][1])
        low, high = low + self.constant, max(low, high) + self.constant
        return low // self.divisor, high // self.divisor


@dataclass(frozen=True)
class Element:
    """An element of an array; without subscripts a scalar."""

    array: str
    #: the outermost dimension first
    subscripts: tuple[Sum, ...] = ()


@dataclass(frozen=True)
class Number:
    """A constant as C writes it."""

    text: str


@dataclass(frozen=True)
class Index:
    """The value of an affine form of iterators."""

    form: Sum


@dataclass(frozen=True)
class Binary:
    """``left operator right``, of any of C's arithmetic operators."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Call:
    """A call of a function, or with a type in parentheses for its name a conversion."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Select:
    """``left operator right ? positive : negative``."""

    operator: str
    left: Expression
    right: Expression
    positive: Expression
    negative: Expression


Expression = Element | Number | Index | Binary | Call | Select


@dataclass(frozen=True)
class Assign:
    """An assignment, ``=`` or a compound one such as ``+=``."""

    target: Element
    operator: str
    value: Expression


@dataclass(frozen=True)
class Declare:
    """A scalar that is declared inside of the loops."""

    element: str
    name: str
    value: Expression


@dataclass(frozen=True)
class Loop:
    """A loop over the values between two forms."""

    name: str
    #: the lowest value, inclusive
    first: Sum
    #: the highest value, inclusive
    last: Sum
    #: a negative one runs from ``last`` down
    step: int
    body: tuple[Node, ...]
    #: C type of the counter
    counter: str = "int"


@dataclass(frozen=True)
class If:
    """A condition on affine forms."""

    #: forms, each with the operator (``>=``, ``<=`` or ``==``) by which it compares with zero
    conditions: tuple[tuple[Sum, str], ...]
    #: what runs where all of them hold
    then: tuple[Node, ...]
    #: what runs where one doesn't
    otherwise: tuple[Node, ...] = ()


Node = Assign | Declare | Loop | If


@dataclass(frozen=True)
class Variable:
    """An array or a scalar of the function."""

    name: str
    #: C type of an element
    element: str
    #: elements in each dimension; none for a scalar
    extents: tuple[int, ...] = ()
    #: whether it is declared outside of the function, not as its parameter
    is_global: bool = False


@dataclass(frozen=True)
class Program:
    """A function's variables and the statements of its region."""

    #: parameters are in the order of the signature
    variables: tuple[Variable, ...]
    body: tuple[Node, ...]
    #: values that ``-D`` gives to integer parameters of the function
    defines: tuple[tuple[str, int], ...] = ()

    def element(self, name: str) -> str:
        return next(each.element for each in self.variables if each.name == name)


# ----------------------------------------------------------------------------------
# Parts


def nodes(body: tuple[Node, ...]) -> Iterator[Node]:
    """All nodes, each before what is inside of it."""
    for node in body:
        yield node
        yield from nodes(inner_of(node))


def inner_of(node: Node) -> tuple[Node, ...]:
    """The nodes of a loop's body or of both branches of a condition; none for other nodes."""
    match node:
        case Loop():
            return node.body
        case If():
            return (*node.then, *node.otherwise)
    return ()


def parts_of(node: Node) -> Iterator[Expression]:
    """The expressions of a node itself, with those inside of each, targets included."""
    if isinstance(node, Assign):
        yield from _expressions(node.target)
        yield from _expressions(node.value)
    elif isinstance(node, Declare):
        yield from _expressions(node.value)


def _expressions(value: Expression) -> Iterator[Expression]:
    yield value
    match value:
        case Binary():
            inner: tuple[Expression, ...] = (value.left, value.right)
        case Call():
            inner = value.arguments
        case Select():
            inner = (value.left, value.right, value.positive, value.negative)
        case _:
            inner = ()
    for each in inner:
        yield from _expressions(each)


def rebuilt(value: Expression, arguments: tuple[Expression, ...]) -> Expression:
    """The expression with others for its operands, in the order of its fields."""
    match value:
        case Binary():
            return Binary(value.operator, *arguments)
        case Call():
            return Call(value.function, arguments)
        case Select():
            return Select(value.operator, *arguments)
    return value


def operands(value: Expression) -> tuple[Expression, ...]:
    """The expressions right inside of an expression, in the order of its fields, as ``rebuilt`` takes them."""
    match value:
        case Binary():
            return (value.left, value.right)
        case Call():
            return value.arguments
        case Select():
            return (value.left, value.right, value.positive, value.negative)
    return ()


def with_loops(body: tuple[Node, ...], change: Callable[[Loop], Loop]) -> tuple[Node, ...]:
    """The body with every loop changed, the innermost first."""
    return tuple(_with_loops(node, change) for node in body)


def _with_loops(node: Node, change: Callable[[Loop], Loop]) -> Node:
    match node:
        case Loop():
            return change(replace(node, body=with_loops(node.body, change)))
        case If():
            return replace(node, then=with_loops(node.then, change), otherwise=with_loops(node.otherwise, change))
    return node


# ----------------------------------------------------------------------------------
# Extents


def fitted(program: Program) -> Program:
    """The program with the smallest extents that hold all accesses, and subscripts moved to begin at zero or above.

    Arrays that nothing accesses go.
    """
    ranges: dict[str, list[Range]] = {}
    for array, forms in _reached(program.body, {name: (v, v) for name, v in program.defines}, {}):
        before = ranges.get(array)
        ranges[array] = [
            low_high if before is None else (min(before[d][0], low_high[0]), max(before[d][1], low_high[1]))
            for d, low_high in enumerate(forms)
        ]
    moves = {name: tuple(min(0, low) for low, _ in reached) for name, reached in ranges.items()}
    variables = tuple(
        replace(each, extents=tuple(high - move + 1 for (_, high), move in zip(reached, moves[each.name], strict=True)))
        for each in program.variables
        if (reached := ranges.get(each.name)) is not None
    )
    return replace(program, variables=variables, body=tuple(_moved(node, moves) for node in program.body))


def flattened(program: Program, array: str) -> Program:
    """The program with one dimension in the place of all of an array's, if its subscripts have no divisions."""
    extents = next(each.extents for each in program.variables if each.name == array)
    strides = [prod(extents[place + 1 :]) for place in range(len(extents))]
    elements = [part for node in nodes(program.body) for part in parts_of(node) if isinstance(part, Element)]
    if any(form.divisor != 1 for each in elements if each.array == array for form in each.subscripts):
        return program

    def flat(element: Element) -> Element:
        if element.array != array:
            return element
        factors: dict[str, int] = {}
        for stride, form in zip(strides, element.subscripts, strict=True):
            for coefficient, name in form.terms:
                factors[name] = factors.get(name, 0) + stride * coefficient
        constant = sum(stride * form.constant for stride, form in zip(strides, element.subscripts, strict=True))
        return Element(array, (Sum(tuple((factor, name) for name, factor in factors.items() if factor), constant),))

    return fitted(replace(program, body=tuple(with_elements(node, flat) for node in program.body)))


def _reached(
    body: tuple[Node, ...], ranges: Mapping[str, Range], known: Mapping[tuple[tuple[int, str], ...], Range]
) -> Iterator[tuple[str, list[Range]]]:
    for node in body:
        for part in parts_of(node):
            if isinstance(part, Element):
                yield part.array, [form.range(ranges, known) for form in part.subscripts]
        match node:
            case Loop():
                low, high = node.first.range(ranges, known)[0], node.last.range(ranges, known)[1]
                yield from _reached(node.body, {**ranges, node.name: (low, max(low, high))}, known)
            case If():
                yield from _reached(node.then, ranges, _narrowed(node, known))
                yield from _reached(node.otherwise, ranges, known)


def _narrowed(
    node: If, known: Mapping[tuple[tuple[int, str], ...], Range]
) -> Mapping[tuple[tuple[int, str], ...], Range]:
    bounds = dict(known)
    for form, operator in node.conditions:
        if form.divisor == 1 and form.terms:
            low, high = bounds.get(form.terms, (-(1 << 30), 1 << 30))
            low = max(low, -form.constant) if operator in (">=", "==") else low
            high = min(high, -form.constant) if operator in ("<=", "==") else high
            bounds[form.terms] = (low, high)
    return bounds


def _moved(node: Node, moves: Mapping[str, tuple[int, ...]]) -> Node:
    def moved(element: Element) -> Element:
        forms = zip(element.subscripts, moves.get(element.array, (0,) * len(element.subscripts)), strict=True)
        return replace(
            element,
            subscripts=tuple(replace(form, constant=form.constant - move * form.divisor) for form, move in forms),
        )

    return with_elements(node, moved)


def with_elements(node: Node, change: Callable[[Element], Element]) -> Node:
    """A node with the elements of all arrays changed, those inside of it as well."""
    match node:
        case Assign():
            return replace(node, target=change(node.target), value=_in_value(node.value, change))
        case Declare():
            return replace(node, value=_in_value(node.value, change))
        case Loop():
            return replace(node, body=tuple(with_elements(each, change) for each in node.body))
        case If():
            bodies = (node.then, node.otherwise)
            then, otherwise = (tuple(with_elements(each, change) for each in body) for body in bodies)
            return replace(node, then=then, otherwise=otherwise)


def _in_value(value: Expression, change: Callable[[Element], Element]) -> Expression:
    if isinstance(value, Element):
        return change(value)
    return rebuilt(value, tuple(_in_value(each, change) for each in operands(value)))
