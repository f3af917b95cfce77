"""Arrays that begin right after a page that nobody may touch, or end right before one."""

from __future__ import annotations

import ctypes
import mmap
from functools import cache

from polydl.element_types import element_dtype
from polydl.execute.arrays import Buffer, Data
from polydl.ir.scop import Array

_PAGE = mmap.PAGESIZE
_NO_ACCESS = 0


@cache
def _libc() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return library


class GuardedArray:
    """The memory of one array between two pages without access: a kernel that leaves the array ends its process.

    ``buffers`` are the two places: at the beginning of the pages in between, and at their end.
    """

    def __init__(self, array: Array, name: str, stream: int) -> None:
        dtype = element_dtype(array.element)
        size = max(array.elements * dtype.itemsize, 1)
        inside = -(-size // _PAGE) * _PAGE
        self._pages = mmap.mmap(-1, inside + 2 * _PAGE)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self._pages))
        for guard in (first, first + _PAGE + inside):
            if _libc().mprotect(guard, _PAGE, _NO_ACCESS):
                raise OSError(ctypes.get_errno(), "mprotect")
        # Elements stay where their type may lie.
        last = first + _PAGE + inside - size
        self.buffers = tuple(Buffer(name, dtype, array.extents, stream, address) for address in (first + _PAGE, last))

    def fill(self, place: int, data: Data) -> Buffer:
        """Fills one of the two places, 0 or 1, with random contents of this kind, and returns it."""
        self.buffers[place].fill(data)
        return self.buffers[place]
