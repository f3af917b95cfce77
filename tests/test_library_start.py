"""What sets an array before products are added to it is computed with the first of these, and not by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from convolution_libraries import CONVOLUTION, IMAGES, compiled_convolution, wrong_convolutions
from library_kernels import ALONG_TERMS, KERNELS, SMALL, compiled, copying_a, sizes
from machines import machine_with
from symbolic_nests import product, symbolic

from polydl.ir.schedule import Schedule
from polydl.libraries.blocking import Blocking, BlockingLoop
from polydl.libraries.candidates import usual_candidates, with_start
from polydl.libraries.kernel import Kernel, broken, planned
from polydl.libraries.product import Start, symbolic_product
from polydl.libraries.symbolic import SymbolicNest

ZERO = product(before="C[i][j] = 0;")
SCALED = product(before="C[i][j] = 0.5f * C[i][j];")
# Of each form: C of the statement before the product, and the factor that is C's first value by.
BEFORE = {
    "C[i][j] = 0;": "",
    "C[i][j] = 0.0f;": "",
    "C[i][j] = (float)0;": "",
    "C[i][j] *= 2;": "2",
    "C[i][j] = 0.5f * C[i][j];": "0.5f",
    "C[i][j] = C[i][j] * (-3);": "(-3)",
}


def start(nest: SymbolicNest) -> Start | None:
    form = symbolic_product(nest)
    assert form is not None
    return with_start(nest, form).start


@pytest.mark.parametrize("before", BEFORE)
def test_zero_and_factors_of_c_are_where_products_begin(tmp_path: Path, before: str) -> None:
    nest = symbolic(product(before=before), tmp_path)
    found = start(nest)
    assert found is not None
    assert (found.statement, found.loops, found.factor) == ("S0", {"m": 1, "n": 0}, BEFORE[before])


@pytest.mark.parametrize(
    "text",
    [
        product(),
        product(before="C[i][j] = 1;"),
        product(before="C[i][j] += 0.5f * C[i][j];"),
        # Another element, and not all of them.
        product(before="C[i][j] = 0;").replace("      C[i][j] = 0;", "      if (j > i) C[i][j] = 0;"),
        # Something else reads what is set, or changes it.
        product(before="C[i][j] = 0;").replace("C[i][j] = 0;", "{ C[i][j] = 0; C[i][j] = C[i][j] + A[i][0]; }"),
        # Elements without a term would not be set.
        product(before="C[i][j] = 0;").replace("k = 0; k < K", "k = 0; k < K - 1"),
    ],
)
def test_others_are_computed_by_themselves(tmp_path: Path, text: str) -> None:
    assert start(symbolic(text, tmp_path)) is None


def test_isl_proves_the_order_of_what_sets_c(tmp_path: Path) -> None:
    nest = symbolic(ZERO, tmp_path)
    form = symbolic_product(nest)
    assert form is not None
    form = with_start(nest, form)
    for blocking in (*copying_a().values(), ALONG_TERMS):
        plan = planned(nest, form, Kernel(blocking=blocking))
        assert not broken(plan)
        # At another time than the first terms' it would undo what was added before.
        times = dict(plan.plan.schedule.statements)
        assert times["S0"] != times["S1"]
    late = planned(nest, form, Kernel(blocking=SMALL))
    moved = [
        (name, tuple(5 if part == 0 and name == "S0" and place else part for place, part in enumerate(times)))
        for name, times in late.plan.schedule.statements
    ]
    assert broken(replace(late, plan=replace(late.plan, schedule=Schedule(tuple(moved)))))


@pytest.mark.native
@pytest.mark.parametrize("along", ["m", "k"])
@pytest.mark.parametrize(("text", "factor"), [(ZERO, 0.0), (SCALED, 0.5)], ids=["zero", "scaled"])
def test_what_c_holds_before_counts_by_its_factor_alone(tmp_path: Path, text: str, factor: float, along: str) -> None:
    if along == "k":
        text = text.replace("B[K][N]", "B[N][K]").replace("B[k][j]", "B[j][k]")
    kernels = {"dots": ALONG_TERMS} if along == "k" else KERNELS
    function = compiled(symbolic(text, tmp_path), tmp_path, kernels, 8)
    draw, random = Random(1), np.random.default_rng(1)
    for _ in range(60):
        m, n, k = sizes(draw)
        a, b, c = (random.random(shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
        expected = a @ b + factor * c
        if not factor:
            c[:] = np.nan
        function(A=a, B=np.ascontiguousarray(b.T) if along == "k" else b, C=c)
        assert np.allclose(c, expected, rtol=1e-4, atol=1e-5), (m, n, k)


def test_the_copy_of_a_tap_serves_all_rows_of_an_image(tmp_path: Path) -> None:
    nest = symbolic(CONVOLUTION, tmp_path, IMAGES)
    form, kernels = usual_candidates(nest, machine_with(1, 32))
    words = [each.words(nest, form) for each in kernels]
    taps = [text for text in words if "p, q, y, x by" in text]
    assert len(taps) == 8
    assert all(text.endswith("packed filter") for text in taps)
    assert sum("y by 8" in text for text in taps) == 4
    assert form is not None
    assert form.start == Start("S0", {"m": 3, "n": 1, "o1": 0, "o2": 2}, "")


@pytest.mark.native
@pytest.mark.parametrize("rows", [1, 3])
def test_convolutions_by_taps_are_right_at_all_sizes(tmp_path: Path, rows: int) -> None:
    some = [BlockingLoop("o2", rows)] if rows > 1 else []
    inner = (BlockingLoop("k", 7), *(BlockingLoop(role, 1) for role in ("o3", "o4", "o2")), BlockingLoop("m", 20))
    tiles = (BlockingLoop("o1", 1), BlockingLoop("n", 9), *some, *inner)
    function = compiled_convolution(tmp_path, CONVOLUTION, Blocking(tiles, 2, 3, ("b",)))
    assert wrong_convolutions(function, 40) == []


def test_an_operand_that_is_a_variable_of_the_region_is_no_operand_of_a_product(tmp_path: Path) -> None:
    """It would need memory that grows with the sizes."""
    text = product().replace(
        "    for (int j = 0; j < N; ++j)\n      for (int k = 0; k < K; ++k)\n        C[i][j] += A[i][k] * B[k][j];",
        "    for (int k = 0; k < K; ++k) {\n      float twice = 2 * A[i][k];\n      for (int j = 0; j < N; ++j)\n"
        "        C[i][j] += twice * B[k][j];\n    }",
    )
    assert "twice" in text
    form, kernels = usual_candidates(symbolic(text, tmp_path), machine_with(1, 32))
    assert form is None
    assert kernels
