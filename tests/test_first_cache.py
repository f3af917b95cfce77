"""What calls wait for once their operands no longer fit into the first-level cache."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from computed import parse
from machines import machine_with

from polydl import pipeline
from polydl.contracts import GemmShape, Microkernel
from polydl.contracts.first_cache import repeated_cycles, waiting_cycles
from polydl.ir.variant import Tile, UseMicrokernel, Variant
from polydl.machine.call_times import CallTime, CallTimes
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE, generic
from polydl.machine.throughput import Throughput
from polydl.microkernels.int16 import INT16
from polydl.microkernels.libxsmm import LIBXSMM
from polydl.microkernels.libxsmm_blocks import blocks_of
from polydl.microkernels.plain_c import PLAIN_C
from polydl.microkernels.shapes import RegisterTiling
from polydl.model.calibrated import calibrated

AVX2 = generic(("avx2",), 32, 64)
PRODUCT = """\
void matmul(float C[96][64], float A[96][2048], float B[2048][64]) {
#pragma scop
  for (int i = 0; i < 96; ++i)
    for (int j = 0; j < 64; ++j)
      for (int k = 0; k < 2048; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def call(m: int, n: int, k: int, batch: int = 1) -> GemmShape:
    """Of floats, with packed operands."""
    return GemmShape("float", "float", m, n, k, batch, m, m, k, 1)


@pytest.mark.parametrize(
    ("core", "lanes", "m", "n", "blocks"),
    [
        (AVX2, 8, 64, 7, RegisterTiling((4, 4), (3, 2, 2))),
        (AVX2, 8, 45, 3, RegisterTiling((4, 1, 1, 1), (3,))),
        (WIDE_CORE, 16, 64, 12, RegisterTiling((4,), (6, 6))),
        (WIDE_CORE, 16, 70, 12, RegisterTiling((4, 1), (6, 6))),
        (WIDE_CORE, 16, 16, 31, RegisterTiling((1,), (16, 15))),
    ],
)
def test_libxsmm_has_the_blocks_that_its_generator_makes(
    core: Core, lanes: int, m: int, n: int, blocks: RegisterTiling
) -> None:
    assert blocks_of(call(m, n, 64), lanes, core) == blocks


def test_few_rows_leave_libxsmm_waiting_for_its_sums() -> None:
    """Three sums of eight floats each are in flight where eight could be."""
    kernel = LIBXSMM.on(AVX2)
    narrow, wide = (kernel.predicted_cycles(call(m, 48, 256), 8) / m for m in (8, 32))
    assert narrow > 2 * wide


@pytest.mark.parametrize("kernel", [LIBXSMM, PLAIN_C], ids=lambda kernel: kernel.name)
def test_long_batches_cost_what_their_operands_need_from_the_second_cache(kernel: Microkernel) -> None:
    here = kernel.on(AVX2)
    assert repeated_cycles(here, call(32, 24, 64), 8) == 0.0
    one, eight, sixteen = (repeated_cycles(here, call(64, 48, 64, batch), 8) for batch in (1, 8, 16))
    assert one == 0.0
    assert 0 < 1.9 * eight < sixteen
    # Twice the columns read A twice as often.
    assert repeated_cycles(here, call(64, 96, 64, 8), 8) == pytest.approx(2 * eight, rel=0.2)
    roomy = kernel.on(replace(AVX2, first_cache_bytes=1 << 20))
    assert repeated_cycles(roomy, call(64, 48, 64, 8), 8) == 0.0


def test_a_kernel_that_does_not_say_its_registers_is_taken_to_have_four_vectors_by_six_columns() -> None:
    @dataclass(frozen=True)
    class Silent(type(PLAIN_C)):  # type: ignore[misc]
        def register_block(self, shape: GemmShape, vector_elements: int) -> None:
            return None

    assert WIDE_CORE.usual_block(128, 24, 4) == (64, 6)
    wide = Silent(core=replace(WIDE_CORE, second_cache_bytes_per_cycle=1.0))
    long = call(128, 24, 64, 8)
    # A is read again for each of four blocks of columns, and B for both blocks of rows.
    a, b, strip = 4 * 128 * 512, 4 * 24 * 512, 4 * 6 * 512
    lost_b = (a // 2 + strip) / wide.core.first_cache_bytes - 1
    assert lost_b > 1
    filled = 4 * a + 2 * b
    assert repeated_cycles(wide, long, 16) == pytest.approx(waiting_cycles(filled, wide.core))


def test_kernels_that_copy_their_operands_wait_while_they_copy() -> None:
    assert repeated_cycles(INT16.on(AVX2), call(64, 48, 64, 32), 8) == 0.0


def test_timed_calls_have_their_waiting_in_them() -> None:
    timed = CallTime(64, 48, 64, 8, transposed=False, cycles=200_000.0)
    times = CallTimes("libxsmm", "float", 8, "1", complete=True, calls=(timed,))
    kernel = calibrated(LIBXSMM, (), (times,)).on(AVX2)
    predicted, waiting = (
        kernel.predicted_cycles(call(64, 48, 64, 8), 8),
        repeated_cycles(kernel, call(64, 48, 64, 8), 8),
    )
    plain, alone = (LIBXSMM.on(AVX2), repeated_cycles(LIBXSMM.on(AVX2), call(64, 48, 64, 8), 8))
    assert kernel.waits("float", 8)
    assert waiting == alone > 0
    factor = timed.cycles / (plain.predicted_cycles(call(64, 48, 64, 8), 8) + alone)
    assert predicted == pytest.approx(factor * plain.predicted_cycles(call(64, 48, 64, 8), 8))


def test_tables_have_it_in_their_cycles() -> None:
    table = Throughput("libxsmm", "float", 8, (32,), (8, 16), ((1.0, 1.0, 1.0),) * 2, 1.0, 0.0, 0.0, 1)
    kernel = calibrated(LIBXSMM, (table,)).on(AVX2)
    assert not kernel.waits("float", 8)
    assert kernel.waits("double", 4)
    assert repeated_cycles(kernel, call(64, 48, 64, 8), 8) == 0.0


def test_a_nest_waits_for_what_its_calls_bring_into_the_first_cache(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    machine = machine_with(1, 32)
    long, short = (
        Variant((Tile(0, "k", (size,)), UseMicrokernel(0, "c", "j", "i", "k", (), ()))) for size in (2048, 64)
    )
    for variant in (long, short):
        (candidate,) = pipeline.candidates(scop, [variant], machine=machine, microkernel="c")
        applied = pipeline.apply(scop, variant, machine=machine, microkernel="c")
        (site,) = applied.sites.values()
        alone = site.calls * site.kernel.predicted_cycles(site.gemm.shapes()[0][1], 8)
        waiting = waiting_cycles(candidate.traffic[0][0], machine.core)
        assert candidate.cycles[0] >= alone + waiting > alone
