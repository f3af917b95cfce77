"""Rounded stores: vector loops leave floats in a buffer, from where whole vectors of them are rounded to bfloat16.

Processors have instructions that round two vectors of floats to one of bfloat16s. Compilers don't know when these may
be used, since they take numbers below 1.2e-38 as zeros, and compute with the bits of each number instead. They are
used at the levels of numerics that admit that, where vectors are as long as on processors that have some.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    as_sum,
    collected,
    elements,
    linear,
    substituted,
)
from polydl.ir.alignment import ALIGNMENT

# Elements of a buffer: with more, loads wait for stores. And of a vector of bfloat16s.
_MOST, _VECTOR = 256, 16


def run(ir: Body, context: Context) -> Body:
    """Vector loops whose last statements round values to elements that they walk along do so behind the loop."""
    if not context.rounds_by_instructions:
        return ir
    numbers = count()

    def changed(node: Node) -> Node:
        stores = _stores(node) if isinstance(node, For) else ()
        return _rounded(node, stores, numbers) if isinstance(node, For) and stores else node

    return mapped(ir, changed)


def _stores(loop: For) -> tuple[Assign, ...]:
    """The last statements of a vector loop whose results can be rounded together."""
    plain = loop.vector and not loop.parallel and not loop.reductions and not loop.before and not loop.after
    whole = loop.trips is not None and loop.trips <= _MOST and loop.trips % _VECTOR == 0
    if not plain or not whole or not loop.body or not is_straight(loop.body):
        return ()
    stores: list[Assign] = []
    while len(stores) < len(loop.body):
        store = rounding_store(loop.body[: len(loop.body) - len(stores)], loop.iterator)
        read = [element for each in stores for element in _read(each)]
        if store is None or not all(_never_meet(_target(store), element) for element in read):
            break
        stores.insert(0, store)
    return tuple(stores)


def rounding_store(body: Body, counter: str, rounds: str = FROM_FLOAT) -> Assign | None:
    """The last statement of a loop's body, where the results of all iterations may be rounded behind the loop.

    It rounds a value by the function ``rounds`` to the element that the loop walks along, and nothing else in the body
    needs another element of that array, but to set one of another row, or calls anything.
    """
    *others, last = body
    match last:
        case Assign(Element(array) as target, "=", Apply(function, (_,))) if function == rounds:
            used = [each for node in others for value in _used(node, target) for each in elements(value)]
            used += elements(last.value)
            alone = all(each == target for each in used if each.array == array)
            calls = any(isinstance(node, Call) for node in others)
            return last if alone and not calls and is_walked_along(target, counter) else None
    return None


def _target(store: Assign) -> Element:
    assert isinstance(store.target, Element)
    return store.target


def _read(store: Assign) -> Iterator[Element]:
    return (each for value in (*_target(store).subscripts, store.value) for each in elements(value))


def _used(node: Node, target: Element) -> tuple[Expr, ...]:
    """The expressions of a node, but for an element that it sets and that is never the target of any iteration."""
    match node:
        case Assign(Element() as own, "=", value) if _never_meet(own, target):
            return *own.subscripts, value
    return values(node)


def _never_meet(one: Element, other: Element) -> bool:
    """Whether two elements are different ones in all iterations: of other arrays, or at one place of different rows."""
    if one.array != other.array:
        return True
    if len(one.subscripts) != len(other.subscripts) or one.subscripts[-1:] != other.subscripts[-1:]:
        return False
    pairs = ((as_sum(a), as_sum(b)) for a, b in zip(one.subscripts, other.subscripts, strict=True))
    return any(
        a.constant != b.constant and not collected([*a.terms, *((-factor, term) for factor, term in b.terms)])
        for a, b in pairs
    )


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
            first = _number(least)
            if first is not None and rest == inner:
                return RoundedFloats(inner, ROUND_ABOVE, {"least": least})
            match rest:
                case Conditional(Binary(">", other, Constant() as most), Constant() as high, last):
                    second = _number(most)
                    ordered = first is not None and second is not None and first <= second
                    if ordered and high == most and other == last == inner:
                        return RoundedFloats(inner, ROUND_WITHIN, {"least": least, "most": most})
    return RoundedFloats(value, ROUND, {})


def _number(constant: Constant) -> float | None:
    """The number, if it is one of a signed or floating-point type."""
    try:
        return float(constant.text.rstrip("fFlL"))
    except ValueError:
        return None


def kept_as_float(store: Assign, value: Expr, buffer: str, counter: str, first: Expr) -> Assign:
    """A rounding store as one of a float ``value`` to a buffer, which begins with the iteration ``first``."""
    lane = linear([(1, Name(counter)), (-1, first)])
    return replace(store, target=Element(buffer, (lane,)), value=value)


def _rounded(loop: For, stores: Sequence[Assign], numbers: Iterator[int]) -> Block:
    assert loop.trips is not None
    buffers: list[Node] = []
    floats: list[Node] = []
    calls: list[Node] = []
    for store in stores:
        name, rounding = f"polydl_rounded{next(numbers)}", rounding_of(store)
        arguments: dict[str, Expr] = {
            "to": AddressOf(substituted(store.target, {loop.iterator: loop.first})),
            "from": Name(name),
            "count": Integer(loop.trips),
            **rounding.bounds,
        }
        buffers.append(Declare("float", (Variable(name, (loop.trips,)),), alignment=ALIGNMENT))
        floats.append(kept_as_float(store, rounding.value, name, loop.iterator, loop.first))
        calls.append(Call(FunctionCallee(rounding.function), store.statement, tuple(arguments.items())))
    body = (*loop.body[: len(loop.body) - len(stores)], *floats)
    return Block((*buffers, replace(loop, body=body), *calls))
