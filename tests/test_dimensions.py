"""Pointers with linear subscripts are seen with their dimensions: when, when not, and that they compute the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from machines import machine_with

from polydl import optimize, pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine
from polydl.match.linear_subscripts import dimensions, split
from polydl.variants.rewrites.dimensions import Dimensions, dimension_steps, with_dimensions
from polydl.variants.rewrites.pack import Pack, pack
from polydl.variants.rewrites.winograd import Winograd

LINEAR = Path(__file__).parent / "newcomer" / "conv_sizes.c"
SIZES = {"ch": 16, "filters": 8, "h": 10, "w": 14, "kh": 3, "kw": 3}
SHAPES = {"in": (16, 10, 14), "weight": (8, 16, 3, 3), "out": (8, 8, 12)}
# The same with arrays.
ARRAYS = """
void conv2d(const float in[16][10][14], const float weight[8][16][3][3], float out[8][8][12])
{
  for (int f = 0; f < 8; f++)
    for (int y = 0; y < 8; y++)
      for (int x = 0; x < 12; x++) {
        float acc = 0;
        for (int c = 0; c < 16; c++)
          for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
              acc += in[c][y + i][x + j] * weight[f][c][i][j];
        out[f][y][x] = acc;
      }
}
"""


def one_array(tmp_path: Path, subscript: str, elements: int = 64) -> tuple[int, ...] | None:
    path = tmp_path / "nest.c"
    path.write_text(
        f"void f(float a[{elements}])\n{{\n  for (int i = 0; i < 4; ++i)\n    for (int j = 0; j < 5; ++j)\n"
        f"      for (int k = 0; k < 2; ++k)\n        a[{subscript}] += 1;\n}}\n"
    )
    scop = pipeline.parse(path)
    return dimensions(scop, scop.array("a"))


@pytest.mark.parametrize(
    ("subscript", "extents"),
    [
        ("i * 10 + j * 2 + k", (7, 5, 2)),
        ("i * 16 + j", (4, 16)),
        ("i * 16 + j + k", (4, 16)),
        ("i * 16 + 15 - j", (4, 16)),
        ("i + j", None),
        ("i * 5 + j * 3", None),
        ("i * 5 + j + k", None),
        ("i * 16 + j - 1 + 16", None),
        ("i * 16 + j * 4 + k + 32", None),
    ],
)
def test_strides_tell_dimensions(subscript: str, extents: tuple[int, ...] | None, tmp_path: Path) -> None:
    elements = 128 if "32" in subscript else 80
    found = one_array(tmp_path, subscript, elements)
    assert (found is None) == (extents is None), found
    if extents is not None and found is not None:
        assert found[1:] == extents[1:]


def test_a_subscript_is_split_by_strides() -> None:
    assert split(Affine((12, 4, 1, 0), 17), (12, 4, 1)) == (
        Affine((1, 0, 0, 0), 1), Affine((0, 1, 0, 0), 1), Affine((0, 0, 1, 0), 1)
    )  # fmt: skip


def test_the_operands_of_a_convolution_get_theirs() -> None:
    scop = pipeline.parse(LINEAR, defines=SIZES)
    assert {name: dimensions(scop, scop.array(name)) for name in SHAPES} == SHAPES
    steps = dimension_steps(scop, scop.statement("S1"))
    assert {step.array: step.extents for step in steps} == SHAPES
    made = with_dimensions(scop, steps[0])
    view = made.arrays[-1]
    assert (view.extents, view.memory) == (SHAPES["in"], "in")
    assert all(access.array != "in" for statement in made.statements for access in statement.accesses)


def test_dimensions_that_a_subscript_leaves_are_refused() -> None:
    scop = pipeline.parse(LINEAR, defines=SIZES)
    for array, extents in (("in", (16, 14, 10)), ("in", (2240,)), ("ch", (2, 2)), ("none", (2, 2))):
        with pytest.raises(IllegalVariantError):
            with_dimensions(scop, Dimensions(array, extents))


@pytest.mark.parametrize(
    ("extents", "word"),
    [
        ((10, 10), None),
        ((9, 10), None),
        ((11, 10), "too few elements"),
        ((1000000, 10), "too few elements"),
        ((3, 0), "too few elements"),
        ((-1, -95), "too few elements"),
    ],
)
def test_rows_that_an_array_does_not_have_are_refused(
    extents: tuple[int, ...], word: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "nest.c"
    path.write_text(
        "void f(float s[9], const float x[95])\n{\n  for (int i = 0; i < 9; ++i)\n    for (int j = 0; j < 10; ++j)\n"
        "      s[i] += x[10 * i + j];\n}\n"
    )
    scop = pipeline.parse(path)
    if word is not None:
        with pytest.raises(IllegalVariantError, match=word):
            with_dimensions(scop, Dimensions("x", extents))
        return
    shaped = with_dimensions(scop, Dimensions("x", extents))
    step = Pack("S0", "x_shaped", (1, 0))
    if extents == (9, 10):
        assert pack(shaped, step).array("x_shaped_packed").extents == (10, 9)
    else:
        # The elements of the last row that are not there may be on a page that can't be read.
        with pytest.raises(IllegalVariantError, match="ends beyond `x`"):
            pack(shaped, step)


def test_linear_subscripts_have_the_rewrites_that_arrays_have(tmp_path: Path) -> None:
    path = tmp_path / "arrays.c"
    path.write_text(ARRAYS)
    machine = machine_with(2, 32)

    def tiled(scop_path: Path, **sizes: int) -> list[tuple[tuple[str, str, int], ...]]:
        space = pipeline.space_on(pipeline.parse(scop_path, defines=sizes), machine)
        return [step.axes for each in space.alternatives for step in each.rewrites if isinstance(step, Winograd)]

    linear = tiled(LINEAR, **SIZES)
    assert len(linear) >= 1
    assert linear == tiled(path)


@pytest.mark.slow
@pytest.mark.native
def test_a_convolution_over_pointers_computes_the_same(tmp_path: Path) -> None:
    scop = pipeline.parse(LINEAR, defines=SIZES)
    machine = machine_with(2, 32)
    space = pipeline.space_on(scop, machine, microkernel="c")
    variants = pipeline.generate(space, max_variants=40).variants
    chosen = [variant for variant in variants if any(isinstance(step, Winograd) for step in variant.rewrites)][:2]
    assert len(chosen) == 2
    result = optimize(scop, machine=machine, space=space, variants=chosen, microkernel="c", out=tmp_path, records=False)
    assert [each.measurement.status for each in result.tried] == ["ok", "ok"]
