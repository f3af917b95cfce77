"""A loop over pivots in blocks: what all iterations of a block read first, then everything else with all of them.

In ``path[i][j] = min(path[i][j], path[i][k] + path[k][j])`` iteration ``k`` reads one row and one column of the array
that it writes, those of its *pivot*, so that every iteration of ``k`` goes through all of the array. The rows and
columns of a block of pivots need nothing else: they can run through all iterations of the block first. What the others
read of them, as it was at each step, is copied meanwhile (array expansion: Feautrier, Array Expansion, ICS 1988). What
is left of the array then takes all iterations of the block at once, in any order of its elements. For shortest paths
that is the blocked algorithm of Venkataraman, Sahni and Mukhopadhyaya (A Blocked All-Pairs Shortest-Paths Algorithm,
JEA 2003), but with the values of the source in every step, whatever the operation is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar

import islpy as isl

from polydl.errors import IllegalVariantError
from polydl.ir.families import SCHEDULING
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Scop, SharedLoops
from polydl.ir.statement import Statement
from polydl.ir.variant import LoopName, RewriteStep, StatementName
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence
from polydl.poly.legality import in_words
from polydl.poly.schedules import original_schedule, schedule_length, time_map
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.parts import moved_on
from polydl.variants.rewrites.pivot_parts import PivotPart, PivotParts
from polydl.variants.rewrites.pivots import pivots_of

if TYPE_CHECKING:
    from random import Random

# Iterations of a block: few leave much of an array's way through the caches, many much to do for pivots alone. Of each
# group the one that leaves the fewest iterations over is proposed.
SIZES = ((16,), (32, 24, 40), (64, 48, 56))
# Of these, so many at most run at once, unrolled.
MOST_TOGETHER = 16
# Rows that take all of a block first. They have their results in registers together.
ROWS = 8
# Fewer blocks are not worth it, nor are rows of fewer vectors.
FEWEST_BLOCKS = 4
FEWEST_VECTORS = 4


@dataclass(frozen=True)
class PivotBlocks(RewriteStep):
    """Run a loop in blocks: rows and columns that a block's iterations read first, then all else with all of them."""

    json_name: ClassVar[str] = "pivot_blocks"
    json_omits: ClassVar[frozenset[str]] = frozenset({"parallel"})

    statement: StatementName
    loop: LoopName
    size: Annotated[int, "Iterations of a block. What is left over of them runs as before.", {"minimum": 2}]
    together: Annotated[int, "So many of them are a loop of their own: a divisor of the size.", {"minimum": 1}]
    rows: Annotated[int, "Iterations of the next loop that take a whole block first: a divisor of it.", {"minimum": 1}]
    parallel: Annotated[bool, "Whether threads share these rows."] = False

    @property
    def threaded(self) -> bool:
        return self.parallel

    def on_one_thread(self) -> PivotBlocks:
        return replace(self, parallel=False)


