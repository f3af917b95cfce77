"""Writes the C of LIBXSMM's kernels for groups, for one site: the batch, copies of A, plain loops, and the set-up."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import gcd

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.contracts import GemmShape, GemmSite
from polydl.divisors import divisors
from polydl.ir.ingredients import Fragment
from polydl.machine.core import Core
from polydl.microkernels.libxsmm_declarations import GROUPED_A, MOST_APART, declared, dispatch_name
from polydl.microkernels.plain_c_blocks import FIRST, summing_loops, table, widened

# Where LIBXSMM has no instructions for bytes that it knows, its kernels add in 16 bits, and saturate.
_EXACT = """\
#ifndef POLYDL_EXACT_BYTES
#define POLYDL_EXACT_BYTES
typedef void (*polydl_bytes)(const char *, const unsigned char *, int *, const unsigned long long *,
                             const unsigned long long *, const unsigned long long *);
/* Whether a kernel adds the product of the largest bytes k times. */
static int polydl_is_exact(polydl_bytes kernel, int m, int n, int k, int lda, int ldb, int ldc, int first)
{
  const unsigned long long one = 1, zero = 0;
  const size_t size_a = (size_t)lda * k, size_b = (size_t)ldb * n, size_c = (size_t)ldc * n;
  char *a = malloc(size_a + 64); /* whose last lines may be read whole */
  unsigned char *b = malloc(size_b + 64);
  int *c = malloc(size_c * sizeof *c), exact = a && b && c;
  if (exact) {
    memset(a, 127, size_a);
    memset(b, 255, size_b);
    for (size_t place = 0; place < size_c; ++place)
      c[place] = 7;
    kernel(a, b, c, &one, &zero, &zero);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i)
        exact &= c[i + j * (size_t)ldc] == (first ? 0 : 7) + 127 * 255 * k;
  }
  free(a);
  free(b);
  free(c);
  return exact;
}
#endif"""
# The part of the second-level cache that all copies which a thread keeps may take, and their number: each call looks
# through them one by one.
_KEPT = 0.5
_MOST_KEPT = 8


@dataclass(frozen=True)
class Grouped:
    """LIBXSMM's kernels for some element types."""

    #: of the names of LIBXSMM's functions
    stem: str
    #: as in ``Microkernel.elements``
    types: tuple[str, ...]
    #: steps of k in a group
    group: int
    #: of an element of A and B
    bytes: int

    @property
    def accumulator(self) -> str:
        """The type of C's elements."""
        return self.types[-1]

    @property
    def c_types(self) -> tuple[str, str]:
        """The types of A's and B's elements as LIBXSMM declares them."""
        return ("unsigned short", "unsigned short") if self.bytes == 2 else ("char", "unsigned char")


