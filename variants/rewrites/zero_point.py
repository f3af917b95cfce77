"""Zero points of quantized operands, taken out of products of bytes.

Quantized numbers stand for ``scale * (a - zero)``, so that layers add up ``(a[i][k] - zero) * b[k][j]``: no product of
two bytes, which microkernels take. The sum is that of ``a[i][k] * b[k][j]``, less ``zero`` times the sum of ``b[k][j]``
over ``k``, of which there is one for each ``j`` (Jacob et al., *Quantization and Training of Neural Networks for
Efficient Integer-Arithmetic-Only Inference*, CVPR 2018, §2.3). The sums are corrected at the end. Where each begins
with a value, such as a bias, it begins with zero, and gets that at the end, too, so that nothing but the product is
between the zeros and what is done with the results. Sums of integers are exact in any order, also where one is no
``int`` on the way: generated code is compiled so that integers wrap around.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from random import Random
from typing import ClassVar

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, Box, box_extents, iterator_form
from polydl.ir.construct import (
    assignment,
    fresh_name,
    fresh_statement_name,
    has_loops_alone,
    make_access,
    make_statement,
    zero_of,
)
from polydl.ir.families import OPERANDS
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import BYTES, Array, Scop
from polydl.ir.statement import Access, AccessKind, Expression, Origin, Statement
from polydl.ir.variant import ArrayName, RewriteStep, StatementName
from polydl.match.alignment import loops_alike, over_loops_of
from polydl.match.factors import accesses_in, added_value, with_added_value
from polydl.match.zero import sets_to_zero
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.copies import complete_from, inserted, later_writer, require_written_before

_INTEGERS = (*BYTES, "short", "unsigned short", "int")


@dataclass(frozen=True)
class ZeroPoint(RewriteStep):
    """Multiply an operand of bytes without the zero point that is subtracted from it, and correct the sums for that.

    ``array`` is what the operand is read from.
    """

    json_name: ClassVar[str] = "zero_point"

    statement: StatementName
    array: ArrayName


@dataclass(frozen=True)
class ZeroPointRewrite:
    """The rewrite ``zero_point``, after which microkernels take products of quantized bytes. It is exact."""

    step: type[ZeroPoint] = ZeroPoint
    families: frozenset[str] = frozenset({OPERANDS})
    phase: Phase = Phase.NORMALIZATION

    def rounding(self, scop: Scop, step: ZeroPoint) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: ZeroPoint, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return without_zero_point(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """For products in three loops or more that no microkernel takes: the zero points of all operands."""
        scop, name = request.scop, request.statement.name
        if request.matches or request.statement.depth < 3:
            return
        steps: list[ZeroPoint] = []
        for side in _sides(scop, request.statement):
            if side.zero is not None:
                steps.append(ZeroPoint(name, side.access.array))
                scop = without_zero_point(scop, steps[-1])
        if steps:
            yield Proposal(tuple(steps))

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[ZeroPoint]]:
        """Any array that is read."""
        if statement.reads:
            yield (ZeroPoint(statement.name, draw.choice(statement.reads).array),)

    def describe(self, scop: Scop, step: ZeroPoint) -> str:
        return f"the zero point of {step.array} taken out of the products of bytes"


ZERO_POINT = ZeroPointRewrite()


@dataclass(frozen=True, eq=False)
class _Side:
    """A factor ``access`` or ``access - zero`` of what a statement adds up."""

    #: the factor
    value: Expression
    #: the element of an array of bytes in it
    access: Access
    #: what is subtracted from it, if anything is
    zero: Expression | None


def without_zero_point(scop: Scop, step: ZeroPoint) -> Scop:
    """The scop with a product of bytes in place of that of a difference, and with the sums corrected.

    Before the product two statements add up the other operand. The correction is that times the zero point, and what
    the sums began with, where a statement set them to that. Behind the product it comes to the sums; where it is the
    same along rows, or columns, of results, a third statement computes it for each of these beforehand. Raises
    IllegalVariantError if the statement adds up no such products, if something else is in its loops, if a loop that it
    adds up over does not move the other operand, or moves the zero point, if no other loop moves that operand, and if
    an array that is read is written later.
    """
    statement = scop.statement(step.statement)
    sides = _sides(scop, statement)
    chosen = next((side for side in sides if side.access.array == step.array and side.zero is not None), None)
    if chosen is None or chosen.zero is None:
        raise IllegalVariantError(f"{statement.name} adds up no products of a byte of `{step.array}` less a zero point")
    other = sides[1] if chosen is sides[0] else sides[0]
    outer, inner = _loops(scop, statement, chosen, other)
    sources = accesses_in(statement, other.value)
    zeros = accesses_in(statement, chosen.zero)
    place = max(complete_from(scop, statement, scop.array(access.array)) for access in sources)
    for access in zeros:
        require_written_before(scop, statement, scop.array(access.array))
    assert statement.box is not None
    kept = [loop for loop in outer if any(loop in access.moving_loops for access in sources)]
    extents = box_extents(statement.box)
    sums = Array(
        fresh_name(scop, f"{other.access.array}_sums"), "int", 4, tuple(extents[loop] for loop in kept), "local"
    )
    zeroing = _zeroing(_Nest(statement, fresh_statement_name(scop, f"zero_{sums.name}"), kept), sums)
    adding = _adding(_Nest(statement, fresh_statement_name(scop, f"add_{sums.name}"), (*kept, *inner)), sums, other)
    changed = {statement.name: _multiplying(statement, chosen, other)}
    first = _first_values(scop, statement)
    began = None if first is None else _value_of(first, statement)
    if first is not None and began is not None:
        zero = assignment(first.body.arguments[0].text, zero_of(scop.array(first.writes[0].array)))
        text = f"{first.writes[0].array}[...] = 0"
        changed[first.name] = replace(first, body=zero, accesses=first.writes, origin="zero", text=text)
    correction = _correction(statement, sums, kept, chosen.zero, began)
    last = _Nest(statement, fresh_statement_name(scop, f"correct_{sums.name}"), outer)
    moved = {loop for access in correction.reads for loop in access.moving_loops}
    nests, arrays = [zeroing, adding], [sums]
    if moved < set(outer):
        loops = [loop for loop in outer if loop in moved]
        shape = tuple(extents[loop] for loop in loops)
        arrays.append(Array(fresh_name(scop, f"{other.access.array}_corrections"), "int", 4, shape, "local"))
        computing = _Nest(statement, fresh_statement_name(scop, f"compute_{arrays[-1].name}"), loops)
        nests.append(_computing(computing, arrays[-1], correction))
        correction = _Value(
            Expression("access", "correction"), (_element(statement, "correction", arrays[-1], loops),), correction.sign
        )
    correcting = _correcting(last, correction)
    statements = [changed.get(each.name, each) for each in scop.statements]
    places = [place, place + 1, statement.betas[0] + 2][: len(nests)]
    # The product comes after these nests then, and its sums are corrected next.
    for nest, at in zip((*nests, correcting), (*places, statement.betas[0] + len(nests) + 1), strict=True):
        statements = [*inserted(replace(nest, betas=(at, *nest.betas[1:])), statements)]
    return replace(scop, statements=tuple(statements), arrays=(*scop.arrays, *arrays))


def _loops(scop: Scop, statement: Statement, chosen: _Side, other: _Side) -> tuple[list[int], list[int]]:
    """The loops that move the sums of a statement, and those that it adds up over. Raises IllegalVariantError."""
    if statement.box is None or scop.has_call(statement.name) or not has_loops_alone(scop, statement):
        raise IllegalVariantError(f"the loops of {statement.name} are not rectangular, not its own or a marked call's")
    assert chosen.zero is not None
    outputs = statement.writes[0].moving_loops
    outer = [loop for loop in range(statement.depth) if loop in outputs]
    inner = [loop for loop in range(statement.depth) if loop not in outputs]
    moved = other.access.moving_loops
    if not moved & outputs:
        raise IllegalVariantError(f"what {statement.name} multiplies by has one sum for all results")
    if not moved.issuperset(inner):
        raise IllegalVariantError(f"what {statement.name} multiplies by is the same for several terms")
    if any(access.moving_loops.intersection(inner) for access in accesses_in(statement, chosen.zero)):
        raise IllegalVariantError(f"the zero point of `{chosen.access.array}` is not the same for all terms")
    return outer, inner


def _sides(scop: Scop, statement: Statement) -> tuple[_Side, ...]:
    """The two factors of what a statement adds to an ``int``; none if they are no bytes less what is no wider."""
    added = added_value(statement)
    plain = all(access.subscripts is not None for access in statement.accesses)
    if added is None or added[1] or not plain or scop.array(statement.writes[0].array).element != "int":
        return ()
    value = _without_casts(added[0])
    if value.kind != "op" or value.text != "*" or len(value.arguments) != 2:
        return ()
    sides = tuple(side for side in (_side(scop, statement, each) for each in value.arguments) if side is not None)
    written = scop.array(statement.writes[0].array).memory
    reads = [access for access in statement.reads if scop.array(access.array).memory == written]
    return sides if len(sides) == 2 and len(reads) == 1 else ()


def _side(scop: Scop, statement: Statement, factor: Expression) -> _Side | None:
    value, zero = _without_casts(factor), None
    if value.kind == "op" and value.text == "-" and len(value.arguments) == 2:
        zero = value.arguments[1]
        value = _without_casts(value.arguments[0])
    if value.kind != "access" or (zero is not None and not _is_int(scop, statement, zero)):
        return None
    access = statement.access(value.text, "read")
    return _Side(factor, access, zero) if scop.array(access.array).element in BYTES else None


def _without_casts(value: Expression) -> Expression:
    """What conversions to ``int`` are of, none of which changes it."""
    while value.kind == "cast" and value.text == "int":
        value = value.arguments[0]
    return value


def _is_int(scop: Scop, statement: Statement, value: Expression) -> bool:
    """Whether a literal or an array element is an ``int`` or narrower."""
    value = _without_casts(value)
    if value.kind == "access":
        return scop.array(statement.access(value.text, "read").array).element in _INTEGERS
    return value.kind == "literal" and value.text.isdigit()


def _multiplying(statement: Statement, chosen: _Side, other: _Side) -> Statement:
    """The statement without the zero point."""
    added = added_value(statement)
    assert added is not None
    assert chosen.zero is not None
    byte = Expression("cast", "int", (Expression("access", chosen.access.reference),))
    first = _without_casts(added[0]).arguments[0] is chosen.value
    factors = (byte, other.value) if first else (other.value, byte)
    dropped = {access.reference for access in accesses_in(statement, chosen.zero)}
    return replace(
        statement,
        body=with_added_value(statement, Expression("op", "*", factors)),
        accesses=tuple(access for access in statement.accesses if access.reference not in dropped),
    )


@dataclass(frozen=True)
class _Nest:
    """A nest of its own over some of the loops of ``reader``, which keep their names."""

    #: the statement whose loops they are
    reader: Statement
    #: of the nest's own statement
    name: str
    #: by their places in ``reader``
    loops: Sequence[int]

    @property
    def iterators(self) -> tuple[str, ...]:
        return tuple(self.reader.iterators[loop] for loop in self.loops)

    @property
    def box(self) -> Box:
        assert self.reader.box is not None
        return tuple(self.reader.box[loop] for loop in self.loops)

    def moved(self, access: Access) -> Access:
        """What the reader accesses, which its other loops don't move."""
        forms = tuple(
            Affine(tuple(form.coefficients[loop] for loop in self.loops), form.constant)
            for form in access.subscripts or ()
        )
        reference = self.named(access)
        return make_access(self.name, self.iterators, self.box, reference, access.array, access.kind, forms)

    def named(self, access: Access) -> str:
        """The reference id that ``moved`` gives."""
        return f"{self.name}_{access.reference}"

    def value(self, expression: Expression, accesses: Sequence[Access]) -> Expression:
        """The expression over these accesses of the reader's as ``moved`` names them."""
        return expression.with_references({access.reference: self.named(access) for access in accesses})

    def sum_of(self, sums: Array, kept: Sequence[int], kind: AccessKind) -> Access:
        """The element of ``sums``, which has a dimension for each of the loops ``kept``."""
        places = [self.loops.index(loop) for loop in kept]
        forms = tuple(iterator_form(place, len(self.loops), -self.box[place][0]) for place in places)
        return make_access(self.name, self.iterators, self.box, f"{self.name}_sum", sums.name, kind, forms)

    def statement(self, accesses: Sequence[Access], body: Expression, origin: Origin, text: str) -> Statement:
        return make_statement(
            self.name, self.iterators, self.box, tuple(accesses), body, origin=origin, line=self.reader.line, text=text
        )


