"""Nests whose sizes are parameters, as C files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from polydl.ir.scop import Scop
from polydl.libraries.build import read_symbolic
from polydl.libraries.ranges import leading_dimensions, size_ranges
from polydl.libraries.shapes import Shape
from polydl.libraries.symbolic import SymbolicNest
from polydl.pipeline import parse

RANGES = ("M=1..60", "N=2..50", "K=1..40")
_LOOPS = "  for (int i = 0; i < M; ++i)\n    for (int j = 0; j < N; ++j)"


def product(a: str = "A[i][k]", b: str = "B[k][j]", element: str = "float", before: str = "") -> str:
    """C of ``C += A * B`` with any subscripts of A and B, after a statement ``before`` it for each element of C."""
    extents = {"i": "M", "j": "N", "k": "K"}
    shapes = [f"{text[0]}[{extents[text[2]]}][{extents[text[5]]}]" for text in (a, b)]
    first = f"{_LOOPS}\n      {before}\n" if before else ""
    return (
        f"void gemm(int M, int N, int K, {element} C[M][N], const {element} {shapes[0]}, const {element} {shapes[1]})\n"
        f"{{\n#pragma scop\n{first}{_LOOPS}\n      for (int k = 0; k < K; ++k)\n"
        f"        C[i][j] += {a} * {b};\n#pragma endscop\n}}\n"
    )


def symbolic(
    text: str, directory: Path, ranges: tuple[str, ...] = RANGES, defines: Mapping[str, int] | None = None
) -> SymbolicNest:
    """The nest of a C text, read in a directory, with what ``-D`` gives for the whole library."""
    path = directory / "nest.c"
    path.write_text(text, encoding="utf-8")
    texts, leading = leading_dimensions(ranges)

    def read(shape: Shape) -> Scop:
        return parse(path, defines={**(defines or {}), **{each.name: shape[each.least] for each in leading}, **shape})

    return read_symbolic(read, size_ranges(texts), leading)
