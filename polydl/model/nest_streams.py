"""The streams of a nest, and what each of its loops does to them: what misses and prefetching are predicted from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from polydl.machine import Core
from polydl.model.cache_sets import Geometry
from polydl.model.footprints import Footprint, ReferenceStream
from polydl.model.nest_loops import Extent, NestLoop


@dataclass(frozen=True)
class Inside:
    """A stream inside some loops."""

    #: over all tiles
    average: Footprint
    #: in full tiles
    full: Footprint
    #: in the last tile of each loop, by the loop's place
    last: dict[int, Footprint]
    #: lines that hold the end of one of the rows that it runs along and the beginning of the next, by the place of the
    #: outermost of the loops
    torn: dict[int, float]


class Extents(NamedTuple):
    """Of the iterators that nests don't share, inside some loops."""

    by_iterator: tuple[Extent, ...]
    #: the places of those whose last tile is shorter
    ragged: tuple[int, ...]


@dataclass(frozen=True)
class NestStream:
    """A stream, and what the loops of a nest do to it."""

    stream: ReferenceStream
    #: for each loop, whether it moves the stream
    moves: tuple[bool, ...]
    #: what is touched inside the first 0, 1, 2, … loops
    inside: tuple[Inside, ...]
    #: for each loop, the next one inside that moves the stream, or the number of loops
    following: tuple[int, ...]

    @property
    def whole(self) -> Footprint:
        """What one execution of the nest touches."""
        return self.inside[0].average


@dataclass(frozen=True, eq=False)
class NestStreams:
    """The streams of one nest, and the loops that walk through them; compared by identity."""

    streams: tuple[NestStream, ...]
    #: those that run more than once, outermost first
    loops: tuple[NestLoop, ...]
    #: inside the first 0, 1, 2, … loops
    extents: tuple[Extents, ...]
    #: how many outermost iterators belong to loops that are shared with other nests
    shared: int
    core: Core
    caches: tuple[Geometry, ...]
    #: whether nothing is called
    plain: bool
    #: whether the source or a rewrite has calls there, whose innermost loops are unknown
    calls: bool = False

    def lines_inside(self, depth: int) -> float:
        """Lines that all streams touch inside the first ``depth`` loops."""
        return sum([each.inside[depth].average.lines for each in self.streams])
