"""Arrays of the region's own that need no memory, or do, although a loop writes and reads each element at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from computed import check_kernels, parse
from emitted_text import emitted_text
from marks import parametrized

from polydl import pipeline
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop
from polydl.machine import Machine

PIXELS = """
void f(const unsigned char *a, unsigned char *b) {
  for (int y = 1; y < 36; y++)
    for (int x = 1; x < 100; x++) {
      int sum = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          sum += a[(y + dy) * 101 + x + dx];
      b[y * 101 + x] = sum / 9;
    }
}
"""
MARKED = """
static void row(const float *t, float *c) {
  for (int k = 0; k < 16; ++k)
    c[0] += t[k] * t[k];
}
void f(const float a[40][16], float c[40], float d[40][16]) {
  float t[16];
#pragma scop
  for (int i = 0; i < 40; i++) {
    for (int j = 0; j < 16; j++) {
      t[j] = a[i][j] * 2;
      d[i][j] = a[i][j] + 1;
    }
#pragma polydl microkernel(for (int k = 0; k < 16; ++k) c[i] += t[k] * t[k];)
    row(t, &c[i]);
  }
#pragma endscop
}
"""
UNUSED = """
void f(const float a[37][101], float b[37][101]) {
  float norm[37], twice[37][101], sum[37][101];
  for (int i = 0; i < 37; i++) {
    norm[i] = a[i][0] * a[i][0];
    for (int j = 0; j < 101; j++) {
      twice[i][j] = a[i][j] * 2;
      sum[i][j] = twice[i][j] + norm[i];
      b[i][j] = a[i][j] + 1;
    }
  }
}
"""
EARLIER = """
void f(const float a[37][101], float b[37][101]) {
  float t[101];
  for (int j = 0; j < 101; j++)
    t[j] = 0;
  for (int i = 0; i < 37; i++)
    for (int j = 0; j < 101; j++) {
      b[i][j] = t[j];
      t[j] = a[i][j] * 2;
    }
}
"""


def kernels(scop: Scop) -> list[KernelSource]:
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=44)
    assert variants
    return [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in variants[::4]]


@pytest.mark.native
@parametrized("source", [PIXELS, MARKED, UNUSED, EARLIER], ids=["pixels", "marked", "unused", "earlier"], quick=1)
def test_all_variants_compute_what_the_source_does(source: str, tmp_path: Path) -> None:
    scop = parse(tmp_path, source)
    check_kernels(tmp_path, scop, kernels(scop), threads=1)


def test_a_scalar_of_each_pixel_needs_no_memory(tmp_path: Path) -> None:
    texts = [emitted_text(kernel.c).tuned for kernel in kernels(parse(tmp_path, PIXELS))]
    assert any("sum_of" not in text and "polydl_reserve" not in text for text in texts)


def test_what_a_marked_call_reads_is_stored(tmp_path: Path) -> None:
    for kernel in kernels(parse(tmp_path, MARKED)):
        assert "t[j] = a[i][j] * 2" in emitted_text(kernel.c).tuned


def test_what_another_iteration_reads_is_stored(tmp_path: Path) -> None:
    stored = re.compile(r"\bt\[[^]]*\] = (?:a\[i\]|polydl_scalar)")
    assert all(stored.search(emitted_text(kernel.c).tuned) for kernel in kernels(parse(tmp_path, EARLIER)))
