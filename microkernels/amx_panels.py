"""Calls in tile registers that split two tiles of B while the two before are multiplied with all rows of A.

Splitting is work for the vector units, which tile products leave idle. It pays where no later call reads the same B;
the tiles are still in the first or second cache when they are read.
"""

from __future__ import annotations

from polydl.contracts import GemmShape, GemmSite
from polydl.machine.core import Core
from polydl.microkernels.amx_operands import (
    FORMATS,
    SIDE,
    STEP,
    Blocks,
    TileRegisterSizes,
    c_table,
    finished_blocks,
    kept_bytes,
    length_of_a,
    products_of_blocks,
)
from polydl.microkernels.amx_site import further_in_c

_PARTS = FORMATS["float"].parts
_TILE = SIDE * STEP  # bfloat16s
# The part of the second-level cache up to which B is better kept split.
_SMALL = 0.125
# Rows of A from which on a large B is split in passing though later calls read it too. A limit of shapes, one for all
# processors with tiles: the products of an element of B grow with the rows, its splitting does not. By the usual cycles
# of both (``Core.tile_split_cycles``, ``Core.tile_product_cycles``) some 45 rows take as long; the rest is margin.
_ROWS = 256


def walks_panels(call: Blocks, core: Core) -> bool:
    """Whether B is split in passing: its columns are contiguous and read by no other product, and A fits."""
    return call.columns.by_column and fits_panels(call.shape, call.columns.length, core)


def fits_panels(shape: GemmShape, elements: int, core: Core) -> bool:
    """Whether B, so many elements, is split in passing where no two products of a call have columns in common.

    What other calls read too is kept split instead, unless it is large and A has rows enough to hide its splitting.
    """
    kept = elements * _PARTS * 2
    return (
        FORMATS[shape.element].parts == _PARTS
        and shape.stride_bk == 1
        and (shape.anew_b == 1.0 or (kept > _SMALL * core.second_cache_bytes and shape.m >= _ROWS))
        and 2 * length_of_a(shape, whole=True) <= kept_bytes(core)
        and 2 * 2 * panel_elements(shape) <= kept_bytes(core)
    )


def panel_elements(shape: GemmShape) -> int:
    """bfloat16s of two tiles of B, split, for all steps of all products."""
    return shape.batch * FORMATS[shape.element].products_along(shape.k) * _PARTS * 2 * _TILE


def panels_run(name: str, site: GemmSite, call: Blocks, core: Core) -> str:
    """The C function of a call; that which splits A is called ``{name}_a``."""
    prefix, rows = site.prefix, call.shape.m
    rest = rows % (2 * SIDE)
    configurations = TileRegisterSizes(call.groups)
    entries: list[list[int]] = []
    columns: list[int] = []
    for place in range(0, len(call.blocks), 2):
        pair = call.blocks[place : place + 2]
        widths = pair[0][2], pair[1][2] if len(pair) > 1 else 0
        outputs = [site.rows_c[row] + first * site.ldc for row, first, _ in (pair[0], pair[-1])]
        entries.append([*widths, len(columns), *outputs, *configurations.of((widths[0], widths[1] or 1), rows)])
        for row, first, width in pair:
            for column in range(first, first + width):
                # Blocks may go on with the columns of the next rows.
                more, within = divmod(column, call.shape.n)
                columns.append(site.rows_b[row + more] + within * site.stride_bn)
    entries.append([0] * len(entries[0]))  # nothing is split while the last ones are multiplied
    # Nothing is read there but what is prefetched; compilers cannot see how far columns are looked up.
    columns += [0] * max(2 * SIDE, core.tile_ahead_columns)
    starts = [product * call.steps * _PARTS * 2 * _TILE for product in range(call.shape.batch)]
    panel = panel_elements(call.shape)
    passes = -(-rows // (2 * SIDE))
    share = -(-2 * SIDE // passes)

    def products(wide: int, configuration: int, height: int) -> list[str]:
        def block(deep: int, fetched: str) -> str:
            return (
                f"polydl_tile_block(from_a, from_a + {SIDE * (1 + wide) * call.per_row} * count, "
                f"panel, panel + {_TILE}, starts, starts, {2 * _TILE}, {STEP}, "
                f"{_PARTS * 2 * _TILE}, c + block[3] + at, c + block[4] + at, {site.ldc}, count, {call.steps}, "
                f"{call.groups}, POLYDL_OF_FLOATS, first, {wide}, {deep}, &next, {share}, {prefix}_offsets_b, "
                f"{call.last}, 0, 0, 0, {fetched});"
            )

        return products_of_blocks(site, call, configuration, 1, height, block)

    body = []
    if rows > rest:
        body += [
            f"    for (; at < {rows - rest}; at += {2 * SIDE}, next.begin += {share}) {{",
            *products(1, 5, 2 * SIDE),
            f"      from_a += {2 * SIDE * call.per_row} * count;",
            "    }",
        ]
    if rest:
        body += ["    {", *products(int(rest > SIDE), 6, rest), "    }"]
    return "\n".join(
        [
            f"static void {name}(const float *a, const float *b, float *c, long count{further_in_c(site)})",
            "{",
            configurations.text(),
            f"  static const long blocks[][7] = {{\n{c_table(entries)}\n  }};",
            *finished_blocks(site, call),
            f"  static const long columns[] = {{{', '.join(map(str, columns))}}};",
            f"  static const long starts[] = {{{', '.join(map(str, starts))}}};",
            f"  const unsigned short *parts_a = {name}_a(a, count);",
            "  struct polydl_columns next = {b, columns, blocks[0][0], blocks[0][0] + blocks[0][1], 0, 0};",
            "  for (long r = 0; r < count; ++r)",
            f"    polydl_split_columns(&next, 0, 0, {2 * SIDE * call.steps}, {call.steps}, {prefix}_offsets_b[r], "
            f"{prefix}_parts_b + starts[r], {call.step}, {call.last});",
            "  long set = -1;",
            f"  for (int i = 0; i < {len(entries) - 1}; ++i) {{",
            "    const long *block = blocks[i], *after = blocks[i + 1];",
            f"    const unsigned short *panel = {prefix}_parts_b + i % 2 * {panel}, *from_a = parts_a;",
            "    next = (struct polydl_columns){b, columns + after[2], after[0], after[0] + after[1], 0, "
            f"{prefix}_parts_b + (i + 1) % 2 * {panel}}};",
            "    long at = 0;",
            *body,
            "  }",
            "  POLYDL_TILE_RELEASE();",
            "}",
        ]
    )
