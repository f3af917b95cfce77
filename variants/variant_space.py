"""All that can be decided about one scop, and what was found for each of its nests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

from polydl.contracts import Microkernel
from polydl.ir.counts import counted
from polydl.ir.numerics import Numerics, most_error
from polydl.ir.scop import Scop
from polydl.ir.variant import ScopStep, Variant
from polydl.match.product import GemmMatch, NoMatch
from polydl.plan.apply import Applied, apply
from polydl.plan.prepared import preparable
from polydl.poly.dependences import Dependence
from polydl.poly.legality import Directions
from polydl.poly.nests import Nest
from polydl.variants.least_work import least_work
from polydl.variants.space import NestSpace


@dataclass(frozen=True)
class NestReport:
    """What was found for one nest."""

    nest: Nest
    #: the microkernel that the best shape uses; None for plain loops
    kernel: str | None
    #: why microkernels that come before it, or all of them, are of no use, by their names; "" is for the nest itself
    refusals: Mapping[str, NoMatch]
    #: floating-point operations
    flops: int

    @property
    def reason(self) -> str | None:
        """All refusals in one line; None if there are none."""
        texts = (f"{name}: {each.reason}" if name else each.reason for name, each in self.refusals.items())
        return "; ".join(texts) or None


@dataclass(frozen=True, repr=False)
class VariantSpace:
    """All that can be decided about one scop."""

    #: as it was parsed
    source: Scop
    #: the source after ``rewrites``
    scop: Scop
    #: of ``scop``
    dependences: tuple[Dependence, ...]
    #: of ``scop``, by ``Nest.index``
    nests: tuple[Nest, ...]
    #: of each nest's dependences
    directions: tuple[Directions, ...]
    #: what can be decided about each nest
    spaces: tuple[NestSpace, ...]
    #: one for each nest
    reports: tuple[NestReport, ...]
    #: microkernels that are considered, by name
    kernels: Mapping[str, Microkernel]
    #: the products that a kernel can compute in a nest, by nest index and kernel name
    matches: Mapping[tuple[int, str], tuple[GemmMatch, ...]]
    #: what variants may do to sums and products
    numerics: Numerics
    #: those that all variants of the space begin with
    rewrites: tuple[ScopStep, ...] = ()
    #: spaces after other rewrites
    alternatives: tuple[VariantSpace, ...] = ()

    def __repr__(self) -> str:
        counts = {"nest": len(self.nests), "rewrite": len(self.rewrites), "alternative": len(self.alternatives)}
        size = ", ".join(counted(count, noun) for noun, count in counts.items())
        return f"<VariantSpace of {self.source.function.name}: {size}>"

    @property
    def most_error(self) -> float:
        """How many times as large a variant's measured error may be as that of the source's own arithmetic."""
        return most_error(self.numerics)

    @cached_property
    def least_work(self) -> tuple[int, int]:
        """Floating-point operations and bytes of memory that each variant of this space alone has at least."""
        return least_work(self.scop, self.preparable)

    @cached_property
    def preparable(self) -> frozenset[str]:
        """The names of the statements that some variants prepare, and that take no time then."""
        return preparable(self.scop)

    def size(self) -> int:
        """Assignments of this space alone, without its alternatives."""
        return prod(space.size() for space in self.spaces)

    def apply(self, variant: Variant) -> Applied:
        """A variant of this space, or any other one, applied to the source; its proof is left to ``prove``."""
        kernels = tuple(self.kernels.values())
        return apply(self.source, variant, kernels, numerics=self.numerics, prove=False)
