"""What microkernels take, keep, prefetch and cost at a shape, asked of them without compiling."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gemm_sites import IN_TILES, TILED, site
from test_microkernels import shape

from polydl.machine.processors import WIDE_CORE
from polydl.microkernels.amx import AMX
from polydl.microkernels.amx_groups import AMX_GROUPS
from polydl.microkernels.libxsmm import LIBXSMM
from polydl.microkernels.plain_c import PLAIN_C
from polydl.microkernels.shapes import RegisterTiling, register_blocks, register_tiling, tile_sizes


def test_tiles_decline_what_would_not_fill_them() -> None:
    assert AMX.rejects(shape(k=64, stride_bn=64)) is not None
    wide = shape(n=64, k=64, stride_bn=64)
    assert AMX.rejects(wide) is None
    assert "k = 13" in (AMX.rejects(replace(wide, k=13)) or "")
    assert AMX.rejects(replace(wide, k=63)) is None, "zeros follow the last steps"
    assert "k = 63" in (AMX.rejects(replace(wide, k=63, lda=1, stride_am=63)) or "")
    assert "k = 63" in (AMX.rejects(replace(wide, k=63, element="bfloat16")) or "")
    assert "KiB" in (AMX.rejects(replace(wide, batch=1000)) or "")
    assert "overlap" in (AMX.rejects(replace(wide, ldc=31)) or "")


def test_tiles_split_columns_that_are_not_contiguous_for_each_product() -> None:
    """A convolution in plain layout reads nine products' columns, none of which another one has."""
    channels_last = shape(m=28, n=512, k=512, lda=900, ldc=784, stride_bn=512, batch=9)
    assert AMX.rejects(channels_last) is None
    plain = replace(channels_last, stride_bn=4608, stride_bk=9)
    assert AMX.rejects(replace(plain, batch=1)) is None
    assert "B, split, takes more than 1536 KiB" in (AMX.rejects(plain) or "")
    fewer = replace(plain, n=64, k=256)
    assert AMX.rejects(fewer) is None
    shared = replace(fewer, stride_bk=1, reach_b=64 * 256, anew_b=0.999)
    large = AMX.on(replace(WIDE_CORE, second_cache_bytes=1 << 30))
    further = large.predicted_cycles(replace(fewer, anew_b=0.999), 16) - large.predicted_cycles(shared, 16)
    assert further == pytest.approx(0.999 * AMX.core.tile_split_cycles * 8 * 64 * 256)


def test_tiles_split_nothing_of_products_that_a_shorter_batch_leaves_out() -> None:
    long = site(m=(32, 32), n=(16, 16), k=(32, 32), lda=32, ldc=32, stride_bn=32, batch=(3, 3))
    long = replace(long, offsets_a=(0, 1024, 2048), offsets_b=(0, 32, 64))
    short = replace(long, batch=(3, 2))
    assert "runs[][3]" in AMX.emit(long, 64).definitions
    assert "r < count" in AMX.emit(short, 64).definitions
    assert "runs[][3]" not in AMX.emit(short, 64).definitions


def test_only_operands_that_are_read_again_stay_split() -> None:
    once = site(m=(32, 32), n=(48, 48), k=(64, 64), lda=32, ldc=32, stride_bn=64)
    assert not AMX.emit(once, 64).start
    kept = AMX.emit(replace(once, anew_a=0.5), 64)
    assert "site_round" in kept.start
    assert "site_held_a" in kept.definitions
    assert "site_held_b" not in kept.definitions


def test_tiles_prefetch_as_far_as_the_core_says() -> None:
    passing = next(each for each in TILED if "struct polydl_columns next" in AMX.emit(each, 64).definitions)
    usual = AMX.emit(passing, 64).definitions
    far = AMX.on(replace(WIDE_CORE, tile_ahead_rows=24, tile_ahead_columns=40)).emit(passing, 64).definitions
    assert "POLYDL_FETCH 16 " in usual
    assert "POLYDL_COLUMNS_AHEAD 8 " in usual
    assert "POLYDL_FETCH 24 " in far
    assert "POLYDL_COLUMNS_AHEAD 40 " in far

    def behind(text: str) -> int:
        """Entries of the table of columns behind those that are read."""
        table = text.split("long columns[] = {", 1)[1].split("}", 1)[0].split(", ")
        return len(table) - max(place for place, entry in enumerate(table) if entry != "0") - 1

    # What is looked up ahead is in the table.
    assert behind(usual) == 32
    assert behind(far) == 40
    in_groups = AMX_GROUPS.on(replace(WIDE_CORE, tile_ahead_rows=24)).emit(IN_TILES[0], 64).definitions
    assert "POLYDL_FETCH 24 " in in_groups


