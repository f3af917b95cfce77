"""Which part of A a microkernel call prefetches for the calls after it.

Whoever walks through a tile of A for the first time waits for it, if it comes from beyond the second-level cache: the
first register block of a call reads the tile faster than the last-level cache delivers it, and the others find it
near. Spread over all register blocks of the calls before, the same transfer costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.contracts import GemmSite
from polydl.ir.scop import Scop
from polydl.machine import Core
from polydl.match.product import GemmMatch
from polydl.plan.nest_plan import NestPlan, trips

_ELEMENTS = ("float", "double", BFLOAT16)


@dataclass(frozen=True)
class Walk:
    """A generated loop, as the address of a prefetch counts it."""

    #: Its place among all loops around a call, those that nests share first.
    place: int
    #: The first value of its counter.
    first: int
    #: Its number of iterations.
    trips: int
    #: By how many elements of A one iteration moves on.
    stride: int


@dataclass(frozen=True)
class Prefetch:
    """Each of the calls with one tile of A fetches a share of the next tile."""

    #: Bytes that one call fetches: whole lines.
    share: int
    #: The same in elements of A.
    elements: int
    #: The loops between the calls with one tile, the outermost first.
    inner: tuple[Walk, ...]
    #: The loops that move on to another tile, the innermost first.
    outer: tuple[Walk, ...]


def prefetch_of(scop: Scop, plan: NestPlan, match: GemmMatch, site: GemmSite, core: Core) -> Prefetch | None:
    """What the calls of a site prefetch.

    The caller makes sure that A comes from beyond the second-level cache: that a nest goes through more of it than
    stays there beside all else. None if few columns use a tile of A, if its tiles are not contiguous, or if there is
    but one of them.
    """
    # A row's steps of k lie side by side, and the next row's follow: groups of k, or whole rows.
    row_by_row = site.lda == 1 and site.stride_am == site.k[0]
    if site.element not in _ELEMENTS and not row_by_row:
        return None
    width = scop.array(match.form.a.array).element_bytes
    tile = site.m[0] * site.k[0]
    whole = site.m[0] == site.m[1] and site.k[0] == site.k[1] and (row_by_row or site.lda == site.m[0])
    if not whole or sorted(site.offsets_a) != [tile * number for number in range(len(site.offsets_a))]:
        return None
    strides = match.form.strides_a
    counts = trips(plan)
    places = [place for place in reversed(range(len(plan.loops))) if counts[place] > 1]
    walks = [_walk(plan, strides, place, counts[place]) for place in places]
    first = next((place for place, walk in enumerate(walks) if walk.stride), None)
    if first is None:
        return None
    calls = prod(walk.trips for walk in walks[:first])
    if calls * site.n[0] * site.rows < core.ahead_fewest_columns:
        return None
    lines = -(-width * tile * len(site.offsets_a) // core.line_bytes)
    share = core.line_bytes * -(-lines // calls)
    return Prefetch(share, share // width, tuple(reversed(walks[:first])), tuple(walks[first:]))


def walked_bytes(scop: Scop, plan: NestPlan, match: GemmMatch) -> int:
    """How much of A a nest goes through."""
    strides = match.form.strides_a
    moved = [loop for number, loop in enumerate(plan.nest.loops) if strides[plan.nest.depth + number]]
    width = scop.array(match.form.a.array).element_bytes
    return width * prod(plan.extent(loop) for loop in moved)


def ahead_steps(walked: int, column_bytes: int, fetches_itself: bool, core: Core) -> int:
    """How many steps of k ahead calls prefetch A, by where it comes from: 0 for not at all.

    ``walked`` are the ``walked_bytes``, and ``column_bytes`` lie between two columns of A. Only with ``fetches_itself``
    does A come from beyond the second-level cache: otherwise earlier calls fetch or copy it.
    """
    if fetches_itself and walked >= core.near_bytes:
        beyond = core.last_cache_bytes > core.second_cache_bytes
        return core.last_cache_ahead_steps if beyond and walked < core.last_cache_bytes else core.memory_ahead_steps
    apart = column_bytes >= core.page_bytes and walked > core.first_cache_bytes
    return core.apart_ahead_steps if apart else core.near_ahead_steps


def _walk(plan: NestPlan, strides: Sequence[int], place: int, count: int) -> Walk:
    loop = plan.loops[place]
    first = loop.first(*plan.bounds[loop.iterator - plan.nest.depth])
    return Walk(len(plan.shared) + place, first, count, strides[loop.iterator] * loop.size * loop.direction)
