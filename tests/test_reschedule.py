"""Common loops of isl's scheduler in tiles: what is proposed, what it becomes, that it computes the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest
from computed import check_kernels, parse
from machines import machine_with
from marks import parametrized
from stencils import JACOBI, NUSSINOV, PRODUCT, SEIDEL, STENCILS, STEP

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.model.plain_loops import chain
from polydl.plan.apply import Applied, apply
from polydl.plan.rewrite_steps import description, families
from polydl.poly.dependences import dependences
from polydl.poly.legality import parallel_is_legal
from polydl.rewrite_contract import Request
from polydl.variant_json import variant_from_json
from polydl.variants.rewrites.reschedule import RESCHEDULE, Reschedule


def proposed(scop: Scop, threads: int = 2, *, reassociate: bool = True) -> list[Reschedule]:
    machine = machine_with(threads=threads, vector_bytes=32)
    request = Request(scop, scop.statements[0], dependences(scop), machine, reassociate=reassociate)
    steps = [proposal.steps[0] for proposal in RESCHEDULE.propose(request)]
    assert all(isinstance(step, Reschedule) for step in steps)
    return [step for step in steps if isinstance(step, Reschedule) and not step.separated]


@pytest.fixture(scope="module")
def scops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    return {
        name: parse(tmp_path_factory.mktemp(name), text) for name, text in (*STENCILS.items(), ("product", PRODUCT))
    }


def applied(scop: Scop, step: Reschedule) -> Applied:
    return apply(scop, Variant((step,)), ())


@pytest.mark.parametrize("name", STENCILS)
def test_tiles_are_proposed_that_a_cache_holds(name: str, scops: dict[str, Scop]) -> None:
    scop = scops[name]
    steps = proposed(scop)
    assert 1 <= len(steps) <= 16
    assert len(set(steps)) == len(steps)
    for step in steps:
        assert {*step.statements} == {statement.name for statement in scop.statements}
        assert step.wavefront
        assert sum(size > 1 for size in step.sizes) >= 2
    # All of jacobi's arrays stay in the first cache, so that tiles of time are for threads alone.
    assert {step.wavefront for step in proposed(scop, threads=1)} == ({False} if name != "jacobi" else set())


def test_a_stencil_larger_than_the_first_cache_is_tiled_on_one_thread(tmp_path: Path) -> None:
    for elements, tiled in (("1500", False), ("1600", True)):
        scop = parse(tmp_path, JACOBI.replace("400", elements).replace("399", str(int(elements) - 1)))
        assert bool(proposed(scop, threads=1)) == tiled, elements


def test_loops_that_can_be_tiled_as_they_are_stay_as_they_are(scops: dict[str, Scop]) -> None:
    assert proposed(scops["product"]) == []


@pytest.mark.native
@parametrized("name", STENCILS, quick=1)
def test_the_same_is_computed_on_threads_and_on_one(name: str, scops: dict[str, Scop], tmp_path: Path) -> None:
    scop = scops[name]
    first, last = (steps := proposed(scop))[0], steps[-1]
    small = replace(first, sizes=tuple(min(size, 1 + 5 * number) for number, size in enumerate(first.sizes, 1)))
    chosen = dict.fromkeys((first, small, last.on_one_thread()))
    check_kernels(tmp_path, scop, [pipeline.kernel(applied(scop, step), 32) for step in chosen])


@parametrized("name", STENCILS, quick=1)
def test_dependences_move_to_the_new_loops_as_isl_would_find_them_there(name: str, scops: dict[str, Scop]) -> None:
    steps = proposed(scops[name])
    assert steps
    for step in steps:
        left = applied(scops[name], step).rewritten
        assert left.carried is not None
        carried, found = (
            {(d.kind, d.source_reference, d.target_reference): (isl.Map(d.relation), d.reduction) for d in each}
            for each in (left.dependences, dependences(left.scop))
        )
        assert carried.keys() == found.keys()
        assert all(carried[key][0].is_equal(found[key][0]) and carried[key][1] == found[key][1] for key in found)


def test_what_goes_back_along_a_loop_is_proved_in_the_new_order(scops: dict[str, Scop]) -> None:
    """Tiles of space inside of one time step: what goes back there is carried by time."""
    rows = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))
    step = Reschedule(("S0",), ("t", "i", "j"), (rows,), (1, 8, 8))
    assert applied(scops["seidel"], step).rewritten.carried is None
    with pytest.raises(IllegalVariantError, match=r"dependence on `A` .* broken"):
        applied(scops["seidel"], replace(step, sizes=(4, 8, 8)))


def test_loops_over_tiles_are_outside_of_nests_that_have_a_statement_each(scops: dict[str, Scop]) -> None:
    one = applied(scops["jacobi"], STEP)
    assert [nest.nest.statements for nest in one.plan.nests] == [("S0",), ("S1",)]
    for nest in one.plan.nests:
        outside = [each for each in nest.nest.prefix if isinstance(each, Loop)]
        assert [loop.name for loop in outside] == ["wavefront", "i_tile", "t"]
        assert [loop.name for loop in outside if loop.parallel] == ["i_tile"]
        assert nest.nest.loops == ("i",)
    single = applied(one.source, STEP.on_one_thread())
    assert not any(loop.parallel for nest in single.plan.nests for loop in nest.nest.prefix if isinstance(loop, Loop))


def test_loops_that_all_wait_run_along_diagonals_too(scops: dict[str, Scop]) -> None:
    """In one of seidel every loop carries a dependence; on a diagonal of the last two, iterations are independent."""
    scop = scops["seidel"]
    ways = {step.rows: step for step in proposed(scop, threads=1)}
    assert len(ways) == 2
    (band, last), (diagonals, step) = ways.items()
    assert diagonals[0][0] == band[0][0]
    assert diagonals[0][1] == tuple(a + b for a, b in zip(*band[0][1:], strict=True))
    assert diagonals[0][2] == band[0][1]
    legal = [
        parallel_is_legal(one.directions[0], one.plan.nests[0].order(), 2)
        for one in (applied(scop, each) for each in (last, step))
    ]
    assert legal == [False, True]
    assert len({step.rows for step in proposed(scops["jacobi"])}) == 1


@pytest.mark.slow
@pytest.mark.native
def test_statements_that_accumulate_together_run_in_an_order_that_their_sum_does_not_depend_on(tmp_path: Path) -> None:
    """The loop over terms runs outside of the one over results: the last loop goes through rows, in vectors."""
    scop = parse(tmp_path, NUSSINOV)
    assert proposed(scop, reassociate=False) == []
    step = proposed(scop, threads=1)[0]
    (terms,) = (rows for name, rows in zip(step.statements, step.rows, strict=True) if scop.statement(name).depth == 3)
    assert [row[:3] for row in terms] == [(-1, 0, 0), (0, 0, 1), (0, 1, 0)]
    with pytest.raises(IllegalVariantError, match=r"dependence on `t` .* broken"):
        apply(scop, Variant((step,)), (), numerics="strict")
    one = applied(scop, step)
    nest = one.plan.nests[-1]
    assert nest.nest.loops == ("j",)
    assert parallel_is_legal(one.directions[nest.nest.index], nest.order(), 0)
    small = replace(step, sizes=(1, 5, 11))
    check_kernels(tmp_path, scop, [pipeline.kernel(applied(scop, each), 32) for each in (step, small)])
    # Two tiles of a diagonal add to the same element.
    with pytest.raises(IllegalVariantError, match=r"dependence on `t` .* broken"):
        applied(scop, replace(small, wavefront=True))
    assert step in proposed(scop, threads=2)


@pytest.mark.slow
def test_loops_are_looked_for_inside_of_those_that_all_statements_share(tmp_path: Path) -> None:
    """One of them has a loop of its own alone."""
    text = """
