"""ONNX's operators that move elements or change shapes."""

from __future__ import annotations

from itertools import pairwise

from polydl.models.rearranging import (
    add_concatenated,
    add_enlarged,
    add_framed,
    add_part,
    add_repeated,
    add_selected,
    add_shuffled,
)
from polydl.models.translation import need
from polydl.onnx.translation import Translation

# From there on, they have operands in place of attributes.
_PAD_WITH_OPERANDS = 11
_RESIZE_WITH_COORDINATES = 11
_UPSAMPLE_WITH_OPERANDS = 9
_SLICE_WITH_OPERANDS = 10
# How a place in the result becomes one in the operand, and to which pixel that is rounded: with whole factors, each
# pair here repeats pixels.
_REPEATING = {
    *((way, f"round_prefer_{to}") for way in ("half_pixel", "pytorch_half_pixel", "half_pixel_symmetric")
      for to in ("floor", "ceil")),
    *((way, "floor") for way in ("asymmetric", "tf_half_pixel_for_nn")),
}  # fmt: skip


def add_view(t: Translation) -> None:
    """The same elements in the same order, in whatever shape."""
    value = t.value()
    if t.builder.shape(value) == t.shape:
        t.builder.alias(t.name, value)
    else:
        t.builder.add_view(t.name, t.shape, value)


def add_transpose(t: Translation) -> None:
    """Transpose; a view where no dimensions of more than one element change places."""
    shape = t.builder.shape(t.value())
    order = t.attribute("perm", list(range(len(shape)))[::-1])
    moved = [axis for axis in order if shape[axis] > 1]
    if moved == sorted(moved):
        add_view(t)
    else:
        t.builder.add_transposed(t.name, t.value(), order)


def add_concat(t: Translation) -> None:
    """Concat along one dimension."""
    values = [t.value(position) for position in range(len(t.node.inputs))]
    add_concatenated(t.builder, t.name, values, int(t.attribute("axis", 1)) % len(t.shape))


def add_split(t: Translation) -> None:
    """Split: a part for each output, whose sizes are those that shape inference has told."""
    value = t.value()
    shape = t.builder.shape(value)
    axis, first = int(t.attribute("axis", 0)) % len(shape), 0
    for name in filter(None, t.node.outputs):
        count = t.shape_of(name)[axis]
        add_part(t.builder, name, value, axis, first, count)
        first += count
    need(first == shape[axis], f"its parts have {first} elements along dimension {axis}, not {shape[axis]}")


def add_slice(t: Translation) -> None:
    """Slice with constant limits, one dimension after the other. Raises NotUnderstoodError for negative steps."""
    value = t.value()
    shape = t.builder.shape(value)
    if t.opset < _SLICE_WITH_OPERANDS:
        starts, ends = t.attribute("starts"), t.attribute("ends")
        axes, steps = t.attribute("axes"), None
    else:
        starts, ends = t.constant(1).tolist(), t.constant(2).tolist()
        axes = t.constant(3).tolist() if t.has(3) else None
        steps = t.constant(4).tolist() if t.has(4) else None
    axes = range(len(starts)) if axes is None else [axis % len(shape) for axis in axes]
    steps = [1] * len(starts) if steps is None else steps
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        need(step > 0, "it goes backwards")
        limits = slice(start, end, step).indices(shape[axis])
        part = t.builder.new_name(f"{t.name}.part")
        add_part(t.builder, part, value, axis, limits[0], len(range(*limits)), step, t.name)
        value = part
    t.builder.alias(t.name, value)


def add_gather(t: Translation) -> None:
    """Gather at one constant index, or at several that increase by one step.

    Raises NotUnderstoodError for others.
    """
    value, indices = t.value(), t.constant(1)
    shape = t.builder.shape(value)
    axis = int(t.attribute("axis", 0)) % len(shape)
    need(all(-shape[axis] <= index < shape[axis] for index in indices.flat), "an index is beyond its operand")
    if indices.ndim == 0:
        add_selected(t.builder, t.name, value, axis, int(indices))
        return
    need(indices.ndim == 1, "its indices are no vector")
    places = [int(index) % shape[axis] for index in indices]
    steps = {second - first for first, second in pairwise(places)} or {1}
    need(len(steps) == 1 and min(steps) > 0, "its indices don't increase by one step")
    add_part(t.builder, t.name, value, axis, places[0], len(places), steps.pop())


def add_pad(t: Translation) -> None:
    """Pad with a constant. Raises NotUnderstoodError for other modes."""
    way, rank = t.attribute("mode", "constant"), len(t.shape)
    need(way == "constant", f"its mode is {way}")
    if t.opset < _PAD_WITH_OPERANDS:
        pads, fill, axes = t.attribute("pads"), float(t.attribute("value", 0.0)), tuple(range(rank))
    else:
        pads, fill = t.constant(1).tolist(), t.number(2, 0.0)
        axes = tuple(axis % rank for axis in t.constant(3).tolist()) if t.has(3) else tuple(range(rank))
    need(len(pads) == 2 * len(axes), f"it has {len(pads)} pads for {len(axes)} dimensions")
    before, behind = [0] * rank, [0] * rank
    for number, axis in enumerate(axes):
        before[axis], behind[axis] = int(pads[number]), int(pads[len(axes) + number])
    add_framed(t.builder, t.name, t.value(), before, behind, fill)


def add_resize(t: Translation) -> None:
    """Upsample, its old form, repeats pixels in any case."""
    mode = t.attribute("mode", "nearest")
    need(mode == "nearest", f"its mode is {mode}; there is a kernel for nearest")
    if t.node.operator == "Resize" and t.opset >= _RESIZE_WITH_COORDINATES:
        way = t.attribute("coordinate_transformation_mode", "half_pixel")
        rounding = t.attribute("nearest_mode", "round_prefer_floor")
        need((way, rounding) in _REPEATING, f"coordinates are {way}, rounded by {rounding}")
    value = t.value()
    need(t.builder.shape(value)[:2] == t.shape[:2], "it is not over rows and columns")
    factors = [after / before for before, after in zip(t.builder.shape(value), t.shape, strict=True)]
    need(_scales(t) in ([], factors), "its scales are no whole numbers")
    add_enlarged(t.builder, t.name, value, t.shape)


def _scales(t: Translation) -> list[float]:
    """The factors by which all dimensions grow; none where the result's sizes are given."""
    if t.node.operator == "Upsample" and t.opset < _UPSAMPLE_WITH_OPERANDS:
        return list(t.attribute("scales"))
    place = 2 if t.node.operator == "Resize" and t.opset >= _RESIZE_WITH_COORDINATES else 1
    given = [float(each) for each in t.numbers(place)] if t.has(place) else []
    axes = t.attribute("axes")
    if not given or not axes:
        return given
    need(len(given) == len(axes), f"it has {len(given)} scales for {len(axes)} dimensions")
    rank = len(t.shape)
    scales = dict(zip((axis % rank for axis in axes), given, strict=True))
    return [scales.get(axis, 1.0) for axis in range(rank)]


def add_expand(t: Translation) -> None:
    """Expand: a value broadcast to a larger shape."""
    add_repeated(t.builder, t.name, t.value(), t.shape)


def add_depth_to_space(t: Translation) -> None:
    """DepthToSpace in the order CRD, as a pixel shuffle. Raises NotUnderstoodError for DCR."""
    need(t.attribute("mode", "DCR") == "CRD", "its mode is DCR; there is a kernel for CRD")
    add_shuffled(t.builder, t.name, t.value(), int(t.attribute("blocksize")))
