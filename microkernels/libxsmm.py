"""LIBXSMM: matrix products compiled at run time for their exact size.

The emitted C asks LIBXSMM for one kernel per combination of full and last tiles, once, and keeps the
pointers. Where LIBXSMM returns none (it may on another machine than the one that tuned), plain loops in the same
file do the work.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from polydl import native
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
from polydl.ir.scop import REAL_BYTES
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE
from polydl.microkernels.libxsmm_blocks import block_cycles, blocks_of
from polydl.microkernels.libxsmm_declarations import LONGEST_BATCH, TRANSPOSED_B, declared, dispatch_name, too_far_apart
from polydl.microkernels.plain_c import PLAIN_C, REFERENCE
from polydl.microkernels.plain_c_blocks import FIRST, summing_loops
from polydl.microkernels.shapes import tile_sizes

_LETTERS = {"float": "s", "double": "d"}


def libxsmm_version() -> str:
    """The version of the LIBXSMM that emitted C is linked with; "" without it."""
    try:
        return native.libxsmm_version()
    except MissingComponentError:
        return ""


def _transposed(stride_bk: int, k: int) -> bool:
    return stride_bk != 1 and k > 1


def _leading_b(shape: GemmShape) -> int:
    """B's leading dimension; a B of one column may have any."""
    if _transposed(shape.stride_bk, shape.k):
        return shape.stride_bk
    return max(shape.stride_bn, shape.k) if shape.n == 1 else shape.stride_bn


@lru_cache(maxsize=4096)
def dispatch(shape: GemmShape) -> int:
    """Address of the kernel that LIBXSMM compiles for ``shape``, or 0 if it declines.

    With a batch longer than one it is the batch-reduce form with byte offsets. Raises
    MissingComponentError without LIBXSMM.
    """
    library = native.libxsmm_library()
    letter = _LETTERS[shape.element]
    real = ctypes.c_float if shape.element == "float" else ctypes.c_double
    function = getattr(library, dispatch_name(f"{letter}mm", many=shape.batch > 1))
    function.restype = ctypes.c_void_p
    integers = [ctypes.c_int(value) for value in (shape.lda, _leading_b(shape), shape.ldc)]
    alpha, beta = real(1.0), real(0.0 if shape.overwrite else 1.0)
    flags = ctypes.c_int(TRANSPOSED_B if _transposed(shape.stride_bk, shape.k) else 0)
    pointers = [ctypes.byref(value) for value in (*integers, alpha, beta, flags)]
    address = function(ctypes.c_int(shape.m), ctypes.c_int(shape.n), ctypes.c_int(shape.k), *pointers, None)
    return int(address or 0)


def _loops(site: GemmSite, name: str, reduces: bool) -> str:
    element, width = site.element, REAL_BYTES[site.element]
    of_a, of_b = (f" + {site.prefix}_bytes_{operand}[r] / {width}" if reduces else "" for operand in "ab")
    return summing_loops(
        site,
        name,
        f"const {element} *a, const {element} *b, {element} *c",
        column=f"a{of_a} + l * {site.lda}",
        factor=f"(b{of_b})[j * {site.stride_bn} + l * {site.stride_bk}]",
    )


#: What callers are told of every kernel of the library.
KEPT_CODE = "LIBXSMM keeps the code that it makes at the first call until the process ends."


