"""Lane accumulators: a vector loop's sums and extrema with one variable for each lane, which are joined after the loop.

What OpenMP's clause asks for, compilers that keep to the order of additions do lane after lane at the end. Long loops
with few sums have lanes for several vectors, so that none waits for the addition of the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from polydl.codegen.context import Context
from polydl.codegen.entered import where_entered
from polydl.codegen.lane_totals import TOGETHER, WIDTHS
from polydl.codegen.loop_ir import (
    Assign,
    Block,
    Body,
    Declare,
    Evaluate,
    For,
    LoopReduction,
    Node,
    Pragma,
    Variable,
    at_most,
    expressions,
    mapped,
    with_values_of,
)
from polydl.codegen.passes.streaming_stores import stores
from polydl.codegen.values import (
    Apply,
    Binary,
    Conditional,
    Element,
    Expr,
    Integer,
    Linear,
    Name,
    as_sum,
    linear,
    plus,
)
from polydl.plan.vector_sums import separate_lanes, separate_vectors
from polydl.vector_functions import EXTREMA

# C operators that choose the first of two values.
_CHOOSES = {"max": ">", "min": "<"}
# Functions that join the lanes of a vector.
_JOINS = {"+": "total", "max": "greatest", "min": "least"}
_LANE = Name("polydl_lane")


def run(ir: Body, context: Context) -> Body:
    """All reductions of vector loops get their variables; lanes have their own where the loop fills vectors twice."""

    def changed(node: Node) -> Node:
        return _with_variables(node, context) if isinstance(node, For) and node.reductions else node

    return mapped(ir, changed)


def _lanes(loop: For, context: Context) -> int:
    """How many lanes have variables of their own; 0 if one does for all."""
    plain = not loop.parallel and loop.last is not None and not stores(loop, context)
    if not plain or not {each.type for each in loop.reductions} <= {"float", "double"}:
        return 0
    lanes = min(each.lanes for each in context.of(loop.body))
    return separate_lanes(lanes, context.fewest_trips(loop))


def _vectors(loop: For, lanes: int, context: Context) -> int:
    """For how many vectors each reduction has lanes: one where functions are called, which leave no registers."""
    calls = {each.function for each in expressions(loop.body) if isinstance(each, Apply)}
    called = bool(calls - EXTREMA if context.has_extrema else calls)
    return separate_vectors(len(loop.reductions), lanes, context.fewest_trips(loop), called=called)


def _with_variables(loop: For, context: Context) -> Node:
    lanes = _lanes(loop, context)
    width = lanes * _vectors(loop, lanes, context) if lanes else 0
    declared: list[Node] = []
    for statement in dict.fromkeys(each.statement for each in loop.reductions):
        here = [each for each in loop.reductions if each.statement == statement]
        extents = (width,) if lanes else ()
        declared.append(
            Declare(here[0].type, tuple(Variable(each.variable, extents, _first(each, lanes)) for each in here))
        )
    if lanes:
        declared += [_filled(each, width) for each in loop.reductions if each.operation != "+"]
    joined = [_joined(each, lanes, width) for each in loop.reductions if width > lanes]
    added = _added_together(sorted(loop.reductions, key=_statement), lanes)
    before, after = (*loop.before, *declared), (*joined, *added, *loop.after)
    if not lanes:
        return where_entered((loop,), replace(loop, before=before, after=after))
    vectors = _in_vectors(replace(loop, before=(), after=()), lanes, width)
    return where_entered((loop,), Block((*before, *vectors, *after)))


def _statement(reduction: LoopReduction) -> str:
    return reduction.statement


def _first(reduction: LoopReduction, lanes: int) -> Expr | None:
    """What a variable begins with where it is declared; None for the lanes of an extremum."""
    if reduction.operation == "+":
        return Integer(0)
    return None if lanes else reduction.target


def _over_lanes(lanes: int, *body: Assign) -> For:
    return For(_LANE.name, Integer(0), Binary("<", _LANE, Integer(lanes)), body, pragma=Pragma("simd"))


def _filled(reduction: LoopReduction, width: int) -> For:
    """All lanes of an extremum begin with what it has been."""
    return _over_lanes(width, Assign(Element(reduction.variable, (_LANE,)), "=", reduction.target))


def _joined(reduction: LoopReduction, lanes: int, width: int) -> For:
    """The first vector of a reduction with what the others have accumulated."""
    here = Element(reduction.variable, (_LANE,))
    return _over_lanes(
        lanes,
        *(
            _accumulated(reduction, here, Element(reduction.variable, (plus(_LANE, start),)))
            for start in range(lanes, width, lanes)
        ),
    )


def _accumulated(reduction: LoopReduction, to: Expr, value: Expr) -> Assign:
    if reduction.operation == "+":
        return Assign(to, "+=", value)
    return Assign(to, "=", Conditional(Binary(_CHOOSES[reduction.operation], value, to), value, to))


def _added_together(reductions: Sequence[LoopReduction], lanes: int) -> list[Node]:
    """What a loop has accumulated, joined with its targets: four sums of one type at a time, as far as they go."""
    added: list[Node] = []
    for (kind, operation), run in groupby(reductions, key=attrgetter("type", "operation")):
        left = list(run)
        while operation == "+" and lanes in WIDTHS.get(kind, ()) and len(left) >= TOGETHER:
            added.append(_totals(left[:TOGETHER], lanes))
            left = left[TOGETHER:]
        added += [_added(each, lanes) for each in left]
    return added


def _totals(reductions: Sequence[LoopReduction], lanes: int) -> Block:
    """Sums of which one call adds up all lanes, joined with their targets."""
    kind, totals = reductions[0].type, "polydl_totals"
    arguments: tuple[Expr, ...] = (Name(totals), *(Name(each.variable) for each in reductions), Integer(lanes))
    call = Evaluate(Apply(f"polydl_four_totals_{kind}", arguments))
    joined = (_joined_with(each, Element(totals, (Integer(place),))) for place, each in enumerate(reductions))
    return Block((Declare(kind, (Variable(totals, (TOGETHER,)),)), call, *joined))


def _added(reduction: LoopReduction, lanes: int) -> Assign:
    """What a loop has accumulated, joined with its target."""
    value: Expr = Name(reduction.variable)
    if lanes:
        value = Apply(f"polydl_{_JOINS[reduction.operation]}_{reduction.type}", (value, Integer(lanes)))
    return _joined_with(reduction, value)


def _joined_with(reduction: LoopReduction, value: Expr) -> Assign:
    if reduction.factor is not None:
        value = Binary("*", reduction.factor, value)
    return Assign(reduction.target, "+=" if reduction.operation == "+" else "=", value)


def _in_vectors(loop: For, lanes: int, width: int) -> Sequence[Node]:
    """The loop in pieces of ``width`` iterations, and what is left."""
    assert loop.last is not None
    name, first, last = loop.iterator, loop.first, loop.last
    start = Name(f"polydl_{name.removeprefix('polydl_')}_first")
    trips = loop.trips
    rest = -1 if trips is None else trips % width
    end = plus(last, 1 - width if trips is None else -rest)
    body = (_piece(loop, lanes, start, plus(start, width - 1)),)
    vectors = For(start.name, first, at_most(start.name, end), body, Integer(width))
    if not rest:
        return (vectors,)
    if trips is not None:
        return vectors, _piece(loop, lanes, plus(last, 1 - rest), last)
    count = Linear(((1, last), (-1, first)), 1)
    start_of_all = as_sum(first)
    whole = replace(start_of_all, terms=(*start_of_all.terms, (width, Binary("/", count, Integer(width)))))
    declared = Declare("int", (Variable(start.name, initial=whole),), constant=True)
    return vectors, declared, _piece(loop, lanes, start, last)


def _piece(loop: For, lanes: int, first: Expr, last: Expr) -> For:
    lane = linear([(1, Name(loop.iterator)), (-1, first)])
    places: dict[str, Expr] = {each.variable: Element(each.variable, (lane,)) for each in loop.reductions}
    return replace(
        loop,
        first=first,
        condition=at_most(loop.iterator, last),
        body=with_values_of(loop.body, places),
        reductions=(),
        pragma=Pragma("simd", simdlen=lanes),
    )
