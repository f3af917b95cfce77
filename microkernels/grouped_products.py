"""Products small enough to check a kernel that reads A in groups, with values that tempt it to saturate."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

Kernel = Callable[[Any, Any, Any], None]
"""Adds a product to C; takes A, B and C as ctypes arrays."""

# Rows, columns and steps: one whole vector of rows, several, and a row more, in sums of a few groups.
_SIZES = ((16, 3, 8), (64, 5, 16), (65, 2, 12))
# Where instructions add two products of bytes in 16 bits, those of the largest values don't fit.
_EXTREMES = ((127, 255), (-128, 255), (-128, 0), (127, 1))


@dataclass(frozen=True)
class GroupedProduct:
    """C (m by n, column-major) plus A times B; A has steps of k side by side in groups, B's columns are contiguous."""

    #: rows of C
    m: int
    #: columns of C
    n: int
    #: terms of each sum
    k: int
    #: how many steps of k lie side by side
    group: int
    #: in the order of their memory
    a: tuple[int, ...]
    #: in the order of their memory
    b: tuple[int, ...]

    def expected(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """C as it lies in memory, [column, row], whose elements were their places there before."""
        import numpy as np

        groups = np.array(self.a).reshape(-1, self.m, self.group)
        a = groups.transpose(0, 2, 1).reshape(self.k, self.m)
        b = np.array(self.b).reshape(self.n, self.k)
        places = np.arange(self.m * self.n).reshape(self.n, self.m)
        return np.asarray(places + b @ a, dtype=np.int64)


def _products(group: int, of_bytes: bool) -> Iterator[GroupedProduct]:
    for m, n, k in _SIZES:
        # Small integers, which bfloat16s hold exactly.
        small = [(7 * place) % 11 - 5 for place in range(m * k)], [(5 * place) % 13 for place in range(n * k)]
        values: list[tuple[Sequence[int], Sequence[int]]] = [small]
        if of_bytes:
            values += [((one,) * (m * k), (other,) * (n * k)) for one, other in _EXTREMES]
            mixed = [_EXTREMES[place * place % 7 % 4] for place in range(max(m, n) * k)]
            values.append(([one for one, _ in mixed[: m * k]], [other for _, other in mixed[: n * k]]))
        for a, b in values:
            yield GroupedProduct(m, n, k, group, tuple(a), tuple(b))


def first_wrong(
    kernel_for: Callable[[int, int, int], Kernel | None], *, group: int, element_bytes: int, of_floats: bool
) -> str | None:
    """What is wrong with a kernel's sums, or that there is none for some size; None if all are right.

    ``kernel_for`` returns the kernel for m, n and k. Elements of one byte are signed in A and unsigned in B; of two,
    they are bfloat16s. C holds floats or ints.
    """
    import numpy as np

    of_bytes = element_bytes == 1
    type_a, type_b = (ctypes.c_byte, ctypes.c_ubyte) if of_bytes else (ctypes.c_uint16, ctypes.c_uint16)
    bits = int if of_bytes else _as_bits
    for product in _products(group, of_bytes):
        kernel = kernel_for(product.m, product.n, product.k)
        if kernel is None:
            return "has no such kernels for this processor"
        a = (type_a * len(product.a))(*map(bits, product.a))
        b = (type_b * len(product.b))(*map(bits, product.b))
        places = product.m * product.n
        c = ((ctypes.c_float if of_floats else ctypes.c_int) * places)(*range(places))
        kernel(a, b, c)
        expected, sums = product.expected(), np.array(c).reshape(product.n, product.m)
        if (sums != expected).any():
            column, row = np.argwhere(sums != expected)[0]
            terms = f"{product.k} products, {product.a[0]} * {product.b[0]} the first, add up to"
            value, right = sums[column, row], expected[column, row]
            return f"computes wrong sums on this processor: {terms} {value:g}, and {right} is right"
    return None


def _as_bits(value: int) -> int:
    """The bfloat16: the upper half of the float's bits."""
    return int.from_bytes(bytes(ctypes.c_float(value))[2:], "little")