@dataclass(frozen=True)
class Libxsmm(Microkernel):
    """The ``libxsmm`` microkernel: float and double, alpha = 1, beta 0 or 1, B plain or transposed."""

    name: str = "libxsmm"
    reference: str = REFERENCE
    patterns: tuple[StridePattern, ...] = (
        StridePattern("plain", ("one", "one", "zero"), ("any", "zero", "any"), ("zero", "any", "one")),
        StridePattern("transposed B", ("one", "one", "zero"), ("any", "zero", "one"), ("zero", "any", "any")),
    )
    elements: tuple[tuple[str, ...], ...] = (("float", "float"), ("double", "double"))

    abilities: frozenset[Ability] = frozenset({"overwrite"})
    family: str = "compiled at run time"
    library: str = "libxsmm"
    kept_memory: tuple[str, ...] = (KEPT_CODE,)
    formula_constants: tuple[FormulaConstants, ...] = (
        FormulaConstants(("library_slowdown", "library_call_cycles", "library_product_cycles"), ("float", "float")),
    )
    #: The cores that the code is for.
    core: Core = WIDE_CORE

    def unavailable(self) -> str | None:
        try:
            native.libxsmm_library()
        except MissingComponentError as error:
            return f"{error.message} ({error.remedy})"
        return None

    def rejects(self, shape: GemmShape) -> str | None:
        plain = PLAIN_C.rejects(shape)
        if plain is not None:
            return plain
        if shape.rows > 1:
            return "its columns lie in several rows"
        if shape.lda < shape.m and shape.k > 1:
            return f"columns of A overlap (lda {shape.lda} is less than m {shape.m})"
        if shape.stride_bk != 1 and shape.stride_bn != 1 and shape.k > 1:
            return "neither direction of B is contiguous"
        least = shape.n if _transposed(shape.stride_bk, shape.k) else shape.k
        if _leading_b(shape) < least:
            return f"columns of B overlap (ldb {_leading_b(shape)} is less than {least})"
        if shape.batch > LONGEST_BATCH:
            return f"a batch of {shape.batch} products is longer than {LONGEST_BATCH}"
        far = too_far_apart(shape.lda, _leading_b(shape), shape.ldc)
        if far is not None:
            return far
        if not dispatch(shape):
            return f"LIBXSMM declines m={shape.m} n={shape.n} k={shape.k}"
        return None

    def sizes(self, role: Literal["m", "n", "k"], extent: int, vector_elements: int) -> tuple[int, ...]:
        return tile_sizes(role, extent, vector_elements)

    def predicted_cycles(self, shape: GemmShape, vector_elements: int) -> float:
        # Its FMA takes B from memory each time, which costs some of the loads that the bounds leave free.
        return self.core.library_slowdown * block_cycles(shape, vector_elements, self.core)

    def register_block(self, shape: GemmShape, vector_elements: int) -> tuple[int, int] | None:
        return blocks_of(shape, vector_elements, self.core).largest(vector_elements)

    def emit(self, site: GemmSite, vector_bytes: int) -> EmittedSite:  # noqa: ARG002
        prefix, element = site.prefix, site.element
        reduces = max(site.batch) > 1
        letter = _LETTERS[element]
        kind = f"{prefix}_function"
        width = REAL_BYTES[element]
        declarations = declared(prefix, f"{letter}mm", (element, element), element, many=reduces)
        definitions = [
            declarations.text,
            f"static {kind} {prefix}_kernel[2][2][2][2];",
        ]
        if reduces:
            for operand, offsets in (("a", site.offsets_a), ("b", site.offsets_b)):
                values = ", ".join(f"{offset * width}ull" for offset in offsets)
                definitions.append(
                    f"static const unsigned long long {prefix}_bytes_{operand}[{len(offsets)}] = {{{values}}};"
                )
        definitions.append(_loops(site, f"{prefix}_loops", reduces))
        arguments = "a, b, c, &length, " + f"{prefix}_bytes_a, {prefix}_bytes_b" if reduces else "a, b, c"
        definitions.append(
            "\n".join(
                [
                    f"static inline void {prefix}_run(const {element} *a, const {element} *b, {element} *c, "
                    f"int last_m, int last_n, int last_k, long count{FIRST})",
                    "{",
                    f"  const {kind} kernel = {prefix}_kernel[first][last_m][last_n][last_k];",
                    *(["  const unsigned long long length = (unsigned long long)count;"] if reduces else []),
                    "  if (kernel)",
                    f"    kernel({arguments});",
                    "  else",
                    f"    {prefix}_loops(a, b, c, last_m, last_n, last_k, count, first);",
                    "}",
                ]
            )
        )
        text, setup = "\n".join(definitions), self._setup(site, reduces)
        return EmittedSite((), text, setup, ingredients=declarations.ingredients)

    def _setup(self, site: GemmSite, reduces: bool) -> str:
        letter = _LETTERS[site.element]
        function = dispatch_name(f"{letter}mm", many=reduces)
        lines = []
        places = [(first, *index, shape) for first in range(1 + site.overwrites) for index, shape in site.shapes()]
        for first, last_m, last_n, last_k, shape in places:
            flags = f"{TRANSPOSED_B} /* B is transposed */" if _transposed(shape.stride_bk, shape.k) else "0"
            lines += [
                "  {",
                f"    const int lda = {shape.lda}, ldb = {_leading_b(shape)}, ldc = {shape.ldc};",
                f"    const {site.element} alpha = 1, beta = {0 if first else 1};",
                f"    const int flags = {flags};",
                f"    {site.prefix}_kernel[{first}][{last_m}][{last_n}][{last_k}] =",
                f"        {function}({shape.m}, {shape.n}, {shape.k}, &lda, &ldb, &ldc, &alpha, &beta, &flags, NULL);",
                "  }",
            ]
        return "\n".join(lines)

    def call(self, site: GemmSite, arguments: CallArguments) -> str:
        return PLAIN_C.call(site, arguments)

    def link_flags(self) -> tuple[str, ...]:
        library = native.libxsmm_path()
        return (str(library), f"-Wl,-rpath,{library.parent}", "-lpthread")

    def static_library(self) -> StaticLibrary | None:
        """None where LIBXSMM was built as a shared library only, for want of objcopy."""
        try:
            archive, licence = native.libxsmm_archive()
        except MissingComponentError:
            return None
        return StaticLibrary(archive, licence, ("-lpthread", "-ldl", "-lrt"))

    def version(self) -> str:
        return libxsmm_version()

    def on(self, core: Core) -> Libxsmm:
        return replace(self, core=core)


LIBXSMM = Libxsmm()
