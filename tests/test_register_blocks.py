"""Register blocks of plain loops: where they are proposed, what they cost, what runs inside, what they compute."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.numerics import Numerics
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, Interchange, Tile, Unroll, Variant
from polydl.plan.register_blocks import VectorCounts, register_block
from polydl.variants.register_blocks import RegisterBlock as Block
from polydl.variants.space import NestSpace
from polydl.workloads import Layout, workload

LAST = """
void f(float output[{o}][{o}][{c}], const float filter[{k}][{k}][{c}], const float input[{i}][{i}][{c}]) {{
#pragma scop
  for (int y = 0; y < {o}; y++)
    for (int x = 0; x < {o}; x++)
      for (int k = 0; k < {c}; k++)
        output[y][x][k] = 0.0f;
  for (int y = 0; y < {o}; y++)
    for (int x = 0; x < {o}; x++)
      for (int r = 0; r < {k}; r++)
        for (int s = 0; s < {k}; s++)
          for (int k = 0; k < {c}; k++)
            output[y][x][k] += filter[r][s][k] * input[{stride} * y + {dilation} * r][{stride} * x + {dilation} * s][k];
  for (int y = 0; y < {o}; y++)
    for (int x = 0; x < {o}; x++)
      for (int k = 0; k < {c}; k++)
        output[y][x][k] = output[y][x][k] < 0.0f ? 0.0f : output[y][x][k];
#pragma endscop
}}
"""
FIRST = """
void f(float output[{c}][{o}][{o}], const float filter[{c}][{k}][{k}], const float input[{c}][{i}][{i}]) {{
#pragma scop
  for (int t = 0; t < {c}; t++)
    for (int y = 0; y < {o}; y++)
      for (int x = 0; x < {o}; x++)
        for (int r = 0; r < {k}; r++)
          for (int s = 0; s < {k}; s++)
            output[t][y][x] += filter[t][r][s] * input[t][{stride} * y + {dilation} * r][{stride} * x + {dilation} * s];
#pragma endscop
}}
"""
MAXIMA = FIRST.replace(
    "output[t][y][x] += filter[t][r][s] * input[t][{stride} * y + {dilation} * r][{stride} * x + {dilation} * s]",
    "output[t][y][x] = output[t][y][x] > input[t][{stride} * y + r][{stride} * x + s]"
    " ? output[t][y][x] : input[t][{stride} * y + r][{stride} * x + s]",
)


def nest(
    tmp_path: Path, text: str, *, o: int = 14, c: int = 32, k: int = 3, stride: int = 1, dilation: int = 1
) -> Scop:
    i = (o - 1) * stride + (k - 1) * dilation + 1
    return parse(tmp_path, text.format(o=o, c=c, k=k, i=i, stride=stride, dilation=dilation))


def heaviest(scop: Scop, numerics: Numerics = "fast", vector_bytes: int = 64) -> NestSpace:
    """The space of the nest with the most instances."""
    space = pipeline.space_on(scop, machine_with(1, vector_bytes), numerics=numerics)
    return max(space.spaces, key=lambda nest: sum(statement.instances for statement in nest.statements))


def blocks(space: NestSpace) -> list[Block]:
    return [shape.block for shape in space.shapes if shape.block is not None]


def names(space: NestSpace, loops: tuple[int, ...]) -> str:
    return " ".join(space.name(loop) for loop in loops)


def test_what_neighbours_share_is_loaded_once(tmp_path: Path) -> None:
    scop = nest(tmp_path, LAST)
    statement = scop.statement("S1")
    # Loops y, x, r, s, k. A row of three outputs reads five columns of three rows, and nine elements of the filter.
    inner = [(2, 3), (3, 3), (1, 3)]
    assert register_block(scop, statement, inner, 4, 32, 16) == VectorCounts(
        27, 27, loads=15 + 9 + 3, stores=3, live=8, kept=0
    )
    # With too few registers for what is used again, it is loaded each time.
    assert register_block(scop, statement, inner, 4, 6, 16) == VectorCounts(
        27, 27, loads=27 + 9 + 3, stores=3, live=8, kept=0
    )


def test_what_does_not_move_with_the_vectors_is_loaded_before(tmp_path: Path) -> None:
    scop = nest(tmp_path, FIRST, stride=2)
    # Loops t, y, x, r, s; vectors along x. Two rows read five rows, three times, and every other element of each.
    inner = [(4, 3), (3, 3), (1, 2)]
    assert register_block(scop, scop.statement("S0"), inner, 2, 32, 16).loads == 2 * 15 + 2


@pytest.mark.parametrize(("text", "vector", "terms"), [(LAST, "k", "r s"), (FIRST, "x", "s r"), (MAXIMA, "x", "r s")])
def test_blocks_have_all_terms_and_some_outputs(tmp_path: Path, text: str, vector: str, terms: str) -> None:
    space = heaviest(nest(tmp_path, text))
    found = blocks(space)
    assert len(found) == len(space.shapes) > 1
    assert {space.name(block.vector) for block in found} == {vector}
    assert sum(size for _, size in found[0].outputs) > 1
    along = [block for block in found if len(block.outputs) == 1]
    assert along or text is LAST
    # The term that reads what the next output reads as well is the innermost one.
    rows = [block for block in along if names(space, (block.outputs[0][0],)) == "y"]
    assert {names(space, block.terms) for block in rows} <= ({"s r"} if text is not MAXIMA else {"r s"})
    assert {" ".join(sorted(names(space, block.terms).split())) for block in found} == {"r s"}
    costs = [block.cycles_per_operation for block in found]
    assert costs == sorted(costs)
    assert terms in {names(space, block.terms) for block in found}


def test_blocks_fit_into_registers(tmp_path: Path) -> None:
    for vector_bytes, registers in ((64, 32), (32, 16)):
        space = heaviest(nest(tmp_path, FIRST, k=5, o=16), vector_bytes=vector_bytes)
        assert space.machine.core.vector_registers == registers
        found = blocks(space)
        assert found
        for block in found:
            sums = sum(size for _, size in block.outputs) or 1
            # The sums, as many rows as they all read next, and what is multiplied.
            assert sums + (sums - 1) + 2 <= registers


def test_sums_keep_their_order_where_they_must(tmp_path: Path) -> None:
    for text in (LAST, FIRST):
        space = heaviest(nest(tmp_path, text), "strict")
        assert {names(space, block.terms) for block in blocks(space)} == {"r s"}


def test_other_nests_have_none(tmp_path: Path) -> None:
    many = nest(tmp_path, LAST, k=9, o=9)
    product = parse(
        tmp_path,
        """
