"""How many legal variants a space has, where they are too many to be looked at."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import prod, sqrt

from polydl.variants.generation import Generation, defaults_beside
from polydl.variants.variant_space import VariantSpace

# Where half of all draws are legal, so many know their share to 6 %, a standard error.
DRAWS = 300
# Standard errors to each side that 95 % of a normal distribution lie within.
_NORMAL = 1.96
# An event with so many expected draws stays unseen in 5 % of all cases.
_UNSEEN = 3.0


@dataclass(frozen=True)
class SizeEstimate:
    """How many legal variants a space has, with its alternatives."""

    #: The estimate, without bias.
    value: int
    #: Lower bound, with 95 % confidence.
    low: int
    #: Upper bound, with 95 % confidence.
    high: int


def estimated_size(space: VariantSpace, *, seed: int, draws: int = DRAWS) -> SizeEstimate:
    """The number of legal variants, estimated from ``draws`` assignments of each alternative, drawn evenly.

    The mean number of legal variants that one stands for, times the number of assignments, is unbiased; the bounds are
    those of the central limit theorem, with the alternatives' variances added; where all draws agree, three of them
    may as well have been illegal ones that were not met. Defaults that are none of these assignments are counted.
    """
    generator = random.Random(seed)
    total = variance = unseen = beside = 0.0
    for each in (space, *space.alternatives):
        size = each.size()
        if not size:
            continue
        found = [prod(nest.legal_from(generator) for nest in each.spaces) for _ in range(draws)]
        mean = sum(found) / draws
        total += size * mean
        beside += defaults_beside(each)
        own = sum((value - mean) ** 2 for value in found) / (draws - 1)
        variance += size**2 * own / draws
        unseen += 0.0 if own or size == 1 else _UNSEEN * size * mean / draws
    error = _NORMAL * sqrt(variance)
    low = max(0.0, total - error - unseen)
    return SizeEstimate(round(total + beside), round(low + beside), round(total + error + beside))


def left_out(space: VariantSpace, generation: Generation, *, seed: int) -> SizeEstimate | None:
    """How many legal variants there are where some are left out: exactly where all were looked at, else estimated."""
    if not generation.sampled:
        return None
    legal = generation.legal
    return estimated_size(space, seed=seed) if legal is None else SizeEstimate(legal, legal, legal)
