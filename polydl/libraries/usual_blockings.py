"""Blockings that only registers, caches and threads decide: what is worth a measurement without a search."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import product as combinations
from math import prod

from polydl.libraries.blocking import (
    MOVED_BY,
    OTHER_REGISTERS,
    STEP_OF_TERMS,
    Blocking,
    BlockingLoop,
    Operand,
    cache_elements,
    goto_tiles,
    largest_block,
    most_copied,
    register_block,
    whole_terms,
)
from polydl.libraries.convolutions import symbolic_convolution
from polydl.libraries.product import INNER, SymbolicProduct
from polydl.machine import Machine

# Terms in a tile of a block for long rows.
_TERMS_OF_LONG_ROWS = 32
# Register blocks of rows, and of columns, in a tile that the second level of cache holds.
_BLOCKS_OF_ROWS, _BLOCKS_OF_COLUMNS = 4, 8
# Register blocks of columns in a tile of filters' taps.
_BLOCKS_OF_TAPS = (4, 16)
# Rows of images in such a tile, where the second level of cache doesn't hold all of them.
_ROWS_OF_TAPS = 8
# Pixels along a side of the tiles that have fewer products, and vectors of such tiles: transforms of filters are few
# beside the products of so many. With more of them, images of some more tiles need theirs once.
_PIXELS_OF_TILES = (4, 2)
_VECTORS_OF_TILES = (4, 6)
# Register blocks of columns in a tile whose vectors run along k: enough that copies of A are few beside products.
_COLUMNS_ALONG_TERMS = 32


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
    for vectors, columns in dict.fromkeys((largest_block(machine, element_bytes), (2, widest_block(machine)))):
        rows = vectors * width
        m, n, of_k = goto_tiles(machine, element_bytes, vectors, columns)
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
        *_of_winograd(machine, element_bytes, product),
    )


def _of_long_rows(machine: Machine, element_bytes: int) -> tuple[Blocking, ...]:
    """Blockings that read and write long runs, for few terms and for few columns: many vectors by two columns.

    Half of the registers hold sums, a quarter what these are sums of. A tile has the columns of one register block, so
    that the next one is beside it in memory.
    """
    vectors, columns = max(2, machine.core.vector_registers // 4), 2
    rows, k = vectors * machine.vector_elements(element_bytes), _TERMS_OF_LONG_ROWS
    _, second = cache_elements(machine, element_bytes)
    most = min(second // 4, most_copied(machine, element_bytes))
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
    _, second = cache_elements(machine, element_bytes)
    most = min(second, most_copied(machine, element_bytes))
    blockings: list[Blocking] = []
    for vectors in (max(2, registers // 8), max(3, 3 * registers // 16)):
        columns = (registers - OTHER_REGISTERS) // vectors - 1
        rows = vectors * width
        m, few_columns = BlockingLoop("m", _BLOCKS_OF_ROWS * rows), BlockingLoop("n", _BLOCKS_OF_COLUMNS * columns)
        k = whole_terms(most // max(m.size, few_columns.size))
        of_k = BlockingLoop("k", k)
        copied = (
            BlockingLoop("n", 2 * few_columns.size),
            BlockingLoop("k", max(STEP_OF_TERMS, k // 4)),
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


def widest_block(machine: Machine) -> int:
    """The most columns of a register block of two vectors."""
    return (machine.core.vector_registers - OTHER_REGISTERS) // 2 - 1


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
    columns = (registers - rows - OTHER_REGISTERS) // rows
    first, second = cache_elements(machine, element_bytes)
    # The rows of a register block fill a quarter of the first level, those of a tile an eighth of the second, if they
    # may be copied.
    most = min(second // 8, most_copied(machine, element_bytes))
    k = BlockingLoop("k", max(width, first // 4 // rows // width * width))
    m = BlockingLoop("m", max(rows, most // k.size // rows * rows))
    n = BlockingLoop("n", _COLUMNS_ALONG_TERMS * columns)
    orders = [(k, m, n)]
    if machine.threads > 1:
        orders.append((k, replace(n, parallel=True), m))
    return tuple(Blocking(tiles, rows, columns, ("a",), "k") for tiles in orders)


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
    for vectors, columns in dict.fromkeys((largest_block(machine, element_bytes), (2, widest_block(machine)))):
        m, _, of_k = goto_tiles(machine, element_bytes, vectors, columns)
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
    for vectors, columns in dict.fromkeys((largest_block(machine, element_bytes), (2, widest_block(machine)))):
        m, n, of_k = goto_tiles(machine, element_bytes, vectors, columns)
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
    most = most_copied(machine, element_bytes)
    fitting = [each for each in blockings if all(each.packed_elements(name) <= most for name in each.packed)]
    return placed_in_loops(fitting, machine, product)


def _long_terms(machine: Machine, element_bytes: int, rows: int) -> tuple[BlockingLoop, BlockingLoop]:
    """A tile of few rows and of as many terms as half of the second level holds of them, if they may be copied."""
    _, second = cache_elements(machine, element_bytes)
    m = BlockingLoop("m", _BLOCKS_OF_ROWS * rows)
    return m, BlockingLoop("k", whole_terms(min(second // 2, most_copied(machine, element_bytes)) // m.size))


def _of_winograd(machine: Machine, element_bytes: int, product: SymbolicProduct) -> tuple[Blocking, ...]:
    """Blockings of convolutions with fewer products, of larger and of smaller tiles.

    Sums of products fill half of the second level of cache, and transformed channels the other half, if they may be
    copied. On threads, loops over filters or over tiles are dealt.
    """
    conv = symbolic_convolution(product)
    if conv is None:
        return ()
    _, second = cache_elements(machine, element_bytes)
    half = min(second // 2, most_copied(machine, element_bytes))
    blockings: list[Blocking] = []
    for outputs, several in combinations(_PIXELS_OF_TILES, _VECTORS_OF_TILES):
        points = prod(outputs + taps - 1 for taps in conv.extents)
        tiles = several * machine.vector_elements(element_bytes)
        vectors, columns = register_block(machine, element_bytes, tiles, 4096)
        filters = max(columns, half // points // tiles // columns * columns)
        channels = max(8, half // points // (tiles + filters) // 8 * 8)
        n, m, k = BlockingLoop("n", filters), BlockingLoop("m", tiles), BlockingLoop("k", channels)
        orders = [(n, m, k)]
        if machine.threads > 1:
            orders += [(replace(n, parallel=True), m, k), (replace(m, parallel=True), n, k)]
        blockings += [Blocking(order, vectors, columns, ("a", "b"), outputs=outputs) for order in orders]
    return tuple(blockings)


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


def _with_copies(packed: Collection[Operand], product: SymbolicProduct) -> tuple[Operand, ...]:
    return tuple(name for name in MOVED_BY if name in packed or name in product.copied)
