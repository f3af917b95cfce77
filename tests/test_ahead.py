"""What microkernel calls fetch for later ones: together the whole next tile, and nothing where it doesn't pay."""

from __future__ import annotations

import ctypes
import re
import subprocess
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
import pytest
from emitted_text import emitted_text
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.ir.kernel import KernelSource
from polydl.machine.core import CoreConstant
from polydl.microkernels.amx_groups import AMX_GROUPS
from polydl.variants.build_space import build_space

# Of a cache line of 64 bytes.
LINE_FLOATS = 16
FILTERS = 8 * 4 * 64 * 64
CONVOLUTION = """
void f(float output[8][48][64], const float filter[8][{blocks}][64][64], const float input[{blocks}][48][64])
{{
#pragma scop
  for (int o = {outer})
    for (int i = 0; i < {blocks}; i++)
      for (int p = 0; p < 48; p++)
        for (int ofm = 0; ofm < 64; ofm++)
          for (int ifm = 0; ifm < 64; ifm++)
            output[o][p][ofm] += filter[o][i][ifm][ofm] * input[i][p][ifm];
#pragma endscop
}}
"""
LOG = """
static long polydl_log[1 << 16][2];
static long polydl_logged;
long polydl_read(long entry, int which) { return entry < polydl_logged ? polydl_log[entry][which] : -1; }
static void polydl_note(const void *a, const void *ahead)
{
  polydl_log[polydl_logged][0] = (long)a;
  polydl_log[polydl_logged++][1] = (long)ahead;
}
#define polydl_gemm0_run(a, b, c, m, n, k, count, first, ahead) \\
  (polydl_note(a, ahead), polydl_gemm0_real(a, b, c, m, n, k, count, first, ahead))
"""


def kernels(tmp_path: Path, blocks: int, outer: str = "0; o < 8; o++") -> list[KernelSource]:
    path = tmp_path / "nest.c"
    path.write_text(CONVOLUTION.format(blocks=blocks, outer=outer))
    scop = pipeline.parse(path)
    machine = machine_with(1, 64)
    space = pipeline.space_on(scop, machine, microkernel="c")
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=60, microkernel="c", seed=1)
    return [pipeline.kernel(space.apply(variant), 64) for variant in variants]


