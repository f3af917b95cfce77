"""Rewrites of a scop that give the same computation loops or layouts that fit a microkernel better.

Each returns a new scop, to be analysed from scratch, so that nothing that is proved about it rests on the
rewrite. Both need what most tensor code has: rectangular loops, and subscripts without divisions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from polydl.errors import IllegalVariantError
from polydl.poly.boxes import Box
from polydl.poly.dependences import Dependence
from polydl.poly.forms import iterator_form
from polydl.poly.legality import violations
from polydl.poly.nests import Nest
from polydl.poly.schedules import original_schedule
from polydl.types import (
    Access,
    AccessKind,
    Affine,
    Array,
    Coalesce,
    Expression,
    Loop,
    Pack,
    Rewrite,
    Schedule,
    Scop,
    Statement,
)


def distributed(scop: Scop, nests: Sequence[Nest]) -> Scop | None:
    """The scop with its nests one after the other, as loop distribution orders them; None if they share loops."""
    betas: dict[str, tuple[int, ...]] = {}
    for nest in nests:
        if nest.depth or not nest.loops:
            return None
        for position, name in enumerate(nest.statements):
            betas[name] = (nest.index, *(0,) * (len(nest.loops) - 1), position)
    statements = sorted((replace(s, betas=betas[s.name]) for s in scop.statements), key=lambda s: s.betas)
    return replace(scop, statements=tuple(statements))


def _terms(form: Affine, iterators: Sequence[str]) -> str:
    terms = [f"{c}{name}" for c, name in zip(form.coefficients, iterators, strict=True) if c]
    return " + ".join([*terms, str(form.constant)])


def make_access(
    statement: str,
    iterators: Sequence[str],
    box: Box,
    reference: str,
    array: str,
    kind: AccessKind,
    subscripts: tuple[Affine, ...],
) -> Access:
    """An access with its isl relations written from its subscripts."""
    head = f"{statement}[{', '.join(iterators)}]"
    elements = [_terms(form, iterators) for form in subscripts]
    bounds = " and ".join(f"{low} <= {name} <= {high}" for name, (low, high) in zip(iterators, box, strict=True))
    relation = f"{{ {head} -> {array}[{', '.join(elements)}]{' : ' if bounds else ''}{bounds} }}"
    index = f"{{ {head} -> {array}[{', '.join(f'({element})' for element in elements)}] }}"
    return Access(reference, array, kind, relation, index, subscripts)


def make_domain(statement: str, iterators: Sequence[str], box: Box) -> str:
    """The isl set of a statement's instances, from its box."""
    bounds = " and ".join(f"{low} <= {name} <= {high}" for name, (low, high) in zip(iterators, box, strict=True))
    return f"{{ {statement}[{', '.join(iterators)}]{' : ' if bounds else ''}{bounds} }}"


def make_statement(
    name: str,
    iterators: tuple[str, ...],
    box: Box,
    accesses: tuple[Access, ...],
    body: Expression,
    *,
    betas: tuple[int, ...] | None = None,
    line: int,
    text: str,
) -> Statement:
    """A statement whose loops run forwards over a box; without ``betas`` in a nest of its own, at place 0."""
    return Statement(
        name=name,
        iterators=iterators,
        domain=make_domain(name, iterators, box),
        box=box,
        instances=prod(high - low + 1 for low, high in box),
        betas=(0,) * (len(box) + 1) if betas is None else betas,
        directions=(1,) * len(box),
        body=body,
        accesses=accesses,
        line=line,
        text=text,
    )


def assignment(reference: str, value: Expression) -> Expression:
    """The value assigned to what a reference writes."""
    return Expression("op", "=", (Expression("access", reference), value))


def zero_of(array: Array) -> Expression:
    """A zero of the type of an array's elements."""
    return Expression("literal", {"float": "0.0f", "double": "0.0"}.get(array.element, "0"))


def has_loops_alone(scop: Scop, statement: Statement) -> bool:
    """Whether no other statement is in the nest of a statement, where nests come one after the other."""
    return sum(each.betas[0] == statement.betas[0] for each in scop.statements) == 1


def fresh_name(scop: Scop, name: str) -> str:
    """The name, with underscores after it until no array and no loop of the scop has it."""
    taken = {array.name for array in scop.arrays} | {name for s in scop.statements for name in s.iterators}
    while name in taken:
        name += "_"
    return name


