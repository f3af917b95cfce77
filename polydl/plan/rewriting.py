"""A scop after the rewrites of a variant, whichever plug-ins these are, with what isl proves about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from polydl.contracts import Microkernel
from polydl.errors import IllegalVariantError
from polydl.ir.numerics import DEFAULT_NUMERICS, EXACT, Numerics, Rounding, reassociates, refusal
from polydl.ir.scop import Scop, UnknownNameError
from polydl.ir.variant import RewriteStep
from polydl.match.product import GemmMatch, NoMatch, match
from polydl.plan.rewrite_steps import dependences_after, phase_of, rewrite_of, rounding_of
from polydl.poly.dependences import Dependence, dependences
from polydl.poly.legality import Directions, directions
from polydl.poly.nests import Nest, distribute, distributed
from polydl.rewrite_contract import Phase

# Rewritten scops that are remembered: those of all alternatives of a few nests, and of what they begin with.
_KEPT = 2048
# Rewrites of these may change what loop distribution can do.
_BEFORE_DISTRIBUTION = (Phase.SOURCE, Phase.PREPARATION)


@dataclass(frozen=True, eq=False)
class RewrittenScop:
    """What all variants with the same rewrites have in common."""

    #: After all rewrites.
    scop: Scop
    #: What variants may do to sums and products.
    numerics: Numerics
    #: What the rewrites do to them.
    rounding: Rounding = EXACT
    #: The dependences of the scop, where the last rewrite says them.
    carried: tuple[Dependence, ...] | None = None

    @property
    def reassociate(self) -> bool:
        """Whether sums may be taken in any order."""
        return reassociates(self.numerics)

    @cached_property
    def dependences(self) -> tuple[Dependence, ...]:
        """The dependences of the scop: what the last rewrite says they are, or what isl computes."""
        return dependences(self.scop) if self.carried is None else self.carried

    @cached_property
    def nests(self) -> tuple[Nest, ...]:
        """The nests that loop distribution makes."""
        return distribute(self.scop, self.dependences)

    @cached_property
    def directions(self) -> tuple[Directions, ...]:
        """Directions of the dependences inside of each nest, by nest index."""
        return tuple(directions(self.scop, nest, self.dependences, reassociate=self.reassociate) for nest in self.nests)

    def matches(self, nest: Nest, kernel: Microkernel) -> tuple[GemmMatch, ...] | NoMatch:
        """How a microkernel may take the innermost loops of a nest."""
        key = nest.index, id(kernel)
        if key not in self._matches:
            self._matches[key] = kernel, self._match(nest, kernel)
        return self._matches[key][1]

    def without(self, statements: frozenset[str]) -> Scop:
        """The scop without these statements; the same value each time."""
        if statements not in self._shorter:
            left = tuple(statement for statement in self.scop.statements if statement.name not in statements)
            self._shorter[statements] = replace(self.scop, statements=left)
        return self._shorter[statements]

    @cached_property
    def _shorter(self) -> dict[frozenset[str], Scop]:
        return {}

    def _match(self, nest: Nest, kernel: Microkernel) -> tuple[GemmMatch, ...] | NoMatch:
        if len(nest.statements) != 1:
            return NoMatch(f"its innermost body holds {len(nest.statements)} statements")
        statement = self.scop.statement(nest.statements[0])
        matches = match(self.scop, statement, tuple(range(nest.depth, statement.depth)), kernel)
        if isinstance(matches, NoMatch):
            return matches
        refused = refusal(self.rounding.inside(self.kernel_rounding(matches[0], kernel)), self.numerics)
        return matches if refused is None else NoMatch(refused)

    def kernel_rounding(self, matched: GemmMatch, kernel: Microkernel) -> Rounding:
        """What a microkernel does to the sums of a product that it takes."""
        return kernel.rounding(self.scop.array(matched.form.a.array).element)

    @cached_property
    def _matches(self) -> dict[tuple[int, int], tuple[Microkernel, tuple[GemmMatch, ...] | NoMatch]]:
        # The kernel is kept beside its answer, so that no other one gets its id.
        return {}


@lru_cache(maxsize=_KEPT)
def as_written(scop: Scop, *, numerics: Numerics = DEFAULT_NUMERICS) -> RewrittenScop:
    """The scop without rewrites, its loops as they are."""
    return RewrittenScop(scop, numerics)


@lru_cache(maxsize=_KEPT)
def rewritten(scop: Scop, rewrites: tuple[RewriteStep, ...], *, numerics: Numerics = DEFAULT_NUMERICS) -> RewrittenScop:
    """The scop after all rewrites, in order. Raises IllegalVariantError for one that isn't legal there.

    Rewrites that the level ``numerics`` does not admit are refused.

    Without any, it is the scop with its loops distributed, where no nests share loops that can't be taken apart. What
    sequences begin with alike is worked out once.
    """
    if not rewrites:
        return _apart(as_written(scop, numerics=numerics))
    *others, last = rewrites
    before = rewritten(scop, tuple(others), numerics=numerics)
    phase = phase_of(rewrite_of(last))
    prepared = all(phase_of(rewrite_of(each)) in _BEFORE_DISTRIBUTION for each in others)
    needs_distribution = prepared and phase not in (*_BEFORE_DISTRIBUTION, Phase.OUTERMOST_LOOP)
    if needs_distribution and distributed(before.scop, before.nests) is None:
        raise IllegalVariantError("nests that share loops which can't be taken apart allow no rewrite")
    try:
        rounding = before.rounding.beside(rounding_of(before.scop, last))
        refused = refusal(rounding, numerics)
        if refused is not None:
            raise IllegalVariantError(f"`{last.json_name}` is not admitted: {refused}")
        apply = rewrite_of(last).apply
        scop = apply(before.scop, last, before.dependences, reassociate=before.reassociate)
        carried = dependences_after(before.scop, last, before.dependences)
    except UnknownNameError as unknown:
        raise IllegalVariantError(f"`{last.json_name}`: there is no {unknown.args[0]}") from unknown
    except IllegalVariantError as refused_step:
        if f"`{last.json_name}`" in refused_step.message:
            raise
        raise IllegalVariantError(f"`{last.json_name}`: {refused_step.message}") from refused_step
    if len({statement.name for statement in scop.statements}) < len(scop.statements):
        # Everything that isl says of instances goes by the names of their statements.
        raise IllegalVariantError(f"`{last.json_name}` gives two statements the same name")
    made = RewrittenScop(scop, numerics, rounding, carried)
    return _apart(made) if phase in _BEFORE_DISTRIBUTION else made


def _apart(left: RewrittenScop) -> RewrittenScop:
    """The same with its nests one after the other, where none share loops that can't be taken apart."""
    apart = distributed(left.scop, left.nests)
    return left if apart is None or apart == left.scop else replace(left, scop=apart)
