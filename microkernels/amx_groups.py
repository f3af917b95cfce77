"""Products in tile registers (AMX) of operands that lie as these hold them: nothing is copied before it is multiplied.

Both operands hold groups of k side by side, two bfloat16s or four bytes, as libraries pack weights for these
instructions (VNNI): A[k/4][m][4] and B[n][k/4][4], say. The group is the role k; the loop over groups and all others
that sum are the batch. Up to sixteen groups, evenly apart in A and side by side in B, are one tile product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.contracts import Ability, CallArguments, EmittedSite, GemmShape, GemmSite, Microkernel, StridePattern
from polydl.divisors import divisors
from polydl.ir.ingredients import Ingredients
from polydl.ir.numerics import EXACT, FLUSHED, Rounding
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE
from polydl.microkernels.amx import AMX
from polydl.microkernels.amx_operands import (
    FORMATS,
    SIDE,
    Blocks,
    TileRegisterSizes,
    blocks_in_place,
    c_table,
    finished_blocks,
    products_of_blocks,
)
from polydl.microkernels.amx_site import (
    NARROW,
    SETUP,
    further_in_c,
    loops_in_c,
    operands_in_c,
    run_in_c,
    run_name,
    shared,
    support,
    types_in_c,
)
from polydl.microkernels.group_runs import group_run
from polydl.microkernels.plain_c import PLAIN_C

# Groups in a tile product, which takes as long with fewer: as for ``c-amx``.
_LEAST_GROUPS = 8

REFERENCE = """\
for (long q = 0; q < rows; ++q)
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l)
        for (long i = 0; i < m; ++i)
          c[c_rows[q] + i + j * ldc] += a[a_offsets[r] + k * i + l] * b[b_rows[q] + b_offsets[r] + j * stride_bn + l];
