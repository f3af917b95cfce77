"""Streaming stores: vector loops that fill lines in the first cache, from where they are written past the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from polydl.codegen import openmp
from polydl.codegen.context import Context
from polydl.codegen.loop_ir import (
    Assign,
    Block,
    Body,
    Declare,
    Evaluate,
    For,
    Node,
    ParallelRegion,
    Variable,
    at_most,
    mapped,
    with_values_of,
)
from polydl.codegen.passes.scalar_replacement import is_walked_along, streamed_arrays
from polydl.codegen.support import STREAMED_BYTES
from polydl.codegen.values import (
    AddressOf,
    Apply,
    Binary,
    Element,
    Expr,
    Integer,
    Integral,
    Linear,
    Name,
    SizeOf,
    linear,
    plus,
    substituted,
)

# Elements that are computed before they are written past the caches: with more, loads wait for stores.
_MOST_STREAMED = 256


@dataclass(frozen=True)
class _Store:
    """A variable of a loop's body that is written to an element at its end, and is not read from there before."""

    variable: str
    element: Element


def stores(loop: For, context: Context) -> tuple[_Store, ...]:
    """Those stores of a vector loop, after scalar replacement, that go past the caches."""
    streamed = streamed_arrays(loop, context) if loop.vector else frozenset()
    fresh = {
        each.name for node in loop.body if isinstance(node, Declare) for each in node.variables if each.initial is None
    }
    found = []
    for node in loop.body:
        match node:
            case Assign(Element(array) as element, "=", Name(variable), "") if array in streamed and variable in fresh:
                # What statements left in variables may belong to elements that the loop does not walk along.
                if is_walked_along(element, loop.iterator):
                    found.append(_Store(variable, element))
    return tuple(found)


def run(ir: Body, context: Context) -> Body:
    """Vector loops with streaming stores are cut into pieces, each of which fills buffers and then streams them."""

    def changed(node: Node) -> Node:
        found = stores(node, context) if isinstance(node, For) else ()
        return _streaming(node, found, context) if isinstance(node, For) and found else node

    return mapped(ir, changed)


def _streaming(loop: For, streamed: Sequence[_Store], context: Context) -> Node:
    """The loop in pieces, each with buffers for what it stores; the only piece if it is so short."""
    assert loop.last is not None
    first, last = loop.first, loop.last
    length = min(_MOST_STREAMED, context.fewest_trips(loop))
    names = f"polydl_{loop.iterator}_start", f"polydl_{loop.iterator}_end"
    start: Expr = Name(names[0])
    end: Expr = Name(names[1])
    short = 0 < len(loop.range) <= length and not loop.parallel
    if short:
        start, end = first, last
    piece = _piece(replace(loop, before=(), after=(), parallel=False), streamed, (start, end), length, context)
    made: Node
    if short:
        made = Block((*loop.before, Block(piece), *loop.after)) if loop.before or loop.after else Block(piece)
        return made
    last_here = Integral("min", plus(start, length - 1), last)
    made = replace(
        loop,
        iterator=names[0],
        condition=at_most(names[0], last),
        step=Integer(length),
        body=(Declare("int", (Variable(names[1], initial=last_here),), constant=True), *piece),
        vector=False,
        reductions=(),
    )
    if not loop.parallel:
        return made
    made = replace(made, before=(), after=(), pragma=openmp.directive("for nowait", loop, context))
    region = ParallelRegion((made,))
    return Block((*loop.before, region, *loop.after)) if loop.before or loop.after else region


def _piece(
    loop: For, streamed: Sequence[_Store], ends: tuple[Expr, Expr], length: int, context: Context
) -> tuple[Node, ...]:
    """Some iterations of a loop, from one number to another; what it stores goes to buffers, and past the caches."""
    start, end = ends
    lane = linear([(1, Name(loop.iterator)), (-1, start)])
    buffers: list[Node] = []
    streams: list[Node] = []
    for store in streamed:
        array = context.arrays[store.element.array]
        room = max(length, STREAMED_BYTES // array.element_bytes)
        buffers.append(Declare(array.element, (Variable(store.variable, (room,)),), alignment=STREAMED_BYTES))
        target = AddressOf(substituted(store.element, {loop.iterator: start}))
        size = Binary("*", Linear(((1, end), (-1, start)), 1), SizeOf(store.variable))
        streams.append(Evaluate(Apply("polydl_stream", (target, Name(store.variable), size))))
    stored: dict[str, Expr] = {store.variable: Element(store.variable, (lane,)) for store in streamed}
    kept = tuple(node for node in loop.body if not _belongs_to(node, streamed))
    filled = replace(
        loop,
        first=start,
        condition=at_most(loop.iterator, end),
        body=with_values_of(kept, stored),
        pragma=openmp.directive("simd", loop, context, simdlen=openmp.simdlen(loop, context)),
    )
    return (*buffers, filled, *streams)


def _belongs_to(node: Node, streamed: Sequence[_Store]) -> bool:
    """Whether a node declares one of the variables that are stored, or stores it."""
    names = {store.variable for store in streamed}
    match node:
        case Declare(variables=(Variable(name),)):
            return name in names
        case Assign(_, "=", Name(name), ""):
            return name in names
    return False
