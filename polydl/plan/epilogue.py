"""Element-wise statements that a microkernel applies to each block of its output as soon as that is complete.

A statement that a variant attaches to the tiles of a product needs no loops of its own if the microkernel hands over
each block after its last store: the block is in the first cache then, or still in registers. What makes that legal is
that each instance depends on those alone that write the same element (``fusion/algorithm_3.py``); here it is asked
whether that can be seen from the subscripts. What is made of the block may go to another array. A block whose elements
nobody reads but its epilogue need not be stored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import islpy as isl

from polydl.bfloat16 import CONVERSIONS
from polydl.contracts import GemmSite
from polydl.ir.affine import Affine
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.match.alignment import loops_alike, over_loops_of
from polydl.match.product import GemmMatch
from polydl.plan.nest_plan import NestPlan, Plan, offsets
from polydl.poly.texts import map_of
from polydl.vector_functions import called, includes_math, is_instruction, leaves, scalar_only

# Types that need no declaration of the user's.
_TYPES = frozenset({"char", "short", "int", "long", "float", "double", "signed", "unsigned"})


@dataclass(frozen=True)
class EpilogueOperand:
    """An array reference that an epilogue reads or writes, over the iterators of the product."""

    access: Access
    #: The type of its elements.
    element: str
    #: Bytes of each of them.
    element_bytes: int
    #: Whether it is the output of the product.
    output: bool
    #: Whether it is written.
    written: bool
    #: Elements by which it moves on from one row of the output to the next.
    along_m: int
    #: Elements by which it moves on from one column of a row of columns to the next.
    along_n: int
    #: Where each row of columns begins, in elements from the first.
    rows: tuple[int, ...]

    @property
    def key(self) -> tuple[str, tuple[Affine, ...] | None]:
        """Equal for references to the same element."""
        return self.access.array, self.access.subscripts


@dataclass(frozen=True)
class EpilogueStatement:
    """An element-wise statement, with each of its references over the iterators of the product."""

    statement: Statement
    #: By the id of the reference.
    references: Mapping[str, Access]


@dataclass(frozen=True)
class Epilogue:
    """What runs after the last store of a block, in place of loops of its own."""

    #: The nests that need no loops then, by index.
    nests: tuple[int, ...]
    #: Their statements, in the order in which they run.
    statements: tuple[EpilogueStatement, ...]
    #: What they read and write, in the order of first use.
    operands: tuple[EpilogueOperand, ...]
    #: Whether all operands lie in all rows of columns as in one.
    linear: bool
    #: Whether functions of the C library are called.
    calls: bool
    #: Whether one of them is called indeed, for no instruction does what it does: values leave their registers then.
    leaves_registers: bool


def narrowest(operands: Iterable[EpilogueOperand]) -> int:
    """Bytes of the narrowest elements that are written."""
    return min(operand.element_bytes for operand in operands if operand.written)


def epilogue_of(
    scop: Scop, plan: Plan, heavy: NestPlan, match: GemmMatch, site: GemmSite, *, exact: bool = False
) -> Epilogue | None:
    """The element-wise nests after the product of ``heavy`` that its microkernel can apply; None if there are none.

    With ``exact`` the functions that they call must be those of the source.
    """
    product = scop.statement(heavy.nest.statements[0])
    if heavy.position is None or heavy.nest.depth or any(loop.combined for loop in heavy.loops):
        return None
    nests: list[int] = []
    statements: list[EpilogueStatement] = []
    followers = [nest for nest in plan.nests if nest.follows == heavy.nest.index]
    for nest in sorted(followers, key=_position):
        if _position(nest) < heavy.position:
            continue
        aligned = [_applied(scop, product, scop.statement(name), match, exact) for name in nest.nest.statements]
        if None in aligned or _meet(scop, product, (*statements, *aligned)):
            break
        nests.append(nest.nest.index)
        statements += [statement for statement in aligned if statement is not None]
    operands: dict[tuple[str, tuple[Affine, ...] | None], EpilogueOperand] = {}
    written = {access.array for applied in statements for access in applied.statement.writes}
    written.discard(match.form.c.array)
    if _is_read_elsewhere(scop, match.form.c, (product, *(applied.statement for applied in statements))):
        written.add(match.form.c.array)
    # What nobody reads at all is written all the same.
    written = written or {match.form.c.array}
    for applied in statements:
        for node in applied.statement.body.walk():
            if node.kind == "access":
                operand = _operand(scop, product, heavy, match, applied.references[node.text], written)
                operands.setdefault(operand.key, operand)
    linear = all(
        operand.rows == tuple(site.n[0] * operand.along_n * row for row in range(site.rows))
        for operand in operands.values()
    )
    if not nests or not (linear or site.n[0] == site.n[1]):
        return None
    names = leaves(scop, called(applied.statement for applied in statements))
    away = not all(is_instruction(scop, name) for name in names)
    calls = bool(names - CONVERSIONS)
    return Epilogue(tuple(nests), tuple(statements), tuple(operands.values()), linear, calls, away)


def _meet(scop: Scop, product: Statement, applied: Sequence[EpilogueStatement | None]) -> bool:
    """Whether blocks of a call may meet in an array that the statements write, other than the product's output.

    They do where the product or a statement reads it, since blocks that come later would find it written, where two
    statements write it at different places for one element of the output, and where one writes an element twice.
    """
    known = [each for each in applied if each is not None]
    output = scop.array(product.writes[0].array).memory
    read = {
        scop.array(access.array).memory for user in (product, *(e.statement for e in known)) for access in user.reads
    }
    places: dict[str, tuple[str, tuple[Affine, ...] | None]] = {}
    for each in known:
        (written,) = each.statement.writes
        memory = scop.array(written.array).memory
        place = written.array, each.references[written.reference].subscripts
        if memory == output:
            continue
        if memory in read or places.setdefault(memory, place) != place or not _writes_once(written.relation):
            return True
    return False


@lru_cache(maxsize=4096)
def _writes_once(relation: str) -> bool:
    """Whether no two iterations write one element."""
    return bool(map_of(relation).is_injective())


def _is_read_elsewhere(scop: Scop, output: Access, users: Sequence[Statement]) -> bool:
    """Whether the product's output leaves the function, or anything but ``users`` reads it."""
    array = scop.array(output.array)
    names = {user.name for user in users}
    others = [statement for statement in scop.statements if statement.name not in names]
    read = any(scop.array(access.array).memory == array.memory for other in others for access in other.reads)
    return array.storage != "local" or bool(array.view_of) or read


