"""What calls fetch and copy of the tile of A after their own. No compiler.

Addresses are elements from the beginning of an array, which all iterations of the loops are asked for.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from itertools import product

import pytest
from loops_by_hand import access, at, c, call, loop, of_calls

from polydl.codegen.context import CallFacts
from polydl.codegen.loop_ir import Body, Call, nodes
from polydl.codegen.passes import next_tile, prefetch
from polydl.codegen.values import AddressOf, Binary, Conditional, Constant, Element, Expr, Integer, Linear, Name
from polydl.plan.next_tile import CallLoop, NextTile
from polydl.plan.prefetch import Prefetch, Walk

OPERATORS = {
    "%": operator.mod, "*": operator.mul, "<": operator.lt, "==": operator.eq, "&&": operator.and_,
}  # fmt: skip
# How far apart elements of each dimension are.
STRIDES = {"A": (100, 1), "B": (1000, 1), "buffer": (8, 1)}


def number(value: Expr, counters: Mapping[str, int]) -> int:
    """What an expression is where counters have these values."""
    match value:
        case Integer(integer):
            return integer
        case Constant(digits):
            return int(digits.rstrip("l"))
        case Name(name):
            return counters[name]
        case Linear(terms, constant):
            return constant + sum(factor * number(term, counters) for factor, term in terms)
        case Binary(sign, left, right):
            return int(OPERATORS[sign](number(left, counters), number(right, counters)))
        case Conditional():
            return number(value.positive if number(value.condition, counters) else value.negative, counters)
        case AddressOf(Element(array, subscripts)):
            places = (number(each, counters) for each in subscripts)
            return sum(stride * place for stride, place in zip(STRIDES[array], places, strict=True))
    raise AssertionError(value)


def only_call(ir: Body) -> Call:
    (found,) = (node for node in nodes(ir) if isinstance(node, Call))
    return found


# Three tiles of 100 elements, and two calls with each of them, which are tiles of a loop in two levels.
TILES, OUTER, CALLS = range(3), range(2), range(2)


def prefetching(*, first: int = 0) -> Call:
    """The call in loops over tiles, and over the calls with one tile, which are numbered from ``first`` on."""
    tiles = Walk(0, first, len(TILES), 100)
    between = (Walk(1, 0, len(OUTER), 0), Walk(2, 0, len(CALLS), 0))
    facts = CallFacts(prefetch=Prefetch(share=128, elements=32, inner=between, outer=(tiles,)))
    run = call("S", "t", "u", "v", a=at("A", "t", 0))
    last = first + len(TILES) - 1
    ir = (loop("t", 0, last, loop("u", 1, 1, loop("v", 2, 3, run)), first=first),)
    return only_call(prefetch.run(ir, of_calls(S=facts)))


@pytest.mark.parametrize("first", [0, 5])
def test_the_calls_with_one_tile_fetch_the_next(first: int) -> None:
    ahead = prefetching(first=first).argument("ahead")
    for tile, outer, inner in product(TILES, OUTER, CALLS):
        # Inner tiles count on through those of the outer loop.
        counters = {"t": first + tile, "u": outer, "v": 2 * outer + inner}
        # After the last one there is nothing to fetch, which does no harm.
        assert number(ahead, counters) == 100 * (first + tile + 1) + 32 * (2 * outer + inner)


@pytest.mark.parametrize(
    ("stride", "ahead"),
    [
        # The last tile of a row and the first of the next one are as far apart as any others.
        (400, "&A[j][0] + 100"),
        # Each row has the same tiles.
        (0, "&A[j][0] + (((j % 4) < 3) ? 100 : -300)"),
        (500, "&A[j][0] + (((j % 4) < 3) ? 100 : 200)"),
    ],
)
def test_loops_that_begin_anew_move_on_with_those_around(stride: int, ahead: str) -> None:
    facts = CallFacts(prefetch=Prefetch(64, 16, inner=(), outer=(Walk(1, 0, 4, 100), Walk(0, 0, 3, stride))))
    ir = (loop("i", 0, 2, loop("j", 1, 3, call("S", "i", "j", a=at("A", "j", 0)))),)
    assert c(prefetch.run(ir, of_calls(S=facts)))[2] == f"run(a: &A[j][0], ahead: {ahead});"


def test_calls_without_a_next_tile_stay() -> None:
    ir = (loop("t", 0, 2, call("S", "t", a=at("A", "t", 0)), call("T", "t", a=at("A", "t", 0))),)
    for each in (prefetch, next_tile):
        assert each.run(ir, of_calls(S=CallFacts())) is ir


# Tiles of 8 columns of 10 rows, in a matrix that has 3 by 2 of them from the third column on.
SHARED = ((0, 2), (1, 3))


def copying(*calls: CallLoop, columns: int) -> Call:
    tile = NextTile(
        copy="pack",
        buffer="buffer",
        source=access("B", (8, 0, 1, 0, 2), (0, 10, 0, 1, 0)),
        starts=(0, 0),
        shared=SHARED,
        calls=calls,
        columns=columns,
        depth=8,
        rows=8,
        lda=1000,
        share=4 * 8 * columns,
    )
    run = call("S", "k", "j", "u", "v", a=at("buffer", 0, 0))
    ir = (loop("k", 0, 1, loop("j", 1, 3, loop("u", 2, 1, loop("v", 3, 3, run)), first=1)),)
    return only_call(next_tile.run(ir, of_calls(S=CallFacts(next_tile=tile))))


TWO_LEVELS = CallLoop(2, 0, 2, nested=False), CallLoop(3, 0, 2, nested=True)


@pytest.mark.parametrize("columns", [2, 3])
def test_the_calls_with_one_tile_copy_the_next_into_the_other_half(columns: int) -> None:
    run = copying(*TWO_LEVELS, columns=columns)
    order = list(product(range(2), range(1, 4)))
    for tile, (k, j) in enumerate(order):
        copied = []
        for number_of_call, (u, v) in enumerate(product(range(2), range(2))):
            at_call = {"k": k, "j": j, "u": u, "v": 2 * u + v}
            assert number(run.argument("a"), at_call) == 64 * (tile % 2)
            count = number(run.argument("copy_columns"), at_call)
            copied += list(range(columns * number_of_call, columns * number_of_call + max(0, count)))
            if tile + 1 < len(order):
                following_k, following_j = order[tile + 1]
                start = 1000 * (8 * following_k + 2) + 10 * following_j
                share = columns * number_of_call
                assert number(run.argument("copy_from"), at_call) == start + 1000 * share
                assert number(run.argument("copy_to"), at_call) == 64 * ((tile + 1) % 2) + 8 * share
        # Nothing is left out, nothing copied twice, and there is none after the last tile.
        assert copied == (list(range(8)) if tile + 1 < len(order) else [])


def test_one_call_copies_all_of_a_tile() -> None:
    run = copying(columns=8)
    assert c((run,)) == [
        "run(a: &buffer[8 * ((3 * k + j - 1) % 2)][0], "
        "copy_from: &B[8 * ((j == 3) ? ((k < 1) ? (k + 1) : 0) : k) + 2][10 * ((j < 3) ? (j + 1) : 1)], "
        "copy_to: &buffer[8 * ((3 * k + j) % 2)][0], "
        "copy_columns: (3 * k + j - 1 == 5) ? 0 : 8);"
    ]
