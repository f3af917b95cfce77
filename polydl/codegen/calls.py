"""Calls that stand for the innermost loops of a nest.

``values`` are those of the counters of all loops around a call, the shared ones first.
"""

from __future__ import annotations

from collections.abc import Sequence

from polydl.codegen.callees import MicrokernelCallee, Written
from polydl.codegen.loop_ir import Block, Call, Declare, Node, Variable
from polydl.codegen.lowering import element, in_box
from polydl.codegen.values import AddressOf, Binary, Conditional, Expr, Integer, Name, Unary, at_all, linear
from polydl.ir.scop import Scop
from polydl.ir.statement import Access
from polydl.plan.call_sites import CallSite
from polydl.plan.contraction import Starts
from polydl.plan.nest_plan import NestPlan, ends
from polydl.plan.zeroing import first_values


def iterator_values(plan: NestPlan, depth: int, values: Sequence[Expr]) -> list[Expr]:
    """For each of a statement's ``depth`` iterators, its value at the start of the call's tile."""
    found: dict[int, Expr] = {}
    for loop, value in zip((*plan.shared, *plan.loops), values, strict=True):
        if loop.size == 1:
            found[loop.iterator] = value if loop.direction == 1 else Unary("-", value)
    for loop in plan.inner:
        position = loop.iterator - plan.nest.depth
        name, low = plan.nest.loops[position], plan.bounds[position][0]
        tile = plan.tile_of(name)
        if tile is None:
            found[loop.iterator] = Integer(low)
        else:
            number = values[len(plan.shared) + plan.loops.index(tile)]
            found[loop.iterator] = linear([(tile.size * tile.direction, number)], low)
    return [found[index] for index in range(depth)]


def annotated_call(scop: Scop, plan: NestPlan, values: Sequence[Expr]) -> Node:
    """The call that the user marked, with the loop counters that it may name."""
    marked = plan.nest.annotated
    assert marked is not None
    statement = scop.statement(plan.nest.statements[0])
    outer = statement.depth - marked.inner_loops
    found = iterator_values(plan, statement.depth, values)[:outer]
    others = [(n, v) for n, v in zip(statement.iterators, found, strict=False) if v != Name(n)]
    call = Call(Written(marked.call.rstrip(";") + ";"), statement.name)
    if not others:
        return call

    def counter(name: str, value: Expr) -> Declare:
        return Declare("int", (Variable(name, initial=value),), constant=True)

    # First the values, since they may name the very counters that are declared next.
    values_of = (counter(f"polydl_{name}_here", value) for name, value in others)
    counters = (counter(name, Name(f"polydl_{name}_here")) for name, _ in others)
    return Block((*values_of, Block((*counters, call))))


def microkernel_call(scop: Scop, site: CallSite, values: Sequence[Expr], starts: Starts) -> Call:
    """The call of a site: the product alone. ``starts`` are those of contracted arrays over the ``values``."""
    step = site.plan.microkernel
    assert step is not None
    iterators = iterator_values(site.plan, site.statement.depth, values)

    def address(access: Access) -> Expr:
        return AddressOf(in_box(element(scop, access, iterators), starts, values))

    full, last = site.gemm.batch
    form = site.match.form
    moves = {loop: stride != 0 for loop, stride in enumerate(form.strides_c)}
    first = at_all(values, first_values(scop, site.plan, moves)) if site.gemm.overwrites else Integer(0)
    arguments = {
        "a": address(form.a),
        "b": address(form.b),
        "c": address(form.c),
        "last_m": _is_last(site, values, step.m),
        "last_n": _is_last(site, values, step.n),
        "last_k": _is_last(site, values, step.k),
        "batch": Integer(full)
        if full == last
        else Conditional(_is_last(site, values, step.batch[0]), Integer(last), Integer(full)),
        "first": first,
    }
    callee = MicrokernelCallee(site.kernel, site.gemm)
    return Call(callee, site.statement.name, tuple(arguments.items()), tuple(values), tuple(iterators))


def _is_last(site: CallSite, values: Sequence[Expr], loop: str) -> Expr:
    """The condition for the last tile of a loop, where that may be shorter."""
    full, last = ends(site.plan, loop)
    tile = site.plan.tile_of(loop)
    if full == last or tile is None:
        return Integer(0)
    number = values[len(site.plan.shared) + site.plan.loops.index(tile)]
    return Binary("==", number, Integer(tile.direction * (site.plan.extent(loop) // tile.size)))
