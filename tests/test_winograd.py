"""Convolutions by fewer products: the matrices, what is recognised, and that the generated code computes the same."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from computed import check_kernels, parse, separate
from machines import detected, machine_with
from marks import parametrized

from polydl import pipeline
from polydl.codegen.linear_maps import linear
from polydl.errors import IllegalVariantError
from polydl.ir.numerics import MOST_ERROR
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, Variant
from polydl.machine import Machine
from polydl.match.convolution import convolution
from polydl.optimization.picks import picks
from polydl.pipeline import SpaceOptions
from polydl.plan.bilinear_rounding import Bilinear, error_factor
from polydl.plan.linear_maps import operations
from polydl.plan.rewriting import rewritten
from polydl.plan.toom_cook import MOST_POINTS, toom_cook
from polydl.ranking.cost_model import COST_MODEL
from polydl.variants.rewrites.pad import Pad
from polydl.variants.rewrites.split import Split
from polydl.variants.rewrites.winograd import Room, Winograd, winograd, winograd_choices

ROOM = Room(near=1 << 20, filters=1 << 20, points=512 << 20)
BLOCKED = """
void f(float out[{n}][2][{h}][{w}][16], const float flt[2][2][{r}][{s}][16][16],
       const float in[{n}][2][{h} + {r} - 1][{w} + {s} - 1][16]) {{
#pragma scop
  {zero}
  for (int n = 0; n < {n}; n++)
    for (int kt = 0; kt < 2; kt++)
      for (int ct = 0; ct < 2; ct++)
        for (int y = 0; y < {h}; y++)
          for (int r = 0; r < {r}; r++)
            for (int s = 0; s < {s}; s++)
              for (int x = 0; x < {w}; x++)
                for (int c = 0; c < 16; c++)
                  for (int k = 0; k < 16; k++)
                    out[n][kt][y][x][k] += flt[kt][ct][r][s][c][k] * in[n][ct][y + r][x + s][c];
#pragma endscop
}}
"""

ZERO = """
  for (int n = 0; n < {n}; n++)
    for (int kt = 0; kt < 2; kt++)
      for (int y = 0; y < {h}; y++)
        for (int x = 0; x < {w}; x++)
          for (int k = 0; k < 16; k++)
            out[n][kt][y][x][k] = 0;
"""

PLAIN = """
void f({element} out[{out}], const {element} flt[{flt}], const {element} in[{in_}]) {{
#pragma scop
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < {k}; k++)
      for (int y = 0; y < 11; y++)
        for (int x = 0; x < {w}; x++)
          for (int c = 0; c < 20; c++)
            for (int r = 0; r < 3; r++)
              for (int s = 0; s < 3; s++)
                out[{to}] += in[{at}] * flt[{of}];
#pragma endscop
}}
"""

LAYOUTS = {
    "nchw": ("n][k][y][x", "n][c][y + r][x + s", "k][c][r][s"),
    "nhwc": ("n][y][x][k", "n][y + r][x + s][c", "r][s][c][k"),
    "nhwc, filters by output": ("n][y][x][k", "n][y + r][x + s][c", "k][r][s][c"),
}

CONDITIONAL = """
void f(float out[24][13][14], const float flt[24][20][3][3], const float in[20][13][14]) {
#pragma scop
  for (int k = 0; k < 24; k++)
    for (int y = 0; y < 13; y++)
      for (int x = 0; x < 14; x++)
        for (int c = 0; c < 20; c++)
          for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++)
              if (0 <= y + r - 1 && y + r - 1 < 13 && 0 <= x + s - 1 && x + s - 1 < 14)
                out[k][y][x] += flt[k][c][r][s] * in[c][y + r - 1][x + s - 1];
#pragma endscop
}
"""


def blocked(h: int, w: int, r: int = 3, s: int = 3, n: int = 1, zero: str = "") -> str:
    sizes = {"h": h, "w": w, "r": r, "s": s, "n": n}
    return BLOCKED.format(zero=zero.format(**sizes), **sizes)


def plain(layout: str, element: str = "float", k: int = 24, w: int = 37) -> str:
    extents = {"n": 2, "k": k, "y": 11, "x": w, "y + r": 13, "x + s": w + 2, "c": 20, "r": 3, "s": 3}
    to, at, of = LAYOUTS[layout]
    shapes = ["][".join(str(extents[each]) for each in text.split("][")) for text in (to, of, at)]
    return PLAIN.format(element=element, out=shapes[0], flt=shapes[1], in_=shapes[2], to=to, at=at, of=of, k=k, w=w)


def tiles(variant: Variant) -> tuple[int, ...]:
    """Pixels of the variant's tiles, along each axis; empty for one that multiplies directly."""
    steps = [step for step in variant.rewrites if isinstance(step, Winograd)]
    return tuple(size for _, _, size in steps[0].axes) if steps else ()


