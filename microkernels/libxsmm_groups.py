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
from typing import Literal

from polydl import native
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
from polydl.errors import MissingComponentError
from polydl.ir.kernel import StaticLibrary
from polydl.ir.numerics import EXACT, FLUSHED, Rounding
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE
from polydl.microkernels.grouped_products import Kernel, first_wrong
from polydl.microkernels.libxsmm import KEPT_CODE, LIBXSMM
from polydl.microkernels.libxsmm_blocks import block_cycles
from polydl.microkernels.libxsmm_declarations import GROUPED_A, LONGEST_BATCH, dispatch_name, too_far_apart
from polydl.microkernels.libxsmm_groups_code import Grouped, Writer, in_groups, kept_copies, leading_b
from polydl.microkernels.plain_c import PLAIN_C, REFERENCE
from polydl.microkernels.shapes import tile_sizes

# The part of the second-level cache that the copy of A takes at most in one call.
_MOST_COPIED = 0.75
# The constant that says how long the products of groups of so many steps take.
_SLOWDOWNS = {2: "bfloat16_pair_slowdown", 4: "byte_group_slowdown"}


_BFLOAT16S = Grouped("bsmm", (BFLOAT16, "float"), 2, 2)
_BYTES = Grouped("subimm", ("signed char", "unsigned char", "int"), 4, 1)


@lru_cache(maxsize=4096)
def dispatch(
    grouped: Grouped, sizes: tuple[int, int, int], leading: tuple[int, int, int], first: bool, many: bool
) -> int:
    """Address of the kernel that LIBXSMM compiles for m, n, k and the leading dimensions (A's in groups), or 0.

    ``many`` asks for the batch-reduce form with byte offsets. Raises MissingComponentError without LIBXSMM.
    """
    function = getattr(native.libxsmm_library(), dispatch_name(grouped.stem, many=many))
    function.restype = ctypes.c_void_p
    number = ctypes.c_float if grouped.accumulator == "float" else ctypes.c_int
    options = [
        *(ctypes.c_int(dimension) for dimension in leading),
        number(1),
        number(0 if first else 1),
        ctypes.c_int(GROUPED_A),
    ]
    address = function(
        *(ctypes.c_int(argument) for argument in sizes), *(ctypes.byref(argument) for argument in options), None
    )
    return int(address or 0)


@lru_cache
def _wrong(grouped: Grouped) -> str | None:
    """The message if LIBXSMM's kernels for this processor compute wrong small products; None if they are right.

    Without VNNI, those for AVX-512 saturate large products of bytes.
    """

    def kernel_for(m: int, n: int, k: int) -> Kernel | None:
        address = dispatch(grouped, (m, n, k), (m, k, m), False, False)
        return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address) if address else None

    library = native.libxsmm_library()
    if not all(hasattr(library, dispatch_name(grouped.stem, many=many)) for many in (False, True)):
        return "LIBXSMM has no such kernels"
    of_floats = grouped.accumulator == "float"
    problem = first_wrong(kernel_for, group=grouped.group, element_bytes=grouped.bytes, of_floats=of_floats)
    return None if problem is None else f"LIBXSMM {native.libxsmm_version()} {problem}"


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
    def kept_memory(self) -> tuple[str, ...]:
        return f"The copies of {self.name} are thread-local variables, which go with their threads.", KEPT_CODE

    @property
    def reference(self) -> str:
        return REFERENCE

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

    @property
    def formula_constants(self) -> tuple[FormulaConstants, ...]:
        types, group = self.grouped.types, self.grouped.group
        slowdown = FormulaConstants((_SLOWDOWNS[group],), types, group)
        if group == 4:
            return (slowdown,)
        return slowdown, FormulaConstants(("group_copy_cycles",), types)

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
        if shape.batch > LONGEST_BATCH:
            return f"a batch of {shape.batch} products is longer than {LONGEST_BATCH}"
        most = int(_MOST_COPIED * self.core.second_cache_bytes)
        if not in_groups(shape) and shape.m * shape.k * shape.batch * width > most:
            return f"A takes more than {most >> 10} KiB"
        sizes = shape.m, shape.n, shape.k
        leading = shape.m, leading_b(shape.stride_bn, shape.n, shape.k, group), shape.ldc
        far = too_far_apart(*leading)
        if far is not None:
            return far
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
        copied = (
            0.0 if in_groups(shape) else shape.anew_a * self.core.group_copy_cycles * shape.m * shape.k * shape.batch
        )
        slowdown: float = getattr(self.core, _SLOWDOWNS[group])
        return slowdown * block_cycles(products, vector_elements, self.core) + copied

    def kept_copies(self, shape: GemmShape) -> tuple[int, int]:
        return kept_copies(shape.m * shape.k * shape.batch * self.grouped.bytes, self.core), 0

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:  # noqa: ARG002
        writer = Writer(self.grouped, site, self.core)
        # What was copied in an earlier call of the function may have changed.
        start = f"    __atomic_add_fetch(&{site.prefix}_round, 1, __ATOMIC_RELAXED);"
        includes = ("stdlib.h", "string.h") if self.grouped.bytes == 1 else ()
        start = start if writer.copies and site.keeps_a else ""
        return EmittedSite(includes, writer.text(), writer.setup(), start, writer.declarations.ingredients)

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return PLAIN_C.call(site, arguments)

    def rounding(self, element: str) -> Rounding:
        """Pairs of bfloat16s are summed in an order of their own, and denormal numbers count as zero."""
        return Rounding("nothing", 1.0, (FLUSHED,)) if element == BFLOAT16 else EXACT

    def link_flags(self) -> tuple[str, ...]:
        return LIBXSMM.link_flags()

    def static_library(self) -> StaticLibrary | None:
        return LIBXSMM.static_library()

    def version(self) -> str:
        return LIBXSMM.version()

    def on(self, core: Core) -> LibxsmmGroups:
        return replace(self, core=core)


LIBXSMM_BF16 = LibxsmmGroups(_BFLOAT16S, "libxsmm-bf16")
LIBXSMM_INT8 = LibxsmmGroups(_BYTES, "libxsmm-int8")