def _position(nest: NestPlan) -> int:
    *_, position = nest.nest.prefix
    assert isinstance(position, int)
    return position


def _applied(
    scop: Scop, product: Statement, statement: Statement, match: GemmMatch, exact: bool
) -> EpilogueStatement | None:
    """The statement over the product's iterators; None if it needs more than an element of the output and what
    nobody writes."""
    names = called([statement])
    if scalar_only(scop, names, exact=exact) or (leaves(scop, names) - CONVERSIONS and not includes_math(scop)):
        return None
    if any(function.name in names and not function.declaration for function in scop.functions):
        return None
    nodes = tuple(statement.body.walk())
    if any(node.kind == "cast" and not {*node.text.split()} <= _TYPES for node in nodes):
        return None
    if any(node.kind == "affine" and _names_iterators(node.text) for node in nodes):
        return None
    references = _aligned(product, statement)
    if references is None or not _only_one_element(scop, statement, references, match.form.c):
        return None
    return EpilogueStatement(statement, references)


def _names_iterators(text: str) -> bool:
    """Whether an isl pw_aff depends on the iterators, whose values are not at hand."""
    form = isl.PwAff(text)
    return bool(form.involves_dims(isl.dim_type.in_, 0, form.dim(isl.dim_type.in_)))


def _aligned(product: Statement, statement: Statement) -> Mapping[str, Access] | None:
    """Each reference over the iterators of the product, if both run through the same elements."""
    pairs = loops_alike(product, statement)
    if pairs is None or statement.box is None:
        return None
    references = {}
    for access in statement.accesses:
        if access.subscripts is None:
            return None
        references[access.reference] = replace(access, subscripts=over_loops_of(product, statement, pairs, access))
    return references


def _only_one_element(scop: Scop, statement: Statement, references: Mapping[str, Access], output: Access) -> bool:
    """Whether the statement touches no element of the output's memory but the one that its instance is at."""
    memory = scop.array(output.array).memory
    return all(
        scop.array(access.array).memory != memory
        or (access.array == output.array and references[access.reference].subscripts == output.subscripts)
        for access in statement.accesses
    )


def _operand(
    scop: Scop, product: Statement, heavy: NestPlan, match: GemmMatch, access: Access, written: Collection[str]
) -> EpilogueOperand:
    strides = [scop.stride(access, place) for place in range(product.depth)]
    step = heavy.microkernel
    assert step is not None
    array = scop.array(access.array)
    return EpilogueOperand(
        access,
        array.element,
        array.element_bytes,
        access.array == match.form.c.array,
        access.array in written,
        strides[match.m],
        strides[match.n],
        offsets(heavy, strides, step.rows),
    )


def last_values(scop: Scop, plan: NestPlan, moves_output: Mapping[int, bool]) -> Iterator[tuple[int, int]]:
    """Place, and value in the last iteration, of each loop around a nest's calls that doesn't move the output."""
    box = scop.statement(plan.nest.statements[0]).box
    assert box is not None
    for place, loop in enumerate((*plan.shared, *plan.loops)):
        if not moves_output[loop.iterator]:
            yield place, loop.last(*box[loop.iterator])
