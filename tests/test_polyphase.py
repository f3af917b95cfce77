"""Strided convolutions in parts by residues of their taps: which parts, what is refused, and that the code is right."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from computed import check_kernels, parse
from marks import parametrized

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, Variant
from polydl.machine import Machine
from polydl.match.convolution import convolution, strided_axes
from polydl.plan.rewrite_steps import description
from polydl.poly.dependences import dependences
from polydl.variants.rewrites.polyphase import POLYPHASE, Polyphase, polyphase, products_left
from polydl.variants.rewrites.winograd import Winograd

SOURCE = """
void f(float out[{out}], const float flt[{flt}], const float in[{in_}]) {{
#pragma scop
  for (int k = 0; k < 24; k++)
    for (int y = 0; y < {h}; y++)
      for (int x = 0; x < {w}; x++)
        for (int c = 0; c < 16; c++)
          for (int r = 0; r < {r}; r++)
            for (int s = 0; s < {r}; s++)
              out[{to}] += in[{at}] * flt[{of}];
#pragma endscop
}}
"""

LAYOUTS = {
    "nhwc": ("y][x][k", "2 * y + r][2 * x + s][c", "r][s][c][k"),
    "nhwc, filters by output": ("y][x][k", "2 * y + r][2 * x + s][c", "k][r][s][c"),
}


def strided(layout: str = "nhwc", h: int = 8, w: int = 11, r: int = 3) -> str:
    to, at, of = LAYOUTS[layout]
    sizes = {"k": 24, "c": 16, "y": h, "x": w, "r": r, "s": r, "2 * y + r": 2 * h + r - 2, "2 * x + s": 2 * w + r - 2}
    out, in_, flt = ("][".join(str(sizes[each]) for each in text.split("][")) for text in (to, at, of))
    return SOURCE.format(out=out, in_=in_, flt=flt, to=to, at=at, of=of, h=h, w=w, r=r)


def step_of(scop: Scop) -> Polyphase:
    statement = scop.statements[-1]
    axes = strided_axes(scop, statement)
    return Polyphase(statement.name, tuple((statement.iterators[tap], stride) for _, tap, stride in axes))


def in_parts(scop: Scop) -> Scop:
    return polyphase(scop, step_of(scop), dependences(scop), reassociate=True)


@pytest.mark.parametrize(
    ("taps", "counts"), [(3, [(2, 2), (2, 1), (1, 2), (1, 1)]), (7, [(4, 4), (4, 3), (3, 4), (3, 3)])]
)
def test_parts_are_convolutions_in_steps_of_one(taps: int, counts: list[tuple[int, int]], tmp_path: Path) -> None:
    scop = parse(tmp_path, strided(r=taps))
    [source] = scop.statements
    parts = in_parts(scop).statements
    assert [each.name for each in parts] == ["S0", "S0_2", "S0_3", "S0_4"]
    assert [tuple(high + 1 for _, high in (each.box or ())[-2:]) for each in parts] == counts
    assert sum(each.instances for each in parts) == source.instances
    assert len({each.betas[0] for each in parts}) == 4
    axes = [conv.axes if (conv := convolution(in_parts(scop), each)) else () for each in parts]
    assert [len(each) for each in axes] == [sum(count > 1 for count in own) for own in counts]
    reached = [isl.Map(access.relation).range() for each in parts for access in each.reads if access.array == "flt"]
    whole = next(isl.Map(access.relation).range() for access in source.reads if access.array == "flt")
    union = reached[0]
    for each in reached[1:]:
        assert union.is_disjoint(each)
        union = union.union(each)
    assert union.is_equal(whole)


@pytest.mark.native
@parametrized("layout", LAYOUTS, quick=1)
def test_parts_in_tiles_compute_the_same(layout: str, tmp_path: Path) -> None:
    scop = parse(tmp_path, strided(layout))
    machine = Machine.detect(None, 1)
    space = pipeline.space_on(scop, machine)
    chosen: dict[tuple[int, ...], Variant] = {}
    for variant in pipeline.generate(space, max_variants=60, seed=1).variants:
        if any(isinstance(step, Polyphase) for step in variant.steps):
            tiles = tuple(size for step in variant.steps if isinstance(step, Winograd) for *_, size in step.axes)
            chosen.setdefault(tiles, variant)
    assert set(chosen) == {(4, 4, 4, 4), (3, 3, 3, 3)}
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in chosen.values()]
    check_kernels(tmp_path, scop, kernels, 1)


def test_convolutions_in_steps_of_one_have_no_parts(tmp_path: Path) -> None:
    scop = parse(tmp_path, strided().replace("2 * y + r][2 * x + s", "y + r][x + s"))
    assert strided_axes(scop, scop.statements[0]) == ()
    half = parse(tmp_path, strided().replace("2 * y + r][2 * x + s", "2 * y + r][x + s"))
    assert strided_axes(half, half.statements[0]) == ()


def test_sums_in_the_order_of_the_source_are_not_taken_apart(tmp_path: Path) -> None:
    scop = parse(tmp_path, strided())
    with pytest.raises(IllegalVariantError, match="goes back from one part to another"):
        polyphase(scop, step_of(scop), dependences(scop), reassociate=False)


def test_a_value_that_a_later_part_makes_for_an_earlier_one_is_kept(tmp_path: Path) -> None:
    loop = "for (int i = 0; i < 64; i++)\n    a[i + 1] = a[i] * 2;"
    text = f"void f(float a[65]) {{\n#pragma scop\n  {loop}\n#pragma endscop\n}}\n"
    scop = parse(tmp_path, text)
    with pytest.raises(IllegalVariantError, match="RAW dependence on `a`"):
        polyphase(scop, Polyphase("S0", (("i", 2),)), dependences(scop), reassociate=True)
    apart = parse(tmp_path, text.replace("a[i + 1] = a[i]", "a[i] = a[i]"))
    assert len(polyphase(apart, Polyphase("S0", (("i", 2),)), dependences(apart), reassociate=True).statements) == 2


@pytest.mark.parametrize(
    ("loops", "word"),
    [
        ((), "no rectangular loops"),
        ((("z", 2),), "no rectangular loops"),
        ((("r", 2), ("r", 2)), "no rectangular loops"),
        ((("r", 4),), "do not take"),
        ((("r", 1),), "do not take"),
    ],
)
def test_a_step_that_does_not_fit_is_refused(loops: tuple[tuple[str, int], ...], word: str, tmp_path: Path) -> None:
    scop = parse(tmp_path, strided())
    with pytest.raises(IllegalVariantError, match=word):
        polyphase(scop, Polyphase("S0", loops), dependences(scop), reassociate=True)


def test_how_many_products_are_left() -> None:
    # 4 by 4 pixels of 3 by 3 taps: 25 + 20 + 20 + 16 products in place of 144.
    assert products_left([(4, 3, 2), (4, 3, 2)], 4) == pytest.approx(81 / 144)
    assert products_left([(7, 3, 2)], 4) == pytest.approx((2 * 5 + 7) / 21)
    assert products_left([(6, 7, 2)], 3) == pytest.approx((2 * 6 + 2 * 5) / 42)


def test_it_says_what_it_does(tmp_path: Path) -> None:
    scop = parse(tmp_path, strided())
    words = POLYPHASE.describe(scop, step_of(scop))
    assert words == "S0 in parts by the residues of r modulo 2 and s modulo 2 (polyphase)"
    assert POLYPHASE.rounding(scop, step_of(scop)).keeps == "products"


def test_what_is_attached_to_a_part_is_said_by_its_name(tmp_path: Path) -> None:
    scop = parse(tmp_path, strided())
    name = scop.statements[0].name
    assert description(scop, Attach("zero", f"{name}_2", "first")) == (
        f"sums of {name}_2 set to zero before the first reduction"
    )
