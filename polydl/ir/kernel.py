"""Generated C, and the microkernel calls in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from polydl.ir.ingredients import PLAIN, Ingredients
from polydl.ir.interface import Interface


@dataclass(frozen=True)
class MicrokernelUse:
    """One microkernel call of a variant, described for people and for JSON. Leading dimensions are in elements."""

    #: index of the nest
    nest: int
    #: of the microkernel
    name: str
    #: name of the statement that the call computes
    statement: str
    #: elements of the output tile along its contiguous dimension
    m: int
    #: columns of the output tile; with ``rows`` of them, columns of one row
    n: int
    #: terms of each sum, per batch entry
    k: int
    #: products that one call sums up
    batch: int
    #: leading dimension of A
    lda: int
    #: leading dimension of B: the larger of its strides along n and k
    ldb: int
    #: leading dimension of C
    ldc: int
    #: the loops m, n and k
    loops: tuple[str, str, str]
    #: loops whose iterations are products of one call's batch; empty for a single product
    batch_loops: tuple[str, ...]
    #: the arrays C, A and B
    operands: tuple[str, str, str]
    #: rows of ``n`` columns in one call
    rows: int = 1
    #: loops that give one call further rows of columns; empty for one row
    row_loops: tuple[str, ...] = ()
    #: bytes of A that each call prefetches for later calls
    ahead: int = 0
    #: elements from one row of A to the next
    stride_am: int = 1
    #: elements from one column of B to the next
    stride_bn: int = 0
    #: elements from one term of B to the next
    stride_bk: int = 0
    #: bytes of the next tile that each call copies
    copied: int = 0
    #: of the microkernel: in what way it computes
    family: str = ""
    #: bytes of an element of C, A and B
    element_bytes: tuple[int, int, int] = (4, 4, 4)


@dataclass(frozen=True)
class StaticLibrary:
    """A library that is put beside emitted C, so that this needs nothing that is installed."""

    #: a static archive
    archive: Path
    #: its text, which goes along
    licence: Path
    #: libraries of the system that it needs
    link_flags: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class KernelSource:
    """A complete C translation unit whose function has the signature of the original."""

    #: the variant's id
    id: str
    #: name of the function there
    function: str
    #: text of the translation unit
    c: str
    #: what its header tells callers
    interface: Interface
    #: C to append to ``c`` so that a process can call the kernel without knowing its signature: ``void
    #: polydl_invoke(void *const *arguments)`` takes one pointer per parameter, to the array or to the scalar's value;
    #: ``void *polydl_global(int)`` is the address of each global array
    harness: str
    #: behind the toolchain's own
    compile_flags: tuple[str, ...] = ()
    #: beyond the C library and OpenMP
    link_flags: tuple[str, ...] = ()
    #: what emitted C is linked with in place of ``link_flags``
    static_libraries: tuple[StaticLibrary, ...] = ()
    #: its calls of microkernels, at most one for a nest
    microkernels: tuple[MicrokernelUse, ...] = ()
    #: of memory that a call needs beside its arguments, the buffer for what is prepared aside
    reserved_bytes: int = 0
    #: functions of ``<math.h>`` that are called with whole vectors where the C library can
    vector_functions: tuple[str, ...] = ()
    #: whether instructions may round its results to bfloat16, which take numbers below 1.2e-38 as zeros
    flushes: bool = False
    #: the function as the source has it, but for its region, for people to read
    excerpt: str = ""
    #: what ``c`` has beside the source's text; only variants, which are computed over rings as well, say it
    ingredients: Ingredients = PLAIN

    def __repr__(self) -> str:
        return f"<KernelSource {self.id}: {self.function}, {self.c.count(chr(10))} lines of C>"

    @property
    def prepared_bytes(self) -> int:
        """The size of what is prepared of the nest's constants."""
        return 0 if self.interface.prepared is None else self.interface.prepared.bytes
