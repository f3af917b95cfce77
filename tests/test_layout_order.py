"""Which nests need one order of their loops only: those that walk through all of their arrays once and alike."""

from __future__ import annotations

from pathlib import Path

import pytest
from machines import machine_with
from marks import parametrized

from polydl import pipeline

ALIKE = {
    "in source order": ("y[i][j][k] = 2 * x[i][j][k];", "ijk"),
    "innermost outermost": ("y[k][j][i] = 2 * x[k][j][i];", "kji"),
    "in place, with a small operand": ("y[i][j][k] = y[i][j][k] > 0 ? b[j] : 0;", "ijk"),
    "two statements": ("y[i][j][k] = x[i][j][k] + b[k]; z[i][j][k] = y[i][j][k] * x[i][j][k];", "ijk"),
    "with the distance from a row": ("y[i][j][k] = x[i][j][k] - x[0][j][0];", "ijk"),
    "every other element": ("u[i][2 * j][k] = x[i][j][k];", "ijk"),
}
OTHERS = {
    "a transposition that computes": "y[i][j][k] = 2 * x[i][k][j];",
    "a neighbour": "y[i][j][k] = x[i][j][k] + x[i][j][k + 1];",
    "a sum": "b[j] += x[i][j][k];",
    "sums of long rows": "b[k] += x[i][j][k];",
    "overlapping rows": "y[i][j][k] = v[i + j][k];",
    "a large operand for all rows": "y[i][j][k] = x[i][j][k] * v[j][k];",
    "backwards": "y[i][j][k] = x[i][j][N - 1 - k];",
}


def orders(body: str, folder: Path) -> set[tuple[str, ...]]:
    path = folder / "nest.c"
    path.write_text(
        "#define N 96\nvoid f(float y[N][N][N + 1], float z[N][N][N + 1], const float x[N][N][N + 1],\n"
        "  float u[N][2 * N][N], float b[N], const float v[2 * N][N]) {\n#pragma scop\n"
        f"  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++) {{ {body} }}\n"
        "#pragma endscop\n}\n"
    )
    space = pipeline.space_on(pipeline.parse(path), machine_with(2, 64), microkernel="none")
    found: set[tuple[str, ...]] = set()
    for each in (space, *space.alternatives):
        for nest in each.spaces:
            choices = nest.choices
            assert nest.size() == 1 or len(choices) > 1
            found |= {choice.order for choice in choices}
    return found


@pytest.mark.parametrize("name", ALIKE)
def test_what_is_walked_alike_runs_in_the_order_of_the_layout(name: str, tmp_path: Path) -> None:
    body, order = ALIKE[name]
    assert orders(body, tmp_path) == {tuple(order)}


@parametrized("name", OTHERS, quick=1)
def test_other_nests_have_several_orders(name: str, tmp_path: Path) -> None:
    assert len(orders(OTHERS[name], tmp_path)) > 1


def test_sums_of_short_rows_run_in_the_order_of_the_layout(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(
        "void f(float s[16], const float x[20][30][16]) {\n#pragma scop\n"
        "  for (int k = 0; k < 16; k++) for (int j = 0; j < 30; j++) for (int i = 0; i < 20; i++)\n"
        "    s[k] += x[i][j][k];\n#pragma endscop\n}\n"
    )
    space = pipeline.space_on(pipeline.parse(path), machine_with(1, 64), microkernel="none")
    found = {choice.order for nest in space.spaces for choice in nest.choices}
    assert found == {("i", "j", "k")}
