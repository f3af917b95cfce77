"""Products in tile registers: Intel's matrix extension (AMX), fed with bytes, bfloat16s, or three of these for a float.

A float has 24 significant bits and a bfloat16 eight, so that a float is a sum of three: a = a0 + a1 + a2, the first
the nearest to it. Of the nine products of parts the six largest are computed, exactly, and
summed as floats:

    a * b = a0*b0 + (a0*b1 + a1*b0) + (a0*b2 + a1*b1 + a2*b0) + less than 2^-25 of |a * b|

which is less than the rounding of one product of floats (Henry, Tang and Heinecke, "Leveraging the bfloat16
artificial intelligence datatype for higher-precision computations", ARITH 2019). Six tile products take 3/8 of the
time of the multiply-adds that they replace, and their sums turn out closer to the true ones
(docs/reference/microkernels.md).
What differs: an infinite operand may give NaN in place of an infinity, magnitudes above 3.38e38 overflow, and of
those below 1e-33 some bits are lost.

A call splits its operands into buffers of the thread's own first: A into pairs of steps of k, which is how the
instruction reads it, B as it lies or column by column. What later calls read again stays split for them; of the rest,
two tiles of A, or of B (amx_panels.py), are split while the two before are multiplied. Of bfloat16s there is nothing to
split: A is copied in pairs, and B read where it is, if k is contiguous there. The same goes for bytes, in fours; their
sums are exact.
"""

from __future__ import annotations

import functools
from ctypes import CDLL, c_long
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.contracts import Ability, CallArguments, EmittedSite, GemmShape, GemmSite, Microkernel, StridePattern
from polydl.divisors import divisors
from polydl.microkernels.amx_operands import (
    FORMATS,
    KEPT,
    PRODUCT_CYCLES,
    SIDE,
    SPLIT_SHARE,
    Blocks,
    Configurations,
    blocks_of,
    c_table,
    finished_blocks,
    finished_rows,
    padded,
    products_of_blocks,
)
from polydl.microkernels.amx_panels import panel_elements, panels_run, walks_panels
from polydl.microkernels.plain_c import PLAIN_C, REFERENCE
from polydl.microkernels.plain_c_blocks import AFTER, AHEAD, FIRST, lengths, table, which_tiles, widened

_LEAST_GROUPS = 8  # of k in a tile product
_MOST = 3 << 19  # bytes of one call's A or B, split
_MOST_KEPT = 8
_SIGNS = {"signed char": "SIGNED", "unsigned char": "PLAIN"}
# Cycles of a call, and of a tile of C.
_OVERHEAD = 300.0
_TILE_OF_C = 80.0


@functools.cache
def _support() -> str:
    """The C that all sites share."""
    return Path(__file__).with_name("amx_support.c").read_text(encoding="utf-8").rstrip("\n")


