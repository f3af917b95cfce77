"""Which layout each value of a model has, chosen over the whole graph so that kernels agree."""

from __future__ import annotations

from collections.abc import Mapping

from polydl.models.graph import Graph
from polydl.models.layout import BLOCK, Image, Layout, RowMajor


def block_of(channels: int) -> int:
    """Channels in a block of an image: 16 where they divide its channels, else all of them."""
    return BLOCK if channels % BLOCK == 0 else channels


def choose(graph: Graph) -> dict[str, Layout]:
    """A layout for each value.

    An image is in blocks of channels, which its producer decides, with as wide a border of zeros as any of its
    consumers reads.
    """
    borders = _borders(graph)
    producers = {operator.output: operator for operator in graph.operators}
    layouts: dict[str, Layout] = {}

    def image(value: str, block: int) -> Image:
        images, channels, height, width = graph.shapes[value]
        return Image(images, channels, height, width, block, borders.get(value, (0, 0)))

    order = [*graph.inputs, *(operator.output for operator in graph.operators)]
    for value in [*order, *graph.views]:
        if value not in graph.images:
            layouts[value] = RowMajor(graph.shapes[value])
    for value in order:
        if value in graph.images:
            operator = producers[value]
            channels = graph.shapes[value][1]
            layouts[value] = image(value, operator.kind.block([layouts[each] for each in operator.inputs], channels))
    return layouts


def _borders(graph: Graph) -> Mapping[str, tuple[int, int]]:
    borders: dict[str, tuple[int, int]] = {}
    for operator in graph.operators:
        for value, (rows, columns) in zip(operator.inputs, operator.kind.borders, strict=False):
            widest = borders.get(value, (0, 0))
            borders[value] = max(widest[0], rows), max(widest[1], columns)
    return borders
