"""What readers of models share of operators that move elements: parts, concatenations, frames, repetitions."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.models.builder import GraphBuilder
from polydl.models.elementwise import Concatenate, Enlarge, Select
from polydl.models.graph import Array
from polydl.models.moving import Extend, Given, Join, Repeat, StridedPart
from polydl.models.translation import need, need_broadcast


def add_part(
    builder: GraphBuilder, name: str, value: str, axis: int, first: int, count: int, step: int = 1, source: str = ""
) -> None:
    """Elements of a value along one dimension: so many, from the first on, in steps."""
    shape = builder.shape(value)
    need(count > 0 and first >= 0 and step > 0 and first + (count - 1) * step < shape[axis], "it has no elements")
    if count == shape[axis]:
        builder.alias(name, value)
        return
    result = (*shape[:axis], count, *shape[axis + 1 :])
    if axis == 1 and step == 1 and builder.is_line(value):
        line = builder.new_name(f"{name}.line")
        add_part(builder, line, builder.line(value), axis, first, count, source=source or name)
        builder.add_line(name, line)
        return
    if axis == 1 and step == 1 and builder.is_image(value):
        builder.add_image(name, result, Select(first, count), [value], source=source)
        return
    begins, steps = [0] * len(shape), [1] * len(shape)
    begins[axis], steps[axis] = first, step
    builder.add_rows(name, result, StridedPart(tuple(begins), tuple(steps)), [value], source=source)


def add_selected(builder: GraphBuilder, name: str, value: str, axis: int, index: int, source: str = "") -> None:
    """The elements of a value at one index of a dimension, which the result has not."""
    shape = builder.shape(value)
    part = builder.new_name(f"{name}.part")
    add_part(builder, part, value, axis, index % shape[axis], 1, source=source or name)
    builder.add_view(name, (*shape[:axis], *shape[axis + 1 :]), part)


def add_concatenated(builder: GraphBuilder, name: str, values: Sequence[str], axis: int, source: str = "") -> None:
    """Values one behind the other along a dimension."""
    if len(values) == 1:
        builder.alias(name, values[0])
        return
    shapes = [builder.shape(value) for value in values]
    first = shapes[0]
    extents = tuple(shape[axis] for shape in shapes)
    fit = all((*shape[:axis], *shape[axis + 1 :]) == (*first[:axis], *first[axis + 1 :]) for shape in shapes)
    need(fit, f"its operands have the shapes {', '.join(map(str, shapes))}")
    if axis == 1 and all(map(builder.is_line, values)):
        line = builder.new_name(f"{name}.line")
        add_concatenated(builder, line, [builder.line(value) for value in values], axis, source or name)
        builder.add_line(name, line)
        return
    distinct: list[str] = []
    for value in values:
        if value not in distinct:
            distinct.append(value)
            continue
        copy = builder.new_name(f"{name}.copy")
        builder.add_element_wise(copy, [value], [], source=source or name)
        distinct.append(copy)
    result = (*first[:axis], sum(extents), *first[axis + 1 :])
    if axis == 1 and any(map(builder.is_image, values)):
        builder.add_image(name, result, Concatenate(extents), distinct, source=source)
    else:
        builder.add_rows(name, result, Join(axis, extents), distinct, source=source)


def add_framed(
    builder: GraphBuilder, name: str, value: str, before: Sequence[int], behind: Sequence[int], fill: float = 0.0
) -> None:
    """A value with so many more elements of one value before and behind it in each dimension.

    Raises NotUnderstoodError where elements are cut off.
    """
    need(min((*before, *behind), default=0) >= 0, "it cuts elements off")
    frame = Extend(tuple(before), tuple(behind), fill)
    if fill == 0:
        builder.add_framed(name, value, frame)
        return
    extents = zip(before, builder.shape(value), behind, strict=True)
    builder.add_rows(name, tuple(sum(each) for each in extents), frame, [value])


def add_repeated(builder: GraphBuilder, name: str, value: str, shape: tuple[int, ...]) -> None:
    """A value in a larger shape, as NumPy broadcasts it."""
    if builder.shape(value) == shape:
        builder.alias(name, value)
        return
    need_broadcast(builder.shape(value), shape)
    builder.add_rows(name, shape, Repeat(), [value])


def add_enlarged(builder: GraphBuilder, name: str, value: str, shape: tuple[int, ...]) -> None:
    """Images whose pixels are repeated to another size. Raises NotUnderstoodError for other than whole factors."""
    before, after = builder.shape(value)[2:], shape[2:]
    need(len(shape) == 4, "it is not over images")
    need(all(a % b == 0 for a, b in zip(after, before, strict=True)), "its factors are not whole")
    builder.add_image(name, shape, Enlarge((after[0] // before[0], after[1] // before[1])), [value])


def add_given(builder: GraphBuilder, name: str, array: Array) -> None:
    """A constant as a value."""
    builder.add_rows(name, array.shape, Given(), [], [builder.constant(f"{name}.constant", array)])


def add_shuffled(builder: GraphBuilder, name: str, value: str, factor: int) -> None:
    """Channels become pixels of larger images: channel c * factor² + r * factor + s is at row r and column s of each.

    Sub-pixel convolutions (Shi et al., 2016) end with it.
    """
    shape = builder.shape(value)
    need(len(shape) == 4, "it is not over images")
    images, channels, height, width = shape
    outputs = channels // factor**2
    apart, turned = builder.new_name(f"{name}.apart"), builder.new_name(f"{name}.turned")
    builder.add_view(apart, (images, outputs, factor, factor, height, width), value)
    builder.add_transposed(turned, apart, (0, 1, 4, 2, 5, 3))
    builder.add_view(name, (images, outputs, height * factor, width * factor), turned)
