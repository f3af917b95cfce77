"""How a product is cut into tiles and register blocks: what remains of a variant when its sizes are left open."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from itertools import product as combinations
from typing import Literal

from polydl.ir.schedule import Loop
from polydl.libraries.convolutions import symbolic_convolution
from polydl.libraries.product import INNER, Role, SymbolicProduct
from polydl.machine import Machine
from polydl.plan.apply import Applied

Operand = Literal["a", "b"]
#: The loops of a tile that move each operand that may be packed.
MOVED_BY: dict[Operand, tuple[Role, Role]] = {"a": ("m", "k"), "b": ("k", "n")}
#: Terms of tiles are a multiple of so many: fewer are little beside reading and writing the sums, and whole lines of
#: memory begin and end with them.
STEP_OF_TERMS = 64
#: Registers that neither accumulate nor hold a column of A: for an element of B, and to spare.
OTHER_REGISTERS = 2


@dataclass(frozen=True)
class BlockingLoop:
    """A loop over tiles of m, n or k, or a loop around them."""

    role: Role
    #: iterations of the source loop in one tile; 1 for the innermost loop of those over one that is not m, n or k
    size: int
    #: whether its iterations run on different threads
    parallel: bool = False


@dataclass(frozen=True)
class Blocking:
    """The tiles of a product, and the register block inside of them. Nothing in it depends on the product's sizes."""

    #: outermost first; the innermost tile of each of m, n and k is what is computed at once
    tiles: tuple[BlockingLoop, ...]
    #: vectors of m in a register block, at least 2; rows (m) where vectors run along k
    vectors: int
    #: columns (n) in a register block
    columns: int
    #: operands whose tiles are copied, so that they are read from start to end
    packed: tuple[Operand, ...] = ()
    #: the loop of which neighbouring iterations fill a vector: elements of C, or the terms of one
    along: Literal["m", "k"] = "m"
    #: whether m and k are all of the product's loops that coalesce with them (``Coalesced``); A is copied then
    coalesced: bool = False
    #: of a convolution with fewer products (Winograd): pixels along both sides of a tile, m being such tiles of all
    #: images; 0 for another one. Transforms of both operands are copies of them
    outputs: int = 0

    @property
    def id(self) -> str:
        """12 hexadecimal digits."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:12]

    @property
    def on_threads(self) -> bool:
        """Whether a loop over tiles is dealt to threads."""
        return any(tile.parallel for tile in self.tiles)

    def joined(self, product: SymbolicProduct) -> frozenset[Role]:
        """The product's loops that have no loop over tiles of their own, or share one."""
        if self.outputs:
            return frozenset(product.outer)
        return product.coalesced.roles if self.coalesced and product.coalesced is not None else frozenset()

    def innermost(self, role: Role) -> int:
        """The iterations of m, n or k that are computed at once."""
        return next(tile.size for tile in reversed(self.tiles) if tile.role == role)

    def packed_elements(self, operand: Operand) -> int:
        """Elements of a packed tile of A or B."""
        first, second = MOVED_BY[operand]
        return self.innermost(first) * self.innermost(second)

    def place(self, moving: Collection[Role]) -> int:
        """The number of tile loops around the copy of an operand: those that move it, and parallel ones."""
        return 1 + max(number for number, tile in enumerate(self.tiles) if tile.role in moving or tile.parallel)

    def schedule(self, product: SymbolicProduct) -> list[Loop]:
        """The order of the product's iterations as dimensions of time.

        Within the innermost tiles it is that of a register block: all of its sums advance together, or, where vectors
        run along k, one after the other. Of one that is coalesced, or has fewer products, it is an order in which no
        element of C needs another one, so that any order of them is as good, with the terms of each as in the source.
        """
        if self.coalesced or self.outputs:
            elements = [
                Loop(role, loop, parallel=True) for role, loop in product.loops.items() if role in product.c.strides
            ]
            return [*elements, *(Loop(role, product.loops[role]) for role in product.added)]
        level = {role: sum(tile.role == role for tile in self.tiles) for role in product.loops}
        loops = []
        for tile in self.tiles:
            # The innermost loop over one around m, n and k is the loop itself.
            around = level[tile.role] - (tile.role not in INNER)
            name = f"{tile.role}_t{around}" if around else tile.role
            loops.append(Loop(name, product.loops[tile.role], tile.size, parallel=tile.parallel))
            level[tile.role] -= 1
        inner = ("k", "n", "m") if self.along == "m" else ("m", "n", "k")
        return [*loops, *(Loop(role, product.loops[role]) for role in inner)]

    def words(self, product: SymbolicProduct) -> str:
        """What it does, for people, in the names of the source."""
        names = dict(product.names)
        conv = symbolic_convolution(product) if self.outputs else None
        if conv is not None:
            names["m"] = f"{self.outputs} by {self.outputs} pixels"
        if self.coalesced and product.coalesced is not None:
            for role, roles in (("m", product.coalesced.rows), ("k", product.coalesced.terms)):
                names[role] = "-".join(product.names[each] for each in reversed(roles))
        tiles = ", ".join(
            f"{names[each.role]}{f' by {each.size}' if each.role in INNER or each.size > 1 else ''}"
            f"{' on threads' if each.parallel else ''}"
            for each in self.tiles
        )
        packed = f"; packed {' and '.join(names[each] for each in self.packed)}" if self.packed else ""
        if conv is not None:
            packed = f"; {conv.words(self.outputs)}"
        rows = "vectors of " if self.along == "m" else ""
        terms = "" if self.along == "m" else f", vectors along {names['k']}"
        return (
            f"tiles of {tiles}; register block of {self.vectors} {rows}{names['m']} by {self.columns} of {names['n']}"
            f"{terms}{packed}"
        )