def _first_values(scop: Scop, product: Statement) -> Statement | None:
    """The statement that sets each sum once, to what nothing writes later, and is the last to touch it before.

    None where a marked call does that, which can't be told to set it to something else, and where a statement that
    shares loops with it may read the sums in between.
    """
    memory = scop.array(product.writes[0].array).memory
    users = [
        each
        for each in scop.statements
        if each.betas < product.betas and any(scop.array(access.array).memory == memory for access in each.accesses)
    ]
    if not users:
        return None
    last = max(users, key=attrgetter("betas"))
    written = isl.Map(last.writes[0].relation)
    all_sums = isl.Map(product.writes[0].relation).range()
    sets = last.body.kind == "op" and last.body.text == "=" and last.writes[0].array == product.writes[0].array
    own = [access for access in last.accesses if scop.array(access.array).memory == memory]
    kept = not any(later_writer(scop, last, scop.array(access.array)) for access in last.reads)
    if not has_loops_alone(scop, last) or scop.has_call(last.name):
        return None
    if not sets or len(own) > 1 or not kept or sets_to_zero(last):
        return None
    return last if written.is_injective() and written.range().is_equal(all_sums) else None


@dataclass(frozen=True, eq=False)
class _Value:
    """What is added to a sum, or subtracted from it, over the loops of the product."""

    expression: Expression
    #: what the expression reads
    reads: tuple[Access, ...]
    #: ``+=`` or ``-=``
    sign: str


