"""What the passes over loops may know of a plan's statements: from the plan, and from the dependences."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polydl.codegen.context import CallFacts, Context, EpilogueFacts, StatementFacts
from polydl.codegen.loop_ir import Assign, with_elements_of
from polydl.codegen.lowering import affine_element, assignment, index_forms
from polydl.codegen.original import wraps
from polydl.codegen.values import Integer, Name
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics, keeps_precision, keeps_products
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.plan.call_sites import CallSite
from polydl.plan.contraction import Starts
from polydl.plan.epilogue import Epilogue, EpilogueStatement, last_values
from polydl.plan.nest_plan import NestPlan, Plan, last_trips, trips
from polydl.plan.transposing_copies import transposing_copy
from polydl.plan.vector_sums import vector_sums
from polydl.poly.boxes import finite_ranges
from polydl.poly.legality import Directions, parallel_is_legal
from polydl.poly.reductions import reduction
from polydl.poly.shared_loops import iterations_are_apart
from polydl.vector_functions import called, includes_math, scalar_only

# Counters may go as far beyond what they count in tiles as they count.
_MOST_IN_INT = 1 << 30


def generated(plan: Plan, name: str) -> tuple[int | Loop, ...]:
    """The time dimensions of a statement that become loops of the generated code."""
    nest = plan.nest_of(name)
    dimensions = plan.schedule.of(name)
    return dimensions[: len(nest.around)] if nest.inner else dimensions


def context_of(
    scop: Scop,
    plan: Plan,
    names: Sequence[str],
    directions: Mapping[int, Directions],
    *,
    calls: Mapping[str, CallFacts] | None = None,
    numerics: Numerics = DEFAULT_NUMERICS,
    vector_bytes: int = 0,
) -> Context:
    """What passes know of statements.

    ``directions`` are those of the dependences of each nest, by its index; ``calls`` is what calls do besides, by their
    statements; ``numerics`` says what may be done to products, functions and the precision of sums; ``vector_bytes`` is
    the size of the largest vectors.
    """
    leaving = {scop.array(access.array) for statement in scop.statements for access in statement.writes}
    wide = any(array.element in ("double", "long double") for array in leaving if array.storage != "local")
    exact, precise = keeps_products(numerics), wide or keeps_precision(numerics)
    context = Context({array.name: array for array in scop.arrays}, {}, exact, precise, vector_bytes=vector_bytes)
    facts = {name: _facts(scop, plan, name, directions, context, vector_bytes) for name in names}
    besides = {name: calls[name] for name in names if name in calls} if calls else {}
    shared = _with_shared_vectors(scop, plan, names, facts)
    # What calls read does not show in the code.
    written_out = [name for name in names if not plan.nest_of(name).inner]
    temporary = temporary_arrays(scop, written_out)
    long = has_long_counters(scop)
    return replace(
        context,
        facts=shared,
        calls=besides,
        temporary=temporary,
        wraps=wraps(scop),
        long_counters=long,
        has_extrema=includes_math(scop),
    )


def has_long_counters(scop: Scop) -> bool:
    """Whether loops count to where an ``int`` ends, or numbers that are computed of their counters reach it.

    Or a dimension of an array has as many elements.
    """
    if any(extent >= _MOST_IN_INT for array in scop.arrays for extent in array.extents):
        return True
    return any(_largest(each) >= _MOST_IN_INT for each in scop.statements)


def _largest(statement: Statement) -> int:
    """A bound of the absolute values of a statement's iterators, and of what it computes of them."""
    limits = [max(-low, high) for low, high in finite_ranges(statement) or ()]
    forms = [node.text for node in statement.body.walk() if node.kind == "affine"]
    forms += [form for access in statement.accesses if access.subscripts is None for form in index_forms(access)]
    pieces = [aff for form in forms if limits for _, aff in isl.PwAff(form).get_pieces()]
    return max([0, *limits, *(_bound(aff, limits) for aff in pieces)])


