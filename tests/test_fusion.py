"""Algorithm 3: what may be fused, and 32 programs that must not be, each refused for the right reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from marks import parametrized

from polydl import pipeline
from polydl.fusion.algorithm_3 import FusionGroup, FusionVerdict, decisions
from polydl.poly.dependences import dependences
from polydl.poly.nests import distribute

PROGRAMS = sorted((Path(__file__).parent / "fusion").glob("*.c"))
REFUSAL = re.compile(r"^ \* refused: ([\w -]+): (.+)$", re.MULTILINE)

PRODUCT = """
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += A[i][k] * B[k][j];
"""


def decided(path: Path) -> tuple[tuple[FusionVerdict, ...], tuple[FusionGroup, ...]]:
    scop = pipeline.parse(path)
    found = dependences(scop)
    return decisions(scop, distribute(scop, found), found)


def written(tmp_path: Path, body: str, more: str = "") -> Path:
    path = tmp_path / "nest.c"
    path.write_text(
        f"void f(float C[20][24], float A[20][16], float B[16][24]{more})\n{{\n#pragma scop{body}#pragma endscop\n}}\n"
    )
    return path


def test_there_are_thirty_programs_at_least() -> None:
    assert len(PROGRAMS) >= 30


@parametrized("path", PROGRAMS, ids=lambda path: path.stem, quick=7)
def test_what_must_not_be_fused_is_refused_for_the_right_reason(path: Path) -> None:
    wanted = REFUSAL.search(path.read_text(encoding="utf-8"))
    assert wanted is not None
    made, groups = decided(path)
    assert not groups
    refused = [each for each in made if not each.legal and each.condition == wanted[1]]
    assert [each.reason for each in refused if re.search(wanted[2], each.reason)]
    # The lines that a reason names hold the statements that it speaks of.
    text = path.read_text(encoding="utf-8").splitlines()
    for each in refused:
        for line in re.findall(r"line (\d+)", each.reason):
            assert "=" in text[int(line) - 1]


def test_a_chain_joins_the_heavy_operator_link_by_link(tmp_path: Path) -> None:
    body = f"""{PRODUCT}
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = C[i][j] + b[j];
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
"""
    made, groups = decided(written(tmp_path, body, ", float b[24]"))
    assert [each.legal for each in made] == [True, True]
    assert groups == (FusionGroup(0, after=(1, 2)),)
    assert "after the last iteration of the reduction at line 7" in made[0].reason


def test_what_comes_before_joins_the_first_iteration(tmp_path: Path) -> None:
    body = f"""
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = b[j];
{PRODUCT}
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
"""
    made, groups = decided(written(tmp_path, body, ", float b[24]"))
    assert [(each.place, each.first, each.second) for each in made if each.legal] == [
        ("first", 0, 1),
        ("last", 1, 2),
    ]
    assert groups == (FusionGroup(1, before=(0,), after=(2,)),)


def test_code_in_between_that_leaves_the_elements_alone_does_not_matter(tmp_path: Path) -> None:
    body = f"""{PRODUCT}
  for (int j = 0; j < 24; j++)
    u[j] = 2.0f * u[j];
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = C[i][j] > 6.0f ? 6.0f : C[i][j];
"""
    made, groups = decided(written(tmp_path, body, ", float u[24]"))
    assert groups == (FusionGroup(0, after=(2,)),)
    assert [each.legal for each in made] == [True]


def test_permuted_loops_and_other_names_are_the_same_elements(tmp_path: Path) -> None:
    body = f"""{PRODUCT}
  for (int column = 23; column >= 0; column--)
    for (int row = 0; row < 20; row++)
      C[row][column] = C[row][column] > 0.0f ? C[row][column] : 0.0f;
"""
    _, groups = decided(written(tmp_path, body))
    assert groups == (FusionGroup(0, after=(1,)),)


def test_what_reads_each_sum_once_and_writes_another_array_joins(tmp_path: Path) -> None:
    body = f"""{PRODUCT}
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      D[j][i] = C[i][j];
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = C[i][j] > 0.0f ? C[i][j] : 0.0f;
"""
    made, groups = decided(written(tmp_path, body, ", float D[24][20]"))
    assert groups == (FusionGroup(0, after=(1, 2)),)
    assert made[0].reason == (
        "line 11 reads each element of `C` once, after the last iteration of the reduction at line 7"
    )


def test_an_array_that_the_product_reads_is_not_overwritten_meanwhile(tmp_path: Path) -> None:
    body = """
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 16; k++)
        C[i][j] += D[i][k] * B[k][j];
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      D[i][j] = C[i][j];
"""
    made, groups = decided(written(tmp_path, body, ", float D[20][24]"))
    assert not groups
    assert [each.condition for each in made] == ["dependences"]


@pytest.mark.parametrize(
    "second",
    [
        "F[i][j] = C[i][j] - E[i][23 - j];",
        "E[i][j + 1] = C[i][j];",
    ],
)
def test_what_depends_on_another_operator_elsewhere_does_not_join_both(second: str, tmp_path: Path) -> None:
    body = f"""{PRODUCT}
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      E[i][j] = 2 * C[i][j];
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      {second}
"""
    made, groups = decided(written(tmp_path, body, ", float E[20][25], float F[20][24]"))
    assert groups == (FusionGroup(0, after=(1,)),)
    assert [(each.legal, each.condition) for each in made if each.second == 2 and each.first == 0] == [
        (False, "dependences")
    ]


@pytest.mark.parametrize("text", ["E[i][j + 1] = E[i][j] - C[i][j];", "E[i][j] = C[i][j] + E[0][j];"])
def test_a_recurrence_along_the_results_keeps_its_order(text: str, tmp_path: Path) -> None:
    body = f"""{PRODUCT}
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      {text}
"""
    made, groups = decided(written(tmp_path, body, ", float E[20][25]"))
    assert not groups
    assert [each.condition for each in made] == ["dependences"]


def test_a_chain_that_joins_what_comes_later_jumps_over_nothing_that_a_link_needs(tmp_path: Path) -> None:
    """The second link reads what is overwritten before the product; the first one touches nothing of that."""
    body = f"""
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = b[j];
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = C[i][j] * X[i][j];
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      X[i][j] = Y[i][j];
{PRODUCT}"""
    made, groups = decided(written(tmp_path, body, ", float b[24], float X[20][24], float Y[20][24]"))
    assert groups == (FusionGroup(0, after=(1,)),)
    assert [(each.condition, each.reason) for each in made if each.second == 3] == [
        ("dependences", "line 12, in between, writes `X`, which line 9 reads")
    ]


def test_what_has_joined_a_nest_in_between_runs_in_between(tmp_path: Path) -> None:
    """Of two operators that read and overwrite ``E`` only one moves: the other would come after it, or before."""
    body = f"""
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      C[i][j] = E[i][j];
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      for (int k = 0; k < 16; k++)
        D[i][j] += A[i][k] * B[k][j];
{PRODUCT}
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 24; j++)
      E[i][j] = D[i][j];
"""
    made, groups = decided(written(tmp_path, body, ", float D[20][24], float E[20][24]"))
    assert groups == (FusionGroup(2, before=(0,)),)
    assert [(each.condition, each.reason) for each in made if (each.first, each.second) == (1, 3)] == [
        ("dependences", "line 6, in between, reads `E`, which line 19 writes")
    ]
