"""Loops over pivots in blocks, with copies of what their iterations read."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from pathlib import Path
from random import Random

import pytest
from computed import check_kernels, parse
from frontend_interpreter import points
from machines import machine_with

from polydl import pipeline
from polydl.errors import IllegalVariantError
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Unroll, Variant
from polydl.plan.rewriting import rewritten
from polydl.poly.domains import bounded_from_outside
from polydl.poly.schedules import original_schedule
from polydl.variant_json import variant_from_json
from polydl.variants.rewrites.pivot_blocks import PIVOT_BLOCKS, PivotBlocks
from polydl.variants.rewrites.pivot_parts import PivotParts

# Shortest paths, of a size that few blocks divide.
PATHS = """
void f(int path[23][23]) {
#pragma scop
  for (int k = 0; k < 23; k++)
    for (int i = 0; i < 23; i++)
      for (int j = 0; j < 23; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}
"""
# What other arrays hold, subtraction, a pivot beside the diagonal, other bounds, statements around and a loop outside.
ELIMINATION = """
void f(double a[2][22][27], const double w[22], double d[20]) {
#pragma scop
  for (int n = 0; n < 2; n++) {
    d[n] = a[n][1][1];
    for (int k = 1; k < 20; k++)
      for (int i = 0; i < 22; i++)
        for (int j = 2; j < 27; j++)
          a[n][i][j] = a[n][i][j] - 0.01 * w[k] * a[n][i][k + 3] * a[n][k][j];
    d[n] += a[n][2][2];
  }
#pragma endscop
}
"""
# The diagonal is read as well.
DIAGONAL = PATHS.replace("path[i][k] + path[k][j];", "path[i][k] + path[k][k];")
# Rows of pivots alone, and columns alone, where the contiguous loop is the first one.
ROWS = """
void f(double b[21][19], const double a[21][21]) {
#pragma scop
  for (int k = 0; k < 21; k++)
    for (int i = 0; i < 21; i++)
      for (int j = 0; j < 19; j++)
        b[i][j] = b[i][j] + 0.02 * a[i][k] * b[k][j];
#pragma endscop
}
"""
COLUMNS = """
void f(double b[18][21], const double a[21][21]) {
#pragma scop
  for (int k = 0; k < 21; k++)
    for (int j = 0; j < 21; j++)
      for (int i = 0; i < 18; i++)
        b[i][j] = b[i][j] + 0.02 * a[k][j] * b[i][k];
#pragma endscop
}
"""
# Each iteration reads what another one than its pivot's wrote.
SWEEP = PATHS.replace("path[k][j]", "path[i - 1][j]").replace("i = 0", "i = 1")
TWO_ROWS = PATHS.replace("path[k][j];", "path[k - 1][j];").replace("k = 0", "k = 1")
SHARED = PATHS.replace(
    "  for (int k = 0; k < 23; k++)\n", "  for (int k = 0; k < 23; k++) {\n    path[k][k] = 0;\n"
).replace("#pragma endscop", "  }\n#pragma endscop")
SOURCES = {
    "paths": PATHS,
    "elimination": ELIMINATION,
    "diagonal": DIAGONAL,
    "rows": ROWS,
    "columns": COLUMNS,
}
STEPS = (PivotBlocks("S0", "k", 4, 4, 2), PivotBlocks("S0", "k", 6, 2, 3), PivotBlocks("S0", "k", 5, 1, 1))


def of(scop: Scop, step: PivotBlocks) -> PivotBlocks:
    """The step for the statement in the innermost loops."""
    return replace(step, statement=max(scop.statements, key=lambda statement: statement.depth).name)


def left(scop: Scop) -> dict[tuple[str, tuple[int, ...]], object]:
    """What is left in the source's arrays, where each statement makes a value of its own of what it reads."""
    times = dict(original_schedule(scop).statements)
    instances: list[tuple[tuple[int, ...], Statement, tuple[int, ...]]] = []
    for statement in scop.statements:
        for point in points(statement.domain):
            time = tuple(
                part if isinstance(part, int) else part.direction * point[part.iterator]
                for part in times[statement.name]
            )
            instances.append((time, statement, point))
    memory: dict[tuple[str, tuple[int, ...]], object] = {}
    for _, statement, point in sorted(instances, key=lambda instance: instance[0]):
        places = [
            (each.array, tuple(form.at(point) for form in each.subscripts or ()))
            for each in (*statement.reads, *statement.writes)
        ]
        *read, _ = [memory.get(place, place) for place in places]
        memory[places[-1]] = read[0] if statement.origin == "copy" else hash((statement.line, *read))
    known = {array.name for array in scop.arrays if array.storage != "local"}
    return {place: value for place, value in memory.items() if place[0] in known}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_every_value_is_made_of_the_same_values(tmp_path: Path, source: str, step: PivotBlocks) -> None:
    scop = parse(tmp_path, source)
    after = rewritten(scop, (of(scop, step),)).scop
    assert len(after.statements) > len(scop.statements)
    assert sum(each.instances for each in after.statements if each.origin == "source") == sum(
        each.instances for each in scop.statements
    )
    for each in after.statements:
        assert each.instances == len(points(each.domain))
        assert each.box is None or each.instances == prod(each.extents)
    assert left(after) == left(scop)


@pytest.mark.parametrize("source", [PATHS, ELIMINATION, COLUMNS])
def test_copies_of_another_time_are_refused(tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = PivotParts._copy
    scop = parse(tmp_path, source)
    step = of(scop, STEPS[0])
    assert rewritten(scop, (step,)).scop
    rewritten.cache_clear()
    monkeypatch.setattr(PivotParts, "_copy", lambda self, subscripts, late: copied(self, subscripts, not late))
    with pytest.raises(IllegalVariantError, match="is broken by blocks of pivots"):
        rewritten(scop, (step,))
    rewritten.cache_clear()


@pytest.mark.parametrize(
    ("source", "step", "message"),
    [
        (PATHS, replace(STEPS[0], loop="x"), "S0 has no loop `x`"),
        (PATHS, replace(STEPS[0], loop="i"), "loops inside of `i` don't each move one dimension"),
        (PATHS, replace(STEPS[0], size=12), "no two blocks of 12"),
        (PATHS, replace(STEPS[0], together=3), "don't divide these"),
        (PATHS, replace(STEPS[0], rows=3), "don't divide these"),
        (SWEEP, STEPS[0], "reads other elements of `path` than those of pivots"),
        (TWO_ROWS, STEPS[0], "reads several rows of `path`"),
        (SHARED, replace(STEPS[0], statement="S1"), "S1 shares the loop `k`"),
        (PATHS.replace("j < 23", "j <= i"), STEPS[0], "not rectangular"),
        (PATHS.replace("path[k][j]", "j"), STEPS[0], "computes with its loop counters"),
        (ROWS.replace("b[k][j]", "a[k][j]"), STEPS[0], "reads no pivots of `b`"),
    ],
)
def test_other_steps_are_refused(tmp_path: Path, source: str, step: PivotBlocks, message: str) -> None:
    with pytest.raises(IllegalVariantError) as raised:
        rewritten(parse(tmp_path, source), (step,))
    assert message in str(raised.value)


def blocks(variants: tuple[Variant, ...]) -> list[Variant]:
    return [each for each in variants if any(isinstance(step, PivotBlocks) for step in each.rewrites)]


def test_blocks_are_proposed_for_what_the_first_cache_does_not_hold(tmp_path: Path) -> None:
    machine = machine_with(1, 16)

    def steps(source: str, *, threads: int = 1) -> set[PivotBlocks]:
        used = machine if threads == 1 else machine_with(threads, 16)
        variants = pipeline.generate_variants(parse(tmp_path, source), machine=used, max_variants=60)
        return {step for each in variants for step in each.rewrites if isinstance(step, PivotBlocks)}

    large = PATHS.replace("23", "260")
    found = steps(large)
    # 260 leaves 4 over in blocks of 16 and 32 as in those of 64.
    assert {(each.size, each.together, each.rows) for each in found} == {(16, 16, 8), (32, 16, 8), (64, 16, 8)}
    assert not any(each.parallel for each in found)
    shared = steps(large, threads=2)
    assert shared
    assert all(each.parallel and each.threaded for each in shared)
    assert {each.on_one_thread() for each in shared} <= found
    assert steps(PATHS) == set()
    assert steps(large.replace("path[k][j]", "path[i][j]").replace("path[i][k]", "path[i][j]")) == set()


def test_a_block_of_results_stays_in_registers(tmp_path: Path) -> None:
    scop, machine = parse(tmp_path, PATHS.replace("23", "260")), machine_with(1, 16)
    one = blocks(pipeline.generate_variants(scop, machine=machine, max_variants=60))[0]
    assert variant_from_json(one.to_json()) == one
    applied = pipeline.apply(scop, one, machine=machine)
    others = [each for each in applied.scop.statements if "i_strip" in each.iterators]
    assert len(others) == 4
    unrolled = {step.nest for nest in one.nests.values() for step in nest.steps if isinstance(step, Unroll)}
    in_registers = {nest.nest.statements[0] for nest in applied.plan.nests if nest.nest.index in unrolled}
    assert in_registers >= {each.name for each in others}
    # Rows that are fewer than a strip, too; but nothing that pivots need.
    for each in applied.scop.statements:
        copied = any(access.array.startswith(("path_before", "path_after")) for access in each.reads)
        assert copied or each.name not in in_registers


def test_loops_that_others_bound_from_outside(tmp_path: Path) -> None:
    scop = parse(tmp_path, PATHS)
    after = rewritten(scop, (STEPS[0],)).scop
    inside = next(each for each in after.statements if "i_strip" in each.iterators)
    assert bounded_from_outside(inside, 2)
    assert not bounded_from_outside(inside, 0)
    triangle = parse(tmp_path, PATHS.replace("j < 23", "j <= i")).statements[0]
    assert [bounded_from_outside(triangle, depth) for depth in range(3)] == [False, False, True]
    assert bounded_from_outside(scop.statements[0], 0)


def test_the_step_in_words(tmp_path: Path) -> None:
    scop = parse(tmp_path, PATHS)
    words = "k of line 7 in blocks of 4, their pivots first, then 2 rows at a time with 4 of them"
    assert PIVOT_BLOCKS.describe(scop, STEPS[0]) == words
    assert PIVOT_BLOCKS.describe(scop, replace(STEPS[0], parallel=True)) == f"{words} on threads"


def test_steps_at_random_are_applied_or_refused(tmp_path: Path) -> None:
    scop, draw = parse(tmp_path, PATHS), Random(0)
    applied = 0
    for _ in range(30):
        for steps in PIVOT_BLOCKS.drawn(scop, scop.statements[0], draw):
            try:
                after = rewritten(scop, steps).scop
            except IllegalVariantError:
                continue
            applied += 1
            assert left(after) == left(scop)
    assert applied >= 5


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_variants_compute_the_same(tmp_path: Path, source: str) -> None:
    scop, machine = parse(tmp_path, source), machine_with(2, 16)
    steps = [of(scop, each) for each in STEPS]
    steps += [replace(each, parallel=True) for each in steps]
    kernels = [
        pipeline.kernel(pipeline.apply(scop, Variant((step,)), machine=machine), machine.vector_bytes) for step in steps
    ]
    check_kernels(tmp_path, scop, kernels)


@pytest.mark.slow
@pytest.mark.native
@pytest.mark.parametrize("threads", [1, 2])
def test_proposed_variants_compute_the_same(tmp_path: Path, threads: int) -> None:
    scop, machine = parse(tmp_path, PATHS.replace("23", "203")), machine_with(threads, 16)
    variants = blocks(pipeline.generate_variants(scop, machine=machine, max_variants=100))
    kernels = [
        pipeline.kernel(pipeline.apply(scop, variant, machine=machine), machine.vector_bytes)
        for variant in variants[:: max(1, len(variants) // 4)]
    ]
    assert len(kernels) >= 3
    check_kernels(tmp_path, scop, kernels)