def check(scop: Scop, tmp_path: Path, threads: int = 1, caches: str | None = None) -> set[tuple[int, ...]]:
    """Compile and check a variant with each size of tiles; the sizes."""
    machine = detected(caches, threads=threads)
    space = pipeline.space_on(scop, machine, numerics="fast")
    variants = pipeline.generate(space, max_variants=40, seed=1).variants
    chosen: dict[tuple[int, ...], Variant] = {}
    for variant in variants:
        if tiles(variant):
            chosen.setdefault(tiles(variant), variant)
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in chosen.values()]
    assert kernels
    check_kernels(tmp_path, scop, kernels, threads)
    return set(chosen)


@pytest.mark.parametrize("taps", range(2, MOST_POINTS))
def test_the_matrices_make_up_a_convolution_exactly(taps: int) -> None:
    generator = np.random.default_rng(taps)
    for outputs in range(2, MOST_POINTS - taps + 2):
        made = toom_cook(outputs, taps)
        image = [Fraction(int(each)) for each in generator.integers(-9, 9, outputs + taps - 1)]
        filters = [Fraction(int(each)) for each in generator.integers(-9, 9, taps)]

        def times(matrix: tuple[tuple[Fraction, ...], ...], vector: list[Fraction]) -> list[Fraction]:
            return [sum((a * b for a, b in zip(row, vector, strict=True)), Fraction(0)) for row in matrix]

        points = [a * b for a, b in zip(times(made.image, image), times(made.taps, filters), strict=True)]
        expected = [sum(image[at + tap] * filters[tap] for tap in range(taps)) for at in range(outputs)]
        assert times(made.result, points) == expected


@pytest.mark.parametrize("channels", [16, 64, 256, 4096])
def test_tiles_of_six_pixels_round_more_than_the_default_admits(channels: int) -> None:
    axis, smaller = (toom_cook(size, 3) for size in (6, 4))
    six, four = (
        error_factor([Bilinear(each.result, each.taps, each.image)] * 2, channels, 9 * channels)
        for each in (axis, smaller)
    )
    assert 6.8 < six < 12.2
    assert four < MOST_ERROR < six


@pytest.mark.parametrize("size", [(2, 3), (4, 3), (2, 5), (4, 5), (2, 7)])
def test_shared_sums_compute_the_same_with_fewer_operations(size: tuple[int, int]) -> None:
    made = toom_cook(*size)
    for matrix in (made.result, made.taps, made.image):
        values = {f"x{place}": float(place**2 % 7 - 3) for place in range(len(matrix[0]))}
        names = [f"y{row}" for row in range(len(matrix))]
        for line in linear(matrix, list(values), names, "t", "V", ""):
            assert line.startswith("const V ")
            exec(line.removeprefix("const V ").rstrip(";"), {}, values)
        for name, row in zip(names, matrix, strict=True):
            expected = sum(float(each) * values[f"x{place}"] for place, each in enumerate(row))
            assert values[name] == pytest.approx(expected, abs=1e-12)
        assert operations(matrix) <= sum(sum(1 for each in row if each) for row in matrix)
    assert [operations(matrix) for matrix in (toom_cook(4, 3).image, toom_cook(2, 3).image)] == [12, 4]


@pytest.mark.native
@parametrized(
    ("source", "sizes"),
    [
        (blocked(12, 16), {(4, 4), (2, 2)}),
        (blocked(7, 9, n=2, zero=ZERO), {(4, 4), (2, 2)}),
        (blocked(9, 50), {(4, 4), (2, 2)}),
        (blocked(8, 9, r=5, s=5), {(2, 2), (4, 4)}),
        (blocked(10, 9, r=1, s=7), {(2,)}),
        (blocked(11, 9, r=3, s=1), {(4,), (2,)}),
        (blocked(10, 10, r=2, s=3), {(5, 4), (3, 2)}),
    ],
    quick=1,
)
@pytest.mark.slow
def test_blocked_layouts(source: str, sizes: set[tuple[int, ...]], tmp_path: Path) -> None:
    assert check(parse(tmp_path, source), tmp_path) == sizes


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("element", ["float", "double"])
def test_other_layouts_and_channels_that_do_not_fill_vectors(layout: str, element: str, tmp_path: Path) -> None:
    assert check(parse(tmp_path, plain(layout, element, k=21)), tmp_path, threads=2) == {(4, 4), (2, 2)}