void f(double C[64][64], const double A[64][64], const double B[64][64]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      for (int k = 0; k < 64; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
""",
    )
    triangle = parse(
        tmp_path,
        """
void f(float y[64][64], const float x[80][64]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int k = 0; k < 8; k++)
      for (int j = i; j < 64; j++)
        y[i][j] += x[i + k][j];
#pragma endscop
}
""",
    )
    assert [blocks(heaviest(scop)) for scop in (many, product, triangle)] == [[], [], []]


def test_vectors_run_whole_or_in_tiles(tmp_path: Path) -> None:
    spans = {block.span for block in blocks(heaviest(nest(tmp_path, LAST, c=192)))}
    assert spans == {192, 64, 16}
    assert {block.span for block in blocks(heaviest(nest(tmp_path, LAST, c=24)))} == {24}


def test_only_innermost_loops_are_unrolled_and_not_too_many(tmp_path: Path) -> None:
    scop = nest(tmp_path, LAST, k=7)
    machine = machine_with(1, 64)

    def applied(order: str, tiles: int, *loops: str) -> None:
        steps = [Tile(1, "x", (tiles,)), Interchange(1, tuple(order.split())), *(Unroll(1, each) for each in loops)]
        pipeline.apply(scop, Variant(tuple(steps)), machine=machine)

    applied("y x_t1 k r s x", 7, "r", "s", "x")
    with pytest.raises(IllegalVariantError, match="only the innermost loops of nest 1"):
        applied("y x_t1 k r s x", 7, "r", "x")
    with pytest.raises(IllegalVariantError, match="have 686 iterations together, and at most 512"):
        applied("y x_t1 k r s x", 14, "r", "s", "x")
    with pytest.raises(IllegalVariantError, match="unrolls `x` more than once"):
        applied("y x_t1 k r s x", 7, "x", "x")


def test_what_is_attached_runs_in_the_block(tmp_path: Path) -> None:
    scop = nest(tmp_path, LAST)
    machine = machine_with(1, 64)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=40)
    variant = next(each for each in variants if len(each.attached) == 2)
    applied = pipeline.apply(scop, variant, machine=machine)
    body = pipeline.kernel(applied, machine.vector_bytes).c.partition("static void f(")[2]
    body = body.partition("#undef f")[0]
    assert body.count("#pragma omp simd simdlen(16)") == 1 + body.count("} else {")
    assert "polydl_scalar0_0 = 0.0f;" in body
    assert "= output[" not in body
    [candidate] = pipeline.candidates(scop, [variant], machine=machine)
    assert candidate.cycles[0] + candidate.cycles[2] < candidate.cycles[1] / 2


def test_a_single_image_is_no_sum_around_what_is_attached(tmp_path: Path) -> None:
    scop = pipeline.parse(workload("dwconv_32x15x15x3x3s1p1").write(tmp_path))
    machine = machine_with(1, 64)
    order = ("img", "c_tile", "oj", "oi_t1", "c", "kj", "ki", "oi")
    unrolled = (Unroll(1, loop) for loop in ("kj", "ki", "oi"))
    variant = Variant((Attach("S0", "S1", "first"), Tile(1, "oi", (5,)), Interchange(1, order), *unrolled))
    applied = pipeline.apply(scop, variant, machine=machine)
    assert applied.plan.nests[1].shared_depth == order.index("kj")
    body = pipeline.kernel(applied, machine.vector_bytes).c.partition("#undef")[0]
    assert body.count("#pragma omp simd") == 1
    assert "polydl_scalar0_4 = 0.0f;" in body


@pytest.mark.native
@parametrized(
    ("text", "sizes"),
    [
        (LAST, {"o": 9, "c": 24}),
        (LAST, {"o": 7, "c": 16, "k": 5, "stride": 2}),
        (FIRST, {"o": 13, "c": 3, "dilation": 2}),
        (FIRST, {"o": 11, "c": 3, "stride": 2}),
        (MAXIMA, {"o": 11, "c": 3, "stride": 2}),
    ],
    quick=1,
)
@parametrized("threads", [1, 2], quick=1)
def test_blocks_compute_the_same(tmp_path: Path, text: str, sizes: dict[str, int], threads: int) -> None:
    scop = nest(tmp_path, text, **sizes)
    machine = machine_with(threads, 32)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=24, seed=threads)
    blocked = [each for each in variants if sum(isinstance(step, Unroll) for step in each.steps) > 1]
    chosen = blocked[:: max(1, len(blocked) // 2)]
    assert chosen
    kernels = [pipeline.kernel(pipeline.apply(scop, each, machine=machine), 32) for each in chosen]
    check_kernels(tmp_path, scop, kernels, threads=threads)


@pytest.mark.native
@parametrized("layout", ["blocked", "nchw", "nhwc"], quick=1)
@parametrized("stride", [1, 2], quick=1)
def test_the_best_variant_of_a_depthwise_layer_computes_the_same(tmp_path: Path, layout: Layout, stride: int) -> None:
    layer = workload(f"dwconv_32x15x15x3x3s{stride}p1", layout=layout)
    machine = machine_with(1, 32)
    scop = pipeline.parse(layer.write(tmp_path))
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=20)
    ranked = [entry.variant for entry in pipeline.rank(scop, variants, machine=machine).entries]
    assert sum(isinstance(step, Unroll) for step in ranked[0].steps) > 1
    chosen = dict.fromkeys((ranked[0], next(each for each in ranked if each.attached)))
    kernels = [pipeline.kernel(pipeline.apply(scop, each, machine=machine), machine.vector_bytes) for each in chosen]
    check_kernels(tmp_path, scop, kernels, threads=1)
