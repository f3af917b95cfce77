"""Pins: what is generated agrees with them, and what a pin can't mean is said with what it could."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from machines import machine_with

from polydl import pipeline
from polydl.errors import OptionError
from polydl.ir.variant import Interchange, Parallel, Tile, UseMicrokernel, Variant
from polydl.variants.decisions import enumerate_all
from polydl.variants.estimate import estimated_size
from polydl.variants.generation import generate
from polydl.variants.pins import pinned
from polydl.variants.variant_space import VariantSpace

PRODUCT = """
void f(float C[96][64], const float A[96][80], const float B[80][64])
{
#pragma scop
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 64; j++)
      for (int k = 0; k < 80; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


@pytest.fixture
def space(tmp_path: Path) -> VariantSpace:
    path = tmp_path / "nest.c"
    path.write_text(PRODUCT)
    scop = pipeline.parse(path)
    return pipeline.space_on(scop, machine_with(2, 64), microkernel="c,libxsmm", fewer_products=False)


def variants(space: VariantSpace, *pins: str) -> tuple[Variant, ...]:
    found = generate(pinned(space, pins), max_variants=200, seed=0).variants
    assert found
    return found


def orders(variants: tuple[Variant, ...]) -> Iterator[list[str]]:
    """The generated loops over i, j and k of each variant."""
    for variant in variants:
        for step in variant.nest_steps:
            if isinstance(step, Interchange):
                yield [name for name in step.order if name[0] in "ijk"]


def test_loops_lie_in_the_order_of_a_pin(space: VariantSpace) -> None:
    seen = set()
    for order in orders(variants(space, "order=k,j")):
        for level in ("", "_t1", "_t2"):
            both = [name for name in order if name in (f"k{level}", f"j{level}")]
            assert both in ([], [f"k{level}"], [f"j{level}"], [f"k{level}", f"j{level}"])
        assert not any(name[0] == "j" for name in order) or any(name[0] == "k" for name in order)
        seen.add(tuple(order))
    assert len(seen) > 3


def test_a_tile_has_the_size_of_a_pin(space: VariantSpace) -> None:
    for variant in variants(space, "tile i=48"):
        assert any(isinstance(step, Tile) and step.loop == "i" and step.sizes[0] == 48 for step in variant.nest_steps)
    for variant in variants(space, "tile i=0", "tile k=0", "tile j=0"):
        assert all(len(step.sizes) == 1 for step in variant.nest_steps if isinstance(step, Tile) and step.nest == 0)


def test_a_pinned_tile_may_have_a_size_that_is_not_tried_otherwise(space: VariantSpace) -> None:
    """Of a call's loop a multiple of what the call takes, of another loop any size; both are proved legal."""
    [nest] = space.spaces
    assert all(36 not in sizes.get("i", ()) for sizes in nest.model.sizes)
    for pins in (("tile i=36",), ("tile i=7", "microkernel=none"), ("microkernel=none", "tile k=33", "tile i=7")):
        for variant in variants(space, *pins)[:20]:
            tiles = {step.loop: step.sizes[0] for step in variant.nest_steps if isinstance(step, Tile)}
            assert all(f"tile {loop}={size}" in pins for loop, size in tiles.items() if size in (7, 33, 36))
            assert {7, 33, 36} & {*tiles.values()}
            space.apply(variant).prove()


def test_without_a_microkernel_loops_stay_plain_and_the_space_is_that_of_no_microkernels(space: VariantSpace) -> None:
    [nest] = space.spaces
    assert all(shape.match is not None for shape in nest.shapes)
    without = pinned(space, ["microkernel=none"])
    [report] = without.reports
    assert (report.kernel, report.reason) == (None, "a pin leaves out microkernels")
    [plain] = pipeline.space_on(space.source, nest.machine, microkernel="none", fewer_products=False).spaces
    assert set(without.spaces[0].choices) == set(plain.choices)
    found = variants(space, "microkernel=none")
    assert not any(isinstance(step, UseMicrokernel) for variant in found for step in variant.nest_steps)


@pytest.mark.parametrize("name", ["c", "libxsmm"])
def test_a_pinned_microkernel_is_the_only_one(space: VariantSpace, name: str) -> None:
    kernels = {
        s.name for v in variants(space, f"microkernel={name}") for s in v.nest_steps if isinstance(s, UseMicrokernel)
    }
    assert kernels == {name}


def test_a_pinned_loop_runs_in_parallel(space: VariantSpace) -> None:
    for variant in variants(space, "parallel=j"):
        assert any(isinstance(step, Parallel) and step.loop[0] == "j" for step in variant.nest_steps)


def test_no_packing_leaves_out_what_copies(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(PRODUCT.replace("64", "1024"))
    space = pipeline.space_on(pipeline.parse(path), machine_with(2, 64), microkernel="c", fewer_products=False)
    assert any("pack" in repr(each.rewrites).lower() for each in space.alternatives)
    assert all("pack" not in repr(variant.rewrites).lower() for variant in variants(space, "no packing"))


def test_a_pinned_space_holds_what_agrees_and_nothing_else(space: VariantSpace) -> None:
    [nest] = space.spaces
    both = pinned(space, ["order=i,j", "parallel=i", "microkernel=c"])
    [restricted] = both.spaces
    kernels = {number for number, shape in enumerate(nest.shapes) if shape.match and shape.match.kernel == "c"}
    root = nest.root
    for name, values in (("shape", kernels), *((f"tile {loop}", (0,)) for loop in nest.model.tiled)):
        root = root.restrict(name, values) if root is not None else None
    small = restricted.root
    for loop in nest.model.tiled:
        small = small.take(f"tile {loop}", 0) if small is not None else None
    expected = [
        values
        for values in enumerate_all(root)
        if values["parallel"] is not None
        and values["parallel"].loop.loop == "i"
        and values["i outside j"] != "inside"
        and not (values["i outside j"] == "apart" and nest.model.fine["j"] >> values["shape"] & 1)
    ]
    found = list(enumerate_all(small))
    assert expected
    assert sorted(map(str, found)) == sorted(map(str, expected))


def test_a_pinned_space_is_counted_and_sampled(space: VariantSpace) -> None:
    one = pinned(space, ["order=i,k", "no packing"])
    assert 0 < one.size() < space.size()
    [nest] = one.spaces
    legal = len(nest.choices)
    estimates = [estimated_size(one, seed=seed) for seed in range(10)]
    assert sum(each.value for each in estimates) / 10 == pytest.approx(legal, rel=0.1)
    some = generate(one, max_variants=50, seed=1)
    assert some.sampled
    assert some.variants
    assert {v.id for v in some.variants} <= {Variant(nest.steps(choice)).id for choice in nest.choices}


@pytest.mark.parametrize(
    ("pin", "message", "remedy"),
    [
        ("tile i=20", "is about no decision", "tile i=20 beside microkernel=none"),
        ("tile i=96", "is about no decision", "tile i=48"),
        ("tile q=8", "is about no decision", "tile i=0, tile i=12"),
        ("tile q=8", "is about no decision", "tile k=0"),
        ("tile k=16", "is about no decision", "tile k=16 beside microkernel=none"),
        ("order=i,q", "is about no decision", "order="),
        ("order=i", "puts nothing in order", "order=i,j"),
        ("microkernel=mkl", "is about no decision", "microkernel=libxsmm, microkernel=none"),
        ("parallel=q", "is about no decision", "parallel=i"),
        ("unroll=3", "is about no decision", "unroll=0"),
        ("stream=maybe", "is no pin", "stream=no"),
        ("no luck", "there is no rewrite", "no packing"),
        ("faster", "is no pin", "order=i,j"),
    ],
)
def test_a_pin_that_means_nothing_is_refused_with_what_it_could_be(
    space: VariantSpace, pin: str, message: str, remedy: str
) -> None:
    with pytest.raises(OptionError, match=message) as error:
        pinned(space, [pin])
    assert remedy in str(error.value.remedy)


@pytest.mark.parametrize("pin", ["tile k=16", "tile i=20", "tile i=96", "tile k=80"])
def test_all_that_the_remedy_of_a_tile_says_can_be_pinned(space: VariantSpace, pin: str) -> None:
    with pytest.raises(OptionError, match="is about no decision") as error:
        pinned(space, [pin])
    others = str(error.value.remedy).removeprefix("one of ").split(", ")
    assert len(others) > (pin != "tile k=80")
    for other in others:
        assert variants(space, *other.split(" beside "))
    # And where it says nothing of plain loops, the pin means nothing there, too.
    if not any("beside" in other for other in others):
        with pytest.raises(OptionError):
            pinned(space, [pin, "microkernel=none"])


def test_pins_that_contradict_each_other_or_the_dependences_are_refused(space: VariantSpace) -> None:
    with pytest.raises(OptionError, match="no variant agrees") as error:
        pinned(space, ["order=i,j", "order=j,i", "tile i=48"])
    assert error.value.remedy == "leave out one of these pins"
    with pytest.raises(OptionError, match="no variant agrees"):
        pinned(space, ["parallel=k", "no packing"])
