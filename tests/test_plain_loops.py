"""What plain loops are predicted to take where iterations wait for each other, and where they only seem to."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import parse
from machines import machine_with

from polydl import pipeline
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.model.plain_loops import chain


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
