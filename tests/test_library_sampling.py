"""Which shapes a library is measured at: how much a nest computes there, known without reading it, and the limits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from polydl import parse
from polydl.ir.scop import Scop
from polydl.libraries.build import read_symbolic
from polydl.libraries.ranges import leading_dimensions, size_ranges
from polydl.libraries.sampling import ShapeLimits, ShapeReader, limits_of, read_shapes, timed_shape
from polydl.libraries.shapes import Shape

EXAMPLES = Path(__file__).parents[1] / "examples"
NESTS = {
    "gemm.c": {"M": "1..4096", "N": "64,256,1024", "K": "64..4096:64"},
    "conv_any.c": {"N": "1..16", "C": "64..512:64", "F": "64..512:64", "H": "7..224", "W": "7..224"},
    "softmax.c": {"M": "1..512", "N": "1..512"},
    "sgemm.c": {"M": "1..99", "N": "1..99", "K": "1..99", "lda": "K..", "ldb": "N..", "ldc": "N.."},
}


def reader_of(path: Path, ranges: Mapping[str, str]) -> tuple[ShapeReader, list[Shape]]:
    """A reader of a nest, and the shapes at which it was read, to which each new one is added."""
    texts, leading = leading_dimensions(ranges)
    sizes = size_ranges(texts)
    asked: list[Shape] = []

    def read(shape: Shape) -> Scop:
        asked.append(dict(shape))
        return parse(path, defines={**{each.name: shape[each.least] for each in leading}, **shape})

    nest = read_symbolic(read, sizes, leading)
    asked.clear()
    return ShapeReader(nest, read), asked


@pytest.mark.parametrize("name", NESTS)
def test_operations_and_bytes_are_known_without_reading_the_nest(name: str) -> None:
    reader, asked = reader_of(EXAMPLES / name, NESTS[name])
    shape = {each.name: each.small(11 + 2 * number) for number, each in enumerate(reader.nest.ranges)}
    operations, every_byte = reader.operations(shape), reader.bytes(shape)
    assert not asked
    scop = reader.scop(shape)
    # A library adds each product of sgemm.c, scaled, to the array, where the source adds it up in a variable first.
    elements = shape["M"] * shape["N"] if name == "sgemm.c" else 0
    assert operations == scop.flops + elements * (shape.get("K", 0) - 2)
    assert every_byte == scop.footprint - 4 * elements > 0


def test_loops_that_depend_on_each_other_count_as_the_box_around_them(tmp_path: Path) -> None:
    path = tmp_path / "triangle.c"
    path.write_text(
        """void triangle(int N, float x[N][N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j)
      x[i][j] = 2 * x[i][j];
#pragma endscop
}
""",
        encoding="utf-8",
    )
    reader, asked = reader_of(path, {"N": "1..100"})
    assert reader.operations({"N": 10}) == 100
    assert not asked
    assert reader.scop({"N": 10}).flops == reader.scop({"N": 10}).flops == 55
    assert asked == [{"N": 10}], "read once"


def test_shapes_are_as_large_as_the_loops_of_the_source_allow() -> None:
    reader, _ = reader_of(EXAMPLES / "conv_any.c", NESTS["conv_any.c"])
    timed = timed_shape(reader)
    assert 5e6 < reader.operations(timed) <= 5e7
    slow, fast = (limits_of(10**9, seconds, 60.0, 1e9) for seconds in (1.0, 0.1))
    # The rate counts as a power of two, and is taken for a hundredth of the time limit.
    assert slow.operations == 0.6 * 2**29
    assert fast.operations == 0.6 * 2**33
    assert limits_of(10**9, 1.05, 60.0, 1e9) == slow
    taken = read_shapes(reader, slow, 3, seed=0)
    lowest = {each.name: each.low for each in reader.nest.ranges}
    assert taken.sampled[0] == lowest
    assert len(taken.sampled) == len(taken.scops) == 3
    assert all(scop.flops <= slow.operations for scop in taken.scops)
    assert max(scop.flops for scop in taken.scops) > slow.operations / 8
    assert len(taken.further) > 50
    assert all(scop.flops <= slow.operations / 8 for scop in taken.further_scops)
    assert not reader.fits(lowest, ShapeLimits(1e12, 1000)), "its arrays take more"
