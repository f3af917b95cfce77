"""Copies that transpose: which nests do, what their loops become, and that the squares compute what the loops do."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from computed import check_kernels, parse
from loops_by_hand import array, at, c, context, loop, value
from machines import machine_with

from polydl import pipeline
from polydl.codegen.context import StatementFacts
from polydl.codegen.loop_ir import Assign, For
from polydl.codegen.passes import transposing_copies
from polydl.codegen.support import SUPPORT, TRANSPOSE
from polydl.ir.scop import Scop
from polydl.ir.variant import Interchange, Parallel, Tile, Variant
from polydl.model import plain_loops
from polydl.model.nest_loops import time_loops
from polydl.plan.apply import apply
from polydl.plan.transposing_copies import transposing_copy
from polydl.poly.legality import Directions

COPY = """
void f({type} to[{a}][{b}][40], const {other} from[40][{a}][{b}]) {{
#pragma scop
  for (int a = 0; a < {a}; a++)
    for (int b = 0; b < {b}; b++)
      for (int x = 0; x < 40; x++)
        to[a][b][x] = from[x][a][b];
#pragma endscop
}}
"""


def copy(tmp_path: Path, a: int = 24, b: int = 3, kind: str = "float", other: str = "") -> Scop:
    return parse(tmp_path, COPY.format(a=a, b=b, type=kind, other=other or kind))


def rows_and_columns(scop: Scop, *steps: Interchange | Tile | Parallel) -> tuple[str, str] | None:
    (nest,) = apply(scop, Variant(steps), ()).plan.nests
    found = transposing_copy(scop, nest)
    return None if found is None else (" ".join(loop.name for loop, _ in found.rows), found.columns[0].name)


# --- which nests ------------------------------------------------------------------------


def test_loops_that_are_contiguous_one_after_the_other_run_through_rows_together(tmp_path: Path) -> None:
    scop = copy(tmp_path)
    assert rows_and_columns(scop, Interchange(0, ("a", "b", "x"))) == ("a b", "x")
    # b moves a whole line of the source further than a row of the target's.
    assert rows_and_columns(scop, Interchange(0, ("b", "a", "x"))) is None
    # The loop through columns walks along the source.
    assert rows_and_columns(scop, Interchange(0, ("x", "a", "b"))) is None


def test_a_loop_on_threads_runs_through_rows_alone(tmp_path: Path) -> None:
    order = Interchange(0, ("a", "b", "x"))
    assert rows_and_columns(copy(tmp_path), order, Parallel(0, "a")) is None  # three rows are no square
    assert rows_and_columns(copy(tmp_path, b=16), order, Parallel(0, "a")) == ("b", "x")
    assert rows_and_columns(copy(tmp_path, b=1), order, Parallel(0, "a")) == ("a", "x")
    assert rows_and_columns(copy(tmp_path), order, Parallel(0, "x")) is None


def test_tiles_of_a_loop_are_rows_of_their_own(tmp_path: Path) -> None:
    tiled = Tile(0, "a", (8,)), Interchange(0, ("a_t1", "a", "b", "x"))
    assert rows_and_columns(copy(tmp_path), *tiled) == ("a b", "x")
    outside = Tile(0, "a", (8,)), Interchange(0, ("a_t1", "x", "a", "b"))
    assert rows_and_columns(copy(tmp_path), *outside) is None


def test_copies_in_squares_have_one_order(tmp_path: Path) -> None:
    (nest,) = pipeline.space_on(copy(tmp_path), machine_with(1, 64)).spaces
    assert {choice.order for choice in nest.choices} == {("a", "b", "x")}


def test_what_converts_or_computes_is_no_copy(tmp_path: Path) -> None:
    order = Interchange(0, ("a", "b", "x"))
    assert rows_and_columns(copy(tmp_path, kind="float", other="double"), order) is None
    text = COPY.format(a=24, b=3, type="float", other="float").replace("= from[x][a][b]", "= 2.0f * from[x][a][b]")
    assert rows_and_columns(parse(tmp_path, text), order) is None
    assert rows_and_columns(parse(tmp_path, text.replace("= 2.0f *", "+=")), order) is None


@pytest.mark.parametrize(
    ("a", "b", "walked"), [(512, 1, [(0, 16), (2, 1), (0, 1)]), (24, 3, [(0, 5), (2, 1), (0, 1), (1, 1)])]
)
def test_a_side_of_a_square_runs_inside_of_its_columns(
    tmp_path: Path, a: int, b: int, walked: list[tuple[int, int]]
) -> None:
    scop, machine = copy(tmp_path, a=a, b=b), machine_with(1, 64)
    (nest,) = apply(scop, Variant((Interchange(0, ("a", "b", "x")),)), ()).plan.nests
    loops = [(loop.iterator, loop.size) for loop in time_loops(scop, nest, None, machine.core)]
    assert [loop for loop in loops if loop[0] != 1 or b > 1] == walked
    free = Directions(nest.nest.loops, frozenset(), frozenset())
    cycles = plain_loops.cycles(scop, nest, free, 16, machine.core)
    vectors, starts = a * b * 40 * 4 / 16, a * b
    expected = vectors * machine.core.transposed_vector_cycles + starts * machine.core.loop_start_cycles
    assert cycles == pytest.approx(expected)


# --- what becomes of the loops -----------------------------------------------------------

ARRAYS = array("to", 24, 3, 40), array("from", 40, 24, 3)
FACTS = StatementFacts(transposed=(0, 1, 2))


def loops() -> For:
    assign = replace(Assign(at("to", "a", "b", "x"), "=", at("from", "x", "a", "b")), statement="S")
    inner = replace(loop("x", 2, 39, assign), vector=True)
    return loop("a", 0, 23, loop("b", 1, 2, inner))


def test_all_loops_become_one_call() -> None:
    lines = c(transposing_copies.run((loops(),), context(*ARRAYS, S=FACTS)))
    assert lines == ["polydl_transpose(&to[0][0][0], 40, &from[0][0][0], 72, 72, 40);"]


def test_rows_of_squares_are_shared_out_among_threads() -> None:
    assign = replace(Assign(at("to", "a", 0, "x"), "=", at("from", "x", "a", 0)), statement="S")
    inner = replace(loop("x", 1, 39, assign, first=8), vector=True)
    outer = replace(loop("a", 0, 23, inner, first=2), parallel=True)
    arrays = array("to", 24, 1, 40), array("from", 40, 24, 1)
    facts = replace(FACTS, transposed=(0, 1))
    assert c(transposing_copies.run((outer,), context(*arrays, S=facts))) == [
        "for (int a = 2; a <= 23; a += 16) {",
        "polydl_transpose(&to[a][0][8], 40, &from[8][a][0], 24, polydl_min(16, -a + 24), 32);",
        "}",
    ]


def test_loops_stay_where_the_plan_has_no_transposing_copy_or_bounds_move() -> None:
    for facts in (StatementFacts(), replace(FACTS, transposed=(0, 2))):
        before = (loops(),)
        assert transposing_copies.run(before, context(*ARRAYS, S=facts)) is before
    assign = replace(Assign(at("to", "a", 0, "x"), "=", at("from", "x", "a", 0)), statement="S")
    triangle = loop("a", 0, 23, loop("x", 1, 39, assign, first=value("a")))
    facts = replace(FACTS, transposed=(0, 1))
    assert transposing_copies.run((triangle,), context(*ARRAYS, S=facts)) == (triangle,)


# --- what they compute -------------------------------------------------------------------


@pytest.mark.native
@pytest.mark.parametrize("compiler", ["gcc -O2", "gcc -O3 -march=native", "g++ -x c++ -O1", "clang -O2 -Wall -Werror"])
def test_squares_and_what_is_left_beside_them(tmp_path: Path, compiler: str) -> None:
    words = "".join(
        f"void run_{size}({kind} *to, long to_row, const {kind} *from, long from_row, long rows, long columns)\n"
        "{ polydl_transpose(to, to_row, from, from_row, rows, columns); }\n"
        for size, kind in {1: "char", 2: "short", 4: "float", 8: "double", 16: "long double"}.items()
    )
    linked = f'#ifdef __cplusplus\nextern "C" {{\n#endif\n{words}\n#ifdef __cplusplus\n}}\n#endif\n'
    (tmp_path / "t.c").write_text(f"{SUPPORT[TRANSPOSE].text}\n{linked}", encoding="utf-8")
    command = [*compiler.split(), "-shared", "-fPIC", "-o", str(tmp_path / "t.so"), str(tmp_path / "t.c")]
    subprocess.run(command, check=True, capture_output=True)
    library = ctypes.CDLL(str(tmp_path / "t.so"))
    draw = np.random.default_rng(5)
    for size, rows, columns in product((1, 2, 4, 8, 16), (1, 7, 16, 64, 67), (1, 16, 33, 64)):
        element = f"V{size}"
        to_row, from_row = columns + int(draw.integers(0, 3)), rows + int(draw.integers(0, 3))
        source = np.frombuffer(draw.bytes(columns * from_row * size), element).reshape(columns, from_row)
        # What lies between rows, and behind the last one, stays as it is.
        target = np.frombuffer(b"\xa5" * ((rows * to_row + 4) * size), element).copy()
        expected = target.copy()
        expected[: rows * to_row].reshape(rows, to_row)[:, :columns] = source[:, :rows].T
        numbers = [ctypes.c_long(number) for number in (to_row, from_row, rows, columns)]
        library[f"run_{size}"](
            ctypes.c_void_p(target.ctypes.data), numbers[0], ctypes.c_void_p(source.ctypes.data), *numbers[1:]
        )
        assert target.tobytes() == expected.tobytes(), (size, rows, columns)


@pytest.mark.native
@pytest.mark.parametrize("kind", ["signed char", "short", "float", "double"])
def test_nests_that_transpose_compute_what_the_source_does(tmp_path: Path, kind: str) -> None:
    scop = copy(tmp_path, a=21, b=5, kind=kind)
    order = Interchange(0, ("a", "b", "x"))
    tiled = Tile(0, "a", (8,)), Interchange(0, ("a_t1", "a", "b", "x"))
    variants = [Variant((order,)), Variant((order, Parallel(0, "a"))), Variant(tiled)]
    applied = [apply(scop, variant, ()) for variant in variants]
    kernels = [pipeline.kernel(each, 32) for each in applied]
    assert [TRANSPOSE in kernel.c for kernel in kernels] == [True, 5 * scop.array("to").element_bytes >= 16, True]
    check_kernels(tmp_path, scop, kernels)
