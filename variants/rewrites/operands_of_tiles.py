"""Operands of products inside of common loops over tiles, evaluated in each tile before its product.

What one tile reads may be written in the tile before: a blocked factorization is of that kind. So there is no time at
which all operands could be computed, but in each tile one for those of that tile. Their array has the loops inside the
tile as its dimensions, the one along which the result is contiguous last, as microkernels read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, iterator_form
from polydl.ir.construct import assignment, fresh_name, fresh_statement_name, make_access, make_statement
from polydl.ir.scop import Array, Scop, SharedLoops
from polydl.ir.statement import Access, Expression, Statement
from polydl.match.factors import Operand, with_added_value
from polydl.poly.domains import independent_loops
from polydl.variants.rewrites.accesses import access_over


def shared_tiles(scop: Scop, statement: Statement) -> SharedLoops | None:
    """The common loops over tiles around a statement, if there are any."""
    return next((group for group in scop.shared if group.fixed and statement.name in group.statements), None)


def materialized_in_tiles(scop: Scop, statement: Statement, operand: Operand, group: SharedLoops) -> Scop:
    """The scop with an operand's values in an array of their own, computed before the statement in each tile.

    Raises IllegalVariantError if its loops depend on others, or come to an element twice, or if what it is computed
    from is written in the tile after that.
    """
    loops = _order(scop, statement, operand.access, group)
    ranges = independent_loops(statement)
    if not loops or any(loop not in ranges for loop in loops):
        raise IllegalVariantError(f"loops of {statement.name} that read `{operand.access.array}` depend on others")
    read = {node.text for node in operand.value.walk() if node.kind == "access"}
    sources = [access for access in statement.reads if access.reference in read]
    place = statement.betas[group.loops]
    for access in sources:
        if access.moving_loops - {*loops, *range(group.loops)}:
            raise IllegalVariantError(f"`{access.array}` moves in other loops than `{operand.access.array}`")
        _check_complete(scop, statement, access, group)
    # Threads have tiles of the same wavefront at a time.
    slots = (group.parallel_loop,) if group.parallel else ()
    dimensions = (*slots, *loops)
    outer = isl.Set(statement.domain)
    lows = {loop: ranges[loop][0] for loop in loops}
    extents = [ranges[loop][1] - ranges[loop][0] + 1 for loop in loops]
    for loop in slots:
        lows[loop] = outer.dim_min_val(loop).to_python()
        extents.insert(0, outer.dim_max_val(loop).to_python() - lows[loop] + 1)
    accumulator = scop.array(statement.writes[0].array)
    evaluated = Array(
        fresh_name(scop, f"{operand.access.array}_operand"),
        accumulator.element,
        accumulator.element_bytes,
        tuple(extents),
        "local",
    )
    to = tuple(iterator_form(loop, statement.depth, -lows[loop]) for loop in dimensions)
    reading = _reading(statement, operand, evaluated, to)
    first = _evaluating(scop, statement, operand, sources, evaluated, loops, dimensions, lows, group)
    names = {access.reference: f"{first.name}_from_{number}" for number, access in enumerate(sources)}
    statements = [reading if each.name == statement.name else each for each in scop.statements]
    moved = [_later(each, group, place) if each.name in group.statements else each for each in statements]
    flat = _flat(scop, reading, first, operand, names)
    wider = replace(group, statements=(*group.statements, first.name))
    return replace(
        scop,
        statements=tuple(sorted((*moved, first), key=lambda statement: statement.betas)),
        arrays=(*scop.arrays, evaluated),
        shared=tuple(wider if each is group else each for each in scop.shared),
        unskewed=(*(_later(each, group, place) if each.name in group.statements else each for each in flat),),
    )


def _order(scop: Scop, statement: Statement, access: Access, group: SharedLoops) -> list[int]:
    """The loops inside a tile that move an access, that along which the result is contiguous last."""
    written = statement.writes[0]
    inside = [loop for loop in access.moving_loops if loop >= group.loops]
    return sorted(inside, key=lambda loop: (abs(scop.stride(written, loop)) == 1, -scop.stride(access, loop)))


def _check_complete(scop: Scop, reader: Statement, access: Access, group: SharedLoops) -> None:
    """Raises IllegalVariantError where an element that a tile reads is written in it, at that place or later."""
    read = _of_tiles(access.relation, group.loops)
    for other in scop.statements:
        if other.name in group.statements and other.betas[group.loops] >= reader.betas[group.loops]:
            for write in other.writes:
                if write.array == access.array and not _of_tiles(write.relation, group.loops).is_disjoint(read):
                    raise IllegalVariantError(
                        f"`{access.array}`, which {reader.place} reads, is written in the same tile by {other.place}: "
                        "a copy would go stale"
                    )


def _of_tiles(relation: str, loops: int) -> isl.Map:
    """What is reached in each tile: the relation with its statement's name and the loops inside the tile left out."""
    whole = isl.Map(relation)
    return whole.project_out(isl.dim_type.in_, loops, whole.dim(isl.dim_type.in_) - loops)


