"""A way to run a nest at any size: steps of its nests, loops that stay as they are, and how its product is blocked.

What isl proves of it holds for all sizes of the ranges at once: iteration domains, dependences and the schedule have
the sizes as parameters, and tiles are constants.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from polydl.errors import IllegalVariantError
from polydl.ir.numerics import DEFAULT_NUMERICS
from polydl.ir.schedule import Loop, Schedule
from polydl.ir.scop import Scop, SharedLoops
from polydl.ir.variant import Variant
from polydl.libraries.blocking import Blocking
from polydl.libraries.convolutions import symbolic_convolution
from polydl.libraries.product import INNER, Start, SymbolicProduct
from polydl.libraries.symbolic import SymbolicNest
from polydl.plan.nest_plan import NestPlan, Plan
from polydl.plan.plan import make_plan
from polydl.plan.rewriting import RewrittenScop, rewritten
from polydl.plan.step_words import AS_WRITTEN, variant_in_words
from polydl.poly.legality import violations

# Nests with loops that stay, of which dependences and loop distribution are remembered.
_KEPT = 64
_AS_WRITTEN = Variant(())


@dataclass(frozen=True)
class Kernel:
    """Nothing in it depends on the sizes."""

    #: tiles, orders, threads of the nests that loop distribution makes, but for that of the product
    variant: Variant = _AS_WRITTEN
    #: loops of the source that are not distributed
    shared: tuple[SharedLoops, ...] = ()
    #: how the product is computed; None for a nest without one
    blocking: Blocking | None = None

    @property
    def id(self) -> str:
        """12 hexadecimal digits."""
        return hashlib.sha256(json.dumps(self.document()).encode()).hexdigest()[:12]

    def document(self) -> dict[str, Any]:
        """The kernel as the manifest has it. Sizes of tiles are in iterations."""
        return {
            "steps": self.variant.to_json(),
            "shared": [asdict(each) for each in self.shared],
            **(asdict(self.blocking) if self.blocking is not None else {}),
        }

    def words(self, nest: SymbolicNest, product: SymbolicProduct | None) -> str:
        """What it does, for people, in the names of the source."""
        parts = []
        if self.blocking is not None and product is not None:
            parts.append(self.blocking.words(product))
        for each in self.shared:
            names = nest.scop.statement(each.statements[0]).iterators[: each.loops]
            loops = ", ".join(
                f"{'parallel ' if each.parallel and place == each.parallel_loop else ''}loop {name}"
                for place, name in enumerate(names)
            )
            count = len(each.statements)
            parts.append(f"{count} statements fused in {loops}" if count > 1 else loops)
        parts += [words for words in variant_in_words(nest.source, self.variant) if words != AS_WRITTEN or not parts]
        return "; ".join(parts)


@dataclass(frozen=True)
class PlannedKernel:
    """A kernel with the place of every loop."""

    rewritten: RewrittenScop
    plan: Plan
    #: the index of the product's nest, which one call computes; None without one
    called: int | None


@lru_cache(maxsize=_KEPT)
def _distributed(scop: Scop, shared: tuple[SharedLoops, ...]) -> RewrittenScop:
    return rewritten(replace(scop, shared=shared), (), numerics=DEFAULT_NUMERICS)


def distributed(nest: SymbolicNest, shared: tuple[SharedLoops, ...] = ()) -> RewrittenScop:
    """The nest with its loops distributed, but for those that are ``shared``; its dependences at all sizes."""
    return _distributed(nest.scop, shared)


def planned(nest: SymbolicNest, product: SymbolicProduct | None, kernel: Kernel) -> PlannedKernel:
    """The kernel applied to the nest. Whether it keeps the dependences is not decided here (``broken``).

    Raises IllegalVariantError for steps that name what isn't there, and for a product that shares its loops.
    """
    left = distributed(nest, kernel.shared)
    plan = make_plan(left.scop, left.nests, kernel.variant)
    if kernel.blocking is None or product is None:
        return PlannedKernel(left, plan, None)
    of_product = plan.nest_of(product.statement)
    if product.start is not None and (
        of_product.nest.depth or plan.nest_of(product.start.statement).nest.statements != (product.start.statement,)
    ):
        raise IllegalVariantError("the loops that set the product's array hold other statements")
    inner = [loop for loop in kernel.blocking.schedule(product) if loop.iterator >= of_product.nest.depth]
    if kernel.blocking.outputs and symbolic_convolution(product) is None:
        raise IllegalVariantError("the product is no convolution")
    if any(product.loops[role] < of_product.nest.depth for role in kernel.blocking.joined(product)):
        raise IllegalVariantError("a loop that coalesces with others holds other statements")
    taken_over = {loop.iterator for loop in inner}
    if of_product.nest.statements != (product.statement,) or not _inner(product) <= taken_over:
        raise IllegalVariantError("the loops of the product hold other statements")
    taken = replace(of_product, loops=(), inner=tuple(replace(loop, role="call") for loop in inner))
    nests = tuple(taken if each is of_product else each for each in plan.nests)
    computed = {product.statement: _times(taken)}
    if product.start is not None:
        computed[product.start.statement] = _start_times(taken, product, product.start)
    times = tuple((name, computed.get(name, each)) for name, each in plan.schedule.statements)
    return PlannedKernel(left, replace(plan, nests=nests, schedule=Schedule(times)), taken.nest.index)


def _inner(product: SymbolicProduct) -> set[int]:
    return {product.loops[role] for role in INNER}


def _times(plan: NestPlan) -> tuple[int | Loop, ...]:
    return (*plan.around, *plan.inner)


def _start_times(plan: NestPlan, product: SymbolicProduct, start: Start) -> tuple[int | Loop, ...]:
    """The time of what sets C: in the first tiles of all loops over terms, before these tiles' products."""
    roles = [product.role(loop.iterator) for loop in plan.inner]
    innermost = len(roles) - 1 - roles[::-1].index("k")
    times: list[int | Loop] = [
        replace(loop, iterator=start.loops[role]) if role in start.loops else -1 if place == innermost else 0
        for place, (role, loop) in enumerate(zip(roles, plan.inner, strict=True))
    ]
    return (*plan.around, *times)


def broken(kernel: PlannedKernel) -> str:
    """How a kernel breaks a dependence at some size of the ranges, decided by isl; "" for a legal one.

    The terms of a sum may be added in another order. Raises AnalysisError when isl's quota is used up.
    """
    scop, left = kernel.rewritten.scop, kernel.rewritten
    found = violations(scop, kernel.plan.schedule, left.dependences, reassociate=left.reassociate)
    return found[0].reason(scop) if found else ""
