"""Layouts of split or copied operands of AMX products, and the blocks of columns of a call."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.contracts import GemmShape, GemmSite
from polydl.divisors import divisors
from polydl.machine.core import Core
from polydl.microkernels.shapes import register_blocks

SIDE = 16  # rows and columns of a tile
STEP = 32  # steps of k in a tile product of bfloat16s
_LINE_BYTES = 64  # of all processors with tile registers
_LINE = 32  # elements of B to which its columns are padded
# Groups of k in a tile product, which takes as long with fewer: with six of sixteen, products of floats take as long
# as in vector registers.
LEAST_GROUPS = 8
# The part of the second-level cache that all tiles of A together may take which a thread keeps split.
_KEPT = 0.5
# Runs of B that lie no further apart are split together.
_GAP = 32


@dataclass(frozen=True)
class Format:
    """The representation of an element type in tile registers."""

    #: parts that an element is split into
    parts: int
    #: of a part
    bytes: int
    #: tile products for one product of elements
    products: int

    @property
    def group(self) -> int:
        """Steps of k that are adjacent in a tile of A (VNNI): four bytes."""
        return 4 // self.bytes

    def cycles(self, core: Core) -> float:
        """Those of splitting or copying one element."""
        return core.tile_split_cycles if self.parts > 1 else core.tile_copy_cycles

    @property
    def longest(self) -> int:
        """Steps of k in the longest tile product."""
        return SIDE * self.group

    def step_of(self, k: int) -> int:
        """Steps of k in one tile product: as many as divide k, in groups.

        Floats are split anyway, so that zeros may follow the last ones: where only few divide k, all of as few products
        as there can be, in equal parts.
        """
        sizes = (size for size in divisors(k) if size % self.group == 0 and size <= self.longest)
        even = max(sizes, default=0)
        if even >= LEAST_GROUPS * self.group or self.parts == 1:
            return even
        part = -(-k // -(-k // self.longest))
        return -(-part // self.group) * self.group

    def products_along(self, k: int) -> int:
        """Tile products for all of k; the last one may have fewer steps."""
        return -(-k // max(self.group, self.step_of(k)))


FORMATS = {
    "float": Format(3, 2, 6),
    BFLOAT16: Format(1, 2, 1),
    "signed char": Format(1, 1, 1),
    "unsigned char": Format(1, 1, 1),
}


def length_of_row(shape: GemmShape) -> int:
    """Pairs of bytes of a row of one product of A, split."""
    kind = FORMATS[shape.element]
    return kind.products_along(shape.k) * kind.step_of(shape.k) * kind.parts * kind.bytes // 2


def length_of_a(shape: GemmShape, whole: bool) -> int:
    """Pairs of bytes of all of A, split, or of two tiles along m."""
    tiles = -(-shape.m // SIDE)
    return (tiles if whole else min(2, tiles)) * SIDE * length_of_row(shape) * shape.batch


def kept_bytes(core: Core) -> int:
    """What all tiles of A together may take that a thread keeps split."""
    return int(_KEPT * core.second_cache_bytes)


def padded(length: int) -> int:
    """A length in elements, rounded up to a whole number of lines."""
    return -(-length // _LINE) * _LINE


@dataclass(frozen=True)
class Columns:
    """The layout of B's columns in a buffer, after they were split or copied.

    Step l of column j, in row q and product r, is at ``starts[q][r] + j * stride + l * advance``. Offsets are in
    elements.
    """

    #: (offset in B, offset in the buffer, length) of contiguous elements to split; empty if B is read in place
    runs: tuple[tuple[int, int, int], ...]
    #: of the first column of each row and product
    starts: tuple[tuple[int, ...], ...]
    #: from one column to the next
    stride: int
    #: from one step of k to the next
    advance: int
    #: of the buffer
    length: int
    #: (row, first column, columns) of columns that are evenly spaced in C, too
    segments: tuple[tuple[int, int, int], ...]
    #: whether each product's columns are split by themselves, so that the columns of a tile are adjacent
    by_column: bool

    @property
    def elements(self) -> int:
        """How many elements are split or copied."""
        return sum(length for _, _, length in self.runs)


def _rows_evenly(places: Sequence[int], distance: int) -> bool:
    return all(two - one == distance for one, two in itertools.pairwise(places))


def _as_it_lies(site: GemmSite, n: int, k: int, step: int) -> Columns:
    """B in its own layout, in one piece or a few: elements that several products read are split once."""
    reach = (n - 1) * site.stride_bn + k
    runs, at = [], 0
    for begin, end in site.pieces_of_b(reach, _GAP):
        runs.append((begin, at, end - begin))
        at += padded(end - begin)

    def place(address: int) -> int:
        begin, to, _ = next(run for run in reversed(runs) if run[0] <= address)
        return to + address - begin

    starts = tuple(tuple(place(row + offset) for offset in site.offsets_b) for row in site.rows_b)
    even = _rows_evenly(site.rows_c, n * site.ldc) and all(
        _rows_evenly([row[r] for row in starts], n * site.stride_bn) for r in range(len(site.offsets_b))
    )
    segments = ((0, 0, n * site.rows),) if even else tuple((row, 0, n) for row in range(site.rows))
    return Columns(tuple(runs), starts, site.stride_bn, step, at, segments, by_column=False)


def _in_place(site: GemmSite, n: int, step: int) -> Columns:
    starts = tuple(tuple(row + offset for offset in site.offsets_b) for row in site.rows_b)
    even = _rows_evenly(site.rows_c, n * site.ldc) and _rows_evenly(site.rows_b, n * site.stride_bn)
    segments = ((0, 0, n * site.rows),) if even else tuple((row, 0, n) for row in range(site.rows))
    return Columns((), starts, site.stride_bn, step, 0, segments, by_column=False)


def _column_by_column(site: GemmSite, n: int, k: int, step: int) -> Columns:
    """B with each product's columns adjacent for each step of k: elements that two products read are split twice."""
    stride = padded(step)
    advance = site.rows * n * stride
    product = FORMATS[site.element].products_along(k) * advance
    runs = tuple(
        (row + offset + j * site.stride_bn, r * product + (q * n + j) * stride, k)
        for r, offset in enumerate(site.offsets_b)
        for q, row in enumerate(site.rows_b)
        for j in range(n)
    )
    starts = tuple(tuple(r * product + q * n * stride for r in range(len(site.offsets_b))) for q in range(site.rows))
    even = _rows_evenly(site.rows_c, n * site.ldc)
    segments = ((0, 0, n * site.rows),) if even else tuple((row, 0, n) for row in range(site.rows))
    length = len(site.offsets_b) * product
    return Columns(runs, starts, stride, advance, length, segments, by_column=True)


