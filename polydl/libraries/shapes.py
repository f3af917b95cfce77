"""Which sizes of a range are measured: corners, powers of two and their neighbours, primes, and log-uniform ones."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

from polydl.libraries.ranges import SizeRange

# One value for each size, by name.
Shape = Mapping[str, int]
# Draws for each shape that is wanted, before a small range is taken to be exhausted.
_MOST_DRAWS = 50


def sampled_shapes(ranges: Sequence[SizeRange], count: int, seed: int) -> tuple[Shape, ...]:
    """``count`` different shapes within the ranges, or as many as there are; the same ones for the same seed.

    First the smallest and the largest of all sizes, then random ones: each size is log-uniform, and is then kept,
    moved to the next power of two, to a neighbour of one, or to the next prime, each as often.
    """
    generator = random.Random(seed)
    shapes: dict[tuple[int, ...], None] = {}
    shapes[tuple(each.low for each in ranges)] = None
    shapes[tuple(each.high for each in ranges)] = None
    for _ in range(_MOST_DRAWS * count):
        if len(shapes) >= count:
            break
        shapes[tuple(each.nearest(_draw(each, generator)) for each in ranges)] = None
    names = [each.name for each in ranges]
    return tuple(dict(zip(names, sizes, strict=True)) for sizes in list(shapes)[:count])


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
