"""Products in tile registers: Intel's matrix extension (AMX), fed with bytes, bfloat16s, or three of these for a float.

A float has 24 significant bits and a bfloat16 eight, so that a float is a sum of three: a = a0 + a1 + a2, the first
the nearest to it. Of the nine products of parts the six largest are computed, exactly, and
summed as floats:

    a * b = a0*b0 + (a0*b1 + a1*b0) + (a0*b2 + a1*b1 + a2*b0) + less than 2^-25 of |a * b|

which is less than the rounding of one product of floats (Henry, Tang and Heinecke, "Leveraging the bfloat16
artificial intelligence datatype for higher-precision computations", ARITH 2019). Six tile products take 3/8 of the
time of the multiply-adds that they replace, and their sums turn out closer to the true ones
(docs/reference/microkernels.md).
What differs: an infinite operand may give NaN in place of an infinity, magnitudes above 3.38e38 overflow, and of
those below 1e-33 some bits are lost.

A call splits its operands into buffers of the thread's own first: A into pairs of steps of k, which is how the
instruction reads it, B as it lies or column by column. What later calls read again stays split for them; of the rest,
two tiles of A, or of B (amx_panels.py), are split while the two before are multiplied. Of bfloat16s there is nothing to
split: A is copied in pairs, and B read where it is, if k is contiguous there. The same goes for bytes, in fours; their
sums are exact. Where A lies row by row, with k contiguous as it is in linear layers, each tile of it is transposed in
registers on the way into its buffer, all four bytes of a group as one word.
"""

from __future__ import annotations

import functools
from ctypes import CDLL, c_long, get_errno
from dataclasses import dataclass, replace
from errno import ENOSPC
from typing import Literal

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
from polydl.divisors import divisors
from polydl.ir.ingredients import Ingredients
from polydl.ir.numerics import EXACT, FLUSHED, Rounding
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE
from polydl.microkernels.amx_code import Writer
from polydl.microkernels.amx_cycles import copies_of_a, copying_cycles
from polydl.microkernels.amx_operands import FORMATS, LEAST_GROUPS, SIDE, padded
from polydl.microkernels.amx_site import NARROW, SETUP
from polydl.microkernels.cpu_flags import cpu_flags
from polydl.microkernels.plain_c import PLAIN_C, REFERENCE

# The part of the second-level cache that A or B, split, takes at most in one call.
_MOST = 0.75
# Steps of k up to which a call sums over all of them: beyond, it hardly matters that tiles of C are loaded once more.
_LONGEST_SUM = 4096
# Columns up to which floats of A by rows are left to others: to split and transpose a float takes about as long as so
# many of its products in vector registers. A limit of shapes, two tiles: it decides which variants there are, and must
# not move with the times that a machine's calibration finds.
_FEW_COLUMNS = 2 * SIDE
# Errors over those of sums of products of floats: one more rounding of half a product's in the sum of one product, of
# which there are fewer roundings the longer the sum.
_SPLIT_FACTOR = 1.125


@functools.cache
def _missing() -> str | None:
    if not {"amx_bf16", "amx_int8", "amx_tile", "avx512bw"} <= cpu_flags():
        return "the processor has no tiles of bfloat16 and bytes (AMX)"
    # arch_prctl(ARCH_REQ_XCOMP_PERM, XTILEDATA)
    if CDLL(None, use_errno=True).syscall(c_long(158), c_long(0x1023), c_long(18)) == 0:
        return None
    if get_errno() == ENOSPC:
        return "a thread has a signal stack (sigaltstack) that tile registers don't fit"
    return "the system does not let processes use tile registers"


