"""From a plan to nested loops through isl's AST builder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from polydl.codegen import build, passes
from polydl.codegen.context import CallFacts
from polydl.codegen.facts import context_of, generated
from polydl.codegen.loop_ir import Body, Node, with_elements_of
from polydl.codegen.lowering import assignment, in_box
from polydl.codegen.values import Expr
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.plan.contraction import Contraction, Starts, starts_of
from polydl.plan.nest_plan import NestPlan, Plan
from polydl.poly.counting import limited
from polydl.poly.legality import Directions
from polydl.poly.schedules import time_map

MicrokernelCall = Callable[[NestPlan, Sequence[Expr]], Node]
"""Makes one microkernel call from the values of the loops around it, shared ones first."""


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


def _with_counters(schedule: isl.Map, name: str, places: Collection[int]) -> isl.Map:
    """The schedule of a statement whose instances name the counters of loops, at these places, after its iterators."""
    depth = schedule.dim(isl.dim_type.in_)
    counted = schedule.range_map().flatten_domain()
    for place in range(schedule.dim(isl.dim_type.out) - 1, -1, -1):
        if place not in places:
            counted = counted.project_out(isl.dim_type.in_, depth + place, 1)
    return counted.set_tuple_name(isl.dim_type.in_, name)


def _iterator_names(dimensions: Sequence[tuple[int | Loop, ...]], length: int) -> list[str]:
    names: list[str] = []
    for position in range(length):
        loops = {d[position].name for d in dimensions if position < len(d) and isinstance(d[position], Loop)}  # type: ignore[union-attr]
        name = loops.pop() if len(loops) == 1 else f"polydl_c{position}"
        names.append(name if name not in names else f"{name}_{position}")
    return names


def _tree(
    scop: Scop,
    plan: Plan,
    names: Sequence[str],
    call: MicrokernelCall,
    smaller: Sequence[Contraction],
    context: str,
    *,
    in_long: bool,
) -> Body:
    """The loops of statements that share their first position in time. With ``in_long`` their counters are ``long``."""
    dimensions = {name: generated(plan, name) for name in names}
    length = max(len(each) for each in dimensions.values())
    relation = isl.UnionMap("{ }")
    leaves: dict[str, build.Leaf] = {}
    for name in names:
        nest = plan.nest_of(name)
        if nest.inner:
            schedule = _contracted(scop, nest, name)
            missing = length - schedule.dim(isl.dim_type.out)
            schedule = schedule.add_dims(isl.dim_type.out, missing)
            for position in range(length - missing, length):
                schedule = schedule.fix_val(isl.dim_type.out, position, isl.Val(0))
            leaves[name] = _calling(call, nest)
        else:
            statement = scop.statement(name)
            schedule = time_map(statement, dimensions[name], length)
            used = {access.array for access in statement.accesses}
            boxes = tuple(each for each in smaller if each.array.name in used)
            depth = max((each.depth for each in boxes), default=0)
            outside = dimensions[name][:depth]
            if boxes:
                places = [place for place, each in enumerate(outside) if isinstance(each, Loop)]
                schedule = _with_counters(schedule, name, places)
            leaves[name] = _assigning(scop, statement, starts_of(boxes, outside), in_long=in_long)
        relation = relation.union(isl.UnionMap.from_map(schedule))
    iterators = _iterator_names(list(dimensions.values()), length)
    builder = isl.AstBuild.from_context(isl.Set(context))
    identifiers = isl.IdList.alloc(isl.DEFAULT_CONTEXT, length)
    for iterator in iterators:
        identifiers = identifiers.add(isl.Id(iterator))
    tree = builder.set_iterators(identifiers).node_from_schedule_map(relation)
    return build.body(tree, leaves, {name: index for index, name in enumerate(iterators)})


def _calling(call: MicrokernelCall, nest: NestPlan) -> Callable[[Sequence[Expr]], Node]:
    return lambda values: call(nest, values)


def _assigning(scop: Scop, statement: Statement, starts: Starts, *, in_long: bool) -> Callable[[Sequence[Expr]], Node]:
    def assigned(values: Sequence[Expr]) -> Node:
        made = assignment(scop, statement, values[: statement.depth], in_long=in_long)
        (node,) = with_elements_of((made,), lambda element: in_box(element, starts, values[statement.depth :]))
        return node

    return assigned if starts else lambda values: assignment(scop, statement, values, in_long=in_long)


@limited
def loops(
    scop: Scop,
    plan: Plan,
    directions: Mapping[int, Directions],
    call: MicrokernelCall,
    omitted: Collection[str] = (),
    calls: Mapping[str, CallFacts] | None = None,
    numerics: Numerics = DEFAULT_NUMERICS,
    vector_bytes: int = 0,
    smaller: Sequence[Contraction] = (),
    sizes: str = "{ : }",
) -> Body:
    """The loops that run the plan, but for the statements in ``omitted``.

    ``directions`` are those of each nest's dependences, by its index. ``calls`` is what calls do besides, by their
    statements. ``numerics`` says what may be done to products, functions and the precision of sums. With
    ``vector_bytes`` loops that fill vectors of that size are to use them. ``smaller`` are the contracted arrays. Where
    the scop's sets have parameters, ``sizes`` is the isl set of the values that these may have.
    """
    trees: dict[int, list[str]] = {}
    for name, dimensions in plan.schedule.statements:
        if name in omitted:
            continue
        position = dimensions[0]
        assert isinstance(position, int)
        trees.setdefault(position, []).append(name)
    made: list[Node] = []
    for position in sorted(trees):
        names = trees[position]
        context = context_of(scop, plan, names, directions, calls=calls, numerics=numerics, vector_bytes=vector_bytes)
        context = replace(context, private=tuple(each.array for each in smaller if each.private))
        tree = _tree(scop, plan, names, call, smaller, sizes, in_long=context.long_counters)
        made += passes.run(tree, context)
    return tuple(made)
