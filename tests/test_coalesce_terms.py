"""Few terms of a sum in a row, joined to those of the next: channels of a first layer, and taps of a filter's row."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from machines import machine_with

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.microkernels.plain_c import PLAIN_C
from polydl.poly.dependences import dependences
from polydl.variants.rewrites.coalesce import Coalesce, coalesce
from polydl.variants.rewrites.pad import Pad, pad

#: A layer in steps of two, whose first row of padding a condition skips and whose columns of padding are there.
LAYER = """\
void layer(float y[10][10][32], const float w[3][5][{channels}][32], const float x[20][23][{channels}])
{{
#pragma scop
  for (int i = 0; i < 10; i++)
    for (int r = 0; r < 3; r++)
      if (2 * i + r >= 1)
        for (int j = 0; j < 10; j++)
          for (int s = 0; s < 5; s++)
            for (int c = 0; c < {channels}; c++)
              for (int k = 0; k < 32; k++)
                y[i][j][k] += w[r][s][c][k] * x[2 * i + r - 1][2 * j + s][c];
#pragma endscop
}}
"""


def layer(folder: Path, channels: int = 3) -> Scop:
    path = folder / "layer.c"
    path.write_text(LAYER.format(channels=channels))
    return pipeline.parse(path)


def joined(scop: Scop, outer: str = "s", inner: str = "c") -> Scop:
    return coalesce(scop, Coalesce("S0", outer, inner), dependences(scop))


def test_taps_and_channels_are_one_loop_beside_a_condition_on_rows(tmp_path: Path) -> None:
    scop = layer(tmp_path)
    (statement,) = joined(scop).statements
    assert statement.iterators == ("i", "r", "j", "s_c", "k")
    assert statement.box is None
    rows = "0 <= i <= 9 and 0 <= r <= 2 and 2i + r >= 1 and 0 <= j <= 9 and 0 <= s_c <= 14 and 0 <= k <= 31"
    assert isl.Set(statement.domain).is_equal(isl.Set(f"{{ S0[i, r, j, s_c, k] : {rows} }}"))
    image = next(access for access in statement.reads if access.array.startswith("x"))
    # A column of the image lies three elements from the next, and the output goes on by two.
    relation = f"{{ S0[i, r, j, s_c, k] -> {image.array}[2i + r - 1, 6j + s_c] : {rows} }}"
    assert isl.Map(image.relation).is_equal(isl.Map(relation))
    assert scop.statements[0].instances == statement.instances


def test_a_copy_of_the_image_goes_through_the_same_rows(tmp_path: Path) -> None:
    padded = pad(layer(tmp_path), Pad("S0", "x"))
    made = joined(padded)
    assert made.statement("S0").box is not None
    depths = {name: (padded.statement(name).depth, made.statement(name).depth) for name in ("zero_x_padded", "pack_x")}
    assert depths == {"zero_x_padded": (3, 2), "pack_x": (3, 2)}


def test_channels_do_not_go_on_along_other_taps(tmp_path: Path) -> None:
    with pytest.raises(IllegalVariantError, match="side by side"):
        joined(layer(tmp_path), "j", "c")
    with pytest.raises(IllegalVariantError, match="not rectangular"):
        joined(layer(tmp_path), "i", "r")


@pytest.mark.parametrize(("channels", "proposed"), [(3, True), (7, True), (8, False)])
def test_few_channels_are_worth_it(channels: int, proposed: bool, tmp_path: Path) -> None:
    scop = layer(tmp_path, channels)
    space = pipeline.space_on(scop, machine_with(1, 64), microkernel=PLAIN_C.name)
    steps = {step for each in space.alternatives for step in each.rewrites}
    assert (Coalesce("S0", "s", "c") in steps) == proposed
