"""Statements that accumulate: sums, products and extrema whose terms may be taken in any order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement

Operation = Literal["+", "*", "max", "min"]
_FLOATING = ("float", "double", "long double")
# What C's arithmetic takes for an ``int``.
_PROMOTED = ("char", "signed char", "unsigned char", "short", "unsigned short", "int")
_ACCUMULATING: dict[str, Operation] = {"+=": "+", "-=": "+", "*=": "*"}
_OPERATORS: dict[str, Operation] = {"+": "+", "*": "*"}
_EXTREMA: dict[str, Operation] = {"fmaxf": "max", "fmax": "max", "fminf": "min", "fmin": "min"}
# What a comparison chooses its left side for.
_GREATER: dict[str, Operation] = {">": "max", ">=": "max", "<": "min", "<=": "min"}
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
# Bytes; each thread gets a copy of these arrays on its stack.
_COMBINED_BYTES = 1 << 17


class Reduction(NamedTuple):
    """What a statement accumulates with which operation: its only write."""

    operation: Operation
    target: Access
    #: the references to the element that it accumulates into
    references: frozenset[str]
    #: the function that does it, if one does: those of floats round, and treat what is no number in ways of their own
    function: str | None


def reduction(scop: Scop, statement: Statement) -> Reduction | None:
    """How a statement accumulates with an associative, commutative operation; None if it does not.

    Recognised are ``x += e``, ``x -= e``, ``x *= e``, ``x = x + e`` (``x * e``, ``fmaxf(x, e)`` ...) and ``if (e > x) x
    = e`` (``x = e > x ? e : x``, ``<`` ...), where ``e`` doesn't read the array of ``x`` and has no fraction that an
    integer ``x`` would lose. Comparisons of floating-point numbers must choose ``x`` where ``e`` is not a number: what
    ``x = x > e ? x : e`` makes of that depends on the order.
    """
    found = accumulation(scop, statement)
    if found is None:
        return None
    others = (access for access in statement.accesses if access.reference not in found.references)
    return None if any(access.array == found.target.array for access in others) else found


def accumulation(scop: Scop, statement: Statement) -> Reduction | None:
    """What ``reduction`` returns, but ``e`` may read other elements of the array of ``x``."""
    body = statement.body
    if body.kind != "op" or len(body.arguments) != 2 or body.arguments[0].kind != "access":
        return None
    target, value = body.arguments
    if len(statement.writes) != 1 or statement.writes[0].reference != target.text:
        return None
    [write] = statement.writes
    own = {each.reference for each in statement.reads if (each.array, each.index) == (write.array, write.index)}
    if not own or _truncates(scop, statement, write.array):
        return None
    operation = _ACCUMULATING.get(body.text) if len(own) == 1 else None
    if operation is None and body.text == "=":
        operation = _selection(scop, statement, value, own) if value.text == "?:" else _operation(value, own)
    # A _Bool is 0 or 1 after each step.
    if operation is None or scop.array(write.array).element == "_Bool":
        return None
    function = value.text if body.text == "=" and value.kind == "call" else None
    return Reduction(operation, write, frozenset((write.reference, *own)), function)


def _operation(value: Expression, accumulator: set[str]) -> Operation | None:
    """Of ``x + e`` and its like, where ``accumulator`` has the references to ``x``: one, as one of two operands."""
    known = {"op": _OPERATORS, "call": _EXTREMA}.get(value.kind, {})
    accumulated = [each for each in value.arguments if each.kind == "access" and each.text in accumulator]
    return known.get(value.text) if len(value.arguments) == 2 and len(accumulated) == len(accumulator) == 1 else None


def _selection(scop: Scop, statement: Statement, value: Expression, accumulator: set[str]) -> Operation | None:
    """Of ``e > x ? e : x`` and its like, where ``accumulator`` has the references to ``x``."""
    condition, positive, negative = value.arguments
    if condition.kind != "op" or condition.text not in _GREATER or len(accumulator) != 2:
        return None
    comparison, (left, right) = condition.text, condition.arguments
    if left.kind == "access" and left.text in accumulator:
        comparison, left, right = _TURNED[comparison], right, left
    chosen = [each.kind == "access" and each.text in accumulator for each in (right, positive, negative)]
    [write] = statement.writes
    exact = scop.array(write.array).element not in _FLOATING
    # What is converted to a narrower integer is not the greatest one of these for having been that before.
    if exact and _element(scop, statement, left) != scop.array(write.array).element:
        return None
    operation = _GREATER[comparison]
    if chosen == [True, False, True] and _alike(statement, left, positive):
        return operation
    if chosen == [True, True, False] and _alike(statement, left, negative) and exact:
        return "min" if operation == "max" else "max"
    return None


def _element(scop: Scop, statement: Statement, value: Expression) -> str | None:
    """The type of an integer expression's value; None where that isn't known.

    Arithmetic on integers no wider than an ``int`` is an ``int``'s.
    """
    kinds = {access.reference: scop.array(access.array).element for access in statement.reads}
    if value.kind == "access":
        return kinds[value.text]
    leaves = [node for node in value.walk() if not node.arguments]
    if value.kind != "op" or any(node.kind not in ("op", "access", "literal") for node in value.walk()):
        return None
    narrow = all(node.text.isdigit() if node.kind == "literal" else kinds[node.text] in _PROMOTED for node in leaves)
    return "int" if narrow else None


def _alike(statement: Statement, one: Expression, other: Expression) -> bool:
    """Whether two expressions have the same value: the same operations on the same elements."""
    if one.kind == other.kind == "access":
        places = {access.reference: (access.array, access.subscripts, access.index) for access in statement.reads}
        first, second = places[one.text], places[other.text]
        return first[1] is not None and first == second
    if (one.kind, one.text, len(one.arguments)) != (other.kind, other.text, len(other.arguments)):
        return False
    return all(_alike(statement, first, second) for first, second in zip(one.arguments, other.arguments, strict=True))


def _truncates(scop: Scop, statement: Statement, array: str) -> bool:
    """Whether an integer accumulates terms that may have a fraction: each addition then rounds, so order matters."""
    if scop.array(array).element in _FLOATING:
        return False
    return any(scop.array(access.array).element in _FLOATING for access in statement.reads) or any(
        node.kind == "call"
        or (node.kind == "cast" and node.text in _FLOATING)
        or (node.kind == "literal" and not node.text.rstrip("uUlL").isdigit())
        for node in statement.body.walk()
    )


def reduction_array(scop: Scop, statement: Statement) -> str | None:
    """The array that a statement accumulates into; None if it does not."""
    found = reduction(scop, statement)
    return None if found is None else found.target.array


def addition(scop: Scop, statement: Statement) -> Access | None:
    """The write of a reduction by ``+`` or ``-``; None for other statements."""
    found = reduction(scop, statement)
    return found.target if found is not None and found.operation == "+" else None


def moves(target: Access, iterator: int) -> bool:
    """Whether the loop's iterator is in a subscript of ``target``; False where subscripts aren't affine."""
    return target.subscripts is not None and any(form.coefficients[iterator] for form in target.subscripts)


def summed_up(scop: Scop, statements: Sequence[Statement], loop: Mapping[str, int]) -> frozenset[str]:
    """The arrays to whose same elements all iterations of a loop add, by whatever operator.

    ``loop`` is the loop's index among the iterators of each statement.
    """
    return frozenset(each.writes[0].array for each in _summing(scop, statements, loop))


def _summing(scop: Scop, statements: Sequence[Statement], loop: Mapping[str, int]) -> Iterator[Statement]:
    for statement in statements:
        if reduction(scop, statement) is not None and not moves(statement.writes[0], loop[statement.name]):
            yield statement


def combinable(scop: Scop, statements: Sequence[Statement], loop: Mapping[str, int]) -> tuple[str, ...]:
    """The arrays that a parallel loop may sum into one copy per thread, to be added up at the end.

    They are those of ``summed_up``. Empty where another access in the loop touches one of the arrays, where the arrays
    exceed ``_COMBINED_BYTES`` together, where one is a view, and where a statement reduces by another operator.
    """
    arrays: list[str] = []
    for statement in _summing(scop, statements, loop):
        target = addition(scop, statement)
        if target is None:
            return ()
        arrays.append(target.array)
    unique = tuple(dict.fromkeys(arrays))
    touched = [access.array for s in statements for access in s.accesses if access.array in unique]
    size = sum(scop.array(name).bytes for name in unique)
    # Each addition reads and writes its element once.
    plain = len(touched) == 2 * len(arrays) and all(not scop.array(name).view_of for name in unique)
    return unique if plain and size <= _COMBINED_BYTES else ()
