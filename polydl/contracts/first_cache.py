"""What calls of microkernels wait for while the first-level cache is filled from the second one.

A microkernel keeps a block of C in registers, and walks through all steps of all its products before it comes to the
next block: through the blocks of rows, and through those of columns outside of them. So A is read again for each block
of columns. Where a long batch or a long k makes it larger than the first-level cache, it comes from the second one each
time, and out-of-order execution hides only a part of that behind the multiply-adds.
"""

from __future__ import annotations

from polydl.contracts.microkernel import GemmShape, Microkernel
from polydl.ir.scop import REAL_BYTES
from polydl.machine.core import Core


def waiting_cycles(filled_bytes: float, core: Core) -> float:
    """Core cycles that show beside arithmetic while so many bytes come from the second-level cache into the first."""
    return core.exposed_first_share * filled_bytes / core.second_cache_bytes_per_cycle


def timed_cycles(kernel: Microkernel, shape: GemmShape, vector_elements: int) -> float:
    """Core cycles of a call that is made again and again with the same operands, as calls are timed by themselves."""
    return kernel.predicted_cycles(shape, vector_elements) + repeated_cycles(kernel, shape, vector_elements)


def repeated_cycles(kernel: Microkernel, shape: GemmShape, vector_elements: int) -> float:
    """What a call with packed operands waits that is made again and again with the same ones.

    0 if the microkernel's own prediction has them, and for elements outside of ``REAL_BYTES``, which are not predicted
    here.
    """
    if not kernel.waits(shape.element, vector_elements) or shape.element not in REAL_BYTES:
        return 0.0
    core = kernel.core
    width, steps = REAL_BYTES[shape.element], shape.k * shape.batch
    rows, columns = kept_block(kernel, shape, vector_elements, width, core)
    a, b = width * shape.m * steps, width * shape.columns * steps
    panel, strip = width * min(rows, shape.m) * steps, width * min(columns, shape.columns) * steps
    filled = a * -(-shape.columns // columns) * _lost(a + strip, core)
    filled += b * -(-shape.m // rows) * _lost(panel + strip, core)
    return waiting_cycles(filled, core)


def kept_block(
    kernel: Microkernel, shape: GemmShape, vector_elements: int, element_bytes: int, core: Core
) -> tuple[int, int]:
    """Rows and columns of C, of so many bytes each, that a call keeps in registers, or the usual ones."""
    block = kernel.register_block(shape, vector_elements)
    return core.usual_block(shape.m, shape.columns, element_bytes) if block is None else block


def _lost(between: int, core: Core) -> float:
    """The share of what is read again that has left the first-level cache, with so many bytes read in between."""
    return min(1.0, max(0.0, between / core.first_cache_bytes - 1.0))
