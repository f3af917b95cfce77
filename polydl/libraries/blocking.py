"""How a product is cut into tiles and register blocks: what remains of a variant when its sizes are left open."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product as combinations
from typing import Literal

from polydl.ir.schedule import Loop
from polydl.libraries.product import INNER, Role, SymbolicProduct
from polydl.machine import Machine
from polydl.plan.apply import Applied

Operand = Literal["a", "b"]
#: The loops of a tile that move each operand that may be packed.
MOVED_BY: dict[Operand, tuple[Role, Role]] = {"a": ("m", "k"), "b": ("k", "n")}
# Registers that neither accumulate nor hold a column of A: for an element of B, and to spare.
_OTHER_REGISTERS = 2
# Terms in a tile of a block for long rows.
_TERMS_OF_LONG_ROWS = 32
# Register blocks of rows, and of columns, in a tile that the second level of cache holds.
_BLOCKS_OF_ROWS, _BLOCKS_OF_COLUMNS = 4, 8
# Register blocks of columns in a tile of filters' taps.
_BLOCKS_OF_TAPS = (4, 16)
# Rows of images in such a tile, where the second level of cache doesn't hold all of them.
_ROWS_OF_TAPS = 8
# Register blocks of columns in a tile whose vectors run along k: enough that copies of A are few beside products.
_COLUMNS_ALONG_TERMS = 32


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

    @property
    def id(self) -> str:
        """12 hexadecimal digits."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:12]

    @property
    def on_threads(self) -> bool:
        """Whether a loop over tiles is dealt to threads."""
        return any(tile.parallel for tile in self.tiles)

    def joined(self, product: SymbolicProduct) -> frozenset[Role]:
        """The product's loops that it coalesces."""
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
        run along k, one after the other. Of a coalesced one it is an order in which no element of C needs another one,
        so that any order of them is as good, with the terms of each as in the source.
        """
        if self.coalesced:
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
        if self.coalesced and product.coalesced is not None:
            for role, roles in (("m", product.coalesced.rows), ("k", product.coalesced.terms)):
                names[role] = "-".join(product.names[each] for each in reversed(roles))
        tiles = ", ".join(
            f"{names[each.role]}{f' by {each.size}' if each.role in INNER or each.size > 1 else ''}"
            f"{' on threads' if each.parallel else ''}"
            for each in self.tiles
        )
        packed = f"; packed {' and '.join(names[each] for each in self.packed)}" if self.packed else ""
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
        tile.role: tile.size for tile in _goto_tiles(machine, element_bytes, *_largest_block(machine, element_bytes))
    }
    most = _most_copied(machine, element_bytes)
    for role in ("k", "m", "n"):
        if role in whole:
            # A tile that is copied must not become too large for that.
            others = max(innermost["m"], innermost["n"]) if role == "k" else innermost["k"]
            innermost[role] = max(innermost[role], min(usual[role], most // others))
    tiles = [replace(tile, size=innermost[tile.role]) if tile.role in whole else tile for tile in tiles]
    vectors, columns = register_block(machine, element_bytes, innermost["m"], innermost["n"])
    return Blocking(tuple(tiles), vectors, columns)


def _cache_elements(machine: Machine, element_bytes: int) -> tuple[int, int]:
    """The elements that the first two levels of cache hold."""
    return machine.caches[0].bytes // element_bytes, machine.second_cache_bytes // element_bytes


def _most_copied(machine: Machine, element_bytes: int) -> int:
    """The elements of a tile up to which it is copied."""
    return machine.core.packed_tile_bytes // element_bytes


def _goto_tiles(
    machine: Machine, element_bytes: int, vectors: int, columns: int
) -> tuple[BlockingLoop, BlockingLoop, BlockingLoop]:
    """Tiles of m, n and k for a register block, after Goto and van de Geijn.

    What a register block reads fills half of the first level, a tile of A or B half of the second, if it may be copied.
    """
    first, second = _cache_elements(machine, element_bytes)
    most = min(second // 2, _most_copied(machine, element_bytes))
    rows = vectors * machine.vector_elements(element_bytes)
    k = max(64, first // 2 // max(rows, columns) // 64 * 64)
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
    fitting = (machine.core.vector_registers - _OTHER_REGISTERS) // vectors - 1
    return vectors, max(1, min(max(tiling.columns), fitting))


def _largest_block(machine: Machine, element_bytes: int) -> tuple[int, int]:
    """Vectors and columns of the register block for tiles that are large in both."""
    return register_block(machine, element_bytes, 4096, 4096)


def _with_copies(packed: Collection[Operand], product: SymbolicProduct) -> tuple[Operand, ...]:
    return tuple(name for name in MOVED_BY if name in packed or name in product.copied)


def widest_block(machine: Machine) -> int:
    """The most columns of a register block of two vectors."""
    return (machine.core.vector_registers - _OTHER_REGISTERS) // 2 - 1


def _of_long_rows(machine: Machine, element_bytes: int) -> tuple[Blocking, ...]:
    """Blockings that read and write long runs, for few terms and for few columns: many vectors by two columns.

    Half of the registers hold sums, a quarter what these are sums of. A tile has the columns of one register block, so
    that the next one is beside it in memory.
    """
    vectors, columns = max(2, machine.core.vector_registers // 4), 2
    rows, k = vectors * machine.vector_elements(element_bytes), _TERMS_OF_LONG_ROWS
    _, second = _cache_elements(machine, element_bytes)
    most = min(second // 4, _most_copied(machine, element_bytes))
    m = BlockingLoop("m", max(rows, most // k // rows * rows))
    shared = (False, True) if machine.threads > 1 else (False,)
    inner = (BlockingLoop("k", k), BlockingLoop("n", columns))
    return tuple(Blocking((replace(m, parallel=threads), *inner), vectors, columns) for threads in shared)


def _of_second_level(machine: Machine, element_bytes: int) -> tuple[Blocking, ...]:
    """Blockings for register blocks of more vectors, whose operands come from the second level of cache.

    A register block of many vectors by few columns needs few elements for its products, so that the second level keeps
    up with it. Then tiles of k may be long, and C is read and written seldom. One of three copies B, whose columns may
    lie so far apart that they share few lines of the first level.
    """
    registers, width = machine.core.vector_registers, machine.vector_elements(element_bytes)
    _, second = _cache_elements(machine, element_bytes)
    most = min(second, _most_copied(machine, element_bytes))
    blockings: list[Blocking] = []
    for vectors in (max(2, registers // 8), max(3, 3 * registers // 16)):
        columns = (registers - _OTHER_REGISTERS) // vectors - 1
        rows = vectors * width
        m, few_columns = BlockingLoop("m", _BLOCKS_OF_ROWS * rows), BlockingLoop("n", _BLOCKS_OF_COLUMNS * columns)
        k = max(64, most // max(m.size, few_columns.size) // 64 * 64)
        of_k = BlockingLoop("k", k)
        copied = (
            BlockingLoop("n", 2 * few_columns.size),
            BlockingLoop("k", max(64, k // 4)),
            BlockingLoop("m", m.size // 2),
        )
        blockings += [
            Blocking((m, of_k, few_columns), vectors, columns),
            Blocking((of_k, m, BlockingLoop("n", columns)), vectors, columns),
            Blocking(copied, vectors, columns, ("b",)),
        ]
        if machine.threads > 1:
            dealt = (replace(m, parallel=True), of_k, few_columns), (replace(few_columns, parallel=True), of_k, m)
            blockings += [Blocking(tiles, vectors, columns) for tiles in dealt]
    return tuple(blockings)


def along_terms(machine: Machine, element_bytes: int, product: SymbolicProduct) -> tuple[Blocking, ...]:
    """Blockings with vectors along k, for few rows (m) and for operands that both are contiguous along k.

    A is copied where it isn't contiguous. There are none where B isn't, nor for operands of other types than C.
    """
    of_c = product.c.element
    if product.b.strides["k"] != "1" or {product.a.element, product.b.element} != {of_c}:
        return ()
    width = machine.vector_elements(element_bytes)
    if width < 2:
        return ()
    registers = machine.core.vector_registers
    rows = 4 if registers >= 32 else 2
    columns = (registers - rows - _OTHER_REGISTERS) // rows
    first, second = _cache_elements(machine, element_bytes)
    # The rows of a register block fill a quarter of the first level, those of a tile an eighth of the second, if they
    # may be copied.
    most = min(second // 8, _most_copied(machine, element_bytes))
    k = BlockingLoop("k", max(width, first // 4 // rows // width * width))
    m = BlockingLoop("m", max(rows, most // k.size // rows * rows))
    n = BlockingLoop("n", _COLUMNS_ALONG_TERMS * columns)
    orders = [(k, m, n)]
    if machine.threads > 1:
        orders.append((k, replace(n, parallel=True), m))
    return tuple(Blocking(tiles, rows, columns, ("a",), "k") for tiles in orders)


def usual_blockings(machine: Machine, element_bytes: int, product: SymbolicProduct) -> tuple[Blocking, ...]:
    """Blockings that only registers, caches and threads decide.

    They have four shapes of the register block with vectors along m, one for long rows, and one with vectors along k.
    Loops around m, n and k stay in the source's order, outside of all tiles. Each of them that moves C is a candidate
    for the threads.

    On one thread, tiles are those of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008),
    with copies of both operands and without, and such as the second level of cache holds. On threads, tiles are as
    small as is worth a copy, so that products of middling size have several.
    """
    width = machine.vector_elements(element_bytes)
    blockings: list[Blocking] = []
    for vectors, columns in dict.fromkeys((_largest_block(machine, element_bytes), (2, widest_block(machine)))):
        rows = vectors * width
        m, n, of_k = _goto_tiles(machine, element_bytes, vectors, columns)
        for tiles in ((m, of_k, n), (n, of_k, m)):
            blockings += [Blocking(tiles, vectors, columns, packed) for packed in ((), ("a", "b"))]
        if machine.threads > 1:
            few_rows, few_columns = (
                BlockingLoop("m", rows, True),
                BlockingLoop("n", -(-rows // columns) * columns, True),
            )
            blockings += [Blocking((few_rows, of_k, n), vectors, columns, packed) for packed in ((), ("a",))]
            blockings += [Blocking((few_columns, of_k, m), vectors, columns, packed) for packed in ((), ("b",))]
    blockings += _of_second_level(machine, element_bytes)
    blockings += _of_long_rows(machine, element_bytes)
    blockings = list(dict.fromkeys(replace(each, packed=_with_copies(each.packed, product)) for each in blockings))
    blockings += along_terms(machine, element_bytes, product)
    return (
        *placed_in_loops(blockings, machine, product),
        *_of_taps(machine, element_bytes, product),
        *_of_coalesced(machine, element_bytes, product),
    )


def _of_taps(machine: Machine, element_bytes: int, product: SymbolicProduct) -> tuple[Blocking, ...]:
    """Blockings of convolutions: of each tap of the filters, the copy of a tile serves all rows of an image.

    Taps are loops around m, n and k that move B but not C, rows the innermost of those that move C but not B. As C is
    read and written for each tap, tiles have few columns, of which the second level of cache holds an image, or else
    few rows of it.
    """
    taps = [role for role in product.added if role not in INNER and role in product.b.strides]
    rows = [role for role in product.outer if role in product.c.strides and role not in product.b.strides]
    if not taps or not rows:
        return ()
    inside = rows[-1]
    outside = tuple(BlockingLoop(role, 1) for role in product.outer if role not in (*taps, inside))
    within = tuple(BlockingLoop(role, 1) for role in (*taps, inside))
    some_rows = BlockingLoop(inside, _ROWS_OF_TAPS)
    copied: tuple[Operand, ...] = ("b",)
    packed = _with_copies(copied, product)
    blockings: list[Blocking] = []
    for vectors, columns in dict.fromkeys((_largest_block(machine, element_bytes), (2, widest_block(machine)))):
        m, _, of_k = _goto_tiles(machine, element_bytes, vectors, columns)
        for blocks, threads in combinations(_BLOCKS_OF_TAPS, (False, True) if machine.threads > 1 else (False,)):
            n = BlockingLoop("n", blocks * columns, threads)
            orders = ((n, of_k), (n, some_rows, of_k))
            blockings += [Blocking((*outside, *tiles, *within, m), vectors, columns, packed) for tiles in orders]
    return tuple(blockings)


def _of_coalesced(machine: Machine, element_bytes: int, product: SymbolicProduct) -> tuple[Blocking, ...]:
    """Blockings whose rows and terms are those of several loops, of which tiles of A are copied together.

    The loops over tiles of columns are the innermost ones, so that each element is copied once. On threads, these or
    the loops over tiles of rows are dealt, or a loop around that moves C.
    """
    if product.coalesced is None:
        return ()
    blockings: list[Blocking] = []
    for vectors, columns in dict.fromkeys((_largest_block(machine, element_bytes), (2, widest_block(machine)))):
        m, n, of_k = _goto_tiles(machine, element_bytes, vectors, columns)
        rows = vectors * machine.vector_elements(element_bytes)
        few, long = _long_terms(machine, element_bytes, rows)
        orders = [(m, of_k, n), (few, long, n)]
        if machine.threads > 1:
            orders += [(replace(few, parallel=True), long, n), (replace(n, parallel=True), m, of_k)]
        copies: tuple[tuple[Operand, ...], ...] = (("a",), ("a", "b"))
        blockings += [
            Blocking(tiles, vectors, columns, packed, coalesced=True) for tiles in orders for packed in copies
        ]
    blockings = list(dict.fromkeys(replace(each, packed=_with_copies(each.packed, product)) for each in blockings))
    most = _most_copied(machine, element_bytes)
    fitting = [each for each in blockings if all(each.packed_elements(name) <= most for name in each.packed)]
    return placed_in_loops(fitting, machine, product)


def _long_terms(machine: Machine, element_bytes: int, rows: int) -> tuple[BlockingLoop, BlockingLoop]:
    """A tile of few rows and of as many terms as half of the second level holds of them, if they may be copied."""
    _, second = _cache_elements(machine, element_bytes)
    m = BlockingLoop("m", _BLOCKS_OF_ROWS * rows)
    return m, BlockingLoop("k", max(64, min(second // 2, _most_copied(machine, element_bytes)) // m.size // 64 * 64))


def of_last_rows(
    machine: Machine, element_bytes: int, product: SymbolicProduct, *, on_threads: bool
) -> Blocking | None:
    """The blocking of the last rows, where they are computed apart from the others: vectors run along k.

    None where that can't be. One thread computes them where there is none for threads.
    """
    able = placed_in_loops(along_terms(machine, element_bytes, product), machine, product)
    return min(able, key=lambda blocking: blocking.on_threads != on_threads, default=None)


def placed_in_loops(blockings: Sequence[Blocking], machine: Machine, product: SymbolicProduct) -> tuple[Blocking, ...]:
    """The blockings inside of the loops around m, n and k: each as it is, and with one of these on threads.

    Loops that a blocking coalesces are not around it.
    """
    if not product.outer:
        return tuple(blockings)
    placed = []
    for each in blockings:
        outer = [role for role in product.outer if role not in each.joined(product)]
        threads = [role for role in outer if role in product.c.strides] if machine.threads > 1 else []
        for chosen in ("",) if each.on_threads else ("", *threads):
            around = tuple(BlockingLoop(role, 1, role == chosen) for role in outer)
            placed.append(replace(each, tiles=(*around, *each.tiles)))
    return tuple(placed)


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
