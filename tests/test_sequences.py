"""Sequences of maps and reductions: every legal fusion found, proved, compiled and checked; sums split or not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from machines import RATES, detected, machine_with
from marks import parametrized

from polydl import pipeline
from polydl.cli import main
from polydl.codegen.original import original
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain
from polydl.fusion.sequences import Combination, fused_combinations, loop_classes
from polydl.ir.numerics import Numerics
from polydl.ir.scop import Scop
from polydl.machine import Machine
from polydl.model.groups import LoopGroup, predict
from polydl.poly.dependences import dependences
from polydl.poly.nests import distribute, distributed
from polydl.variants.generation import generate
from polydl.variants.rewrites.fuse import Fuse

EXAMPLES = Path(__file__).parents[1] / "examples"
SEQUENCES = sorted((EXAMPLES / "sequences").glob("*.c"))
# Groups of nests in the best combination at sizes beyond the caches, by hand.
BEST = {
    "atax": {(0, 2, 3)},
    "axpydot": {(0, 2)},
    "bicgk": {(0, 2, 3)},
    "gemver": {(0, 2), (3, 4)},
    "gesummv": {(0, 1, 2)},
    "madd": set(),
    "sgemv": {(0, 1)},
    "sgemvt": {(2, 3)},
    "sscal": set(),
    "vadd": {(0, 1)},
    "waxpby": {(0, 1)},
}


def combinations(scop: Scop, *, reassociate: bool = True) -> tuple[Combination, ...]:
    base = distributed(scop, distribute(scop, dependences(scop)))
    assert base is not None
    found = dependences(base)
    return fused_combinations(base, distribute(base, found), found, machine_with(2, 32), reassociate=reassociate)


def test_there_are_eleven() -> None:
    assert {path.stem for path in SEQUENCES} == BEST.keys()


def test_a_group_on_one_thread_shares_no_bandwidth() -> None:
    scop = pipeline.parse(EXAMPLES / "sequences" / "sscal.c")
    [statement] = scop.statements
    two = replace(machine_with(2, 32), total_bandwidths=(*RATES[:-1], 1.2 * RATES[-1]))
    for threads in (1, 2):
        group = LoopGroup((statement,), (0,), 0, (statement.iterators,), threaded=threads > 1)
        found = predict(scop, [group], two)
        assert found.bytes > two.caches[-1].bytes
        starting = two.core.thread_start_seconds if threads > 1 else 0.0
        assert found.seconds == pytest.approx(found.bytes / ([1.0, 1.2][threads - 1] * RATES[-1]) + starting)


@parametrized("path", SEQUENCES, ids=lambda path: path.stem, quick=4)
def test_the_best_combination_is_the_expected_one(path: Path) -> None:
    found = combinations(pipeline.parse(path))
    assert set(found[0].groups) == BEST[path.stem]
    assert [each for each in found if not each.steps]
    assert [each.prediction.seconds for each in found] == sorted(each.prediction.seconds for each in found)


@pytest.mark.native
@parametrized("path", SEQUENCES, ids=lambda path: path.stem, quick=1)
def test_fused_sequences_compute_the_same(path: Path, tmp_path: Path) -> None:
    size = 4000 if "8388608" in path.read_text() else 90
    scop = pipeline.parse(path, defines={"N": size})
    machine = detected(threads=2)
    space = pipeline.space_on(scop, machine)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=12, seed=1)[:8]
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in variants]
    built = EXECUTOR.build([original(scop), *kernels], Toolchain.find().cautious, tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=1)
    measured = EXECUTOR.measure(built[1:], built[0], scop, threads=2, policy=policy, seed=5)
    assert [each.message for each in measured if each.status != "ok"] == []


def test_batch_normalization_is_done_block_by_block() -> None:
    scop = pipeline.parse(EXAMPLES / "bnorm_train.c", defines={"nImg": 2, "height": 7, "width": 7})
    steps = pipeline.fusion_choices(scop, machine=machine_with(2, 32))
    whole = [
        step for each in steps for step in each.steps if isinstance(step, Fuse) and {"S2", "S9"} <= {*step.statements}
    ]
    fused = whole[0]
    assert {order[0] for order in fused.orders} == {"tile"}
    assert fused.parallel
    assert not fused.combined
    # Both sums in one pass; normalization and ReLU in another.
    body = dict(zip(fused.statements, fused.bodies, strict=True))
    assert body["S2"] == body["S3"]
    assert body["S8"] == body["S9"] != body["S2"]


@parametrized(("channels", "side"), [(256, 24), (256, 28), (192, 28)], quick=1)
def test_where_arithmetic_takes_longest_both_sums_are_still_taken_in_one_pass(channels: int, side: int) -> None:
    """Of what should take as long, the fewer bytes; measured on a processor whose caches are faster than that."""
    sizes = {"nImg": 1, "nChannels": channels, "height": side, "width": side}
    scop = pipeline.parse(EXAMPLES / "bnorm_train.c", defines=sizes)
    faster = machine_with(1, 32, (222.6e9, 118.2e9, 100.3e9, 32.9e9), 118.2)
    fused = [
        step for each in pipeline.fusion_choices(scop, machine=faster) for step in each.steps if isinstance(step, Fuse)
    ]
    assert any({"S2", "S3", "S9"} <= {*step.statements} for step in fused)


@parametrized(("height", "tensors"), [(112, 3), (176, 4)], quick=1)
def test_a_block_that_the_second_cache_holds_is_read_once(height: int, tensors: int) -> None:
    """What is written, here once and after a fetch, need not fit as well; one pixel that was read is not the block."""
    scop = pipeline.parse(EXAMPLES / "bnorm_train.c", defines={"nImg": 1, "height": height, "width": 128})
    best = combinations(scop)[0]
    assert any({"S2", "S9"} <= {*step.statements} for step in best.steps)
    assert best.prediction.bytes == pytest.approx(tensors * scop.array("input").bytes, rel=0.01)


@pytest.mark.slow
def test_without_reassociation_no_sum_is_split(tmp_path: Path) -> None:
    scop = pipeline.parse(EXAMPLES / "sequences" / "bicgk.c", defines={"N": 64})
    machine = detected(threads=2)
    for strict in (True, False):
        level: Numerics = "strict" if strict else "bounded"
        space = pipeline.space_on(scop, machine, numerics=level)
        made = pipeline.generate_variants(scop, machine=machine, max_variants=20, numerics=level)
        texts = [pipeline.kernel(space.apply(variant), machine.vector_bytes).c for variant in made]
        assert any("reduction(+" in text or "polydl_total" in text for text in texts) is not strict


@pytest.mark.native
@parametrized(("element", "size"), [("float", 64), ("float", 75), ("double", 37), ("float", 33)], quick=1)
def test_lanes_are_added_up_at_the_end(element: str, size: int, tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(
        f"void f({element} y[{size}], const {element} a[{size}][{size}], const {element} x[{size}]) {{\n#pragma scop\n"
        f"  for (int i = 0; i < {size}; i++)\n    for (int j = 0; j < {size}; j++)\n      y[i] += a[i][j] * x[j];\n"
        "#pragma endscop\n}\n"
    )
    scop = pipeline.parse(path)
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine)
    made = pipeline.generate_variants(scop, machine=machine, max_variants=20)
    kernels = [pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in made]
    # Some loops begin at the multiples of a tile.
    kernels = [kernel for kernel in kernels if f"polydl_total_{element}(polydl_sum" in kernel.c][:8]
    assert kernels
    built = EXECUTOR.build([original(scop), *kernels], Toolchain.find().cautious, tmp_path)
    measured = EXECUTOR.measure(
        built[1:],
        built[0],
        scop,
        threads=1,
        policy=TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=0.2),
    )
    assert [each.message for each in measured if each.status != "ok"] == []


def test_loops_belong_together_where_they_walk_through_the_same_dimension() -> None:
    scop = pipeline.parse(EXAMPLES / "sequences" / "bicgk.c", defines={"N": 64})
    classes = loop_classes(scop)
    assert classes["S2"] == classes["S3"]
    assert classes["S0"] == (classes["S2"][0],)
    assert classes["S1"] == (classes["S2"][1],)


@pytest.mark.slow
@pytest.mark.native
def test_the_command_says_what_is_fused_and_why_not(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    arguments = [str(EXAMPLES / "sequences" / "gemver.c"), "-D", "N=120", "--max-variants", "20", "--top-k", "2"]
    ended = CliRunner().invoke(
        main, ["fuse", *arguments, "--out", str(tmp_path / "made"), "--json", str(out), "--records", str(tmp_path)]
    )
    assert ended.exit_code == 0, ended.output
    document = json.loads(out.read_text())
    assert document["schema"] == "polydl.fuse/1"
    assert document["best"] is not None
    answers = {tuple(each["operators"]): each for each in document["fusions"]}
    assert answers["line 15", "line 22"]["legal"]
    assert not answers["line 15", "line 29"]["legal"]
    assert "line 22 must run after line 15 and before line 29" in answers["line 15", "line 29"]["reason"]
    assert "can be fused" in ended.output
    assert (tmp_path / "made" / "gemver_polydl.c").exists()


@pytest.mark.slow
def test_sums_of_lanes_keep_their_order_where_they_must() -> None:
    scop = pipeline.parse(EXAMPLES / "bnorm_train.c", defines={"nImg": 2, "height": 7, "width": 7})

    def with_accumulators(*, strict: bool) -> bool:
        space = pipeline.space_on(scop, machine_with(1, 64), numerics="strict" if strict else "bounded")
        made = generate(space, max_variants=20, seed=0).variants
        assert made
        return any("polydl_row" in pipeline.kernel(space.apply(variant), 64).c for variant in made)

    assert with_accumulators(strict=False)
    assert not with_accumulators(strict=True)
