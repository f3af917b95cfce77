"""Products of bfloat16s, summed as float: two steps of k in one instruction, on processors that have it.

Both operands hold two steps of k side by side, as the instruction reads them (``vdpbf16ps``): A[k/2][m][2] and
B[n][k/2][2], say. The two are the role k; the loop over k/2 and all others that sum are the batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.contracts import FormulaConstants, StridePattern
from polydl.ir.numerics import FLUSHED, Rounding
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE
from polydl.microkernels.amx_groups import REFERENCE
from polydl.microkernels.cpu_flags import cpu_flags
from polydl.microkernels.dot_products import DotProductKernel, DotProducts


class _Dots(DotProducts):
    element_bytes = 2
    instructions: ClassVar = {
        64: (("defined __AVX512BF16__", "_mm512_dpbf16_ps", "__m512bh"),),
        32: (("defined __AVX512BF16__ && defined __AVX512VL__", "_mm256_dpbf16_ps", "__m256bh"),),
    }

    def plain_dot(self, width: int) -> list[str]:
        """Each bfloat16 is the upper half of a float, to which the one shift brings it."""
        vector, bits = f"{self.site.prefix}_vector{width}", f"{self.site.prefix}_bits{width}"
        return [
            f"  typedef unsigned int {bits} __attribute__((vector_size({4 * width})));",
            f"  const {bits} low_a = ({bits})a & 65535, low_b = ({bits})b & 65535;",
            f"  const {bits} high_a = ({bits})a >> 16, high_b = ({bits})b >> 16;",
            f"  sum += ({vector})(high_a << 16) * ({vector})(high_b << 16);",
            f"  return sum + ({vector})(low_a << 16) * ({vector})(low_b << 16);",
        ]


@dataclass(frozen=True)
class Bf16(DotProductKernel):
    """The ``c-bf16`` microkernel."""

    name: str = "c-bf16"
    reference: str = REFERENCE
    patterns: tuple[StridePattern, ...] = (
        StridePattern("groups of two", ("one", "two", "zero"), ("any", "zero", "any"), ("zero", "one", "one")),
    )
    elements: tuple[tuple[str, ...], ...] = ((BFLOAT16, "float"),)
    family: str = "dot products of bfloat16s"
    formula_constants: tuple[FormulaConstants, ...] = (
        FormulaConstants(("bfloat16_dot_slowdown",), (BFLOAT16, "float"), group=2),
    )
    #: The cores that the code is for.
    core: Core = WIDE_CORE

    writer = _Dots

    @property
    def macros(self) -> frozenset[str]:
        return frozenset({"__AVX512BF16__"})

    @property
    def slowdown(self) -> float:
        return self.core.bfloat16_dot_slowdown

    def unavailable(self) -> str | None:
        return None if "avx512_bf16" in cpu_flags() else "the processor has no dot products of bfloat16s (AVX512_BF16)"

    def rounding(self, element: str) -> Rounding:  # noqa: ARG002
        return Rounding("nothing", 1.0, (FLUSHED,))

    def on(self, core: Core) -> Bf16:
        return replace(self, core=core)


BF16 = Bf16()
