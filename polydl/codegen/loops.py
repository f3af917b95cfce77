"""From a plan to nested C loops through isl's AST builder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import islpy as isl

from polydl.codegen.expressions import statement_text
from polydl.codegen.printer import Printer
from polydl.codegen.sums import Sum, partial_type, vector_sums
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.plan.nest_plan import NestPlan, Plan, trips
from polydl.poly.counting import limited
from polydl.poly.legality import Directions, order_is_legal, parallel_is_legal
from polydl.poly.schedules import time_map
from polydl.vector_functions import called, scalar_only

MicrokernelCall = Callable[[NestPlan, Sequence[str]], str]
"""Makes the C statement of one microkernel call from the values of the loops around it, shared ones first."""


def _contracted(scop: Scop, plan: NestPlan, name: str) -> isl.Map:
    """The schedule of the statement without its microkernel's loops: one instance per call."""
    statement = scop.statement(name)
    dimensions = plan.around
    loops = tuple(each for each in dimensions if isinstance(each, Loop))
    domain = time_map(statement, loops).range().set_tuple_name(name)
    values = iter(f"t{index}" for index in range(len(loops)))
    times = [next(values) if isinstance(each, Loop) else str(each) for each in dimensions]
    instance = ", ".join(f"t{index}" for index in range(len(loops)))
    return isl.Map(f"{{ {name}[{instance}] -> [{', '.join(times)}] }}").intersect_domain(domain)


def _iterator_names(dimensions: Sequence[tuple[int | Loop, ...]], length: int) -> list[str]:
    names: list[str] = []
    for position in range(length):
        loops = {d[position].name for d in dimensions if position < len(d) and isinstance(d[position], Loop)}  # type: ignore[union-attr]
        name = loops.pop() if len(loops) == 1 else f"polydl_c{position}"
        names.append(name if name not in names else f"{name}_{position}")
    return names


def _generated(plan: Plan, name: str) -> tuple[int | Loop, ...]:
    """The time dimensions of a statement that become loops of the generated code."""
    nest = plan.nest_of(name)
    dimensions = plan.schedule.of(name)
    return dimensions[: len(nest.around)] if nest.inner else dimensions


def _vector_positions(
    scop: Scop, plan: NestPlan, found: Directions, sums: Collection[int], exact: bool
) -> frozenset[int]:
    """Positions in time whose loop may be run with vector instructions."""
    names = called(scop.statement(name) for name in plan.nest.statements)
    if scalar_only(scop, names, exact=exact):
        return frozenset()
    order = plan.order()
    return frozenset(
        place
        for position, place in enumerate(plan.places)
        if place in sums or parallel_is_legal(found, order, position)
    )


def _tree(
    scop: Scop,
    plan: Plan,
    names: Sequence[str],
    found: Mapping[int, Directions],
    call: MicrokernelCall,
    depth: int,
    exact: bool,
    vector_bytes: int,
) -> list[str]:
    """The C of statements that share their first position in time."""
    dimensions = {name: _generated(plan, name) for name in names}
    length = max(len(each) for each in dimensions.values())
    relation = isl.UnionMap("{ }")
    leaves: dict[str, Callable[[list[str]], str]] = {}
    for name in names:
        statement = scop.statement(name)
        nest = plan.nest_of(name)
        if nest.inner:
            schedule = _contracted(scop, nest, name)
            missing = length - schedule.dim(isl.dim_type.out)
            schedule = schedule.add_dims(isl.dim_type.out, missing)
            for position in range(length - missing, length):
                schedule = schedule.fix_val(isl.dim_type.out, position, isl.Val(0))
            leaves[name] = lambda values, nest=nest: call(nest, values)  # type: ignore[misc]
        else:
            schedule = time_map(statement, dimensions[name], length)
            leaves[name] = lambda values, statement=statement: statement_text(scop, statement, values)  # type: ignore[misc]
        relation = relation.union(isl.UnionMap.from_map(schedule))
    iterators = _iterator_names(list(dimensions.values()), length)
    build = isl.AstBuild.from_context(isl.Set("{ : }"))
    identifiers = isl.IdList.alloc(isl.DEFAULT_CONTEXT, length)
    for iterator in iterators:
        identifiers = identifiers.add(isl.Id(iterator))
    build = build.set_iterators(identifiers)
    parallel = {
        name: {p: d for p, d in enumerate(dimensions[name]) if isinstance(d, Loop) and d.parallel} for name in names
    }
    sums: dict[str, Mapping[int, Mapping[str, Sum]]] = {}
    vector: dict[str, frozenset[int]] = {}
    counts: dict[str, Mapping[int, int]] = {}
    lanes: dict[str, int] = {}
    for name in names:
        nest = plan.nest_of(name)
        own = found[nest.nest.index]
        counts[name] = dict(zip(nest.places, trips(nest), strict=False))
        sums[name] = {} if nest.inner else vector_sums(scop, nest, own)
        vector[name] = frozenset() if nest.inner else _vector_positions(scop, nest, own, sums[name], exact)
        narrow = {each.target.array for here in sums[name].values() for s, each in here.items() if s == name
                  if partial_type(scop, each, 1) == "float"}  # fmt: skip
        arrays = [scop.array(access.array) for access in scop.statement(name).accesses if access.array not in narrow]
        width = min(vector_bytes, nest.vector_bytes or vector_bytes)
        lanes[name] = width // max((array.element_bytes for array in arrays), default=1)
    places = {name: index for index, name in enumerate(iterators)}
    unrolled = {name: _unrolled(plan.nest_of(name), found[plan.nest_of(name).nest.index]) for name in names}
    streamed = {name: frozenset(plan.nest_of(name).streamed) for name in names}
    printer = Printer(scop, leaves, parallel, vector, sums, counts, lanes, places, unrolled, streamed, exact)
    printer.node(build.node_from_schedule_map(relation), depth)
    if printer.unfenced:
        printer.put(depth, "polydl_streamed();")
    return printer.lines


def _unrolled(plan: NestPlan, found: Directions) -> Mapping[int, bool]:
    """The place in time of the loop that is unrolled, and whether it might as well run around the one outside."""
    if not plan.loops or not plan.loops[-1].unrolled:
        return {}
    *others, vector, inner = plan.order()
    return {plan.places[-1]: order_is_legal(found, [*others, inner, vector])}


@limited
def loops(
    scop: Scop,
    plan: Plan,
    found: Mapping[int, Directions],
    call: MicrokernelCall,
    depth: int = 1,
    omitted: Collection[str] = (),
    exact: bool = False,
    vector_bytes: int = 0,
) -> list[str]:
    """Lines of C that run the plan, but for the statements in ``omitted``.

    ``found`` gives the directions of each nest, by its index. With ``exact`` every function that is called gives the
    same result as in the source. With ``vector_bytes`` loops that fill vectors of that size are to use them.
    """
    trees: dict[int, list[str]] = {}
    for name, dimensions in plan.schedule.statements:
        if name in omitted:
            continue
        position = dimensions[0]
        assert isinstance(position, int)
        trees.setdefault(position, []).append(name)
    lines: list[str] = []
    for position in sorted(trees):
        lines += _tree(scop, plan, trees[position], found, call, depth, exact, vector_bytes)
    return lines
