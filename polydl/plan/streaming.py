"""Arrays that a nest may write past the caches: each element once, in whole lines, and not read again."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Statement
from polydl.poly.nests import Nest


def streamable(scop: Scop, nests: Sequence[Nest], nest: Nest) -> tuple[Array, ...]:
    """The arrays among those that a nest writes of which nobody, itself included, needs anything from the caches.

    All of its statements that touch such an array do so at the same element, in all of their loops another one, and the
    first of them writes it without having read it. No nest that runs later, or in the same loops, touches it. No loop
    runs backwards.
    """
    statements = [scop.statement(name) for name in nest.statements]
    if nest.call is not None or any(direction != 1 for s in statements for direction in s.directions):
        return ()
    others = [
        scop.statement(name)
        for other in nests
        if other.index > nest.index or (other.index < nest.index and other.depth and nest.depth)
        for name in other.statements
    ]
    busy = {scop.array(access.array).memory for statement in others for access in statement.accesses}
    written = dict.fromkeys(access.array for statement in statements for access in statement.writes)
    return tuple(
        scop.array(name)
        for name in written
        if scop.array(name).memory not in busy
        and scop.array(name).storage != "local"
        and _written_first(scop, statements, name)
    )


def _written_first(scop: Scop, statements: Sequence[Statement], array: str) -> bool:
    memory = scop.array(array).memory
    accesses = [(s, access) for s in statements for access in s.accesses if scop.array(access.array).memory == memory]
    first, target = accesses[0]
    if target.subscripts is None:
        return False
    same = all((access.array, access.subscripts) == (array, target.subscripts) for _, access in accesses)
    fresh = all(access.kind == "write" for statement, access in accesses if statement is first)
    return same and fresh and bool(isl.Map(target.relation).is_injective())


def stride(scop: Scop, statement: Statement, array: str, iterator: int) -> int:
    """How many elements one iteration of a loop moves on in an array that all accesses touch at the same place."""
    return scop.stride(next(access for access in statement.accesses if access.array == array), iterator)
