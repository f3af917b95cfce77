"""The problems, as the workers of all systems read them from their command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Convolution:
    """One image of float, channels last, padding stored; the filter is height x width x channels x filters."""

    channels: int
    filters: int
    #: of the output
    height: int
    width: int
    kernel: int
    stride: int

    @property
    def image(self) -> tuple[int, int, int]:
        """The shape of the input with its padding."""
        rows, columns = ((size - 1) * self.stride + self.kernel for size in (self.height, self.width))
        return rows, columns, self.channels

    @property
    def operations(self) -> int:
        return 2 * self.height * self.width * self.filters * self.channels * self.kernel**2


@dataclass(frozen=True)
class Product:
    """C = A * B of float, all row-major: M x K times K x N."""

    m: int
    n: int
    k: int

    @property
    def operations(self) -> int:
        return 2 * self.m * self.n * self.k


Problem = Convolution | Product


def inputs(problem: Problem) -> list[tuple[int, ...]]:
    """Shapes of the image and the filter, or of A and B."""
    if isinstance(problem, Product):
        return [(problem.m, problem.k), (problem.k, problem.n)]
    return [problem.image, (problem.kernel, problem.kernel, problem.channels, problem.filters)]


def output(problem: Problem) -> tuple[int, ...]:
    if isinstance(problem, Product):
        return problem.m, problem.n
    return problem.height, problem.width, problem.filters


def drawn(problem: Problem) -> list[Any]:
    """Random inputs, the same for all systems."""
    generator = np.random.default_rng(0)
    return [generator.random(shape, dtype=np.float32) for shape in inputs(problem)]


def is_right(problem: Problem, arrays: Sequence[Any], answer: Any) -> bool:
    """Whether an answer is NumPy's, but for rounding."""
    first, second = arrays
    if isinstance(problem, Product):
        expected = first @ second
    else:
        windows = np.lib.stride_tricks.sliding_window_view(first, (problem.kernel, problem.kernel), (0, 1))
        strided = windows[:: problem.stride, :: problem.stride]
        expected = np.einsum("yxcij,ijcf->yxf", strided, second, optimize=True)
    return np.allclose(answer, expected, rtol=1e-3)


PROBLEMS: dict[str, Problem] = {
    "resnet_00": Convolution(3, 64, 112, 112, 7, 2),
    "resnet_03": Convolution(64, 64, 56, 56, 3, 1),
    "resnet_09": Convolution(512, 128, 28, 28, 1, 1),
    "resnet_12": Convolution(256, 256, 14, 14, 3, 1),
    "resnet_17": Convolution(512, 512, 7, 7, 3, 1),
    "gemm_512x512x512": Product(512, 512, 512),
    "gemm_128x768x3072": Product(128, 768, 3072),
    "gemm_4096x16x4096": Product(4096, 16, 4096),
}
