"""Elements that stay in a variable while one iteration of a loop touches them, and are written once at its end.

Several rows of a matrix that are added to one vector touch each of its elements several times. What C knows of pointers
forbids compilers to keep such an element in a register; what the analysis knows of the arrays allows it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from polydl.codegen.expressions import subscripted
from polydl.codegen.sums import Sum
from polydl.ir.scop import Scop
from polydl.ir.statement import Expression, Statement


@dataclass(frozen=True)
class Held:
    """``place`` stands for ``element`` of an array inside the loop, and begins with its value if that is ``read``.

    ``values`` are those of the iterators of ``statement``, one of those that touch the element.
    """

    array: str
    place: str
    element: str
    read: bool
    statement: Statement
    values: tuple[str, ...]


def held_elements(
    scop: Scop, body: Sequence[tuple[str, list[str]]], partial: Mapping[str, tuple[str, Sum]], streamed: Collection[str]
) -> tuple[Held, ...]:
    """What a body of these statements, in their order, may hold: what all of its accesses to an array have in common.

    Sums in ``partial`` are in variables of their own. An element that is touched once is held only to be ``streamed``.
    """
    texts: dict[str, set[str]] = {}
    touched: dict[str, list[tuple[Statement, list[str]]]] = {}
    written: set[str] = set()
    summed = {each.target.array for _, each in partial.values()}
    for name, values in body:
        statement = scop.statement(name)
        for access in statement.accesses:
            if access.array in summed or not scop.array(access.array).extents:
                continue
            texts.setdefault(access.array, set()).add(subscripted(scop, access, values))
            users = touched.setdefault(access.array, [])
            if (statement, values) not in users:
                users.append((statement, values))
            if access.kind == "write":
                written.add(access.array)
    found = []
    for number, (array, users) in enumerate(touched.items()):
        if array not in written or len(texts[array]) > 1 or (len(users) == 1 and array not in streamed):
            continue
        first, values = users[0]
        read = any(access.array == array for access in first.reads)
        found.append(Held(array, f"polydl_held{number}", min(texts[array]), read, first, tuple(values)))
    return tuple(found)


def in_place(statement: Statement, places: Mapping[str, str], references: Mapping[str, str]) -> Statement:
    """The statement with the text in ``places`` where it accesses these arrays, and that of these ``references``."""
    names = {access.reference: places[access.array] for access in statement.accesses if access.array in places}
    names |= {name: text for name, text in references.items() if name not in names}
    if not names:
        return statement

    def moved(node: Expression) -> Expression:
        if node.kind == "access" and node.text in names:
            return Expression("literal", names[node.text])
        return replace(node, arguments=tuple(moved(argument) for argument in node.arguments))

    return replace(statement, body=moved(statement.body))
