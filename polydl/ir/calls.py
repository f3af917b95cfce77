"""Calls that take the place of the innermost loops of a statement."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal

from polydl.ir.affine import Affine
from polydl.ir.statement import Statement


class Matrix(tuple[tuple[Fraction, ...], ...]):
    """Exact rows of equal length. Its hash, which takes long, is computed once."""

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)


@dataclass(frozen=True)
class AxisLimit:
    """The bound of an array along one axis of a tile: its elements at ``step * iterator + offset < limit`` exist."""

    #: loop over tiles, an index into the statement's iterators
    loop: int
    #: elements from the start of one tile to that of the next
    step: int
    #: extent of the array along the axis, in elements
    limit: int


@dataclass(frozen=True)
class TileTransform:
    """A transform of small tiles between an array and the transform domain of a bilinear algorithm (Winograd's).

    Such an algorithm maps tiles of its inputs into the transform domain, multiplies there, and maps the products back.
    A transform reads a tile of one array (its source) and writes one of another (its result). One of the two, the
    ``clipped`` side, is an image, at whose edge tiles are cut off; the other is the array of the transform domain.
    Loops are indices into the iterators of the call's statement.
    """

    #: one matrix for each axis of a tile, applied axis by axis, or one for all axes, of which the last runs fastest;
    #: rows are elements of the result, columns elements of the source
    matrices: tuple[Matrix, ...]
    #: loops along the axes of the result
    results: tuple[int, ...]
    #: loops along the axes of the source
    sources: tuple[int, ...]
    #: loop over channels, which runs across vector lanes; it is contiguous in the array that is not ``clipped``
    lanes: int
    #: where the clipped array ends along each axis; None for an axis along which every tile is whole
    inside: tuple[AxisLimit | None, ...]
    #: the side with edges: beyond them a source reads as zero, and a result is not written
    clipped: Literal["source", "result"] = "source"
    #: whether results are added to the elements of the result array, in place of overwriting them
    adds: bool = False
    #: loop run inside the call, so that channels with a stride can be transposed in registers; None if they are
    #: contiguous in the clipped array
    walk: int | None = None
    #: element-wise statements to run on each element of the result, each with its iterators as forms of the call's
    after: tuple[tuple[Statement, tuple[Affine, ...]], ...] = ()

    @property
    def together(self) -> bool:
        """Whether one matrix maps all axes at once."""
        return len(self.matrices) < max(len(self.results), len(self.sources))

    @property
    def outside(self) -> tuple[int, ...]:
        """The loops along the axes of the clipped side, the one that is not in the transform domain."""
        return self.results if self.clipped == "result" else self.sources


@dataclass(frozen=True)
class AnnotatedCall:
    """A call that a pragma marks, with statements whose innermost loops describe what it computes (paper, §4)."""

    #: the whole call as C writes it
    call: str
    #: of the source, from 1
    line: int
    #: names of the statements that describe it
    statements: tuple[str, ...]
    #: number of innermost loops that belong to the call
    inner_loops: int


@dataclass(frozen=True)
class TransformCall:
    """A call that a rewrite put in place of the innermost loops of a statement, which it made for that."""

    #: name of the function
    call: str
    #: name of that statement
    statement: str
    #: number of innermost loops that belong to the call
    inner_loops: int
    #: what the function computes
    transform: TileTransform