void f(double x[80][80], double u[80]) {
#pragma scop
  for (int i = 0; i < 80; i++) {
    u[i] = x[11][i];
    for (int j = 1; j < 80; j++)
      for (int k = 0; k < 79; k++) {
        x[j][k] += u[i];
        for (int l = 0; l < 79; l++)
          x[j][k] += x[j - 1][l] + x[j][l + 1];
      }
  }
#pragma endscop
}
"""
    scop = parse(tmp_path, text)
    assert {nest.nest.depth for nest in apply(scop, Variant(()), ()).plan.nests} == {1, 3}
    for step in proposed(scop):
        apply(scop, Variant((step,)), ())


def test_statements_that_accumulate_together_depend_on_each_other_as_they_run(tmp_path: Path) -> None:
    text = """
void f(double x[40][40], double a, double b) {
#pragma scop
  for (int i = 0; i < 40; i++)
    for (int j = 0; j < 40; j++) {
      x[i][j] += a;
      x[i][j] += b;
    }
#pragma endscop
}
"""
    scop = parse(tmp_path, text)
    rows = ((1, 0, 0), (0, 1, 0))
    one = applied(scop, Reschedule(("S1", "S0"), ("i", "j"), (rows, rows), (8, 8)))
    assert {(d.source, d.target) for d in one.rewritten.dependences} == {("S1", "S0")}


@pytest.mark.native
def test_loops_that_run_backwards_are_tiled_too(tmp_path: Path) -> None:
    text = SEIDEL.replace("i = 1; i < 69; i++", "i = 68; i > 0; i--")
    assert text != SEIDEL
    scop = parse(tmp_path, text)
    steps = proposed(scop)
    assert any(row[1] < 0 for row in steps[0].rows[0])
    check_kernels(tmp_path, scop, [pipeline.kernel(applied(scop, each), 32) for each in (steps[0], steps[-1])])


def test_an_iteration_that_waits_for_the_one_before_is_predicted_to_take_longer(scops: dict[str, Scop]) -> None:
    scop = scops["seidel"]
    (statement,) = scop.statements
    # Additions and a division behind A[i][j] of the time step before, behind A[i - 1][j], and behind A[i][j - 1].
    assert [chain(statement, iterator) for iterator in range(3)] == [4, 5, 5]
    first, *_, last = proposed(scop, threads=1)
    variants = [Variant((replace(each, sizes=(4, 8, 32)),)) for each in (first, last)]
    serial, diagonal = pipeline.candidates(scop, variants, machine=machine_with(threads=1, vector_bytes=32))
    assert sum(diagonal.cycles) < sum(serial.cycles)


def test_a_statement_alone_keeps_the_loops_over_tiles_outside_too(scops: dict[str, Scop]) -> None:
    scop = scops["seidel"]
    (nest,) = applied(scop, proposed(scop, threads=1)[0]).plan.nests
    assert nest.nest.depth == 3
    assert nest.nest.loops == ("t", "i", "j")


@parametrized("name", STENCILS, quick=2)
def test_every_instance_has_its_place_and_costs_are_those_of_boxes(name: str, scops: dict[str, Scop]) -> None:
    scop = scops[name]
    one = applied(scop, proposed(scop)[0])
    for statement in one.scop.statements:
        assert isl.Set(statement.domain).count_val().to_python() == scop.statement(statement.name).instances
    flat, _ = one.modelled
    assert flat.unskewed == ()
    assert all(statement.box is not None for statement in flat.statements)
    assert flat.flops == pytest.approx(scop.flops, rel=0.3)


def test_several_time_steps_in_a_tile_need_less_of_memory_than_one_sweep_after_the_other(tmp_path: Path) -> None:
    scop = parse(tmp_path, JACOBI.replace("400", "4000000").replace("399", "3999999"))
    machine = machine_with(threads=1, vector_bytes=32)
    tiled = Variant((replace(STEP, sizes=(32, 1024), wavefront=False),))
    plain, time_tiled = pipeline.candidates(scop, [Variant(()), tiled], machine=machine)
    beyond = [sum(nest[-1] for nest in candidate.traffic) for candidate in (plain, time_tiled)]
    assert beyond[1] < 0.6 * beyond[0]


def test_it_is_proposed_with_the_other_variants_and_described(scops: dict[str, Scop]) -> None:
    scop = scops["jacobi"]
    space = pipeline.space_on(scop, machine_with(threads=2, vector_bytes=32))
    ours = [each for each in space.alternatives if families(each.rewrites) == {"scheduling"}]
    assert ours
    assert {each.size() for each in ours} == {1}
    variants = pipeline.generate_variants(scop, machine=machine_with(threads=2, vector_bytes=32), max_variants=30)
    assert len(variants) == 30
    assert any("scheduling" in families(variant.rewrites) for variant in variants)
    assert variant_from_json(Variant((STEP,)).to_json()) == Variant((STEP,))
    text = "lines 6, 8 in common loops t, i, tiles of 8 of t by 64 of i, wavefronts of them on threads"
    assert description(scop, STEP) == text
    # Statements that an earlier step makes have no line of the source.
    made = replace(STEP, statements=(STEP.statements[0], "S1_2"))
    assert description(scop, made) == text.replace("lines 6, 8", "line 6 and S1_2")
    assert Variant((STEP,)).threaded
    assert not Variant((STEP,)).on_one_thread().threaded


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"rows": (((1, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 1, 0)))}, "dependence on `[AB]` .* broken"),
        ({"rows": (((1, 0, 0), (2, 1, 0)), ((1, 0, 0), (2, 2, 1)))}, "don't follow from its rows"),
        ({"rows": (((1, 0, 0), (2, 1, 0)),)}, "needs a row for each loop"),
        ({"rows": (((1, 0), (2, 1)), ((1, 0), (2, 1)))}, "needs a row for each loop"),
        ({"sizes": (8, 1)}, "two loops or more"),
        ({"sizes": (8, -1)}, "two loops or more"),
        ({"statements": ("S0",)}, "all statements that share an outermost loop"),
        ({"statements": (), "rows": ()}, "all statements that share an outermost loop"),
        ({"loops": (), "rows": ((), ()), "sizes": ()}, "two loops or more"),
        # A word of isl, a loop over tiles of another one, an array, and what is no name.
        *(({"loops": (name, "i")}, "have names of the statements' loops") for name in ("mod", "i_tile", "A", "2 t")),
    ],
)
def test_a_step_that_does_not_fit_is_refused(change: dict[str, object], reason: str, scops: dict[str, Scop]) -> None:
    scop = scops["jacobi"]
    with pytest.raises(IllegalVariantError, match=reason):
        applied(scop, replace(STEP, **change))  # type: ignore[arg-type]
