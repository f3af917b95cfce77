"""What a learned model knows of kernels and shapes, and every configuration that it can be asked about.

After Tillet and Cox, "Input-Aware Auto-Tuning of Compute-Bound HPC Kernels" (2017): a regression over the logarithms of
sizes and parameters of the kernel, and an exhaustive search of what it predicts. For products the configurations are
all blockings of one tile for each of m, n and k; for other nests the kernels that were measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from itertools import product as combinations
from random import Random

import numpy as np

from polydl.libraries import extents as sums
from polydl.libraries.blocking import (
    Blocking,
    BlockingLoop,
    Operand,
    register_block,
)
from polydl.libraries.candidates import element_bytes, kernel_of
from polydl.libraries.kernel import Kernel
from polydl.libraries.product import INNER, Role, SymbolicProduct
from polydl.libraries.regression import Array
from polydl.libraries.shapes import Shape
from polydl.libraries.symbolic import SymbolicNest
from polydl.libraries.usual_blockings import along_terms, placed_in_loops, widest_block
from polydl.machine import Machine

# Register blocks in a tile of m and of n, and terms in a tile of k.
_BLOCKS = (1, 2, 4, 8, 16, 32, 64, 128)
_TERMS = (32, 64, 128, 256, 512)
# Of tiles whose vectors run along k: register blocks of rows and of columns, and terms.
_BLOCKS_ALONG_TERMS = (2, 8, 32)
_ALONG_TERMS = (256, 512, 1024, 2048)


@dataclass(frozen=True)
class Configurations:
    """Kernels as a table: a row of numbers for each."""

    nest: SymbolicNest
    #: None for a nest without one
    product: SymbolicProduct | None
    machine: Machine
    #: of nests without a product: all that the model tells apart
    known: tuple[str, ...]
    #: in the order of the rows
    kernels: tuple[Kernel, ...]
    #: a row for each kernel
    table: Array

    @classmethod
    def of(
        cls,
        nest: SymbolicNest,
        product: SymbolicProduct | None,
        machine: Machine,
        known: Sequence[str],
        kernels: Sequence[Kernel],
    ) -> Configurations:
        """The configurations of some kernels. Those without a product are among ``known``, by their ids."""
        rows = [
            [float(each.id == identity) for identity in known]
            if product is None or each.blocking is None
            else _row(each.blocking)
            for each in kernels
        ]
        return cls(nest, product, machine, tuple(known), tuple(kernels), np.array(rows, np.float64))

    def features(self, shape: Shape) -> Array:
        """What the model gets of each kernel at a shape, a row for each."""
        if self.product is None:
            sizes = np.log2([[float(shape[each.name]) for each in self.nest.ranges]])
            return np.concatenate([np.repeat(sizes, len(self.table), 0), self.table], axis=1)
        return _of_product(self.product, self.machine, element_bytes(self.nest, self.product), self.table, shape)


def _row(blocking: Blocking) -> list[float]:
    """Innermost tiles, places of their loops, vectors, columns, copies, loops on threads, what runs along or as one."""
    places = {tile.role: place for place, tile in enumerate(blocking.tiles)}
    shared = {tile.role for tile in blocking.tiles if tile.parallel}
    inner = sorted(INNER, key=lambda role: places[role])
    return [
        *(float(blocking.innermost(role)) for role in INNER),
        *(float(inner.index(role)) for role in INNER),
        float(blocking.vectors),
        float(blocking.columns),
        *(float(name in blocking.packed) for name in ("a", "b")),
        *(float(role in shared) for role in INNER),
        float(bool(shared - set(INNER))),
        float(blocking.along == "k"),
        float(blocking.coalesced),
        float(blocking.outputs),
    ]


def _of_product(product: SymbolicProduct, machine: Machine, element: int, table: Array, shape: Shape) -> Array:
    # A loop without iterations at this shape has no logarithm.
    sizes = {role: max(1.0, float(sums.value(trip, shape))) for role, trip in product.trips.items()}
    coalesced = table[:, 15]
    alone = _extents(sizes, {role: (role,) for role in INNER})
    joined = product.coalesced
    together = alone if joined is None else _extents(sizes, {"m": joined.rows, "n": ("n",), "k": joined.terms})
    *of_tiles, around = np.where(coalesced[:, None] > 0, together, alone).T
    extent = np.stack(of_tiles, axis=1)
    tiles = np.minimum(table[:, :3], extent)
    counts = np.ceil(extent / table[:, :3])
    of_terms = table[:, 14]
    rows = table[:, 6] * np.where(of_terms > 0, 1, machine.vector_elements(element))
    waste = [np.ceil(tiles[:, 0] / rows) * rows / tiles[:, 0]]
    waste.append(np.ceil(tiles[:, 1] / table[:, 7]) * table[:, 7] / tiles[:, 1])
    chunks = np.prod(np.where(table[:, 10:13] > 0, counts, 1), axis=1) * np.where(table[:, 13] > 0, around, 1)
    shared = table[:, 10:14].max(axis=1)
    columns = [
        np.log2(tiles),
        np.log2(counts),
        table[:, 3:6],
        np.log2(table[:, 6:8]),
        table[:, 8:10],
        shared[:, None],
        of_terms[:, None],
        coalesced[:, None],
        np.log2(1 + table[:, 16])[:, None],
        np.log2(np.minimum(machine.threads, chunks))[:, None],
        np.log2(np.stack(waste, axis=1)),
        np.log2(extent),
        np.log2(around)[:, None],
    ]
    return np.concatenate(columns, axis=1)


def _extents(sizes: Mapping[Role, float], inner: Mapping[Role, Sequence[Role]]) -> list[float]:
    """The iterations of m, n and k, each of which may be several loops, and of all loops around them together."""
    within = [float(np.prod([sizes[each] for each in inner[role]])) for role in INNER]
    return [*within, float(np.prod(list(sizes.values()))) / float(np.prod(within))]


def every_configuration(nest: SymbolicNest, product: SymbolicProduct, machine: Machine) -> tuple[Kernel, ...]:
    """All blockings of the product that the model is asked about; some of them may be illegal."""
    element = element_bytes(nest, product)
    width = machine.vector_elements(element)
    blocks = dict.fromkeys((register_block(machine, element, 4096, 4096), (2, widest_block(machine))))
    threads: list[str] = [""]
    if machine.threads > 1:
        threads += ["m", "n", *(role for role in product.outer if role in product.c.strides)]
    most = machine.core.packed_tile_bytes
    choices: tuple[tuple[Operand, ...], ...] = ((), ("a",), ("b",), ("a", "b"))
    copies = [packed for packed in choices if product.copied <= set(packed)]
    others = {parallel: kernel_of(nest, (), parallel, product) for parallel in (False, True)}
    found: list[Kernel] = []
    joined = product.coalesced.roles if product.coalesced is not None else frozenset()
    for (vectors, columns), shared, coalesced in combinations(blocks, threads, (False, True) if joined else (False,)):
        around = [role for role in product.outer if not coalesced or role not in joined]
        if shared and shared not in (*INNER, *around):
            continue
        outer = tuple(BlockingLoop(role, 1, role == shared) for role in around)
        for m, n, k in combinations(_BLOCKS, _BLOCKS, _TERMS):
            sizes = {"m": m * vectors * width, "n": n * columns, "k": k}
            for packed in copies:
                if ("a" in packed and sizes["m"] * k * element > most) or (coalesced and "a" not in packed):
                    continue
                if "b" in packed and sizes["n"] * k * element > most:
                    continue
                for order in permutations(INNER):
                    tiles = tuple(BlockingLoop(role, sizes[role], role == shared) for role in order)
                    blocking = Blocking((*outer, *tiles), vectors, columns, packed, coalesced=coalesced)
                    found.append(replace(others[bool(shared)], blocking=blocking))
    of_terms = [
        _resized(base, {"m": m * base.vectors, "n": n * base.columns, "k": k})
        for base in along_terms(machine, element, product)
        for m, n, k in combinations(_BLOCKS_ALONG_TERMS, _BLOCKS_ALONG_TERMS, _ALONG_TERMS)
        if m * base.vectors * k * element <= most
    ]
    for blocking in placed_in_loops(of_terms, machine, product):
        found.append(replace(others[blocking.on_threads], blocking=blocking))
    return tuple(found)


def drawn_configurations(
    nest: SymbolicNest, product: SymbolicProduct | None, machine: Machine, count: int, seed: int
) -> tuple[Kernel, ...]:
    """So many of ``every_configuration``, drawn evenly: what a model learns from knows more than good ones then."""
    if product is None or not count:
        return ()
    every = every_configuration(nest, product, machine)
    return tuple(Random(seed).sample(every, min(count, len(every))))


def _resized(blocking: Blocking, sizes: dict[str, int]) -> Blocking:
    return replace(blocking, tiles=tuple(replace(tile, size=sizes[tile.role]) for tile in blocking.tiles))
