"""A product whose variant packs B, so that each thread keeps memory from call to call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from golden_code import Case

from polydl.variant_json import variant_from_json

NEST = """\
enum { M = 24, N = 128, K = 64 };
void packed(float C[M][N], const float A[M][K], const float B[K][N])
{
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k < K; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
PRODUCT = {"name": "c", "m": "j", "n": "i", "k": "k", "batch": [], "rows": []}
STEPS: list[dict[str, Any]] = [
    {"step": "split", "statement": "S0", "loop": "j", "size": 64},
    {"step": "pack_panels", "statement": "S0", "array": "B", "loops": ["j_block", "k", "j"]},
    {"step": "interchange", "nest": 0, "order": ["B_0", "B_1", "B_2"]},
    {"step": "use_microkernel", "nest": 1, **PRODUCT},
    {"step": "interchange", "nest": 1, "order": ["j_block"]},
]


def packed_case(folder: Path) -> Case:
    """The nest, written to a file there, and its variant."""
    path = folder / "nest.c"
    path.write_text(NEST)
    return Case(path, variant_from_json(STEPS), 32, "bounded")


def operands() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Arguments of the nest, and what C is to hold after a call."""
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-4, 5, shape).astype(np.float32) for shape in ((24, 64), (64, 128)))
    return {"C": np.zeros((24, 128), np.float32), "A": a, "B": b}, a @ b
