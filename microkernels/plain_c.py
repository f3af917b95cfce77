"""The microkernel that always works: C with the compiler's vector extensions (``plain_c_code``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.contracts import (
    Ability,
    CallArguments,
    EmittedSite,
    FormulaConstants,
    GemmShape,
    GemmSite,
    Microkernel,
    StridePattern,
)
from polydl.ir.numerics import EXACT, Rounding
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE
from polydl.microkernels.plain_c_blocks import VECTOR_BYTES
from polydl.microkernels.plain_c_code import Writer, tiling_of
from polydl.microkernels.rest_rows import rest_cycles, rest_rows
from polydl.microkernels.shapes import tile_sizes, tiling_cycles

REFERENCE = """\
for (long q = 0; q < rows; ++q)
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l)
        for (long i = 0; i < m; ++i)
          c[c_rows[q] + i + j * ldc] +=
              a[a_offsets[r] + i * stride_am + l * lda] * b[b_rows[q] + b_offsets[r] + j * stride_bn + l * stride_bk];
"""

# Their products are computed as int in C, so that computing them wider changes nothing.
_NARROW = ("signed char", "char", "unsigned char", "short", "unsigned short")


@dataclass(frozen=True)
class PlainC(Microkernel):
    """The ``c`` microkernel."""

    name: str = "c"
    reference: str = REFERENCE
    patterns: tuple[StridePattern, ...] = (
        StridePattern("contiguous", ("one", "one", "zero"), ("any", "zero", "any"), ("zero", "any", "any")),
    )
    elements: tuple[tuple[str, ...], ...] = (
        ("float", "float"),
        ("double", "double"),
        (BFLOAT16, "float"),
        *((narrow, wide) for narrow in _NARROW for wide in ("int", "unsigned int", "long")),
        ("signed char", "unsigned char", "int"),
        ("unsigned char", "signed char", "int"),
        ("int", "int"),
        ("unsigned int", "unsigned int"),
    )

    abilities: frozenset[Ability] = frozenset({"rows", "overwrite", "ahead", "pack", "after"})
    family: str = "vector registers"
    formula_constants: tuple[FormulaConstants, ...] = (
        FormulaConstants(
            (
                "call_cycles",
                "block_step_cycles",
                "block_load_cycles",
                "block_switch_cycles",
                "row_copy_cycles",
                "lane_sum_cycles",
            ),
            ("float", "float"),
        ),
        FormulaConstants(("block_far_load_cycles",), ("float", "float"), decide=True),
        FormulaConstants(("widened_slowdown",), (BFLOAT16, "float")),
        FormulaConstants(("scalar_slowdown",), ("short", "int")),
    )
    #: The cores that the code is for.
    core: Core = WIDE_CORE

    def unavailable(self) -> str | None:
        return None

    def rejects(self, shape: GemmShape) -> str | None:
        if shape.n > 1 and shape.ldc < shape.m:
            return f"columns of the output overlap (ldc {shape.ldc} is less than m {shape.m})"
        return None

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        return tile_sizes(role, extent, vector_elements)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:
        if shape.element not in VECTOR_BYTES:
            products = shape.m * shape.n * shape.rows * shape.k * shape.batch
            return self.core.call_cycles + products * self.core.scalar_slowdown / vector_elements
        rest = rest_rows(shape, vector_elements)
        tiling = tiling_of(shape, vector_elements, self.core, rest)
        slowdown = self.core.widened_slowdown if shape.element == BFLOAT16 else 1.0
        dots = rest_cycles(rest, shape, vector_elements, self.core)
        cycles = tiling_cycles(tiling, shape.k, shape.batch, self.core, reads=not shape.overwrite)
        return self.core.call_cycles + slowdown * cycles + dots

    def register_block(self, shape: GemmShape, vector_elements: int) -> tuple[int, int] | None:
        rest = rest_rows(shape, vector_elements)
        return tiling_of(shape, vector_elements, self.core, rest).largest(vector_elements)

    def rounding(self, element: str) -> Rounding:  # noqa: ARG002
        return EXACT

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:
        return Writer(site, vector_bytes, self.core).emitted()

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        more = f", (const char *)({arguments.ahead})" if site.ahead else ""
        if site.copied:
            more += f", {arguments.copy_from}, {arguments.copy_to}, {arguments.copy_columns}"
        if site.after:
            more += f", {arguments.last}, {arguments.operands}"
        return (
            f"{site.prefix}_run({arguments.a}, {arguments.b}, {arguments.c}, "
            f"{arguments.last_m}, {arguments.last_n}, {arguments.last_k}, {arguments.batch}, {arguments.first}{more});"
        )

    def on(self, core: Core) -> PlainC:
        return replace(self, core=core)


PLAIN_C = PlainC()