"""


def groups_of(site: GemmSite) -> tuple[int, int]:
    """The groups of a tile product, and the elements of A from each to the next.

    They divide the batch of every call. Those of a product are evenly apart in A, all at one distance, and side by side
    in B; where no two are, a product has one.
    """
    groups, apart, _ = group_run(site, SIDE, beside=site.k[0])
    return groups, apart


@dataclass(frozen=True)
class AmxGroups(Microkernel):
    """The ``c-amx-groups`` microkernel."""

    name: str = "c-amx-groups"
    reference: str = REFERENCE
    patterns: tuple[StridePattern, ...] = (
        StridePattern("groups of two", ("one", "two", "zero"), ("any", "zero", "any"), ("zero", "one", "one")),
        StridePattern("groups of four", ("one", "four", "zero"), ("any", "zero", "any"), ("zero", "one", "one")),
    )
    elements: tuple[tuple[str, ...], ...] = NARROW

    abilities: frozenset[Ability] = frozenset({"rows", "overwrite", "ahead", "after"})
    family: str = "tile registers"
    #: The cores that the code is for.
    core: Core = WIDE_CORE

    @property
    def macros(self) -> frozenset[str]:
        return AMX.macros

    def unavailable(self) -> str | None:
        return AMX.unavailable()

    def rejects(self, shape: GemmShape) -> str | None:
        group = FORMATS[shape.element].group
        if shape.k != group:
            return f"a group of k has {group} steps, not {shape.k}"
        if shape.m < SIDE or shape.n * shape.rows < SIDE:
            return f"{shape.m} by {shape.n * shape.rows} elements don't fill a tile"
        if _most_groups(shape.batch) < _LEAST_GROUPS:
            return f"no number from {_LEAST_GROUPS} to {SIDE} divides the {shape.batch} groups of a sum"
        return PLAIN_C.rejects(shape)

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        """Those of ``c-amx``; of k, one group."""
        if role == "k":
            return (extent,)
        return AMX.sizes(role, extent, vector_elements)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:  # noqa: ARG002
        tiles = -(-shape.m // SIDE) * -(-shape.n * shape.rows // SIDE)
        steps = shape.batch // _most_groups(shape.batch)
        core = self.core
        return core.tile_call_cycles + tiles * (steps * core.tile_product_cycles + core.tile_output_cycles)

    def panel_rows(self, vector_elements: int) -> int:  # noqa: ARG002
        return 2 * SIDE

    def rounding(self, element: str) -> Rounding:
        return Rounding("nothing", 1.0, (FLUSHED,)) if element == BFLOAT16 else EXACT

    def on(self, core: Core) -> AmxGroups:
        return replace(self, core=core)

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:  # noqa: ARG002
        return EmittedSite((), _text(site, self.core), SETUP, "", Ingredients(("immintrin.h",)))

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return PLAIN_C.call(site, arguments)


def _most_groups(batch: int) -> int:
    return max(groups for groups in divisors(batch) if groups <= SIDE)


def _text(site: GemmSite, core: Core) -> str:
    """The C at file scope: the functions of all shapes of calls, and the one that chooses between them."""
    functions = [_run(run_name(site, index), site, blocks_in_place(site, shape)) for index, shape in site.shapes()]
    before = [support(core), shared("amx_groups.c"), loops_in_c(site)]
    return "\n".join([*before, "#ifdef POLYDL_HAS_TILES", *functions, "#endif", run_in_c(site)])


def _run(name: str, site: GemmSite, call: Blocks) -> str:
    """The function that computes one shape: rows of C two tiles at a time, and in each two blocks of columns."""
    lies = groups_of(site)
    sizes = TileRegisterSizes(lies[0])
    entries = [_entry(site, call, place, sizes) for place in range(0, len(call.blocks), 2)]
    rest = call.shape.m % (2 * SIDE)
    parts = ((call.shape.m - rest, 2 * SIDE), (call.shape.m, rest)) if rest else ((call.shape.m, 2 * SIDE),)
    body = [line for end, height in parts if end for line in _rows(site, call, lies, end, height, len(entries))]
    return "\n".join(
        [
            f"static void {name}({operands_in_c(site)}, long count{further_in_c(site)})",
            "{",
            sizes.text(),
            f"  static const long blocks[][7] = {{\n{c_table(entries)}\n  }};",
            *finished_blocks(site, call),
            "  long set = -1, at = 0;",
            *body,
            "  POLYDL_TILE_RELEASE();",
            "}",
        ]
    )


def _entry(site: GemmSite, call: Blocks, place: int, sizes: TileRegisterSizes) -> Sequence[int]:
    """Numbers of two blocks of columns, the second of which the last row may lack.

    Of each block, where it begins in B and in C; then whether there are two, and the sizes of tile registers for whole
    rows of tiles and for the last ones.
    """
    pair = call.blocks[place : place + 2]
    fields: list[int] = []
    for row, first, _ in (pair[0], pair[-1]):
        fields += [site.rows_b[row] + first * site.stride_bn, site.rows_c[row] + first * site.ldc]
    used = pair[0][2], pair[1][2] if len(pair) == 2 else 1
    return [*fields, int(len(pair) == 2), *sizes.of(used, call.shape.m)]


def _rows(site: GemmSite, call: Blocks, lies: tuple[int, int], end: int, height: int, pairs: int) -> list[str]:
    """The loop over rows of C up to ``end``, ``height`` at a time, with all pairs of blocks.

    ``lies`` is what ``groups_of`` says of the site.
    """
    groups, apart = lies
    prefix, width = site.prefix, FORMATS[site.element].bytes

    def products(deep: int, fetched: str) -> str:
        return (
            f"polydl_tile_groups(a + at * {site.stride_am}L, {width * apart}, b + block[0], b + block[2], "
            f"{width * site.stride_bn}, {prefix}_offsets_a, {prefix}_offsets_b, count, {groups}, "
            f"c + block[1] + at, c + block[3] + at, {site.ldc}, {types_in_c(site)}, first, "
            f"{int(height > SIDE)}, {deep}, {fetched});"
        )

    return [
        f"  for (; at < {end}; at += {2 * SIDE}) {{",
        f"    for (int i = 0; i < {pairs}; ++i) {{",
        "      const long *block = blocks[i];",
        *products_of_blocks(site, call, 5 if height == 2 * SIDE else 6, 4, height, products),
        "    }",
        "  }",
    ]


AMX_GROUPS = AmxGroups()
