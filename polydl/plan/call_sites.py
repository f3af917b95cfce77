"""Microkernel calls of a plan: sizes, strides, operands, and what a call does beside its product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from polydl.contracts import GemmSite, Microkernel
from polydl.errors import CodegenError
from polydl.ir.kernel import MicrokernelUse
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.match.product import GemmMatch
from polydl.plan.epilogue import Epilogue, epilogue_of, narrowest
from polydl.plan.nest_plan import NestPlan, Plan, ends, offsets, trips
from polydl.plan.next_tile import NextTile, next_tile_of
from polydl.plan.prefetch import Prefetch, ahead_steps, prefetch_of, walked_bytes


@dataclass(frozen=True)
class CallSite:
    """One place in the generated code where a microkernel is called.

    The cost model, code generation and reports all take the call from here.
    """

    #: The nest whose innermost loops the call runs.
    plan: NestPlan
    #: The product's operands and the roles of its loops.
    match: GemmMatch
    #: The statement that the call computes.
    statement: Statement
    #: Sizes and strides, as the microkernel sees them.
    gemm: GemmSite
    kernel: Microkernel
    #: Bytes of an element of C, A and B.
    element_bytes: tuple[int, int, int]
    #: What each call prefetches of the next tile of A; none where calls copy that tile.
    prefetch: Prefetch | None = None
    #: What each call copies of the next tile of A.
    next_tile: NextTile | None = None
    #: What each call applies to blocks of its output that are complete.
    epilogue: Epilogue | None = None

    @property
    def nest(self) -> int:
        """The nest's index."""
        return self.plan.nest.index

    @property
    def use(self) -> MicrokernelUse:
        """The call as reports show it."""
        step = self.plan.microkernel
        assert step is not None
        gemm, form = self.gemm, self.match.form
        return MicrokernelUse(
            nest=self.nest,
            name=self.kernel.name,
            statement=self.statement.name,
            m=gemm.m[0],
            n=gemm.n[0],
            k=gemm.k[0],
            batch=gemm.batch[0],
            lda=gemm.lda,
            ldb=self.match.ldb,
            ldc=gemm.ldc,
            loops=(step.m, step.n, step.k),
            batch_loops=step.batch,
            operands=(form.c.array, form.a.array, form.b.array),
            rows=gemm.rows,
            row_loops=step.rows,
            ahead=gemm.ahead,
            stride_am=gemm.stride_am,
            stride_bn=gemm.stride_bn,
            stride_bk=gemm.stride_bk,
            copied=self.next_tile.share if self.next_tile else 0,
            family=self.kernel.family,
            element_bytes=self.element_bytes,
        )

    @property
    def calls(self) -> int:
        """How often the site is reached."""
        total = self.statement.instances
        for loop in self.plan.inner:
            total //= self.plan.extent(self._name(loop))
        for loop in self.plan.inner:
            tile = self.plan.tile_of(self._name(loop))
            if tile is not None:
                total *= -(-self.plan.extent(self._name(loop)) // tile.size)
        return total

    @property
    def rows_overlap(self) -> bool:
        """Whether rows of columns of one call have elements of C in common, which no microkernel computes."""
        step, nest = self.plan.microkernel, self.plan.nest
        assert step is not None
        rows = [(nest.depth + nest.loops.index(name), ends(self.plan, name)[0]) for name in step.rows]
        return self.match.overlaps(self.gemm.m[0], self.gemm.n[0], rows)

    def _name(self, loop: Loop) -> str:
        return self.plan.nest.loops[loop.iterator - self.plan.nest.depth]


def call_sites(
    scop: Scop,
    plan: Plan,
    matches: Mapping[int, GemmMatch],
    kernels: Mapping[str, Microkernel],
    absorbed: Mapping[int, int],
    *,
    ordered: bool,
    exact: bool,
) -> dict[int, CallSite]:
    """The call of each nest that has a microkernel, by nest index.

    ``matches`` are by nest index, ``kernels`` by name. ``absorbed`` names the nests that calls make superfluous, each
    with the nest of the calls. ``ordered`` keeps the source's order of sums, ``exact`` the functions that it
    calls.
    """
    return {
        nest.nest.index: _call_site(scop, plan, nest, matches, kernels, absorbed, ordered, exact)
        for nest in plan.nests
        if nest.microkernel is not None
    }


def _call_site(
    scop: Scop,
    plan: Plan,
    nest: NestPlan,
    matches: Mapping[int, GemmMatch],
    kernels: Mapping[str, Microkernel],
    absorbed: Mapping[int, int],
    ordered: bool,
    exact: bool,
) -> CallSite:
    step = nest.microkernel
    if step is None:
        raise CodegenError(f"nest {nest.nest.index} has no microkernel")
    match, kernel = matches[nest.nest.index], kernels[step.name]
    gemm = _gemm_site(nest, match, nest.nest.index in absorbed.values(), ordered)
    form = match.form
    if "copies" in kernel.abilities:
        kept_a, kept_b = kernel.kept_copies(gemm.shapes()[0][1])
        gemm = replace(
            gemm,
            anew_a=_copied_share(scop, nest, form.a, form.strides_a, kept_a),
            anew_b=_copied_share(scop, nest, form.b, form.strides_b, kept_b),
        )
    width_c, width_a, width_b = (scop.array(access.array).element_bytes for access in (form.c, form.a, form.b))
    walked = walked_bytes(scop, nest, match)
    far = walked >= kernel.core.near_bytes
    prefetch = prefetch_of(scop, nest, match, gemm, kernel.core) if far and "ahead" in kernel.abilities else None
    if prefetch is not None:
        gemm = replace(gemm, ahead=prefetch.share)
    tile = (
        next_tile_of(scop, nest, match, gemm, kernel.core) if prefetch is None and "pack" in kernel.abilities else None
    )
    if tile is not None:
        gemm = replace(gemm, copied=tile.columns, copied_lda=tile.lda)
    fetches_itself = prefetch is None and tile is None
    gemm = replace(gemm, ahead_steps=ahead_steps(walked, match.lda * width_a, fetches_itself, kernel.core))
    epilogue = epilogue_of(scop, plan, nest, match, gemm, exact=exact) if "after" in kernel.abilities else None
    if epilogue is not None:
        gemm = replace(
            gemm, after=True, after_calls=epilogue.leaves_registers, after_bytes=narrowest(epilogue.operands)
        )
    statement = scop.statement(nest.nest.statements[0])
    widths = width_c, width_a, width_b
    return CallSite(nest, match, statement, gemm, kernel, widths, prefetch, tile, epilogue)


def _gemm_site(plan: NestPlan, match: GemmMatch, overwrites: bool, ordered: bool) -> GemmSite:
    """Sizes, strides and offsets of a nest's call; ``overwrites`` and ``ordered`` are as in ``GemmSite``."""
    step = plan.microkernel
    assert step is not None
    first = [ends(plan, loop) for loop in step.batch]
    others = 1
    for full, _ in first[1:]:
        others *= full
    batch = (first[0][0] * others, first[0][1] * others) if first else (1, 1)
    form = match.form
    return GemmSite(
        prefix=f"polydl_gemm{plan.nest.index}",
        element=form.element,
        element_b="" if form.element_b == form.element else form.element_b,
        accumulator=form.accumulator,
        m=ends(plan, step.m),
        n=ends(plan, step.n),
        k=ends(plan, step.k),
        batch=batch,
        lda=match.lda,
        ldc=match.ldc,
        stride_bn=match.stride_bn,
        stride_bk=match.stride_bk,
        offsets_a=offsets(plan, form.strides_a, step.batch),
        offsets_b=offsets(plan, form.strides_b, step.batch),
        rows_b=offsets(plan, form.strides_b, step.rows),
        rows_c=offsets(plan, form.strides_c, step.rows),
        overwrites=overwrites,
        ordered=ordered,
        stride_am=match.stride_am,
    )


def _copied_share(scop: Scop, plan: NestPlan, operand: Access, strides: Sequence[int], kept: int) -> float:
    """The part of all calls that copy their tile of an operand, where a thread keeps the last ``kept`` copies.

    All of them, if something inside the same loops writes its memory.
    """
    share, tiles = 1.0, 1
    for loop, times in reversed([*zip(plan.loops, trips(plan), strict=False)]):
        if strides[loop.iterator]:
            tiles *= times
        elif tiles <= kept:
            share /= times
    if share == 1.0:
        return share
    number = scop.statement(plan.nest.statements[0]).betas[0]
    beside = (statement for statement in scop.statements if statement.betas[0] == number)
    memory = scop.array(operand.array).memory
    written = any(scop.array(access.array).memory == memory for statement in beside for access in statement.writes)
    return 1.0 if written else share
