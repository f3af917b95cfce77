"""The values that a nest's data must have for its result to be defined, and to say something."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from polydl.element_types import element_dtype, is_floating
from polydl.errors import UnsupportedConstructError
from polydl.execute.arrays import SHORT_BYTES, Integers
from polydl.ir.scop import Scop
from polydl.ir.statement import Expression, Statement

# Operators of integers that are not defined for all of them.
_SHIFTS = frozenset({"<<", ">>"})
_PARTIAL = _SHIFTS | {"/", "%"}
_ROOTS = frozenset({"sqrt", "sqrtf", "sqrtl"})
_LEAST = frozenset({"fminf", "fmin"})
_GREATEST = frozenset({"fmaxf", "fmax"})
_ROUNDED = frozenset(
    {"rintf", "rint", "nearbyintf", "nearbyint", "roundf", "round", "floorf", "floor", "ceilf", "ceil"}
)
_REAL = frozenset({"float", "double", "long double"})
_EVERYTHING = (-math.inf, math.inf)

Interval = tuple[float, float]
Known = tuple[tuple[Expression, Interval], ...]


def drawn_integers(scop: Scop) -> Integers:
    """What integers a nest's data may have, so that its result is defined.

    They are small where one may be divided by another or shifted, or where a number may become an integer that can't
    hold it. Bytes and shorts are drawn whole where all such numbers are clamped to what holds them: with small ones, no
    sum would be as long as those of quantized layers are.
    """
    rounding = False
    for statement in scop.statements:
        if any(node.kind == "op" and node.text.removesuffix("=") in _PARTIAL for node in statement.body.walk()):
            return "small"
        if not any(_is_real(scop, access.array) for access in statement.reads):
            continue
        for written in statement.writes:
            if not _is_real(scop, written.array):
                rounding = True
                if not _is_held(scop, statement, written.array):
                    return "small"
    return "bytes" if rounding else "whole"


def _is_held(scop: Scop, statement: Statement, array: str) -> bool:
    """Whether what a statement assigns to an array of integers has been clamped to what these hold."""
    body = statement.body
    if body.text != "=" or len(body.arguments) != 2:
        return False
    value = body.arguments[1]
    inside = _converts_what_fits(scop, statement, value, ())
    return inside and _fits(_interval(statement, value), scop.array(array).element)


def _converts_what_fits(scop: Scop, statement: Statement, node: Expression, known: Known) -> bool:
    """Whether all casts of real numbers to integers in an expression are of numbers that these hold."""
    converts = node.kind == "cast" and node.text not in _REAL and _reads_real(scop, statement, node)
    if converts and not _fits(_interval(statement, node.arguments[0], known), node.text):
        return False
    within = [known] * len(node.arguments)
    if node.text == "?:":
        for side, holds in ((1, True), (2, False)):
            within[side] = (*known, *_told(statement, node.arguments[0], known, holds=holds))
    return all(
        _converts_what_fits(scop, statement, part, there) for part, there in zip(node.arguments, within, strict=True)
    )


def _fits(interval: Interval, element: str) -> bool:
    """Whether bytes or shorts of a type hold all numbers of an interval; longer integers are not asked for."""
    try:
        dtype = element_dtype(element)
    except UnsupportedConstructError:
        return False
    if dtype.kind not in "iu" or dtype.itemsize > SHORT_BYTES:
        return False
    limits = np.iinfo(dtype)
    return bool(limits.min <= interval[0] and interval[1] <= limits.max)


def _reads_real(scop: Scop, statement: Statement, node: Expression) -> bool:
    return any(_is_real(scop, statement.access(each.text).array) for each in node.walk() if each.kind == "access")


def _interval(statement: Statement, node: Expression, known: Known = ()) -> Interval:
    """Between which numbers an expression lies, whatever its operands are, as far as its form says so.

    ``known`` are expressions and the interval in which the conditions around say that each of them lies.
    """
    low, high = _by_form(statement, node, known)
    for expression, (least, most) in known:
        if _alike(statement, expression, node):
            low, high = max(low, least), min(high, most)
    return low, high


def _by_form(statement: Statement, node: Expression, known: Known) -> Interval:
    arguments = node.arguments
    match node.kind, node.text, len(arguments):
        case "literal", text, _:
            number = _number(text)
            return (number, number) if number is not None else _EVERYTHING
        case "cast", element, _:
            inner = _interval(statement, arguments[0], known)
            return inner if element in _REAL or _fits(inner, element) else _EVERYTHING
        case "op", "-", 1 if arguments[0].kind == "literal":
            low, high = _interval(statement, arguments[0], known)
            return -high, -low
        case "op", "?:", 3:
            condition, *values = arguments
            sides = [
                _interval(statement, value, (*known, *_told(statement, condition, known, holds=holds)))
                for value, holds in zip(values, (True, False), strict=True)
            ]
            return min(low for low, _ in sides), max(high for _, high in sides)
        case "call", name, _ if name in _ROUNDED:
            low, high = _interval(statement, arguments[0], known)
            return _whole(math.floor, low), _whole(math.ceil, high)
        case "call", name, _ if name in _LEAST or name in _GREATEST:
            lows, highs = zip(*(_interval(statement, each, known) for each in arguments), strict=True)
            return (min(lows), min(highs)) if name in _LEAST else (max(lows), max(highs))
    return _EVERYTHING


def _told(statement: Statement, condition: Expression, known: Known, *, holds: bool) -> Known:
    """What a comparison says of its two sides where it holds, or where it doesn't."""
    if condition.kind != "op" or condition.text not in ("<", "<=", ">", ">="):
        return ()
    left, right = map(_uncast, condition.arguments)
    smaller, greater = (left, right) if condition.text.startswith("<") == holds else (right, left)
    _, most = _interval(statement, greater, known)
    least, _ = _interval(statement, smaller, known)
    return (smaller, (-math.inf, most)), (greater, (least, math.inf))


