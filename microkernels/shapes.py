"""Tile sizes for register-blocked matrix products, their register blocks, and the cycles that these take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from polydl.divisors import divisors
from polydl.machine.core import Core

# Of a block. Those of 28 columns load 29 values for 28 multiply-adds of a vector of rows: two more, which the 32
# registers of AVX-512 leave room for, save less than half a percent.
_MOST_COLUMNS = 28


def tile_sizes(role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
    """Sizes for a loop of ``extent`` in a role, best first, without duplicates.

    m wants whole vectors, four of them for choice (they fill the registers together with six columns), five or seven
    where they divide the loop; n wants to divide its loop; k wants to be long, so that loading and storing C is a
    small part of the call.
    """
    if role == "m":
        even = [vectors for vectors in (5, 7) if extent % (vectors * vector_elements) == 0]
        wanted = [vectors * vector_elements for vectors in (4, *even, 2, 8, 6, 3, 1)]
        whole = extent <= 8 * vector_elements
    elif role == "n":
        wanted = [*sorted((d for d in divisors(extent) if 6 <= d <= 64), reverse=True), 24, 12, 48, 6]
        whole = extent <= 96
    else:
        wanted = [256, 128, 64, 512, 32]
        whole = extent <= 1024
    sizes = [extent] if whole else []
    sizes += [size for size in wanted if size < extent]
    return tuple(dict.fromkeys(sizes)) or (extent,)


def register_blocks(count: int, largest: int) -> tuple[int, ...]:
    """Split ``count`` as evenly as possible into pieces of at most ``largest``, the larger pieces first."""
    pieces = -(-count // largest)
    small, extra = divmod(count, pieces)
    return (small + 1,) * extra + (small,) * (pieces - extra)


@dataclass(frozen=True)
class RegisterTiling:
    """The register blocks of an output tile."""

    #: vectors of rows in each block along m
    vectors: tuple[int, ...]
    #: columns in each block along n
    columns: tuple[int, ...]

    def largest(self, vector_elements: int) -> tuple[int, int]:
        """Rows and columns of the largest block."""
        return max(self.vectors) * vector_elements, max(self.columns)


def step_bound(vectors: int, columns: int, core: Core) -> float:
    """Core cycles of one step of k in a block that FMA, loads or latency bind, as nearly as well-arranged code does.

    It does ``vectors`` times ``columns`` FMA, and loads the vectors of A and as many values of B as there are columns.
    """
    return max(
        vectors * columns / core.fma_per_cycle, (vectors + columns) / core.loads_per_cycle, core.fma_latency_cycles
    )


def block_step(vectors: int, columns: int, core: Core) -> float:
    """Core cycles of one step of k in a block as compilers arrange it: slowed a little by the step and its loads."""
    return step_bound(vectors, columns, core) + core.block_step_cycles + core.block_load_cycles * (vectors + columns)


def tiling_cycles(
    tiling: RegisterTiling,
    k: int,
    batch: int,
    core: Core,
    *,
    reads: bool = True,
    step: Callable[[int, int, Core], float] = block_step,
) -> float:
    """Core cycles of all blocks of a tile with operands in the first-level cache; C is read unless ``reads`` is no.

    ``step`` says what a step of k takes in a block of so many vectors and columns.
    """
    transfers = core.update_cycles if reads else 1.0 / core.stores_per_cycle

    def block_cycles(vectors: int, columns: int) -> float:
        steps = k * batch * step(vectors, columns, core)
        return steps + transfers * vectors * columns + 2 * core.fma_latency_cycles + core.block_switch_cycles * batch

    total = 0.0
    widths = set(tiling.columns)
    # Blocks have one or two heights and widths. They are added up one by one, in their order.
    known = {(v, c): block_cycles(v, c) for v in set(tiling.vectors) for c in widths}
    for vectors in tiling.vectors:
        for columns in tiling.columns:
            total += known[vectors, columns]
    return total


def _far_cycles(tiling: RegisterTiling, steps: int, core: Core) -> float:
    """What blocks are taken to wait for A, each time that it is read again, when they are chosen."""
    far = [vectors * steps for vectors in tiling.vectors if vectors * steps > core.block_kept_vectors]
    return core.block_far_load_cycles * sum(far) * (len(tiling.columns) - 1)


@lru_cache(maxsize=65536)
def register_tiling(vectors: int, n: int, rows: int, core: Core, last: int = 1, steps: int = 64) -> RegisterTiling:
    """The cheapest blocks for ``vectors`` of output rows, ``rows`` times ``n`` columns, and ``steps`` of all products.

    A block holds its part of C, one column of A's vectors and one value of B. Columns are split evenly, over all
    rows at once or each row by itself, whichever is cheaper. The last block has at least ``last`` vectors, one or two.
    With many steps, blocks are low and wide: all columns of a block of rows read A anew.
    """
    best: tuple[float, RegisterTiling] | None = None
    for most in range(last, min(vectors, 8) + 1):
        widest = max(1, min(_MOST_COLUMNS, (core.vector_registers - 1 - most) // most))
        pieces = register_blocks(vectors, most)[:: -1 if last > 1 else 1]
        for columns in (register_blocks(n, widest) * rows, register_blocks(n * rows, widest)):
            tiling = RegisterTiling(pieces, columns)
            cost = tiling_cycles(tiling, steps, 1, core) + _far_cycles(tiling, steps, core)
            if best is None or cost < best[0]:
                best = cost, tiling
    assert best is not None
    return best[1]
