"""Rounded stores: vector loops leave floats in a buffer, which is rounded to bfloat16 behind them."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loops_by_hand import at, c, loop, sets, times

from polydl import bfloat16
from polydl.codegen.bfloat16_rounding import ROUND, ROUND_ABOVE, ROUND_WITHIN
from polydl.codegen.context import Context
from polydl.codegen.loop_ir import For, Node
from polydl.codegen.passes import rounded_stores
from polydl.codegen.support import NARROW, SUPPORT
from polydl.codegen.values import Apply, Binary, Conditional, Constant, Element, Expr, Linear, Name
from polydl.execute.toolchain import Toolchain

FLUSHING = Context({}, {}, vector_bytes=64)
X = at("x", "k")


def rounded(value: Expr) -> Expr:
    return Apply(bfloat16.FROM_FLOAT, (value,))


def vector(*body: Node, last: int = 63) -> For:
    return replace(loop("k", 1, last, *body), vector=True)


def test_values_are_rounded_together_behind_the_loop() -> None:
    store = sets("S2", at("y", "i", "k"), rounded(times(X, X)))
    assert c(rounded_stores.run((vector(store),), FLUSHING)) == [
        "{",
        "_Alignas(64) float polydl_rounded0[64];",
        "for (int k = 0; k <= 63; ++k) {",
        "polydl_rounded0[k] = x[k] * x[k];",
        "}",
        "polydl_round(&y[i][0], polydl_rounded0, 64);",
        "}",
    ]


ZERO, SIX, HALF = Constant("0.0f"), Constant("6.0f"), Constant("0.5f")


def least(value: Expr, bound: Expr, other: Expr | None = None) -> Expr:
    return Conditional(Binary("<", value, bound), other or bound, value)


def within(value: Expr, last: Expr = X, least: Expr = ZERO, most: Expr = SIX) -> Expr:
    return Conditional(Binary("<", value, least), least, Conditional(Binary(">", value, most), most, last))


@pytest.mark.parametrize(
    ("value", "kept", "rounding"),
    [
        (least(X, ZERO), "x[k]", "polydl_round_above(&y[0], polydl_rounded0, 64, 0.0f);"),
        (within(X), "x[k]", "polydl_round_within(&y[0], polydl_rounded0, 64, 0.0f, 6.0f);"),
        # Anything else is left as it is.
        (least(X, ZERO, HALF), "(x[k] < 0.0f) ? 0.5f : x[k]", "polydl_round(&y[0], polydl_rounded0, 64);"),
        (
            within(X, last=HALF),
            "(x[k] < 0.0f) ? 0.0f : ((x[k] > 6.0f) ? 6.0f : 0.5f)",
            "polydl_round(&y[0], polydl_rounded0, 64);",
        ),
        (
            within(X, least=SIX, most=ZERO),
            "(x[k] < 6.0f) ? 6.0f : ((x[k] > 0.0f) ? 0.0f : x[k])",
            "polydl_round(&y[0], polydl_rounded0, 64);",
        ),
        (least(X, Constant("0u")), "(x[k] < 0u) ? 0u : x[k]", "polydl_round(&y[0], polydl_rounded0, 64);"),
    ],
    ids=["ReLU", "ReLU6", "another value below", "another value between", "bounds in another order", "unsigned"],
)
def test_bounds_are_left_to_what_rounds(value: Expr, kept: str, rounding: str) -> None:
    text = c(rounded_stores.run((vector(sets("S2", at("y", "k"), rounded(value))),), FLUSHING))
    assert f"polydl_rounded0[k] = {kept};" in text
    assert rounding in text


def test_the_buffer_begins_where_the_loop_does() -> None:
    tile = Linear(((32, Name("t")),), 31)
    begin = Linear(((32, Name("t")),))
    inner = replace(loop("k", 1, tile, sets("S2", at("y", "k"), rounded(X)), first=begin), vector=True)
    text = c(rounded_stores.run((inner,), FLUSHING))
    assert "polydl_rounded0[k - (32 * t)] = x[k];" in text
    assert "polydl_round(&y[32 * t], polydl_rounded0, 32);" in text


def test_each_loop_has_a_buffer_of_its_own() -> None:
    loops = tuple(vector(sets(name, at(name, "k"), rounded(X))) for name in ("y", "z"))
    text = "\n".join(c(rounded_stores.run(loops, FLUSHING)))
    assert "polydl_rounded0[k] = x[k];" in text
    assert "polydl_rounded1[k] = x[k];" in text


@pytest.mark.parametrize(
    "kept",
    [
        loop("k", 1, 63, sets("S2", at("y", "k"), rounded(X))),
        vector(sets("S2", at("y", "k"), rounded(X)), last=40),
        vector(sets("S2", at("y", "k"), rounded(X)), last=511),
        vector(sets("S2", at("y", "k", "i"), rounded(X))),
        vector(sets("S2", at("y", "k"), X)),
        vector(sets("S2", at("y", "k"), rounded(at("y", "k + 1")))),
        replace(vector(sets("S2", at("y", "k"), rounded(X))), parallel=True),
    ],
    ids=["no vectors", "a part of a vector", "a long loop", "columns", "floats", "its own elements", "threads"],
)
def test_other_loops_stay(kept: For) -> None:
    assert rounded_stores.run((kept,), FLUSHING) == (kept,)


def test_an_element_may_be_read_where_it_is_written() -> None:
    text = c(rounded_stores.run((vector(sets("S2", at("y", "k"), rounded(times(at("y", "k"), X)))),), FLUSHING))
    assert "polydl_rounded0[k] = y[k] * x[k];" in text


def test_small_numbers_are_kept_where_values_are_those_of_the_source() -> None:
    body = (vector(sets("S2", at("y", "k"), rounded(X))),)
    assert rounded_stores.run(body, replace(FLUSHING, exact=True)) is body


def test_processors_with_shorter_vectors_have_no_such_instructions() -> None:
    body = (vector(sets("S2", at("y", "k"), rounded(X))),)
    assert rounded_stores.run(body, replace(FLUSHING, vector_bytes=32)) is body


def test_several_stores_are_rounded_in_their_order() -> None:
    first, second = (sets("S2", at("y", "i", row, "k"), rounded(at("x", row, "k"))) for row in (0, 1))
    text = c(rounded_stores.run((vector(first, second),), FLUSHING))
    assert text[1:] == [
        "_Alignas(64) float polydl_rounded0[64];",
        "_Alignas(64) float polydl_rounded1[64];",
        "for (int k = 0; k <= 63; ++k) {",
        "polydl_rounded0[k] = x[0][k];",
        "polydl_rounded1[k] = x[1][k];",
        "}",
        "polydl_round(&y[i][0][0], polydl_rounded0, 64);",
        "polydl_round(&y[i][1][0], polydl_rounded1, 64);",
        "}",
    ]


@pytest.mark.parametrize(
    "other", [at("y", "j", "k"), at("y", "i", Linear(((1, Name("k")),), 1))], ids=["rows", "places"]
)
def test_stores_that_may_meet_stay_in_their_order(other: Element) -> None:
    """In the second case each iteration overwrites what the one before has left."""
    body = (vector(sets("S2", other, rounded(X)), sets("S3", at("y", "i", "k"), rounded(X))),)
    assert rounded_stores.run(body, FLUSHING) == body


@pytest.mark.parametrize("row", ["i", "j"])
def test_a_store_stays_whose_result_another_one_may_read(row: str) -> None:
    first = sets("S2", at("z", "i", "k"), rounded(X))
    second = sets("S3", at("y", "k"), rounded(times(at("z", row, "k"), X)))
    text = c(rounded_stores.run((vector(first, second),), FLUSHING))
    assert "z[i][k] = float_to_bfloat16(x[k]);" in text
    assert "polydl_round(&y[0], polydl_rounded0, 64);" in text
    assert len([line for line in text if "polydl_round(" in line]) == 1


@pytest.mark.native
@pytest.mark.parametrize("flags", [(), ("-mno-avx512bf16",)], ids=["as the processor has it", "by the bits"])
def test_numbers_are_rounded_to_the_nearest(flags: tuple[str, ...], tmp_path: Path) -> None:
    # In vectors, and what is left.
    bounds = {ROUND: "", ROUND_ABOVE: ", 0.0f", ROUND_WITHIN: ", -0.5f, 6.0f"}
    functions = "\n".join(SUPPORT[name].text for name in (NARROW, *bounds))
    calls = [
        f"void {name}_all(unsigned short *to, const float *from)\n"
        f"{{ {name}(to, from, 1001{given}); {name}(to + 1001, from + 1001, 23{given}); }}\n"
        for name, given in bounds.items()
    ]
    source = "\n".join([functions, *calls])
    (tmp_path / "f.c").write_text(source, encoding="utf-8")
    command = [Toolchain.find().command, "-O2", "-march=native", *flags, "-shared", "-fPIC", "f.c", "-o", "f.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    draw = np.random.default_rng(0)
    numbers = (draw.standard_normal(1024) * 10.0 ** draw.integers(-30, 30, 1024)).astype(np.float32)
    halves = np.arange(256, dtype=np.uint32) * 0x8000 + 0x3F800000
    numbers[:256] = halves.view(np.float32)
    numbers[256:262] = [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38]
    numbers[300:600] = draw.standard_normal(300) * 6
    wanted = {
        ROUND: numbers,
        ROUND_ABOVE: np.where(numbers < 0, np.float32(0), numbers),
        ROUND_WITHIN: np.where(numbers < -0.5, np.float32(-0.5), np.where(numbers > 6, np.float32(6), numbers)),
    }
    for name, limited in wanted.items():
        result = np.empty(1024, np.uint16)
        pointers = (ctypes.c_void_p(each.ctypes.data) for each in (result, numbers))
        ctypes.CDLL(str(tmp_path / "f.so"))[f"{name}_all"](*pointers)
        np.testing.assert_array_equal(result, bfloat16.from_float(limited), err_msg=name)
