"""The microkernel that always works: C with the compiler's vector extensions.

Loops over registers are written out, so that neither gcc nor clang has to decide anything: a block of up to
four vectors by as many columns as fit stays in registers while k and the batch run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from polydl.contracts import CallArguments, EmittedSite, GemmShape, GemmSite, StridePattern
from polydl.microkernels.shapes import columns_per_block, cycles, register_blocks, tile_sizes

REFERENCE = """\
for (long r = 0; r < count; ++r)
  for (long j = 0; j < n; ++j)
    for (long l = 0; l < k; ++l)
      for (long i = 0; i < m; ++i)
        c[i + j * ldc] += a[a_offsets[r] + i + l * lda] * b[b_offsets[r] + j * stride_bn + l * stride_bk];
"""

_VECTOR_TYPES = {"float": 4, "double": 8}
# Their products are computed as int in C, so that computing them wider changes nothing.
_NARROW = ("signed char", "char", "unsigned char", "short", "unsigned short")


def _block(name: str, site: GemmSite, vectors: int, columns: int, width: int) -> str:
    """A function that updates ``vectors`` x ``columns`` vectors of C, all of them in registers."""
    element = site.element
    lines = [
        f"static inline void {name}(const {element} *a, const {element} *b, {element} *c, long k, long count)",
        "{",
    ]
    cells = [(v, u) for u in range(columns) for v in range(vectors)]
    vector = f"{site.prefix}_vector"
    for v, u in cells:
        lines.append(f"  {vector} c{v}_{u} = *(const {vector} *)(c + {v * width + u * site.ldc});")
    lines += [
        "  for (long r = 0; r < count; ++r) {",
        f"    const {element} *ar = a + {site.prefix}_offsets_a[r];",
        f"    const {element} *br = b + {site.prefix}_offsets_b[r];",
        "    for (long l = 0; l < k; ++l) {",
    ]
    for v in range(vectors):
        lines.append(f"      const {vector} a{v} = *(const {vector} *)(ar + l * {site.lda} + {v * width});")
    for u in range(columns):
        updates = " ".join(f"c{v}_{u} += a{v} * b{u};" for v in range(vectors))
        lines.append(f"      const {element} b{u} = br[l * {site.stride_bk} + {u * site.stride_bn}]; {updates}")
    lines += ["    }", "  }"]
    for v, u in cells:
        lines.append(f"  *({vector} *)(c + {v * width + u * site.ldc}) = c{v}_{u};")
    lines.append("}")
    return "\n".join(lines)


def _rest(name: str, site: GemmSite, rows: int) -> str:
    """A function for fewer rows than a vector holds, or for element types without vectors of their own."""
    return "\n".join(
        [
            f"static inline void {name}(const {site.element} *a, const {site.element} *b, {site.accumulator} *c, "
            "long n, long k, long count)",
            "{",
            "  for (long j = 0; j < n; ++j) {",
            # Aligned by hand: gcc 12 with AVX-512 was seen to store a whole vector into a misaligned red zone.
            f"    {site.accumulator} sum[{rows}] __attribute__((aligned(64)));",
            f"    for (int i = 0; i < {rows}; ++i)",
            f"      sum[i] = c[i + j * {site.ldc}];",
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


def _offsets(prefix: str, operand: str, offsets: tuple[int, ...]) -> str:
    values = ", ".join(str(offset) for offset in offsets)
    return f"static const long {prefix}_offsets_{operand}[{len(offsets)}] = {{{values}}};"


class _Writer:
    """Collects the functions that one site needs, each once."""

    def __init__(self, site: GemmSite, vector_bytes: int) -> None:
        self.site = site
        self.width = vector_bytes // _VECTOR_TYPES[site.element] if site.element in _VECTOR_TYPES else 0
        self.registers = 32 if vector_bytes >= 64 else 16
        self.rows_at_once = 4 if vector_bytes >= 64 else 2
        self.functions: dict[str, str] = {}

    def block(self, vectors: int, columns: int) -> str:
        name = f"{self.site.prefix}_block_{vectors}x{columns}"
        self.functions.setdefault(name, _block(name, self.site, vectors, columns, self.width))
        return name

    def rest(self, rows: int) -> str:
        name = f"{self.site.prefix}_rest_{rows}"
        self.functions.setdefault(name, _rest(name, self.site, rows))
        return name

    def run(self, name: str, shape: GemmShape) -> str:
        """The function for one shape: walks the output tile in register blocks."""
        site = self.site
        vectors_total, rest = divmod(shape.m, self.width) if self.width else (0, shape.m)
        body = []
        row = 0
        for vectors in register_blocks(vectors_total, self.rows_at_once) if vectors_total else ():
            column = 0
            blocks = register_blocks(shape.n, columns_per_block(vectors, self.registers))
            for columns in sorted(set(blocks), reverse=True):
                count = blocks.count(columns)
                call = self.block(vectors, columns)
                body.append(
                    f"  for (long j = {column}; j < {column + count * columns}; j += {columns})\n"
                    f"    {call}(a + {row}, b + j * {site.stride_bn}, c + {row} + j * {site.ldc}, {shape.k}, count);"
                )
                column += count * columns
            row += vectors * self.width
        while rest:
            rows = min(rest, 64)
            body.append(f"  {self.rest(rows)}(a + {row}, b, c + {row}, {shape.n}, {shape.k}, count);")
            row += rows
            rest -= rows
        head = (
            f"static void {name}(const {site.element} *a, const {site.element} *b, {site.accumulator} *c, long count)"
        )
        return "\n".join([head, "{", *body, "}"])


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

    def unavailable(self) -> str | None:
        return None

    def rejects(self, shape: GemmShape) -> str | None:
        if shape.n > 1 and shape.ldc < shape.m:
            return f"columns of the output overlap (ldc {shape.ldc} is less than m {shape.m})"
        return None

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        return tile_sizes(role, extent, vector_elements)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:
        registers = 32 if vector_elements >= 16 else 16
        slower = 1.25 + (0.5 if shape.m % vector_elements else 0.0)
        return slower * cycles(shape, vector_elements, registers, overhead=20.0)

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:
        writer = _Writer(site, vector_bytes)
        runs = {index: f"{site.prefix}_run_{''.join(map(str, index))}" for index, _ in site.shapes()}
        bodies = [writer.run(runs[index], shape) for index, shape in site.shapes()]
        definitions = [
            _offsets(site.prefix, "a", site.offsets_a),
            _offsets(site.prefix, "b", site.offsets_b),
        ]
        if writer.width:
            definitions.insert(
                0,
                f"typedef {site.element} {site.prefix}_vector "
                f"__attribute__((vector_size({vector_bytes}), aligned(sizeof({site.element})), may_alias));",
            )
        cases = []
        for index, name in runs.items():
            condition = " && ".join(
                f"{'' if last else '!'}last_{role}"
                for role, last, ends in zip("mnk", index, (site.m, site.n, site.k), strict=True)
                if ends[0] != ends[1]
            )
            cases.append(f"  if ({condition or '1'})\n    {name}(a, b, c, count);")
        unused = [
            f"  (void)last_{r};" for r, ends in zip("mnk", (site.m, site.n, site.k), strict=True) if ends[0] == ends[1]
        ]
        entry = "\n".join(
            [
                f"static void {site.prefix}_run(const {site.element} *a, const {site.element} *b, "
                f"{site.accumulator} *c, "
                "int last_m, int last_n, int last_k, long count)",
                "{",
                *unused,
                *cases,
                "}",
            ]
        )
        return EmittedSite((), "\n".join([*definitions, *writer.functions.values(), *bodies, entry]), "")

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return (
            f"{site.prefix}_run({arguments.a}, {arguments.b}, {arguments.c}, "
            f"{arguments.last_m}, {arguments.last_n}, {arguments.last_k}, {arguments.batch});"
        )

    def link_flags(self) -> tuple[str, ...]:
        return ()


PLAIN_C = PlainC()
