"""Calls that stand for the innermost loops of a statement."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from polydl.ir.affine import Affine
from polydl.ir.statement import Statement

Matrix = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Inside:
    """Of a tile that begins at ``step`` times a loop's iteration, what lies below ``limit`` is there."""

    loop: int
    step: int
    limit: int


@dataclass(frozen=True)
class TileTransform:
    """Linear maps of the axes of small tiles, one matrix for each axis, with a row per element of the result.

    A single matrix where there are several axes maps all of them together, the last of which runs fastest.

    ``results`` and ``sources`` are the loops (of the statement's iterators) along the axes of what is written and what
    is read; ``lanes`` is the loop over channels, and elements of the side that is not ``clipped`` lie side by side
    along it. Of the other side, "source" or "result", elements that are not ``inside`` are read as zero, or not
    written; None is for an axis that is there everywhere. With ``adds``, results are added to what was there. Where
    lanes of that side lie apart, the call goes through all tiles of the loop ``walk``, and brings the lanes of many of
    them together. Statements that come ``after`` run on each element of a result, whose loops are given over those of
    the call's statement.
    """

    matrices: tuple[Matrix, ...]
    results: tuple[int, ...]
    sources: tuple[int, ...]
    lanes: int
    inside: tuple[Inside | None, ...]
    clipped: Literal["source", "result"] = "source"
    adds: bool = False
    walk: int | None = None
    after: tuple[tuple[Statement, tuple[Affine, ...]], ...] = ()

    @property
    def together(self) -> bool:
        """Whether one matrix maps elements along several axes."""
        return len(self.matrices) < max(len(self.results), len(self.sources))

    @property
    def outside(self) -> tuple[int, ...]:
        """The loops along the axes of the side that is no array of points."""
        return self.results if self.clipped == "result" else self.sources


@dataclass(frozen=True)
class AnnotatedCall:
    """A microkernel call that a pragma marked, and the loops that stood in for it (paper, §4).

    ``inner_loops`` of the statement's loops, the innermost, belong to the call. A rewrite may have put a ``transform``
    there instead.
    """

    call: str
    line: int
    statements: tuple[str, ...]
    inner_loops: int
    transform: TileTransform | None = None
