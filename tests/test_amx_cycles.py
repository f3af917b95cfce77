"""What calls in tile registers are predicted to spend on splitting operands, and which copies later calls find."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from gemm_sites import site

from polydl import pipeline
from polydl.contracts import GemmShape
from polydl.ir.variant import Interchange, Tile, UseMicrokernel, Variant
from polydl.machine.core import constants
from polydl.machine.processors import WIDE_CORE
from polydl.microkernels.amx import AMX
from polydl.microkernels.amx_cycles import copying_cycles, cycles_of_a, elements_of_b
from polydl.plan.apply import apply

#: 64 rows by 392 columns with 64 terms; B takes 147 KiB split.
CALL = GemmShape("float", "float", 64, 392, 64, 1, 64, 64, 64, 1)
LONG = 1e9
PRODUCT = """\
void product(float C[512][256], const float A[512][128], const float B[128][256])
{
#pragma scop
  for (int i = 0; i < 512; ++i)
    for (int j = 0; j < 256; ++j)
      for (int k = 0; k < 128; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def test_what_is_not_split_anew_takes_nothing() -> None:
    assert copying_cycles(replace(CALL, anew_a=0.0, anew_b=0.0), LONG, WIDE_CORE) == 0.0
    once = copying_cycles(replace(CALL, anew_a=0.5, anew_b=0.0), LONG, WIDE_CORE)
    assert once == pytest.approx(0.5 * 64 * 64 * WIDE_CORE.tile_split_cycles)
    twice = copying_cycles(replace(CALL, anew_a=0.5, anew_b=0.5), LONG, WIDE_CORE)
    assert twice - once == pytest.approx(0.5 * 392 * 64 * WIDE_CORE.tile_split_cycles)


def test_b_is_split_unseen_where_products_take_long_enough() -> None:
    """B is split two tiles at a time, and A before."""
    all_of_a = cycles_of_a(CALL, WIDE_CORE)
    assert copying_cycles(CALL, LONG, WIDE_CORE) == pytest.approx(all_of_a)
    shown = copying_cycles(CALL, 1000.0, WIDE_CORE) - all_of_a
    assert shown == pytest.approx(392 * 64 * WIDE_CORE.tile_split_cycles - 1000.0 * WIDE_CORE.tile_hidden_share)


def test_rows_of_a_beyond_the_first_two_tiles_are_split_unseen() -> None:
    """Columns of B that aren't contiguous are split before."""
    strided = replace(CALL, m=256, lda=256, stride_bk=7, stride_bn=1, n=64, anew_b=0.0)
    all_of_a = 256 * 64 * WIDE_CORE.tile_split_cycles
    assert copying_cycles(strided, LONG, WIDE_CORE) == pytest.approx(32 / 256 * all_of_a)
    assert copying_cycles(strided, 0.0, WIDE_CORE) == pytest.approx(all_of_a)
    assert copying_cycles(replace(strided, anew_a=0.999), LONG, WIDE_CORE) == pytest.approx(0.999 * all_of_a)


def test_operands_beyond_the_second_cache_come_back_for_each_two_tiles_of_rows() -> None:
    kept = replace(CALL, n=640, k=512, anew_a=0.5, anew_b=0.5)
    fits = WIDE_CORE.having(constants({"second_cache_bytes": 32 << 20}, "given"))
    slower = WIDE_CORE.having(constants({"last_cache_bytes_per_cycle": 4.0}, "given"))
    split = copying_cycles(kept, LONG, fits)
    back = copying_cycles(kept, LONG, WIDE_CORE) - split
    # Both operands are split into six bytes for four, and B is read for 64 rows in two passes.
    held = 6 * (640 + 64) * 512
    lost = held / WIDE_CORE.second_cache_bytes - WIDE_CORE.tile_held_share
    assert 0.0 < lost < 1.0
    assert back == pytest.approx(lost * 2 * 6 * 640 * 512 / WIDE_CORE.last_cache_bytes_per_cycle)
    assert copying_cycles(kept, LONG, slower) - split == pytest.approx(2 * back)


def test_elements_that_products_have_in_common_are_split_once() -> None:
    rows = site(n=(28, 28), k=(64, 64), stride_bn=64, batch=(3, 3), offsets_a=(0, 1, 2), offsets_b=(0, 64, 128))
    [(begin, end)] = rows.pieces_of_b(28 * 64)
    assert (begin, end) == (0, 30 * 64)
    taps = replace(CALL, n=28, batch=3)
    assert elements_of_b(replace(taps, reach_b=end)) == 30 * 64
    assert elements_of_b(taps) == 3 * 28 * 64
    apart = replace(rows, offsets_b=(0, 9000, 20000))
    assert apart.pieces_of_b(28 * 64) == ((0, 1792), (9000, 10792), (20000, 21792))
    assert apart.pieces_of_b(28 * 64, gap=7208) == ((0, 10792), (20000, 21792))


def test_a_thread_keeps_as_many_tiles_of_a_as_half_of_the_second_cache_holds() -> None:
    """A tile of 64 by 64 takes 24 KiB split."""
    assert AMX.on(WIDE_CORE.having(constants({"second_cache_bytes": 2 << 20}, "given"))).kept_copies(CALL) == (8, 1)
    assert AMX.on(WIDE_CORE.having(constants({"second_cache_bytes": 192 << 10}, "given"))).kept_copies(CALL) == (4, 1)


@pytest.mark.parametrize(
    ("order", "anew_a", "anew_b"),
    [
        # A call's A is 128 by 64 of the source's B, its B 64 by 128 of the source's A.
        (("i_t1", "j_t1"), 1 / 8, 1 / 4),  # four tiles along j, all of which are kept
        (("j_t1", "i_t1"), 1 / 8, 1.0),  # eight along i, and the last one alone is kept
    ],
)
def test_copies_serve_the_calls_that_come_soon_enough(
    order: tuple[str, ...], anew_a: float, anew_b: float, tmp_path: Path
) -> None:
    (tmp_path / "product.c").write_text(PRODUCT)
    scop = pipeline.parse(tmp_path / "product.c")
    steps = Tile(0, "i", (64,)), Tile(0, "j", (64,)), UseMicrokernel(0, "c-amx", "j", "i", "k"), Interchange(0, order)
    core = WIDE_CORE.having(constants({"second_cache_bytes": 2 << 20}, "given"))
    (call,) = apply(scop, Variant(steps), (AMX.on(core),)).sites.values()
    assert (call.gemm.anew_a, call.gemm.anew_b) == (anew_a, anew_b)
    assert call.gemm.keeps_a
    assert call.gemm.keeps_b == (anew_b < 1.0)
