"""Random contents and guarded memory for the arrays of a nest.

Imported by the child processes: NumPy and the standard library only.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

# NumPy reads this part when it is first asked for: in each worker, unless before they are forked.
from numpy.random import Generator, default_rng

from polydl import bfloat16
from polydl.element_types import Values, element_dtype, is_bfloat16, numbers
from polydl.ir.alignment import ALIGNMENT

GUARD_BYTES = 1 << 16
# Arrays that all begin at the same offset in a page would compete for the same sets of the first cache.
_STAGGER = 17 * ALIGNMENT
_PAGE = mmap.PAGESIZE
CHUNK = 1 << 20

#: ``whole``: from the type's whole range, and one in eight is its smallest or its largest. ``small``: of magnitude 1 to
#: 8, since one may be a divisor. ``bytes``: bytes and shorts whole and others small, with real numbers multiplied by
#: powers of two down to 2^-23, so that some of the sums that they scale are within a byte.
Integers = Literal["whole", "small", "bytes"]
SHORT_BYTES = 2
_SCALES = 24


def are_small(integers: Integers, element_bytes: int) -> bool:
    """Whether integers of so many bytes have magnitude 1 to 8."""
    return integers == "small" or (integers == "bytes" and element_bytes > SHORT_BYTES)


@dataclass(frozen=True)
class Data:
    """The random contents of all arrays, the same in every process with the same fields.

    Each chunk of each array has a random stream of its own, so that any part can be generated again.
    """

    #: of all generators
    seed: int
    #: floats are uniform in [-1, 1) if signed, else in [0.5, 1), unless ``integers`` scales them; no integers are
    #: negative unless signed
    signed: bool
    #: of what magnitude integers are, and, with ``bytes``, real numbers
    integers: Integers = "whole"
    #: arrays of random numbers have other contents in each turn; real numbers in files are halved in all turns but the
    #: first
    turn: int = 0
    #: whether ``double`` holds what ``float`` otherwise does, and ``long double`` what ``double`` does
    widened: bool = False
    #: the stream and the extent of each square matrix of real numbers that is diagonally dominant: the extent is added
    #: to the elements of its diagonal
    dominant: Sequence[tuple[int, int]] = ()
    #: the streams of arrays of which no integer is negative, since others are shifted by it
    shifting: Sequence[int] = ()
    #: the streams of arrays whose contents are the same in all turns
    constant: Sequence[int] = ()
    #: arrays whose contents lie in files: stream, path, offset in bytes, and C type of the elements there
    given: Sequence[tuple[int, str, int, str]] = ()
    #: where it is not 0, a third of the real numbers in files are replaced by the next larger ones and a third by the
    #: next smaller: which ones, depends on it
    neighbours: int = 0

    def chunks(self, stream: int, dtype: np.dtype[Any], elements: int) -> Iterator[tuple[int, Values]]:
        """The contents of one array in chunks: (index of the first element, values)."""
        turn = 0 if stream in self.constant else self.turn
        given = next((each[1:] for each in self.given if each[0] == stream), None)
        if given is not None:
            for start, values in _stored(*given, dtype, elements):
                contents = self._neighbours(values, (stream, start)) if self.neighbours else values
                yield start, _halved(contents, dtype) if turn else contents
            return
        extent = dict(self.dominant).get(stream)
        for start in range(0, elements, CHUNK):
            key = (self.seed, stream, start // CHUNK, *((turn,) if turn else ()))
            values = self._draw(key, self._drawn(dtype), min(CHUNK, elements - start))
            if extent is not None:
                values[-start % (extent + 1) :: extent + 1] += extent
            yield start, bfloat16.from_float(values) if is_bfloat16(dtype) else values.astype(dtype, copy=False)

    def _neighbours(self, values: Values, place: tuple[int, int]) -> Values:
        """Zeros stay as they are: their neighbours would be subnormal."""
        if values.dtype.kind != "f":
            return values
        steps = default_rng((self.seed, *place, self.neighbours)).integers(-1, 2, values.size)
        limits = np.where(values == 0, 0.0, np.copysign(np.inf, steps))
        towards = np.where(steps == 0, values, limits).astype(values.dtype)
        moved: Values = np.nextafter(values, towards)
        return moved

    def _drawn(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The type of the numbers that are drawn for an array, so that what is added to them rounds alike in all."""
        if is_bfloat16(dtype) or (self.widened and dtype == np.float64):
            return np.dtype(np.float32)
        return np.dtype(np.float64) if self.widened and dtype == np.longdouble else dtype

    def _draw(self, key: tuple[int, ...], dtype: np.dtype[Any], count: int) -> Values:
        generator = default_rng(key)
        if dtype.kind == "b":
            return generator.integers(0, 2, count).astype(dtype)
        if dtype.kind == "f":
            unit = generator.random(count, np.float32 if dtype.itemsize <= 4 else np.float64)
            unit *= 2.0 if self.signed else 0.5
            unit += -1.0 if self.signed else 0.5
            if self.integers == "bytes":
                unit = np.ldexp(unit, -generator.integers(0, _SCALES, count, np.int32))
            return unit.astype(dtype, copy=False)
        return self._integers(generator, dtype, count, signed=self.signed and key[1] not in self.shifting)

    def _integers(self, generator: Generator, dtype: np.dtype[Any], count: int, *, signed: bool) -> Values:
        if are_small(self.integers, dtype.itemsize):
            magnitude = generator.integers(1, 9, count, np.int8)
            if dtype.kind == "i" and signed:
                magnitude *= 2 * generator.integers(0, 2, count, np.int8) - 1
            return magnitude.astype(dtype)
        limits = np.iinfo(dtype)
        lowest = limits.min if signed else 0
        values = generator.integers(lowest, limits.max, count, dtype, endpoint=True)
        lots = generator.integers(0, 16, count, np.uint8)
        values[lots == 0], values[lots == 1] = lowest, limits.max
        return values


