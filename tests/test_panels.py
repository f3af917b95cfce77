"""Split loops and operands in panels: what they become, when they are refused, that they compute the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse, separate
from machines import detected, machine_with

from polydl import pipeline, registry
from polydl.errors import IllegalVariantError
from polydl.fusion.choices import in_blocks
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.match.product import NoMatch, match
from polydl.plan.rewriting import rewritten
from polydl.poly.dependences import dependences
from polydl.poly.nests import distribute, distributed
from polydl.rewrite_contract import Request
from polydl.variants.rewrites.accesses import visits_once
from polydl.variants.rewrites.fuse import Fuse
from polydl.variants.rewrites.pack_panels import PACK_PANELS, PackPanels, pack_panels
from polydl.variants.rewrites.pack_tiles import PACK_TILES, PackTiles
from polydl.variants.rewrites.split import Blocked, Split, split, splits_of

PRODUCT = """
void f(float C[112][1152], const float A[112][1280], const float B[1280][1152]) {
#pragma scop
  for (int i = 0; i < 112; i++)
    for (int j = 0; j < 1152; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 1280; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
"""
NORMALIZED = """
void f(float y[64][48], float sum[64], float most[64], const float x[64][48]) {
#pragma scop
  for (int i = 0; i < 64; i++) {
    sum[i] = 0;
    most[i] = 1;
    for (int j = 0; j < 48; j++)
      sum[i] += x[i][j];
    for (int j = 0; j < 48; j++)
      y[i][j] = x[i][j] * most[i] - sum[i];
  }
#pragma endscop
}
"""


# Both statements of the first nest, and that of the last one, write the product's output.
BEGUN = """
void f(float C[32][48], const float A[32][20], const float B[20][48], const float b[48], const float z[32][48]) {{
#pragma scop
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 48; j++) {{
      C[i][j] = b[j];
      C[i][j] += z[i][j];
    }}
  for (int i = 0; i < 32; i++)
    for (int j = 0; j < 48; j++)
      for (int k = 0; k < 20; k++)
        C[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < 32; i++)
    for (int j = {last})
      C[i][j] *= z[i][j];
#pragma endscop
}}
"""


@pytest.fixture
def product(tmp_path: Path) -> Scop:
    scop = parse(tmp_path, PRODUCT)
    base = distributed(scop, distribute(scop, dependences(scop)))
    assert base is not None
    return base


def test_a_split_loop_visits_the_same_elements_in_the_same_order(product: Scop) -> None:
    made = split(product, Split("S1", "j", 64)).statement("S1")
    assert made.iterators == ("i", "j_block", "j", "k")
    assert made.box == ((0, 111), (0, 17), (0, 63), (0, 1279))
    assert made.instances == product.statement("S1").instances
    for old, new in zip(product.statement("S1").accesses, made.accesses, strict=True):
        assert old.subscripts is not None
        assert new.subscripts is not None
        for before, after in zip(old.subscripts, new.subscripts, strict=True):
            assert before.at((7, 64 * 5 + 9, 11)) == after.at((7, 5, 9, 11))


def test_statements_inside_a_split_loop_are_split_together(tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, NORMALIZED))
    made = split(scop, Split("S1", "i", 8))
    assert {each.name: each.iterators for each in made.statements} == {
        "S0": ("i_block", "i"),
        "S1": ("i_block", "i"),
        "S2": ("i", "j"),
        "S3": ("i", "j"),
    }
    assert [each.betas for each in made.statements[:2]] == [(0, 0, 0), (0, 0, 1)]
    # A statement that has its loops to itself is split by itself.
    inner = split(scop, Split("S2", "j", 4))
    assert inner.statement("S2").iterators == ("i", "j_block", "j")


@pytest.mark.parametrize(("last", "names"), [("0; j < 48; j++", ["S2", "S0", "S3"]), ("47; j >= 0; j--", ["S2", "S0"])])
def test_other_writers_of_the_output_are_split_once_and_where_they_can_be(
    last: str, names: list[str], tmp_path: Path
) -> None:
    scop = separate(parse(tmp_path, BEGUN.format(last=last)))
    steps = splits_of(scop, scop.statement("S2"), 1, 16)
    assert steps == [Split(name, "j", 16) for name in names]
    after = Blocked(scop).after(steps).scop
    assert after.statement("S1").depth == 3


def test_fusions_in_blocks_take_nests_of_several_statements(tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, NORMALIZED))
    names = tuple(each.name for each in scop.statements)
    step = Fuse(names, (("i",), ("i",), ("i", "j"), ("i", "j")), (0, 0, 1, 2), 1)
    *splits, fused = in_blocks(scop, (step,))
    assert splits == [Split(name, "i", 8) for name in ("S0", "S2", "S3")]
    assert isinstance(fused, Fuse)
    assert fused.orders[:2] == (("i_block", "i"), ("i_block", "i"))


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (Split("S1", "j", 50), "divide"),
        (Split("S1", "j", 1152), "divide"),
        (Split("S1", "l", 64), "no rectangular loop"),
    ],
)
def test_a_split_that_makes_no_sense_is_refused(product: Scop, step: Split, reason: str) -> None:
    with pytest.raises(IllegalVariantError, match=reason):
        split(product, step)


def test_panels_have_a_dimension_for_each_loop(product: Scop) -> None:
    made = pack_panels(split(product, Split("S1", "j", 64)), PackPanels("S1", "B", ("j_block", "k", "j")))
    assert made.array("B_panels").extents == (18, 1280, 64)
    reads = [access for access in made.statement("S1").reads if access.array == "B_panels"]
    assert [form.coefficients for form in reads[0].subscripts or ()] == [(0, 1, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0)]
    assert made.statements[0].name == "pack_B"
    assert made.statements[0].instances == 1280 * 1152


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (PackPanels("S1", "C", ("i", "j")), "once|written"),
        (PackPanels("S1", "B", ("k",)), "each element"),
        (PackPanels("S1", "B", ("i", "k", "j")), "each element"),
        (PackPanels("S1", "B", ("k", "j", "k")), "each element"),
    ],
)
def test_panels_that_make_no_sense_are_refused(product: Scop, step: PackPanels, reason: str) -> None:
    with pytest.raises(IllegalVariantError, match=reason):
        pack_panels(product, step)


def test_overlapping_windows_are_not_visited_once(tmp_path: Path) -> None:
    scop = parse(
        tmp_path,
        """
void f(float out[30], const float in[32], const float w[3]) {
#pragma scop
  for (int x = 0; x < 30; x++)
    for (int k = 0; k < 3; k++)
      out[x] += w[k] * in[x + k];
#pragma endscop
}
""",
    )
    statement = scop.statements[0]
    window = next(access for access in statement.reads if access.array == "in")
    assert not visits_once(scop, statement, window)
    assert visits_once(scop, statement, next(access for access in statement.reads if access.array == "w"))


@pytest.mark.parametrize("taken", ["j_block", "k_block"])
def test_proposals_ask_for_the_names_of_loops_over_blocks(taken: str, tmp_path: Path) -> None:
    scop = separate(parse(tmp_path, PRODUCT.replace("B[", f"{taken}[")))
    kernel = registry.load("microkernels", "c")
    matches = match(scop, scop.statement("S1"), (0, 1, 2), kernel)
    assert not isinstance(matches, NoMatch)
    request = Request(scop, scop.statement("S1"), dependences(scop), machine_with(1, 64), matches)
    proposals = [proposal for rewrite in (PACK_PANELS, PACK_TILES) for proposal in rewrite.propose(request)]
    names = set()
    for proposal in proposals:
        names |= {*rewritten(scop, proposal.steps).scop.statement("S1").iterators}
    assert f"{taken}_" in names
    assert {type(proposal.steps[-1]) for proposal in proposals} == {PackPanels, PackTiles}


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_variants_with_panels_compute_the_same(tmp_path: Path, threads: int) -> None:
    scop = parse(tmp_path, PRODUCT)
    machine = detected(threads=threads)
    space = pipeline.space_on(scop, machine)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=60, seed=4)
    packed: dict[object, list[Variant]] = {}
    for variant in variants:
        if any(isinstance(step, PackPanels) for step in variant.rewrites):
            packed.setdefault(variant.rewrites, []).append(variant)
    assert len(packed) >= 2
    kernels = [
        pipeline.kernel(space.apply(variant), machine.vector_bytes)
        for found in packed.values()
        for variant in found[:2]
    ]
    check_kernels(tmp_path, scop, kernels, threads, timeout_seconds=60.0)