def test_plain_c_fetches_the_next_columns_of_b_unless_a_call_reads_them_again_anyway() -> None:
    once = site(n=(28, 4), k=(64, 64), stride_bn=64, batch=(2, 2), offsets_a=(0, 1024), offsets_b=(0, 1 << 18))
    again = replace(once, offsets_b=(0, 64))  # a filter with two taps: the second reads the next column
    fetch = "__builtin_prefetch(br"
    assert fetch in PLAIN_C.emit(once, 64).definitions
    assert fetch not in PLAIN_C.emit(again, 64).definitions
    assert fetch not in PLAIN_C.emit(replace(once, stride_bn=1, stride_bk=28), 64).definitions
    assert fetch in PLAIN_C.emit(replace(once, m=(128, 128), lda=128, ldc=128), 64).definitions
    assert fetch not in PLAIN_C.emit(replace(once, m=(144, 144), lda=144, ldc=144), 64).definitions
    assert fetch not in PLAIN_C.emit(replace(once, offsets_b=(0, 1 << 14)), 64).definitions


def test_plain_c_follows_columns_of_b_that_lie_pages_apart() -> None:
    apart = site(n=(16, 4), k=(512, 512), stride_bn=5000)
    fetch = "__builtin_prefetch(br + (l & ~15l) + 64 + (l & 15) * 16 / 16 * 5000"
    assert fetch in PLAIN_C.emit(apart, 64).definitions
    near = replace(apart, stride_bn=1000)
    assert "__builtin_prefetch(br" not in PLAIN_C.emit(near, 64).definitions


@pytest.mark.parametrize("extent", [1, 5, 16, 17, 56, 64, 100, 1000, 4096])
@pytest.mark.parametrize("role", ["m", "n", "k"])
def test_tile_sizes_are_distinct_and_fit(role: str, extent: int) -> None:
    sizes = tile_sizes(role, extent, 16)  # type: ignore[arg-type]
    assert sizes
    assert len(set(sizes)) == len(sizes)
    assert all(1 <= size <= extent for size in sizes)


@pytest.mark.parametrize(("count", "largest"), [(1, 6), (6, 6), (7, 6), (56, 6), (13, 4)])
def test_register_blocks_cover_evenly(count: int, largest: int) -> None:
    pieces = register_blocks(count, largest)
    assert sum(pieces) == count
    assert max(pieces) <= largest
    assert max(pieces) - min(pieces) <= 1


@pytest.mark.parametrize("registers", [16, 32])
@pytest.mark.parametrize(
    ("vectors", "n", "rows"), [(4, 14, 1), (4, 7, 7), (2, 56, 1), (12, 13, 13), (1, 1, 1), (9, 3, 2)]
)
def test_register_blocks_cover_the_tile_and_leave_room_for_operands(
    vectors: int, n: int, rows: int, registers: int
) -> None:
    tiling = register_tiling(vectors, n, rows, replace(WIDE_CORE, vector_registers=registers))
    assert sum(tiling.vectors) == vectors
    assert sum(tiling.columns) == n * rows
    most = max(tiling.vectors)
    assert most * max(tiling.columns) + (most if max(tiling.columns) > 1 else 0) + 1 <= registers


@pytest.mark.parametrize("vectors", range(2, 12))
def test_a_last_vector_that_overlaps_shares_its_block_with_another(vectors: int) -> None:
    tiling = register_tiling(vectors, 9, 1, WIDE_CORE, 2)
    assert sum(tiling.vectors) == vectors
    assert tiling.vectors[-1] >= 2


def test_what_the_first_cache_does_not_hold_is_read_once() -> None:
    """28 accumulators, 4 vectors of A and one value of B are more than 32 registers."""
    assert register_tiling(4, 7, 1, WIDE_CORE, steps=48) == RegisterTiling((4,), (4, 3))
    assert register_tiling(4, 7, 1, WIDE_CORE, steps=240) == RegisterTiling((2, 2), (7,))


def test_larger_shapes_cost_fewer_cycles_per_operation() -> None:
    small, large = shape(m=16, n=4, k=8), shape(m=64, n=24, k=256, lda=64, ldc=64, stride_bn=256)
    cost = [LIBXSMM.predicted_cycles(s, 16) / (s.m * s.n * s.k) for s in (small, large)]
    assert cost[1] < cost[0]
    assert cost[1] >= 1 / 32