def _stored(path: str, offset: int, element: str, dtype: np.dtype[Any], elements: int) -> Iterator[tuple[int, Values]]:
    """Elements in a file as those of another type, in chunks."""
    stored = element_dtype(element)
    whole = np.memmap(path, stored, "r", offset, (elements,))
    for start in range(0, elements, CHUNK):
        values = np.array(whole[start : start + CHUNK])
        yield start, values if stored == dtype else numbers(values, stored).astype(dtype)


def _halved(values: Values, dtype: np.dtype[Any]) -> Values:
    """Half of each real number, which rounds none but the smallest; integers as they are."""
    if is_bfloat16(dtype):
        return bfloat16.from_float(numbers(values, dtype) * np.float32(0.5))
    halved: Values = values * dtype.type(0.5) if dtype.kind == "f" else values
    return halved


class Buffer:
    """The memory of one array: flat ``values`` between two guard zones.

    ``stream`` is the number of the array's random contents, ``extents`` are for naming elements in messages. With an
    ``address``, the memory is that of a global array in the library, which has no guard zones.
    """

    def __init__(
        self, name: str, dtype: np.dtype[Any], extents: tuple[int, ...], stream: int, address: int | None = None
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.extents = extents
        self.stream = stream
        self.elements = int(np.prod(extents, dtype=np.int64))
        self._guards: tuple[Values, ...] = ()
        size = self.elements * dtype.itemsize
        if address is not None:
            block = (ctypes.c_ubyte * size).from_address(address)
            self.values: Values = np.ctypeslib.as_array(block).view(dtype)
        else:
            memory = np.empty(size + 2 * GUARD_BYTES + 2 * _PAGE, np.uint8)
            first = GUARD_BYTES + (-memory.ctypes.data - GUARD_BYTES) % _PAGE + stream * _STAGGER % _PAGE
            self.values = memory[first : first + size].view(dtype)
            self._guards = (memory[first - GUARD_BYTES : first], memory[first + size : first + size + GUARD_BYTES])
            self._pattern = default_rng(stream).integers(0, 256, GUARD_BYTES, np.uint8)
            for guard in self._guards:
                guard[:] = self._pattern

    @property
    def address(self) -> int:
        """Where the first element lies in the memory of this process."""
        return int(self.values.ctypes.data)

    def fill(self, data: Data) -> None:
        """Write the contents."""
        for start, chunk in data.chunks(self.stream, self.dtype, self.elements):
            self.values[start : start + chunk.size] = chunk

    def unshare(self) -> None:
        """Give up the pages that this process shares with the one that forked it; the contents are undefined then.

        To write to a shared page copies it first, which takes longer than to fill a new one.
        """
        first = -(-self.address // _PAGE) * _PAGE
        size = (self.address + self.values.nbytes - first) // _PAGE * _PAGE
        if size > 0:
            ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(size), mmap.MADV_DONTNEED)

    def damage(self) -> str | None:
        """A message if anything was written into a guard zone, else None."""
        for guard, side in zip(self._guards, ("before its beginning", "after its end"), strict=False):
            damaged = np.flatnonzero(guard != self._pattern)
            if damaged.size:
                nearest = GUARD_BYTES - int(damaged[-1]) if side.startswith("before") else int(damaged[0])
                return f"it writes outside of `{self.name}`: {nearest} bytes {side}"
        return None

    def element(self, index: int) -> str:
        """The element at a flat index as C writes it."""
        subscripts = np.unravel_index(index, self.extents) if self.extents else ()
        return self.name + "".join(f"[{int(subscript)}]" for subscript in subscripts)