@dataclass(frozen=True)
class Amx(Microkernel):
    """The ``c-amx`` microkernel: bytes, bfloat16, and float to its full accuracy."""

    name: str = "c-amx"
    reference: str = REFERENCE
    patterns: tuple[StridePattern, ...] = (
        StridePattern("contiguous", ("one", "one", "zero"), ("any", "zero", "any"), ("zero", "any", "any")),
        StridePattern("rows", ("one", "many", "zero"), ("any", "zero", "any"), ("zero", "one", "any")),
    )
    elements: tuple[tuple[str, ...], ...] = (
        ("float", "float"),
        *NARROW,
    )

    abilities: frozenset[Ability] = frozenset({"rows", "overwrite", "ahead", "copies", "after"})
    family: str = "tile registers"
    kept_memory: tuple[str, ...] = ("The copies of c-amx are thread-local variables, which go with their threads.",)
    formula_constants: tuple[FormulaConstants, ...] = (
        FormulaConstants(
            ("tile_product_cycles", "tile_output_cycles", "tile_call_cycles", "tile_split_cycles"), ("float", "float")
        ),
        FormulaConstants(("tile_copy_cycles",), (BFLOAT16, "float")),
        FormulaConstants(("tile_transpose_cycles",), (BFLOAT16, "float"), row_by_row=True),
    )
    #: The cores that the code is for.
    core: Core = WIDE_CORE

    @property
    def macros(self) -> frozenset[str]:
        return frozenset({"__AMX_TILE__", "__AMX_INT8__", "__AMX_BF16__"})

    def unavailable(self) -> str | None:
        return _missing()

    def rejects(self, shape: GemmShape) -> str | None:
        kind = FORMATS[shape.element]
        least, most, step = LEAST_GROUPS * kind.group, kind.longest, kind.step_of(shape.k)
        if step < least and kind.parts > 1:
            return f"k = {shape.k} fills too little of a tile, which takes from {least - kind.group + 1} steps on"
        if step < least or (shape.k % step and shape.stride_am != 1):
            return f"no multiple of {kind.group} from {least} to {most} divides k = {shape.k}"
        if shape.m < SIDE or shape.n * shape.rows < SIDE:
            return f"{shape.m} by {shape.n * shape.rows} elements don't fill a tile"
        if kind.parts > 1 and shape.stride_am != 1 and shape.n * shape.rows <= _FEW_COLUMNS:
            return f"{shape.n * shape.rows} columns don't pay for splitting and transposing rows of A"
        width = kind.parts * kind.bytes
        most = int(_MOST * self.core.second_cache_bytes)
        if width * shape.m * shape.k * shape.batch > most:
            return f"A, split, takes more than {most >> 10} KiB"
        if width * _elements_of_b(shape) > most:
            return f"B, split, takes more than {most >> 10} KiB"
        return PLAIN_C.rejects(shape)

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:  # noqa: ARG002
        """Large ones: an operand is split once for all that a call does with it, and C is read and written once."""
        if role == "k":
            wanted, whole = [256, 128, 512, 64], extent <= _LONGEST_SUM
        elif role == "m":
            wanted, whole = [128, 64, 256, 32, 512], extent <= 512
        else:
            even = sorted((d for d in divisors(extent) if 48 <= d <= 512), key=lambda d: (d / padded(d), d))
            wanted, whole = [*reversed(even[-4:]), 256, 128, 64], extent <= 1024
        sizes = [extent] if whole else []
        sizes += [size for size in wanted if size < extent]
        return tuple(dict.fromkeys(sizes)) or (extent,)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:  # noqa: ARG002
        along_m, along_n = -(-shape.m // SIDE), -(-shape.n * shape.rows // SIDE)
        kind, core = FORMATS[shape.element], self.core
        steps = shape.batch * kind.products_along(shape.k)
        products = along_m * along_n * (steps * kind.products * core.tile_product_cycles + core.tile_output_cycles)
        return core.tile_call_cycles + products + copying_cycles(shape, products, core)

    def kept_copies(self, shape: GemmShape) -> tuple[int, int]:
        return copies_of_a(shape, self.core), 1

    def panel_rows(self, vector_elements: int) -> int:  # noqa: ARG002
        return 2 * SIDE

    def rounding(self, element: str) -> Rounding:
        if element == "float":
            return Rounding("nothing", _SPLIT_FACTOR, ("floats as three bfloat16s",))
        if element == BFLOAT16:
            return Rounding("nothing", 1.0, (FLUSHED,))
        return EXACT

    def on(self, core: Core) -> Amx:
        return replace(self, core=core)

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:  # noqa: ARG002
        start = ""
        writer = Writer(site, self.core)
        if site.keeps_a or writer.keeps_b:
            # What was split in an earlier call of the function may have changed.
            start = (
                f"#ifdef POLYDL_HAS_TILES\n    __atomic_add_fetch(&{site.prefix}_round, 1, __ATOMIC_RELAXED);\n#endif"
            )
        return EmittedSite((), writer.text(), SETUP, start, Ingredients(("immintrin.h",)))

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return PLAIN_C.call(site, arguments)


def _elements_of_b(shape: GemmShape) -> int:
    """Those that a call splits at least: products share some only where k is contiguous, and B is split as it lies."""
    return shape.k * shape.n * shape.rows * (1 if shape.stride_bk == 1 else shape.batch)


AMX = Amx()
