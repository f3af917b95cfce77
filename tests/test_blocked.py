"""Loops that cut others into blocks by hand are told from all others."""

from __future__ import annotations

from pathlib import Path

import pytest

from polydl.frontend.blocked import blocking_loops
from polydl.frontend.pet import parse

HEAD = "#define MIN(x, y) ((x) < (y) ? (x) : (y))\nvoid f(float a[50][50], float b[50][50], float c[50][50])\n{\n"
LOOPS = {
    "a product in three kinds of blocks": (
        """
  for (int ii = 0; ii < 50; ii += 16)
    for (int jj = 0; jj <= 49; jj += 8)
      for (int kk = 0; kk < 50; kk += 32)
        for (int i = ii; i < MIN(ii + 16, 50); i++)
          for (int k = kk; k <= MIN(kk + 31, 49); k++)
            for (int j = jj; j < MIN(jj + 8, 50); j++)
              c[i][j] += a[i][k] * b[k][j];
""",
        (("ii", "i"), ("jj", "j"), ("kk", "k")),
    ),
    "one loop": (
        """
  for (int i = 0; i < 50; i++)
    for (int t = 4; t < 50; t += 7)
      for (int j = t; j < t + 7 && j < 50; j++)
        c[i][j] = a[j][i];
""",
        (("t", "j"),),
    ),
    "a triangle": (
        """
  for (int i = 0; i < 50; i += 2)
    for (int j = i; j < 50; j++)
      c[0][j] += a[0][j];
""",
        (),
    ),
    "blocks that overlap": (
        """
  for (int i = 0; i < 48; i += 2)
    for (int j = i; j < MIN(i + 3, 50); j++)
      c[0][j] += a[0][j];
""",
        (),
    ),
    "a loop whose counter is used": (
        """
  for (int i = 0; i < 50; i += 4)
    for (int j = i; j < MIN(i + 4, 50); j++)
      c[0][j] += a[0][i];
""",
        (),
    ),
    "subscripts that add both": (
        """
  for (int i = 0; i < 48; i += 4)
    for (int j = 0; j < 4; j++)
      c[0][i + j] += a[0][i + j];
""",
        (),
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_blocks_are_found(name: str, tmp_path: Path) -> None:
    text, expected = LOOPS[name]
    path = tmp_path / "nest.c"
    path.write_text(f"{HEAD}{text}}}\n")
    assert blocking_loops(parse(path)) == expected
