"""The microkernel that always works: C with the compiler's vector extensions.

Loops over registers are written out, so that neither gcc nor clang has to decide anything: a block of up to
four vectors by as many columns as fit stays in registers while k and the batch run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from polydl.contracts import Ability, CallArguments, EmittedSite, GemmShape, GemmSite, StridePattern
from polydl.microkernels.shapes import RegisterTiling, register_tiling, tile_sizes, tiling_cycles

REFERENCE = """\
for (long q = 0; q < rows; ++q)
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l)
        for (long i = 0; i < m; ++i)
          c[c_rows[q] + i + j * ldc] +=
              a[a_offsets[r] + i + l * lda] * b[b_rows[q] + b_offsets[r] + j * stride_bn + l * stride_bk];
"""

_VECTOR_TYPES = {"float": 4, "double": 8}
# The parameter that says whether C is to be written without being read.
FIRST = ", int first"
# Steps of k that are written out together, and steps by which A is fetched ahead.
_UNROLL = 4
_PREFETCH = 8
# Cycles of a call beside its register blocks.
_OVERHEAD = 20.0
# How many times slower than one vector product a cycle products without vectors of their own are.
_SCALAR_SLOWNESS = 2.0
# Their products are computed as int in C, so that computing them wider changes nothing.
_NARROW = ("signed char", "char", "unsigned char", "short", "unsigned short")


@dataclass(frozen=True)
class _Block:
    """Part of an output tile that stays in registers: ``vectors`` of ``width`` elements, by columns.

    ``columns_b`` and ``columns_c`` place each column in B and C relative to the first, in elements.
    """

    width: int
    vectors: int
    columns_b: tuple[int, ...]
    columns_c: tuple[int, ...]


def _block(name: str, site: GemmSite, block: _Block) -> str:
    """A function that updates one block of C, all of it in registers while k and the batch run."""
    element, vector = site.element, f"{site.prefix}_vector{block.width}"
    columns = range(len(block.columns_b))
    lines = [
        f"static inline void {name}(const {element} *a, const {element} *b, {element} *c, long k, long count"
        f"{FIRST if site.overwrites else ''})",
        "{",
    ]
    cells = [(v, u) for u in columns for v in range(block.vectors)]
    for v, u in cells:
        value = f"*(const {vector} *)(c + {v * block.width + block.columns_c[u]})"
        lines.append(f"  {vector} c{v}_{u} = {f'first ? ({vector}){{0}} : {value}' if site.overwrites else value};")
    lines += [
        "  for (long r = 0; r < count; ++r) {",
        f"    const {element} *ar = a + {site.prefix}_offsets_a[r];",
        f"    const {element} *br = b + {site.prefix}_offsets_b[r];",
        f'    _Pragma("GCC unroll {_UNROLL}")',
        "    for (long l = 0; l < k; ++l) {",
    ]
    for v in range(block.vectors):
        # A is read once in each block, often from beyond the first cache; B stays there.
        lines.append(f"      __builtin_prefetch(ar + (l + {_PREFETCH}) * {site.lda} + {v * block.width});")
        lines.append(f"      const {vector} a{v} = *(const {vector} *)(ar + l * {site.lda} + {v * block.width});")
    for u in columns:
        updates = " ".join(f"c{v}_{u} += a{v} * b{u};" for v in range(block.vectors))
        lines.append(f"      const {element} b{u} = br[l * {site.stride_bk} + {block.columns_b[u]}]; {updates}")
    lines += ["    }", "  }"]
    for v, u in cells:
        lines.append(f"  *({vector} *)(c + {v * block.width + block.columns_c[u]}) = c{v}_{u};")
    lines.append("}")
    return "\n".join(lines)


def _scalar(name: str, site: GemmSite, rows: int) -> str:
    """A function for element types without vectors of their own."""
    first = f"first ? ({site.accumulator})0 : " if site.overwrites else ""
    return "\n".join(
        [
            f"static inline void {name}(const {site.element} *a, const {site.element} *b, {site.accumulator} *c, "
            f"long n, long k, long count{FIRST if site.overwrites else ''})",
            "{",
            "  for (long j = 0; j < n; ++j) {",
            # Aligned by hand: gcc 12 with AVX-512 was seen to store a whole vector into a misaligned red zone.
            f"    {site.accumulator} sum[{rows}] __attribute__((aligned(64)));",
            f"    for (int i = 0; i < {rows}; ++i)",
            f"      sum[i] = {first}c[i + j * {site.ldc}];",
            "    for (long r = 0; r < count; ++r)",
            "      for (long l = 0; l < k; ++l) {",
            f"        const {site.accumulator} bv = ({site.accumulator})b[{site.prefix}_offsets_b[r] + "
            f"j * {site.stride_bn} + l * {site.stride_bk}];",
            f"        for (int i = 0; i < {rows}; ++i)",
            f"          sum[i] += ({site.accumulator})a[{site.prefix}_offsets_a[r] + i + l * {site.lda}] * bv;",
            "      }",
            f"    for (int i = 0; i < {rows}; ++i)",
            f"      c[i + j * {site.ldc}] = sum[i];",
            "  }",
            "}",
        ]
    )


def _table(name: str, values: Sequence[int]) -> str:
    return f"static const long {name}[{len(values)}] = {{{', '.join(map(str, values))}}};"


class _Writer:
    """Collects the functions and tables that one site needs, each once."""

    def __init__(self, site: GemmSite, vector_bytes: int) -> None:
        self.site = site
        self.bytes = _VECTOR_TYPES.get(site.element, 0)
        self.width = vector_bytes // self.bytes if self.bytes else 0
        self.registers = 32 if vector_bytes >= 64 else 16
        self.more = ", first" if site.overwrites else ""
        self.widths: dict[int, None] = {}
        self.functions: dict[object, tuple[str, str]] = {}
        self.tables: dict[tuple[int, ...], str] = {}

    def definitions(self) -> list[str]:
        prefix, element = self.site.prefix, self.site.element
        types = [
            f"typedef {element} {prefix}_vector{width} "
            f"__attribute__((vector_size({width * self.bytes}), aligned(sizeof({element})), may_alias));"
            for width in self.widths
        ]
        tables = [_table(name, values) for values, name in self.tables.items()]
        return [*types, *tables, *(text for _, text in self.functions.values())]

    def _block(self, block: _Block) -> str:
        self.widths[block.width] = None
        if block not in self.functions:
            name = f"{self.site.prefix}_block{len(self.functions)}_{block.vectors}x{len(block.columns_b)}"
            self.functions[block] = (name, _block(name, self.site, block))
        return self.functions[block][0]

    def _scalar(self, rows: int) -> str:
        if rows not in self.functions:
            name = f"{self.site.prefix}_scalar_{rows}"
            self.functions[rows] = (name, _scalar(name, self.site, rows))
        return self.functions[rows][0]

    def _starts(self, values: Sequence[int]) -> str:
        return self.tables.setdefault(tuple(values), f"{self.site.prefix}_starts{len(self.tables)}")

    def _columns(self, n: int) -> tuple[list[int], list[int]]:
        """Where each column of a call lies in B and in C."""
        site = self.site
        places = [(row, j) for row in range(site.rows) for j in range(n)]
        return (
            [site.rows_b[row] + j * site.stride_bn for row, j in places],
            [site.rows_c[row] + j * site.ldc for row, j in places],
        )

    def run(self, name: str, shape: GemmShape) -> str:
        """The function for one shape: walks the output tile in register blocks."""
        body: list[str] = []
        row = 0
        width = self.width
        rest = shape.m
        # Whole vectors first, then ever shorter ones for the rows that are left.
        while width and rest:
            if rest >= width:
                vectors = rest // width
                tiling = register_tiling(vectors, shape.n, shape.rows, self.registers)
                body += self._tiled(tiling, width, row, shape)
                row += vectors * width
                rest -= vectors * width
            width //= 2
        while rest:
            rows = min(rest, 64)
            call = self._scalar(rows)
            for b, c in zip(self.site.rows_b, self.site.rows_c, strict=True):
                body.append(f"  {call}(a + {row}, b + {b}, c + {row + c}, {shape.n}, {shape.k}, count{self.more});")
            row += rows
            rest -= rows
        site = self.site
        head = (
            f"static void {name}(const {site.element} *a, const {site.element} *b, {site.accumulator} *c, long count"
            f"{FIRST if site.overwrites else ''})"
        )
        return "\n".join([head, "{", *body, "}"])

    def _tiled(self, tiling: RegisterTiling, width: int, row: int, shape: GemmShape) -> list[str]:
        """Calls for all blocks of a tiling; blocks whose columns lie alike share a function and a loop."""
        in_b, in_c = self._columns(shape.n)
        starts: dict[tuple[tuple[int, ...], tuple[int, ...]], list[tuple[int, int]]] = {}
        column = 0
        for count in tiling.columns:
            places = range(column, column + count)
            alike = tuple(in_b[p] - in_b[column] for p in places), tuple(in_c[p] - in_c[column] for p in places)
            starts.setdefault(alike, []).append((in_b[column], in_c[column]))
            column += count
        lines = []
        for (columns_b, columns_c), found in starts.items():
            calls = []
            at = row
            for vectors in tiling.vectors:
                calls.append((self._block(_Block(width, vectors, columns_b, columns_c)), at))
                at += vectors * width
            if len(found) == 1:
                b, c = (str(offset) for offset in found[0])
                indent = "  "
            else:
                b, c = (f"{self._starts(offsets)}[i]" for offsets in zip(*found, strict=True))
                lines.append(f"  for (int i = 0; i < {len(found)}; ++i) {{")
                indent = "    "
            for call, at in calls:
                lines.append(f"{indent}{call}(a + {at}, b + {b}, c + {at} + {c}, {shape.k}, count{self.more});")
            if len(found) > 1:
                lines.append("  }")
        return lines


@dataclass(frozen=True)
class PlainC:
    """The ``c`` microkernel. ``site.prefix`` starts all names; ``<prefix>_run`` is the entry, indexed by last tiles."""

    name: str = "c"
    reference: str = REFERENCE
    patterns: tuple[StridePattern, ...] = (
        StridePattern("contiguous", ("one", "one", "zero"), ("any", "zero", "any"), ("zero", "any", "any")),
    )
    elements: tuple[tuple[str, str], ...] = (
        ("float", "float"),
        ("double", "double"),
        *((narrow, wide) for narrow in _NARROW for wide in ("int", "unsigned int", "long")),
        ("int", "int"),
        ("unsigned int", "unsigned int"),
    )

    abilities: frozenset[Ability] = frozenset({"rows", "overwrite"})

    def unavailable(self) -> str | None:
        return None

    def rejects(self, shape: GemmShape) -> str | None:
        if shape.n > 1 and shape.ldc < shape.m:
            return f"columns of the output overlap (ldc {shape.ldc} is less than m {shape.m})"
        return None

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        return tile_sizes(role, extent, vector_elements)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:
        registers = 32 if vector_elements * _VECTOR_TYPES.get(shape.element, 4) >= 64 else 16
        if shape.element not in _VECTOR_TYPES:
            products = shape.m * shape.n * shape.rows * shape.k * shape.batch
            return _OVERHEAD + products * _SCALAR_SLOWNESS / vector_elements
        total = _OVERHEAD
        rest, width = shape.m, vector_elements
        while rest:
            if rest >= width:
                tiling = register_tiling(rest // width, shape.n, shape.rows, registers)
                total += tiling_cycles(tiling, shape.k, shape.batch, reads=not shape.overwrite)
                rest %= width
            width //= 2
        return total

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:
        writer = _Writer(site, vector_bytes)
        runs = {index: f"{site.prefix}_run_{''.join(map(str, index))}" for index, _ in site.shapes()}
        bodies = [writer.run(runs[index], shape) for index, shape in site.shapes()]
        tables = [
            _table(f"{site.prefix}_offsets_a", site.offsets_a),
            _table(f"{site.prefix}_offsets_b", site.offsets_b),
        ]
        cases = []
        for index, name in runs.items():
            condition = " && ".join(
                f"{'' if last else '!'}last_{role}"
                for role, last, ends in zip("mnk", index, (site.m, site.n, site.k), strict=True)
                if ends[0] != ends[1]
            )
            cases.append(f"  if ({condition or '1'})\n    {name}(a, b, c, count{writer.more});")
        unused = [
            f"  (void)last_{r};" for r, ends in zip("mnk", (site.m, site.n, site.k), strict=True) if ends[0] == ends[1]
        ]
        if not site.overwrites:
            unused.append("  (void)first;")
        entry = "\n".join(
            [
                f"static void {site.prefix}_run(const {site.element} *a, const {site.element} *b, "
                f"{site.accumulator} *c, "
                f"int last_m, int last_n, int last_k, long count{FIRST})",
                "{",
                *unused,
                *cases,
                "}",
            ]
        )
        return EmittedSite((), "\n".join([*tables, *writer.definitions(), *bodies, entry]), "")

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return (
            f"{site.prefix}_run({arguments.a}, {arguments.b}, {arguments.c}, "
            f"{arguments.last_m}, {arguments.last_n}, {arguments.last_k}, {arguments.batch}, {arguments.first});"
        )

    def link_flags(self) -> tuple[str, ...]:
        return ()


PLAIN_C = PlainC()
