"""The C that sites of all microkernels for tile registers (AMX) have in common, and what these kernels multiply."""

from __future__ import annotations

import functools
from itertools import product
from pathlib import Path

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.contracts import GemmSite
from polydl.machine.core import Core
from polydl.microkernels.amx_operands import finished_rows
from polydl.microkernels.plain_c_blocks import AFTER, AHEAD, FIRST, lengths, offset_tables, which_tiles, widened

SIGNS = {"signed char": "SIGNED", "unsigned char": "PLAIN"}
"""Types of bytes, and what amx_support.c calls them."""
#: (A, C) or (A, B, C) of what tile instructions multiply as it is.
NARROW: tuple[tuple[str, ...], ...] = (
    (BFLOAT16, "float"),
    *((*dict.fromkeys(operands), "int") for operands in product(SIGNS, repeat=2)),
)
#: At the start of the process: whether the system lets it use tile registers.
SETUP = "#ifdef POLYDL_HAS_TILES\n  polydl_tiles = polydl_ask_for_tiles();\n#endif"


@functools.cache
def shared(name: str) -> str:
    """C that sites share."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8").rstrip("\n")


def support(core: Core) -> str:
    """The C that all sites share, with a core's distances of prefetches."""
    distances = {"ROWS": core.tile_ahead_rows, "COLUMNS": core.tile_ahead_columns}
    text = shared("amx_support.c")
    for name, distance in distances.items():
        text = text.replace(f"@{name}_AHEAD@", str(distance))
    return text


def run_name(site: GemmSite, index: tuple[int, int, int]) -> str:
    """The function for calls on the full (0) or last (1) tiles of m, n and k."""
    return f"{site.prefix}_run_{''.join(map(str, index))}"


def further_in_c(site: GemmSite) -> str:
    """The parameters behind ``count`` of the functions of a site."""
    return FIRST + (AHEAD if site.ahead else "") + (AFTER.format(prefix=site.prefix) if site.after else "")


def run_in_c(site: GemmSite) -> str:
    """The function that chooses among those of all shapes of calls, and the loops where there are no tile registers."""
    prefix = site.prefix
    arguments = f"a, b, c, count, first{', ahead' if site.ahead else ''}{', last, operands' if site.after else ''}"
    cases = [
        line
        for index, _ in site.shapes()
        for line in (f"    if ({which_tiles(site, index)})", f"      {run_name(site, index)}({arguments});")
    ]
    return "\n".join(
        [
            f"static void {prefix}_run({operands_in_c(site)}, int last_m, int last_n, int last_k, "
            f"long count{further_in_c(site)})",
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
    )


def operands_in_c(site: GemmSite) -> str:
    """The parameters for both operands and the output of the functions of a site."""
    return f"const {site.element} *a, const {site.type_b} *b, {site.accumulator} *c"


def types_in_c(site: GemmSite) -> str:
    """What amx_support.c calls the types of the operands."""
    if site.element in SIGNS:
        return f"POLYDL_{SIGNS[site.type_b]}_{SIGNS[site.element]}"
    return "POLYDL_OF_BFLOAT16S" if site.element == BFLOAT16 else "POLYDL_OF_FLOATS"


def loops_in_c(site: GemmSite) -> str:
    """Where the compiler's target has no tiles, or the system does not let the process use them."""
    prefix = site.prefix
    tables = offset_tables(site)
    factor = f"b[{prefix}_rows_b[q] + {prefix}_offsets_b[r] + j * {site.stride_bn} + l * {site.stride_bk}]"
    value = "column[i]" if site.stride_am == 1 else "row[l]"
    if site.element == BFLOAT16:
        factor, value = widened(factor), widened(value)
    start = f"const {site.element} *{{}} = a + {prefix}_offsets_a[r]"
    if site.stride_am == 1:
        sums = [
            "        for (long l = 0; l < k; ++l) {",
            f"          {start.format('column')} + l * {site.lda};",
            f"          const {site.accumulator} factor = {factor};",
            "          for (long i = 0; i < m; ++i)",
            f"            to[i] += {value} * factor;",
        ]
    else:
        sums = [
            "        for (long i = 0; i < m; ++i) {",
            f"          {start.format('row')} + i * {site.stride_am}L;",
            f"          {site.accumulator} sum = 0;",
            "          for (long l = 0; l < k; ++l)",
            f"            sum += {value} * {factor};",
            "          to[i] += sum;",
        ]
    return "\n".join(
        [
            *tables,
            f"static void {prefix}_loops({operands_in_c(site)}, int last_m, int last_n, int last_k, long count{FIRST})",
            "{",
            f"  const long {lengths(site)};",
            f"  for (int q = 0; q < {site.rows}; ++q)",
            "    for (long j = 0; j < n; ++j) {",
            f"      {site.accumulator} *to = c + {prefix}_rows_c[q] + j * {site.ldc};",
            "      if (first)",
            "        for (long i = 0; i < m; ++i)",
            "          to[i] = 0;",
            "      for (long r = 0; r < count; ++r)",
            *sums,
            "        }",
            "    }",
            "}",
        ]
    )