def _uncast(node: Expression) -> Expression:
    """What is cast to another type of real numbers."""
    while node.kind == "cast" and node.text in _REAL:
        node = node.arguments[0]
    return node


def _alike(statement: Statement, one: Expression, other: Expression) -> bool:
    """Whether two expressions are the same, with the same elements."""
    if (one.kind, len(one.arguments)) != (other.kind, len(other.arguments)):
        return False
    if one.kind == "access":
        places = [(access.array, access.index) for access in map(statement.access, (one.text, other.text))]
        return places[0] == places[1]
    return one.text == other.text and all(
        _alike(statement, *pair) for pair in zip(one.arguments, other.arguments, strict=True)
    )


def _number(literal: str) -> float | None:
    with suppress(ValueError):
        # An unsigned one makes others unsigned.
        return float(literal.rstrip("fFlL"))
    return None


def _whole(rounded: Callable[[float], int], number: float) -> float:
    return number if math.isinf(number) else float(rounded(number))


def shifted_by(scop: Scop) -> frozenset[str]:
    """Arrays that have the counts of bits by which the nest shifts: C defines no shift by a negative number.

    With them come all that counts are computed from, directly or not.
    """
    counts = {
        access.array
        for statement in scop.statements
        for node in statement.body.walk()
        if node.kind == "op" and node.text.removesuffix("=") in _SHIFTS
        for access in (statement.access(part.text) for part in node.arguments[1].walk() if part.kind == "access")
    }
    left = counts
    while left:
        computing = [each for each in scop.statements if any(access.array in left for access in each.writes)]
        left = {access.array for statement in computing for access in statement.reads} - counts
        counts |= left
    return frozenset(counts)


def divided_by_diagonals(scop: Scop) -> frozenset[str]:
    """Square matrices of real numbers by elements of whose diagonal the nest divides, or takes the root of them.

    Factorizations do, and the solution of triangular systems. Rounding errors then grow with the condition of the
    matrix, and that of a random one is bad. An element may have been copied to a local scalar or array beforehand.
    """
    divisors = [(statement, reference) for statement in scop.statements for reference in _divisors(statement.body)]
    between = {statement.access(reference).array for statement, reference in divisors}
    divisors += [
        (statement, statement.body.arguments[1].text)
        for statement in scop.statements
        if statement.body.text == "=" and statement.body.arguments[1].kind == "access"
        if any(scop.array(each.array).storage == "local" and each.array in between for each in statement.writes)
    ]
    return frozenset(
        access.array
        for statement, reference in divisors
        for access in (statement.access(reference),)
        if access.subscripts is not None
        and len(access.subscripts) == 2
        and access.subscripts[0] == access.subscripts[1]
        and len(set(scop.array(access.array).extents)) == 1
        and _is_real(scop, access.array)
    )


def _divisors(body: Expression) -> list[str]:
    """The reference ids of what is divided by, or under a root."""
    parts = [
        *(node.arguments[1] for node in body.walk() if node.kind == "op" and node.text in ("/", "/=")),
        *(node for node in body.walk() if node.kind == "call" and node.text in _ROOTS),
    ]
    return [node.text for part in parts for node in part.walk() if node.kind == "access"]


def _is_real(scop: Scop, array: str) -> bool:
    return is_floating(element_dtype(scop.array(array).element))