@dataclass(frozen=True)
class PivotBlocksRewrite:
    """The rewrite ``pivot_blocks``, for loops that read what lies in their pivot's row or column. It is exact."""

    step: type[PivotBlocks] = PivotBlocks
    families: frozenset[str] = frozenset({SCHEDULING})
    phase: Phase = Phase.OUTERMOST_LOOP

    def rounding(self, scop: Scop, step: PivotBlocks) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: PivotBlocks, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return pivot_blocks(scop, step, dependences)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Blocks of several sizes for an array that the first cache does not hold.

        Raises IllegalVariantError where the outermost loop reads no pivots.
        """
        statement, machine = request.statement, request.machine
        pivots = pivots_of(request.scop, statement, 0)
        array = pivots.array
        vectors = pivots.extent(pivots.contiguous) // machine.vector_elements(array.element_bytes)
        if array.bytes <= machine.core.first_cache_bytes or vectors < FEWEST_VECTORS:
            return
        iterations = pivots.extent(pivots.place)
        for sizes in SIZES:
            size = min(sizes, key=iterations.__mod__)
            if iterations >= FEWEST_BLOCKS * size:
                together = max(each for each in range(1, MOST_TOGETHER + 1) if size % each == 0)
                loop, threads = statement.iterators[pivots.place], machine.threads > 1
                step = PivotBlocks(statement.name, loop, size, together, ROWS, threads)
                yield Proposal((step,), for_microkernel=False)

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[PivotBlocks]]:
        """The outermost loop, or any, in small blocks."""
        if statement.iterators:
            together, rows = draw.choice((1, 2, 3)), draw.choice((1, 2))
            size = together * rows * draw.choice((1, 2))
            loop = statement.iterators[0] if draw.random() < 0.7 else draw.choice(statement.iterators)
            yield (PivotBlocks(statement.name, loop, size, together, rows, draw.random() < 0.5),)

    def describe(self, scop: Scop, step: PivotBlocks) -> str:
        statement = next((each for each in scop.statements if each.name == step.statement), None)
        where = step.statement if statement is None else f"line {statement.line}"
        threads = " on threads" if step.parallel else ""
        rows = f"then {step.rows} rows at a time with {step.together} of them{threads}"
        return f"{step.loop} of {where} in blocks of {step.size}, their pivots first, {rows}"


PIVOT_BLOCKS = PivotBlocksRewrite()


@limited
def pivot_blocks(scop: Scop, step: PivotBlocks, known: Sequence[Dependence]) -> Scop:
    """The scop with a loop of a statement in blocks. ``known`` are the scop's dependences.

    Raises IllegalVariantError where a statement does not read pivots, and where a read would find another value.
    """
    statement = scop.statement(step.statement)
    if step.loop not in statement.iterators:
        raise IllegalVariantError(f"{statement.name} has no loop `{step.loop}`")
    pivots = pivots_of(scop, statement, statement.iterators.index(step.loop))
    if step.size % step.together or step.size % step.rows or not 1 < step.size <= pivots.extent(pivots.place) // 2:
        raise IllegalVariantError(
            f"`{step.loop}` of {statement.name} has no two blocks of {step.size}, or {step.together} and {step.rows} "
            "don't divide these"
        )
    blocks = PivotParts(scop, pivots, step.size, step.together, step.rows)
    parts, arrays = blocks.parts, blocks.arrays
    place = pivots.place
    further = max(part.statement.betas[place] for part in parts) - statement.betas[place]
    others = [moved_on(each, statement, place, further) for each in scop.statements if each.name != statement.name]
    statements = [*others, *(part.statement for part in parts)]
    made = replace(
        scop,
        statements=tuple(sorted(statements, key=lambda statement: statement.betas)),
        arrays=(*scop.arrays, *arrays),
        shared=(*scop.shared, *_groups(parts, step.parallel)),
        unskewed=(*scop.unskewed, *(part.modelled for part in parts)),
    )
    _require_same_values(scop, made, statement, parts, known)
    return made


def _groups(parts: Sequence[PivotPart], parallel: bool) -> Iterator[SharedLoops]:
    """The loops that stay around parts, the same for all parts that share them; threads share those over strips."""
    for around in dict.fromkeys(part.around for part in parts):
        members = [part for part in parts if part.around == around]
        strips = members[0].strips if parallel else None
        names = tuple(part.statement.name for part in members)
        yield SharedLoops(names, around[0], strips is not None, parallel_loop=strips or 0, fixed=True)


def _require_same_values(
    scop: Scop, after: Scop, statement: Statement, parts: Sequence[PivotPart], known: Sequence[Dependence]
) -> None:
    """Raises IllegalVariantError unless each read finds the same value as before.

    Every read takes its value at some time: when it runs, or when the copy that it reads instead is made. It finds the
    same value if all writes of its element that ran before it are done by then, and no later one is; and if writes of
    an element keep their order. So these times have to keep the dependences. A copy has one place for each iteration of
    a block, and is read before the next block begins.
    """
    order = original_schedule(after)
    length = schedule_length(order)
    times = {each.name: time_map(each, order.of(each.name), length) for each in after.statements}
    later = isl.Map.lex_ge(isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[f"t{d}" for d in range(length)]))
    running = [part for part in parts if part.origin is not None]

    def taken(part: PivotPart, reference: str) -> isl.Map:
        """When instances of the source's statement that are in a part take what they read or write there."""
        assert part.origin is not None
        copy = part.copies.get(reference)
        at = times[part.statement.name] if copy is None else isl.Map(copy[1]).apply_range(times[copy[0]])
        return isl.Map(part.origin).apply_range(at)

    tried: set[tuple[str, frozenset[tuple[str, str]], frozenset[tuple[str, str]]]] = set()
    for dependence in known:
        if not dependence.source == dependence.target == statement.name:
            continue
        ends = dependence.source_reference, dependence.target_reference
        # References that are copied alike, or not at all, take their values at the same times.
        first, second = (
            frozenset((part.statement.name, str(part.copies.get(end, ("", ""))[0])) for part in running) for end in ends
        )
        if (dependence.relation, first, second) in tried:
            continue
        tried.add((dependence.relation, first, second))
        relation = isl.Map(dependence.relation)
        targets = [taken(part, ends[1]) for part in running]
        for part in running:
            left = relation.apply_domain(taken(part, ends[0]))
            if left.is_empty():
                continue
            if any(not left.apply_range(target).intersect(later).is_empty() for target in targets):
                raise IllegalVariantError(f"{in_words(scop, dependence)} is broken by blocks of pivots")
