"""Writes the C of ``c-amx`` for one site: buffers, functions that split operands into them, and tile products."""

from __future__ import annotations

from polydl.contracts import GemmSite
from polydl.machine.core import Core
from polydl.microkernels.amx_cycles import copies_of_a
from polydl.microkernels.amx_operands import (
    FORMATS,
    SIDE,
    Blocks,
    TileRegisterSizes,
    blocks_of,
    c_table,
    finished_blocks,
    length_of_a,
    products_of_blocks,
)
from polydl.microkernels.amx_panels import panel_elements, panels_run, walks_panels
from polydl.microkernels.amx_site import (
    further_in_c,
    loops_in_c,
    operands_in_c,
    run_in_c,
    run_name,
    shared,
    support,
    types_in_c,
)


class Writer:
    """Writes the C of one site, with the blocks of its calls and the buffers of a thread as a core's caches suggest."""

    def __init__(self, site: GemmSite, core: Core) -> None:
        self.site = site
        self.core = core
        self.calls = {index: blocks_of(site, shape, core) for index, shape in site.shapes()}
        self.panels = all(walks_panels(call, core) for call in self.calls.values())
        self.splits_all_a = site.keeps_a or self.panels
        self.keeps_b = site.keeps_b and not self.panels
        self.slots = 1
        self.operands = operands_in_c(site)
        longest = max(length_of_a(call.shape, self.splits_all_a) for call in self.calls.values())
        if site.keeps_a:
            self.slots = min(copies_of_a(call.shape, core) for call in self.calls.values())
        self.format = FORMATS[site.element]
        whole = all(call.last == call.step for call in self.calls.values())
        self.splits_in_passing = self.format.parts > 1 and not self.splits_all_a and site.stride_am == 1 and whole
        if self.splits_in_passing:
            self.slots = 2
        # The type of what is loaded of B.
        self.part_b = site.type_b if self.format.parts == 1 else "unsigned short"
        parts = self.format.parts
        lengths = (
            2 * panel_elements(c.shape) if self.panels else parts * c.columns.length for c in self.calls.values()
        )
        self.longest = longest, max(lengths)

    def text(self) -> str:
        """The C at file scope: the functions of all shapes of calls, and the one that chooses between them."""
        site = self.site
        parts = [
            support(self.core),
            *([shared("amx_rows.c")] if site.stride_am != 1 else []),
            loops_in_c(site),
            "#ifdef POLYDL_HAS_TILES",
            self._buffers(),
        ]
        for number, (index, call) in enumerate(self.calls.items()):
            name = run_name(site, index)
            parts.append(self._panel_a(f"{name}_a", call))
            if self.splits_all_a:
                parts.append(self._all_of_a(f"{name}_a", number, call))
            if call.columns.runs and not self.panels:
                parts.append(self._split_b(f"{name}_b", number, call))
            parts.append(panels_run(name, site, call, self.core) if self.panels else self._run(name, call))
        return "\n".join([*parts, "#endif", run_in_c(site)])

    def _buffers(self) -> str:
        prefix = self.site.prefix
        held = f"static _Thread_local struct {{ const {self.site.element} *from; long count, round; int shape; }}"
        lines = []
        if self.site.keeps_a or self.keeps_b:
            lines.append(f"static long {prefix}_round = 1;")
        if self.site.keeps_a:
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
        if site.stride_am != 1:
            apart = site.stride_am * (self.format.bytes if self.format.parts == 1 else 1)
            split = f"from + (row + {SIDE} * tile) * {site.stride_am}L, {apart}, to + {32 * groups} * tile,"
            if self.format.parts == 1:
                split = f"polydl_transpose_groups({split}"
            else:
                split = f"polydl_transpose_split({split} {32 * groups} * tiles,"
        elif self.format.parts == 1:
            split = f"polydl_join_{'pairs' if self.format.group == 2 else 'fours'}({split}"
        else:
            split = f"polydl_split_pairs({split} {32 * groups} * tiles, {call.length},"
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
        if self.site.keeps_a:
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
        if site.keeps_b:
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
            split = f"polydl_split_run({{}} + {step} * step, to + {columns.advance} * step, {plane}, {call.length});"
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
        """The function that computes one shape: rows of C two tiles at a time, and in each two blocks of columns."""
        prefix, shape, columns = self.site.prefix, call.shape, call.columns
        rest = shape.m % (2 * SIDE)
        whole = shape.m - rest
        configurations = TileRegisterSizes(call.groups)
        entries = self._pairs(call, configurations)
        starts = [start for row in columns.starts for start in row]
        # Two rows of a tile to be split with each step of k: those of two tiles, over all blocks.
        units = -(-2 * call.groups // len(entries)) if self.splits_in_passing else 0
        parts_a = f"{name}_a(a, count)" if self.site.keeps_a else f"{prefix}_parts_a[0]"
        body = []
        if whole and units:
            body.append(f"  {name}_a_panel(a, 0, 2, count, {prefix}_parts_a[0]);")
        if whole:
            body += self._rows(name, call, whole, 2 * SIDE, len(entries), units)
        if rest:
            body += self._rows(name, call, shape.m, rest, len(entries), 0)
        return "\n".join(
            [
                f"static void {name}({self.operands}, long count{further_in_c(self.site)})",
                "{",
                configurations.text(),
                f"  static const long blocks[][9] = {{\n{c_table(entries)}\n  }};",
                *finished_blocks(self.site, call),
                f"  static const long starts[] = {{{', '.join(map(str, starts))}}};",
                f"  const {self.part_b} *parts_b = {f'{name}_b(b, count)' if columns.runs else 'b'};",
                *([f"  const unsigned short *parts_a = {parts_a};"] if rest or not units else []),
                "  long set = -1, at = 0;",
                *body,
                "  POLYDL_TILE_RELEASE();",
                "}",
            ]
        )

    def _pairs(self, call: Blocks, configurations: TileRegisterSizes) -> list[list[int]]:
        """A row of numbers for each two blocks of columns, the second of which the last row may lack.

        Of each block, where it begins among ``starts``, in the rows of B and in C; then whether there are two, and the
        configurations of tiles for whole rows of tiles and for the last ones.
        """
        site = self.site
        entries = []
        for place in range(0, len(call.blocks), 2):
            one = call.blocks[place]
            two = call.blocks[place + 1] if place + 1 < len(call.blocks) else None
            used = (one[2], two[2] if two else 1)
            fields: list[int] = []
            for row, first, _ in (one, two or one):
                fields += [
                    row * len(site.offsets_b),
                    first * call.columns.stride,
                    site.rows_c[row] + first * site.ldc,
                ]
            entries.append([*fields, int(two is not None), *configurations.of(used, call.shape.m)])
        return entries

    def _rows(self, name: str, call: Blocks, end: int, height: int, pairs: int, units: int) -> list[str]:
        """The loop over rows of C up to ``end``, ``height`` at a time, in one or two tiles, with all pairs of blocks.

        With ``units``, so many parts of the next rows of A are split with each step of k.
        """
        wide = int(height > SIDE)
        site, prefix, columns = self.site, self.site.prefix, call.columns
        rows = f"&rows, {units}, {site.lda}" if units else "0, 0, 0"

        def products(deep: int, fetched: str) -> str:
            return (
                "polydl_tile_block(parts_a, parts_a, parts_b + block[1], parts_b + block[4], starts + block[0], "
                f"starts + block[3], {columns.length}, {columns.stride}, {columns.advance}, c + block[2] + at, "
                f"c + block[5] + at, {site.ldc}, count, {call.steps}, {call.groups}, {types_in_c(site)}, first, "
                f"{wide}, {deep}, 0, 0, 0, 0, {rows}, {fetched});"
            )

        before, split, after = [f"    {name}_a_panel(a, at, {1 + wide}, count, {prefix}_parts_a[0]);"], [], []
        if site.keeps_a:
            before, after = [], [f"    parts_a += {SIDE * (1 + wide) * call.per_row} * count;"]
        elif units:
            buffer, beyond = f"{prefix}_parts_a[{{}} / {2 * SIDE} % 2]", f"at + {2 * SIDE}"
            left = f"{beyond} < {end} ? {2 * call.groups * call.steps} * count : 0"
            before = [
                f"    const unsigned short *parts_a = {buffer.format('at')};",
                f"    struct polydl_rows rows = {{a + {beyond}, {prefix}_offsets_a, {call.steps}, 0, "
                f"{left}, {buffer.format(f'({beyond})')}}};",
            ]
            split = [f"      rows.unit += {units * call.steps} * count;"]
        # Places of the configurations in the rows of `_pairs`.
        configuration = 7 if height == 2 * SIDE else 8
        return [
            f"  for (; at < {end}; at += {2 * SIDE}) {{",
            *before,
            f"    for (int i = 0; i < {pairs}; ++i) {{",
            "      const long *block = blocks[i];",
            *products_of_blocks(site, call, configuration, 6, height, products),
            *split,
            "    }",
            *after,
            "  }",
        ]
