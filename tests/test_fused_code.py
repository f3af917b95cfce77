"""Fused code: what it looks like, that isl proves it legal, that it computes the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from computed import parse, separate
from emitted_text import emitted_text
from machines import detected

from polydl import pipeline
from polydl.codegen.original import original
from polydl.errors import IllegalVariantError
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, Interchange, Tile, UseMicrokernel, Variant
from polydl.plan.rewriting import rewritten
from polydl.poly.dependences import dependences
from polydl.poly.nests import distribute, distributed
from polydl.variant_json import variant_from_json
from polydl.variants.rewrites.fuse import Fuse

PRODUCT = """
void f(float C[21][48], const float A[21][40], const float B[40][48], const float b[48]) {
#pragma scop
  for (int i = 0; i < 21; i++)
    for (int j = 0; j < 48; j++)
      C[i][j] = b[j];
  for (int i = 0; i < 21; i++)
    for (int j = 0; j < 48; j++)
      for (int k = 0; k < 40; k++)
        C[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < 21; i++)
    for (int j = 0; j < 48; j++)
      C[i][j] = C[i][j] - b[j];
  for (int i = 0; i < 21; i++)
    for (int j = 0; j < 48; j++)
      C[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
#pragma endscop
}
"""

CONVOLUTION = """
void f(float out[2][3][6][6][16], const float in[2][2][8][8][20], const float flt[3][2][3][3][20][16],
       const float bias[3][16]) {
#pragma scop
  for (int n = 0; n < 2; n++)
    for (int kt = 0; kt < 3; kt++)
      for (int ct = 0; ct < 2; ct++)
        for (int y = 0; y < 6; y++)
          for (int ky = 0; ky < 3; ky++)
            for (int kx = 0; kx < 3; kx++)
              for (int x = 0; x < 6; x++)
                for (int k = 0; k < 16; k++)
                  for (int c = 0; c < 20; c++)
                    out[n][kt][y][x][k] += flt[kt][ct][ky][kx][c][k] * in[n][ct][y + ky][x + kx][c];
  for (int n = 0; n < 2; n++)
    for (int kt = 0; kt < 3; kt++)
      for (int y = 0; y < 6; y++)
        for (int x = 0; x < 6; x++)
          for (int k = 0; k < 16; k++)
            out[n][kt][y][x][k] = out[n][kt][y][x][k] + bias[kt][k];
  for (int n = 0; n < 2; n++)
    for (int kt = 0; kt < 3; kt++)
      for (int y = 0; y < 6; y++)
        for (int x = 0; x < 6; x++)
          for (int k = 0; k < 16; k++)
            out[n][kt][y][x][k] = out[n][kt][y][x][k] > 0.0f ? out[n][kt][y][x][k] : 0.0f;
#pragma endscop
}
"""
FUSION = Fuse(("S2", "S3"), (("i", "j"), ("i", "j")), (0, 0), 2)
FUSED = (
    FUSION,
    Attach("S0", "S1", "first"),
    Attach("S2", "S1", "last"),
)


def code(scop: Scop, variant: Variant, threads: int = 1) -> str:
    machine = detected(threads=threads)
    space = pipeline.space_on(scop, machine)
    text = pipeline.kernel(space.apply(variant), machine.vector_bytes).c
    return emitted_text(text).tuned


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize(
    ("source", "run"),
    [(PRODUCT, 6), (PRODUCT, 24), (CONVOLUTION, 24)],
    ids=["product", "more of the product", "convolution"],
)
def test_fused_variants_are_legal_and_compute_the_same(source: str, run: int, tmp_path: Path) -> None:
    scop = parse(tmp_path, source)
    machine = detected(threads=2)
    space = pipeline.space_on(scop, machine)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=60, seed=3)
    fused = [variant for variant in variants if variant.attached]
    assert len(fused) >= 20
    for variant in fused:
        assert space.apply(variant).violations == ()
        assert variant_from_json(variant.to_json()) == variant
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in fused[:24][:: 24 // run]]
    built = EXECUTOR.build([original(scop), *kernels], Toolchain.find().cautious, tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=2)
    measured = EXECUTOR.measure(built[1:], built[0], scop, threads=2, policy=policy, seed=5)
    assert [each.message for each in measured if each.status != "ok"] == []


def test_the_tile_is_finished_where_it_was_computed(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    variant = Variant(
        (*FUSED, Tile(1, "i", (7,)), UseMicrokernel(1, "libxsmm", "j", "i", "k"), Interchange(1, ("i_t1",)))
    )
    text = re.sub(r"\s+", " ", code(scop, variant))
    inside = text[text.index("for (int i_t1") :]
    assert inside.index("= b[j]") < inside.index("_run(") < inside.index("- b[j]") < inside.index("> 0.0f")
    assert text.count("for (int i_t1") == 1
    assert "if (" not in inside


def test_a_test_per_tile_where_the_reduction_runs_outside(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    steps = (Tile(1, "i", (7,)), Tile(1, "k", (10,)), UseMicrokernel(1, "libxsmm", "j", "i", "k"))
    text = re.sub(r"\s+", " ", code(scop, Variant((*FUSED, *steps, Interchange(1, ("k_t1", "i_t1"))))))
    assert "if (k_t1 == 0) {" in text
    assert "if (k_t1 == 3) {" in text


def test_plain_loops_around_the_reduction_hold_the_rest(tmp_path: Path) -> None:
    scop = parse(tmp_path, PRODUCT)
    text = re.sub(r"\s+", " ", code(scop, Variant((*FUSED, Interchange(1, ("i", "k", "j"))))))
    assert text.count("for (int i ") == 1
    assert "if (" not in text


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ((Attach("S2", "S1"), Attach("S3", "S2")), "S3 can't be attached to S2, which is attached itself"),
        ((Attach("S2", "S2"),), "S2 can't be attached to S2"),
        ((Attach("S2", "S1"), Attach("S2", "S0", "first")), "the nest of S2 is attached more than once"),
    ],
)
def test_chains_are_attached_to_the_product_link_by_link(
    tmp_path: Path, steps: tuple[Attach, ...], reason: str
) -> None:
    scop = parse(tmp_path, PRODUCT)
    plan = pipeline.apply(scop, Variant((Attach("S2", "S1"), Attach("S3", "S1"))), machine=detected(threads=1)).plan
    assert [each.follows for each in plan.nests] == [None, None, 1, 1]
    with pytest.raises(IllegalVariantError, match=reason):
        pipeline.apply(scop, Variant(steps), machine=detected(threads=1))


def test_fusion_that_breaks_a_dependence_is_refused(tmp_path: Path) -> None:
    source = PRODUCT.replace("C[i][j] - b[j]", "C[i][j] - C[i][47 - j]")
    scop = parse(tmp_path, source)
    found = dependences(scop)
    base = distributed(scop, distribute(scop, found))
    assert base is not None
    with pytest.raises(IllegalVariantError, match="dependence on `C`"):
        rewritten(base, (FUSION,))


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("C[i][j] - b[j]", "C[i][j] - i", "loop counters"),
        ("for (int i = 0; i < 21; i++)\n    for (int j = 0; j < 48; j++)\n      C[i][j] = C[i][j] -",
         "for (int i = 20; i >= 0; i--)\n    for (int j = 0; j < 48; j++)\n      C[i][j] = C[i][j] -", "backwards"),
    ],
)  # fmt: skip
def test_what_can_not_be_rewritten_says_why(old: str, new: str, word: str, tmp_path: Path) -> None:
    assert old in PRODUCT
    scop = parse(tmp_path, PRODUCT.replace(old, new))
    base = distributed(scop, distribute(scop, dependences(scop)))
    assert base is not None
    with pytest.raises(IllegalVariantError, match=word):
        rewritten(base, (Fuse(("S2", "S3"), (("j", "i"), ("j", "i")), (0, 0), 2),))


@pytest.mark.parametrize(
    ("body", "combined", "parallel", "refused"),
    [
        ("s[0] += A[i];", ("s",), True, None),
        ("s[0] += A[i];", ("s",), False, "s"),
        ("s[0] *= A[i];", ("s",), True, "s"),
        ("s[0] += A[i];", ("s", "x"), True, "x"),
        ("s[0] += A[i]; x[0] = s[0];", ("s",), True, "s"),
    ],
)
def test_threads_of_fused_loops_add_up_sums_alone(
    body: str, combined: tuple[str, ...], parallel: bool, refused: str | None, tmp_path: Path
) -> None:
    source = f"""
void f(double s[1], double x[1], double y[50], const double A[50]) {{
#pragma scop
  for (int i = 0; i < 50; i++) {{ {body} }}
  for (int i = 0; i < 50; i++) y[i] = 2 * A[i];
#pragma endscop
}}
"""
    base = separate(parse(tmp_path, source))
    names = tuple(each.name for each in base.statements)
    step = Fuse(names, (("i",),) * len(names), (0,) * len(names), 1, parallel, combined)
    if refused is None:
        assert rewritten(base, (step,)).scop.shared[0].combined == combined
    else:
        with pytest.raises(IllegalVariantError, match=f"`i` has no threads that can add up `{refused}`"):
            rewritten(base, (step,))


def test_a_fusion_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IllegalVariantError, match="needs statements"):
        rewritten(separate(parse(tmp_path, PRODUCT)), (Fuse((), (), (), 1),))