# --------------------------------------------------------------------------------------
# Packing


def pack(scop: Scop, step: Pack) -> Scop:
    """Copy the array once it is complete. Raises IllegalVariantError if it is written later, or isn't an array."""
    array = scop.array(step.array)
    if sorted(step.order) != list(range(len(array.extents))):
        raise IllegalVariantError(f"{step.order} is no order of the dimensions of `{array.name}`")
    packed = Array(
        fresh_name(scop, f"{array.name}_packed"),
        array.element,
        array.element_bytes,
        tuple(array.extents[dimension] for dimension in step.order),
        "local",
    )
    depth = len(array.extents)
    straight = tuple(iterator_form(d, depth) for d in range(depth))
    reader = scop.statement(step.statement)
    repacked = replace(reader, accesses=tuple(_repacked(reader, access, packed, step) for access in reader.accesses))
    return with_copy(
        scop,
        repacked,
        array,
        packed,
        # Written in its new order, read across.
        iterators=tuple(f"{array.name}_{dimension}" for dimension in step.order),
        box=tuple((0, extent - 1) for extent in packed.extents),
        to=straight,
        source=tuple(straight[step.order.index(dimension)] for dimension in range(depth)),
    )


def copying_statement(
    reader: Statement,
    array: Array,
    packed: Array,
    *,
    iterators: tuple[str, ...],
    box: Box,
    betas: tuple[int, ...],
    to: tuple[Affine, ...],
    source: tuple[Affine, ...],
) -> Statement:
    """The statement that copies elements of ``array`` into ``packed`` for ``reader``, with these subscripts."""
    name = f"pack_{array.name}"
    accesses = (
        make_access(name, iterators, box, f"{name}_to", packed.name, "write", to),
        make_access(name, iterators, box, f"{name}_from", array.name, "read", source),
    )
    body = assignment(f"{name}_to", Expression("access", f"{name}_from"))
    text = f"{packed.name}[...] = {array.name}[...]"
    return make_statement(name, iterators, box, accesses, body, betas=betas, line=reader.line, text=text)


def with_copy(
    scop: Scop,
    reader: Statement,
    array: Array,
    packed: Array,
    *,
    iterators: tuple[str, ...],
    box: Box,
    to: tuple[Affine, ...],
    source: tuple[Affine, ...],
) -> Scop:
    """The scop with ``packed`` filled from ``array`` once that is complete, and with ``reader`` as it reads that.

    ``to`` and ``source`` are the subscripts of the two arrays in the copying nest of ``iterators`` over ``box``.
    Raises IllegalVariantError if the array is written later.
    """
    place = complete_from(scop, reader, array)
    betas = (place, *(0,) * len(box))
    copy = copying_statement(reader, array, packed, iterators=iterators, box=box, betas=betas, to=to, source=source)
    others = [reader if each.name == reader.name else each for each in scop.statements]
    return replace(scop, statements=inserted(copy, others), arrays=(*scop.arrays, packed))


