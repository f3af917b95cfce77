"""What is attached to a nest runs in its vector loop, if no iteration of that gets in another one's way."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse
from emitted_text import emitted_text
from machines import machine_with

from polydl import pipeline
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, Tile, Unroll
from polydl.poly.schedules import original_schedule
from polydl.poly.shared_loops import iterations_are_apart

BLUR = """\
void blur(const unsigned char *src, unsigned char *dst)
{
#pragma scop
  for (int y = 1; y < 47; y++)
    for (int x = 1; x < 63; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += src[(y + dy) * 64 + x + dx];
      dst[y * WIDTH + x] = sum / 9;
    }
#pragma endscop
}
"""
MACHINE = machine_with(threads=1, vector_bytes=64)


def blur(folder: Path, width: int = 64) -> Scop:
    return parse(folder, BLUR.replace("WIDTH", str(width)))


@pytest.mark.parametrize(("width", "apart"), [(64, True), (62, True), (61, False), (16, False)])
def test_rows_of_an_array_with_linear_subscripts_are_apart_if_they_do_not_overlap(
    width: int, apart: bool, tmp_path: Path
) -> None:
    scop = blur(tmp_path, width)
    times = dict(original_schedule(scop).statements)
    last = {"S2": times["S2"]}
    assert iterations_are_apart(scop, last, 1) == apart
    assert iterations_are_apart(scop, last, 3), "x moves on by one element, whatever the rows are"


@pytest.mark.parametrize(
    ("body", "apart"),
    [
        ("for (int i = 1; i < 63; i++) a[i] = a[i - 1];", False),
        ("for (int i = 1; i < 63; i++) a[i] = 2 * a[i];", True),
        ("for (int i = 62; i > 0; i--) a[i] = 2 * a[i];", True),
        ("for (int i = 1; i < 63; i++) b[0] += a[i];", False),
        ("for (int i = 1; i < 63; i++) { b[i] = a[i + 1]; a[i] = 0; }", False),
        ("for (int i = 1; i < 63; i++) { b[i] = a[i]; a[i] = 0; }", True),
        ("for (int i = 1; i < 63; i++) { a[i] = 0; b[i] = a[63 - i]; }", False),
    ],
)
def test_an_iteration_that_touches_what_another_one_writes_is_not_apart(body: str, apart: bool, tmp_path: Path) -> None:
    scop = parse(tmp_path, f"void f(float a[64], float b[64]) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")
    assert iterations_are_apart(scop, dict(original_schedule(scop).statements), 1) == apart


@pytest.mark.native
def test_a_sum_of_few_terms_begins_and_ends_in_registers(tmp_path: Path) -> None:
    scop = blur(tmp_path)
    variants = [
        variant
        for variant in pipeline.generate_variants(scop, machine=MACHINE)
        if any(isinstance(step, Attach) for step in variant.steps)
        and any(isinstance(step, Unroll) for step in variant.steps)
        and any(isinstance(step, Tile) and step.loop == "y" for step in variant.steps)
    ]
    assert variants
    kernels = [pipeline.kernel(pipeline.apply(scop, each, machine=MACHINE), 64) for each in variants[:3]]
    for kernel in kernels:
        body = emitted_text(kernel.c, "blur").tuned
        assert "polydl_scalar0_0 = 0;" in body
        assert "= polydl_scalar0_0 / 9;" in body
        assert "for (int dy" not in body
        assert "sum_of" not in body
    check_kernels(tmp_path, scop, kernels, threads=1)
