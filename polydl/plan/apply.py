"""A variant applied to a scop: where every loop goes and what every microkernel call does.

Analysis, cost model, code generation, reports and the command line all start from an ``Applied``, whatever the
variant comes from: a search, a record, or a person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from polydl.contracts import Microkernel
from polydl.errors import IllegalVariantError
from polydl.ir.kernel import MicrokernelUse
from polydl.ir.numerics import DEFAULT_NUMERICS, EXACT, Numerics, Rounding, keeps_products
from polydl.ir.schedule import Schedule
from polydl.ir.scop import Scop
from polydl.ir.variant import Step, Variant
from polydl.machine.core import Core
from polydl.machine.processors import WIDE_CORE
from polydl.match.product import GemmMatch, NoMatch
from polydl.plan.breaking_step import breaking_step, step_place
from polydl.plan.call_sites import CallSite, call_sites
from polydl.plan.contraction import Contraction, contracted, contractions, with_strides
from polydl.plan.nest_plan import NestPlan, Plan, loop_bounds
from polydl.plan.plan import make_plan
from polydl.plan.prepared import Prepared, prepared, proved
from polydl.plan.rewriting import RewrittenScop, rewritten
from polydl.plan.zeroing import absorbed
from polydl.poly.legality import Directions, Violation, violations
from polydl.poly.nests import Nest
from polydl.poly.reductions import combinable


@dataclass(frozen=True, eq=False)
class Applied:
    """A variant applied to a scop. ``prove`` says whether its schedule keeps every dependence."""

    variant: Variant
    #: The scop as it was parsed.
    source: Scop
    #: The scop after the variant's rewrites, with its dependences and nests.
    rewritten: RewrittenScop
    #: Where every loop goes, passes of zeros included that calls make superfluous.
    plan: Plan
    #: The matrix product that the microkernel of each nest computes, by nest index.
    matches: Mapping[int, GemmMatch]
    #: The microkernels that the variant uses, by name.
    kernels: Mapping[str, Microkernel]
    #: The arrays that code has the elements of one tile of.
    contractions: tuple[Contraction, ...] = ()

    @property
    def core(self) -> Core:
        """The cores that its microkernels are for, and with them the rest of its code; usual ones if it has none."""
        return next((kernel.core for kernel in self.kernels.values()), WIDE_CORE)

    @cached_property
    def scop(self) -> Scop:
        """The scop after the rewrites, with the extents that contracted arrays have."""
        return contracted(self.rewritten, self.contractions)

    @property
    def reassociate(self) -> bool:
        """Whether sums may be taken in any order."""
        return self.rewritten.reassociate

    @property
    def keeps_products(self) -> bool:
        """Whether every product and every value of a function is that of the source."""
        return keeps_products(self.rewritten.numerics)

    @property
    def rounding(self) -> Rounding:
        """What the rewrites and the microkernels do to sums and products."""
        called = EXACT
        for match in self.matches.values():
            called = called.beside(self.rewritten.kernel_rounding(match, self.kernels[match.kernel]))
        return self.rewritten.rounding.inside(called)

    @property
    def directions(self) -> tuple[Directions, ...]:
        """Directions of the dependences inside of each nest, by nest index."""
        return self.rewritten.directions

    @cached_property
    def absorbed(self) -> dict[int, int]:
        """Passes of zeros that need no code, by nest index, each with the nest whose calls overwrite instead."""
        return absorbed(self.scop, self.plan, self.kernels)

    @cached_property
    def sites(self) -> dict[int, CallSite]:
        """The microkernel call of each nest that has one, by nest index."""
        return call_sites(
            self.scop,
            self.plan,
            self.matches,
            self.kernels,
            self.absorbed,
            ordered=not self.reassociate,
            exact=self.keeps_products,
        )

    @property
    def finished(self) -> frozenset[int]:
        """The nests that calls apply to their output as an epilogue, by index; they need no loops of their own."""
        return frozenset(nest for site in self.sites.values() if site.epilogue for nest in site.epilogue.nests)

    @property
    def uses(self) -> tuple[MicrokernelUse, ...]:
        """The microkernel calls as reports show them."""
        return tuple(site.use for site in self.sites.values())

    @cached_property
    def modelled(self) -> tuple[Scop, Plan]:
        """Scop and plan as costs are estimated: with loops that are not skewed."""
        return self._not_skewed(self.scop)

    def _not_skewed(self, skewed: Scop) -> tuple[Scop, Plan]:
        scop = skewed.modelled
        if scop is skewed:
            return scop, self.plan
        nests = tuple(replace(nest, bounds=loop_bounds(scop, nest.nest)) for nest in self.plan.nests)
        return scop, replace(self.plan, nests=nests)

    @cached_property
    def prepared(self) -> Prepared:
        """What depends on the scop's constants alone, and runs once, ahead of all calls."""
        return prepared(self.scop, self.plan)

    @cached_property
    def executed(self) -> tuple[Scop, Plan]:
        """What is analysed and reported: scop and plan without what is prepared and the zeros that are absorbed.

        Loops are not skewed, and arrays are not contracted, so that many variants have one scop. Code generation leaves
        the same passes of zeros out, and with them what calls apply as an epilogue.
        """
        spared = {*self.absorbed, *self.prepared.nests}
        if not spared:
            return self._not_skewed(self.rewritten.scop)
        gone = [nest for nest in self.plan.nests if nest.nest.index in spared]
        names = frozenset(name for nest in gone for name in nest.nest.statements)
        left = Schedule(tuple(times for times in self.plan.schedule.statements if times[0] not in names))
        nests = tuple(nest for nest in self.plan.nests if nest.nest.index not in spared)
        return self.rewritten.without(names), replace(self.plan, nests=nests, schedule=left)

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """The dependences that the complete schedule breaks, decided exactly by isl; empty if it is legal."""
        return violations(self.scop, self.plan.schedule, self.rewritten.dependences, reassociate=self.reassociate)

    def prove(self) -> Applied:
        """Itself, once isl has proved the complete schedule legal and microkernels have taken every size of a call.

        Raises IllegalVariantError with the dependence that is broken, its source lines and what breaks it, or with the
        call that no microkernel takes.
        """
        if self.violations:
            broken = self.violations[0]
            step = breaking_step(self.rewritten, self.variant, broken)
            reason = broken.reason(self.scop, step_place(step) if step is not None else "")
            raise IllegalVariantError(f"variant {self.variant.id} is illegal: {reason}")
        proved(self.scop, self.prepared, self.rewritten.dependences)
        for site in self.sites.values():
            if site.rows_overlap:
                raise IllegalVariantError(
                    f"`{site.kernel.name}` can't compute {site.use.operands[0]} of nest {site.nest} in rows of "
                    f"{', '.join(site.use.row_loops)}: they have elements in common"
                )
            for _, shape in site.gemm.shapes():
                refusal = site.kernel.rejects(shape)
                if refusal is not None:
                    raise IllegalVariantError(
                        f"`{site.kernel.name}` can't compute {shape.m} x {shape.n} x {shape.k} of nest {site.nest}: "
                        f"{refusal}"
                    )
        return self


