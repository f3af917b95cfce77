"""Private arrays: what each iteration of a loop on threads has of its own is declared inside of it. No compiler."""

from __future__ import annotations

from dataclasses import replace

from loops_by_hand import array, at, c, context, loop, sets

from polydl.codegen.loop_ir import Body, Declare, For, Pragma, nodes
from polydl.codegen.passes import private_arrays
from polydl.ir.alignment import ALIGNMENT
from polydl.ir.scop import Array

TILE, LINE, PAIR = array("tile", 4, 8), array("line", 16), array("pair", 2)


def nest(*, parallel: bool = True, pragma: Pragma | None = None) -> Body:
    """A pass that fills an array and one that reads it, in the second of two loops."""
    passes = (
        loop("k", 2, 7, sets("S", at("tile", 0, "k"), at("x", "i", "k"))),
        loop("k", 2, 7, sets("T", at("y", "i", "k"), at("tile", 0, "k"))),
    )
    return (replace(loop("i", 0, 7, loop("j", 1, 3, *passes)), parallel=parallel, pragma=pragma),)


def declared(ir: Body, *private: Array) -> list[tuple[str, list[str], int]]:
    """The loops whose bodies declare arrays, with the names of these and how they are aligned."""
    result = private_arrays.run(ir, replace(context(*private), private=private))
    found = []
    for around in [node for node in nodes(result) if isinstance(node, For)]:
        for node in around.body:
            if isinstance(node, Declare):
                names = [variable.name for variable in node.variables]
                found.append((around.iterator, names, node.alignment))
    return found


def test_the_loop_on_threads_declares_what_its_body_uses() -> None:
    result = private_arrays.run(nest(), replace(context(TILE, LINE), private=(TILE, LINE)))
    lines = c(result)
    assert [line for line in lines if "line[" in line] == []
    [place] = [number for number, line in enumerate(lines) if line.endswith("tile[4][8];")]
    assert lines[place - 1].startswith("for (int i = 0;")
    assert lines[place + 1].startswith("for (int j = 0;")
    assert declared(nest(), TILE, LINE) == [("i", ["tile"], ALIGNMENT)]


def test_two_loops_that_are_dealt_out_as_one_declare_it_in_the_inner_one() -> None:
    together = nest(pragma=Pragma("parallel for", collapse=2))
    assert declared(together, TILE) == [("j", ["tile"], ALIGNMENT)]


def test_arrays_shorter_than_a_line_of_memory_are_not_aligned() -> None:
    assert PAIR.bytes < ALIGNMENT <= LINE.bytes
    both = sets("S", at("pair", 0), at("x", "i")), sets("T", at("line", 0), at("pair", 0))
    ir = (replace(loop("i", 0, 7, *both), parallel=True),)
    assert declared(ir, PAIR, LINE) == [("i", ["pair"], 0), ("i", ["line"], ALIGNMENT)]


def test_loops_of_one_thread_and_code_without_such_arrays_stay() -> None:
    for ir, private in ((nest(parallel=False), (TILE,)), (nest(), ()), (nest(), (LINE,))):
        assert private_arrays.run(ir, replace(context(*private), private=private)) == ir


def test_what_is_used_outside_of_its_declaration_is_known() -> None:
    ir = nest()
    assert private_arrays.used_outside(ir) == {"x", "y", "tile"}
    inside = private_arrays.run(ir, replace(context(TILE), private=(TILE,)))
    assert private_arrays.used_outside(inside) == {"x", "y"}
