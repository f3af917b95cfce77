"""Numerics levels: what each admits, what methods declare, and what is said of the code."""

from __future__ import annotations

import re
from math import inf
from pathlib import Path
from typing import Any

import pytest
from computed import parse
from golden_code import every_microkernel
from machines import machine_with

from polydl import pipeline, registry
from polydl.errors import IllegalVariantError, OptionError
from polydl.ir.numerics import (
    DEFAULT_NUMERICS,
    EXACT,
    INTEGERS,
    NUMERICS,
    REORDERED,
    UNKNOWN,
    Numerics,
    Rounding,
    in_words,
    numerics_level,
    refusal,
)
from polydl.ir.variant import UseMicrokernel, Variant
from polydl.plan.apply import apply
from polydl.plan.bilinear_rounding import Bilinear, error_factor
from polydl.plan.rewrite_steps import rewrite_of, rounding_of
from polydl.plan.rewriting import rewritten
from polydl.plan.toom_cook import toom_cook
from polydl.variants.rewrites.strassen import matrices
from polydl.variants.rewrites.winograd import Winograd

CONVOLUTION = """\
void f(float out[12][12][64], float in[14][14][{channels}], float w[3][3][{channels}][64]) {{
#pragma scop
  for (int y = 0; y < 12; y++)
    for (int x = 0; x < 12; x++)
      for (int r = 0; r < 3; r++)
        for (int s = 0; s < 3; s++)
          for (int c = 0; c < {channels}; c++)
            for (int k = 0; k < 64; k++)
              out[y][x][k] += in[y + r][x + s][c] * w[r][s][c][k];
#pragma endscop
}}
"""
PRODUCT = """\
void f(float C[64][64], float A[64][64], float B[64][64]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int k = 0; k < 64; k++)
      for (int j = 0; j < 64; j++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
SUMS = """\
#include <math.h>
void f(float y[64], float z[64], float a[64][64], float s[1]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      y[i] += s[0] * a[i][j] * z[j];
  for (int i = 0; i < 64; i++)
    z[i] = expf(z[i]);
#pragma endscop
}
"""


def axes(outputs: int, taps: int) -> list[Bilinear]:
    made = toom_cook(outputs, taps)
    return [Bilinear(made.result, made.taps, made.image)] * 2


def test_each_level_admits_what_the_one_before_it_does() -> None:
    declared = [EXACT, REORDERED, Rounding("nothing", 1.9), Rounding("nothing", 4.1), UNKNOWN]
    admitted = [[refusal(rounding, level) is None for rounding in declared] for level in NUMERICS]
    assert admitted == [
        [True, False, False, False, False],
        [True, True, False, False, False],
        [True, True, True, False, False],
        [True, True, True, True, True],
    ]
    assert DEFAULT_NUMERICS == "bounded"


def test_an_unknown_level_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="exact") as caught:
        numerics_level("exact")
    assert all(level in (caught.value.remedy or "") for level in NUMERICS)
    with pytest.raises(OptionError):
        pipeline.space_on(parse(tmp_path, PRODUCT), machine_with(1, 64), numerics="exact")  # type: ignore[arg-type]


def test_errors_of_two_methods() -> None:
    one, other = Rounding("products", 1.0, ("a",)), Rounding("nothing", 2.0, ("b", "a"))
    assert one.beside(other) == Rounding("nothing", 2.0, ("a", "b"))
    assert other.inside(Rounding("all", 1.5)) == Rounding("nothing", 3.0, ("b", "a"))
    assert EXACT.beside(EXACT) == EXACT.inside(EXACT) == EXACT


@pytest.mark.parametrize(
    ("outputs", "taps", "channels", "measured"),
    [(2, 3, 64, 0.73), (2, 3, 256, 0.67), (4, 3, 16, 2.5), (4, 3, 64, 2.2), (4, 3, 256, 1.95), (2, 5, 256, 1.07)],
)
def test_the_a_priori_error_of_winograd_is_near_the_measured_one(
    outputs: int, taps: int, channels: int, measured: float
) -> None:
    factor = error_factor(axes(outputs, taps), channels, channels * taps**2)
    assert factor == pytest.approx(measured, rel=0.25)


@pytest.mark.parametrize(("parts", "measured"), [(2, 1.42), (4, 2.1)])
def test_the_a_priori_error_of_strassen_is_near_the_measured_one(parts: int, measured: float) -> None:
    rows, columns, result = matrices(parts)
    assert error_factor((Bilinear(result, rows, columns),), 1024 // parts, 1024) == pytest.approx(measured, rel=0.1)


def test_products_one_by_one_have_the_error_of_the_source() -> None:
    plain = toom_cook(1, 1)
    assert error_factor([Bilinear(plain.result, plain.taps, plain.image)], 100, 100) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("level", "channels", "word"),
    [
        ("strict", 64, "every sum keeps its order"),
        ("reassociated", 64, "every product of the source"),
        ("bounded", 64, None),
        ("bounded", 2, "times that of the source"),
        ("fast", 2, None),
    ],
)
def test_a_level_admits_a_rewrite_by_its_a_priori_error(
    level: Numerics, channels: int, word: str | None, tmp_path: Path
) -> None:
    scop = rewritten(parse(tmp_path, CONVOLUTION.format(channels=channels)), ()).scop
    step = Winograd("S0", (("y", "r", 4), ("x", "s", 4)), 1)
    if word is None:
        rounding = rewritten(scop, (step,), numerics=level).rounding
        assert rounding.methods == ("Winograd F(4x4, 3x3)",)
        assert (rounding.error_factor <= 4) is (level == "bounded")
    else:
        with pytest.raises(IllegalVariantError, match=word):
            rewritten(scop, (step,), numerics=level)


def test_a_plug_in_that_declares_nothing_is_fast_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scop = rewritten(parse(tmp_path, CONVOLUTION.format(channels=64)), ()).scop
    step = Winograd("S0", (("y", "r", 2), ("x", "s", 2)), 1)
    monkeypatch.delattr(type(rewrite_of(step)), "rounding")
    rewritten.cache_clear()
    assert rounding_of(scop, step) == UNKNOWN
    with pytest.raises(IllegalVariantError, match="unknown"):
        rewritten(scop, (step,))
    assert rewritten(scop, (step,), numerics="fast").rounding.error_factor == inf
    rewritten.cache_clear()


@pytest.mark.parametrize(
    ("level", "name", "admitted"),
    [
        ("strict", "c", True),
        ("strict", "libxsmm", False),
        ("reassociated", "libxsmm", True),
        ("reassociated", "c-amx", False),
        ("bounded", "c-amx", True),
    ],
)
def test_a_level_admits_a_microkernel_by_what_it_declares(
    level: Numerics, name: str, admitted: bool, tmp_path: Path
) -> None:
    scop = parse(tmp_path, PRODUCT)
    variant = Variant((UseMicrokernel(0, name, "j", "i", "k"),))
    with every_microkernel():
        kernels = [registry.load("microkernels", name)]
        if admitted:
            assert apply(scop, variant, kernels, numerics=level).uses[0].name == name
        else:
            with pytest.raises(IllegalVariantError, match=f"numerics level {level}"):
                apply(scop, variant, kernels, numerics=level)


def test_bytes_are_exact_at_every_level() -> None:
    kernels = [registry.load("microkernels", name) for name in ("c-amx", "c-int8", "libxsmm-int8", "c")]
    assert [kernel.rounding("signed char") for kernel in kernels] == [EXACT] * 4


def test_what_multiplies_points_counts_as_well(tmp_path: Path) -> None:
    scop = parse(tmp_path, CONVOLUTION.format(channels=64))
    machine = machine_with(1, 64)
    with every_microkernel():
        space = pipeline.space_on(scop, machine, microkernel="c-amx")
        variants = pipeline.generate(space, max_variants=400).variants
        transformed = [each for each in variants if any(isinstance(step, Winograd) for step in each.steps)]
        assert transformed
        rounding = space.apply(transformed[0]).rounding
    assert rounding.keeps == "nothing"
    assert {"floats as three bfloat16s"} < {*rounding.methods}


@pytest.mark.parametrize("level", NUMERICS)
def test_products_and_functions_are_the_sources_where_they_must_be(level: Numerics, tmp_path: Path) -> None:
    scop, machine = parse(tmp_path, SUMS), machine_with(1, 64)
    space = pipeline.space_on(scop, machine, numerics=level)
    variants = pipeline.generate(space, max_variants=20).variants
    kernels = [pipeline.kernel(space.apply(variant), 64) for variant in variants]
    assert kernels
    own = level in ("strict", "reassociated")
    assert any(kernel.vector_functions for kernel in kernels) is not own
    # The factor that the inner loop leaves alone: inside of the sum, or after it. The source is there for all cases.
    inside = re.compile(r"(s\[0\]|polydl_once0_0) \* a\[")
    assert all(len(inside.findall(kernel.c)) > 1 for kernel in kernels) is own
    summed = any("reduction(+" in kernel.c or "polydl_row" in kernel.c for kernel in kernels)
    assert summed is (level != "strict")


def test_what_is_said_of_the_code() -> None:
    assert in_words("strict", EXACT) == "sums in the order of the source"
    assert in_words("bounded", EXACT) == "sums in any order"
    assert in_words("bounded", Rounding("nothing", 1.9, ("one", "other")), ("expf",)) == (
        "one; other; expf of vectors within 4 units in the last place"
    )


def test_integers_are_not_rounded(tmp_path: Path) -> None:
    nest = "void f(int y[8], const int x[8], int n) {{ for (int i = 0; i < 8; i++) y[i] = {}; }}"
    for value, rounds in (
        ("x[i] * 3 + n", False), ("x[i] < 0x1e ? __builtin_abs(x[i]) : __builtin_popcount(x[i])", False),
        ("x[i] * 0.5", True), ("x[i] * 1e3", True), ("(int)((float)x[i] / 3)", True),
        ("(int)__builtin_sqrtf(x[i])", True),
    ):  # fmt: skip
        assert parse(tmp_path, nest.format(value)).rounds is rounds, value
    for helper, rounds in (("x * 2", False), ("x * 0.5f", True), ("(int)((float)x / 3)", True)):
        text = f"static int of(int x) {{ return {helper}; }}\n{nest.format('of(x[i])')}"
        assert parse(tmp_path, text).rounds is rounds, helper
    assert parse(tmp_path, PRODUCT).rounds
    assert in_words("bounded", EXACT, rounds=False) == INTEGERS


def test_the_option_is_offered(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from polydl.cli import main

    path = tmp_path / "nest.c"
    path.write_text(PRODUCT)
    runner = CliRunner()
    ended: Any = runner.invoke(main, ["variants", str(path), "--numerics", "none"])
    assert ended.exit_code == 2
    assert all(level in ended.output for level in NUMERICS)
    ended = runner.invoke(main, ["variants", str(path), "--microkernel", "libxsmm", "--numerics", "strict"])
    assert ended.exit_code == 0
    assert "at the numerics level strict" in " ".join(ended.output.split())
