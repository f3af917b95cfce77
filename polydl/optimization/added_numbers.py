"""Sums with known numbers, which clang takes apart where it may reorder sums.

``(x - 0.1f) * 0.3f`` becomes ``x * 0.3f - 0.03f``, and ``b * v + (1 - b) * w`` becomes ``w + b * (v - w)``. Neither has
a useful error bound: of an ``x`` near 0.1, or a ``b`` near 1 with a ``v`` far below ``w``, few digits may be left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from polydl.ir.scop import Scop
from polydl.ir.statement import Expression, Statement

_ADDITIONS = frozenset({"+", "-", "+=", "-="})
_DIVISIONS = frozenset({"/", "/="})
# Compilers make selections of these, and may multiply what they select among.
_SELECTIONS = frozenset({"fabs", "fabsf", "fmax", "fmaxf", "fmin", "fminf"})


def may_add_numbers(scop: Scop) -> bool:
    """Whether a number that the compiler knows may be added to something, and the sum multiplied.

    True as well where that can't be seen: in functions of the source's own, in loops that are not in the region, and of
    scalars that are computed before it. A sum that is a divisor, or goes to a function, is taken as it is, and so are
    integers.
    """
    written = {access.array for statement in scop.statements for access in statement.writes}
    before = (each for each in scop.arrays if each.storage == "function" and not each.extents)
    if scop.functions or scop.left_out or any(each.name not in written for each in before):
        return True
    known = _known_arrays(scop, written)
    return any(
        _is_known(statement, operand, known)
        for statement in scop.statements
        if scop.rounds_in(statement)
        for addition in _additions(statement.body)
        for operand in addition.arguments
    )


def _known_arrays(scop: Scop, written: Collection[str]) -> frozenset[str]:
    """Arrays and scalars of which the compiler may know an element."""
    initialized = (
        each.name
        for each in scop.arrays
        if each.storage == "constant" or (each.storage == "global" and not each.extents and each.name not in written)
    )
    known = frozenset(initialized)
    while True:
        more = frozenset(
            access.array
            for statement in scop.statements
            if statement.body.text == "=" and _is_known(statement, statement.body.arguments[1], known)
            for access in statement.writes
        )
        if more <= known:
            return known
        known |= more


def _is_known(statement: Statement, node: Expression, known: Collection[str]) -> bool:
    """Whether a compiler may know the value, and it isn't 0. Of iterators it does where it unrolls a loop."""
    if node.kind == "literal":
        return node.text.lower().startswith("0x") or any(digit in node.text for digit in "123456789")
    if node.kind == "access":
        return statement.access(node.text).array in known
    return node.kind == "affine" or (
        bool(node.arguments) and all(_is_known(statement, each, known) for each in node.arguments)
    )


def _additions(node: Expression, *, multiplied: bool = True) -> Iterator[Expression]:
    """The sums below a node that may be multiplied, as it may itself where it is ``multiplied``."""
    if multiplied and node.kind == "op" and node.text in _ADDITIONS and len(node.arguments) > 1:
        yield node
    for place, argument in enumerate(node.arguments):
        if node.kind == "cast":
            passed = multiplied
        elif node.kind == "call":
            passed = node.text in _SELECTIONS
        else:
            passed = not (node.kind == "op" and node.text in _DIVISIONS and place == 1)
        yield from _additions(argument, multiplied=passed)