def _later(statement: Statement, group: SharedLoops, place: int) -> Statement:
    betas = statement.betas
    if betas[group.loops] < place:
        return statement
    return replace(statement, betas=(*betas[: group.loops], betas[group.loops] + 1, *betas[group.loops + 1 :]))


def _reading(statement: Statement, operand: Operand, evaluated: Array, to: tuple[Affine, ...]) -> Statement:
    value = Expression("op", "*", (Expression("access", operand.access.reference), operand.other))
    body = with_added_value(statement, value)
    used = {node.text for node in body.walk() if node.kind == "access"}
    reference = operand.access.reference
    kept = [access for access in statement.accesses if access.reference in used and access.reference != reference]
    moved = access_over(statement.name, statement.iterators, statement.domain, reference, evaluated.name, "read", to)
    return replace(statement, body=body, accesses=(*kept, moved))


def _evaluating(
    scop: Scop,
    reader: Statement,
    operand: Operand,
    sources: Sequence[Access],
    evaluated: Array,
    loops: Sequence[int],
    dimensions: Sequence[int],
    lows: dict[int, int],
    group: SharedLoops,
) -> Statement:
    """The statement that computes the values of one tile, in the common loops and then ``loops``."""
    kept = (*range(group.loops), *loops)
    name = fresh_statement_name(scop, f"evaluate_{evaluated.name}")
    iterators = tuple(reader.iterators[loop] for loop in kept)
    whole = isl.Set(reader.domain)
    arguments = ", ".join(f"i{place}" for place in range(reader.depth))
    chosen = ", ".join(f"i{place}" for place in kept)
    projected = isl.Map(f"{{ {reader.name}[{arguments}] -> {name}[{chosen}] }}")
    domain = whole.apply(projected)

    def over(form: Affine) -> Affine:
        return Affine(tuple(form.coefficients[loop] for loop in kept), form.constant)

    named = str(domain)
    to = tuple(over(iterator_form(loop, reader.depth, -lows[loop])) for loop in dimensions)
    accesses = [access_over(name, iterators, named, f"{name}_to", evaluated.name, "write", to)]
    names = {}
    for number, access in enumerate(sources):
        assert access.subscripts is not None
        names[access.reference] = f"{name}_from_{number}"
        forms = tuple(over(form) for form in access.subscripts)
        accesses.append(access_over(name, iterators, named, names[access.reference], access.array, "read", forms))

    inside = {loop: high - low + 1 for loop, (low, high) in independent_loops(reader).items() if loop >= group.loops}
    number = reader.instances
    for loop, extent in inside.items():
        number = number if loop in loops else number // extent
    return replace(
        reader,
        name=name,
        iterators=iterators,
        domain=named,
        box=None,
        accesses=tuple(accesses),
        body=assignment(f"{name}_to", operand.value.with_references(names)),
        betas=(*reader.betas[: group.loops + 1], *(0,) * len(loops)),
        directions=(1,) * len(iterators),
        instances=number,
        origin="operand",
        text=f"{evaluated.name}[...] = the operand of {reader.text}",
    )


def _flat(scop: Scop, reader: Statement, first: Statement, operand: Operand, names: dict[str, str]) -> list[Statement]:
    """The statements as they would be without skewing, with those for the reader and for what is evaluated first."""
    old = next((each for each in scop.unskewed if each.name == reader.name), None)
    if old is None or old.box is None:
        return [*scop.unskewed]
    box, reference = old.box, operand.access.reference
    loops = [reader.iterators.index(name) for name in first.iterators]
    to = reader.access(reference, "read")
    assert to.subscripts is not None
    forms = tuple(Affine(form.coefficients, 0) for form in to.subscripts)
    used = {node.text for node in reader.body.walk() if node.kind == "access"}
    accesses = [each for each in old.accesses if each.reference in used and each.reference != reference]
    accesses.append(make_access(old.name, old.iterators, box, reference, to.array, "read", forms))
    inner = tuple(box[loop] for loop in loops)

    def over(form: Affine) -> Affine:
        return Affine(tuple(form.coefficients[loop] for loop in loops), form.constant)

    own = [make_access(first.name, first.iterators, inner, first.writes[0].reference, to.array, "write",
                       tuple(over(form) for form in forms))]  # fmt: skip
    for access in old.accesses:
        if access.reference in names and access.kind == "read" and access.subscripts is not None:
            own.append(make_access(first.name, first.iterators, inner, names[access.reference], access.array, "read",
                                   tuple(over(form) for form in access.subscripts)))  # fmt: skip
    evaluating = make_statement(
        first.name, first.iterators, inner, tuple(own), first.body,
        origin=first.origin, betas=first.betas, line=first.line, text=first.text,
    )  # fmt: skip
    changed = replace(old, accesses=tuple(accesses), body=reader.body)
    return [*(changed if each is old else each for each in scop.unskewed), evaluating]
