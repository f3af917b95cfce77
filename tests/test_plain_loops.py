"""What plain loops are predicted to take: what they load, store and wait for is what the emitted loops do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from computed import parse
from machines import machine_with

from polydl import pipeline
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, Interchange, Step, Tile, Unroll, Variant
from polydl.model.plain_loops import chain
from polydl.plan.register_blocks import register_block
from polydl.plan.vector_sums import separate_lanes, separate_vectors, sums_of_loop


def over_line(tmp_path: Path, *lines: str) -> Scop:
    """One loop over these statements."""
    body = "\n      ".join(lines)
    return parse(
        tmp_path,
        f"""\
void f(float A[4096], float B[4096]) {{
#pragma scop
  for (int i = 2; i < 2000; i++) {{
      {body}
  }}
#pragma endscop
}}
""",
    )


@pytest.mark.parametrize(
    ("line", "operations"),
    [
        ("A[i + 1] = A[i] * 0.5f + 1.0f;", 2),
        ("A[i] = A[i - 1];", 1),
        ("A[i] = A[i + 1] * 0.5f + 1.0f;", 0),
        ("A[i] = A[i] * 0.5f + 1.0f;", 0),
        ("A[2 * i] = A[2 * i + 1] * 0.5f + 1.0f;", 0),
        # What no look at the previous iteration can tell counts once.
        ("A[i] = A[i - 2] * 0.5f + 1.0f;", 1),
        ("A[2 * i] = A[i] * 0.5f + 1.0f;", 1),
        ("A[i / 2] = A[i / 2] * 0.5f;", 1),
    ],
)
def test_operations_wait_for_what_the_previous_iteration_wrote_alone(
    line: str, operations: int, tmp_path: Path
) -> None:
    (statement,) = over_line(tmp_path, line).statements
    assert chain(statement, 0) == operations


def test_statements_that_read_what_each_other_wrote_wait_for_each_other(tmp_path: Path) -> None:
    first, second = over_line(tmp_path, "B[i] = A[i - 1] * 0.5f;", "A[i] = B[i] * 0.5f;").statements
    assert [chain(one, 0, (first, second)) for one in (first, second)] == [1, 1]


def test_a_loop_that_only_must_not_overtake_its_reads_is_no_recurrence(tmp_path: Path) -> None:
    machine = machine_with(threads=1, vector_bytes=32)
    reads_ahead, recurrence = (
        sum(pipeline.candidates(over_line(tmp_path, line), [Variant(())], machine=machine)[0].cycles)
        for line in ("A[i] = A[i + 1] * 0.5f;", "A[i + 1] = A[i] * 0.5f;")
    )
    assert reads_ahead < recurrence / 2


MATRIX = """\
void f(float A[64][1024], float x[1024], float y[64]) {
#pragma scop
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 1024; j++)
      y[i] += A[i][j] * x[j];
#pragma endscop
}
"""
EXPONENTIALS = "#include <math.h>\n" + MATRIX.replace("A[i][j] * x[j]", "expf(A[i][j]) * x[j]")
ROWS = (Tile(0, "i", (8,)), Interchange(0, ("i_t1", "j", "i")), Unroll(0, "i"))


@pytest.mark.parametrize(
    ("text", "steps", "sums", "vectors"), [(MATRIX, (), 1, 4), (MATRIX, ROWS, 8, 1), (EXPONENTIALS, (), 1, 1)]
)
def test_sums_have_as_many_vectors_as_the_emitted_loop(
    text: str, steps: tuple[Step, ...], sums: int, vectors: int, tmp_path: Path
) -> None:
    machine = machine_with(threads=1, vector_bytes=64)
    scop, lanes = parse(tmp_path, text), 16
    applied = pipeline.space_on(scop, machine).apply(Variant(steps))
    emitted = pipeline.kernel(applied, machine.vector_bytes).c
    variables = re.findall(r"(polydl_sum\w+)\[(\d+)\] = \{0\}", emitted)
    assert len(variables) == sums
    assert {int(width) for _, width in variables} == {vectors * lanes}
    [plan] = applied.plan.nests
    position = len(plan.loops) - 1 - bool(steps)
    arrays = sums_of_loop(scop, plan, applied.directions[0], position)
    assert arrays == {"S0": "y"}
    assert separate_lanes(lanes, 1024) == lanes
    assert separate_vectors(sums, lanes, 1024, called=text is EXPONENTIALS) == vectors


@pytest.mark.parametrize(("steps", "rows"), [((), 1), (ROWS, 8)])
def test_the_target_of_a_sum_stays_in_registers(steps: tuple[Step, ...], rows: int, tmp_path: Path) -> None:
    machine = machine_with(threads=1, vector_bytes=64)
    scop, core = parse(tmp_path, MATRIX), machine.core
    emitted = pipeline.kernel(pipeline.space_on(scop, machine).apply(Variant(steps)), machine.vector_bytes).c
    added = "".join(re.findall(r"polydl_sum\w+\[[^]]*\] \+= (.*A\[.*)", emitted))
    loaded = set(re.findall(r"[Axy](?:\[[^]]*\])+", added))
    block = register_block(scop, scop.statement("S0"), [(0, rows)], 1, core.vector_registers, 16)
    assert (block.instances, block.operations, block.loads, block.stores) == (rows, rows, len(loaded), 0)
    assert len(loaded) == rows + 1
    (cycles,) = pipeline.candidates(scop, [Variant(steps)], machine=machine)[0].cycles
    blocks = 64 * 1024 // 16 // rows
    waiting = core.fma_latency_cycles / (1 if steps else 4)
    work = core.cycles(block.operations, block.loads, block.stores)
    ends = 64 // rows * core.loop_start_cycles + 64 * core.lane_sum_cycles
    assert cycles == pytest.approx(blocks * max(work, waiting) + ends)


def test_a_vector_that_is_written_in_each_iteration_is_stored(tmp_path: Path) -> None:
    (statement,) = (scop := over_line(tmp_path, "A[i] = A[i] * 0.5f + B[i];")).statements
    block = register_block(scop, statement, [], 0, 16, 8)
    assert (block.operations, block.loads, block.stores) == (1, 2, 1)
    (statement,) = (scop := over_line(tmp_path, "A[i] = B[2 * i] - B[2 * i + 1];")).statements
    block = register_block(scop, statement, [], 0, 16, 8)
    assert (block.operations, block.loads, block.stores) == (1, 4, 1)


SUMS = """\
void f(float y[512], float z[512], const float x[512][512]) {
#pragma scop
  for (int i = 0; i < 512; i++) {
    y[i] = 0;
    for (int j = 0; j < 512; j++)
      y[i] += x[i][j];
    z[i] = y[i] * y[i] + 1;
  }
#pragma endscop
}
"""


def test_what_runs_inside_of_loops_that_others_share_takes_all_of_its_instances(tmp_path: Path) -> None:
    machine = machine_with(threads=1, vector_bytes=64)
    scop = parse(tmp_path, SUMS)
    together = Variant((Attach("S0", "S1", "first"), Attach("S2", "S1", "last")))
    before, _, behind = pipeline.candidates(scop, [together], machine=machine)[0].cycles
    assert before == 512 / machine.core.fma_per_cycle
    assert behind == 512 * 2 / machine.core.fma_per_cycle
