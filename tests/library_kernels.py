"""Kernels for any size that stand in one library, each for its share of the sizes, and shapes to try it with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from machines import machine_with

from polydl.execute.build import build
from polydl.execute.toolchain import Toolchain
from polydl.libraries.blocking import Blocking, BlockingLoop
from polydl.libraries.callable import AnySize
from polydl.libraries.candidates import element_bytes, with_start
from polydl.libraries.chosen import ChosenLibrary, LibrarySettings
from polydl.libraries.decision import Condition, Decision, Leaf, Times
from polydl.libraries.kernel import Kernel
from polydl.libraries.product import symbolic_product
from polydl.libraries.shapes import Shape
from polydl.libraries.symbolic import SymbolicNest
from polydl.libraries.unit import ORIGINAL, unit

SMALL = Blocking((BlockingLoop("m", 40), BlockingLoop("k", 7), BlockingLoop("n", 5)), 2, 3)
THREADS = Blocking(
    (
        BlockingLoop("k", 20),
        BlockingLoop("n", 9, parallel=True),
        BlockingLoop("m", 64),
        BlockingLoop("m", 48),
        BlockingLoop("n", 4),
    ),
    2,
    3,
)
# For vectors of 8; a tile has other numbers of rows, columns and terms than its register blocks.
ALONG_TERMS = Blocking((BlockingLoop("k", 27), BlockingLoop("m", 7), BlockingLoop("n", 11)), 3, 5, ("a",), "k")
# By what of A and B is copied; the code of register blocks is the same.
KERNELS = {
    "none": SMALL,
    "a": replace(THREADS, packed=("a",)),
    "b": replace(SMALL, packed=("b",)),
    "both": replace(THREADS, packed=("a", "b")),
}
# Each kernel gets its share of the sizes.
DECISION = Condition(
    ("M", "N"),
    120,
    Condition(("K",), 9, Leaf("a"), Leaf("b")),
    Condition(("M",), 25, Leaf("both"), Condition(("N",), 40, Leaf("none"), Leaf(ORIGINAL))),
)


def compiled(
    nest: SymbolicNest, directory: Path, kernels: dict[str, Blocking], width: int, *, rows_apart: bool = False
) -> AnySize:
    """The nest's library, with one kernel or all of ``KERNELS``, for vectors of so many elements."""
    decision = DECISION if len(kernels) == len(KERNELS) else Leaf(next(iter(kernels)))
    form = symbolic_product(nest)
    assert form is not None
    form = replace(with_start(nest, form), rows_apart=rows_apart)
    ways = {name: Kernel(blocking=each) for name, each in kernels.items()}
    source = unit(nest, form, decision, ways, machine_with(1, width * element_bytes(nest, form)), identity="library")
    (built,) = build([source], Toolchain.find("gcc").cautious, directory)
    assert built.library is not None, built.message
    return AnySize(nest, built.library, "gemm")


def library_of(
    nest: SymbolicNest,
    decision: Decision,
    times: Sequence[tuple[Shape, Times]],
    kernels: Mapping[str, Kernel] | None = None,
    toolchain: Toolchain | None = None,
) -> ChosenLibrary:
    """A library of a nest with such measurements, of which none was made."""
    shapes, seconds = (tuple(column) for column in zip(*times, strict=True))
    return ChosenLibrary(
        nest, symbolic_product(nest), machine_with(1, 32), toolchain or Toolchain(Path("gcc"), "gcc", "12.2", ()),
        kernels or {}, decision, shapes, seconds, kernels or {}, LibrarySettings(10, 1.1, 0, False, 60.0),
        lambda _: nest.scop, exported=nest.scop.function.name,
    )  # fmt: skip


def sizes(draw: Random) -> list[int]:
    """Three sizes: mostly within ranges to 60, 50 and 40, at times at their borders or beyond."""
    borders = ((1, 60, 61), (2, 50, 1, 51), (1, 40, 41))
    return [
        draw.choice(border) if draw.random() < 0.2 else round(most ** draw.random())
        for most, border in zip((60, 50, 40), borders, strict=True)
    ]


def copying_a() -> dict[str, Blocking]:
    """The kernels for a product whose A has no contiguous rows: all of them copy it."""
    return {name: replace(each, packed=tuple(sorted({"a", *each.packed}))) for name, each in KERNELS.items()}