@pytest.mark.native
@parametrized("width", [2, 3, 4, 5], quick=1)
def test_images_as_narrow_as_a_tile_whose_last_rows_are_not_there(width: int, tmp_path: Path) -> None:
    scop, machine = parse(tmp_path, plain("nchw", w=width)), Machine.detect(threads=1)
    kernels = []
    for size in (2, 4):
        variant = Variant((Winograd("S0", (("y", "r", size), ("x", "s", size)), 1),))
        applied = pipeline.apply(scop, variant, machine=machine, numerics="fast")
        kernels.append(pipeline.kernel(applied, machine.vector_bytes))
    check_kernels(tmp_path, scop, kernels, threads=1)


@pytest.mark.slow
@pytest.mark.native
def test_filters_that_are_turned_round(tmp_path: Path) -> None:
    scop = parse(tmp_path, blocked(9, 10).replace("[r][s][c]", "[2 - r][2 - s][c]"))
    assert check(scop, tmp_path) == {(4, 4), (2, 2)}
    base = separate(parse(tmp_path, plain("nchw").replace("[c][r][s]", "[c][2 - r][2 - s]")))
    with pytest.raises(IllegalVariantError, match="runs backwards"):
        winograd(base, Winograd("S0", (("y", "r", 4), ("x", "s", 4)), 2))


@pytest.mark.slow
@pytest.mark.native
def test_groups_with_filters_of_their_own(tmp_path: Path) -> None:
    source = (
        plain("nchw", w=9).replace("n < 2", "n < 3").replace("flt[k]", "flt[n][k]").replace("flt[24]", "flt[3][24]")
    )
    scop = parse(tmp_path, source.replace("out[2]", "out[3]").replace("in[2]", "in[3]"))
    assert check(scop, tmp_path, threads=2) == {(4, 4), (2, 2)}


@pytest.mark.slow
@pytest.mark.native
def test_channels_in_blocks_when_filters_are_large(tmp_path: Path) -> None:
    source = plain("nchw", k=384, w=9).replace("[20]", "[128]").replace("c < 20", "c < 128").replace("[2][", "[1][")
    scop = parse(tmp_path, source.replace("n < 2", "n < 1"))
    (proposal, _) = winograd_choices(separate(scop), separate(scop).statements[0], ROOM)
    steps = proposal.steps
    assert [type(step) for step in steps] == [Split, Split, Winograd]
    assert proposal.attached == (Attach("zero_S0", "S0", "first"),)
    assert isinstance(steps[2], Winograd)
    assert steps[2].shared == ("k_block", "c_block")
    assert check(scop, tmp_path) == {(4, 4), (2, 2)}


def test_filters_that_hold_the_same_at_every_call_are_transformed_whole_as_well(tmp_path: Path) -> None:
    source = plain("nchw", k=384, w=9).replace("[20]", "[128]").replace("c < 20", "c < 128").replace("[2][", "[1][")
    scop = replace(separate(parse(tmp_path, source.replace("n < 2", "n < 1"))), constants=("flt",))
    proposals = winograd_choices(scop, scop.statement("S0"), ROOM)
    steps = [step for proposal in proposals for step in proposal.steps if isinstance(step, Winograd)]
    tiles = [(step.axes[0][2], step.shared) for step in steps]
    assert tiles == [(4, ()), (4, ("k_block", "c_block")), (2, ()), (2, ("k_block",))]
    machine = machine_with(1, 16)
    applied = [pipeline.apply(scop, Variant(each.steps), machine=machine) for each in proposals]
    assert [each.prepared.bytes >= 16 * 384 * 128 * 4 for each in applied] == [True, False, True, False]


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_points_of_parts_of_the_image_where_all_do_not_fit_a_cache(threads: int, tmp_path: Path) -> None:
    scop = parse(tmp_path, blocked(9, 50, n=2, zero=ZERO))
    base = separate(scop)
    (proposal, *_) = winograd_choices(base, base.statement("S1"), replace(ROOM, near=64 << 10))
    assert proposal.steps[0] == Winograd("S1", (("y", "r", 4), ("x", "s", 4)), 1, ("n", "y"))
    assert check(scop, tmp_path, threads, "4K,16K,1M") == {(4, 4), (2, 2)}