def apply(
    scop: Scop,
    variant: Variant,
    microkernels: Sequence[Microkernel],
    *,
    numerics: Numerics = DEFAULT_NUMERICS,
    prove: bool = True,
) -> Applied:
    """The variant applied to the scop, proved legal by isl.

    ``microkernels`` are those that its steps may name. ``numerics`` says what it may do to sums and products.
    Raises IllegalVariantError for a step that can't be taken, that the level does not admit or that breaks a
    dependence. With ``prove=False`` the proof is left to ``Applied.prove``: for variants of a space, whose every choice
    has been proved legal by itself.
    """
    left = rewritten(scop, variant.rewrites, numerics=numerics)
    variant = _in_order(variant, left.nests)
    plan = make_plan(left.scop, left.nests, variant)
    _check_sums_of_threads(left.scop, plan)
    by_name = {kernel.name: kernel for kernel in microkernels}
    used = {nest.microkernel.name for nest in plan.nests if nest.microkernel is not None}
    if unknown := used - by_name.keys():
        raise IllegalVariantError(f"there is no microkernel `{min(unknown)}` among {', '.join(by_name) or 'none'}")
    matches = {nest.nest.index: _match(left, nest, by_name) for nest in plan.nests if nest.microkernel is not None}
    kernels = {name: by_name[name] for name in sorted(used)}
    smaller = contractions(left, plan, matches)
    if smaller:
        of_tiles = contracted(left, smaller)
        matches = {index: with_strides(of_tiles, match) for index, match in matches.items()}
    applied = Applied(variant, scop, left, plan, matches, kernels, smaller)
    return applied.prove() if prove else applied


def _check_sums_of_threads(scop: Scop, plan: Plan) -> None:
    """Raises IllegalVariantError for arrays that the threads of a nest's own loop can't add up."""
    for planned, loop in [(each, loop) for each in plan.nests for loop in each.loops if loop.combined]:
        nest = planned.nest
        statements = [scop.statement(name) for name in nest.statements]
        allowed = combinable(scop, statements, dict.fromkeys(nest.statements, loop.iterator))
        if refused := set(loop.combined).difference(allowed):
            text = f"the threads of `{loop.name}` in nest {nest.index} can't add up `{min(refused)}`"
            raise IllegalVariantError(text)


def _in_order(variant: Variant, nests: Sequence[Nest]) -> Variant:
    """The variant with the steps of each nest in an order that doesn't depend on how they were given."""
    loops = {nest.index: nest.loops for nest in nests}
    steps: list[Step] = [*variant.scop_steps]
    for index, schedule in variant.nests.items():
        steps += schedule.in_order(loops.get(index, ()))
    ordered = tuple(steps)
    return variant if ordered == variant.steps else Variant(ordered)


def _match(left: RewrittenScop, plan: NestPlan, kernels: Mapping[str, Microkernel]) -> GemmMatch:
    """The match that a nest's microkernel step refers to. Raises IllegalVariantError if its loops are none."""
    step, nest = plan.microkernel, plan.nest
    assert step is not None
    matches = left.matches(nest, kernels[step.name])
    why = f": {matches.reason}" if isinstance(matches, NoMatch) else ""
    roles = tuple(nest.depth + nest.loops.index(name) for name in (step.m, step.n, step.k))
    batch = {nest.depth + nest.loops.index(name) for name in step.batch}
    rows = {nest.depth + nest.loops.index(name) for name in step.rows}
    statement = left.scop.statement(nest.statements[0])
    if not left.reassociate and any(statement.directions[loop] < 0 for loop in (roles[2], *batch)):
        raise IllegalVariantError(
            f"the sums of nest {nest.index} run downwards, and a microkernel adds them up in the other order"
        )
    for match in () if isinstance(matches, NoMatch) else matches:
        fits = (match.m, match.n, match.k) == roles and rows <= set(match.rowable)
        if fits and batch <= set(match.batchable):
            return match
    raise IllegalVariantError(
        f"the loops {step.m}, {step.n} and {step.k} of nest {nest.index} are no match for `{step.name}`{why}"
    )