def calls(tmp_path: Path, source: KernelSource) -> list[tuple[int, int]]:
    """Addresses of A and of what is fetched, of all calls, relative to the filters."""
    emitted = emitted_text(source.c.replace("static void polydl_gemm0_run(", "static void polydl_gemm0_real(", 1))
    path = tmp_path / f"{source.id}.c"
    path.write_text(emitted.before + LOG + emitted.tuned + emitted.after)
    library = path.with_suffix(".so")
    subprocess.run(
        ["gcc", "-O1", "-march=native", "-w", "-shared", "-fPIC", str(path), "-o", str(library)], check=True, timeout=60
    )
    loaded = ctypes.CDLL(str(library))
    loaded.polydl_read.restype = ctypes.c_long
    arrays = [np.zeros(size, np.float32) for size in (8 * 48 * 64, FILTERS, 4 * 48 * 64)]
    loaded.f(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    found = []
    entry = 0
    while (address := loaded.polydl_read(entry, 0)) >= 0:
        found.append((address - arrays[1].ctypes.data, loaded.polydl_read(entry, 1) - arrays[1].ctypes.data))
        entry += 1
    return found


@pytest.mark.native
@parametrized(
    ("seldom", "outer"), [(True, "0; o < 8; o++"), (False, "0; o < 8; o++"), (False, "7; o >= 0; o--")], quick=1
)
def test_the_calls_with_one_tile_fetch_all_of_the_next(tmp_path: Path, seldom: bool, outer: str) -> None:
    found = [source for source in kernels(tmp_path, 4, outer) if source.microkernels[0].ahead]
    # Where each call has a tile of its own, and where several share one.
    tiles = {source.id: 4 * use.m * use.k * use.batch for source in found for use in source.microkernels}
    chosen = [source for source in found if (source.microkernels[0].ahead < tiles[source.id]) == seldom]
    assert chosen
    for source in chosen[:4]:
        use = source.microkernels[0]
        made = calls(tmp_path, source)
        assert len(made) > 1
        runs = [(address, [fetched for _, fetched in group]) for address, group in groupby(made, lambda call: call[0])]
        right = 0
        for (_, starts), (following, _) in pairwise(runs):
            fetched = {line for start in starts for line in range(start, start + use.ahead, 64)}
            right += fetched >= set(range(following, following + tiles[source.id], 64))
        assert right == len(runs) - 1


GROUPS = """
void f(int output[128][48][64], const unsigned char input[128][192][4], const signed char weights[48][192][64][4])
{
#pragma scop
  for (int i = 0; i < 128; i++)
    for (int t = 0; t < 48; t++)
      for (int j = 0; j < 64; j++)
        for (int k = 0; k < 192; k++)
          for (int q = 0; q < 4; q++)
            output[i][t][j] += (int)input[i][k][q] * (int)weights[t][k][j][q];
#pragma endscop
}
"""


@pytest.mark.amx
def test_whole_tiles_in_groups_are_fetched(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(GROUPS)
    space = build_space(pipeline.parse(path), (AMX_GROUPS,), machine_with(1, 64))
    fetched: dict[int, set[int]] = {}
    for variant in pipeline.generate(space, max_variants=60, seed=1).variants:
        (use,) = pipeline.kernel(space.apply(variant), 64).microkernels
        if not variant.rewrites and use.batch == 192:
            fetched.setdefault(use.m, set()).add(use.ahead)
    # Rows of 64 lie one group after the other; half of them do not.
    assert fetched[32] == {0}
    assert max(fetched[64]) > 0
    # Of 64 rows by 768 steps, the calls between two tiles fetch equal shares, in whole lines.
    assert all((64 * 768) % share == 0 and share % 64 == 0 for share in fetched[64] - {0})


@pytest.mark.slow
def test_a_small_operand_is_not_fetched(tmp_path: Path) -> None:
    found = kernels(tmp_path, 3)
    assert found
    assert not any(source.microkernels[0].ahead for source in found)
    assert not any("ahead" in source.c for source in found)


PRODUCT = """
void f(float C[64][{n}], const float A[64][{k}], const float B[{k}][{n}])
{{
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < {n}; j++)
      for (int k = 0; k < {k}; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""
STEPS = {"near_ahead_steps": 5, "apart_ahead_steps": 0, "last_cache_ahead_steps": 7, "memory_ahead_steps": 31}


@pytest.mark.parametrize("vector_bytes", [64, 32])
def test_each_cache_line_of_an_operand_is_fetched_once(tmp_path: Path, vector_bytes: int) -> None:
    path = tmp_path / "nest.c"
    path.write_text(PRODUCT.format(n=64, k=64))
    scop = pipeline.parse(path)
    machine = replace(machine_with(1, vector_bytes), constants=(CoreConstant("near_ahead_steps", 5),))
    drawn = pipeline.generate_variants(scop, machine=machine, max_variants=200, microkernel="c", seed=1)
    plain = [variant for variant in drawn if not variant.rewrites]
    space = pipeline.space_on(scop, machine, microkernel="c")
    steps = "".join(pipeline.kernel(space.apply(variant), vector_bytes).c for variant in plain).split("for (long l = 0")
    fetched = [
        [int(row) for row in re.findall(r"__builtin_prefetch\(ar \+ \(l \+ 5\) \* \d+ \+ (\d+)\)", step)]
        for step in steps
    ]
    assert {later - row for rows in fetched for row, later in pairwise(rows)} == {LINE_FLOATS}


# Of the 32 KiB, 1 MiB and 32 MiB of the machine: B within L1, within L2 with rows of a page, beyond L2, and beyond all.
@parametrized(
    ("n", "k", "name"),
    [
        (64, 64, "near_ahead_steps"),
        (256, 64, "near_ahead_steps"),
        (2048, 16, "apart_ahead_steps"),
        (1024, 512, "last_cache_ahead_steps"),
        (8192, 1024, "memory_ahead_steps"),
    ],
    quick=1,
)
def test_how_far_ahead_an_operand_is_fetched_depends_on_where_it_comes_from(
    tmp_path: Path, n: int, k: int, name: str
) -> None:
    path = tmp_path / "nest.c"
    path.write_text(PRODUCT.format(n=n, k=k))
    scop = pipeline.parse(path)
    constants = tuple(CoreConstant(each, steps) for each, steps in STEPS.items())
    machine = replace(machine_with(1, 64), constants=constants)
    space = pipeline.space_on(scop, machine, microkernel="c")
    drawn = pipeline.generate_variants(scop, machine=machine, max_variants=200, microkernel="c", seed=1)
    plain = [variant for variant in drawn if not variant.rewrites]
    sources = [pipeline.kernel(space.apply(variant), 64).c for variant in plain]
    fetching = [c for c in sources if "_run" in c and "ahead" not in c]
    assert fetching
    steps = STEPS[name]
    for c in fetching:
        found = {int(each) for each in re.findall(r"__builtin_prefetch\(ar \+ \(l \+ (\d+)\)", c)}
        assert found == ({steps} if steps else set())
