"""Generated C, and what it calls."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MicrokernelUse:
    """What was matched in one nest, for people and for JSON. Leading dimensions are in elements.

    Each call fetches ``ahead`` bytes of the first operand for later calls, or copies ``copied`` of the next tile.
    ``stride_bn`` and ``stride_bk`` say how the second one is walked along n and k.
    """

    nest: int
    name: str
    statement: str
    m: int
    n: int
    k: int
    batch: int
    lda: int
    ldb: int
    ldc: int
    loops: tuple[str, str, str]
    batch_loops: tuple[str, ...]
    operands: tuple[str, str, str]
    rows: int = 1
    row_loops: tuple[str, ...] = ()
    ahead: int = 0
    stride_bn: int = 0
    stride_bk: int = 0
    copied: int = 0


@dataclass(frozen=True)
class KernelSource:
    """A complete C translation unit with the function of the original's name and signature.

    ``harness`` is C that, appended to ``c``, lets a process call the kernel without knowing its
    signature: ``void polydl_invoke(void *const *arguments)``, one pointer per parameter (to the array, or to
    the scalar's value) and then one per global array through ``void *polydl_global(int)``.
    ``link_flags`` are what it needs beyond the C library and OpenMP; ``vector_functions`` are those of ``<math.h>``
    that it calls with whole vectors where the C library can.
    """

    id: str
    function: str
    c: str
    header: str
    harness: str
    compile_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    microkernels: tuple[MicrokernelUse, ...] = ()
    vector_functions: tuple[str, ...] = ()
