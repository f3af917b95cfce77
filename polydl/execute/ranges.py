"""The values that a nest's integers may have without its result being undefined."""

from __future__ import annotations

from polydl.execute.arrays import element_dtype, is_floating
from polydl.ir.scop import Scop

# Operators of integers that are not defined for all of them.
_PARTIAL = frozenset({"/", "%", "<<", ">>"})


def needs_small_integers(scop: Scop) -> bool:
    """Whether an integer may be divided by another or shifted, or a number become an integer that can't hold it."""
    for statement in scop.statements:
        if any(node.kind == "op" and node.text.removesuffix("=") in _PARTIAL for node in statement.body.walk()):
            return True
        real = [_is_real(scop, access.array) for access in statement.reads]
        if any(real) and not all(_is_real(scop, access.array) for access in statement.writes):
            return True
    return False


def _is_real(scop: Scop, array: str) -> bool:
    return is_floating(element_dtype(scop.array(array).element))
