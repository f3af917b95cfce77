"""From a space to variants: enumerated where they are few, sampled with a seed where they are many."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from polydl.ir.variant import Step, Variant
from polydl.variants.choice import Choice
from polydl.variants.generate import VariantSpace

DRAWS_PER_VARIANT = 30
# Shapes of calls around which the source's own order is always tried.
DEFAULTS = 8


@dataclass(frozen=True)
class Generation:
    """Legal variants, and how they came about."""

    variants: tuple[Variant, ...]
    #: Assignments that were looked at.
    generated: int
    #: Assignments in the space.
    total: int
    #: Whether not all were looked at.
    sampled: bool


def generate(space: VariantSpace, *, max_variants: int, seed: int) -> Generation:
    """Legal variants: all of them if there are at most ``max_variants`` assignments, else a sample.

    Each alternative of the scop gets an even share. The same seed gives the same variants in the same order.
    """
    every = tuple(each for each in (space, *space.alternatives) if each.size())
    spaces = every[:max_variants]
    parts: list[Generation] = []
    for number, each in enumerate(spaces):
        # What one space leaves over goes to those after it.
        room = max_variants - sum(len(part.variants) for part in parts)
        parts.append(_generate(each, room // (len(spaces) - number), seed))
    return Generation(
        tuple(variant for part in parts for variant in part.variants),
        sum(part.generated for part in parts),
        sum(part.total for part in parts) + sum(each.size() for each in every[max_variants:]),
        any(part.sampled for part in parts) or len(parts) < len(every),
    )


def _generate(space: VariantSpace, max_variants: int, seed: int) -> Generation:
    total = space.size()
    generator = random.Random(seed)
    variants = {variant.id: variant for variant in _defaults(space)[:max_variants]}
    if total <= max_variants:
        legal = [_variant(space, choices) for choices in product(*(each.choices for each in space.spaces))]
        looked = prod(len(each.choices) + each.illegal() for each in space.spaces)
        # Each parallel loop multiplies the assignments that ``size`` counts once.
        more = [variant for variant in legal if variant.id not in variants]
        room = max_variants - len(variants)
        chosen = sorted(generator.sample(range(len(more)), room)) if len(more) > room else range(len(more))
        variants.update((more[index].id, more[index]) for index in chosen)
        return Generation(tuple(variants.values()), looked, looked, len(more) > room)
    looked = len(variants)
    for _ in range(DRAWS_PER_VARIANT * max_variants):
        if len(variants) >= max_variants:
            break
        looked += 1
        drawn = [each.sample(generator) for each in space.spaces]
        complete = [choice for choice in drawn if choice is not None]
        if len(complete) == len(drawn):
            variant = _variant(space, complete)
            variants.setdefault(variant.id, variant)
    return Generation(tuple(variants.values()), looked, total, True)


def _variant(space: VariantSpace, choices: Sequence[Choice]) -> Variant:
    everything: list[Step] = [*space.rewrites]
    for each, choice in zip(space.spaces, choices, strict=True):
        everything += each.steps(choice)
    return Variant(tuple(everything))


def _defaults(space: VariantSpace) -> list[Variant]:
    """The source's own order, around the best shapes of each nest: variants that are always tried."""
    defaults = [each.defaults(DEFAULTS) for each in space.spaces]
    variants = []
    for number in range(max(map(len, defaults), default=0) if all(defaults) else 0):
        choices = [_nth(each, number) for each in defaults]
        if all(each.legal_order(c.shape, c.order) for each, c in zip(space.spaces, choices, strict=True)):
            ways = [each.variations(c) for each, c in zip(space.spaces, choices, strict=True)]
            variants += [
                _variant(space, [_nth(each, way) for each in ways]) for way in range(max(map(len, ways), default=1))
            ]
    return variants


def _nth(choices: Sequence[Choice], number: int) -> Choice:
    return choices[min(number, len(choices) - 1)]