def _bound(form: isl.Aff, limits: Sequence[int]) -> int:
    """A bound of the absolute value of a form, and of what it divides, where those of its variables are limited."""
    largest, total = 0, abs(_numerator(form, form.get_constant_val()))
    for position, limit in enumerate(limits):
        total += abs(_numerator(form, form.get_coefficient_val(isl.dim_type.in_, position))) * limit
    for position in range(form.dim(isl.dim_type.div)):
        factor = abs(_numerator(form, form.get_coefficient_val(isl.dim_type.div, position)))
        if factor:
            quotient = form.get_div(position)
            inside = _bound(quotient, limits)
            largest = max(largest, inside)
            total += factor * (inside // quotient.get_denominator_val().to_python() + 1)
    return max(largest, total)


def _numerator(form: isl.Aff, value: isl.Val) -> int:
    return int(value.mul(form.get_denominator_val()).to_python())


def temporary_arrays(scop: Scop, names: Collection[str]) -> frozenset[str]:
    """The region's own arrays that statements of these ``names`` alone access, but for views and what has any."""
    elsewhere = {access.array for each in scop.statements if each.name not in names for access in each.accesses}
    viewed = {array.view_of for array in scop.arrays}
    return frozenset(
        array.name
        for array in scop.arrays
        if array.storage == "local" and not array.view_of and array.name not in elsewhere | viewed
    )


def call_facts(scop: Scop, site: CallSite, vector_bytes: int, starts: Starts) -> CallFacts:
    """What the calls of a site do besides, with vectors of that size. ``starts`` are those of contracted arrays."""
    epilogue = None if site.epilogue is None else _epilogue(scop, site, site.epilogue, vector_bytes)
    return CallFacts(site.prefetch, site.next_tile, epilogue, starts)


def _epilogue(scop: Scop, site: CallSite, epilogue: Epilogue, vector_bytes: int) -> EpilogueFacts:
    names = [Name(iterator) for iterator in site.statement.iterators]

    def statement(applied: EpilogueStatement) -> Assign:
        # The values of the statement's own iterators don't matter: its references are over those of the product.
        own = assignment(scop, applied.statement, [Integer(0)] * applied.statement.depth)
        (made,) = with_elements_of((own,), lambda access: affine_element(applied.references[access.reference], names))
        assert isinstance(made, Assign)
        return made

    moves = {loop: stride != 0 for loop, stride in enumerate(site.match.form.strides_c)}
    return EpilogueFacts(
        prefix=site.gemm.prefix,
        accumulator=site.gemm.accumulator,
        columns=site.gemm.n[0],
        vector_bytes=vector_bytes,
        iterators=site.statement.iterators,
        statements=tuple(map(statement, epilogue.statements)),
        operands=epilogue.operands,
        linear=epilogue.linear,
        last=tuple(last_values(scop, site.plan, moves)),
    )


def _facts(
    scop: Scop,
    plan: Plan,
    name: str,
    directions: Mapping[int, Directions],
    context: Context,
    vector_bytes: int,
) -> StatementFacts:
    nest = plan.nest_of(name)
    statement = scop.statement(name)
    here = directions[nest.nest.index]
    sums = {} if nest.inner else vector_sums(scop, nest, here)
    parallel = {place: d for place, d in enumerate(generated(plan, name)) if isinstance(d, Loop) and d.parallel}
    vector = frozenset[int]() if nest.inner else _vector_places(scop, nest, here, sums, exact=context.exact)
    own = {place: arrays[name] for place, arrays in sums.items() if name in arrays}
    accumulated = reduction(scop, statement)
    operation = "+" if accumulated is None else accumulated.operation
    arrays = [scop.array(access.array) for access in statement.accesses]
    width = min(vector_bytes, nest.vector_bytes or vector_bytes)
    narrow = _narrow(scop, statement, set(own.values()), context)
    sizes = [array.element_bytes for array in arrays if array.name not in narrow] or [1]
    # One element for all iterations fills no vector.
    alone = {access.array for access in statement.accesses if access.subscripts is not None and not access.moving_loops}
    vectors = [array.element_bytes for array in arrays if array.name not in narrow | alone] or sizes
    return StatementFacts(
        parallel=parallel,
        vector=vector,
        sums=own,
        operation=operation,
        counts=dict(zip(nest.places, trips(nest), strict=False)),
        lanes=max(1, width // max(sizes)),
        most_lanes=max(1, width // min(vectors)),
        unrolled=_unrolled(nest, statement),
        streamed=frozenset(nest.streamed),
        transposed=_transposed(scop, nest),
    )


def _transposed(scop: Scop, plan: NestPlan) -> tuple[int, ...]:
    found = transposing_copy(scop, plan)
    places = {loop.name: place for place, loop in zip(plan.places, plan.loops, strict=True)}
    return () if found is None else tuple(places[loop.name] for loop, _ in (*found.rows, found.columns))


def _narrow(scop: Scop, statement: Statement, sums: Collection[str], context: Context) -> set[str]:
    """Of the arrays that a statement adds to, those whose few terms are added up in ``float``."""
    if not sums:
        return set()
    assign = assignment(scop, statement, [Name(iterator) for iterator in statement.iterators])
    return {array for array in sums if context.sum_type(assign, array, 1) == "float"}


def _unrolled(plan: NestPlan, statement: Statement) -> Mapping[int, int]:
    return {
        place: last_trips(plan, loop) if statement.box is not None else 0
        for place, loop in zip(plan.places, plan.loops, strict=True)
        if loop.unrolled
    }


def _with_shared_vectors(
    scop: Scop, plan: Plan, names: Sequence[str], facts: Mapping[str, StatementFacts]
) -> dict[str, StatementFacts]:
    """The facts with those loops of others as vector loops in which attached statements run, too, and may do so."""
    found = dict(facts)
    times = {name: generated(plan, name) for name in names}
    for name in names:
        follows = plan.nest_of(name).follows
        if follows is None:
            continue
        heavy = next(nest for nest in plan.nests if nest.nest.index == follows)
        shared = []
        for place in range(min(len(heavy.nest.prefix) + heavy.shared_depth, len(times[name]))):
            inside = {each: times[each] for each in names if _runs_in(times[each], times[name], place)}
            if _may_share(scop, inside, place):
                shared.append(place)
        counts = {place: facts[heavy.nest.statements[0]].counts.get(place, 0) for place in shared}
        own = found[name]
        found[name] = replace(own, vector=own.vector | frozenset(shared), counts={**counts, **own.counts})
    return found


def _runs_in(dimensions: tuple[int | Loop, ...], others: tuple[int | Loop, ...], place: int) -> bool:
    """Whether a statement may run in the loop at a place of another one's time dimensions."""
    apart = any(one != other for one, other in zip(dimensions[:place], others, strict=False) if isinstance(one, int))
    return len(dimensions) > place and not apart


def _may_share(scop: Scop, times: Mapping[str, tuple[int | Loop, ...]], place: int) -> bool:
    """Whether statements may run in vectors of a loop around all of them."""
    loops = [dimensions[place] for dimensions in times.values()]
    whole = all(isinstance(loop, Loop) and loop.size == 1 for loop in loops)
    return whole and iterations_are_apart(scop, times, place)


def _vector_places(
    scop: Scop, plan: NestPlan, directions: Directions, sums: Collection[int], *, exact: bool
) -> frozenset[int]:
    """Places in time whose loop may be run with vector instructions."""
    names = called(scop.statement(name) for name in plan.nest.statements)
    if scalar_only(scop, names, exact=exact):
        return frozenset()
    order = plan.order()
    return frozenset(
        place
        for position, place in enumerate(plan.places)
        if place in sums or parallel_is_legal(directions, order, position)
    )
