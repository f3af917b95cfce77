"""Which part of A a microkernel call fetches for the calls after it.

Whoever walks through a tile of A for the first time waits for it, if it comes from beyond the second-level cache: the
first register block of a call reads the tile faster than the last-level cache delivers it, and the others find it
near. Spread over all register blocks of the calls before, the same transfer costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.codegen.expressions import stripped
from polydl.contracts import GemmSite
from polydl.match.product import GemmMatch
from polydl.plan.plan import NestPlan, trips

# An operand smaller than this, in bytes, stays in the second-level cache by itself.
_LEAST_OPERAND = 512 * 1024
# For fewer columns than this, a tile is needed about as fast as it can be fetched.
_LEAST_COLUMNS = 24
_LINE = 64
_BYTES = {"float": 4, "double": 8, BFLOAT16: 2}


@dataclass(frozen=True)
class _Walk:
    """A generated loop: its place among the plan's, the first value of its counter, its iterations.

    ``stride`` is by how many elements of A one iteration moves on.
    """

    place: int
    first: int
    trips: int
    stride: int

    def number(self, values: Sequence[str]) -> str:
        """Of the iteration, from 0 to ``trips`` - 1. An inner loop of tiles counts on through those of the outer."""
        value = stripped(values[self.place])
        return f"({value} - {self.first}) % {self.trips}" if self.first else f"{value} % {self.trips}"


@dataclass(frozen=True)
class Ahead:
    """Each of the calls with one tile of A fetches ``share`` bytes of the next tile.

    ``inner`` are the loops between these calls, ``outer`` those that move on to another tile, the innermost first.
    """

    share: int
    inner: tuple[_Walk, ...]
    outer: tuple[_Walk, ...]

    def address(self, a: str, element: str, values: Sequence[str]) -> str:
        """Where one call starts to fetch, in C; ``values`` are those of the plan's loops."""
        number = ""
        for walk in self.inner:
            own = walk.number(values)
            number = f"({number}) * {walk.trips} + {own}" if number else own
        share = self.share // _BYTES[element]
        return f"{a} + ({self._distance(values)})" + (f" + ({number}) * {share}" if number else "")

    def _distance(self, values: Sequence[str]) -> str:
        """To the next tile: a loop at its end starts anew, and the one around it moves on."""
        text = ""
        back = 0
        steps = []
        for walk in self.outer:
            steps.append((walk, walk.stride - back))
            back += (walk.trips - 1) * walk.stride
        for inner, (walk, step) in enumerate(steps):
            if all(other == step for _, other in steps[inner:]):
                return f"{text}{step}"
            text += f"{walk.number(values)} < {walk.trips - 1} ? {step} : "
        raise AssertionError("the last loop's step equals itself")


def ahead_of(plan: NestPlan, match: GemmMatch, site: GemmSite) -> Ahead | None:
    """What calls fetch ahead; None if A is small or hardly used, its tiles are not contiguous, or there is but one."""
    width = _BYTES.get(site.element)
    tile = site.m[0] * site.k[0]
    whole = site.m[0] == site.m[1] == site.lda and site.k[0] == site.k[1]
    if width is None or not whole or sorted(site.offsets_a) != [tile * each for each in range(len(site.offsets_a))]:
        return None
    strides = match.form.strides_a
    moved = [loop for number, loop in enumerate(plan.nest.loops) if strides[plan.nest.depth + number]]
    if width * prod(plan.extent(loop) for loop in moved) < _LEAST_OPERAND:
        return None
    counts = trips(plan)
    places = [place for place in reversed(range(len(plan.loops))) if counts[place] > 1]
    walks = [_walk(plan, strides, place, counts[place]) for place in places]
    first = next((place for place, walk in enumerate(walks) if walk.stride), None)
    if first is None:
        return None
    calls = prod(walk.trips for walk in walks[:first])
    if calls * site.n[0] * site.rows < _LEAST_COLUMNS:
        return None
    lines = -(-width * tile * len(site.offsets_a) // _LINE)
    return Ahead(_LINE * -(-lines // calls), tuple(reversed(walks[:first])), tuple(walks[first:]))


def _walk(plan: NestPlan, strides: Sequence[int], place: int, count: int) -> _Walk:
    loop = plan.loops[place]
    first = loop.first(*plan.bounds[loop.iterator - plan.nest.depth])
    return _Walk(place, first, count, strides[loop.iterator] * loop.size * loop.direction)
