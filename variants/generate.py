"""From a scop to variants: enumerated where they are few, sampled with a seed where they are many."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from polydl.contracts import Microkernel
from polydl.errors import IllegalVariantError
from polydl.poly.dependences import Dependence, dependences
from polydl.poly.legality import Directions, directions, violations
from polydl.poly.nests import Nest, distribute
from polydl.poly.plans import Plan, loop_bounds
from polydl.poly.products import GemmMatch, NoMatch, match
from polydl.types import Scop, Step, Variant
from polydl.variants.space import Choice, NestSpace, Shape, shapes_of

DRAWS_PER_VARIANT = 30


@dataclass(frozen=True)
class NestReport:
    """What was found for one nest: the microkernel and its best shape, or why there is none."""

    nest: Nest
    kernel: str | None
    reason: str | None
    flops: int


@dataclass(frozen=True)
class VariantSpace:
    """All that can be decided about one scop. ``kernels`` are those considered, by name;
    ``candidates`` their matches by nest index and kernel name."""

    scop: Scop
    dependences: tuple[Dependence, ...]
    nests: tuple[Nest, ...]
    directions: tuple[Directions, ...]
    spaces: tuple[NestSpace, ...]
    reports: tuple[NestReport, ...]
    kernels: Mapping[str, Microkernel]
    candidates: Mapping[tuple[int, str], tuple[GemmMatch, ...]]
    reassociate: bool

    def size(self) -> int:
        return prod(space.size() for space in self.spaces)

    def matches(self, plan: Plan) -> dict[int, GemmMatch]:
        """The match that each nest's microkernel step refers to, by nest index.

        Raises IllegalVariantError for a step whose loops are no match.
        """
        found: dict[int, GemmMatch] = {}
        for nest_plan in plan.nests:
            step = nest_plan.microkernel
            if step is None:
                continue
            nest = nest_plan.nest
            roles = tuple(nest.depth + nest.loops.index(name) for name in (step.m, step.n, step.k))
            batch = {nest.depth + nest.loops.index(name) for name in step.batch}
            for candidate in self.candidates.get((nest.index, step.name), ()):
                if (candidate.m, candidate.n, candidate.k) == roles and batch <= set(candidate.batchable):
                    found[nest.index] = candidate
                    break
            else:
                raise IllegalVariantError(
                    f"the loops {step.m}, {step.n} and {step.k} of nest {nest.index} are no match for `{step.name}`"
                )
        return found

    def violations(self, plan: Plan) -> tuple[str, ...]:
        """Why the plan is illegal, in words; empty if isl proves it legal."""
        return tuple(
            f"{broken.dependence.kind} dependence on `{broken.dependence.array}` from {broken.dependence.source} to "
            f"{broken.dependence.target} is broken"
            + (f" by running `{broken.parallel}` in parallel" if broken.parallel else "")
            for broken in violations(self.scop, plan.schedule, self.dependences, reassociate=self.reassociate)
        )


@dataclass(frozen=True)
class Generation:
    """``generated`` counts the assignments looked at, ``variants`` are the legal ones; ``total`` is the
    number of assignments in the space, and ``sampled`` says that not all were looked at."""

    variants: tuple[Variant, ...]
    generated: int
    total: int
    sampled: bool


def _matches(scop: Scop, nest: Nest, kernel: Microkernel) -> tuple[GemmMatch, ...] | NoMatch:
    if len(nest.statements) != 1:
        return NoMatch(f"its innermost body holds {len(nest.statements)} statements")
    statement = scop.statement(nest.statements[0])
    return match(scop, statement, tuple(range(nest.depth, statement.depth)), kernel)


def _nest_shapes(
    scop: Scop,
    nest: Nest,
    kernels: Sequence[Microkernel],
    candidates: Mapping[tuple[int, str], tuple[GemmMatch, ...] | NoMatch],
    vector_bytes: int,
) -> tuple[tuple[Shape, ...], str | None, str | None]:
    """Shapes, the kernel that they use, and otherwise the reason why there is none."""
    if nest.call is not None:
        return (Shape(None),), None, f"it calls `{nest.call.call}`"
    reasons: list[str] = []
    bounds = loop_bounds(scop, nest)
    extents = {nest.depth + position: high - low + 1 for position, (low, high) in enumerate(bounds)}
    for kernel in kernels:
        found = candidates[nest.index, kernel.name]
        if isinstance(found, NoMatch):
            reasons.append(f"{kernel.name}: {found.reason}")
            continue
        width = scop.array(found[0].form.c.array).element_bytes
        shapes, reason = shapes_of(found, kernel, extents, max(1, vector_bytes // width))
        if shapes:
            return shapes, kernel.name, "; ".join(reasons) or None
        reasons.append(f"{kernel.name}: {reason}")
    return (Shape(None),), None, "; ".join(reasons) or "no microkernel was asked for"


def build_space(
    scop: Scop,
    kernels: Sequence[Microkernel],
    *,
    threads: int,
    vector_bytes: int,
    reassociate: bool = True,
) -> VariantSpace:
    """Dependences, nests and decisions of a scop.

    ``kernels`` are tried in order for each nest; the first that matches is used. Without ``reassociate``
    the order of every sum is kept.
    """
    found = dependences(scop)
    nests = distribute(scop, found)
    candidates = {(nest.index, kernel.name): _matches(scop, nest, kernel) for nest in nests for kernel in kernels}
    spaces, reports, ways = [], [], []
    for nest in nests:
        shapes, kernel, reason = _nest_shapes(scop, nest, kernels, candidates, vector_bytes)
        way = directions(scop, nest, found, reassociate=reassociate)
        space = NestSpace(scop, nest, way, shapes, threads)
        if kernel is not None and not any(space.legal_order(shape, space.default(shape).order) for shape in shapes):
            reason, kernel = "the order of the sum must be kept", None
            space = NestSpace(scop, nest, way, (Shape(None),), threads)
        spaces.append(space)
        ways.append(way)
        reports.append(NestReport(nest, kernel, reason, sum(scop.statement(name).flops for name in nest.statements)))
    return VariantSpace(
        scop,
        found,
        nests,
        tuple(ways),
        tuple(spaces),
        tuple(reports),
        {kernel.name: kernel for kernel in kernels},
        {key: found for key, found in candidates.items() if not isinstance(found, NoMatch)},
        reassociate,
    )


def _variant(spaces: Sequence[NestSpace], choices: Sequence[Choice]) -> Variant:
    steps: list[Step] = []
    for space, choice in zip(spaces, choices, strict=True):
        steps += space.steps(choice)
    return Variant(tuple(steps))


def _defaults(spaces: Sequence[NestSpace]) -> list[Variant]:
    """The source's own order, around the best shapes of each nest: variants that are always tried."""
    most = max((len(space.shapes) for space in spaces), default=0)
    found = []
    for number in range(min(most, 8)):
        choices = [space.default(space.shapes[min(number, len(space.shapes) - 1)]) for space in spaces]
        if all(space.legal_order(c.shape, c.order) for space, c in zip(spaces, choices, strict=True)):
            found.append(_variant(spaces, choices))
    return found