def _value_of(first: Statement, product: Statement) -> _Value | None:
    """What a statement sets the sums of a product to; None if its loops aren't those of the product."""
    pairs = loops_alike(product, first)
    if pairs is None or product.box is None or any(node.kind == "affine" for node in first.body.walk()):
        return None
    if any(access.subscripts is None for access in first.reads):
        return None
    nest = product.name, product.iterators, product.box
    reads = [
        make_access(
            *nest,
            f"{first.name}_{access.reference}",
            access.array,
            "read",
            over_loops_of(product, first, pairs, access),
        )
        for access in first.reads
    ]
    references = {access.reference: f"{first.name}_{access.reference}" for access in first.reads}
    return _Value(first.body.arguments[1].with_references(references), tuple(reads), "+=")


def _element(product: Statement, reference: str, array: Array, loops: Sequence[int]) -> Access:
    """An element of an array that has a dimension for each of ``loops`` of the product."""
    assert product.box is not None
    forms = tuple(iterator_form(loop, product.depth, -product.box[loop][0]) for loop in loops)
    return make_access(product.name, product.iterators, product.box, reference, array.name, "read", forms)


def _correction(product: Statement, sums: Array, kept: Sequence[int], zero: Expression, began: _Value | None) -> _Value:
    """The zero point times ``sums``, to be subtracted; or what the sums began with less that, to be added."""
    times = Expression("op", "*", (zero, Expression("access", "sums")))
    reads = (_element(product, "sums", sums, kept), *accesses_in(product, zero))
    if began is None:
        return _Value(times, reads, "-=")
    value = Expression("op", "-", (Expression("cast", "int", (began.expression,)), times))
    return _Value(value, (*reads, *began.reads), "+=")