@pytest.mark.slow
@pytest.mark.native
def test_rows_and_columns_that_a_condition_leaves_out(tmp_path: Path) -> None:
    scop = parse(tmp_path, CONDITIONAL)
    assert check(scop, tmp_path) == {(4, 4), (2, 2)}
    variants = pipeline.generate_variants(scop, machine=Machine.detect(threads=1), max_variants=60)
    tiled = [variant for variant in variants if tiles(variant)]
    assert tiled
    assert all(isinstance(variant.rewrites[0], Pad) for variant in tiled)


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize(
    ("layout", "threads"), [("nchw", 1), ("nchw", 2), ("nhwc", 1), ("blocked", 1), ("blocked, parts", 2)]
)
def test_element_wise_statements_are_applied_to_tiles(layout: str, threads: int, tmp_path: Path) -> None:
    if layout.startswith("blocked"):
        source, to = blocked(9, 14, n=2, zero=ZERO), "n][kt][y][x][k"
        loops = {"n": 2, "kt": 2, "y": 9, "x": 14, "k": 16}
        bias, at = "bias[2][16]", "bias[kt][k]"
    else:
        source, to = plain(layout), LAYOUTS[layout][0]
        loops = {"n": 2, "k": 24, "y": 11, "x": 37}
        bias, at = "bias[24]", "bias[k]"
    heads = " ".join(f"for (int {name} = 0; {name} < {extent}; {name}++)" for name, extent in loops.items())
    more = f"""
  {heads} out[{to}] = out[{to}] + {at};
  {heads} out[{to}] = out[{to}] > 0 ? out[{to}] : 0;
#pragma endscop"""
    source = source.replace("#pragma endscop", more).replace("void f(", f"void f(const float {bias}, ")
    scop = parse(tmp_path, source)
    check(scop, tmp_path, threads, "4K,16K,1M" if layout.endswith("parts") else None)
    space = pipeline.space_on(scop, detected(threads=threads))
    steps = [step for each in space.alternatives for step in each.rewrites if isinstance(step, Winograd)]
    assert steps
    assert all(len(step.after) == 2 for step in steps)
    made = next(each for each in space.alternatives if any(isinstance(step, Winograd) for step in each.rewrites))
    assert {each.name for each in made.scop.statements} & set(steps[0].after) == set()


@pytest.mark.native
def test_element_wise_statements_are_applied_to_tiles_of_an_image_with_linear_subscripts(tmp_path: Path) -> None:
    source = """
void f(float out[17 * 6 * 3], const float flt[17][16][3][3], const float inp[16][8][5], const float add[17][6][3]) {
#pragma scop
  for (int k = 0; k < 17; k++) for (int c = 0; c < 16; c++) for (int y = 0; y < 6; y++) for (int x = 0; x < 3; x++)
    for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++)
      out[18 * k + 3 * y + x] += inp[c][y + r][x + s] * flt[k][c][r][s];
  for (int k = 0; k < 17; k++) for (int y = 0; y < 6; y++) for (int x = 0; x < 3; x++)
    out[18 * k + 3 * y + x] += add[k][y][x];
#pragma endscop
}
"""
    scop = parse(tmp_path, source)
    step = Winograd("S0", (("y", "r", 2), ("x", "s", 2)), 2, after=("S1",))
    machine = detected(threads=1)
    kernel = pipeline.kernel(pipeline.apply(scop, Variant((step,)), machine=machine), machine.vector_bytes)
    check_kernels(tmp_path, scop, [kernel], 1)


@pytest.mark.slow
@pytest.mark.native
def test_a_statement_that_reads_neighbours_stays_behind(tmp_path: Path) -> None:
    more = """
  for (int n = 0; n < 1; n++) for (int kt = 0; kt < 2; kt++) for (int y = 0; y < 12; y++)
    for (int x = 0; x < 16; x++) for (int k = 0; k < 16; k++)
      out[n][kt][y][x][k] = out[n][kt][y][15 - x][k] * 0.5f;
#pragma endscop"""
    scop = parse(tmp_path, blocked(12, 16, zero=ZERO).replace("#pragma endscop", more))
    base = separate(scop)
    step = Winograd("S1", (("y", "r", 4), ("x", "s", 4)), 1, after=("S2",))
    with pytest.raises(IllegalVariantError, match="depends on more"):
        winograd(base, step)
    assert check(scop, tmp_path) == {(4, 4), (2, 2)}


