"""Operands of products that are more than an array element, evaluated into an array before the product.

``C[i][j] += alpha * A[i][k] * B[k][j]`` is no product of two array elements, and no microkernel takes it. With
``A_scaled[i][k] = alpha * A[i][k]`` it is one. So are products with signs (``x -= a * b``), differences
(``(a - zero) * b``), functions, and conversions from a narrower type, since the value of an operand depends on the
loops that move it alone. Each value is computed once where the source computes it in every iteration of the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, box_extents, iterator_form
from polydl.ir.construct import assignment, fresh_name, make_access, make_statement
from polydl.ir.families import OPERANDS
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Expression, Statement
from polydl.ir.variant import ArrayName, RewriteStep, StatementName
from polydl.match.factors import Operand, operands, with_added_value
from polydl.match.product import NoMatch, product_form
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.accesses import subscripts_by_loop, visits_once
from polydl.variants.rewrites.copies import complete_from, inserted
from polydl.variants.rewrites.operands_of_tiles import materialized_in_tiles, shared_tiles

# A product in another order, or of operands that are rounded to the accumulator's type first, has at most three
# roundings of like size (an operand, the product, the sum) where the source has the last.
_ERROR_FACTOR = 3**0.5
# An operand that the source computes in just that way is preferred, unless it has more elements by this factor.
_MUCH_LARGER = 4


@dataclass(frozen=True)
class Materialize(RewriteStep):
    """Evaluate an operand of a product, with its factors, signs and conversions, into an array of its own.

    ``statement`` reads that. The operand is the one that ``array`` is read for; it takes over all factors that no other
    loops move.
    """

    json_name: ClassVar[str] = "materialize"

    statement: StatementName
    array: ArrayName


@dataclass(frozen=True)
class MaterializeRewrite:
    """The rewrite ``materialize``, after which microkernels take products that had factors, signs or conversions."""

    step: type[Materialize] = Materialize
    families: frozenset[str] = frozenset({OPERANDS})
    phase: Phase = Phase.NORMALIZATION

    def rounding(self, scop: Scop, step: Materialize) -> Rounding:
        """Every bit stays where the source multiplies that very value, in the accumulator's type, by the rest."""
        if _operand(scop, step).exact:
            return EXACT
        return Rounding("nothing", _ERROR_FACTOR, ("factors of products in another order or type",))

    def apply(self, scop: Scop, step: Materialize, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return materialize(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Operands of products in three loops or more that no microkernel takes: exact ones first, or much smaller."""
        if request.matches or request.statement.depth < 3 or request.statement.box is None:
            return
        for steps in _choices(request.scop, request.statement):
            yield Proposal(steps)

    def describe(self, scop: Scop, step: Materialize) -> str:
        line = next((each.line for each in scop.statements if each.name == step.statement), None)
        where = step.statement if line is None else f"line {line}"
        return f"operand {step.array} of {where} computed beforehand, with its factors"


MATERIALIZE = MaterializeRewrite()


def materialize(scop: Scop, step: Materialize) -> Scop:
    """The scop with the operand's values in an array of their own, once all that they are computed from is complete.

    Raises IllegalVariantError if the statement is no product, if the operand's loops come to an element twice, or if
    something that the operand is computed from is written later.
    """
    statement = scop.statement(step.statement)
    operand = _operand(scop, step)
    group = shared_tiles(scop, statement)
    if group is not None:
        return materialized_in_tiles(scop, statement, operand, group)
    box = statement.box
    if box is None:
        raise IllegalVariantError(f"the loops of {statement.name} are not rectangular")
    if scop.has_call(statement.name):
        raise IllegalVariantError(f"the loops of {statement.name} stand for a marked call")
    if not visits_once(scop, statement, operand.access):
        raise IllegalVariantError(f"the loops of {statement.name} come to elements of `{step.array}` more than once")
    read = {node.text for node in operand.value.walk() if node.kind == "access"}
    sources = [access for access in statement.reads if access.reference in read]
    place = max(complete_from(scop, statement, scop.array(access.array)) for access in sources)
    loops = _dimensions(scop, operand.access)
    accumulator = scop.array(statement.writes[0].array)
    evaluated = Array(
        fresh_name(scop, f"{step.array}_operand"),
        accumulator.element,
        accumulator.element_bytes,
        tuple(box_extents(box)[loop] for loop in loops),
        "local",
    )
    reading = _reading(statement, operand, evaluated, loops)
    statements = [reading if each.name == statement.name else each for each in scop.statements]
    first = _evaluating(statement, operand, sources, evaluated, loops, place)
    return replace(scop, statements=inserted(first, statements), arrays=(*scop.arrays, evaluated))


def _operand(scop: Scop, step: Materialize) -> Operand:
    """The first operand of a step's statement that is read from its array. Raises IllegalVariantError."""
    statement = scop.statement(step.statement)
    for operand in operands(scop, statement):
        if operand.access.array == step.array:
            return operand
    raise IllegalVariantError(f"{statement.name} multiplies nothing by a value that `{step.array}` is read for")


def _dimensions(scop: Scop, access: Access) -> list[int]:
    """The loops that move an access, that with the longest stride first, as the array has its dimensions."""
    return sorted(access.moving_loops, key=lambda loop: -scop.stride(access, loop))


def _reading(statement: Statement, operand: Operand, evaluated: Array, loops: Sequence[int]) -> Statement:
    """The statement with the operand's values read from their array."""
    assert statement.box is not None
    reference = operand.access.reference
    value = Expression("op", "*", (Expression("access", reference), operand.other))
    body = with_added_value(statement, value)
    used = {node.text for node in body.walk() if node.kind == "access"}
    subscripts = subscripts_by_loop(statement, loops)
    moved = make_access(
        statement.name, statement.iterators, statement.box, reference, evaluated.name, "read", subscripts
    )
    kept = [access for access in statement.accesses if access.reference in used and access.reference != reference]
    return replace(statement, body=body, accesses=(*kept, moved))


def _evaluating(
    reader: Statement, operand: Operand, sources: Sequence[Access], evaluated: Array, loops: Sequence[int], place: int
) -> Statement:
    """The statement that computes the operand's values for ``reader``, in nests' place ``place``."""
    assert reader.box is not None
    name = f"evaluate_{evaluated.name}"
    iterators = tuple(f"{evaluated.name}_{number}" for number in range(len(loops)))
    box = tuple(reader.box[loop] for loop in loops)
    to = tuple(iterator_form(number, len(loops), -low) for number, (low, _) in enumerate(box))
    accesses = [make_access(name, iterators, box, f"{name}_to", evaluated.name, "write", to)]
    names = {}
    for number, access in enumerate(sources):
        assert access.subscripts is not None
        forms = tuple(
            Affine(tuple(form.coefficients[loop] for loop in loops), form.constant) for form in access.subscripts
        )
        names[access.reference] = f"{name}_from_{number}"
        accesses.append(make_access(name, iterators, box, names[access.reference], access.array, "read", forms))

    body = assignment(f"{name}_to", operand.value.with_references(names))
    betas = (place, *(0,) * len(loops))
    text = f"{evaluated.name}[...] = the operand of {reader.text}"
    return make_statement(
        name, iterators, box, tuple(accesses), body, origin="operand", betas=betas, line=reader.line, text=text
    )


def _choices(scop: Scop, statement: Statement) -> list[tuple[Materialize, ...]]:
    """Steps that make a statement a product of array elements of the accumulator's type."""
    if statement.box is None or _is_product(scop, statement):
        return []
    accumulator = scop.array(statement.writes[0].array).element
    ways = []
    for operand in operands(scop, statement):
        if operand.value.kind == "access" and scop.array(operand.access.array).element == accumulator:
            continue
        steps = _steps(scop, statement, operand)
        if steps:
            elements = prod(box_extents(statement.box)[loop] for loop in operand.access.moving_loops)
            ways.append((elements, not operand.exact, steps))
    least = min((elements for elements, _, _ in ways), default=0)
    return [steps for _, _, steps in sorted(ways, key=lambda way: (way[0] > _MUCH_LARGER * least, way[1], way[0]))]


def _steps(scop: Scop, statement: Statement, operand: Operand) -> tuple[Materialize, ...]:
    """One operand evaluated, and then the other one where it is no array element either; none if that is no help."""
    first = Materialize(statement.name, operand.access.array)
    try:
        after = materialize(scop, first)
        reading = after.statement(statement.name)
        if _is_product(after, reading):
            return (first,)
        arrays = (each.access.array for each in operands(after, reading))
        other = next((array for array in arrays if array != after.arrays[-1].name), "")
        second = Materialize(statement.name, other)
        after = materialize(after, second)
    except IllegalVariantError:
        return ()
    return (first, second) if _is_product(after, after.statement(statement.name)) else ()


def _is_product(scop: Scop, statement: Statement) -> bool:
    """Whether it multiplies elements of two arrays that have the accumulator's type."""
    form = product_form(scop, statement)
    return not isinstance(form, NoMatch) and form.types == (form.accumulator, form.accumulator)