def _products(columns: Columns) -> int:
    """The number of tile products along n; each is for all of k and 16 rows of C."""
    return sum(-(-count // SIDE) for _, _, count in columns.segments)


@dataclass(frozen=True)
class Blocks:
    """A call of one shape: the layout of B, and the blocks of columns, which are computed in pairs."""

    shape: GemmShape
    #: how B lies in memory
    columns: Columns
    #: (row, first column, columns) of each block
    blocks: tuple[tuple[int, int, int], ...]

    @property
    def format(self) -> Format:
        """How elements of the shape's type are split into what tile registers hold."""
        return FORMATS[self.shape.element]

    @property
    def step(self) -> int:
        """Steps of k of one tile product."""
        return self.format.step_of(self.shape.k)

    @property
    def groups(self) -> int:
        """Groups of k in a tile product, which are the rows of a tile of A."""
        return self.step // self.format.group

    @property
    def steps(self) -> int:
        """Tile products along k."""
        return self.format.products_along(self.shape.k)

    @property
    def last(self) -> int:
        """Steps of k of the last of them."""
        return self.shape.k - (self.steps - 1) * self.step

    @property
    def length(self) -> str:
        """Steps of k of the tile product whose number the generated C calls ``step``, as a C expression."""
        if self.last == self.step:
            return str(self.step)
        return f"step + 1 < {self.steps} ? {self.step} : {self.last}"

    @property
    def per_row(self) -> int:
        """Pairs of bytes of a row of one product of A, split."""
        return length_of_row(self.shape)


def c_table(rows: Sequence[Sequence[int]]) -> str:
    """The rows of a C table."""
    return ",\n".join("    {" + ", ".join(map(str, row)) + "}" for row in rows)


def finished_blocks(site: GemmSite, call: Blocks) -> list[str]:
    """The C table of the columns that each pair of blocks completes: (first, number, offset in C) of both blocks."""
    if not site.after:
        return []
    finished = [
        (row * call.shape.n + first, size, site.rows_c[row] + first * site.ldc) for row, first, size in call.blocks
    ]
    finished += [(0, 0, 0)] * (len(finished) % 2)
    pairs = [[*one, *two] for one, two in zip(finished[::2], finished[1::2], strict=True)]
    return [f"  static const long finished[][6] = {{\n{c_table(pairs)}\n  }};"]


def finished_rows(site: GemmSite) -> list[str]:
    """The C that finishes all columns of a call that did without tile registers."""
    if not site.after:
        return []
    n, m = (f"last_{role} ? {ends[1]} : {ends[0]}" for role, ends in (("n", site.n), ("m", site.m)))
    return [
        "  if (last)",
        f"    for (int q = 0; q < {site.rows}; ++q)",
        f"      {site.prefix}_after(operands, c + {site.prefix}_rows_c[q], {site.ldc}, q * ({n}), {n}, 0, {m});",
    ]


def products_of_blocks(
    site: GemmSite, call: Blocks, configuration: int, deep: int, rows: int, products: Callable[[int, str], str]
) -> list[str]:
    """The C that multiplies the one or two blocks of columns that the table's row ``block`` names.

    The row holds the number of the tile sizes at ``configuration``, and at ``deep`` whether there are two blocks.
    ``rows`` of C are computed, from row ``at`` on. ``products`` is given whether there are two, and what is fetched
    meanwhile of what later calls read: an equal share of cache lines with each step of k.
    """
    times = -(-call.shape.m // (2 * SIDE)) * -(-len(call.blocks) // 2) * call.shape.batch * call.steps
    lines = -(-site.ahead // (_LINE_BYTES * times))
    fetched = f"ahead, {lines}" if lines else "0, 0"
    finish = [
        "      if (last)",
        "        for (const long *whole = finished[i]; whole < finished[i + 1]; whole += 3)",
        f"          {site.prefix}_after(operands, c + whole[2] + at, {site.ldc}, whole[0], whole[1], at, {rows});",
    ]
    return [
        f"      if (block[{configuration}] != set)",
        f"        POLYDL_TILE_CONFIGURE(sizes[set = block[{configuration}]]);",
        f"      if (block[{deep}])",
        f"        {products(1, fetched)}",
        "      else",
        f"        {products(0, fetched)}",
        *([f"      ahead += {_LINE_BYTES * lines * call.steps} * count;"] if lines else []),
        *(finish if site.after else []),
    ]


def blocks_of(site: GemmSite, shape: GemmShape, core: Core) -> Blocks:
    """The cheapest layout of B: splitting by column needs fewer, fuller tiles, its own layout splits fewer elements."""
    kind = FORMATS[shape.element]
    step = kind.step_of(shape.k)
    splits = [_column_by_column(site, shape.n, shape.k, step)]
    if kind.parts == 1 and shape.stride_bk == 1:
        splits.append(_in_place(site, shape.n, step))
    elif site.batch[0] == site.batch[1] and shape.stride_bk == 1 and shape.k % step == 0:
        splits.append(_as_it_lies(site, shape.n, shape.k, step))

    def cost(columns: Columns) -> float:
        along_m = -(-shape.m // SIDE)
        steps = shape.batch * kind.products_along(shape.k)
        products = _products(columns) * along_m * steps * kind.products * core.tile_product_cycles
        # Split operands beyond the second-level cache are slow to load.
        spilled = max(0, columns.length * kind.bytes * kind.parts - kept_bytes(core))
        return products + site.anew_b * kind.cycles(core) * columns.elements + spilled

    return _in_blocks(shape, min(splits, key=cost))


def blocks_in_place(site: GemmSite, shape: GemmShape) -> Blocks:
    """The blocks of a call that reads B as it lies, with k contiguous."""
    return _in_blocks(shape, _in_place(site, shape.n, shape.k))


def _in_blocks(shape: GemmShape, columns: Columns) -> Blocks:
    pieces = []
    for row, first, count in columns.segments:
        for size in register_blocks(count, SIDE):
            pieces.append((row, first, size))
            first += size
    return Blocks(shape, columns, tuple(pieces))


class TileRegisterSizes:
    """The sizes of the tile registers that a call uses: four of C, two of B, two of A."""

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self._numbers: dict[tuple[tuple[int, int], tuple[int, int]], int] = {}

    def of(self, columns: tuple[int, int], rows: int) -> tuple[int, int]:
        """The number of that for two blocks of columns and 32 of the rows of C, and of that for the last rows."""
        rest = rows % (2 * SIDE)
        last = (min(rest, SIDE), max(1, rest - SIDE)) if rest else (SIDE, SIDE)
        whole, end = (self._numbers.setdefault((columns, sides), len(self._numbers)) for sides in ((SIDE, SIDE), last))
        return whole, end

    def text(self) -> str:
        """C of a table with the sizes, in the layout that the processor loads, by their numbers."""
        lines = ",\n".join(f"    {self._registers(*sides)}" for sides in self._numbers)
        return f"  static const unsigned char sizes[][64] __attribute__((aligned(64))) = {{\n{lines}\n  }};"

    def _registers(self, columns: tuple[int, int], rows: tuple[int, int]) -> str:
        """The 64 bytes that the processor is given."""
        sizes = [
            *((column, 4 * row) for column in columns for row in rows),
            *((column, 4 * self.groups) for column in columns),
            *((self.groups, 4 * row) for row in rows),
        ]
        content = [1, *(0,) * 15]
        for _, width in sizes:
            content += [width, 0]
        content += [0] * 16
        content += [height for height, _ in sizes]
        content += [0] * 8
        return "{" + ", ".join(map(str, content)) + "}"
