"""Which layout each value of a model has, chosen over the whole graph so that kernels agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polydl.models.convolution import Convolution
from polydl.models.graph import Graph
from polydl.models.layout import BLOCKS, Image, Layout, RowMajor

# Of channels with those of zeros: two pairs.
_MULTIPLE = 4


def block_of(channels: int, groups: Sequence[int] = ()) -> int:
    """Channels in a block of an image: the most that divide its channels and those of ``groups``, else all of them."""
    return next((block for block in BLOCKS if not any(each % block for each in (channels, *groups))), channels)


def choose(graph: Graph) -> dict[str, Layout]:
    """A layout for each value.

    An image is in blocks of channels, which its producer decides, with as wide a border of zeros as any of its
    consumers reads. Elements are of the type that the graph says, but floats where the caller has the value. Odd
    numbers of bfloat16s in a block are padded with channels of zeros, so that they can be multiplied in pairs.
    """
    borders, groups = _borders(graph), _groups(graph)
    outside = {graph.stored(value) for value in (*graph.inputs, *graph.outputs)}
    producers = {operator.output: operator for operator in graph.operators}
    layouts: dict[str, Layout] = {}

    def image(value: str, block: int) -> Image:
        images, channels, height, width = graph.shapes[value]
        value_type = graph.type_of(value)
        padding = -block % _MULTIPLE if value_type == "bfloat16" and block % 2 else 0
        border = borders.get(value, (0, 0))
        return Image(images, channels, height, width, block, border, value_type, padding)

    order = [*graph.inputs, *(operator.output for operator in graph.operators)]
    for value in [*order, *graph.views]:
        if value not in graph.images:
            layouts[value] = RowMajor(
                graph.shapes[value], "float" if graph.stored(value) in outside else graph.value_type
            )
    for value in order:
        if value in graph.images:
            operator, channels = producers[value], graph.shapes[value][1]
            inputs = [layouts[each] for each in operator.inputs]
            layouts[value] = image(value, operator.kind.block(inputs, channels, block_of(channels, groups)))
    return layouts


def _groups(graph: Graph) -> list[int]:
    """Channels in a group of the inputs and outputs of convolutions in groups: no block may lie in two of them."""
    kinds = [operator.kind for operator in graph.operators]
    grouped = [kind for kind in kinds if isinstance(kind, Convolution) and kind.groups > 1 and not kind.depthwise]
    return sorted({count // kind.groups for kind in grouped for count in (kind.channels, kind.filters)})


def _borders(graph: Graph) -> Mapping[str, tuple[int, int]]:
    borders: dict[str, tuple[int, int]] = {}
    for operator in graph.operators:
        for value, (rows, columns) in zip(operator.inputs, operator.kind.borders, strict=False):
            widest = borders.get(value, (0, 0))
            borders[value] = max(widest[0], rows), max(widest[1], columns)
    return borders
