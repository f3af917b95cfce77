"""The C of ready nests: what convolutions and matrix products look like in each layout."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Literal

from polydl import bfloat16

Layout = Literal["blocked", "nchw", "nhwc", "row-major"]
Element = Literal["float", "bfloat16"]
Padding = Literal["stored", "skipped"]


@dataclass(frozen=True)
class Convolution:
    """The sizes of a convolution, in pixels and channels. Images are padded on either side."""

    #: of the batch
    images: int
    #: of the input, all groups together
    channels: int
    #: of all groups: channels of the output
    filters: int
    #: rows of the input's image before it is padded
    height: int
    #: columns of the input's image before it is padded
    width: int
    #: rows of a filter
    kernel_height: int
    #: columns of a filter
    kernel_width: int
    #: rows of padding above, and as many below
    pad_height: int
    #: columns of padding on the left, and as many on the right
    pad_width: int
    #: pixels of the input from one of the output to the next, in both directions
    stride: int
    #: how many groups channels are split into; each has as many of the filters, which see no other channels
    groups: int = 1
    #: pixels from one element of a filter to the next
    dilation: int = 1

    @property
    def depthwise(self) -> bool:
        """Whether each channel has one filter of its own."""
        return 1 < self.groups == self.channels == self.filters

    @property
    def reached_height(self) -> int:
        """Rows of the image from the first to the last one of a filter."""
        return (self.kernel_height - 1) * self.dilation + 1

    @property
    def reached_width(self) -> int:
        """Columns of the image from the first to the last one of a filter."""
        return (self.kernel_width - 1) * self.dilation + 1

    @property
    def output_height(self) -> int:
        """Rows of the output's image."""
        return (self.height + 2 * self.pad_height - self.reached_height) // self.stride + 1

    @property
    def output_width(self) -> int:
        """Columns of the output's image."""
        return (self.width + 2 * self.pad_width - self.reached_width) // self.stride + 1

    @property
    def flops(self) -> int:
        """All products, those with the padding too."""
        outputs = self.images * self.filters * self.output_height * self.output_width
        return 2 * outputs * (self.channels // self.groups) * self.kernel_height * self.kernel_width

    @property
    def flops_on_padding(self) -> int:
        """The part of ``flops`` with rows of padding."""
        rows = [
            o * self.stride + k * self.dilation for o in range(self.output_height) for k in range(self.kernel_height)
        ]
        skipped = sum(1 for row in rows if not self.pad_height <= row < self.pad_height + self.height)
        return self.flops // len(rows) * skipped


@dataclass(frozen=True)
class MatrixProduct:
    """``C[m][n] += A[m][k] * B[k][n]``."""

    #: rows of C
    m: int
    #: columns of C
    n: int
    #: terms of each sum
    k: int

    @property
    def flops(self) -> int:
        """A multiplication and an addition for each product."""
        return 2 * self.m * self.n * self.k


Loops = list[tuple[str, int]]


@dataclass(frozen=True)
class ArrayParameter:
    """An array parameter of the nest's function."""

    name: str
    #: elements in each dimension, the outermost first
    extents: tuple[int, ...]

    def __str__(self) -> str:
        """As C declares it, without its type."""
        return self.name + _brackets(*self.extents)


@dataclass(frozen=True)
class ProductLoops:
    """A product of arrays as loops in C."""

    #: the output first
    arrays: list[ArrayParameter]
    #: (iterator, iterations), outermost first
    loops: Loops
    #: how many of the loops, from the outermost, are parallel
    parallel: int
    #: the element of the output, and the two whose product is added to it
    product: tuple[str, str, str]
    #: (iterator of the loop that it depends on last, C): where the product is added; None for everywhere
    condition: tuple[str, str] | None = None


def source_of(description: str, function: str, nest: ProductLoops, overwrite: bool, element: Element) -> str:
    """The C file of a nest: a function with one region, which first zeroes an output that it is to overwrite."""
    output, *inputs = nest.arrays
    indent = " " * (len(function) + 6)
    parameters = f",\n{indent}".join([f"float {output}", *(f"const {element} {each}" for each in inputs)])
    comment = textwrap.wrap(f"/* {description[0].upper()}{description[1:]}.", 107, subsequent_indent=" * ")
    lines = [
        *comment[:-1],
        f"{comment[-1]} */",
        *(["#include <polydl/bfloat16.h>"] if element == bfloat16.ELEMENT else []),
        f"void {function}({parameters})",
        "{",
        "#pragma scop",
        *(_zeroing(output) if overwrite else []),
        f"#pragma omp parallel for collapse({nest.parallel})",
    ]
    indent = "  "
    for iterator, extent in nest.loops:
        lines.append(f"{indent}for (int {iterator} = 0; {iterator} < {extent}; ++{iterator})")
        indent += "  "
        if nest.condition is not None and nest.condition[0] == iterator:
            lines.append(f"{indent}if ({nest.condition[1]})")
            indent += "  "
    target, left, right = nest.product
    product = f"{left} * {right}"
    if element == bfloat16.ELEMENT:
        product = f"{bfloat16.TO_FLOAT}({left}) *\n{indent}    {bfloat16.TO_FLOAT}({right})"
    lines += [f"{indent}{target} +=", f"{indent}    {product};", "#pragma endscop", "}", ""]
    return "\n".join(lines)


def _zeroing(output: ArrayParameter) -> list[str]:
    """Loops that set the output to zero."""
    iterators = [f"z{number}" for number in range(len(output.extents))]
    loops = [
        f"{'  ' * depth}for (int {iterator} = 0; {iterator} < {extent}; ++{iterator})"
        for depth, (iterator, extent) in enumerate(zip(iterators, output.extents, strict=True), 1)
    ]
    indent = "  " * (len(iterators) + 1)
    return ["#pragma omp parallel for", *loops, f"{indent}{output.name}{_brackets(*iterators)} = 0.0f;"]


def _brackets(*parts: object) -> str:
    return "".join(f"[{part}]" for part in parts)


def _shifted(outer: str, stride: int, inner: str, kernel: int, dilation: int) -> str:
    """The row or column of the input that an output's row or column needs."""
    position = outer if stride == 1 else f"{outer} * {stride}"
    step = inner if dilation == 1 else f"{inner} * {dilation}"
    return position if kernel == 1 else f"{position} + {step}"


def _input_position(p: Convolution, padding: Padding) -> tuple[str, str]:
    row = _shifted("oj", p.stride, "kj", p.kernel_height, p.dilation)
    column = _shifted("oi", p.stride, "ki", p.kernel_width, p.dilation)
    return row if padding == "stored" or p.pad_height == 0 else f"{row} - {p.pad_height}", column


def _stored(p: Convolution, padding: Padding) -> tuple[int, int]:
    """Rows and columns of the image as it is in memory."""
    return p.height + (2 * p.pad_height if padding == "stored" else 0), p.width + 2 * p.pad_width


def _condition(p: Convolution, padding: Padding) -> tuple[str, str] | None:
    """Where the filter is on a row of the image, below the loop over its rows."""
    if padding == "stored" or p.pad_height == 0:
        return None
    row = _shifted("oj", p.stride, "kj", p.kernel_height, p.dilation)
    return "kj", f"{row} >= {p.pad_height} && {row} < {p.pad_height + p.height}"


def _kernel_loops(p: Convolution) -> Loops:
    return [("kj", p.kernel_height), ("ki", p.kernel_width)]


@dataclass(frozen=True)
class _Grouped:
    """The loops and subscripts of channels in all nests: of groups, if there are several, and of what is in each."""

    #: of groups
    loops: Loops
    #: of the dimensions for groups; none if there is one group
    extents: tuple[int, ...]
    #: channels and filters of a group
    channels: int
    filters: int

    @staticmethod
    def of(p: Convolution) -> _Grouped:
        loops = [("g", p.groups)] if p.groups > 1 else []
        extents = tuple(extent for _, extent in loops)
        return _Grouped(loops, extents, p.channels // p.groups, p.filters // p.groups)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.loops)


def _blocked_convolution(p: Convolution, blocks: tuple[int, ...], padding: Padding) -> ProductLoops:
    """The paper's Figure 8, but for its two innermost loops, which compilers vectorize only in this order."""
    block_c, block_k = blocks
    kernel, groups = (p.kernel_height, p.kernel_width), _Grouped.of(p)
    tiles_c, tiles_k = groups.channels // block_c, groups.filters // block_k
    arrays = [
        ArrayParameter("output", (p.images, *groups.extents, tiles_k, p.output_height, p.output_width, block_k)),
        ArrayParameter("filter", (*groups.extents, tiles_k, tiles_c, *kernel, block_c, block_k)),
        ArrayParameter("input", (p.images, *groups.extents, tiles_c, *_stored(p, padding), block_c)),
    ]
    loops = [
        ("img", p.images),
        *groups.loops,
        ("ofm_tile", tiles_k),
        ("ifm_tile", tiles_c),
        ("oj", p.output_height),
        *_kernel_loops(p),
        ("oi", p.output_width),
        ("ifm", block_c),
        ("ofm", block_k),
    ]
    product = (
        f"output{_brackets('img', *groups.names, 'ofm_tile', 'oj', 'oi', 'ofm')}",
        f"filter{_brackets(*groups.names, 'ofm_tile', 'ifm_tile', 'kj', 'ki', 'ifm', 'ofm')}",
        f"input{_brackets('img', *groups.names, 'ifm_tile', *_input_position(p, padding), 'ifm')}",
    )
    return ProductLoops(arrays, loops, 2, product, _condition(p, padding))


def _nchw_convolution(p: Convolution, _blocks: tuple[int, ...], padding: Padding) -> ProductLoops:
    groups = _Grouped.of(p)
    arrays = [
        ArrayParameter("output", (p.images, *groups.extents, groups.filters, p.output_height, p.output_width)),
        ArrayParameter("filter", (*groups.extents, groups.filters, groups.channels, p.kernel_height, p.kernel_width)),
        ArrayParameter("input", (p.images, *groups.extents, groups.channels, *_stored(p, padding))),
    ]
    loops = [
        ("img", p.images),
        *groups.loops,
        ("ofm", groups.filters),
        ("ifm", groups.channels),
        ("oj", p.output_height),
        *_kernel_loops(p),
        ("oi", p.output_width),
    ]
    product = (
        f"output{_brackets('img', *groups.names, 'ofm', 'oj', 'oi')}",
        f"filter{_brackets(*groups.names, 'ofm', 'ifm', 'kj', 'ki')}",
        f"input{_brackets('img', *groups.names, 'ifm', *_input_position(p, padding))}",
    )
    return ProductLoops(arrays, loops, 2, product, _condition(p, padding))


def _nhwc_convolution(p: Convolution, _blocks: tuple[int, ...], padding: Padding) -> ProductLoops:
    groups = _Grouped.of(p)
    arrays = [
        ArrayParameter("output", (p.images, p.output_height, p.output_width, *groups.extents, groups.filters)),
        ArrayParameter("filter", (p.kernel_height, p.kernel_width, groups.channels, *groups.extents, groups.filters)),
        ArrayParameter("input", (p.images, *_stored(p, padding), *groups.extents, groups.channels)),
    ]
    loops = [
        ("img", p.images),
        ("oj", p.output_height),
        ("oi", p.output_width),
        *_kernel_loops(p),
        *groups.loops,
        ("ifm", groups.channels),
        ("ofm", groups.filters),
    ]
    product = (
        f"output{_brackets('img', 'oj', 'oi', *groups.names, 'ofm')}",
        f"filter{_brackets('kj', 'ki', 'ifm', *groups.names, 'ofm')}",
        f"input{_brackets('img', *_input_position(p, padding), *groups.names, 'ifm')}",
    )
    return ProductLoops(arrays, loops, 2, product, _condition(p, padding))


def _depthwise_convolution(p: Convolution, layout: Layout, block: int, padding: Padding) -> ProductLoops:
    """One filter for each channel: nothing is summed over channels."""
    rows, columns, kernel = p.output_height, p.output_width, (p.kernel_height, p.kernel_width)
    pixel, taps = _input_position(p, padding), ("kj", "ki")
    outputs: Loops = [("oj", rows), ("oi", columns)]
    extents: tuple[tuple[int, ...], ...]
    subscripts: tuple[tuple[str, ...], ...]
    stored = _stored(p, padding)
    if layout == "nchw":
        extents = (p.images, p.channels, rows, columns), (p.channels, *kernel), (p.images, p.channels, *stored)
        subscripts = ("img", "c", "oj", "oi"), ("c", *taps), ("img", "c", *pixel)
        loops = [("c", p.channels), outputs[0], *_kernel_loops(p), outputs[1]]
    elif layout == "nhwc":
        extents = (p.images, rows, columns, p.channels), (*kernel, p.channels), (p.images, *stored, p.channels)
        subscripts = ("img", "oj", "oi", "c"), (*taps, "c"), ("img", *pixel, "c")
        loops = [*outputs, *_kernel_loops(p), ("c", p.channels)]
    else:
        tiles = p.channels // block
        image = p.images, tiles
        extents = (*image, rows, columns, block), (tiles, *kernel, block), (*image, *stored, block)
        subscripts = ("img", "c_tile", "oj", "oi", "c"), ("c_tile", *taps, "c"), ("img", "c_tile", *pixel, "c")
        loops = [("c_tile", tiles), *outputs, *_kernel_loops(p), ("c", block)]
    names = ("output", "filter", "input")
    arrays = [ArrayParameter(name, each) for name, each in zip(names, extents, strict=True)]
    target, left, right = (name + _brackets(*each) for name, each in zip(names, subscripts, strict=True))
    return ProductLoops(arrays, [("img", p.images), *loops], 2, (target, left, right), _condition(p, padding))


def _row_major_product(p: MatrixProduct, _blocks: tuple[int, ...]) -> ProductLoops:
    """The paper's Figure 16, with ``j`` innermost for the compiler's vectors."""
    arrays = [ArrayParameter("C", (p.m, p.n)), ArrayParameter("A", (p.m, p.k)), ArrayParameter("B", (p.k, p.n))]
    loops = [("i", p.m), ("k", p.k), ("j", p.n)]
    return ProductLoops(arrays, loops, 1, ("C[i][j]", "A[i][k]", "B[k][j]"))


def _blocked_product(p: MatrixProduct, blocks: tuple[int, ...]) -> ProductLoops:
    block_m, block_n, block_k = blocks
    tiles_m, tiles_n, tiles_k = p.m // block_m, p.n // block_n, p.k // block_k
    arrays = [
        ArrayParameter("C", (tiles_m, tiles_n, block_m, block_n)),
        ArrayParameter("A", (tiles_m, tiles_k, block_m, block_k)),
        ArrayParameter("B", (tiles_n, tiles_k, block_k, block_n)),
    ]
    loops = [("it", tiles_m), ("jt", tiles_n), ("kt", tiles_k), ("i", block_m), ("k", block_k), ("j", block_n)]
    return ProductLoops(arrays, loops, 2, ("C[it][jt][i][j]", "A[it][kt][i][k]", "B[jt][kt][k][j]"))


_CONVOLUTIONS = {"blocked": _blocked_convolution, "nchw": _nchw_convolution, "nhwc": _nhwc_convolution}


def convolution_nest(p: Convolution, layout: Layout, blocks: tuple[int, ...], padding: Padding) -> ProductLoops:
    """The nest of a convolution; ``blocks`` are those of input and of output channels, which are the same in each
    group."""
    if p.depthwise:
        return _depthwise_convolution(p, layout, blocks[0], padding)
    return _CONVOLUTIONS[layout](p, blocks, padding)


PRODUCTS = {"row-major": _row_major_product, "blocked": _blocked_product}
