"""Arrays that a nest may write past the caches: each element once, in whole lines, and not read again."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from polydl.poly.nests import Nest
from polydl.types import Array, Scop, Statement


def streamable(scop: Scop, nests: Sequence[Nest], nest: Nest) -> tuple[Array, ...]:
    """Of the arrays that a nest writes, those of which it needs nothing and nobody needs anything from the caches.

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
    busy = {_memory(scop, access.array) for statement in others for access in statement.accesses}
    written = dict.fromkeys(access.array for statement in statements for access in statement.writes)
    return tuple(
        scop.array(name)
        for name in written
        if _memory(scop, name) not in busy
        and scop.array(name).storage != "local"
        and _written_first(scop, statements, name)
    )


def _memory(scop: Scop, array: str) -> str:
    """The array whose memory this one shows, or the array itself."""
    return scop.array(array).view_of or array


def _written_first(scop: Scop, statements: Sequence[Statement], array: str) -> bool:
    memory = _memory(scop, array)
    accesses = [(s, access) for s in statements for access in s.accesses if _memory(scop, access.array) == memory]
    first, target = accesses[0]
    if target.subscripts is None:
        return False
    same = all((access.array, access.subscripts) == (array, target.subscripts) for _, access in accesses)
    fresh = all(access.kind == "write" for statement, access in accesses if statement is first)
    return same and fresh and bool(isl.Map(target.relation).is_injective())


def stride(scop: Scop, statement: Statement, array: str, iterator: int) -> int:
    """How many elements one iteration of a loop moves on in an array that all accesses touch at the same place."""
    target = next(access for access in statement.accesses if access.array == array)
    assert target.subscripts is not None
    steps = scop.array(array).strides
    return sum(step * form.coefficients[iterator] for step, form in zip(steps, target.subscripts, strict=True))
