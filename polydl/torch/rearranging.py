"""PyTorch's operators that move elements or change shapes."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch.fx import Node

from polydl.models.rearranging import (
    add_concatenated,
    add_framed,
    add_part,
    add_repeated,
    add_selected,
)
from polydl.models.translation import need
from polydl.torch.translation import Translation


def add_getitem(t: Translation) -> None:
    """One of an operator's several results (``part_name``), or the first of one that has a single one here.

    Raises NotUnderstoodError for another result of it.
    """
    source, index = t.node.args
    assert isinstance(source, Node)
    part = part_name(source, index)
    if part in t.builder:
        t.builder.alias(t.name, part)
        return
    results = source.meta["val"]
    several = range(len(results)) if isinstance(results, list | tuple) else ()
    known = [source.name, *(part_name(source, each) for each in several)]
    need(any(name in t.builder for name in known), "the operator that it takes a result of stays PyTorch's")
    need(index == 0 and source.name in t.builder, "a further result is used")
    t.builder.alias(t.name, source.name)


def part_name(node: Node, index: object) -> str:
    """What one of an operator's several results is called, if there is an operator for it."""
    return f"{node.name}.{index}"


def add_view(t: Translation) -> None:
    """The same elements in the same order, in whatever shape."""
    value = t.value_of(t.node.args[0], "its operand")
    if t.builder.shape(value) == t.shape:
        t.builder.alias(t.name, value)
    else:
        t.builder.add_view(t.name, t.shape, value)


def add_cat(t: Translation) -> None:
    """Concatenation along a dimension."""
    names = [t.value_of(node, "an operand") for node in t.argument("tensors")]
    add_concatenated(t.builder, t.name, names, t.dimension("dim", len(t.shape)))


def add_stack(t: Translation) -> None:
    """Concatenation along a dimension that the operands don't have."""
    axis = t.dimension("dim", len(t.shape))
    parts = []
    for number, node in enumerate(t.argument("tensors")):
        value = t.value_of(node, "an operand")
        parts.append(t.builder.new_name(f"{t.name}.{number}.part"))
        t.builder.add_view(parts[-1], (*t.shape[:axis], 1, *t.shape[axis + 1 :]), value)
    add_concatenated(t.builder, t.name, parts, axis)


def add_split(t: Translation) -> None:
    """Parts get the name of the operator with their number."""
    value = t.value("self")
    axis = t.dimension("dim", len(t.builder.shape(value)))
    first = 0
    for number, part in enumerate(t.node.meta["val"]):
        count = int(part.shape[axis])
        add_part(t.builder, part_name(t.node, number), value, axis, first, count, source=t.name)
        first += count


def add_unbind(t: Translation) -> None:
    """A part for each index of a dimension, which the parts don't have (``part_name``)."""
    value = t.value("self")
    axis = t.dimension("dim", len(t.builder.shape(value)))
    for number in range(len(t.node.meta["val"])):
        add_selected(t.builder, part_name(t.node, number), value, axis, number, source=t.name)


def add_select(t: Translation) -> None:
    """The elements at one index of a dimension. Raises NotUnderstoodError unless it is constant."""
    value, index = t.value("self"), t.argument("index")
    need(isinstance(index, int), "its index is not constant")
    add_selected(t.builder, t.name, value, t.dimension("dim", len(t.builder.shape(value))), index)


def add_slice(t: Translation) -> None:
    """A slice of one dimension. Raises NotUnderstoodError unless its limits are constant."""
    value, start, end = t.value("self"), t.argument("start"), t.argument("end")
    shape = t.builder.shape(value)
    axis = t.dimension("dim", len(shape))
    need(all(each is None or isinstance(each, int) for each in (start, end)), "its limits are not constant")
    first, _, step = slice(start, end, int(t.argument("step"))).indices(shape[axis])
    add_part(t.builder, t.name, value, axis, first, t.shape[axis], step)


def add_indexed(t: Translation) -> None:
    """Elements at constant indices of one dimension, which increase by the same step."""
    value = t.value("self")
    given = [(axis, node) for axis, node in enumerate(t.argument("indices")) if node is not None]
    need(len(given) == 1, "it has indices of several dimensions")
    axis, node = given[0]
    indices = t.parameter_of(node, "its index")
    need(not node.meta["val"].is_floating_point() and node.meta["val"].dtype != torch.bool, "its index is a mask")
    need(indices.ndim == 1 and indices.size > 0, "its indices are no vector")
    places = [int(index) % t.builder.shape(value)[axis] for index in indices]
    steps = {second - first for first, second in pairwise(places)} or {1}
    need(len(steps) == 1 and min(steps) > 0, "its indices don't increase by one step")
    add_part(t.builder, t.name, value, axis, places[0], len(places), steps.pop())


def add_roll(t: Translation) -> None:
    """A cyclic shift along some dimensions, of two parts each. Raises NotUnderstoodError where none are given."""
    value, shifts = t.value("self"), t.argument("shifts")
    rank, shape = len(t.shape), t.shape
    given = t.argument("dims")
    axes = [int(each) % rank for each in ([given] if isinstance(given, int) else given)]
    need(len(axes) > 0, "it is over all elements in a row")
    for number, (axis, shift) in enumerate(zip(axes, [shifts] if isinstance(shifts, int) else shifts, strict=True)):
        behind = shift % shape[axis]
        name = t.name if number == len(axes) - 1 else t.builder.new_name(f"{t.name}.{number}")
        if behind == 0:
            t.builder.alias(name, value)
        else:
            parts = [t.builder.new_name(f"{t.name}.part") for _ in range(2)]
            add_part(t.builder, parts[0], value, axis, shape[axis] - behind, behind, source=t.name)
            add_part(t.builder, parts[1], value, axis, 0, shape[axis] - behind, source=t.name)
            add_concatenated(t.builder, name, parts, axis)
        value = name


def add_pad(t: Translation) -> None:
    """A frame of one constant. Raises NotUnderstoodError for other modes, and where elements are cut off."""
    need(t.argument("mode") == "constant", f"it pads by {t.argument('mode')}")
    fill, rank = t.argument("value"), len(t.shape)
    pads = [int(each) for each in t.argument("pad")]
    before, behind = [0] * rank, [0] * rank
    for number in range(len(pads) // 2):
        before[rank - 1 - number], behind[rank - 1 - number] = pads[2 * number], pads[2 * number + 1]
    add_framed(t.builder, t.name, t.value("self"), before, behind, float(fill or 0.0))


def add_expand(t: Translation) -> None:
    """A value broadcast to a larger shape."""
    add_repeated(t.builder, t.name, t.value("self"), t.shape)


def add_transpose(t: Translation) -> None:
    """Two dimensions that change places; a scalar, which has none, stays as it is."""
    rank = len(t.shape)
    dimensions = list(range(rank))
    if rank:
        first, second = (t.dimension(name, rank) for name in ("dim0", "dim1"))
        dimensions[first], dimensions[second] = second, first
    t.builder.add_transposed(t.name, t.value("self"), dimensions)


def add_t(t: Translation) -> None:
    """The transpose of a matrix; a vector stays as it is."""
    t.builder.add_transposed(t.name, t.value("self"), tuple(range(len(t.shape)))[::-1])


def add_permute(t: Translation) -> None:
    """The dimensions in another order."""
    rank = len(t.shape)
    t.builder.add_transposed(t.name, t.value("self"), [int(dimension) % rank for dimension in t.argument("dims")])
