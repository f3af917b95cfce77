"""Products of bytes, one operand signed and the other not, summed as int: four steps of k in one instruction.

Both operands hold four steps of k side by side, which is the layout that the processors' dot-product instructions read
(VNNI): A[k/4][m][4] and B[n][k/4][4], say. The four are the role k; the loop over k/4 and all others that sum
are the batch. Where the compiler's target has no such instruction, shifts and multiplications take its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from polydl.contracts import Ability, CallArguments, EmittedSite, GemmShape, GemmSite, Microkernel, StridePattern
from polydl.ir.ingredients import PLAIN, Ingredients
from polydl.ir.numerics import EXACT, Rounding
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE
from polydl.microkernels.plain_c import PLAIN_C
from polydl.microkernels.plain_c_blocks import OutputBlock, block_function
from polydl.microkernels.plain_c_code import Writer, tiling_of
from polydl.microkernels.shapes import tile_sizes, tiling_cycles

_GROUP = 4
# Rows of the widest vector; shorter tiles are left to other kernels.
_LEAST_ROWS = 16

REFERENCE = """\
for (long q = 0; q < rows; ++q)
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l)
        for (long i = 0; i < m; ++i)
          c[c_rows[q] + i + j * ldc] +=
              (int)a[a_offsets[r] + 4 * i + l] * (int)b[b_rows[q] + b_offsets[r] + j * stride_bn + l];
"""

# By the bytes of a vector: what the compiler must have for an instruction that adds four products to each int, the
# type of its operands, and its name.
_INSTRUCTIONS = {
    64: (("defined __AVX512VNNI__", "__m512i", "_mm512_dpbusd_epi32"),),
    32: (
        ("defined __AVX512VNNI__ && defined __AVX512VL__", "__m256i", "_mm256_dpbusd_epi32"),
        ("defined __AVXVNNI__", "__m256i", "_mm256_dpbusd_avx_epi32"),
    ),
}


def _dot(prefix: str, width: int) -> str:
    """A function that adds to each int of a vector the four products of the bytes beneath it."""
    vector, unsigned = f"{prefix}_vector{width}", f"{prefix}_unsigned{width}"
    lines = [
        f"typedef unsigned int {unsigned} __attribute__((vector_size({4 * width})));",
        f"typedef int {prefix}_four __attribute__((aligned(1), may_alias));",
    ]
    instructions = _INSTRUCTIONS.get(4 * width, ())
    if instructions:
        lines += [
            f"#if {' || '.join(f'({needed})' for needed, _, _ in instructions)}",
            "#include <immintrin.h>",
            "#endif",
        ]
    lines += [f"static inline {vector} {prefix}_dot({vector} sum, {vector} plain, {vector} with_sign)", "{"]
    for number, (needed, operand, name) in enumerate(instructions):
        lines.append(f"#{'elif' if number else 'if'} {needed}")
        lines.append(f"  return ({vector}){name}(({operand})sum, ({operand})plain, ({operand})with_sign);")
    if instructions:
        lines.append("#else")
    lines += [
        "  for (int byte = 0; byte < 4; ++byte)",
        f"    sum += ({vector})((({unsigned})plain >> 8 * byte) & 255) *",
        f"           (({vector})(({unsigned})with_sign << (24 - 8 * byte)) >> 24);",
        "  return sum;",
    ]
    if instructions:
        lines.append("#endif")
    return "\n".join([*lines, "}"])


class _Dots(Writer):
    """Writes the blocks as dot products of four bytes each."""

    step_a = _GROUP

    def __init__(self, site: GemmSite, vector_bytes: int, core: Core) -> None:
        super().__init__(site, vector_bytes, core)
        self.width = vector_bytes // 4

    def definitions(self) -> list[str]:
        kind = f"__attribute__((vector_size({4 * self.width}), aligned(1), may_alias))"
        vector = f"typedef int {self.site.prefix}_vector{self.width} {kind};"
        return [vector, _dot(self.site.prefix, self.width), *self.shared()]

    @property
    def ingredients(self) -> Ingredients:
        return Ingredients(("immintrin.h",)) if 4 * self.width in _INSTRUCTIONS else PLAIN

    def text(self, name: str, block: OutputBlock) -> str:
        site, prefix = self.site, self.site.prefix
        vector = f"{prefix}_vector{block.width}"
        columns, vectors = range(len(block.columns_b)), range(len(block.rows))
        lines = ["    (void)k;"]
        if len(site.offsets_a) > 1:
            # As if all groups lay as far apart as the first two.
            ahead = self.core.byte_ahead_groups * (site.offsets_a[1] - site.offsets_a[0])
            lines += [f"    __builtin_prefetch(ar + ({ahead + _GROUP * block.rows[v]}));" for v in vectors]
        lines += [f"    const {vector} a{v} = *(const {vector} *)(ar + {_GROUP * block.rows[v]});" for v in vectors]
        for u in columns:
            lines.append(
                f"    const {vector} b{u} = *(const {prefix}_four *)(br + {block.columns_b[u]}) + ({vector}){{0}};"
            )
            for v in vectors:
                operands = (f"a{v}", f"b{u}") if site.element == "unsigned char" else (f"b{u}", f"a{v}")
                lines.append(f"    c{v}_{u} = {prefix}_dot(c{v}_{u}, {', '.join(operands)});")
        return block_function(
            name,
            site,
            block,
            lines,
            lambda at: f"*({vector} *)({at})",
            lambda at, value: f"*({vector} *)({at}) = {value};",
        )


@dataclass(frozen=True)
class Int8(Microkernel):
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

    abilities: frozenset[Ability] = frozenset({"rows", "overwrite", "after"})
    family: str = "dot products of bytes"
    #: The cores that the code is for.
    core: Core = WIDE_CORE

    def unavailable(self) -> str | None:
        return None

    def rejects(self, shape: GemmShape) -> str | None:
        if shape.k != _GROUP:
            return f"a group of k has four steps, not {shape.k}"
        if shape.m < _LEAST_ROWS:
            return f"tiles have at least {_LEAST_ROWS} rows, not {shape.m}"
        return PLAIN_C.rejects(shape)

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        if role == "k":
            return (min(extent, _GROUP),)
        return tile_sizes(role, extent, vector_elements)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:
        tiling = tiling_of(shape, vector_elements, self.core)
        return self.core.call_cycles + tiling_cycles(tiling, shape.batch, 1, self.core, reads=not shape.overwrite)

    def register_block(self, shape: GemmShape, vector_elements: int) -> tuple[int, int] | None:
        return tiling_of(shape, vector_elements, self.core).largest(vector_elements)

    def rounding(self, element: str) -> Rounding:  # noqa: ARG002
        return EXACT

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:
        return _Dots(site, vector_bytes, self.core).emitted()

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return PLAIN_C.call(site, arguments)

    def on(self, core: Core) -> Int8:
        return replace(self, core=core)


INT8 = Int8()