def inserted(made: Statement, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """The statements with one more in a nest of its own, in front of the nest that was at its place."""
    place = made.betas[0]
    before = [each for each in statements if each.betas[0] < place]
    after = [each for each in statements if each.betas[0] >= place]
    return (*before, made, *(replace(each, betas=(each.betas[0] + 1, *each.betas[1:])) for each in after))


def complete_from(scop: Scop, reader: Statement, array: Array) -> int:
    """The place among nests from which on a copy of an array holds what ``reader`` reads.

    Nests come one after the other (``distributed``). Raises IllegalVariantError if it is written later.
    """
    if written_later(scop, reader, array):
        raise IllegalVariantError(f"`{array.name}` is written, so that a copy would go stale")
    return max((place + 1 for place in _writers(scop, array)), default=0)


def written_later(scop: Scop, reader: Statement, array: Array) -> bool:
    """Whether something writes an array in the nest of ``reader`` or after it."""
    return any(place >= reader.betas[0] for place in _writers(scop, array))


def _writers(scop: Scop, array: Array) -> list[int]:
    """The places of the nests that write an array."""
    memory = array.memory
    return [s.betas[0] for s in scop.statements if any(scop.array(each.array).memory == memory for each in s.writes)]


def _repacked(statement: Statement, access: Access, packed: Array, step: Pack) -> Access:
    if access.array != step.array:
        return access
    if access.subscripts is None or statement.box is None:
        raise IllegalVariantError(f"`{access.array}` is not accessed with plain affine subscripts")
    subscripts = tuple(access.subscripts[dimension] for dimension in step.order)
    return make_access(
        statement.name, statement.iterators, statement.box, access.reference, packed.name, access.kind, subscripts
    )


# --------------------------------------------------------------------------------------
# Coalescing


def _single(form: Affine) -> int | None:
    """The one iterator that a subscript is, or None if it is anything else."""
    used = [index for index, coefficient in enumerate(form.coefficients) if coefficient]
    return used[0] if len(used) == 1 and form.coefficients[used[0]] == 1 and form.constant == 0 else None


def _joined(access: Access, statement: Statement, outer: int, inner: int) -> bool:
    """Whether one subscript goes through both loops as through one: it steps on where the inner loop ends."""
    assert access.subscripts is not None
    assert statement.box is not None
    using = [form.coefficients for form in access.subscripts if form.coefficients[outer] or form.coefficients[inner]]
    return len(using) == 1 and using[0][outer] == using[0][inner] * (statement.box[inner][1] + 1)


class _Coalescing:
    """Which pair of loops of each statement becomes one, and which pair of dimensions of each array."""

    def __init__(self, scop: Scop) -> None:
        self.scop = scop
        self.pairs: dict[str, tuple[int, int]] = {}
        self.merged: dict[str, int] = {}

    def add(self, statement: Statement, outer: int, inner: int) -> None:
        known = self.pairs.get(statement.name)
        if known is not None:
            if known != (outer, inner):
                raise IllegalVariantError(f"two pairs of loops of {statement.name} would have to be coalesced")
            return
        if any(statement.name in call.statements for call in self.scop.annotated_calls):
            raise IllegalVariantError(f"{statement.name} stands for a marked call")
        if statement.box is None or statement.depth == 0:
            raise IllegalVariantError(f"the loops of {statement.name} are not rectangular")
        if any(direction != 1 for direction in statement.directions):
            raise IllegalVariantError(f"a loop of {statement.name} runs backwards")
        if any(node.kind == "affine" for node in statement.body.walk()):
            raise IllegalVariantError(f"{statement.name} computes with its loop counters")
        if statement.box[outer][0] or statement.box[inner][0]:
            raise IllegalVariantError(f"the loops of {statement.name} do not start at zero")
        self.pairs[statement.name] = (outer, inner)
        for access in statement.accesses:
            self.follow(statement, access, outer, inner)

    def follow(self, statement: Statement, access: Access, outer: int, inner: int) -> None:
        """The array's dimensions merge, and with them the loops of every other statement that accesses it."""
        if access.subscripts is None:
            raise IllegalVariantError(f"a subscript of `{access.array}` is not affine")
        using = [d for d, f in enumerate(access.subscripts) if f.coefficients[outer] or f.coefficients[inner]]
        if not using:
            return
        if _joined(access, statement, outer, inner):
            return
        first = using[0]
        pair = [_single(access.subscripts[dimension]) for dimension in using]
        assert statement.box is not None
        whole = statement.box[inner][1] + 1
        array = self.scop.array(access.array)
        if pair != [outer, inner] or using != [first, first + 1] or array.extents[first + 1] != whole:
            raise IllegalVariantError(f"the loops do not walk side by side through `{access.array}`")
        if self.merged.setdefault(array.name, first) != first:
            raise IllegalVariantError(f"two pairs of dimensions of `{array.name}` would have to be merged")
        for other in self.scop.statements:
            for use in other.accesses:
                if use.array == array.name:
                    if use.subscripts is None:
                        raise IllegalVariantError(f"a subscript of `{use.array}` is not affine")
                    loops = [_single(use.subscripts[dimension]) for dimension in (first, first + 1)]
                    if loops[0] is None or loops[1] is None:
                        raise IllegalVariantError(f"{other.name} walks through `{array.name}` in another way")
                    self.add(other, loops[0], loops[1])


def coalesce(scop: Scop, step: Coalesce, dependences: Sequence[Dependence], *, reassociate: bool = True) -> Scop:
    """The scop with the two loops as one. Raises IllegalVariantError if they can't be."""
    statement = scop.statement(step.statement)
    if not {step.outer, step.inner} <= set(statement.iterators):
        raise IllegalVariantError(f"{step.statement} has no loops `{step.outer}` and `{step.inner}`")
    coalescing = _Coalescing(scop)
    coalescing.add(statement, statement.iterators.index(step.outer), statement.iterators.index(step.inner))
    moved = Schedule(
        tuple(
            (name, _adjacent(dimensions, coalescing.pairs.get(name)))
            for name, dimensions in original_schedule(scop).statements
        )
    )
    if violations(scop, moved, dependences, reassociate=reassociate):
        raise IllegalVariantError(f"`{step.inner}` can't be moved next to `{step.outer}`")
    views = {name: _view(scop, scop.array(name), first) for name, first in coalescing.merged.items()}
    statements = tuple(
        _coalesced(scop, each, coalescing, views) if each.name in coalescing.pairs else each for each in scop.statements
    )
    # Only statements that share all of their loops got here.
    shared = tuple(
        replace(each, loops=each.loops - 1) if coalescing.pairs.keys() & set(each.statements) else each
        for each in scop.shared
    )
    return replace(scop, statements=statements, arrays=(*scop.arrays, *views.values()), shared=shared)


def _adjacent(dimensions: tuple[int | Loop, ...], pair: tuple[int, int] | None) -> tuple[int | Loop, ...]:
    if pair is None:
        return dimensions
    loops = [each for each in dimensions if isinstance(each, Loop)]
    inner = next(loop for loop in loops if loop.iterator == pair[1])
    loops.remove(inner)
    loops.insert(next(i for i, loop in enumerate(loops) if loop.iterator == pair[0]) + 1, inner)
    rest = iter(loops)
    return tuple(next(rest) if isinstance(each, Loop) else each for each in dimensions)


def _view(scop: Scop, array: Array, first: int) -> Array:
    extents = (
        *array.extents[:first],
        prod(array.extents[first : first + 2]),
        *array.extents[first + 2 :],
    )
    return replace(array, name=fresh_name(scop, f"{array.name}_flat"), extents=extents, view_of=array.memory)


def _coalesced(scop: Scop, statement: Statement, coalescing: _Coalescing, views: dict[str, Array]) -> Statement:
    outer, inner = pair = coalescing.pairs[statement.name]
    merged = coalescing.merged
    assert statement.box is not None
    beside = [other for other in scop.statements if other.betas[0] == statement.betas[0]]
    alike = all((other.iterators, other.betas[:-1]) == (statement.iterators, statement.betas[:-1]) for other in beside)
    if any(statement.betas[1:-1]) or not alike or any(coalescing.pairs.get(other.name) != pair for other in beside):
        raise IllegalVariantError(f"{statement.name} shares some of its loops with another statement")
    length = statement.box[inner][1] + 1
    kept = [index for index in range(statement.depth) if index != inner]
    name = fresh_name(scop, f"{statement.iterators[outer]}_{statement.iterators[inner]}")
    iterators = tuple(name if index == outer else statement.iterators[index] for index in kept)
    box = tuple(
        (0, (statement.box[outer][1] + 1) * length - 1) if index == outer else statement.box[index] for index in kept
    )
    accesses = []
    for access in statement.accesses:
        assert access.subscripts is not None
        first = merged.get(access.array)
        # A subscript that steps on from one loop to the other takes its steps from the inner one.
        steps = inner if _joined(access, statement, outer, inner) else outer
        forms = [
            Affine(tuple(form.coefficients[steps if index == outer else index] for index in kept), form.constant)
            for form in access.subscripts
        ]
        target = access.array
        if first is not None:
            del forms[first + 1]
            target = views[access.array].name
        accesses.append(
            make_access(statement.name, iterators, box, access.reference, target, access.kind, tuple(forms))
        )
    return replace(
        statement,
        iterators=iterators,
        domain=make_domain(statement.name, iterators, box),
        box=box,
        betas=(*statement.betas[:-2], statement.betas[-1]),
        directions=statement.directions[1:],
        accesses=tuple(accesses),
    )


def apply(scop: Scop, steps: Sequence[Rewrite], dependences: Sequence[Dependence], *, reassociate: bool = True) -> Scop:
    """Packing and coalescing in order. ``scop`` is distributed already. Raises IllegalVariantError."""
    for step in steps:
        if isinstance(step, Pack):
            scop = pack(scop, step)
        elif isinstance(step, Coalesce):
            scop = coalesce(scop, step, dependences, reassociate=reassociate)
    return scop
