"""Variants of a nest in the order that a ranker gives them, and those of them that are run first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from polydl.contracts import Candidate, Ranker
from polydl.errors import AnalysisError
from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.variant import Variant
from polydl.machine import Machine
from polydl.optimization import one_thread
from polydl.optimization.picks import picks
from polydl.pipeline import ApplyOptions, ProgressCallback, candidates
from polydl.plan.rewrite_steps import is_fused
from polydl.system.clock import Clock

if TYPE_CHECKING:
    from polydl.variants.generation import Generation
    from polydl.variants.variant_space import VariantSpace

#: Variants with their places in a ranking (1 is first).
Picks = tuple[tuple[int, RankedVariant], ...]


@dataclass(frozen=True)
class RankedVariants:
    """Variants of a space, and what is expected of each on a machine."""

    space: VariantSpace
    #: where the variants come from; some in the ranking may be further ones
    generation: Generation
    ranker: Ranker
    options: ApplyOptions
    machine: Machine
    #: what the ranker sees of each
    analysed: tuple[Candidate, ...]
    #: of all that was analysed
    ranking: Ranking

    def on(self, machine: Machine, clock: Clock, progress: ProgressCallback | None) -> RankedVariants:
        """The generated variants, analysed and ranked for a machine of which more is known."""
        return ranked_variants(
            self.space, self.generation, self.ranker, self.options, machine, clock=clock, progress=progress
        )

    def including(self, variants: Sequence[Variant]) -> RankedVariants:
        """These and further variants in one ranking, without those that isl gives up on."""
        known = {each.variant.id for each in self.ranking.entries}
        others = [each for each in variants if each.id not in known]
        if not others:
            return self
        try:
            further = candidates(self.space.source, others, machine=self.machine, **self.options)
        except AnalysisError:
            return self
        analysed = self.analysed + further
        return replace(self, analysed=analysed, ranking=self.ranker.rank(analysed, self.machine))

    def first_picks(self, count: int, *, with_unfused: bool) -> Picks:
        """``picks``; ``with_unfused`` also has the first variant that fuses nothing, if all of these fuse."""
        chosen = picks(self.ranking, count)
        if not with_unfused or not all(is_fused(self.space.source, each.variant) for _, each in chosen):
            return chosen
        entries = enumerate(self.ranking.entries, 1)
        unfused = ((place, each) for place, each in entries if not is_fused(self.space.source, each.variant))
        return chosen + tuple(islice(unfused, 1))

    def on_one_thread(self, chosen: Picks) -> tuple[Variant, ...]:
        """The first short ones of the picks on one thread."""
        return one_thread.forms(chosen, self.analysed, self.machine)

    def by_isl_alone(self, chosen: Picks) -> tuple[Variant, ...]:
        """What isl's scheduler gives without any search, where no pick has a microkernel."""
        from polydl.variants.plain_schedule import beside_plain_loops

        picked = [each.variant for _, each in chosen]
        numerics = self.space.numerics
        return beside_plain_loops(self.space.source, picked, threads=self.machine.threads, numerics=numerics)

    def with_more(self, chosen: Picks, more: Sequence[Variant]) -> tuple[RankedVariants, Picks]:
        """The picks and further variants, with their places in a ranking that has these."""
        ranked = self.including(more)
        ids = {each.variant.id for _, each in chosen} | {each.id for each in more}
        places = enumerate(ranked.ranking.entries, 1)
        return ranked, tuple(place for place in places if place[1].variant.id in ids)


def ranked_variants(
    space: VariantSpace,
    generation: Generation,
    ranker: Ranker,
    options: ApplyOptions,
    machine: Machine,
    *,
    clock: Clock,
    progress: ProgressCallback | None,
) -> RankedVariants:
    """Analyse and rank what was generated, in the stages ``analysis`` and ``ranking`` of the clock."""
    with clock.stage("analysis"):
        analysed = candidates(space.source, generation.variants, machine=machine, progress=progress, **options)
    with clock.stage("ranking"):
        ranking = ranker.rank(analysed, machine)
    return RankedVariants(space, generation, ranker, options, machine, analysed, ranking)
