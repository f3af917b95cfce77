"""The register blocks of LIBXSMM's matrix products, and the cycles of a call."""

from __future__ import annotations

from polydl.contracts import GemmShape
from polydl.machine.core import Core
from polydl.microkernels.shapes import RegisterTiling, register_blocks, step_bound, tiling_cycles

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
        half = vector_elements // 2
        vectors += [1] * (rest // half + rest % half)
    most = _COLUMNS
    if masks:
        most = min(_MOST_COLUMNS, (core.vector_registers - 1 - vectors[0]) // vectors[0])
    return RegisterTiling(tuple(vectors), register_blocks(shape.columns, most))


def block_cycles(shape: GemmShape, vector_elements: int, core: Core) -> float:
    """Core cycles of one call, operands in the first-level cache, whose steps take as long as what binds them."""
    tiling = blocks_of(shape, vector_elements, core)
    calling = core.library_call_cycles + core.library_product_cycles * shape.batch
    return calling + tiling_cycles(tiling, shape.k, shape.batch, core, step=step_bound)
