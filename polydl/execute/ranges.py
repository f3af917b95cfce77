"""The values that a nest's data must have for its result to be defined, and to say something."""

from __future__ import annotations

from polydl.execute.arrays import element_dtype, is_floating
from polydl.ir.scop import Scop
from polydl.ir.statement import Expression

# Operators of integers that are not defined for all of them.
_PARTIAL = frozenset({"/", "%", "<<", ">>"})
_ROOTS = frozenset({"sqrt", "sqrtf", "sqrtl"})


def needs_small_integers(scop: Scop) -> bool:
    """Whether an integer may be divided by another or shifted, or a number become an integer that can't hold it."""
    for statement in scop.statements:
        if any(node.kind == "op" and node.text.removesuffix("=") in _PARTIAL for node in statement.body.walk()):
            return True
        real = [_is_real(scop, access.array) for access in statement.reads]
        if any(real) and not all(_is_real(scop, access.array) for access in statement.writes):
            return True
    return False


def divided_by_diagonals(scop: Scop) -> frozenset[str]:
    """Square matrices of real numbers by elements of whose diagonal the nest divides, or takes the root of them.

    Factorizations do, and the solution of triangular systems. Rounding errors then grow with the condition of the
    matrix, and that of a random one is bad.
    """
    return frozenset(
        access.array
        for statement in scop.statements
        for reference in _divisors(statement.body)
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
