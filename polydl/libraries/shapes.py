"""Which sizes of a range are measured: corners, edges, powers of two and their neighbours, primes, log-uniform ones."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence

from polydl.libraries.ranges import SizeRange

# One value for each size, by name.
Shape = Mapping[str, int]
# Draws for each shape that is wanted, before a small range is taken to be exhausted.
_MOST_DRAWS = 50
# Of so many random shapes, one lies at the edge of a range: matrices of one row, or products of one term.
_EDGES = 4


def sampled_shapes(
    ranges: Sequence[SizeRange], count: int, seed: int, measurable: Callable[[Shape], bool] | None = None
) -> tuple[Shape, ...]:
    """``count`` different shapes within the ranges, or as many as there are; the same ones for the same seed.

    First the smallest of all sizes, and the largest; then random ones: each size is log-uniform, and is then kept,
    moved to the next power of two, to a neighbour of one, or to the next prime, each as often. In every fourth of them
    one size, each in its turn, is the smallest of its range. None of them but the
    smallest is one that is not ``measurable``: in place of the largest sizes, those are taken whose greatest ones have
    been halved until it is, and others are drawn for random ones.
    """
    generator = random.Random(seed)
    names = [each.name for each in ranges]

    def named(sizes: Sequence[int]) -> Shape:
        return dict(zip(names, sizes, strict=True))

    def admitted(sizes: Sequence[int]) -> bool:
        return measurable is None or measurable(named(sizes))

    shapes = {tuple(each.low for each in ranges): None, _largest(ranges, admitted): None}
    for number in range(_MOST_DRAWS * count):
        if len(shapes) >= count:
            break
        drawn = tuple(each.nearest(_draw(each, generator)) for each in ranges)
        if number % _EDGES == 0:
            place = number // _EDGES % len(ranges)
            drawn = (*drawn[:place], ranges[place].low, *drawn[place + 1 :])
        if drawn not in shapes and admitted(drawn):
            shapes[drawn] = None
    return tuple(named(sizes) for sizes in list(shapes)[:count])


def largest_shape(ranges: Sequence[SizeRange], admitted: Callable[[Shape], bool]) -> Shape:
    """The largest sizes of the ranges, the greatest ones halved until they are admitted; else the smallest."""
    names = [each.name for each in ranges]
    return dict(zip(names, _largest(ranges, lambda sizes: admitted(dict(zip(names, sizes, strict=True)))), strict=True))


def _largest(ranges: Sequence[SizeRange], admitted: Callable[[Sequence[int]], bool]) -> tuple[int, ...]:
    lowest = tuple(each.low for each in ranges)
    largest = tuple(each.high for each in ranges)
    while largest != lowest and not admitted(largest):
        largest = _halved(largest, ranges)
    return largest


def _halved(sizes: tuple[int, ...], ranges: Sequence[SizeRange]) -> tuple[int, ...]:
    """The sizes with the greatest one that is not yet the smallest of its range at about half; smaller in any case."""
    place = max((n for n, each in enumerate(ranges) if sizes[n] > each.low), key=lambda n: sizes[n])
    half = ranges[place].nearest(sizes[place] / 2)
    return (*sizes[:place], half if half < sizes[place] else ranges[place].low, *sizes[place + 1 :])


def _draw(sizes: SizeRange, generator: random.Random) -> float:
    size = math.exp(generator.uniform(math.log(sizes.low), math.log(sizes.high)))
    power = 2.0 ** round(math.log2(size))
    kind = generator.randrange(4)
    if kind == 0:
        return size
    if kind == 1:
        return power
    if kind == 2:
        return power + generator.choice((-1, 1))
    return _next_prime(round(size))


def _next_prime(least: int) -> int:
    candidate = max(2, least)
    while any(candidate % divisor == 0 for divisor in range(2, math.isqrt(candidate) + 1)):
        candidate += 1
    return candidate
