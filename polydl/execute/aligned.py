"""Memory that begins where kernels expect what they prepare, weights and the values of models."""

from __future__ import annotations

import numpy as np

from polydl.errors import ResourceError
from polydl.ir.alignment import ALIGNMENT

Bytes = np.ndarray[tuple[int], np.dtype[np.uint8]]


def aligned_bytes(size: int) -> Bytes:
    """So many bytes from a multiple of the alignment on. Raises ResourceError where memory lacks."""
    try:
        memory = np.empty(size + ALIGNMENT, np.uint8)
    except (MemoryError, ValueError):
        raise ResourceError(f"{size} bytes don't fit into memory", remedy="free some memory") from None
    first = -memory.ctypes.data % ALIGNMENT
    return memory[first : first + size]
