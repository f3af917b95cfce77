"""The register blocks of LIBXSMM's matrix products, and the cycles of a call."""

from __future__ import annotations

from collections import Counter

from polydl.contracts import GemmShape
from polydl.machine.core import Core
from polydl.microkernels.shapes import RegisterTiling, register_blocks

# Vectors of rows in a block, columns before AVX-512 and at most with it, and the registers that tell the two apart.
_VECTORS, _COLUMNS, _MOST_COLUMNS, _WITH_MASKS = 4, 3, 30, 32


def blocks_of(shape: GemmShape, vector_elements: int, core: Core) -> RegisterTiling:
    """The register blocks that LIBXSMM 1.17 makes, as its generator of matrix products says.

    Four vectors of rows as long as there are so many, then the rest at once. With AVX-512 the rest is masked, and the
    columns are as many as the registers hold beside a block's vectors of A. Before, there are three columns, and the
    rest that fills no vector is half a vector and then single rows.
    """
    whole, rest = divmod(shape.m, vector_elements)
    masks = core.vector_registers >= _WITH_MASKS
    if masks and rest:
        whole, rest = whole + 1, 0
    vectors = [_VECTORS] * (whole // _VECTORS)
    if whole % _VECTORS:
        vectors.append(whole % _VECTORS)
    if rest:
        half = max(1, vector_elements // 2)
        vectors += [1] * (rest // half + rest % half)
    most = _COLUMNS
    if masks:
        most = min(_MOST_COLUMNS, (core.vector_registers - 1 - vectors[0]) // vectors[0])
    return RegisterTiling(tuple(vectors), register_blocks(shape.columns, most))


def block_cycles(shape: GemmShape, vector_elements: int, core: Core) -> float:
    """Core cycles of one call, operands in the first-level cache: FMA, load and latency bounds of register blocks.

    Per step of k a block of v vectors by u columns does v*u FMA and loads v vectors of A and u values of B;
    per call it loads and stores C once.
    """
    tiling = blocks_of(shape, vector_elements, core)
    steps = shape.k * shape.batch
    total = core.library_call_cycles + core.library_product_cycles * shape.batch
    for vectors, height in Counter(tiling.vectors).items():
        for columns, width in Counter(tiling.columns).items():
            fma = vectors * columns / core.fma_per_cycle
            load = (vectors + columns) / core.loads_per_cycle
            waiting = vectors * columns < core.fma_per_cycle * core.fma_latency_cycles
            computing = steps * max(fma, load, core.fma_latency_cycles if waiting else 0.0)
            moving = (
                core.update_cycles * vectors * columns
                + core.fma_latency_cycles * 2
                + core.block_switch_cycles * shape.batch
            )
            total += height * width * (computing + moving)
    return total
