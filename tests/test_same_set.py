"""Calls whose lines push each other out of one set of the first-level cache."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from computed import parse
from machines import machine_with

from polydl import pipeline
from polydl.contracts import GemmShape
from polydl.ir.variant import Tile, UseMicrokernel, Variant
from polydl.machine import CoreConstant
from polydl.microkernels.libxsmm import LIBXSMM
from polydl.microkernels.plain_c import PLAIN_C, PlainC
from polydl.model.calls import call_cycles
from polydl.model.same_set import same_set_cycles

# Eight places in each set.
KNOWN = (
    CoreConstant("first_cache_bytes", 32 << 10),
    CoreConstant("same_set_bytes", (4096, 131072)),
    CoreConstant("second_cache_latency_cycles", 14.0),
    CoreConstant("evicted_line_share", 0.5),
)
CORE = replace(machine_with(threads=1, vector_bytes=64), constants=KNOWN).core
FLOATS = (4, 4, 4)
PRODUCT = """\
void matmul(float C[96][N], float A[96][64], float B[64][N]) {
#pragma scop
  for (int i = 0; i < 96; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < 64; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def cycles(shape: GemmShape) -> float:
    return same_set_cycles(LIBXSMM.on(CORE), shape, FLOATS, 16, CORE)


def call(*, m: int = 16, n: int = 7, k: int = 32, lda: int = 16, stride_bn: int = 40, stride_bk: int = 1) -> GemmShape:
    return GemmShape("float", "float", m, n, k, 1, lda, m, stride_bn, stride_bk)


def test_lines_of_a_that_share_a_set_come_one_after_the_other() -> None:
    assert cycles(call(lda=2048)) == 32 * 14.0
    assert cycles(call(lda=512)) == 32 * 14.0 / 2, "two sets take turns"
    assert cycles(call(lda=2048, k=8)) == 0.0, "all eight find a place"
    assert cycles(call(lda=2048 + 16)) == 0.0
    assert cycles(call(lda=2048 + 1)) == 0.0


def test_each_register_block_walks_through_a_again() -> None:
    rows, columns = LIBXSMM.on(CORE).register_block(call(m=64, n=48, lda=2048), 16) or (0, 0)
    assert 0 < columns < 48
    blocks = -(-64 // rows) * -(-48 // columns)
    assert cycles(call(m=64, n=48, lda=2048)) == blocks * 32 * 14.0


def test_a_set_keeps_as_many_columns_of_b_as_it_has_places() -> None:
    assert cycles(call(n=24, stride_bn=1024)) == 32 * 0.5 * 14.0 * (24 - 8)
    assert cycles(call(n=8, stride_bn=1024)) == 0.0
    assert cycles(call(n=24, stride_bn=1024 + 16)) == 0.0
    assert cycles(call(n=24, k=64, stride_bn=1, stride_bk=1024)) == 64 * 14.0


def test_a_kernel_that_copies_its_operands_walks_through_them_once() -> None:
    shape = call(m=64, n=24, lda=2048)
    assert same_set_cycles(PLAIN_C, shape, FLOATS, 16, CORE) > 0.0
    copying = replace(PLAIN_C, abilities=PLAIN_C.abilities | {"copies"})
    assert same_set_cycles(copying, shape, FLOATS, 16, CORE) == 0.0


@pytest.mark.parametrize(("columns", "slower"), [(1024, True), (1040, False)])
def test_the_calls_of_a_nest_are_expected_to_wait(columns: int, slower: bool, tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT.replace("N", str(columns)))
    steps = (Tile(0, "j", (16,)), Tile(0, "i", (6,)), UseMicrokernel(0, "libxsmm", m="j", n="i", k="k"))
    machine = replace(machine_with(threads=1, vector_bytes=64), constants=KNOWN)
    applied = pipeline.apply(scop, Variant(steps), machine=machine, microkernel="libxsmm")
    [site] = applied.sites.values()
    alone = site.calls * site.kernel.predicted_cycles(site.gemm.shapes()[0][1], 16)
    assert (call_cycles(site, 16, machine.core) > 1.5 * alone) == slower


class Silent(PlainC):
    """Does not say which block it keeps in registers."""

    def register_block(self, shape: GemmShape, vector_elements: int) -> None:
        return None


def test_columns_in_rows_are_looked_up_as_often_as_in_one(tmp_path: Path) -> None:
    """Pages of A anew for each block, of all columns of a call together."""
    machine = replace(machine_with(threads=1, vector_bytes=64), constants=(CoreConstant("first_tlb_entries", 16),))
    scop = parse(tmp_path, PRODUCT.replace("N", "1040"))
    steps = (Tile(0, "j", (16,)), Tile(0, "i", (16,)), UseMicrokernel(0, "c", m="j", n="i", k="k"))
    applied = pipeline.apply(scop, Variant(steps), machine=machine, microkernel="c")
    [site] = applied.sites.values()
    flat = replace(site, kernel=Silent())
    rows = tuple(4 * row * 1040 for row in range(4))
    rowed = replace(flat, gemm=replace(flat.gemm, n=(4, 4), rows_b=rows, rows_c=rows))
    of_flat, of_rowed = (call_cycles(each, 16, machine.core) for each in (flat, rowed))
    assert of_rowed == pytest.approx(of_flat)
    far = replace(machine, constants=(CoreConstant("first_tlb_entries", 64),))
    assert call_cycles(flat, 16, far.core) < of_flat
