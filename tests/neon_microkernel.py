"""A microkernel shaped for NEON: vectors of 16 bytes, 32 registers; and a machine that has these.

Its C is that of the compiler's vector extensions, so that any machine can run it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from polydl.contracts import Ability, CallArguments, EmittedSite, GemmShape, GemmSite, Microkernel, StridePattern
from polydl.machine import CacheLevel, Core, Machine

VECTORS, COLUMNS = 4, 6  # of sums in registers: with four of A and one of B, 29 of 32
LANES = 4

#: A core as published of Neoverse N1: no line of /proc/cpuinfo on x86-64 looks like its identity.
MACHINE = Machine(
    name="Neoverse-N1",
    cpu_id="0x41-8-0xd0c-3-64K-1024K-32768K",
    cores=2,
    threads=1,
    isa=("asimd", "neon"),
    vector_bytes=16,
    caches=(
        CacheLevel("L1", 64 << 10, 64, 1, 1.4e-9, 80e9),
        CacheLevel("L2", 1 << 20, 64, 1, 4e-9, 40e9),
        CacheLevel("L3", 32 << 20, 64, 2, 30e-9, 20e9),
    ),
    memory_latency_seconds=120e-9,
    memory_bandwidth_bytes_per_second=12e9,
    memory_bytes=8 << 30,
    peak_gflops=45.0,
)

REFERENCE = """\
for (long r = 0; r < count; ++r)
  for (long j = 0; j < n; ++j)
    for (long l = 0; l < k; ++l)
      for (long i = 0; i < m; ++i)
        c[i + j * ldc] += a[a_offsets[r] + i + l * lda] * b[b_offsets[r] + j * stride_bn + l * stride_bk];
"""

CODE = """\
typedef float SITE_floats __attribute__((vector_size(16), aligned(4), may_alias));
static inline void SITE_tile(const float *a, const float *b, float *c, long vectors, long columns, long k, long count)
{
  SITE_floats sums[COLUMNS][VECTORS];
  for (long j = 0; j < columns; ++j)
    for (long v = 0; v < vectors; ++v)
      sums[j][v] = *(const SITE_floats *)(c + j * SITE_LDC + 4 * v);
  for (long r = 0; r < count; ++r)
    for (long l = 0; l < k; ++l)
      for (long j = 0; j < columns; ++j) {
        const float factor = b[SITE_offsets_b[r] + j * SITE_STRIDE_BN + l * SITE_STRIDE_BK];
        for (long v = 0; v < vectors; ++v)
          sums[j][v] += *(const SITE_floats *)(a + SITE_offsets_a[r] + l * SITE_LDA + 4 * v) * factor;
      }
  for (long j = 0; j < columns; ++j)
    for (long v = 0; v < vectors; ++v)
      *(SITE_floats *)(c + j * SITE_LDC + 4 * v) = sums[j][v];
}
static inline void SITE_run(const float *a, const float *b, float *c, long m, long n, long k, long count)
{
  for (long j = 0; j < n; j += COLUMNS)
    for (long i = 0; i < m; i += 4 * VECTORS)
      SITE_tile(a + i, b + j * SITE_STRIDE_BN, c + i + j * SITE_LDC, m - i < 4 * VECTORS ? (m - i) / 4 : VECTORS,
                n - j < COLUMNS ? n - j : COLUMNS, k, count);
}
"""


@dataclass(frozen=True)
class Neon(Microkernel):
    name: str = "neon"
    reference: str = REFERENCE
    patterns: tuple[StridePattern, ...] = (
        StridePattern("columns", m=("one", "one", "zero"), n=("any", "zero", "any"), k=("zero", "any", "any")),
    )
    elements: tuple[tuple[str, ...], ...] = (("float", "float"),)
    abilities: frozenset[Ability] = frozenset()
    family: str = "vector registers"
    core: Core = MACHINE.core

    def on(self, core: Core) -> Neon:
        return replace(self, core=core)

    def unavailable(self) -> str | None:
        return None

    def rejects(self, shape: GemmShape) -> str | None:
        if shape.n > 1 and shape.ldc < shape.m:
            return "columns of the output overlap"
        return f"{shape.m} rows don't fill vectors" if shape.m % LANES else None

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        wanted = {"m": (2 * VECTORS * LANES, VECTORS * LANES), "n": (8 * COLUMNS, 2 * COLUMNS), "k": (256, 64)}[role]
        return tuple(dict.fromkeys(min(extent, size) for size in wanted))

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:
        vectors = -(-shape.m // LANES)
        steps = vectors * shape.n * shape.k * shape.batch
        return 20 + steps / self.core.fma_per_cycle + 2 * vectors * shape.n / self.core.loads_per_cycle

    def register_block(self, shape: GemmShape, vector_elements: int) -> tuple[int, int]:
        return min(shape.m, VECTORS * LANES), min(shape.n, COLUMNS)

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:
        sizes = {
            "SITE_LDA": site.lda,
            "SITE_LDC": site.ldc,
            "SITE_STRIDE_BN": site.stride_bn,
            "SITE_STRIDE_BK": site.stride_bk,
            "COLUMNS": COLUMNS,
            "VECTORS": VECTORS,
        }
        code = CODE
        for name, value in sizes.items():
            code = code.replace(name, str(value))
        tables = [
            f"static const long SITE_offsets_{operand}[] = {{{', '.join(map(str, offsets))}}};"
            for operand, offsets in (("a", site.offsets_a), ("b", site.offsets_b))
        ]
        return EmittedSite((), "\n".join([*tables, code]).replace("SITE", site.prefix), "")

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        lengths = [
            f"({last}) ? {ends[1]} : {ends[0]}"
            for last, ends in ((arguments.last_m, site.m), (arguments.last_n, site.n), (arguments.last_k, site.k))
        ]
        operands = f"{arguments.a}, {arguments.b}, {arguments.c}"
        return f"{site.prefix}_run({operands}, {', '.join(lengths)}, {arguments.batch});"


NEON = Neon()
