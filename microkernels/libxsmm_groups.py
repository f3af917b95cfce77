"""LIBXSMM's kernels for bfloat16s and bytes, which read A in groups: two or four steps of k side by side (VNNI).

Where A lies in such groups already, the four (or two) are the role k and the loop over the groups is a part of the
batch; groups that lie evenly become one longer product. Any other A is copied into groups first, in a buffer of the
thread's own, and stays copied for later calls that read it again. B is read where it lies, contiguous along k.

What LIBXSMM 1.17 has for bytes is usable in one combination alone, A signed and B not: of the others, it encodes
instructions wrongly for some sizes (A unsigned, B signed) or computes wrong sums (both alike). Columns of B must be
whole groups apart; it takes others and computes wrong sums, too.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import gcd
from typing import Literal

from polydl import native
from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.contracts import Ability, CallArguments, EmittedSite, GemmShape, GemmSite, Microkernel, StridePattern
from polydl.divisors import divisors
from polydl.errors import MissingComponentError
from polydl.machine.core import Core
from polydl.machine.families import WIDE_CORE
from polydl.microkernels.libxsmm import LIBXSMM
from polydl.microkernels.plain_c import PLAIN_C
from polydl.microkernels.plain_c_blocks import FIRST, summing_loops, table, widened
from polydl.microkernels.shapes import cycles, tile_sizes

_VNNI_A = 32768
_LONGEST_BATCH = 4096
# Bytes of A that one call copies at most, and that all copies that a thread keeps may take.
_MOST_COPIED = 3 << 19
_KEPT = 1 << 20
_MOST_KEPT = 8
# Cycles to copy an element, and how often it has to be, in the mean.
_COPY_CYCLES, _COPIED_SHARE = 0.15, 0.5


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
    #: time of a group relative to that of one step of k in float
    slowness: float

    @property
    def accumulator(self) -> str:
        return self.types[-1]

    @property
    def c_types(self) -> tuple[str, str]:
        """The types of A's and B's elements as LIBXSMM declares them."""
        return ("unsigned short", "unsigned short") if self.bytes == 2 else ("char", "unsigned char")


_BFLOAT16S = Grouped("bsmm", (BFLOAT16, "float"), 2, 2, 4.2)
_BYTES = Grouped("subimm", ("signed char", "unsigned char", "int"), 4, 1, 1.2)


@lru_cache(maxsize=4096)
def dispatch(
    grouped: Grouped, sizes: tuple[int, int, int], leading: tuple[int, int, int], first: bool, many: bool
) -> int:
    """Address of the kernel that LIBXSMM compiles for m, n, k and the leading dimensions (A's in groups), or 0.

    ``many`` asks for the batch-reduce form with byte offsets. Raises MissingComponentError without LIBXSMM.
    """
    function = getattr(native.libxsmm_library(), f"libxsmm_{grouped.stem}dispatch{'_reducebatch_offs' if many else ''}")
    function.restype = ctypes.c_void_p
    number = ctypes.c_float if grouped.accumulator == "float" else ctypes.c_int
    options = [
        *(ctypes.c_int(dimension) for dimension in leading),
        number(1),
        number(0 if first else 1),
        ctypes.c_int(_VNNI_A),
    ]
    address = function(
        *(ctypes.c_int(argument) for argument in sizes), *(ctypes.byref(argument) for argument in options), None
    )
    return int(address or 0)


def _leading_b(stride_bn: int, n: int, k: int, group: int) -> int:
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
            if not (narrow or overlapping):
                starts = site.offsets_a[::merged], site.offsets_b[::merged]
                return _Batch(merged, step_a // group, *starts)
    return _Batch(1, site.m[0], site.offsets_a, site.offsets_b)


class _Writer:
    """Writes the C of one site."""

    def __init__(self, grouped: Grouped, site: GemmSite) -> None:
        self.grouped, self.site = grouped, site
        self.batch = _batch_of(site, grouped.group)
        self.reduces = max(site.batch) > self.batch.merged
        self.suffix = "_reducebatch_offs" if self.reduces else ""
        self.copies = not in_groups(site)
        self.longest = max(shape.m * shape.k * shape.batch for _, shape in site.shapes())
        self.slots = 1
        if site.again_a:
            self.slots = max(1, min(_MOST_KEPT, _KEPT // (self.longest * grouped.bytes)))

    @property
    def parameters(self) -> str:
        site = self.site
        return f"const {site.element} *a, const {site.type_b} *b, {site.accumulator} *c"

    def text(self) -> str:
        prefix = self.site.prefix
        parts = [
            f"static libxsmm_{self.grouped.stem}function{self.suffix} {prefix}_kernel[2][2][2][2];",
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
        if site.again_a:
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
                f"  const libxsmm_{self.grouped.stem}function{self.suffix} kernel = "
                f"{prefix}_kernel[first][last_m][last_n][last_k];",
                "  if (kernel) {",
                *lines,
                f"    kernel({arguments});",
                "  } else",
                f"    {prefix}_loops(a, b, c, last_m, last_n, last_k, count, first);",
                "}",
            ]
        )

    def setup(self) -> str:
        site = self.site
        function = f"libxsmm_{self.grouped.stem}dispatch{self.suffix}"
        lines = []
        places = [(first, *index, shape) for first in range(1 + site.overwrites) for index, shape in site.shapes()]
        for first, last_m, last_n, last_k, shape in places:
            k = shape.k * self.batch.merged
            lda, ldb = self.batch.lda or shape.m, _leading_b(site.stride_bn, shape.n, k, self.grouped.group)
            lines += [
                "  {",
                f"    const libxsmm_blasint lda = {lda}, ldb = {ldb}, ldc = {shape.ldc};",
                f"    const {site.accumulator} alpha = 1, beta = {0 if first else 1};",
                "    const int flags = LIBXSMM_GEMM_FLAG_VNNI_A;",
                f"    {site.prefix}_kernel[{first}][{last_m}][{last_n}][{last_k}] =",
                f"        {function}({shape.m}, {shape.n}, {k}, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);",
                "  }",
            ]
        return "\n".join(lines)


def _reference(group: int) -> str:
    return f"""\
for (long q = 0; q < rows; ++q)
  for (long r = 0; r < count; ++r)
    for (long j = 0; j < n; ++j)
      for (long l = 0; l < k; ++l)
        for (long i = 0; i < m; ++i)
          c[c_rows[q] + i + j * ldc] +=
              a[a_offsets[r] + (lda == 1 ? {group} : 1) * i + l * lda] *
              b[b_rows[q] + b_offsets[r] + j * stride_bn + l * stride_bk];
"""


@lru_cache
def _wrong(grouped: Grouped) -> str | None:
    """The message if LIBXSMM's kernels for this processor compute wrong small products; None if they are right."""
    for m, n, k in ((16, 3, 8), (64, 5, 16), (65, 2, 12)):
        address = dispatch(grouped, (m, n, k), (m, k, m), False, False)
        if not address:
            return f"LIBXSMM {native.libxsmm_version()} has no such kernels for this processor"
        # Small integers, which bfloat16s hold exactly: their bits are the upper half of the float's.
        values_a = [(7 * place) % 11 - 5 for place in range(m * k)]
        values_b = [(5 * place) % 13 for place in range(n * k)]
        numbers = [ctypes.c_byte, ctypes.c_ubyte] if grouped.bytes == 1 else [ctypes.c_uint16] * 2
        bits = _as_bits if grouped.bytes == 2 else int
        a, b = (
            (kind * len(values))(*map(bits, values)) for kind, values in zip(numbers, (values_a, values_b), strict=True)
        )
        c = ((ctypes.c_float if grouped.accumulator == "float" else ctypes.c_int) * (m * n))(*range(m * n))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address)(a, b, c)
        for column in range(n):
            for row in range(m):
                terms = (
                    values_a[(step // grouped.group * m + row) * grouped.group + step % grouped.group]
                    * values_b[column * k + step]
                    for step in range(k)
                )
                place = row + column * m
                if c[place] != place + sum(terms):
                    return f"LIBXSMM {native.libxsmm_version()} computes wrong sums on this processor"
    return None


def _as_bits(value: int) -> int:
    return int.from_bytes(bytes(ctypes.c_float(value))[2:], "little")


@dataclass(frozen=True)
class LibxsmmGroups(Microkernel):
    """The microkernels ``libxsmm-bf16`` and ``libxsmm-int8``."""

    grouped: Grouped
    name: str = ""
    abilities: frozenset[Ability] = frozenset({"overwrite", "copies"})
    family: str = "groups, compiled at run time"
    library: str = "libxsmm"
    #: The cores that the code is for.
    core: Core = WIDE_CORE

    @property
    def reference(self) -> str:
        return _reference(self.grouped.group)

    @property
    def elements(self) -> tuple[tuple[str, ...], ...]:
        return (self.grouped.types,)

    @property
    def patterns(self) -> tuple[StridePattern, ...]:
        side_by_side: Literal["two", "four"] = "two" if self.grouped.group == 2 else "four"
        return (
            StridePattern("groups", ("one", side_by_side, "zero"), ("any", "zero", "any"), ("zero", "one", "one")),
            StridePattern("plain", ("one", "one", "zero"), ("any", "zero", "any"), ("zero", "many", "one")),
        )

    def unavailable(self) -> str | None:
        try:
            return _wrong(self.grouped)
        except MissingComponentError as error:
            return f"{error.message} ({error.remedy})"

    def rejects(self, shape: GemmShape) -> str | None:
        plain = PLAIN_C.rejects(shape)
        if plain is not None:
            return plain
        group, width = self.grouped.group, self.grouped.bytes
        if shape.rows > 1:
            return "its columns lie in several rows"
        if in_groups(shape) and shape.k != group:
            return f"a group of k has {group} steps, not {shape.k}"
        if shape.k % group:
            return f"{shape.k} steps of k are not whole groups of {group}"
        if shape.n > 1 and shape.stride_bn < shape.k:
            return f"columns of B overlap (ldb {shape.stride_bn} is less than {shape.k})"
        if shape.n > 1 and shape.stride_bn % group:
            return f"columns of B lie {shape.stride_bn} elements apart, which are not whole groups of {group}"
        if shape.batch > _LONGEST_BATCH:
            return f"a batch of {shape.batch} products is longer than {_LONGEST_BATCH}"
        if not in_groups(shape) and shape.m * shape.k * shape.batch * width > _MOST_COPIED:
            return f"A takes more than {_MOST_COPIED >> 10} KiB"
        sizes = shape.m, shape.n, shape.k
        leading = shape.m, _leading_b(shape.stride_bn, shape.n, shape.k, group), shape.ldc
        if not dispatch(self.grouped, sizes, leading, shape.overwrite, shape.batch > 1):
            return f"LIBXSMM declines m={shape.m} n={shape.n} k={shape.k}"
        return None

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        group = self.grouped.group
        if role == "k" and extent > group:
            # The loop over a group's steps has that many, and all others run over several groups.
            return tuple(size for size in tile_sizes(role, extent, vector_elements) if size % group == 0) or (extent,)
        return tile_sizes(role, extent, vector_elements)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:
        """The cycles of float with a group in place of a step of k, and those of copying A."""
        group = self.grouped.group
        products = replace(shape, k=max(1, shape.k // group))
        if in_groups(shape):
            products = replace(products, k=shape.batch, batch=1)
        copied = 0.0 if in_groups(shape) else _COPIED_SHARE * _COPY_CYCLES * shape.m * shape.k * shape.batch
        overhead = 30.0 + 2.0 * products.batch
        return self.grouped.slowness * cycles(products, vector_elements, self.core, overhead) + copied

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:  # noqa: ARG002
        writer = _Writer(self.grouped, site)
        # What was copied in an earlier call of the function may have changed.
        start = f"    __atomic_add_fetch(&{site.prefix}_round, 1, __ATOMIC_RELAXED);"
        return EmittedSite(
            ("libxsmm.h",), writer.text(), writer.setup(), start if writer.copies and site.again_a else ""
        )

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return PLAIN_C.call(site, arguments)

    def link_flags(self) -> tuple[str, ...]:
        return LIBXSMM.link_flags()

    def version(self) -> str:
        return LIBXSMM.version()

    def on(self, core: Core) -> LibxsmmGroups:
        return replace(self, core=core)


# The pairs of bfloat16s are summed in an order of their own, and denormal numbers count as zero.
LIBXSMM_BF16 = LibxsmmGroups(_BFLOAT16S, "libxsmm-bf16", frozenset({"overwrite", "copies", "rounds"}))
LIBXSMM_INT8 = LibxsmmGroups(_BYTES, "libxsmm-int8")
