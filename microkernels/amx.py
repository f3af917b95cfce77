"""Products of floats in tile registers: Intel's matrix extension (AMX), fed with three bfloat16s for each float.

A float has 24 significant bits and a bfloat16 eight, so that a float is a sum of three: a = a0 + a1 + a2, the first
the nearest to it. Of the nine products of parts the six largest are computed, exactly, and
summed as floats:

    a * b = a0*b0 + (a0*b1 + a1*b0) + (a0*b2 + a1*b1 + a2*b0) + less than 2^-25 of |a * b|

which is less than the rounding of one product of floats (Henry, Tang and Heinecke, "Leveraging the bfloat16
artificial intelligence datatype for higher-precision computations", ARITH 2019). Six tile products take 3/8 of the
time of the multiply-adds that they replace, and their sums turn out closer to the true ones (docs/search-space.md).
What differs: an infinite operand may give NaN in place of an infinity, magnitudes above 3.38e38 overflow, and of
those below 1e-33 some bits are lost.

A call splits its operands into buffers of the thread's own first: A into pairs of steps of k, which is how the
instruction reads it, B as it lies or column by column. What later calls read again stays split for them.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from ctypes import CDLL, c_long
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from polydl.contracts import Ability, CallArguments, EmittedSite, GemmShape, GemmSite, StridePattern
from polydl.divisors import divisors
from polydl.microkernels.plain_c import FIRST, PLAIN_C, REFERENCE
from polydl.microkernels.shapes import register_blocks

_SIDE = 16  # rows and columns of a tile
_STEP = 32  # steps of k in a tile product
_LEAST_STEP = 16
_PARTS = 3
_PRODUCTS = 6
_PRODUCT_CYCLES = 20.0
_LINE = 32  # bfloat16s
# Bytes that all tiles of A together may keep split in a thread, and the most of one call's A or B.
_KEPT = 1 << 20
_MOST = 3 << 19
_MOST_KEPT = 8
# Cycles to split one element, of a call, and of a tile of C; and how often an operand has to be split, in the mean.
_SPLIT_CYCLES = 0.65
_OVERHEAD = 300.0
_TILE_OF_C = 80.0
_SPLIT_SHARE = 0.5
# Runs of B that lie no further apart are split together.
_GAP = 32


def _step_of(k: int) -> int:
    """Steps of k in one tile product: as many as divide k, in pairs."""
    return max((size for size in divisors(k) if size % 2 == 0 and size <= _STEP), default=0)


def _padded(length: int) -> int:
    return -(-length // _LINE) * _LINE


@dataclass(frozen=True)
class _Columns:
    """Where the columns of B lie once they are split, and what of B is split.

    ``runs`` are (from, to, length): as many elements, from so far after the operand's first. Column j of row q and
    product r begins at ``starts[q][r] + j * stride``. ``segments`` are (row, first column, columns) that lie evenly
    in C as well.
    """

    runs: tuple[tuple[int, int, int], ...]
    starts: tuple[tuple[int, ...], ...]
    stride: int
    length: int
    segments: tuple[tuple[int, int, int], ...]

    @property
    def elements(self) -> int:
        return sum(length for _, _, length in self.runs)


def _rows_evenly(places: Sequence[int], distance: int) -> bool:
    return all(two - one == distance for one, two in itertools.pairwise(places))


def _as_it_lies(site: GemmSite, n: int, k: int) -> _Columns:
    """All that a call reads of B, in one piece or a few: elements that several products read are split once."""
    reach = (n - 1) * site.stride_bn + k
    begins = sorted({row + offset for row in site.rows_b for offset in site.offsets_b})
    pieces: list[list[int]] = []
    for begin in begins:
        if pieces and begin <= pieces[-1][1] + _GAP:
            pieces[-1][1] = max(pieces[-1][1], begin + reach)
        else:
            pieces.append([begin, begin + reach])
    runs, at = [], 0
    for begin, end in pieces:
        runs.append((begin, at, end - begin))
        at += _padded(end - begin)

    def place(address: int) -> int:
        begin, to, _ = next(run for run in reversed(runs) if run[0] <= address)
        return to + address - begin

    starts = tuple(tuple(place(row + offset) for offset in site.offsets_b) for row in site.rows_b)
    even = _rows_evenly(site.rows_c, n * site.ldc) and all(
        _rows_evenly([row[r] for row in starts], n * site.stride_bn) for r in range(len(site.offsets_b))
    )
    segments = ((0, 0, n * site.rows),) if even else tuple((row, 0, n) for row in range(site.rows))
    return _Columns(tuple(runs), starts, site.stride_bn, at, segments)


def _column_by_column(site: GemmSite, n: int, k: int) -> _Columns:
    """Each product's columns one after the other; what two products read is split twice."""
    stride = _padded(k)
    product = site.rows * n * stride
    runs = tuple(
        (row + offset + j * site.stride_bn, r * product + (q * n + j) * stride, k)
        for r, offset in enumerate(site.offsets_b)
        for q, row in enumerate(site.rows_b)
        for j in range(n)
    )
    starts = tuple(tuple(r * product + q * n * stride for r in range(len(site.offsets_b))) for q in range(site.rows))
    even = _rows_evenly(site.rows_c, n * site.ldc)
    segments = ((0, 0, n * site.rows),) if even else tuple((row, 0, n) for row in range(site.rows))
    return _Columns(runs, starts, stride, len(site.offsets_b) * product, segments)


