"""A kernel of a convolution's library, compiled, and its answers at sizes that are drawn."""

from __future__ import annotations

import ctypes
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from guarded_calls import Guarded
from machines import machine_with
from symbolic_nests import symbolic

from polydl.execute.build import build
from polydl.execute.toolchain import Toolchain
from polydl.libraries.blocking import Blocking
from polydl.libraries.callable import AnySize
from polydl.libraries.candidates import with_start
from polydl.libraries.decision import Leaf
from polydl.libraries.kernel import Kernel, broken, planned
from polydl.libraries.product import SymbolicProduct, symbolic_product
from polydl.libraries.symbolic import SymbolicNest
from polydl.libraries.unit import unit

CONVOLUTION = (Path(__file__).parents[1] / "examples" / "conv_any.c").read_text(encoding="utf-8")
IMAGES = ("N=1..3", "C=1..20", "F=1..40", "H=1..20", "W=1..40")
# The image in steps of two.
STRIDED = CONVOLUTION.replace("in[N][C][H + 2][W + 2]", "in[N][C][2 * H + 1][2 * W + 1]").replace(
    "in[n][c][y + p][x + q]", "in[n][c][2 * y + p][2 * x + q]"
)


def convolution_of(nest: SymbolicNest) -> SymbolicProduct:
    """The product of a convolution, with what sets its result to zero."""
    form = symbolic_product(nest)
    assert form is not None
    return with_start(nest, form)


def compiled_convolution(directory: Path, text: str, blocking: Blocking, *, vector_bytes: int = 32) -> AnySize:
    """The library that has one kernel, proved legal."""
    nest, kernel = symbolic(text, directory, IMAGES), Kernel(blocking=blocking)
    form = convolution_of(nest)
    assert not broken(planned(nest, form, kernel))
    source = unit(nest, form, Leaf("one"), {"one": kernel}, machine_with(2, vector_bytes), identity="library")
    (built,) = build([source], Toolchain.find("gcc").cautious, directory)
    assert built.library is not None, built.message
    return AnySize(nest, built.library, "conv")


def wrong_convolutions(
    function: AnySize, count: int, *, step: int = 1, dtype: Any = np.float32
) -> list[tuple[int, ...]]:
    """The sizes, of so many that are drawn, at which a convolution is wrong.

    No memory follows the image, and the result holds no numbers before.
    """
    random, draw, wrong = np.random.default_rng(2), Random(2), []
    for _ in range(count):
        sizes = tuple(draw.randint(1, most) for most in (3, 20, 40, 20, 40))
        n, c, f, h, w = sizes
        image = random.random((n, c, step * (h - 1) + 3, step * (w - 1) + 3)).astype(dtype)
        memory = Guarded(image.nbytes, at_end=True)
        memory_of_image = memoryview((ctypes.c_char * image.nbytes).from_address(memory.address))
        held = np.frombuffer(memory_of_image, dtype).reshape(image.shape)
        held[...] = image
        filters = random.random((f, c, 3, 3)).astype(dtype)
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(2, 3))[:, :, ::step, ::step]
        out = np.full((n, f, h, w), np.nan, dtype)
        function(**{"out": out, "in": held, "filter": filters})
        memory.free()
        if not np.allclose(out, np.einsum("nchwpq,fcpq->nfhw", windows, filters), rtol=1e-4):
            wrong.append(sizes)
    return wrong
