"""Products of bytes and shorts, summed as int: two steps of k in one instruction, and every bit of the sum right.

Bytes become shorts. An instruction multiplies those of two steps of k by those of another operand and adds the two
products as ints (``vpmaddwd``); that of bytes (``vpmaddubsw``) would saturate. A call copies its operands for that:
A[k/2][m][2], and B[n][k/2][2], a few columns at a time, which stay in the first cache for all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

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
from polydl.divisors import divisors
from polydl.ir.ingredients import PLAIN, Ingredients
from polydl.ir.numerics import EXACT, Rounding
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE
from polydl.microkernels.plain_c import PLAIN_C, REFERENCE
from polydl.microkernels.plain_c_blocks import FIRST, offset_tables, which_tiles
from polydl.microkernels.shapes import RegisterTiling, register_tiling, tiling_cycles

_NARROW = ("signed char", "unsigned char", "short")
# Bytes of a call's A, copied, which lie on the stack: threads have megabytes of that, second-level caches at least as
# much as this.
_MOST = 1 << 18
# With fewer steps of k, a vector of C is loaded and stored for fewer than four instructions.
_FEWEST_STEPS = 8
# By the bytes of a vector: what the compiler must have for the instruction, the type of its operands, its name, and the
# header that has it.
_INSTRUCTIONS = {
    64: ("__AVX512BW__", "__m512i", "_mm512_madd_epi16", "immintrin.h"),
    32: ("__AVX2__", "__m256i", "_mm256_madd_epi16", "immintrin.h"),
    16: ("__SSE2__", "__m128i", "_mm_madd_epi16", "emmintrin.h"),
}


def _steps(k: int) -> int:
    """Pairs of steps of k."""
    return -(-k // 2)


def _tiling(shape: GemmShape, width: int, core: Core) -> RegisterTiling:
    """The register blocks of a call, in vectors of ``width`` rows of C."""
    return register_tiling(-(-shape.m // width), shape.n, 1, core, 1, _steps(shape.k))


@dataclass(frozen=True)
class _Block:
    """A block of C: so many vectors by columns."""

    #: Along its rows.
    vectors: int
    #: Of C.
    columns: int
    #: Rows of the last vector that belong to C; 0 if all do.
    rest: int


class _Writer:
    """Writes the functions of one site."""

    def __init__(self, site: GemmSite, vector_bytes: int, core: Core) -> None:
        self.site = site
        self.core = core
        self.width = vector_bytes // 4
        self.vector = f"{site.prefix}_vector"
        self.blocks: dict[_Block, str] = {}
        self.instruction = _INSTRUCTIONS.get(4 * self.width)

    @property
    def ingredients(self) -> Ingredients:
        return PLAIN if self.instruction is None else Ingredients((self.instruction[3],))

    def text(self) -> str:
        site, prefix = self.site, self.site.prefix
        runs = [(index, self._run(f"{prefix}_run_{''.join(map(str, index))}", shape)) for index, shape in site.shapes()]
        calls = [
            f"  if ({which_tiles(site, index)})\n    {prefix}_run_{''.join(map(str, index))}(a, b, c, count, first);"
            for index, _ in runs
        ]
        entry = [
            f"static void {prefix}_run(const {site.element} *a, const {site.type_b} *b, int *c, "
            f"int last_m, int last_n, int last_k, long count{FIRST})",
            "{",
            "  (void)last_m, (void)last_n, (void)last_k;",
            *calls,
            "}",
        ]
        tables = offset_tables(site)
        blocks = [text for block in self.blocks for text in self._block(block)]
        return "\n".join([*tables, *self._shared(), *blocks, *(text for _, text in runs), *entry])

    def _shared(self) -> Iterator[str]:
        """The sum of products of pairs, and the copies of operands in pairs."""
        site, prefix, vector = self.site, self.site.prefix, self.vector
        yield f"typedef int {vector} __attribute__((vector_size({4 * self.width}), aligned(4), may_alias));"
        known = self.instruction
        if known:
            yield f"#ifdef {known[0]}\n#include <{known[3]}>\n#endif"
        yield f"static inline {vector} {prefix}_pairs({vector} sum, {vector} a, {vector} b)\n{{"
        if known:
            _, operand, name, _ = known
            yield f"#ifdef {known[0]}\n  return sum + ({vector}){name}(({operand})a, ({operand})b);\n#else"
        yield "  return sum + (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);"
        yield "#endif\n}" if known else "}"
        yield f"#define {prefix}_PAIR(one, other) (int)((unsigned)(other) << 16 | ((unsigned)(one) & 65535))"
        # Rows that A lacks are zeros.
        yield f"""static void {prefix}_copy_a(const {site.element} *a, int *to, long rows, long there, long k)
{{
  for (long l = 0; l < k; l += 2, to += rows) {{
    const {site.element} *one = a + l * {site.lda}, *other = one + (l + 1 < k ? {site.lda} : 0);
    const int mask = l + 1 < k ? -1 : 65535;
    for (long i = 0; i < there; ++i)
      to[i] = {prefix}_PAIR(one[i], other[i]) & mask;
    for (long i = there; i < rows; ++i)
      to[i] = 0;
  }}
}}
static void {prefix}_copy_b(const {site.type_b} *b, int *to, long columns, long k)
{{
  for (long j = 0; j < columns; ++j, b += {site.stride_bn}, to += (k + 1) / 2) {{
    for (long l = 0; l < k / 2; ++l)
      to[l] = {prefix}_PAIR(b[2 * l * {site.stride_bk}], b[(2 * l + 1) * {site.stride_bk}]);
    if (k % 2)
      to[k / 2] = {prefix}_PAIR(b[(k - 1) * {site.stride_bk}], 0);
  }}
}}"""

    def _block(self, block: _Block) -> Iterator[str]:
        """The function that updates a block of C, all of it in registers while k runs."""
        vector, width, prefix = self.vector, self.width, self.site.prefix
        vectors, columns = range(block.vectors), range(block.columns)

        def place(v: int, u: int) -> str:
            return f"c + {v * width} + {u * self.site.ldc}"

        def whole(v: int) -> bool:
            return not block.rest or v < block.vectors - 1

        yield f"static void {self.blocks[block]}(const int *a, const int *b, int *c, long steps, int first)\n{{"
        for v, u in product(vectors, columns):
            yield f"  {vector} c{v}_{u} = {{0}};"
        yield "  if (!first) {"
        for v, u in product(vectors, columns):
            if whole(v):
                yield f"    c{v}_{u} = *(const {vector} *)({place(v, u)});"
            else:
                yield f"    __builtin_memcpy(&c{v}_{u}, {place(v, u)}, {4 * block.rest});"
        yield "  }"
        yield f"  for (long l = 0; l < steps; ++l, a += {block.vectors * width}) {{"
        for v in vectors:
            yield f"    const {vector} a{v} = *(const {vector} *)(a + {v * width});"
        for u in columns:
            updates = " ".join(f"c{v}_{u} = {prefix}_pairs(c{v}_{u}, a{v}, b{u});" for v in vectors)
            yield f"    const {vector} b{u} = b[{u} * steps + l] + ({vector}){{0}}; {updates}"
        yield "  }"
        for v, u in product(vectors, columns):
            if whole(v):
                yield f"  *({vector} *)({place(v, u)}) = c{v}_{u};"
            else:
                yield f"  __builtin_memcpy({place(v, u)}, &c{v}_{u}, {4 * block.rest});"
        yield "}"

    def _run(self, name: str, shape: GemmShape) -> str:
        """The function for one shape: copies A, then a few columns of B at a time, which all rows are multiplied by."""
        site, prefix, width = self.site, self.site.prefix, self.width
        tiling, steps = _tiling(shape, width, self.core), _steps(shape.k)
        copies, offsets, vector = [], [], 0
        for vectors in tiling.vectors:
            row = vector * width
            there = min(vectors * width, shape.m - row)
            to = f"pairs_a + {row * steps}"
            copies.append(
                f"    {prefix}_copy_a(a + {prefix}_offsets_a[r] + {row}, {to}, {vectors * width}, {there}, {shape.k});"
            )
            offsets.append((vectors, row, there % width))
            vector += vectors
        body = []
        column = 0
        for columns in tiling.columns:
            at = f"b + {prefix}_rows_b[q] + {prefix}_offsets_b[r] + {column * site.stride_bn}"
            body.append(f"      {prefix}_copy_b({at}, pairs_b, {columns}, {shape.k});")
            for vectors, row, rest in offsets:
                block = _Block(vectors, columns, rest)
                called = self.blocks.setdefault(block, f"{prefix}_block{len(self.blocks)}_{vectors}x{columns}")
                to = f"c + {prefix}_rows_c[q] + {row} + {column * site.ldc}"
                body.append(f"      {called}(pairs_a + {row * steps}, pairs_b, {to}, {steps}, first);")
            column += columns
        return "\n".join(
            [
                f"static void {name}(const {site.element} *a, const {site.type_b} *b, int *c, long count{FIRST})",
                "{",
                f"  int pairs_a[{vector * width * steps}] __attribute__((aligned(64)));",
                f"  int pairs_b[{max(tiling.columns) * steps}] __attribute__((aligned(64)));",
                "  for (long r = 0; r < count; ++r, first = 0) {",
                *copies,
                f"    for (int q = 0; q < {site.rows}; ++q) {{",
                *body,
                "    }",
                "  }",
                "}",
            ]
        )


@dataclass(frozen=True)
class Int16(Microkernel):
    """The ``c-int16`` microkernel."""

    name: str = "c-int16"
    reference: str = REFERENCE
    patterns: tuple[StridePattern, ...] = PLAIN_C.patterns
    elements: tuple[tuple[str, ...], ...] = tuple(
        (*dict.fromkeys(operands), "int") for operands in product(_NARROW, repeat=2)
    )

    abilities: frozenset[Ability] = frozenset({"rows", "overwrite", "copies"})
    family: str = "products of pairs of shorts"
    formula_constants: tuple[FormulaConstants, ...] = (
        FormulaConstants(("short_pair_slowdown", "pair_copy_cycles"), ("short", "int")),
    )
    #: The cores that the code is for.
    core: Core = WIDE_CORE

    def unavailable(self) -> str | None:
        return None

    def rejects(self, shape: GemmShape) -> str | None:
        if shape.k < _FEWEST_STEPS:
            return f"{shape.k} steps of k are too few to copy operands for"
        if shape.m < 2 or shape.n * shape.rows < 2:
            return "an operand that is read once is not copied"
        # Whatever the vectors, rows are rounded up to theirs.
        if 4 * _steps(shape.k) * (shape.m + 15) > _MOST:
            return f"A, copied, takes more than {_MOST >> 10} KiB"
        return PLAIN_C.rejects(shape)

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        """Large ones: A is copied once for all that a call does with it."""
        if role == "k":
            wanted, whole = [256, 512, 128], extent <= 512
        elif role == "m":
            wanted, whole = [vectors * vector_elements for vectors in (8, 4, 16, 2)], extent <= 16 * vector_elements
        else:
            even = [size for size in divisors(extent) if 32 <= size <= 512]
            wanted, whole = [*reversed(even[-4:]), 256, 128, 64], extent <= 512
        sizes = [extent] if whole else []
        sizes += [size for size in wanted if size < extent]
        return tuple(dict.fromkeys(sizes)) or (extent,)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:
        tiling = _tiling(shape, vector_elements, self.core)
        blocks = tiling_cycles(tiling, _steps(shape.k), shape.batch, self.core, reads=not shape.overwrite)
        copied = (shape.m + shape.n * shape.rows) * shape.k * shape.batch
        products = self.core.short_pair_slowdown * blocks * shape.rows
        return self.core.call_cycles + products + self.core.pair_copy_cycles * copied

    def register_block(self, shape: GemmShape, vector_elements: int) -> tuple[int, int] | None:
        return _tiling(shape, vector_elements, self.core).largest(vector_elements)

    def rounding(self, element: str) -> Rounding:  # noqa: ARG002
        return EXACT

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:
        writer = _Writer(site, vector_bytes, self.core)
        return EmittedSite((), writer.text(), "", ingredients=writer.ingredients)

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return PLAIN_C.call(site, arguments)

    def on(self, core: Core) -> Int16:
        return replace(self, core=core)


INT16 = Int16()