def test_a_pass_of_zeros_goes_and_another_one_stays(tmp_path: Path) -> None:
    step = Winograd("S1", (("y", "r", 4), ("x", "s", 4)), 1)
    scop = separate(parse(tmp_path, blocked(12, 16, zero=ZERO)))
    made = winograd(scop, step)
    assert [each.name for each in made.statements] == ["image_S1", "zero_S1", "filter_S1", "S1", "result_S1"]
    assert {access.array for access in made.statement("result_S1").reads} == {"out_points"}
    other = separate(parse(tmp_path, blocked(12, 16, zero=ZERO.replace("x < {w}", "x < {w} - 1"))))
    kept = winograd(other, step)
    assert kept.statements[0].name == "S0"
    assert {access.array for access in kept.statement("result_S1").reads} == {"out_points", "out"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("in[n][ct][y + r][x + s][c]", "in[n][ct][2 * y + r][2 * x + s][c]"),
        ("in[n][ct][y + r][x + s][c]", "in[n][ct][y + 2 * r][x + 2 * s][c]"),
        ("in[n][ct][y + r][x + s][c]", "in[n][ct][y][x][c]"),
        ("for (int k = 0; k < 16; k++)", "for (int k = 15; k >= 0; k--)"),
        ("in[n][ct][y + r][x + s][c]", "in[n][kt][y + r][x + s][k]"),
    ],
)
def test_what_is_no_convolution_in_steps_of_one_is_left_alone(before: str, after: str, tmp_path: Path) -> None:
    source = blocked(8, 8)
    assert before in source
    scop = separate(parse(tmp_path, source.replace(before, after).replace("[8 + 3 - 1]", "[40]")))
    assert convolution(scop, scop.statements[0]) is None
    assert winograd_choices(scop, scop.statements[0], ROOM) == ()


@pytest.mark.parametrize(
    ("step", "word"),
    [
        (Winograd("S0", (("y", "s", 4), ("x", "r", 4)), 1), "no convolution along"),
        (Winograd("S0", (("y", "r", 4),), 1), "no convolution along"),
        (Winograd("S0", (("y", "r", 7), ("x", "s", 4)), 1), "no transform"),
        (Winograd("S0", (("y", "r", 1), ("x", "s", 4)), 1), "no transform"),
        (Winograd("S0", (("y", "r", 4), ("x", "s", 4)), 4), "joined"),
        (Winograd("S0", (("y", "r", 4), ("x", "s", 4)), 1, ("c",)), "outer loops"),
        (Winograd("S0", (("y", "r", 4), ("x", "s", 4)), 1, ("kt", "kt")), "outer loops"),
    ],
)
def test_a_step_that_does_not_fit_is_refused(step: Winograd, word: str, tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, blocked(8, 8)))
    with pytest.raises(IllegalVariantError, match=word):
        winograd(scop, step)


@pytest.mark.native
@parametrized("compiler", ["gcc", "clang"], quick=1)
@pytest.mark.parametrize("layout", ["blocked", "nchw"])
def test_the_code_is_free_of_warnings(compiler: str, layout: str, tmp_path: Path) -> None:
    scop = parse(tmp_path, blocked(7, 9, zero=ZERO) if layout == "blocked" else plain(layout))
    machine = Machine.detect(threads=1)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=40)
    variant = next(each for each in variants if tiles(each) and "libxsmm" not in str(each.steps))
    path = tmp_path / "variant.c"
    path.write_text(pipeline.kernel(pipeline.space_on(scop, machine).apply(variant), machine.vector_bytes).c)
    command = [compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-c", str(path)]
    done = subprocess.run([*command, "-o", str(tmp_path / "variant.o")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_sums_whose_order_is_kept_are_not_factored(tmp_path: Path) -> None:
    scop = parse(tmp_path, blocked(12, 16))
    machine = Machine.detect(threads=1)
    for options in (
        SpaceOptions(numerics="strict"),
        SpaceOptions(numerics="reassociated"),
        SpaceOptions(fewer_products=False),
    ):
        variants = pipeline.generate_variants(scop, machine=machine, max_variants=100, **options)
        assert variants
        assert not any(tiles(variant) for variant in variants)
    base = separate(scop)
    with pytest.raises(IllegalVariantError, match="every sum keeps its order"):
        rewritten(base, (Winograd("S0", (("y", "r", 4), ("x", "s", 4)), 1),), numerics="strict")


def test_the_size_of_the_memory_changes_no_rewrite() -> None:
    """Kept answers are found again whatever the memory."""
    machine = machine_with(threads=1, vector_bytes=32)
    assert Room.of(replace(machine, memory_bytes=1 << 30)) == Room.of(machine)


def test_both_ways_to_multiply_are_among_the_picks(tmp_path: Path) -> None:
    scop = parse(tmp_path, blocked(24, 28))
    machine = Machine.detect(threads=1)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=200)
    ranking = COST_MODEL.rank(pipeline.candidates(scop, variants, machine=machine), machine)
    found = {tiles(entry.variant) for _, entry in picks(ranking, 10)}
    assert () in found
    assert found & {(2, 2), (4, 4)}
