"""Products of bytes, one operand signed and the other not, summed as int: four steps of k in one instruction.

Both operands hold four steps of k side by side, which is the layout that the processors' dot-product instructions read
(VNNI): A[k/4][m][4] and B[n][k/4][4], say. The four are the role k; the loop over k/4 and all others that sum
are the batch. Where the compiler's target has no such instruction, shifts and multiplications take its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from polydl.contracts import StridePattern
from polydl.ir.numerics import EXACT, Rounding
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE
from polydl.microkernels.dot_products import DotProductKernel, DotProducts

REFERENCE = """\
for (long q = 0; q < rows; ++q)
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l)
        for (long i = 0; i < m; ++i)
          c[c_rows[q] + i + j * ldc] +=
              (int)a[a_offsets[r] + 4 * i + l] * (int)b[b_rows[q] + b_offsets[r] + j * stride_bn + l];
"""


class _Dots(DotProducts):
    element_bytes = 1
    instructions: ClassVar = {
        64: (("defined __AVX512VNNI__", "_mm512_dpbusd_epi32", "__m512i"),),
        32: (
            ("defined __AVX512VNNI__ && defined __AVX512VL__", "_mm256_dpbusd_epi32", "__m256i"),
            ("defined __AVXVNNI__", "_mm256_dpbusd_avx_epi32", "__m256i"),
        ),
    }

    def operands(self, a: str, b: str) -> tuple[str, str]:
        """The unsigned one comes first."""
        return (a, b) if self.site.element == "unsigned char" else (b, a)

    def plain_dot(self, width: int) -> list[str]:
        vector, bits = f"{self.site.prefix}_vector{width}", f"{self.site.prefix}_bits{width}"
        plain, with_sign = self.operands("a", "b")
        return [
            f"  typedef unsigned int {bits} __attribute__((vector_size({4 * width})));",
            "  for (int byte = 0; byte < 4; ++byte)",
            f"    sum += ({vector})((({bits}){plain} >> 8 * byte) & 255) *",
            f"           (({vector})(({bits}){with_sign} << (24 - 8 * byte)) >> 24);",
            "  return sum;",
        ]


@dataclass(frozen=True)
class Int8(DotProductKernel):
    """The ``c-int8`` microkernel."""

    name: str = "c-int8"
    reference: str = REFERENCE
    patterns: tuple[StridePattern, ...] = (
        StridePattern("groups of four", ("one", "four", "zero"), ("any", "zero", "any"), ("zero", "one", "one")),
    )
    elements: tuple[tuple[str, ...], ...] = (
        ("unsigned char", "signed char", "int"),
        ("signed char", "unsigned char", "int"),
    )
    family: str = "dot products of bytes"
    #: The cores that the code is for.
    core: Core = WIDE_CORE

    writer = _Dots

    def unavailable(self) -> str | None:
        return None

    def rounding(self, element: str) -> Rounding:  # noqa: ARG002
        return EXACT

    def on(self, core: Core) -> Int8:
        return replace(self, core=core)


INT8 = Int8()