def of_variant(applied: Applied, product: SymbolicProduct, machine: Machine, element_bytes: int) -> Blocking | None:
    """The blocking of a variant that was applied at some shape; None for one that does more than tile and interchange.

    A loop that is not tiled becomes one tile of its extent there, or of what is usual where that is more: a loop of one
    iteration says nothing of tiles. One that is not m, n or k stays a loop, where the innermost of its tiles was.
    """
    if applied.variant.scop_steps:
        return None
    plan = applied.plan.nest_of(product.statement)
    if plan.nest.depth or len(plan.nest.statements) > 1 or any(loop.combined for loop in plan.loops):
        return None
    around = [(product.role(loop.iterator), loop) for loop in plan.loops]
    last = {role: number for number, (role, loop) in enumerate(around) if loop.size > 1 or role not in INNER}
    shared = {role for role, loop in around if loop.parallel}
    tiles = [
        BlockingLoop(role, loop.size, loop.parallel) if role in INNER else BlockingLoop(role, 1, role in shared)
        for number, (role, loop) in enumerate(around)
        if (loop.size > 1 if role in INNER else last[role] == number)
    ]
    whole = []
    for number, name in enumerate(plan.nest.loops):
        role = product.role(number)
        if all(tile.role != role for tile in tiles):
            tiles.append(BlockingLoop(role, plan.extent(name) if role in INNER else 1))
            whole += [role] if role in INNER else []
    innermost = {role: next(tile.size for tile in reversed(tiles) if tile.role == role) for role in INNER}
    usual = {
        tile.role: tile.size for tile in goto_tiles(machine, element_bytes, *largest_block(machine, element_bytes))
    }
    most = most_copied(machine, element_bytes)
    for role in ("k", "m", "n"):
        if role in whole:
            # A tile that is copied must not become too large for that.
            others = max(innermost["m"], innermost["n"]) if role == "k" else innermost["k"]
            innermost[role] = max(innermost[role], min(usual[role], most // others))
    tiles = [replace(tile, size=innermost[tile.role]) if tile.role in whole else tile for tile in tiles]
    vectors, columns = register_block(machine, element_bytes, innermost["m"], innermost["n"])
    return Blocking(tuple(tiles), vectors, columns)


def cache_elements(machine: Machine, element_bytes: int) -> tuple[int, int]:
    """The elements that the first two levels of cache hold."""
    return machine.caches[0].bytes // element_bytes, machine.second_cache_bytes // element_bytes


def most_copied(machine: Machine, element_bytes: int) -> int:
    """The elements of a tile up to which it is copied."""
    return machine.core.packed_tile_bytes // element_bytes


def whole_terms(most: int) -> int:
    """The terms in a tile that should have no more than ``most``: in steps, and never fewer than one of these."""
    return max(STEP_OF_TERMS, most // STEP_OF_TERMS * STEP_OF_TERMS)


def goto_tiles(
    machine: Machine, element_bytes: int, vectors: int, columns: int
) -> tuple[BlockingLoop, BlockingLoop, BlockingLoop]:
    """Tiles of m, n and k for a register block, after Goto and van de Geijn.

    What a register block reads fills half of the first level, a tile of A or B half of the second, if it may be copied.
    """
    first, second = cache_elements(machine, element_bytes)
    most = min(second // 2, most_copied(machine, element_bytes))
    rows = vectors * machine.vector_elements(element_bytes)
    k = whole_terms(first // 2 // max(rows, columns))
    m = max(rows, most // k // rows * rows)
    n = max(columns, most // k // columns * columns)
    return BlockingLoop("m", m), BlockingLoop("n", n), BlockingLoop("k", k)


def register_block(machine: Machine, element_bytes: int, m: int, n: int) -> tuple[int, int]:
    """Vectors and columns of the register block for tiles of m by n, as the microkernel ``c`` would choose them.

    A block has at least two vectors, so that what remains of a tile is a block, too.
    """
    from polydl.microkernels.shapes import register_tiling

    width = machine.vector_elements(element_bytes)
    tiling = register_tiling(max(2, -(-m // width)), n, 1, machine.core, 2)
    vectors = max(2, max(tiling.vectors))
    fitting = (machine.core.vector_registers - OTHER_REGISTERS) // vectors - 1
    return vectors, max(1, min(max(tiling.columns), fitting))


def largest_block(machine: Machine, element_bytes: int) -> tuple[int, int]:
    """Vectors and columns of the register block for tiles that are large in both."""
    return register_block(machine, element_bytes, 4096, 4096)


def packings(blocking: Blocking, product: SymbolicProduct, element_bytes: int, most_bytes: int) -> tuple[Blocking, ...]:
    """A blocking with each choice of operands to copy whose tiles take no more than ``most_bytes``."""
    kept = []
    for chosen in combinations((False, True), repeat=2):
        operands: tuple[Operand, ...] = tuple(name for name, wanted in zip(MOVED_BY, chosen, strict=True) if wanted)
        if not product.copied <= set(operands):
            continue
        if all(blocking.packed_elements(name) * element_bytes <= most_bytes for name in operands):
            kept.append(replace(blocking, packed=operands))
    return tuple(kept)
