"""The shapes at which a library is measured: of those in its ranges, such at which the source's loops take little time.

The source's own loops run beside the kernels at each shape, and once more as they are built without any reordering, so
that they are what bounds the time of a measurement: a convolution as it is written is dozens of times as slow as a
kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

from polydl.errors import OptionError, UserError
from polydl.ir.scop import Scop
from polydl.libraries.decision import Times, fitted
from polydl.libraries.doubtful import by_doubt
from polydl.libraries.shapes import Shape, largest_shape, sampled_shapes
from polydl.libraries.symbolic import SymbolicNest
from polydl.libraries.unit import ORIGINAL

# Further shapes for each one that is optimized, of a part of the operations: the kernels that are in question after
# the first measurements, and those that need none, are measured there for the decision between them.
_FURTHER, _FURTHER_PART = 25, 1 / 8
# Shapes for each optimized one at which the first decision is in doubt, and those that they are drawn from.
_DOUBTFUL, _DRAWN = 4, 40
# Operations at the shape at which the source's loops are timed first, at most: enough to take milliseconds.
_TIMED_OPERATIONS = 5e7
# The source's loops take this part of the time limit at most: an optimization runs them dozens of times.
_MOST_TIME_PART = 1 / 100


@dataclass(frozen=True)
class ShapeLimits:
    """What the nest takes at a shape that is measured, at most."""

    #: arithmetic operations
    operations: float
    #: bytes of all arrays
    bytes: float


@dataclass(frozen=True)
class ReadShapes:
    """The shapes that are measured, with the nest at each of them."""

    #: those at which the nest is optimized
    sampled: tuple[Shape, ...]
    #: the nest at each of these, in their order
    scops: tuple[Scop, ...]
    #: those at which kernels are only measured
    further: tuple[Shape, ...]
    #: the nest at each of these, in their order
    further_scops: tuple[Scop, ...]


class ShapeReader:
    """The nest at any shape of the ranges, read once, and how much it computes there, for which it isn't read."""

    def __init__(self, nest: SymbolicNest, read: Callable[[Shape], Scop]) -> None:
        """``read`` returns the nest with these sizes."""
        self.nest = nest

        @cache
        def scop_of(*values: int) -> Scop:
            shape = {each.name: value for each, value in zip(nest.ranges, values, strict=True)}
            try:
                return read(shape)
            except UserError as error:
                raise unreadable(shape, error) from error

        self._scop_of = scop_of

    def scop(self, shape: Shape) -> Scop:
        """The nest at a shape. Raises OptionError where it can't be read."""
        return self._scop_of(*(shape[each.name] for each in self.nest.ranges))

    def operations(self, shape: Shape) -> int:
        """Arithmetic operations of a library at a shape; where loops depend on each other, of the box around them."""
        sizes = self._every_size(shape)
        return sum(
            statement.flops_per_instance * math.prod(self.nest.box_extents(statement, sizes))
            for statement in self.nest.scop.statements
        )

    def bytes(self, shape: Shape) -> int:
        """Bytes of all arrays that are read or written at a shape."""
        extents = self.nest.source_extents(self._every_size(shape))
        used = {access.array for statement in self.nest.source.statements for access in statement.accesses}
        return sum(
            array.element_bytes * math.prod(extents.get(array.name, array.extents))
            for array in self.nest.source.arrays
            if array.name in used
        )

    def fits(self, shape: Shape, limits: ShapeLimits, part: float = 1.0) -> bool:
        """Whether the nest takes no more than a part of the limits at a shape."""
        return self.operations(shape) <= part * limits.operations and self.bytes(shape) <= part * limits.bytes

    def _every_size(self, shape: Shape) -> Mapping[str, int]:
        return {**shape, **{each.name: shape[each.least] for each in self.nest.leading}}


def timed_shape(reader: ShapeReader) -> Shape:
    """The shape at which the source's loops are timed first: large, but with few operations, if there is one."""
    return largest_shape(reader.nest.ranges, lambda shape: reader.operations(shape) <= _TIMED_OPERATIONS)


def limits_of(operations: int, seconds: float, timeout_seconds: float, most_bytes: float) -> ShapeLimits:
    """The limits of a nest whose own loops take ``seconds`` for so many operations.

    Their rate counts as the next lower power of two, so that two measurements of it give the same shapes.
    """
    rate = 2.0 ** math.floor(math.log2(max(1, operations) / seconds))
    return ShapeLimits(rate * timeout_seconds * _MOST_TIME_PART, most_bytes)


def read_shapes(reader: ShapeReader, limits: ShapeLimits, count: int, seed: int) -> ReadShapes:
    """``count`` shapes of the ranges, drawn by a seed, and further ones, that take little time and memory."""
    ranges = reader.nest.ranges
    sampled = sampled_shapes(ranges, count, seed, lambda shape: reader.fits(shape, limits))

    def smaller(shape: Shape) -> bool:
        return reader.fits(shape, limits, _FURTHER_PART)

    any_smaller = smaller({each.name: each.low for each in ranges})
    drawn = sampled_shapes(ranges, _FURTHER * count, seed + 1, smaller) if any_smaller else ()
    further = tuple(shape for shape in drawn if shape not in sampled)
    return ReadShapes(sampled, tuple(map(reader.scop, sampled)), further, tuple(map(reader.scop, further)))


def in_doubt(
    shapes: Sequence[Shape],
    times: Sequence[Times],
    kernels: Sequence[str],
    reader: ShapeReader,
    taken: ReadShapes,
    seed: int,
) -> list[tuple[Shape, Scop]]:
    """Shapes at which a decision between kernels is most in doubt, with the nest there.

    ``times[n]`` are seconds at ``shapes[n]``, by kernel. There are ``_DOUBTFUL`` for each optimized shape. None of them
    computes or holds more than those at which kernels were measured.
    """
    names = [*kernels, ORIGINAL]
    decision = fitted(shapes, times, names)
    drawn = sampled_shapes(reader.nest.ranges, _DRAWN * len(taken.sampled), seed + 2)
    new = [each for each in drawn if each not in shapes]
    most = ShapeLimits(max(map(reader.operations, taken.further)), max(map(reader.bytes, taken.further)))
    able = (shape for shape in by_doubt(decision, shapes, times, names, new) if reader.fits(shape, most))
    return [(shape, reader.scop(shape)) for shape in islice(able, _DOUBTFUL * len(taken.sampled))]


def unreadable(shape: Shape, error: UserError) -> OptionError:
    """The error for a shape of the ranges at which a nest can't be read that can be at others."""
    return OptionError(
        f"with {', '.join(f'{name}={size}' for name, size in shape.items())} the nest can't be read: {error.message}",
        file=error.file, line=error.line, construct=error.construct,
        remedy="begin and end the ranges at sizes for which the source is valid, such as extents above zero",
    )  # fmt: skip
