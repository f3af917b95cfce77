"""From a space to variants: enumerated where they are few, sampled with a seed where they are many."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from polydl.ir.counts import counted
from polydl.ir.variant import Step, Variant
from polydl.variants.choice import Choice
from polydl.variants.variant_space import VariantSpace

# For each variant that is asked for: draws may be dead ends, illegal, or known already, and have to end.
DRAWS_PER_VARIANT = 30
# Shapes of calls around which the source's own order is always tried.
DEFAULTS = 8


@dataclass(frozen=True, repr=False)
class Generation:
    """Legal variants, and how they came about."""

    #: Each once.
    variants: tuple[Variant, ...]
    #: Assignments that were looked at.
    generated: int
    #: Shapes with tiles and orders in the space. Each stands for an assignment or more: one for each loop that may run
    #: in parallel, and each way of the innermost loops.
    forms: int
    #: Whether legal variants are left out.
    sampled: bool
    #: By variant, the place of its space among those that have assignments, and the choice for each nest.
    choices: Mapping[str, tuple[int, tuple[Choice, ...]]] = field(default_factory=dict)
    #: How many legal variants there are; None if not all assignments were looked at.
    legal: int | None = None

    def __repr__(self) -> str:
        variants, looked = counted(len(self.variants), "variant"), counted(self.generated, "assignment")
        return f"<Generation of {variants} out of {looked}>"


def generate(space: VariantSpace, *, max_variants: int, seed: int) -> Generation:
    """Legal variants: all of them, or a sample if there are more than ``max_variants`` forms or variants.

    Each alternative of the scop gets an even share of what those with a single assignment leave. The same seed gives
    the same variants in the same order.
    """
    every = tuple(each for each in (space, *space.alternatives) if each.size())
    spaces = every[:max_variants]
    shares: dict[int, Generation] = {}
    for number, place in enumerate(sorted(range(len(spaces)), key=lambda place: spaces[place].size() > 1)):
        # What one space leaves over goes to those after it.
        room = max_variants - sum(len(part.variants) for part in shares.values())
        shares[place] = _generate(spaces[place], room // (len(spaces) - number), seed)
    parts = [shares[place] for place in range(len(spaces))]
    legal = [part.legal for part in parts if part.legal is not None]
    return Generation(
        tuple(variant for part in parts for variant in part.variants),
        sum(part.generated for part in parts),
        sum(each.size() for each in every),
        any(part.sampled for part in parts) or len(parts) < len(every),
        {key: (place, own) for place, part in enumerate(parts) for key, (_, own) in part.choices.items()},
        sum(legal) if len(legal) == len(every) else None,
    )


def _generate(space: VariantSpace, max_variants: int, seed: int) -> Generation:
    forms = space.size()
    generator = random.Random(seed)
    defaults = _defaults(space)
    chosen = {variant.id: (variant, choices) for variant, choices in defaults[:max_variants]}
    if forms <= max_variants:
        every = {variant.id: (variant, own) for variant, own in _every(space)}
        beside = {variant.id for variant, _ in defaults} - every.keys()
        looked = prod(len(each.choices) + each.illegal() for each in space.spaces) + len(beside)
        # Each parallel loop multiplies the forms that ``size`` counts.
        more = [each for identity, each in every.items() if identity not in chosen]
        room = max_variants - len(chosen)
        places = sorted(generator.sample(range(len(more)), room)) if len(more) > room else range(len(more))
        chosen.update((more[place][0].id, more[place]) for place in places)
        return _generation(chosen, looked, forms, len(every) + len(beside))
    looked = len(chosen)
    for _ in range(DRAWS_PER_VARIANT * max_variants):
        if len(chosen) >= max_variants:
            break
        looked += 1
        drawn = drawn_from(space, generator)
        if drawn is not None:
            chosen.setdefault(drawn[0].id, drawn)
    return _generation(chosen, looked, forms, None)


def _every(space: VariantSpace) -> Iterator[tuple[Variant, tuple[Choice, ...]]]:
    """The variants that the choices of a space's nests make."""
    return ((variant_of(space, own), own) for own in product(*(each.choices for each in space.spaces)))


def _generation(
    chosen: Mapping[str, tuple[Variant, tuple[Choice, ...]]], looked: int, forms: int, legal: int | None
) -> Generation:
    variants = tuple(variant for variant, _ in chosen.values())
    choices = {key: (0, own) for key, (_, own) in chosen.items()}
    return Generation(variants, looked, forms, len(variants) != legal, choices, legal)


def drawn_from(space: VariantSpace, generator: random.Random) -> tuple[Variant, tuple[Choice, ...]] | None:
    """A random variant of a space alone, with the choice for each nest; None if what was drawn is not legal."""
    drawn = [each.sample(generator) for each in space.spaces]
    complete = tuple(choice for choice in drawn if choice is not None)
    return (variant_of(space, complete), complete) if len(complete) == len(drawn) else None


def variant_of(space: VariantSpace, choices: Sequence[Choice]) -> Variant:
    """The steps of a choice for each nest, after the space's rewrites."""
    everything: list[Step] = [*space.rewrites]
    for each, choice in zip(space.spaces, choices, strict=True):
        everything += each.steps(choice)
    return Variant(tuple(everything))


def _defaults(space: VariantSpace) -> list[tuple[Variant, tuple[Choice, ...]]]:
    """The source's own order, around the best shapes of each nest: variants that are always tried."""
    defaults = [each.defaults(DEFAULTS) for each in space.spaces]
    variants = []
    for number in range(max(map(len, defaults), default=0) if all(defaults) else 0):
        choices = [_nth(each, number) for each in defaults]
        if all(each.legal_order(c.shape, c.order) for each, c in zip(space.spaces, choices, strict=True)):
            ways = [each.variations(c) for each, c in zip(space.spaces, choices, strict=True)]
            for way in range(max(map(len, ways), default=1)):
                chosen = tuple(_nth(each, way) for each in ways)
                variants.append((variant_of(space, chosen), chosen))
    return variants


def defaults_beside(space: VariantSpace) -> int:
    """How many of the variants that are always tried the choices of a space's nests do not make.

    The source's own order may have another loop innermost than plain loops are left, and a nest with nothing to decide
    is tried with every way of its innermost loops.
    """
    held = {
        variant.id: all(each.holds(choice) for each, choice in zip(space.spaces, choices, strict=True))
        for variant, choices in _defaults(space)
    }
    return list(held.values()).count(False)


def _nth(choices: Sequence[Choice], number: int) -> Choice:
    return choices[min(number, len(choices) - 1)]