def leading_b(stride_bn: int, n: int, k: int, group: int) -> int:
    """B's leading dimension, which must be whole groups; a B of one column may have any."""
    return -(-max(stride_bn, k) // group) * group if n == 1 else stride_bn


def in_groups(shape: GemmShape | GemmSite) -> bool:
    """Whether A is in groups (VNNI). The patterns ensure that any other A has a stride along k above one."""
    return shape.lda == 1


@dataclass(frozen=True)
class _Batch:
    """The batch of products that is passed to LIBXSMM for a site."""

    #: products of the site in one product of the batch
    merged: int
    #: leading dimension of A, in rows of groups; 0 where A is copied
    lda: int
    #: offset of each product in A, elements
    starts_a: tuple[int, ...]
    #: offset of each product in B, elements
    starts_b: tuple[int, ...]


def _batch_of(site: GemmSite, group: int) -> _Batch:
    """The batch of a site. Products whose groups are evenly spaced in A and adjacent in B are merged into one."""
    if not in_groups(site):
        return _Batch(1, 0, site.offsets_a, site.offsets_b)
    length = gcd(*site.batch)
    for merged in sorted(divisors(length), reverse=True):
        steps = {
            (two_a - one_a, two_b - one_b)
            for first in range(0, len(site.offsets_a), merged)
            for (one_a, two_a), (one_b, two_b) in zip(
                pairwise(site.offsets_a[first : first + merged]),
                pairwise(site.offsets_b[first : first + merged]),
                strict=True,
            )
        }
        if merged == 1 or len(steps) == 1:
            step_a, step_b = next(iter(steps), (group * site.m[0], group))
            narrow = step_b != group or step_a % group or step_a < group * site.m[0]
            overlapping = max(site.n) > 1 and site.stride_bn < merged * group
            if not (narrow or overlapping or step_a // group > MOST_APART):
                starts = site.offsets_a[::merged], site.offsets_b[::merged]
                return _Batch(merged, step_a // group, *starts)
    return _Batch(1, site.m[0], site.offsets_a, site.offsets_b)


def kept_copies(longest: int, core: Core) -> int:
    """Of how many tiles of A a thread keeps copies, the longest of so many bytes."""
    return max(1, min(_MOST_KEPT, int(_KEPT * core.second_cache_bytes) // longest))


class Writer:
    """Writes the C of one site."""

    def __init__(self, grouped: Grouped, site: GemmSite, core: Core) -> None:
        self.grouped, self.site = grouped, site
        self.batch = _batch_of(site, grouped.group)
        self.reduces = max(site.batch) > self.batch.merged
        self.copies = not in_groups(site)
        self.longest = max(shape.m * shape.k * shape.batch for _, shape in site.shapes())
        self.slots = 1
        if site.keeps_a:
            self.slots = kept_copies(self.longest * grouped.bytes, core)

    @property
    def declarations(self) -> Fragment:
        """Declarations of LIBXSMM's functions."""
        grouped = self.grouped
        return declared(self.site.prefix, grouped.stem, grouped.c_types, grouped.accumulator, many=self.reduces)

    @property
    def parameters(self) -> str:
        """The operands, as C declares parameters."""
        site = self.site
        return f"const {site.element} *a, const {site.type_b} *b, {site.accumulator} *c"

    def text(self) -> str:
        """The C at file scope, without the set-up."""
        prefix = self.site.prefix
        parts = [
            *([_EXACT] if self.grouped.bytes == 1 else []),
            self.declarations.text,
            f"static {prefix}_function {prefix}_kernel[2][2][2][2];",
            table(f"{prefix}_offsets_a", self.site.offsets_a),
            table(f"{prefix}_offsets_b", self.site.offsets_b),
        ]
        if self.reduces:
            parts += self._tables()
        parts.append(self._loops())
        if self.copies:
            parts.append(self._copy())
        return "\n".join([*parts, self._run()])

    def _tables(self) -> list[str]:
        """The C tables of each product's offset in bytes; for a copied A, one table per size."""
        site, width = self.site, self.grouped.bytes

        def bytes_of(name: str, elements: tuple[int, ...]) -> str:
            values = ", ".join(f"{width * element}ull" for element in elements)
            return f"static const unsigned long long {name}[{len(elements)}] = {{{values}}};"

        tables = [bytes_of(f"{site.prefix}_bytes_b", self.batch.starts_b)]
        if not self.copies:
            return [*tables, bytes_of(f"{site.prefix}_bytes_a", self.batch.starts_a)]
        for (last_m, last_n, last_k), shape in site.shapes():
            if not last_n:
                starts = tuple(number * shape.m * shape.k for number in range(len(site.offsets_a)))
                tables.append(bytes_of(f"{site.prefix}_bytes_a_{last_m}{last_k}", starts))
        return tables

    def _loops(self) -> str:
        """Plain loops for where LIBXSMM has no kernel: small, since they are hardly ever called."""
        site, prefix = self.site, self.site.prefix
        factor = f"b[{prefix}_offsets_b[r] + j * {site.stride_bn} + l * {site.stride_bk}]"
        value = f"column[{1 if self.copies else self.grouped.group} * i]"
        if site.element == BFLOAT16:
            factor, value = widened(factor), widened(value)
        column = f"a + {prefix}_offsets_a[r] + l * {site.lda}"
        return summing_loops(site, f"{prefix}_loops", self.parameters, column, factor, value)

    def _copy(self) -> str:
        """The buffers, and a function that copies A into groups unless it finds it there."""
        site, prefix, group = self.site, self.site.prefix, self.grouped.group
        aligned = "__attribute__((aligned(64)))"
        lines = [
            f"static _Thread_local {site.element} {prefix}_groups[{self.slots}][{self.longest}] {aligned};",
        ]
        find = ["  const int slot = 0;"]
        if site.keeps_a:
            what = (("from", "a"), ("count", "count"), ("m", "m"), ("k", "k"), ("round", f"{prefix}_round"))
            held = f"{prefix}_held[slot]"
            lines += [
                f"static long {prefix}_round = 1;",
                f"static _Thread_local struct {{ const {site.element} *from; long count, m, k, round; }} "
                f"{prefix}_held[{self.slots}];",
                f"static _Thread_local int {prefix}_next;",
            ]
            find = [
                f"  for (int slot = 0; slot < {self.slots}; ++slot)",
                f"    if ({' && '.join(f'{held}.{name} == {value}' for name, value in what)})",
                f"      return {prefix}_groups[slot];",
                f"  const int slot = {prefix}_next;",
                f"  {prefix}_next = (slot + 1) % {self.slots};",
                *(f"  {held}.{name} = {value};" for name, value in what),
            ]
        return "\n".join(
            [
                *lines,
                f"static const {site.element} *{prefix}_in_groups(const {site.element} *a, long m, long k, long count)",
                "{",
                *find,
                f"  {site.element} *restrict to = {prefix}_groups[slot];",
                "  for (long r = 0; r < count; ++r)",
                f"    for (long l = 0; l < k; l += {group}, to += {group} * m) {{",
                f"      const {site.element} *from = a + {prefix}_offsets_a[r] + l * {site.lda};",
                "      for (long i = 0; i < m; ++i) {",
                *(f"        to[{group} * i + {step}] = from[i + {step * site.lda}];" for step in range(group)),
                "      }",
                "    }",
                f"  return {prefix}_groups[slot];",
                "}",
            ]
        )

    def _run(self) -> str:
        site, prefix = self.site, self.site.prefix
        of_a, of_b = self.grouped.c_types
        operand = "a"
        lines = []
        if self.copies:
            m, k = (f"last_{role} ? {ends[1]} : {ends[0]}" for role, ends in (("m", site.m), ("k", site.k)))
            lines.append(f"    const {site.element} *groups = {prefix}_in_groups(a, {m}, {k}, count);")
            operand = "groups"
        arguments = f"(const {of_a} *){operand}, (const {of_b} *)b, c"
        if self.reduces:
            bytes_a = f"{prefix}_bytes_a"
            if self.copies:
                choices = sorted({(m, k) for (m, _, k), _ in site.shapes()}, reverse=True)
                bytes_a = "".join(
                    f"last_m == {m} && last_k == {k} ? {prefix}_bytes_a_{m}{k} : "
                    for m, k in choices
                    if (m, k) != (0, 0)
                )
                bytes_a += f"{prefix}_bytes_a_00"
            lines.append(f"    const unsigned long long length = (unsigned long long)count / {self.batch.merged};")
            arguments += f", &length, {bytes_a}, {prefix}_bytes_b"
        return "\n".join(
            [
                f"static inline void {prefix}_run({self.parameters}, "
                f"int last_m, int last_n, int last_k, long count{FIRST})",
                "{",
                f"  const {prefix}_function kernel = {prefix}_kernel[first][last_m][last_n][last_k];",
                "  if (kernel) {",
                *lines,
                f"    kernel({arguments});",
                "  } else",
                f"    {prefix}_loops(a, b, c, last_m, last_n, last_k, count, first);",
                "}",
            ]
        )

    def setup(self) -> str:
        """C that dispatches a kernel for each shape; one that is not exact is NULL, so that plain loops run."""
        site = self.site
        function = dispatch_name(self.grouped.stem, many=self.reduces)
        lines = []
        places = [(first, *index, shape) for first in range(1 + site.overwrites) for index, shape in site.shapes()]
        for first, last_m, last_n, last_k, shape in places:
            k = shape.k * self.batch.merged
            place = f"{site.prefix}_kernel[{first}][{last_m}][{last_n}][{last_k}]"
            lda, ldb = self.batch.lda or shape.m, leading_b(site.stride_bn, shape.n, k, self.grouped.group)
            lines += [
                "  {",
                f"    const int lda = {lda}, ldb = {ldb}, ldc = {shape.ldc};",
                f"    const {site.accumulator} alpha = 1, beta = {0 if first else 1};",
                f"    const int flags = {GROUPED_A}; /* A is in groups of k */",
                f"    {place} =",
                f"        {function}({shape.m}, {shape.n}, {k}, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);",
            ]
            if self.grouped.bytes == 1:
                sizes = f"{shape.m}, {shape.n}, {k}, lda, ldb, ldc, {first}"
                lines += [
                    f"    if ({place} && !polydl_is_exact((polydl_bytes)(void (*)(void)){place}, {sizes}))",
                    f"      {place} = NULL;",
                ]
            lines.append("  }")
        return "\n".join(lines)
