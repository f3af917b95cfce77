"""Rounded stores: vector loops leave floats in a buffer, from where whole vectors of them are rounded to bfloat16.

Processors have instructions that round two vectors of floats to one of bfloat16s. Compilers don't know when these may
be used, since they take numbers below 1.2e-38 as zeros, and compute with the bits of each number instead. They are
used where a microkernel takes such numbers as zeros already.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from polydl.bfloat16 import FROM_FLOAT
from polydl.codegen.bfloat16_rounding import ROUND, ROUND_ABOVE, ROUND_WITHIN
from polydl.codegen.callees import FunctionCallee
from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Assign, Block, Body, Call, Declare, For, Node, Variable, is_straight, mapped, values
from polydl.codegen.passes.scalar_replacement import is_walked_along
from polydl.codegen.values import (
    AddressOf,
    Apply,
    Binary,
    Conditional,
    Constant,
    Element,
    Expr,
    Integer,
    Name,
    elements,
    linear,
    substituted,
)
from polydl.ir.alignment import ALIGNMENT

# Elements of a buffer: with more, loads wait for stores. And of a vector of bfloat16s.
_MOST, _VECTOR = 256, 16


def run(ir: Body, context: Context) -> Body:
    """Vector loops whose last statement rounds a value to the element that they walk along do so behind the loop."""
    if not context.takes_small_numbers_as_zeros:
        return ir
    numbers = count()

    def changed(node: Node) -> Node:
        store = _store(node) if isinstance(node, For) else None
        return node if store is None or not isinstance(node, For) else _rounded(node, store, next(numbers))

    return mapped(ir, changed)


def _store(loop: For) -> Assign | None:
    """The last statement of a vector loop whose results can be rounded together."""
    plain = loop.vector and not loop.parallel and not loop.reductions and not loop.before and not loop.after
    whole = loop.trips is not None and loop.trips <= _MOST and loop.trips % _VECTOR == 0
    if not plain or not whole or not loop.body or not is_straight(loop.body):
        return None
    return rounding_store(loop.body, loop.iterator)


def rounding_store(body: Body, counter: str, rounds: str = FROM_FLOAT) -> Assign | None:
    """The last statement of a loop's body, where the results of all iterations may be rounded behind the loop.

    It rounds a value by the function ``rounds`` to the element that the loop walks along, and nothing else in the body
    needs another element of that array, or calls anything.
    """
    *others, last = body
    match last:
        case Assign(Element(array) as target, "=", Apply(function, (_,))) if function == rounds:
            used = [each for node in others for value in values(node) for each in elements(value)]
            used += elements(last.value)
            alone = all(each == target for each in used if each.array == array)
            calls = any(isinstance(node, Call) for node in others)
            return last if alone and not calls and is_walked_along(target, counter) else None
    return None


@dataclass(frozen=True)
class RoundedFloats:
    """What rounds the floats in a buffer."""

    #: what the buffer gets
    value: Expr
    #: one of ``ROUND``, ``ROUND_ABOVE`` and ``ROUND_WITHIN``
    function: str
    #: its arguments behind the number of floats, by name
    bounds: dict[str, Expr]


def rounding_of(store: Assign) -> RoundedFloats:
    """How the value of a rounding store is rounded.

    The instructions that round are preceded by those that hold it between bounds, if the source does: compilers make
    masks of comparisons, since they don't know that the second of two operands is taken where one is no number.
    """
    assert isinstance(store.value, Apply)
    (value,) = store.value.arguments
    match value:
        case Conditional(Binary("<", inner, Constant() as least), Constant() as low, rest) if low == least:
            if rest == inner:
                return RoundedFloats(inner, ROUND_ABOVE, {"least": least})
            match rest:
                case Conditional(Binary(">", other, Constant() as most), Constant() as high, last):
                    if high == most and other == last == inner:
                        return RoundedFloats(inner, ROUND_WITHIN, {"least": least, "most": most})
    return RoundedFloats(value, ROUND, {})


def kept_as_float(store: Assign, buffer: str, counter: str, first: Expr) -> Assign:
    """A rounding store as one of the float to a buffer, which begins with the iteration ``first``."""
    lane = linear([(1, Name(counter)), (-1, first)])
    return replace(store, target=Element(buffer, (lane,)), value=rounding_of(store).value)


def _rounded(loop: For, store: Assign, number: int) -> Block:
    assert loop.trips is not None
    name = f"polydl_rounded{number}"
    floats = kept_as_float(store, name, loop.iterator, loop.first)
    rounding = rounding_of(store)
    arguments: dict[str, Expr] = {
        "to": AddressOf(substituted(store.target, {loop.iterator: loop.first})),
        "from": Name(name),
        "count": Integer(loop.trips),
        **rounding.bounds,
    }
    return Block(
        (
            Declare("float", (Variable(name, (loop.trips,)),), alignment=ALIGNMENT),
            replace(loop, body=(*loop.body[:-1], floats)),
            Call(FunctionCallee(rounding.function), store.statement, tuple(arguments.items())),
        )
    )
