"""What is to be known of a variant's rewrites, whichever plug-ins they are: what they are for, and how they read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from polydl import registry
from polydl.ir.families import BILINEAR, FUSION
from polydl.ir.numerics import UNKNOWN, Rounding
from polydl.ir.scop import Scop
from polydl.ir.variant import Attach, RewriteStep, ScopStep, Variant
from polydl.rewrite_contract import KnowsDependences, Phase, Rewrite

if TYPE_CHECKING:
    from polydl.poly.dependences import Dependence


def rewrite_of(step: RewriteStep) -> Rewrite[Any]:
    """The rewrite that a step belongs to. Raises OptionError if no plug-in has its name."""
    found: Rewrite[Any] = registry.load("rewrites", step.json_name)
    return found


def rounding_of(scop: Scop, step: RewriteStep) -> Rounding:
    """What the step's rewrite declares for ``scop``, which the step is about to be applied to.

    Unknown where a plug-in declares nothing. Raises IllegalVariantError for a step that is wrong there.
    """
    declared = getattr(rewrite_of(step), "rounding", None)
    rounding: Rounding = UNKNOWN if declared is None else declared(scop, step)
    return rounding


def dependences_after(
    scop: Scop, step: RewriteStep, dependences: Sequence[Dependence]
) -> tuple[Dependence, ...] | None:
    """Those of the scop that the step makes of ``scop``, whose own are ``dependences``; None for isl to compute."""
    rewrite: Any = rewrite_of(step)
    if not hasattr(rewrite, "dependences"):
        return None
    knowing: KnowsDependences = rewrite
    return knowing.dependences(scop, step, dependences)


def phase_of(rewrite: Rewrite[Any]) -> Phase:
    """For what a rewrite is proposed, and after which others."""
    phase: Phase = getattr(rewrite, "phase", Phase.STATEMENT)
    return phase


def families(steps: Iterable[ScopStep]) -> frozenset[str]:
    """What the rewrites among the steps are for, all together."""
    rewrites = (step for step in steps if isinstance(step, RewriteStep))
    return frozenset(name for step in rewrites for name in rewrite_of(step).families)


def has_fewer_products(variant: Variant) -> bool:
    """Whether a variant computes fewer products than the source has, as Winograd and Strassen do."""
    return BILINEAR in families(variant.rewrites)


def description(scop: Scop, step: ScopStep) -> str:
    """A rewrite or an attachment in words, with the lines of statements; ``scop`` is the source's.

    What a rewrite made of a statement, such as one of its parts, goes by its name.
    """
    if isinstance(step, RewriteStep):
        return rewrite_of(step).describe(scop, step)
    assert isinstance(step, Attach)
    when = "after the last" if step.place == "last" else "before the first"
    lines = {statement.name: f"line {statement.line}" for statement in scop.statements}
    other = lines.get(step.to, step.to)
    if step.statement not in lines and step.place == "first":
        return f"sums of {other} set to zero {when} reduction"
    return f"{lines.get(step.statement, step.statement)} on each tile of {other}, {when} reduction on it"


def is_fused(scop: Scop, variant: Variant) -> bool:
    """Whether a variant runs statements of the source together that are apart in it; ``scop`` is the source's.

    Statements of its own that a rewrite attaches are none of the source's.
    """
    own = {statement.name for statement in scop.statements}
    return any(step.statement in own for step in variant.attached) or any(step.fuses for step in variant.rewrites)


def fusion_texts(scop: Scop, variant: Variant) -> list[str]:
    """What a variant fuses, in words; ``scop`` is the source's."""
    fusing = (step for step in variant.rewrites if FUSION in families([step]))
    return [description(scop, step) for step in (*fusing, *variant.attached)]