class _Writer:
    def __init__(self, site: GemmSite) -> None:
        self.site = site
        self.calls = {index: blocks_of(site, shape) for index, shape in site.shapes()}
        self.panels = all(walks_panels(site, call) for call in self.calls.values())
        self.splits_all_a = site.again_a or self.panels
        self.keeps_b = site.again_b and not self.panels
        self.slots = 1
        self.operands = _operands(site)
        self.more = FIRST + (AHEAD if site.ahead else "") + (AFTER.format(prefix=site.prefix) if site.after else "")
        longest = max(call.length_a(self.splits_all_a) for call in self.calls.values())
        if site.again_a:
            self.slots = max(1, min(_MOST_KEPT, KEPT // (2 * longest)))
        self.format = FORMATS[site.element]
        self.splits_in_passing = self.format.parts > 1 and not self.splits_all_a
        if self.splits_in_passing:
            self.slots = 2
        # The type of what is loaded of B.
        self.part_b = site.type_b if self.format.parts == 1 else "unsigned short"
        parts = self.format.parts
        lengths = (2 * panel_elements(c) if self.panels else parts * c.columns.length for c in self.calls.values())
        self.longest = longest, max(lengths)

    def text(self) -> str:
        site, prefix = self.site, self.site.prefix
        parts = [
            _support(),
            _loops(site),
            "#ifdef POLYDL_HAS_TILES",
            self._buffers(),
        ]
        cases = []
        for number, (index, call) in enumerate(self.calls.items()):
            name = f"{prefix}_run_{''.join(map(str, index))}"
            parts.append(self._panel_a(f"{name}_a", call))
            if self.splits_all_a:
                parts.append(self._all_of_a(f"{name}_a", number, call))
            if call.columns.runs and not self.panels:
                parts.append(self._split_b(f"{name}_b", number, call))
            parts.append(panels_run(name, site, call) if self.panels else self._run(name, call))
            cases += [
                f"    if ({which_tiles(site, index)})",
                f"      {name}(a, b, c, count, first{', ahead' if site.ahead else ''}"
                f"{', last, operands' if site.after else ''});",
            ]
        parts += [
            "#endif",
            f"static void {prefix}_run({self.operands}, int last_m, int last_n, int last_k, long count{self.more})",
            "{",
            "#ifdef POLYDL_HAS_TILES",
            "  if (polydl_tiles) {",
            *cases,
            "    return;",
            "  }",
            "#endif",
            *(["  (void)ahead;"] if site.ahead else []),
            f"  {prefix}_loops(a, b, c, last_m, last_n, last_k, count, first);",
            *finished_rows(site),
            "}",
        ]
        return "\n".join(parts)

    def _buffers(self) -> str:
        prefix = self.site.prefix
        held = f"static _Thread_local struct {{ const {self.site.element} *from; long count, round; int shape; }}"
        lines = []
        if self.site.again_a or self.keeps_b:
            lines.append(f"static long {prefix}_round = 1;")
        if self.site.again_a:
            lines.append(f"{held} {prefix}_held_a[{self.slots}];")
            lines.append(f"static _Thread_local int {prefix}_next_a;")
        if self.keeps_b and self.longest[1]:
            lines.append(f"{held} {prefix}_held_b;")
        aligned = "__attribute__((aligned(64)))"
        lines += [
            f"static _Thread_local unsigned short {prefix}_parts_a[{self.slots}][{self.longest[0]}] {aligned};",
        ]
        if self.longest[1]:
            lines.append(f"static _Thread_local {self.part_b} {prefix}_parts_b[{self.longest[1]}] {aligned};")
        return "\n".join(lines)

    def _panel_a(self, name: str, call: Blocks) -> str:
        """A function that splits one or two tiles along m: every product's steps, and in a step, every part's tiles."""
        site, prefix = self.site, self.site.prefix
        groups, rows = call.groups, call.shape.m
        split = f"from + row + {SIDE} * tile, {site.lda}, to + {32 * groups} * tile,"
        if self.format.parts == 1:
            split = f"polydl_join_{'pairs' if self.format.group == 2 else 'fours'}({split}"
        else:
            split = f"polydl_split_pairs({split} {32 * groups} * tiles,"
        return "\n".join(
            [
                f"static void {name}_panel(const {site.element} *a, int row, int tiles, long count, "
                "unsigned short *to)",
                "{",
                "  for (long r = 0; r < count; ++r)",
                f"    for (int step = 0; step < {call.steps}; ++step, to += {self.format.parts * 32 * groups} * tiles)",
                "      for (int tile = 0; tile < tiles; ++tile) {",
                f"        const int left = {rows} - row - {SIDE} * tile;",
                f"        const {site.element} *from = a + {prefix}_offsets_a[r] + {call.step * site.lda}L * step;",
                f"        {split} {groups}, left < {SIDE} ? left : {SIDE});",
                "      }",
                "}",
            ]
        )

    def _what_is_held(self, operand: str, number: int) -> tuple[tuple[str, object], ...]:
        """What tells one split operand from another: where it begins, how much of it, for which shape, since when."""
        return ("from", operand), ("count", "count"), ("shape", number), ("round", f"{self.site.prefix}_round")

    def _is_held(self, place: str, operand: str, number: int) -> str:
        return " && ".join(f"{place}.{name} == {value}" for name, value in self._what_is_held(operand, number))

    def _hold(self, place: str, operand: str, number: int) -> list[str]:
        return [f"  {place}.{name} = {value};" for name, value in self._what_is_held(operand, number)]

    def _all_of_a(self, name: str, number: int, call: Blocks) -> str:
        """A function that splits all of A, panel by panel, unless it finds it split."""
        prefix = self.site.prefix
        held, side = f"{prefix}_held_a", 2 * SIDE
        find = ["  const int slot = 0;"]
        if self.site.again_a:
            find = [
                f"  for (int slot = 0; slot < {self.slots}; ++slot)",
                f"    if ({self._is_held(f'{held}[slot]', 'a', number)})",
                f"      return {prefix}_parts_a[slot];",
                f"  const int slot = {prefix}_next_a;",
                f"  {prefix}_next_a = (slot + 1) % {self.slots};",
                *self._hold(f"{held}[slot]", "a", number),
            ]
        return "\n".join(
            [
                f"static const unsigned short *{name}(const {self.site.element} *a, long count)",
                "{",
                *find,
                f"  for (int row = 0; row < {call.shape.m}; row += {side})",
                f"    {name}_panel(a, row, {call.shape.m} - row > {SIDE} ? 2 : 1, count, "
                f"{prefix}_parts_a[slot] + row * {call.per_row} * count);",
                f"  return {prefix}_parts_a[slot];",
                "}",
            ]
        )

    def _split_b(self, name: str, number: int, call: Blocks) -> str:
        site, prefix = self.site, self.site.prefix
        held, columns = f"{prefix}_held_b", call.columns
        plane = columns.length
        head = [f"static const {self.part_b} *{name}(const {site.type_b} *b, long count)", "{"]
        if site.again_b:
            head += [
                f"  if ({self._is_held(held, 'b', number)})",
                f"    return {prefix}_parts_b;",
                *self._hold(held, "b", number),
            ]
        copies = [
            f"  static const long runs[][3] = {{{', '.join(f'{{{a}, {b}, {c}}}' for a, b, c in columns.runs)}}};",
            "  (void)count;",
            f"  for (int run = 0; run < {len(columns.runs)}; ++run)",
            f"    polydl_split_run(b + runs[run][0], {prefix}_parts_b + runs[run][1], {plane}, runs[run][2]);",
        ]
        if columns.by_column:
            n, k, step = call.shape.n, call.shape.k, call.step
            per_product = call.steps * columns.advance
            copies = [
                "  for (long r = 0; r < count; ++r)",
                f"    for (int q = 0; q < {site.rows}; ++q)",
                f"      for (int j = 0; j < {n}; ++j) {{",
                f"        const {site.type_b} *from = b + {prefix}_offsets_b[r] + {prefix}_rows_b[q] + "
                f"j * {site.stride_bn}L;",
                f"        {self.part_b} *to = {prefix}_parts_b + r * {per_product} + (q * {n} + j) * {columns.stride};",
            ]
            split = f"polydl_split_run({{}} + {step} * step, to + {columns.advance} * step, {plane}, {step});"
            if self.format.parts > 1 and site.stride_bk != 1:
                copies += [
                    f"        float column[{k}];",
                    f"        for (int l = 0; l < {k}; ++l)",
                    f"          column[l] = from[l * {site.stride_bk}L];",
                ]
            copies.append(f"        for (int step = 0; step < {call.steps}; ++step)")
            if self.format.parts > 1:
                copies.append("          " + split.format("from" if site.stride_bk == 1 else "column"))
            else:
                copies += [
                    f"          for (int l = 0; l < {step}; ++l)",
                    f"            to[step * {columns.advance} + l] = from[(step * {step} + l) * {site.stride_bk}L];",
                ]
            copies.append("      }")
        return "\n".join([*head, *copies, f"  return {prefix}_parts_b;", "}"])

    def _run(self, name: str, call: Blocks) -> str:
        site, prefix, shape, columns = self.site, self.site.prefix, call.shape, call.columns
        rest = shape.m % (2 * SIDE)
        whole = shape.m // (2 * SIDE)
        configurations = Configurations(call.groups)
        entries = []
        for place in range(0, len(call.blocks), 2):
            one = call.blocks[place]
            two = call.blocks[place + 1] if place + 1 < len(call.blocks) else None
            used = (one[2], two[2] if two else 1)
            fields: list[int] = []
            for row, first, _ in (one, two or one):
                fields += [
                    row * len(site.offsets_b),
                    first * columns.stride,
                    site.rows_c[row] + first * site.ldc,
                ]
            entries.append([*fields, int(two is not None), *configurations.of(used, shape.m)])
        starts = [start for row in columns.starts for start in row]
        common = (
            f"{columns.length}, {columns.stride}, {columns.advance}, c + block[2] + at, c + block[5] + at, {site.ldc}, "
            f"count, {call.steps}, {call.groups}, {_kind(site)}, first"
        )
        where = "parts_b + block[1], parts_b + block[4], starts + block[0], starts + block[3]"

        # Two rows of a tile to be split with each step of k: those of two tiles, over all blocks.
        units = -(-2 * call.groups // -(-len(call.blocks) // 2)) if self.splits_in_passing else 0

        def walk(end: str, wide: int, column: int, units: int, height: int) -> list[str]:
            split: list[str] = []
            rows = f"&rows, {units}, {site.lda}" if units else "0, 0, 0"

            def products(deep: int, fetched: str) -> str:
                operands = f"parts_a, parts_a, {where}, {common}, {wide}, {deep}"
                return f"polydl_tile_block({operands}, 0, 0, 0, {rows}, {fetched});"

            if site.again_a:
                before, after = [], [f"    parts_a += {SIDE * (1 + wide) * call.per_row} * count;"]
            elif units:
                buffer, beyond = f"{prefix}_parts_a[{{}} / {2 * SIDE} % 2]", f"at + {2 * SIDE}"
                left = f"{beyond} < {end} ? {2 * call.groups * call.steps} * count : 0"
                before = [
                    f"    const unsigned short *parts_a = {buffer.format('at')};",
                    f"    struct polydl_rows rows = {{a + {beyond}, {prefix}_offsets_a, {call.steps}, 0, "
                    f"{left}, {buffer.format(f'({beyond})')}}};",
                ]
                after = []
                split = [f"      rows.unit += {units * call.steps} * count;"]
            else:
                before, after = [f"    {name}_a_panel(a, at, {1 + wide}, count, {prefix}_parts_a[0]);"], []
            return [
                f"  for (; at < {end}; at += {2 * SIDE}) {{",
                *before,
                f"    for (int i = 0; i < {len(entries)}; ++i) {{",
                "      const long *block = blocks[i];",
                *products_of_blocks(site, call, column, 6, height, products),
                *split,
                "    }",
                *after,
                "  }",
            ]

        parts_a = f"{name}_a(a, count)" if site.again_a else f"{site.prefix}_parts_a[0]"
        body = []
        if whole and units:
            body.append(f"  {name}_a_panel(a, 0, 2, count, {prefix}_parts_a[0]);")
        if whole:
            body += walk(str(whole * 2 * SIDE), 1, 7, units, 2 * SIDE)
        if rest:
            body += walk(str(shape.m), int(rest > SIDE), 8, 0, rest)
        return "\n".join(
            [
                f"static void {name}({self.operands}, long count{self.more})",
                "{",
                configurations.text(),
                f"  static const long blocks[][9] = {{\n{c_table(entries)}\n  }};",
                *finished_blocks(site, call),
                f"  static const long starts[] = {{{', '.join(map(str, starts))}}};",
                f"  const {self.part_b} *parts_b = {f'{name}_b(b, count)' if columns.runs else 'b'};",
                *([f"  const unsigned short *parts_a = {parts_a};"] if rest or not units else []),
                "  long set = -1, at = 0;",
                *body,
                "  POLYDL_TILE_RELEASE();",
                "}",
            ]
        )


def _operands(site: GemmSite) -> str:
    return f"const {site.element} *a, const {site.type_b} *b, {site.accumulator} *c"


def _kind(site: GemmSite) -> str:
    """What amx_support.c calls the types of the operands."""
    if site.element in _SIGNS:
        return f"POLYDL_{_SIGNS[site.type_b]}_{_SIGNS[site.element]}"
    return "POLYDL_OF_BFLOAT16S" if site.element == BFLOAT16 else "POLYDL_OF_FLOATS"


def _loops(site: GemmSite) -> str:
    """Where the compiler's target has no tiles, or the system does not let the process use them."""
    prefix = site.prefix
    tables = [
        table(f"{prefix}_{name}", values)
        for name, values in (
            ("offsets_a", site.offsets_a),
            ("offsets_b", site.offsets_b),
            ("rows_b", site.rows_b),
            ("rows_c", site.rows_c),
        )
    ]
    factor = f"b[{prefix}_rows_b[q] + {prefix}_offsets_b[r] + j * {site.stride_bn} + l * {site.stride_bk}]"
    value = "column[i]"
    if site.element == BFLOAT16:
        factor, value = widened(factor), widened(value)
    return "\n".join(
        [
            *tables,
            f"static void {prefix}_loops({_operands(site)}, int last_m, int last_n, int last_k, long count{FIRST})",
            "{",
            f"  const long {lengths(site)};",
            f"  for (int q = 0; q < {site.rows}; ++q)",
            "    for (long j = 0; j < n; ++j) {",
            f"      {site.accumulator} *to = c + {prefix}_rows_c[q] + j * {site.ldc};",
            "      if (first)",
            "        for (long i = 0; i < m; ++i)",
            "          to[i] = 0;",
            "      for (long r = 0; r < count; ++r)",
            "        for (long l = 0; l < k; ++l) {",
            f"          const {site.element} *column = a + {prefix}_offsets_a[r] + l * {site.lda};",
            f"          const {site.accumulator} factor = {factor};",
            "          for (long i = 0; i < m; ++i)",
            f"            to[i] += {value} * factor;",
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
    if not {"amx_bf16", "amx_int8", "amx_tile", "avx512bw"} <= set(known.split()):
        return "the processor has no tiles of bfloat16 and bytes (AMX)"
    # arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA)
    if CDLL(None).syscall(c_long(158), c_long(0x1023), c_long(18)) != 0:
        return "the system does not let processes use tile registers"
    return None


@dataclass(frozen=True)
class Amx(Microkernel):
    """The ``c-amx`` microkernel: bytes, bfloat16, and float to its full accuracy."""

    name: str = "c-amx"
    reference: str = REFERENCE
    patterns: tuple[StridePattern, ...] = (
        StridePattern("contiguous", ("one", "one", "zero"), ("any", "zero", "any"), ("zero", "any", "any")),
    )
    elements: tuple[tuple[str, ...], ...] = (
        ("float", "float"),
        (BFLOAT16, "float"),
        *((*dict.fromkeys(operands), "int") for operands in product(_SIGNS, repeat=2)),
    )

    abilities: frozenset[Ability] = frozenset({"rows", "overwrite", "ahead", "copies", "rounds", "after"})
    family: str = "tile registers"

    def unavailable(self) -> str | None:
        return _missing()

    def rejects(self, shape: GemmShape) -> str | None:
        kind = FORMATS[shape.element]
        if kind.step_of(shape.k) < _LEAST_GROUPS * kind.group:
            least, most = _LEAST_GROUPS * kind.group, kind.longest
            return f"no multiple of {kind.group} from {least} to {most} divides k = {shape.k}"
        if shape.m < SIDE or shape.n * shape.rows < SIDE:
            return f"{shape.m} by {shape.n * shape.rows} elements don't fill a tile"
        width = kind.parts * kind.bytes
        if width * shape.m * shape.k * shape.batch > _MOST:
            return f"A, split, takes more than {_MOST >> 10} KiB"
        if width * shape.n * shape.rows * shape.k > _MOST:
            return f"B, split, takes more than {_MOST >> 10} KiB"
        return PLAIN_C.rejects(shape)

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:  # noqa: ARG002
        """Large ones: an operand is split once for all that a call does with it."""
        if role == "k":
            wanted, whole = [256, 128, 512, 64], extent <= 512
        elif role == "m":
            wanted, whole = [128, 64, 256, 32, 512], extent <= 512
        else:
            even = sorted((d for d in divisors(extent) if 48 <= d <= 512), key=lambda d: (d / padded(d), d))
            wanted, whole = [*reversed(even[-4:]), 256, 128, 64], extent <= 1024
        sizes = [extent] if whole else []
        sizes += [size for size in wanted if size < extent]
        return tuple(dict.fromkeys(sizes)) or (extent,)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:  # noqa: ARG002
        along_m, along_n = -(-shape.m // SIDE), -(-shape.n * shape.rows // SIDE)
        kind = FORMATS[shape.element]
        steps = shape.batch * shape.k // max(2, kind.step_of(shape.k))
        split = shape.k * shape.batch * shape.m
        if kind.parts > 1:
            split += shape.k * shape.n * shape.rows
        return (
            _OVERHEAD
            + along_m * along_n * (steps * kind.products * PRODUCT_CYCLES + _TILE_OF_C)
            + SPLIT_SHARE * kind.cycles * split
        )

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:  # noqa: ARG002
        setup = "#ifdef POLYDL_HAS_TILES\n  polydl_tiles = polydl_ask_for_tiles();\n#endif"
        start = ""
        writer = _Writer(site)
        if site.again_a or writer.keeps_b:
            # What was split in an earlier call of the function may have changed.
            start = (
                f"#ifdef POLYDL_HAS_TILES\n    __atomic_add_fetch(&{site.prefix}_round, 1, __ATOMIC_RELAXED);\n#endif"
            )
        return EmittedSite((), writer.text(), setup, start)

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return PLAIN_C.call(site, arguments)


AMX = Amx()
