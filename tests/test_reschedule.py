"""Common loops of isl's scheduler in tiles: what is proposed, what it becomes, that it computes the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest
from computed import check_kernels, parse
from machines import machine_with
from marks import parametrized

from polydl import pipeline
from polydl.errors import IllegalVariantError, QuotaError
from polydl.ir.affine import Affine
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.model.plain_loops import chain
from polydl.plan.apply import Applied, apply
from polydl.plan.rewrite_steps import description, families
from polydl.poly.counting import quota
from polydl.poly.dependences import dependences
from polydl.poly.legality import parallel_is_legal
from polydl.poly.scheduling import inverse, permutable_band, without_bounds
from polydl.rewrite_contract import Request
from polydl.variant_json import variant_from_json
from polydl.variants.rewrites.reschedule import RESCHEDULE, Reschedule

# Each kind of statement that isl's schedules bring: several in a time step, one updated in place, one with fewer loops
# than the others, and triangles.
JACOBI = """
void f(double A[400], double B[400]) {
#pragma scop
  for (int t = 0; t < 40; t++) {
    for (int i = 1; i < 399; i++)
      B[i] = 0.33 * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < 399; i++)
      A[i] = 0.33 * (B[i - 1] + B[i] + B[i + 1]);
  }
#pragma endscop
}
"""
# Larger than the first cache, so that it is tiled on one thread, too.
SEIDEL = """
void f(float A[70][110]) {
#pragma scop
  for (int t = 0; t < 20; t++)
    for (int i = 1; i < 69; i++)
      for (int j = 1; j < 109; j++)
        A[i][j] = (A[i - 1][j] + A[i][j - 1] + A[i][j] + A[i][j + 1] + A[i + 1][j]) / 5.0f;
#pragma endscop
}
"""
FDTD = """
void f(float x[70][90], float y[70][90], float h[70][90], float edge[20]) {
#pragma scop
  for (int t = 0; t < 20; t++) {
    for (int j = 0; j < 90; j++)
      y[0][j] = edge[t];
    for (int i = 1; i < 70; i++)
      for (int j = 0; j < 90; j++)
        y[i][j] = y[i][j] - 0.5f * (h[i][j] - h[i - 1][j]);
    for (int i = 0; i < 70; i++)
      for (int j = 1; j < 90; j++)
        x[i][j] = x[i][j] - 0.5f * (h[i][j] - h[i][j - 1]);
    for (int i = 0; i < 69; i++)
      for (int j = 0; j < 89; j++)
        h[i][j] = h[i][j] - 0.7f * (x[i][j + 1] - x[i][j] + y[i + 1][j] - y[i][j]);
  }
#pragma endscop
}
"""
LU = """
void f(double A[90][90]) {
#pragma scop
  for (int i = 0; i < 90; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < 90; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}
"""
# The largest of terms by four statements, of which some read the results of others in the same row (RNA folding).
NUSSINOV = """
void f(signed char b[140], int t[140][140]) {
#pragma scop
  for (int i = 139; i >= 0; i--)
    for (int j = i + 1; j < 140; j++) {
      t[i][j] = t[i][j] >= t[i][j - 1] ? t[i][j] : t[i][j - 1];
      if (i + 1 < 140)
        t[i][j] = t[i][j] >= t[i + 1][j] ? t[i][j] : t[i + 1][j];
      if (i < j - 1)
        t[i][j] = t[i][j] >= t[i + 1][j - 1] + (b[i] + b[j] == 3) ? t[i][j] : t[i + 1][j - 1] + (b[i] + b[j] == 3);
      for (int k = i + 1; k < j; k++)
        t[i][j] = t[i][j] >= t[i][k] + t[k + 1][j] ? t[i][j] : t[i][k] + t[k + 1][j];
    }
#pragma endscop
}
"""
PRODUCT = """
void f(float C[96][96], float A[96][96], float B[96][96]) {
#pragma scop
  for (int i = 0; i < 96; i++)
    for (int j = 0; j < 96; j++) {
      C[i][j] = 0.0f;
      for (int k = 0; k < 96; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
"""
STENCILS = {"jacobi": JACOBI, "seidel": SEIDEL, "fdtd": FDTD, "lu": LU}
STEP = Reschedule(("S0", "S1"), ("t", "i"), (((1, 0, 0), (2, 1, 0)), ((1, 0, 0), (2, 1, 1))), (8, 64), wavefront=True)


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


def test_isl_gives_a_stencil_skewed_loops_that_can_be_tiled_together(scops: dict[str, Scop]) -> None:
    scop = scops["jacobi"]
    band = permutable_band(scop, ("S0", "S1"), dependences(scop))
    assert band is not None
    assert band.statements == ("S0", "S1")
    assert band.permutable == (0, 2)
    rows = tuple(tuple((*row.coefficients, row.constant) for row in forms) for forms in band.rows)
    assert rows == STEP.rows


def test_iterators_follow_from_rows_that_keep_apart_what_was_apart() -> None:
    assert inverse((Affine((1, 0)), Affine((2, 1), 1)), 2) == (Affine((1, 0)), Affine((-2, 1), -1))
    # A statement with fewer loops than the others.
    assert inverse((Affine((1,)), Affine((1,), 3)), 1) == (Affine((1, 0)),)
    assert inverse((Affine((1, 1)), Affine((1, 1))), 2) is None
    assert inverse((Affine((2,)),), 1) is None


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


MANY_RELATIONS = """\
#include <math.h>
void nest(float A[49][41], const float B[20][39]) {
#pragma scop
  for (int i = 1; i < 38; i++) {
    for (int j = 0; j < 13; j++) {
      for (int t = 2; t < 4; t += 3) {
        A[j + 7][i + 3] += A[2 * t + i + 5][3] * 2.0f;
        A[i + 4][j + 1] = sqrtf(fabsf(B[(i + 2) / 2][j + 1]));
      }
    }
    for (int k = 0; k < 4; k++)
      for (int l = 0; l < 5; l++)
        A[l + 5][k + 1] -= B[l + 1][k] * B[k][i + 1];
  }
#pragma endscop
}
"""


def test_dependences_of_a_stencil_go_on_beyond_its_bounds(scops: dict[str, Scop]) -> None:
    """With bounds, isl's scheduler takes ten seconds for a stencil of three dimensions."""
    for name, stencil in (("jacobi", True), ("fdtd", True), ("lu", False)):
        scop = scops[name]
        found = dependences(scop)
        order = without_bounds(scop.statements, found)
        assert (order is not None) == stencil
        if order is None:
            continue
        for dependence in found:
            assert isl.UnionMap(dependence.relation).is_subset(order)
            alike = scop.statement(dependence.source).depth == scop.statement(dependence.target).depth
            between = isl.Map(dependence.relation).get_space()
            assert order.extract_map(between).domain().is_bounded() != alike


def test_dependences_that_have_no_bounds_to_lose_are_scheduled_once(tmp_path: Path) -> None:
    source = """
void f(float A[40], float B[40][30]) {
#pragma scop
  for (int i = 0; i < 40; i++) {
    A[i] = 2.0f;
    for (int j = 0; j < 30; j++)
      B[i][j] = A[i];
  }
#pragma endscop
}
"""
    scop = parse(tmp_path, source)
    found = dependences(scop)
    assert found
    assert without_bounds(scop.statements, found) is None


def test_many_relations_between_few_statements_are_scheduled_within_the_quota(tmp_path: Path) -> None:
    """isl's scheduler takes minutes for all of the relations."""
    scop = parse(tmp_path, MANY_RELATIONS)
    band = permutable_band(scop, ("S0", "S1", "S2"), dependences(scop))
    assert band is not None
    assert band.permutable[1] - band.permutable[0] > 1


def test_whatever_isl_had_not_computed_when_its_quota_ended_is_a_quota_error(scops: dict[str, Scop]) -> None:
    scop = scops["jacobi"]
    names, pairs = [statement.name for statement in scop.statements], dependences(scop)
    ends = []
    for operations in range(1_000, 120_000, 3_000):
        try:
            with quota(isl.DEFAULT_CONTEXT, operations):
                band = permutable_band(scop, names, pairs)
        except QuotaError:
            ends.append("quota")
        else:
            assert band is not None
            ends.append("band")
    assert ends == sorted(ends, reverse=True)
    assert {*ends} == {"quota", "band"}