def _zeroing(nest: _Nest, sums: Array) -> Statement:
    body = assignment(f"{nest.name}_sum", zero_of(sums))
    return nest.statement([nest.sum_of(sums, nest.loops, "write")], body, "zero", f"{sums.name}[...] = 0")


def _adding(nest: _Nest, sums: Array, other: _Side) -> Statement:
    """The sums of what the statement multiplies by."""
    kept = nest.loops[: len(sums.extents)]
    accesses = [nest.sum_of(sums, kept, kind) for kind in ("write", "read")]
    reads = accesses_in(nest.reader, other.value)
    accesses += [nest.moved(access) for access in reads]
    body = Expression("op", "+=", (Expression("access", f"{nest.name}_sum"), nest.value(other.value, reads)))
    return nest.statement(accesses, body, "operand", f"{sums.name}[...] += a factor of {nest.reader.text}")


def _computing(nest: _Nest, corrections: Array, correction: _Value) -> Statement:
    """The correction of each row, or column, of results."""
    to = nest.sum_of(corrections, nest.loops, "write")
    reads = [nest.moved(access) for access in correction.reads]
    body = assignment(to.reference, nest.value(correction.expression, correction.reads))
    return nest.statement([to, *reads], body, "operand", f"{corrections.name}[...] = the correction of its sums")


def _correcting(nest: _Nest, correction: _Value) -> Statement:
    """The output with its correction."""
    to = nest.moved(nest.reader.writes[0])
    accesses = [to, replace(to, kind="read"), *(nest.moved(access) for access in correction.reads)]
    value = nest.value(correction.expression, correction.reads)
    body = Expression("op", correction.sign, (Expression("access", to.reference), value))
    return nest.statement(accesses, body, "operand", f"the correction of {nest.reader.text}")
