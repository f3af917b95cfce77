"""Which step of an illegal variant breaks a dependence: what a message names."""

from __future__ import annotations

from collections.abc import Sequence

from polydl.errors import AnalysisError, IllegalVariantError
from polydl.ir.variant import Interchange, NestStep, RewriteStep, Step, Tile, Variant
from polydl.plan.plan import make_plan
from polydl.plan.rewriting import RewrittenScop
from polydl.poly.legality import Violation, violations


def breaking_step(rewritten: RewrittenScop, variant: Variant, violation: Violation) -> Step | None:
    """The first step from which on the order of the loops breaks the dependence; None where no step is known to.

    ``rewritten`` is the scop after the variant's rewrites. Tiles in front of an interchange of their nest have no order
    of their own: the interchange gives it.
    """
    if violation.parallel:
        return None
    steps = [step for step in variant.steps if not isinstance(step, RewriteStep)]
    for count in reversed(range(len(steps))):
        if _keeps(rewritten, Variant(tuple(steps[:count])), violation):
            return _ordering(steps, count)
    return None


def _ordering(steps: Sequence[Step], place: int) -> Step:
    """The interchange behind a tile at a place of the steps, if its nest has one; else the step at the place."""
    step = steps[place]
    if not isinstance(step, NestStep) or step.json_name != Tile.json_name:
        return step
    of_nest = (each for each in steps[place:] if isinstance(each, NestStep) and each.nest == step.nest)
    return next((each for each in of_nest if each.json_name == Interchange.json_name), step)


def step_place(step: Step) -> str:
    """A step as messages say it: its name, the nest that it is a step of, and its loop if it is of one.

    Its number among a person's steps is not known, since variants have theirs in an order of their own.
    """
    if not isinstance(step, NestStep):
        return f"`{step.json_name}`"
    loop: str = getattr(step, "loop", "")
    return f"`{step.json_name}` of nest {step.nest}{f' (loop `{loop}`)' if loop else ''}"


def _keeps(rewritten: RewrittenScop, variant: Variant, violation: Violation) -> bool:
    """Whether the order of the loops after the variant's steps keeps a dependence."""
    try:
        schedule = make_plan(rewritten.scop, rewritten.nests, variant).schedule
        broken = violations(rewritten.scop, schedule, [violation.dependence], reassociate=rewritten.reassociate)
    except (IllegalVariantError, AnalysisError):
        return False
    return all(each.parallel for each in broken)
