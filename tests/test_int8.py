"""Products of bytes: nests that microkernels are found for, and what these leave to others."""

from __future__ import annotations

from pathlib import Path

import pytest
from marks import marked, parametrized

from polydl import pipeline, registry
from polydl.codegen.original import original
from polydl.execute.contract import TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.machine import Machine
from polydl.match.product import NoMatch, match
from polydl.microkernels.int8 import INT8
from polydl.microkernels.libxsmm_groups import LIBXSMM_INT8

PRODUCT = """\
void product(int C[40][48], const unsigned char A[40][9][4], const signed char B[9][48][4])
{
#pragma scop
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 9; ++k)
        for (int q = 0; q < 4; ++q)
          C[i][j] += (int)A[i][k][q] * (int)B[k][j][q];
#pragma endscop
}
"""

LAYER = """\
void layer(int out[2][7][7][32], const unsigned char in[9][9][4][4], const signed char filters[2][3][3][4][32][4])
{
#pragma scop
  for (int kt = 0; kt < 2; ++kt)
    for (int y = 0; y < 7; ++y)
      for (int x = 0; x < 7; ++x)
        for (int k = 0; k < 32; ++k)
          out[kt][y][x][k] = 0;
  for (int kt = 0; kt < 2; ++kt)
    for (int y = 0; y < 7; ++y)
      for (int x = 0; x < 7; ++x)
        for (int kj = 0; kj < 3; ++kj)
          for (int ki = 0; ki < 3; ++ki)
            for (int c = 0; c < 4; ++c)
              for (int k = 0; k < 32; ++k)
                for (int q = 0; q < 4; ++q)
                  out[kt][y][x][k] += in[y + kj][x + ki][c][q] * filters[kt][kj][ki][c][k][q];
#pragma endscop
}
"""


# Rows of bytes, of one sign: what dot-product instructions do not read.
ROWS = """\
void rows(int C[70][48], const signed char A[70][96], const signed char B[96][48])
{
#pragma scop
  for (int i = 0; i < 70; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 96; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


# Rows of bytes, that of the output's columns signed and the other not.
MIXED = ROWS.replace("signed char A", "unsigned char A").replace("rows(", "mixed(")


@pytest.mark.native
@parametrized(
    ("source", "name"),
    marked(
        (PRODUCT, "c-int8"),
        (ROWS, "c-int16"),
        (LAYER, "c-int8"),
        (ROWS, "c-amx"),
        (MIXED, "c-int16"),
        (PRODUCT, "libxsmm-int8"),
        (LAYER, "libxsmm-int8"),
        (MIXED, "libxsmm-int8"),
    ),
    ids=lambda value: value if len(value) < 20 else value[value.index("void ") + 5 : value.index("(int")],
    quick=2,
)
def test_nests_of_bytes_get_it_and_stay_exact(source: str, name: str, tmp_path: Path) -> None:
    reason = registry.load("microkernels", name).unavailable()
    if reason is not None:
        pytest.skip(reason)
    path = tmp_path / "nest.c"
    path.write_text(source)
    machine = Machine.detect(threads=1)
    scop = pipeline.parse(path)
    space = pipeline.space_on(scop, machine, microkernel=name)
    generation = pipeline.generate(space, max_variants=6, seed=1)
    kernels = [pipeline.kernel(space.apply(each), machine.vector_bytes) for each in generation.variants]
    assert kernels
    assert all(use.name == name for kernel in kernels for use in kernel.microkernels)
    assert any(kernel.microkernels for kernel in kernels)
    executor = registry.load("executors", "local")
    built = executor.build([original(scop), *kernels], Toolchain.find().cautious, tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=2.0)
    measured = executor.measure(built[1:], built[0], scop, threads=1, policy=policy, seed=0)
    assert {each.status for each in measured} == {"ok"}, [each.message for each in measured]


@pytest.mark.parametrize(
    ("old", "new"),
    [("unsigned char A", "signed char A"), ("signed char B", "unsigned char B"), ("A[i][k][q]", "A[i][k][3 - q]")],
)
def test_other_bytes_are_left_to_others(old: str, new: str, tmp_path: Path) -> None:
    """Both operands signed or both not, and bytes in another order than the instruction reads them."""
    path = tmp_path / "nest.c"
    path.write_text(PRODUCT.replace(old, new))
    scop = pipeline.parse(path)
    statement = scop.statements[0]
    for kernel in (INT8, LIBXSMM_INT8):
        assert isinstance(match(scop, statement, tuple(range(statement.depth)), kernel), NoMatch)
