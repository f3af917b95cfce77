"""Short kernels on one thread: which are tried, and that one that is as fast is emitted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from computed import check_kernels, parse
from machines import machine_with
from test_winning import tried

from polydl import optimize, pipeline
from polydl.ir.variant import Parallel, Variant
from polydl.machine import Machine
from polydl.optimization import one_thread
from polydl.optimization.picks import picks
from polydl.outcome.tried import Tried
from polydl.outcome.winning import winner
from polydl.variants.rewrites.fuse import Fuse

PRODUCT = """
void f(float C[{n}][32], const float A[{n}][48], const float B[48][32]) {{
  for (int i = 0; i < {n}; i++)
    for (int j = 0; j < 32; j++)
      for (int k = 0; k < 48; k++)
        C[i][j] += A[i][k] * B[k][j];
}}
"""


def forms_of(tmp_path: Path, rows: int, machine: Machine) -> tuple[list[Variant], tuple[Variant, ...]]:
    """The first picks of a product, and those that are tried on one thread."""
    scop = parse(tmp_path, PRODUCT.format(n=rows))
    variants = pipeline.generate_variants(scop, machine=machine, microkernel="c", max_variants=12)
    analysed = pipeline.candidates(scop, variants, machine=machine, microkernel="c")
    chosen = picks(pipeline.ranker_named("cost-model").rank(analysed, machine), 3)
    return [entry.variant for _, entry in chosen], one_thread.forms(chosen, analysed, machine)


def test_short_kernels_are_tried_on_one_thread_as_well(tmp_path: Path) -> None:
    chosen, forms = forms_of(tmp_path, 24, machine_with(2, 32))
    assert any(variant.threaded for variant in chosen)
    assert 1 <= len(forms) <= one_thread.FORMS
    assert not any(variant.threaded for variant in forms)
    assert {form.id for form in forms} <= {variant.on_one_thread().id for variant in chosen}
    assert not {form.id for form in forms} & {variant.id for variant in chosen}


def test_longer_kernels_and_machines_of_one_thread_are_left_alone(tmp_path: Path) -> None:
    assert forms_of(tmp_path, 24000, machine_with(2, 32))[1] == ()
    assert forms_of(tmp_path, 24, machine_with(1, 32))[1] == ()


def test_a_fused_loop_leaves_its_threads() -> None:
    fuse = Fuse(("S0", "S1"), (("i",), ("i",)), (0, 0), 1, True, ("x",))
    variant = Variant((fuse, Parallel(1, "i")))
    assert variant.threaded
    alone = variant.on_one_thread()
    assert not alone.threaded
    assert alone.steps == (replace(fuse, parallel=False, combined=()),)


def threaded(name: str, seconds: float, library: bool = False) -> Tried:
    one = tried(name, seconds, library)
    return replace(one, ranked=replace(one.ranked, variant=Variant((Parallel(0, "i"),))))


@pytest.mark.parametrize(
    ("candidates", "emitted"),
    [
        ([threaded("a", 1.0), tried("b", 1.02)], "b"),
        ([threaded("a", 1.0), tried("b", 1.04)], "a"),
        ([threaded("a", 1.0), tried("b", 1.01, library=True)], "a"),
        ([threaded("a", 1.0, library=True), threaded("b", 1.01), tried("c", 1.02)], "c"),
    ],
)
def test_one_thread_that_is_as_fast_is_emitted(candidates: list[Tried], emitted: str) -> None:
    best = winner(candidates)
    assert best is not None
    assert best.kernel.id == emitted


@pytest.mark.slow
@pytest.mark.native
def test_forms_on_one_thread_are_measured_among_the_picks(tmp_path: Path) -> None:
    scop, machine = parse(tmp_path, PRODUCT.format(n=24)), machine_with(2, 32)
    result = optimize(scop, machine=machine, max_variants=12, microkernel="c", top_k=2, records=False)
    single = [each for each in result.tried if not each.ranked.variant.threaded]
    assert single
    assert {each.measurement.status for each in result.tried} == {"ok"}
    header = result.files["header"].read_text(encoding="utf-8")
    assert result.winner is not None
    alone = not result.winner.ranked.variant.threaded and result.plain is None
    assert ("On the calling thread alone." in header) is alone or result.plain is not None


@pytest.mark.native
def test_a_parallel_sum_is_the_same_on_one_thread(tmp_path: Path) -> None:
    text = """
    void f(float s[1], const float x[4096]) {
      for (int i = 0; i < 4096; i++)
        s[0] += x[i];
    }
    """
    scop, machine = parse(tmp_path, text), machine_with(2, 32)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=12)
    combined = [each for each in variants if any(isinstance(step, Parallel) and step.combined for step in each.steps)]
    assert combined
    applied = pipeline.space_on(scop, machine).apply(combined[0].on_one_thread())
    applied.prove()
    check_kernels(tmp_path, scop, [pipeline.kernel(applied, machine.vector_bytes)])