def _enumerated(space: VariantSpace) -> tuple[list[Variant], int]:
    """All legal variants, and how many assignments there were."""
    legal, looked = [], 0
    for choices in product(*(tuple(each.all()) for each in space.spaces)):
        looked += 1
        complete = [choice for choice in choices if choice is not None]
        if len(complete) == len(choices):
            legal.append(_variant(space.spaces, complete))
    return legal, looked


def generate(space: VariantSpace, *, max_variants: int, seed: int) -> Generation:
    """Legal variants: all of them if there are at most ``max_variants`` assignments, else a sample.

    The same seed gives the same variants in the same order.
    """
    total = space.size()
    generator = random.Random(seed)
    found = {variant.id: variant for variant in _defaults(space.spaces)[:max_variants]}
    if total <= max_variants:
        legal, looked = _enumerated(space)
        # Each parallel loop multiplies the assignments that ``size`` counts once.
        more = [variant for variant in legal if variant.id not in found]
        room = max_variants - len(found)
        chosen = sorted(generator.sample(range(len(more)), room)) if len(more) > room else range(len(more))
        found.update((more[index].id, more[index]) for index in chosen)
        return Generation(tuple(found.values()), looked, looked, len(more) > room)
    looked = len(found)
    for _ in range(DRAWS_PER_VARIANT * max_variants):
        if len(found) >= max_variants:
            break
        looked += 1
        drawn = [each.sample(generator) for each in space.spaces]
        complete = [choice for choice in drawn if choice is not None]
        if len(complete) == len(drawn):
            variant = _variant(space.spaces, complete)
            found.setdefault(variant.id, variant)
    return Generation(tuple(found.values()), looked, total, True)
