"""A matrix product that takes its size from a header of the user's own."""

from __future__ import annotations

from pathlib import Path

MATMUL = """\
#include "sizes.h"
void matmul(float C[M][64], float A[M][80], float B[80][64]) {
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < 64; ++j)
      for (int k = 0; k < 80; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


def write_matmul(directory: Path) -> Path:
    """Write the header, with M = 96, and the nest beside it; the path of the nest."""
    (directory / "sizes.h").write_text("#define M 96\n")
    (directory / "matmul.c").write_text(MATMUL)
    return directory / "matmul.c"