def _products(columns: _Columns) -> int:
    """Tile products along n, each for all of k and 16 rows of C."""
    return sum(-(-count // _SIDE) for _, _, count in columns.segments)


@dataclass(frozen=True)
class _Blocks:
    """A call of one shape: how B is split, and in which pairs of blocks its columns are computed."""

    shape: GemmShape
    columns: _Columns
    # (row, first column, columns) of each block.
    blocks: tuple[tuple[int, int, int], ...]

    @property
    def step(self) -> int:
        return _step_of(self.shape.k)

    @property
    def steps(self) -> int:
        """Tile products along k."""
        return self.shape.k // self.step

    @property
    def per_row(self) -> int:
        """bfloat16s of a row of one product of A, split."""
        return self.shape.k * _PARTS

    def length_a(self, whole: bool) -> int:
        """bfloat16s of all of A, split, or of two tiles along m."""
        tiles = -(-self.shape.m // _SIDE)
        return (tiles if whole else min(2, tiles)) * _SIDE * self.per_row * self.shape.batch


def _blocks(site: GemmSite, shape: GemmShape) -> _Blocks:
    """The cheaper way to split B: that lets fewer, fuller tiles do, or splits fewer elements."""
    found = [_column_by_column(site, shape.n, shape.k)]
    if site.batch[0] == site.batch[1] and shape.stride_bk == 1:
        found.append(_as_it_lies(site, shape.n, shape.k))

    def cost(columns: _Columns) -> float:
        along_m = -(-shape.m // _SIDE)
        steps = shape.batch * shape.k / _step_of(shape.k)
        products = _products(columns) * along_m * steps * _PRODUCTS * _PRODUCT_CYCLES
        # Beyond the second-level cache split operands come back slowly.
        spilled = max(0, columns.length * 2 * _PARTS - _KEPT)
        return products + _SPLIT_SHARE * _SPLIT_CYCLES * columns.elements + spilled

    chosen = min(found, key=cost)
    pieces = []
    for row, first, count in chosen.segments:
        for size in register_blocks(count, _SIDE):
            pieces.append((row, first, size))
            first += size
    return _Blocks(shape, chosen, tuple(pieces))


def _configuration(rows: tuple[int, int], columns: tuple[int, int], pairs: int) -> str:
    """The 64 bytes that set the sizes of the tile registers: four of C, two of B, two of A."""
    sizes = [
        *((row, 4 * column) for row in rows for column in columns),
        *((row, 4 * pairs) for row in rows),
        *((pairs, 4 * column) for column in columns),
    ]
    content = [1, *(0,) * 15]
    for _, width in sizes:
        content += [width, 0]
    content += [0] * 16
    content += [height for height, _ in sizes]
    content += [0] * 8
    return "{" + ", ".join(map(str, content)) + "}"


class _Writer:
    def __init__(self, site: GemmSite) -> None:
        self.site = site
        self.calls = {index: _blocks(site, shape) for index, shape in site.shapes()}
        self.slots = 1
        longest = max(call.length_a(site.again_a) for call in self.calls.values())
        if site.again_a:
            self.slots = max(1, min(_MOST_KEPT, _KEPT // (2 * longest)))
        self.longest = longest, _PARTS * max(call.columns.length for call in self.calls.values())

    def text(self) -> str:
        site, prefix = self.site, self.site.prefix
        parts = [
            Path(__file__).with_name("amx_support.c").read_text(encoding="utf-8").rstrip("\n"),
            _loops(site),
            "#ifdef POLYDL_HAS_TILES",
            self._buffers(),
        ]
        cases = []
        for number, ((last_m, last_n, last_k), call) in enumerate(self.calls.items()):
            name = f"{prefix}_run_{last_m}{last_n}{last_k}"
            parts.append(self._panel_a(f"{name}_a", call))
            if site.again_a:
                parts.append(self._kept_a(f"{name}_a", number, call))
            parts += [self._split_b(f"{name}_b", number, call), self._run(name, call)]
            tests = [
                f"{'' if last else '!'}last_{role}"
                for role, last, ends in zip("mnk", (last_m, last_n, last_k), (site.m, site.n, site.k), strict=True)
                if ends[0] != ends[1]
            ]
            cases += [f"    if ({' && '.join(tests) or '1'})", f"      {name}(a, b, c, count, first);"]
        parts += [
            "#endif",
            f"static void {prefix}_run(const float *a, const float *b, float *c, int last_m, int last_n, int last_k, "
            f"long count{FIRST})",
            "{",
            "#ifdef POLYDL_HAS_TILES",
            "  if (polydl_tiles) {",
            *cases,
            "    return;",
            "  }",
            "#endif",
            f"  {prefix}_loops(a, b, c, last_m, last_n, last_k, count, first);",
            "}",
        ]
        return "\n".join(parts)

    def _buffers(self) -> str:
        prefix = self.site.prefix
        held = "static _Thread_local struct { const float *from; long count, round; int shape; }"
        lines = []
        if self.site.again_a or self.site.again_b:
            lines.append(f"static long {prefix}_round = 1;")
        if self.site.again_a:
            lines.append(f"{held} {prefix}_held_a[{self.slots}];")
            lines.append(f"static _Thread_local int {prefix}_next_a;")
        if self.site.again_b:
            lines.append(f"{held} {prefix}_held_b;")
        aligned = "__attribute__((aligned(64)))"
        lines += [
            f"static _Thread_local unsigned short {prefix}_parts_a[{self.slots}][{self.longest[0]}] {aligned};",
            f"static _Thread_local unsigned short {prefix}_parts_b[{self.longest[1]}] {aligned};",
        ]
        return "\n".join(lines)

    def _panel_a(self, name: str, call: _Blocks) -> str:
        """A function that splits one or two tiles along m: every product's steps, and in a step, every part's tiles."""
        site, prefix = self.site, self.site.prefix
        pairs, rows = call.step // 2, call.shape.m
        return "\n".join(
            [
                f"static void {name}_panel(const float *a, int row, int tiles, long count, unsigned short *to)",
                "{",
                "  for (long r = 0; r < count; ++r)",
                f"    for (int step = 0; step < {call.steps}; ++step, to += {_PARTS * 32 * pairs} * tiles)",
                "      for (int tile = 0; tile < tiles; ++tile) {",
                f"        const int left = {rows} - row - {_SIDE} * tile;",
                f"        const float *from = a + {prefix}_offsets_a[r] + {call.step * site.lda}L * step;",
                f"        polydl_split_pairs(from + row + {_SIDE} * tile, {site.lda}, to + {32 * pairs} * tile,",
                f"                           {32 * pairs} * tiles, {pairs}, left < {_SIDE} ? left : {_SIDE});",
                "      }",
                "}",
            ]
        )

    def _kept_a(self, name: str, number: int, call: _Blocks) -> str:
        """A function that finds all of A split, or splits it, panel by panel."""
        prefix = self.site.prefix
        held, side = f"{prefix}_held_a", 2 * _SIDE
        return "\n".join(
            [
                f"static const unsigned short *{name}(const float *a, long count)",
                "{",
                f"  for (int slot = 0; slot < {self.slots}; ++slot)",
                f"    if ({held}[slot].from == a && {held}[slot].count == count && {held}[slot].shape == {number} && "
                f"{held}[slot].round == {prefix}_round)",
                f"      return {prefix}_parts_a[slot];",
                f"  const int slot = {prefix}_next_a;",
                f"  {prefix}_next_a = (slot + 1) % {self.slots};",
                f"  {held}[slot].from = a;",
                f"  {held}[slot].count = count;",
                f"  {held}[slot].shape = {number};",
                f"  {held}[slot].round = {prefix}_round;",
                f"  for (int row = 0; row < {call.shape.m}; row += {side})",
                f"    {name}_panel(a, row, {call.shape.m} - row > {_SIDE} ? 2 : 1, count, "
                f"{prefix}_parts_a[slot] + row * {call.per_row} * count);",
                f"  return {prefix}_parts_a[slot];",
                "}",
            ]
        )

    def _split_b(self, name: str, number: int, call: _Blocks) -> str:
        site, prefix = self.site, self.site.prefix
        held, columns = f"{prefix}_held_b", call.columns
        plane = columns.length
        head = [f"static const unsigned short *{name}(const float *b, long count)", "{"]
        if site.again_b:
            head += [
                f"  if ({held}.from == b && {held}.count == count && {held}.shape == {number} && "
                f"{held}.round == {prefix}_round)",
                f"    return {prefix}_parts_b;",
                f"  {held}.from = b;",
                f"  {held}.count = count;",
                f"  {held}.shape = {number};",
                f"  {held}.round = {prefix}_round;",
            ]
        copies = [
            "  (void)count;",
            *(
                f"  polydl_split_run(b + {begin}, {prefix}_parts_b + {to}, {plane}, {length});"
                for begin, to, length in columns.runs
            ),
        ]
        if columns.stride != site.stride_bn or len(columns.runs) > _GAP:
            n, k = call.shape.n, call.shape.k
            per_product = site.rows * n * columns.stride
            split = "polydl_split_run(from + j * {}, to + j * {}, {}, {});"
            copies = [
                "  for (long r = 0; r < count; ++r)",
                f"    for (int q = 0; q < {site.rows}; ++q) {{",
                f"      const float *from = b + {prefix}_offsets_b[r] + {prefix}_rows_b[q];",
                f"      unsigned short *to = {prefix}_parts_b + r * {per_product} + q * {n * columns.stride};",
                f"      for (int j = 0; j < {n}; ++j)",
            ]
            if site.stride_bk == 1:
                copies.append("        " + split.format(site.stride_bn, columns.stride, plane, k))
            else:
                copies += [
                    "      {",
                    f"        float column[{k}];",
                    f"        for (int l = 0; l < {k}; ++l)",
                    f"          column[l] = from[j * {site.stride_bn}L + l * {site.stride_bk}L];",
                    f"        polydl_split_run(column, to + j * {columns.stride}, {plane}, {k});",
                    "      }",
                ]
            copies.append("    }")
        return "\n".join([*head, *copies, f"  return {prefix}_parts_b;", "}"])

    def _run(self, name: str, call: _Blocks) -> str:
        site, shape, columns = self.site, call.shape, call.columns
        pairs = call.step // 2
        rest = shape.m % (2 * _SIDE)
        whole = shape.m // (2 * _SIDE)
        configurations: dict[tuple[tuple[int, int], tuple[int, int]], int] = {}

        def configured(rows: tuple[int, int], width: tuple[int, int]) -> int:
            return configurations.setdefault((rows, width), len(configurations))

        last = (min(rest, _SIDE), max(1, rest - _SIDE)) if rest else (_SIDE, _SIDE)
        entries = []
        for place in range(0, len(call.blocks), 2):
            one = call.blocks[place]
            two = call.blocks[place + 1] if place + 1 < len(call.blocks) else None
            rows = (one[2], two[2] if two else 1)
            fields: list[int] = []
            for row, first, _ in (one, two or one):
                fields += [
                    row * len(site.offsets_b),
                    first * columns.stride,
                    site.rows_c[row] + first * site.ldc,
                ]
            entries.append([*fields, int(two is not None), configured(rows, (_SIDE, _SIDE)), configured(rows, last)])
        table = ",\n".join("    {" + ", ".join(map(str, entry)) + "}" for entry in entries)
        starts = [start for row in columns.starts for start in row]
        common = (
            f"{columns.length}, {columns.stride}, c + block[2] + at, c + block[5] + at, {site.ldc}, count, "
            f"{call.steps}, {pairs}, first"
        )
        where = "parts_b + block[1], parts_b + block[4], starts + block[0], starts + block[3]"

        def walk(end: str, wide: int, column: int) -> list[str]:
            if site.again_a:
                before, after = [], [f"    parts_a += {_SIDE * (1 + wide) * call.per_row} * count;"]
            else:
                before, after = [f"    {name}_a_panel(a, at, {1 + wide}, count, {site.prefix}_parts_a[0]);"], []
            return [
                f"  for (; at < {end}; at += {2 * _SIDE}) {{",
                *before,
                f"    for (int i = 0; i < {len(entries)}; ++i) {{",
                "      const long *block = blocks[i];",
                f"      if (block[{column}] != set)",
                f"        POLYDL_TILE_CONFIGURE(sizes[set = block[{column}]]);",
                "      if (block[6])",
                f"        polydl_tile_block(parts_a, {where}, {common}, {wide}, 1);",
                "      else",
                f"        polydl_tile_block(parts_a, {where}, {common}, {wide}, 0);",
                "    }",
                *after,
                "  }",
            ]

        parts_a = f"{name}_a(a, count)" if site.again_a else f"{site.prefix}_parts_a[0]"
        body = []
        if whole:
            body += walk(str(whole * 2 * _SIDE), 1, 7)
        if rest:
            body += walk(str(shape.m), int(rest > _SIDE), 8)
        return "\n".join(
            [
                f"static void {name}(const float *a, const float *b, float *c, long count{FIRST})",
                "{",
                "  static const unsigned char sizes[][64] __attribute__((aligned(64))) = {",
                ",\n".join(f"    {_configuration(rows, width, pairs)}" for rows, width in configurations),
                "  };",
                f"  static const long blocks[][9] = {{\n{table}\n  }};",
                f"  static const long starts[] = {{{', '.join(map(str, starts))}}};",
                f"  const unsigned short *parts_b = {name}_b(b, count);",
                f"  const unsigned short *parts_a = {parts_a};",
                "  long set = -1, at = 0;",
                *body,
                "  POLYDL_TILE_RELEASE();",
                "}",
            ]
        )


def _loops(site: GemmSite) -> str:
    """Where the compiler's target has no tiles, or the system does not let the process use them."""
    prefix = site.prefix
    lengths = ", ".join(
        f"{role} = last_{role} ? {ends[1]} : {ends[0]}" for role, ends in (("m", site.m), ("n", site.n), ("k", site.k))
    )
    tables = [
        f"static const long {prefix}_{name}[{len(values)}] = {{{', '.join(map(str, values))}}};"
        for name, values in (
            ("offsets_a", site.offsets_a),
            ("offsets_b", site.offsets_b),
            ("rows_b", site.rows_b),
            ("rows_c", site.rows_c),
        )
    ]
    return "\n".join(
        [
            *tables,
            f"static void {prefix}_loops(const float *a, const float *b, float *c, int last_m, int last_n, "
            f"int last_k, long count{FIRST})",
            "{",
            f"  const long {lengths};",
            f"  for (int q = 0; q < {site.rows}; ++q)",
            "    for (long j = 0; j < n; ++j) {",
            f"      float *to = c + {prefix}_rows_c[q] + j * {site.ldc};",
            "      if (first)",
            "        for (long i = 0; i < m; ++i)",
            "          to[i] = 0;",
            "      for (long r = 0; r < count; ++r)",
            "        for (long l = 0; l < k; ++l) {",
            f"          const float *column = a + {prefix}_offsets_a[r] + l * {site.lda};",
            f"          const float factor = b[{prefix}_rows_b[q] + {prefix}_offsets_b[r] + j * {site.stride_bn} + "
            f"l * {site.stride_bk}];",
            "          for (long i = 0; i < m; ++i)",
            "            to[i] += column[i] * factor;",
            "        }",
            "    }",
            "}",
        ]
    )


@functools.cache
def _missing() -> str | None:
    try:
        known = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        known = ""
    if not {"amx_bf16", "amx_tile", "avx512bw"} <= set(known.split()):
        return "the processor has no tiles of bfloat16 (AMX)"
    # arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA)
    if CDLL(None).syscall(c_long(158), c_long(0x1023), c_long(18)) != 0:
        return "the system does not let processes use tile registers"
    return None


@dataclass(frozen=True)
class Amx:
    """The ``c-amx`` microkernel: float, computed with bfloat16 tile products to the accuracy of float."""

    name: str = "c-amx"
    reference: str = REFERENCE
    patterns: tuple[StridePattern, ...] = (
        StridePattern("contiguous", ("one", "one", "zero"), ("any", "zero", "any"), ("zero", "any", "any")),
    )
    elements: tuple[tuple[str, ...], ...] = (("float", "float"),)

    abilities: frozenset[Ability] = frozenset({"rows", "overwrite", "copies", "rounds"})

    def unavailable(self) -> str | None:
        return _missing()

    def rejects(self, shape: GemmShape) -> str | None:
        if _step_of(shape.k) < _LEAST_STEP:
            return f"no even number of steps from {_LEAST_STEP} to {_STEP} divides k = {shape.k}"
        if shape.m < _SIDE or shape.n * shape.rows < _SIDE:
            return f"{shape.m} by {shape.n * shape.rows} elements don't fill a tile"
        if 2 * _PARTS * shape.m * shape.k * shape.batch > _MOST:
            return f"A, split, takes more than {_MOST >> 10} KiB"
        if 2 * _PARTS * shape.n * shape.rows * shape.k > _MOST:
            return f"B, split, takes more than {_MOST >> 10} KiB"
        return PLAIN_C.rejects(shape)

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:  # noqa: ARG002
        """Large ones: an operand is split once for all that a call does with it."""
        if role == "k":
            wanted, whole = [256, 128, 512, 64], extent <= 512
        elif role == "m":
            wanted, whole = [128, 64, 256, 32], extent <= 512
        else:
            even = sorted((d for d in divisors(extent) if 48 <= d <= 512), key=lambda d: (d / _padded(d), d))
            wanted, whole = [*reversed(even[-4:]), 256, 128, 64], extent <= 1024
        found = [extent] if whole else []
        found += [size for size in wanted if size < extent]
        return tuple(dict.fromkeys(found)) or (extent,)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:  # noqa: ARG002
        along_m, along_n = -(-shape.m // _SIDE), -(-shape.n * shape.rows // _SIDE)
        steps = shape.batch * shape.k // max(2, _step_of(shape.k))
        split = shape.k * shape.batch * shape.m + shape.k * shape.n * shape.rows
        return (
            _OVERHEAD
            + along_m * along_n * (steps * _PRODUCTS * _PRODUCT_CYCLES + _TILE_OF_C)
            + _SPLIT_SHARE * _SPLIT_CYCLES * split
        )

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:  # noqa: ARG002
        setup = "#ifdef POLYDL_HAS_TILES\n  polydl_tiles = polydl_ask_for_tiles();\n#endif"
        start = ""
        if site.again_a or site.again_b:
            # What was split in an earlier call of the function may have changed.
            start = (
                f"#ifdef POLYDL_HAS_TILES\n    __atomic_add_fetch(&{site.prefix}_round, 1, __ATOMIC_RELAXED);\n#endif"
            )
        return EmittedSite((), _Writer(site).text(), setup, start)

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return PLAIN_C.call(site, arguments)

    def link_flags(self) -> tuple[str, ...]:
        return ()


AMX = Amx()
