"""Nests whose reuse is analysed by ``experiments.analysis_benchmark``, and variants of them."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import polydl
from polydl.ir.scop import Scop
from polydl.ir.variant import Interchange, Tile, Variant
from polydl.machine import Machine

_EXAMPLES = Path(__file__).parents[1] / "examples"
_EXTENT = 48

TRIANGLE = """void triangle(float C[M][N], const float A[M][M], const float B[M][N])
{
#pragma scop
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      for (int k = 0; k <= i; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""

UPSAMPLED = """void upsampled(float out[M][N][N], const float in[M][N / 2][N / 2], const float w[M][M])
{
#pragma scop
  for (int c = 0; c < M; ++c)
    for (int d = 0; d < M; ++d)
      for (int y = 0; y < N; ++y)
        for (int x = 0; x < N; ++x)
          out[c][y][x] += in[d][y / 2][x / 2] * w[c][d];
#pragma endscop
}
"""


def machine() -> Machine:
    return Machine.detect(cache_sizes="32K,1M,36608K")


def tiled_orders(loops: str, levels: int, count: int, seed: int = 0) -> list[Variant]:
    """Distinct variants of a nest: each loop under ``levels`` tile loops of random sizes, all in a random order."""
    draw = random.Random(seed)
    distinct: dict[Variant, None] = {}
    while len(distinct) < count:
        steps: list[Tile | Interchange] = []
        chains: list[list[str]] = []
        for loop in loops:
            sizes: list[int] = []
            for _ in range(levels):
                sizes.insert(0, (sizes[0] if sizes else 1) * draw.choice((2, 3, 4, 5, 6, 8)))
            if sizes:
                steps.append(Tile(0, loop, tuple(sizes)))
            chains.append([*(f"{loop}_t{level}" for level in range(levels, 0, -1)), loop])
        order: list[str] = []
        while left := [chain for chain in chains if chain]:
            order.append(draw.choice(left).pop(0))
        distinct[Variant((*steps, Interchange(0, tuple(order))))] = None
    return list(distinct)


def one_tiled(depth: int, count: int, seed: int = 0) -> list[Variant]:
    """Distinct variants of the contraction of ``depth`` loops, one of which is tiled, in a random order."""
    draw = random.Random(seed)
    distinct: dict[Variant, None] = {}
    while len(distinct) < count:
        loops = [f"i{number}" for number in range(depth)]
        tiled = draw.choice(loops)
        order = [*loops]
        draw.shuffle(order)
        order.insert(draw.randint(0, order.index(tiled)), f"{tiled}_t1")
        distinct[Variant((Tile(0, tiled, (draw.randrange(2, _EXTENT - 1),)), Interchange(0, tuple(order))))] = None
    return list(distinct)


def contraction(depth: int) -> str:
    """A matrix product with one loop less or more: a matrix by a vector for 2, batches of products from 4 on."""
    loops = [f"i{number}" for number in range(depth)]
    *outer, summed = loops
    batch, last = outer[:-1], outer[-1]
    operands = {"c": outer, "a": [*batch, summed], "b": [summed, last]} if depth > 2 else {}
    operands = operands or {"c": outer, "a": [*outer, summed], "b": [summed]}
    extents = {name: _EXTENT if name in loops[-3:] else 4 for name in loops}
    declared = [f"float {name}{''.join(f'[{extents[i]}]' for i in indices)}" for name, indices in operands.items()]
    element = {name: name + "".join(f"[{i}]" for i in indices) for name, indices in operands.items()}
    lines = [f"void contract({', '.join(declared)})", "{", "#pragma scop"]
    lines += [f"for (int {name} = 0; {name} < {extents[name]}; ++{name})" for name in loops]
    return "\n".join([*lines, f"  {element['c']} += {element['a']} * {element['b']};", "#pragma endscop", "}", ""])


def parsed(text: str, **defines: int) -> Scop:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "nest.c"
        path.write_text(text, encoding="utf-8")
        return polydl.parse(path, defines=defines)


def convolution(**defines: int) -> Scop:
    return polydl.parse(_EXAMPLES / "conv.c", defines=defines)


def product(**defines: int) -> Scop:
    return polydl.parse(_EXAMPLES / "matmul.c", defines=defines)


def stencil(**defines: int) -> Scop:
    return polydl.parse(_EXAMPLES / "stencil.c", defines=defines)


def convolution_variants(nest: Scop, count: int) -> list[Variant]:
    """What polydl itself would try; fewer where it has no more."""
    return list(polydl.generate_variants(nest, machine=machine(), max_variants=count))


def product_variants(_: Scop, count: int) -> list[Variant]:
    """Orders of nine loops: both levels of tiles and the points of i, j and k."""
    return tiled_orders("ijk", 2, count)
