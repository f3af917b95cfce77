"""Where the values of a model lie in one block of memory, planned once from how long each is needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from polydl.ir.alignment import ALIGNMENT
from polydl.models.graph import Graph
from polydl.models.layout import Image, Layout, element_bytes


@dataclass(frozen=True)
class MemoryPlan:
    """Where the values of a model lie in one block of memory."""

    #: of each value, in bytes from the beginning of the block
    offsets: Mapping[str, int]
    #: size of the block
    bytes: int


def plan(graph: Graph, layouts: Mapping[str, Layout]) -> MemoryPlan:
    """Places for all values that operators compute, but for the model's outputs, which its caller provides.

    Values that are not needed at the same time share memory. An image that keeps zeros shares its place with
    images of the same layout alone, so that the zeros, written once, stay. So does what vectors may read or write
    behind the last element: there is room for one.
    """
    lives = _lives(graph)
    free: dict[Layout, list[tuple[int, int]]] = {}
    offsets: dict[str, int] = {}
    placed: list[tuple[int, int, int, int]] = []
    end = 0
    bordered = [value for value in lives if layouts[value].keeps_zeros]
    for value in sorted(bordered, key=lambda value: lives[value]):
        first, last = lives[value]
        places = free.setdefault(layouts[value], [])
        reusable = next((place for place in places if place[1] < first), None)
        if reusable is None:
            offsets[value], end = end, end + _bytes(layouts[value])
        else:
            places.remove(reusable)
            offsets[value] = reusable[0]
        places.append((offsets[value], last))
    others = [value for value in lives if value not in offsets]
    for value in sorted(others, key=lambda value: -_bytes(layouts[value])):
        first, last = lives[value]
        size, offset = _bytes(layouts[value]), end
        for begin, stop, since, until in sorted(placed):
            if until < first or since > last:
                continue
            if offset + size <= begin:
                break
            offset = max(offset, stop)
        offsets[value] = offset
        placed.append((offset, offset + size, first, last))
    return MemoryPlan(offsets, max([end, *(stop for _, stop, _, _ in placed)]))


def aligned(size: int) -> int:
    """The next multiple of the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _bytes(layout: Layout) -> int:
    """With room behind an image whose array a kernel sees from inside of the border on."""
    elements = layout.elements + (layout.offset((0, 0)) if isinstance(layout, Image) else 0)
    return aligned(elements * element_bytes(layout.value_type) + ALIGNMENT)


def _lives(graph: Graph) -> dict[str, tuple[int, int]]:
    """The first and the last operator that need each value's memory."""
    lives: dict[str, tuple[int, int]] = {}
    outside = {graph.stored(value) for value in (*graph.inputs, *graph.outputs)}
    for position, operator in enumerate(graph.operators):
        for value in (operator.output, *operator.inputs):
            stored = graph.stored(value)
            if stored not in outside:
                lives[stored] = lives.get(stored, (position, position))[0], position
    return lives
