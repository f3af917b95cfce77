"""Bounds of partly decided candidates: below all that they may become, and never lower once more is decided."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from marks import parametrized
from reuse_examples import MACHINE

from polydl import pipeline
from polydl.contracts import Calls, Candidate, Outlook
from polydl.contracts.ranking import distinct
from polydl.frontend.constants import with_constants
from polydl.ir.variant import Variant
from polydl.machine import Machine
from polydl.machine.core import CoreConstant
from polydl.machine.elsewhere import machine_elsewhere
from polydl.microkernels.amx_operands import FORMATS, SIDE, STEP
from polydl.model.times import nest_times
from polydl.ranking.bound import _PRODUCTS_OF_FLOATS, least_seconds, lower_bounds
from polydl.variants.decisions import Partial
from polydl.variants.shapes import Shape
from polydl.variants.space import NestSpace
from polydl.variants.variant_space import VariantSpace

PRODUCT = """
void f(float C[48][24], const float A[48][32], const float B[32][24])
{
#pragma scop
  for (int i = 0; i < 48; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 32; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
SCALED = """
void f(float y[96][64], const float x[64][96])
{
#pragma scop
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 64; j++)
      y[i][j] = 2 * x[j][i];
#pragma endscop
}
"""
# Caches so small that the arrays of these nests come from memory.
SMALL = tuple(replace(level, bytes=size) for level, size in zip(MACHINE.caches, (512, 1024, 2048), strict=True))
MACHINES = {
    "one thread": replace(MACHINE, threads=1),
    "three threads": replace(MACHINE, threads=3),
    "small caches": replace(MACHINE, threads=2, caches=SMALL),
}


def space_of(source: str, machine: Machine, folder: Path, microkernel: str) -> VariantSpace:
    path = folder / "nest.c"
    path.write_text(source)
    space = pipeline.space_on(pipeline.parse(path), machine, microkernel=microkernel)
    [nest] = space.spaces
    few = [*filter(lambda shape: whole(nest, shape), nest.shapes)][:4]
    few += [shape for shape in nest.shapes if shape not in few][:2]
    return replace(space, spaces=(replace(nest, shapes=tuple(few)),), alternatives=())


def whole(nest: NestSpace, shape: Shape) -> bool:
    """Whether all calls have the same sizes, so that a bound can count them."""
    return all(nest.extents[loop] % size == 0 for loop, size in nest.roles(shape).items())


def candidates(space: VariantSpace, machine: Machine, microkernel: str) -> list[tuple[Partial, Candidate]]:
    """Variants of a scop of one nest, a thousand at most: as fully decided candidates, and as rankers see them."""
    [nest] = space.spaces
    chosen = random.Random(0).sample(nest.choices, min(1000, len(nest.choices)))
    variants = [Variant(nest.steps(choice)) for choice in chosen]
    seen = pipeline.candidates(space.source, variants, machine=machine, microkernel=microkernel)
    decided = []
    for choice in chosen:
        partial = nest.root
        for name, value in nest.model.values(choice).items():
            assert partial is not None
            partial = partial.take(name, value)
        assert partial is not None
        decided.append(partial)
    return list(zip(decided, seen, strict=True))


@parametrized("name", MACHINES, quick=1)
@pytest.mark.parametrize(("source", "microkernel"), [(PRODUCT, "c"), (PRODUCT, "none"), (SCALED, "none")])
def test_no_completion_is_below_the_bound(name: str, source: str, microkernel: str, tmp_path: Path) -> None:
    machine = MACHINES[name]
    space = space_of(source, machine, tmp_path, microkernel)
    [nest] = space.spaces
    index = nest.nest.index
    generator = random.Random(1)
    complete = candidates(space, machine, microkernel)
    least = {}
    for partial, candidate in complete:
        bound = pipeline.least_seconds(space, {index: partial}, machine)
        assert bound == pytest.approx(lower_bounds([candidate], machine)[0])
        assert bound <= sum(time.total for time in nest_times(candidate, machine))
        least[id(partial)] = bound
    everything = pipeline.least_seconds(space, {}, machine)
    assert 0 < everything <= min(least.values())
    for _ in range(20):
        goal, _ = generator.choice(complete)
        so_far: Partial | None = nest.root
        bound, left = everything, complete
        for decision in generator.sample(nest.decisions.names, len(nest.decisions.names)):
            assert so_far is not None
            so_far = so_far.take(decision, goal.decided[decision])
            left = [each for each in left if each[0].decided[decision] == goal.decided[decision]]
            assert so_far is not None
            tighter = pipeline.least_seconds(space, {index: so_far}, machine)
            assert tighter >= bound, f"the bound got lower with {decision}"
            assert tighter <= min(least[id(each)] for each, _ in left)
            bound = tighter
        assert bound == least[id(goal)]


def test_what_calls_read_beyond_a_cache_bounds_their_time() -> None:
    machine = replace(MACHINE, threads=1)
    first, second = machine.caches[:2]
    # So few operations that nothing but operands takes time, and so many bytes of them that they come through L1.
    calls = Calls(rows=8, iterations=1.0, count=1000, operand_bytes=first.bytes + 640)
    outlook = Outlook(flops=8, footprint=calls.operand_bytes, calls=frozenset([calls]))
    read = calls.count * 640 / (machine.core.clock_headroom * second.bandwidth_bytes_per_second)
    assert least_seconds(outlook, machine) == pytest.approx(read)
    fitting = replace(calls, operand_bytes=first.bytes)
    assert least_seconds(replace(outlook, calls=frozenset([fitting])), machine) < read / 100
    # A variant of any of those that are left: the bound is that of the fastest.
    both = replace(outlook, calls=frozenset([calls, fitting]))
    assert least_seconds(both, machine) == least_seconds(replace(outlook, calls=frozenset([fitting])), machine)
    # What a thread has not for itself, another one may have filled.
    shared = replace(machine, threads=2, cores=2, caches=tuple(replace(level, shared_by=2) for level in machine.caches))
    assert least_seconds(outlook, shared) < read / 100


@pytest.mark.parametrize("level", [0, 1, 2])
def test_what_a_cache_can_not_have_kept_comes_into_it(level: int) -> None:
    machine = replace(MACHINE, threads=1)
    kept = sum(each.bytes for each in machine.caches[: level + 1])
    beyond = machine.bandwidths()[level + 1]
    outlook = Outlook(flops=8, footprint=kept + 64_000, calls=frozenset([Calls()]))
    assert least_seconds(outlook, machine) >= 64_000 / (machine.core.clock_headroom * beyond) * (1 - 1e-9)


def test_distinct_elements_of_two_loops_are_never_overestimated() -> None:
    for one, stride, other, other_stride in product((1, 2, 5), (0, 1, 2, 7), (1, 3, 4), (0, 1, 5, 9)):
        touched = {i * stride + j * other_stride for i in range(one) for j in range(other)}
        assert 1 <= distinct(one, stride, other, other_stride) <= len(touched)
    assert distinct(64, 1, 32, 64) == 64 * 32


def test_a_decision_may_raise_the_bound(tmp_path: Path) -> None:
    machine = MACHINES["three threads"]
    space = space_of(PRODUCT, machine, tmp_path, "c")
    [nest] = space.spaces
    alike = [number for number, shape in enumerate(nest.shapes) if whole(nest, shape)]
    assert alike
    partial = nest.root.restrict("shape", alike) if nest.root is not None else None
    assert partial is not None
    before = pipeline.least_seconds(space, {nest.nest.index: partial}, machine)
    after = [
        pipeline.least_seconds(space, {nest.nest.index: narrower}, machine)
        for value in partial.values("parallel")
        if (narrower := partial.take("parallel", value)) is not None
    ]
    assert min(after) == before < max(after)


def test_what_no_cache_keeps_comes_from_memory(tmp_path: Path) -> None:
    machine = MACHINES["small caches"]
    space = space_of(SCALED, machine, tmp_path, "none")
    # The second of two threads runs on another core, with another first and second cache.
    kept = 2 * SMALL[0].bytes + 2 * SMALL[1].bytes + SMALL[2].bytes
    moved = 2 * 96 * 64 * 4 - kept
    fastest = 1.2 * machine.memory_bandwidth_bytes_per_second * machine.threads
    assert pipeline.least_seconds(space, {}, machine) >= moved / fastest
    assert pipeline.least_seconds(space, {}, MACHINE) < moved / fastest


def test_two_threads_have_a_cache_each_while_there_are_cores() -> None:
    alone = replace(MACHINE, threads=2, caches=(replace(MACHINE.caches[0], shared_by=2),))
    outlook = Outlook(0, 2 * alone.caches[0].bytes, frozenset([Calls()]))
    assert least_seconds(outlook, replace(alone, cores=4)) == 0
    assert least_seconds(outlook, replace(alone, cores=2)) > 0


LAYER = """
void f(double Y[512][128], const float A[512][4], const float B[4][128], const float b[128])
{
#pragma scop
  for (int i = 0; i < 512; i++)
    for (int j = 0; j < 128; j++) {
      float s = b[j];
      for (int k = 0; k < 4; k++)
        s += A[i][k] * B[k][j];
      Y[i][j] = s > 0.0f ? s : 0.5f * s;
    }
#pragma endscop
}
"""
TRIANGLE = """
void f(float x[256], const float L[256][256], const float b[256])
{
#pragma scop
  for (int i = 0; i < 256; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] += L[i][j] * b[j];
  }
#pragma endscop
}
"""
SCALED_PRODUCT = """
void f(float C[16][64], const float A[16][64], const float W[64][64])
{
  float w[64][64];
#pragma scop
  for (int j = 0; j < 64; j++)
    for (int k = 0; k < 64; k++)
      w[j][k] = 2.0f * W[j][k];
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 64; j++)
      for (int k = 0; k < 64; k++)
        C[i][j] += A[i][k] * w[k][j];
#pragma endscop
}
"""
PRODUCTS = """
void f(float C[8][256][256], const float A[8][256][256], const float B[8][256][256])
{
#pragma scop
  for (int b = 0; b < 8; b++)
    for (int i = 0; i < 256; i++)
      for (int j = 0; j < 256; j++)
        for (int k = 0; k < 256; k++)
          C[b][i][j] += A[b][i][k] * B[b][k][j];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("source", "microkernel", "constants", "machine"),
    [
        pytest.param(LAYER, "c", (), MACHINES["small caches"], id="contracted arrays"),
        pytest.param(SCALED_PRODUCT, "c", ("W",), MACHINES["small caches"], id="prepared operands"),
        pytest.param(PRODUCTS, "c-amx,c", (), machine_elsewhere("xeon-amx", threads=1), id="tile registers"),
    ],
)
def test_no_variant_of_a_space_is_below_its_bound(
    source: str, microkernel: str, constants: tuple[str, ...], machine: Machine, tmp_path: Path
) -> None:
    path = tmp_path / "nest.c"
    path.write_text(source)
    scop = with_constants(pipeline.parse(path), constants)
    space = pipeline.space_on(scop, machine, microkernel=microkernel)
    for part in (space, *space.alternatives):
        variants = pipeline.generate(replace(part, alternatives=()), max_variants=50).variants
        seen = pipeline.candidates(scop, variants, machine=machine, microkernel=microkernel)
        bound = pipeline.least_seconds(part, {}, machine)
        assert 0 < bound <= min(lower_bounds(seen, machine)) * (1 + 1e-9)
        assert bound <= min(sum(time.total for time in nest_times(each, machine)) for each in seen)


def test_operations_of_half_a_triangle_need_half_of_the_array(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(TRIANGLE)
    space = pipeline.space_on(pipeline.parse(path), MACHINE, microkernel="none")
    assert space.least_work == (2 * 256 * 255 // 2, 4 * (256 * 255 // 2 + 256 + 256))


def test_candidates_with_narrow_elements_have_no_bound_of_arithmetic(tmp_path: Path) -> None:
    space = space_of(PRODUCT, MACHINE, tmp_path, "c")
    candidate = next(each for _, each in candidates(space, MACHINE, "c") if each.microkernels)
    [use] = candidate.microkernels
    assert lower_bounds([candidate], MACHINE)[0] > 0
    narrow = replace(use, element_bytes=(4, 2, 2))
    assert lower_bounds([replace(candidate, microkernels=(narrow,))], MACHINE)[0] == 0


def test_tile_registers_are_bound_by_how_often_their_products_start() -> None:
    assert FORMATS["float"].products == _PRODUCTS_OF_FLOATS
    machine = machine_elsewhere("xeon-amx", threads=1)
    core = machine.core
    assert core.fma_per_cycle == 2, "vectors of 16 floats: 64 operations in a cycle"
    assert core.tile_operations_per_cycle == 2 * SIDE * SIDE * STEP / core.tile_start_cycles == 1024
    vectors = Outlook(1 << 40, 0, frozenset([Calls(rows=32, iterations=1.0)]))
    seconds = least_seconds(vectors, machine)
    tiles = replace(vectors, calls=frozenset([Calls(rows=32, iterations=1.0, in_tiles=True)]))
    # Six products of 2 * 16 * 16 * 32 operations in 96 cycles.
    assert least_seconds(tiles, machine) == pytest.approx(seconds * 64 * 96 / 16384)
    # Some operations may be done in vector registers while tiles are multiplied, or all of them.
    some = replace(vectors, calls=frozenset([Calls(in_tiles=True)]))
    assert least_seconds(some, machine) == pytest.approx(seconds * 64 / (64 + 16384 / 96))
    either = replace(vectors, calls=vectors.calls | tiles.calls)
    assert least_seconds(either, machine) == least_seconds(tiles, machine)
    # Rows that fill no tile are not counted: whether they take as long is not known.
    ragged = replace(vectors, calls=frozenset([Calls(rows=17, iterations=1.0, in_tiles=True)]))
    assert least_seconds(ragged, machine) == least_seconds(tiles, machine)
    # Where products were measured to be faster than any processor is known to be, that bounds them.
    measured = replace(machine, constants=(*machine.constants, CoreConstant("tile_product_cycles", 4.0, "measured")))
    assert least_seconds(tiles, measured) == pytest.approx(least_seconds(tiles, machine) / 4)


def test_a_bound_is_tighter_once_tile_registers_are_out_of_the_question(tmp_path: Path) -> None:
    machine = machine_elsewhere("xeon-amx", threads=1)
    path = tmp_path / "nest.c"
    path.write_text(PRODUCTS)
    space = replace(pipeline.space_on(pipeline.parse(path), machine, microkernel="c-amx,c"), alternatives=())
    [nest] = space.spaces
    everything = pipeline.least_seconds(space, {}, machine)
    least: dict[str, list[float]] = {"c": [], "c-amx": []}
    for number, shape in enumerate(nest.shapes):
        partial = nest.root and nest.root.take("shape", number)
        if shape.match is not None and partial is not None:
            least[shape.match.kernel].append(pipeline.least_seconds(space, {nest.nest.index: partial}, machine))
    assert 0 < everything <= min(least["c-amx"])
    at_peak = space.least_work[0] / (machine.peak_gflops * 1e9)
    assert min(least["c"]) == pytest.approx(at_peak / machine.core.clock_headroom)
    assert max(least["c-amx"]) < min(least["c"])


@pytest.mark.parametrize(("element", "bounded"), [("float", True), ("signed char", False)])
def test_the_peak_of_float_bounds_no_narrower_elements(element: str, bounded: bool, tmp_path: Path) -> None:
    source = f"""
void f(int C[32][48], const {element} A[32][40], const {element} B[40][48]) {{
#pragma scop
  for (int i = 0; i < 32; i++) for (int j = 0; j < 48; j++) for (int k = 0; k < 40; k++) C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""
    source = source.replace("int C", f"{'float' if bounded else 'int'} C")
    least = pipeline.least_seconds(space_of(source, MACHINE, tmp_path, "none"), {}, MACHINE)
    assert (least > 0) == bounded
