"""The small products that show whether a kernel for grouped operands is right, tried on kernels written here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polydl.microkernels.grouped_products import Kernel, first_wrong


def saturated(value: int) -> int:
    return max(-(1 << 15), min((1 << 15) - 1, value))


def bytes_kernel(pair: Callable[[int], int]) -> Callable[[int, int, int], Kernel]:
    """A kernel for groups of four bytes; ``pair`` is what an instruction makes of the sum of two products."""

    def kernel_for(m: int, n: int, k: int) -> Kernel:
        def kernel(a: Any, b: Any, c: Any) -> None:
            for column in range(n):
                for row in range(m):
                    for step in range(0, k, 2):
                        at = (step // 4 * m + row) * 4 + step % 4
                        two = sum(a[at + one] * b[column * k + step + one] for one in (0, 1))
                        c[row + column * m] += pair(two)

        return kernel

    return kernel_for


def test_a_right_kernel_passes() -> None:
    assert first_wrong(bytes_kernel(lambda two: two), group=4, element_bytes=1, of_floats=False) is None


def test_a_kernel_that_saturates_is_refused_with_its_sum() -> None:
    """As AVX-512 without VNNI does, which adds two products in 16 bits."""
    problem = first_wrong(bytes_kernel(saturated), group=4, element_bytes=1, of_floats=False)
    assert problem is not None
    assert "8 products, 127 * 255 the first, add up to 131068, and 259080 is right" in problem


def test_a_kernel_that_saturates_below_is_refused() -> None:
    problem = first_wrong(bytes_kernel(lambda two: max(two, -(1 << 15))), group=4, element_bytes=1, of_floats=False)
    assert problem is not None
    assert "-128 * 255" in problem


def test_no_kernel_is_said_so() -> None:
    problem = first_wrong(lambda m, n, k: None, group=4, element_bytes=1, of_floats=False)
    assert problem == "has no such kernels for this processor"
