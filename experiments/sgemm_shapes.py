"""Sizes m x n x k of matrix products that a library is judged by: of published lists, and drawn at random.

DeepBench's are those of its inference lists (github.com/baidu-research/DeepBench, code/kernels/gemm_problems.h),
ISAAC's those of its Table 4 (Tillet and Cox 2017). Operands are not transposed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

Sizes = tuple[int, int, int]

# What one product takes at most, in operations, so that all are measured in minutes.
MOST_OPERATIONS = 8 * 10**9
_MOST_DRAWN = 2 * 10**9

_BATCHES = {
    (1, 2, 4): ((512, 512), (1024, 512), (3072, 1024), (4608, 1536), (6144, 2048), (7680, 2560), (8448, 2816)),
    (700, 1500): ((35, 2048), (35, 2560), (5124, 2048), (5124, 2560)),
    (1500, 3000, 6000): (
        *((512, k) for k in (1536, 2048, 2560, 2816)),
        *((1024, k) for k in (1536, 2048, 2560, 2816)),
        (3072, 1024), (4608, 1536), (6144, 2048), (7680, 2560), (8448, 2816),
    ),
    (1,): ((64, 1216), (128, 1024), (128, 1408), (3072, 128), (4224, 128)),
    (700,): ((1024, 512),),
    (1500,): ((128, 1280), (176, 1408), (3072, 128), (4224, 176)),
}  # fmt: skip
DEEPBENCH: tuple[Sizes, ...] = tuple(
    (m, n, k) for columns, products in _BATCHES.items() for m, k in products for n in columns
)
ISAAC: tuple[Sizes, ...] = (
    *((size, size, size) for size in (512, 1024, 2048)),
    *((2560, columns, 2560) for columns in (16, 32, 64, 128)),
    *((channels, channels, 60000) for channels in (32, 64, 256)),
    *((size, size, 32) for size in (4096, 3456, 896)),
)


def operations(sizes: Sizes) -> int:
    m, n, k = sizes
    return 2 * m * n * k


def _skinny(draw: Random) -> Sizes:
    """One size of up to 32, the two others long."""
    sizes = [1 + draw.randrange(32), _long(draw), _long(draw)]
    draw.shuffle(sizes)
    return sizes[0], sizes[1], sizes[2]


def _long(draw: Random) -> int:
    return int(128 * 32 ** draw.random())


def _square(draw: Random) -> Sizes:
    size = int(8 * 128 ** draw.random())
    return size, size, size


def _odd(draw: Random) -> Sizes:
    """Three odd sizes."""
    m, n, k = (int(1200 ** draw.random()) | 1 for _ in range(3))
    return m, n, k


DRAWN: dict[str, Callable[[Random], Sizes]] = {"skinny": _skinny, "square": _square, "odd": _odd}


def held_out(count: int, seed: int = 0) -> Iterator[tuple[str, Sizes]]:
    """``count`` different products, each with the name of its kind: the published ones, then as many of each kind."""
    known: set[Sizes] = set()
    for kind, listed in (("DeepBench", DEEPBENCH), ("ISAAC", ISAAC)):
        for sizes in listed:
            if operations(sizes) <= MOST_OPERATIONS and sizes not in known and len(known) < count:
                known.add(sizes)
                yield kind, sizes
    draw = Random(seed)
    while len(known) < count:
        for kind, drawn in DRAWN.items():
            sizes = drawn(draw)
            if len(known) < count and sizes not in known and operations(sizes) <= _MOST_DRAWN:
                known.add(sizes)
                yield kind, sizes
