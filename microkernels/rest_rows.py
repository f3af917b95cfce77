"""Remainder rows: rows of C after the last whole vector, computed as dot products along k.

A vector for one row costs as much as one for sixteen. Where B is contiguous along k, a few rows take less time as dot
products: a row of A is copied so that it is contiguous along k, too, and the lanes of a vector are steps of k. The 49
pixels of a 7x7 image then cost three vectors and a sixteenth, not four.
"""

from __future__ import annotations

from polydl.contracts import GemmShape, GemmSite
from polydl.ir.scop import REAL_BYTES
from polydl.machine.core import Core
from polydl.microkernels.plain_c_blocks import AFTER, FIRST, PLACE, finishes
from polydl.microkernels.shapes import register_blocks

# The part of a vector up to which rows are worth it.
_FEW = 4
# The longest copy of a row, in bytes: half of the smallest first-level cache that processors have, so that it stays
# there while columns of B pass. One for all processors, since it decides which calls have such rows.
_LONGEST = 16 * 1024
# Accumulators that are in registers at a time: with two rows of A and a vector of B they fit into the sixteen of AVX2,
# and no x86-64 core needs more than ten to start multiply-adds without waiting.
_SUMS = 12


def rest_rows(shape: GemmShape, width: int) -> int:
    """The number of a call's last rows that are computed as dot products, for vectors of ``width`` elements."""
    rest = shape.m % width
    length = shape.k * shape.batch * REAL_BYTES.get(shape.element, _LONGEST + 1)
    worth = shape.m > width and 0 < rest <= width // _FEW and shape.n * shape.rows > rest
    return rest if worth and shape.stride_bk == 1 and shape.k % width == 0 and length <= _LONGEST else 0


def rest_cycles(rest: int, shape: GemmShape, width: int, core: Core) -> float:
    """Core cycles that the dot products of a call take."""
    steps, columns = shape.k * shape.batch, shape.n * shape.rows
    return rest * (steps * core.row_copy_cycles + columns * (steps / width / core.fma_per_cycle + core.lane_sum_cycles))


def copied_rows(site: GemmSite, shape: GemmShape, rest: int) -> list[str]:
    """The C that copies the last ``rest`` rows of A, for all products of a call, into the array ``rest``."""
    steps = shape.k * shape.batch
    first = shape.m - rest
    return [
        f"  {site.element} rest[{rest * steps}] __attribute__((aligned(64)));",
        "  for (long r = 0; r < count; ++r) {",
        f"    const {site.element} *ar = a + {site.prefix}_offsets_a[r] + {first};",
        f"    for (long l = 0; l < {shape.k}; ++l) {{",
        *(f"      rest[{row * steps} + r * {shape.k} + l] = ar[l * {site.lda} + {row}];" for row in range(rest)),
        "    }",
        "  }",
    ]


def dots_function(
    name: str, site: GemmSite, width: int, rest: int, steps: int, columns_b: tuple[int, ...], columns_c: tuple[int, ...]
) -> str:
    """The C function that adds to C the dot products of the copied rows with columns of B.

    ``steps`` are the steps of k; ``columns_b`` and ``columns_c`` are offsets of the columns, in elements.
    """
    more = FIRST if site.overwrites else ""
    if site.after:
        more += AFTER.format(prefix=site.prefix) + PLACE
    lines = [
        f"static inline void {name}(const {site.element} *rest, const {site.type_b} *b, {site.accumulator} *c, "
        f"long k, long count{more})",
        "{",
    ]
    column = 0
    for count in register_blocks(len(columns_b), max(1, _SUMS // rest)):
        places = range(column, column + count)
        lines += _dots(site, width, rest, steps, [columns_b[p] for p in places], [columns_c[p] for p in places])
        column += count
    if finishes(site, second=0):
        lines.append("  if (last) {")
        lines += [
            f"    {site.prefix}_after_column(operands, c + {place}, column + {u}, row, {rest});"
            for u, place in enumerate(columns_c)
        ]
        lines.append("  }")
    return "\n".join([*lines, "}"])


def _dots(site: GemmSite, width: int, rest: int, steps: int, columns_b: list[int], columns_c: list[int]) -> list[str]:
    vector = f"{site.prefix}_vector{width}"
    cells = [(row, u) for u in range(len(columns_b)) for row in range(rest)]
    lines = ["  {"]
    lines += [f"    {vector} s{row}_{u} = {{0}};" for row, u in cells]
    lines += [
        "    for (long r = 0; r < count; ++r) {",
        f"      const {site.element} *rr = rest + r * k;",
        f"      const {site.type_b} *br = b + {site.prefix}_offsets_b[r];",
        f"      for (long l = 0; l < k; l += {width}) {{",
        *(f"        const {vector} a{row} = *(const {vector} *)(rr + {row * steps} + l);" for row in range(rest)),
    ]
    for u, place in enumerate(columns_b):
        updates = " ".join(f"s{row}_{u} += a{row} * b{u};" for row in range(rest))
        lines.append(f"        const {vector} b{u} = *(const {vector} *)(br + {place} + l); {updates}")
    lines += ["      }", "    }"]
    start = "(first ? 0 : {})" if site.overwrites else "{}"
    for row, u in cells:
        at = f"c[{columns_c[u] + row}]"
        lines.append(f"    {at} = {start.format(at)} + {site.prefix}_lanes(s{row}_{u});")
    return [*lines, "  }"]


def lanes_function(site: GemmSite, width: int) -> str:
    """A function that adds up the lanes of a vector."""
    prefix = site.prefix
    lines = [f"static inline {site.accumulator} {prefix}_lanes({prefix}_vector{width} v{width})", "{"]
    while width > 1:
        half = width // 2
        low, high = (", ".join(str(first + lane) for lane in range(half)) for first in (0, half))
        if half == 1:
            lines.append(f"  return v{width}[0] + v{width}[1];")
        else:
            lines.append(
                f"  const {prefix}_vector{half} v{half} = __builtin_shufflevector(v{width}, v{width}, {low}) +"
            )
            lines.append(f"    __builtin_shufflevector(v{width}, v{width}, {high});")
        width = half
    return "\n".join([*lines, "}"])
