"""Tiles of A that are copied inside the calls that use the tile before.

A copy of a tile (``polydl.variants.rewrites.pack_tiles``) waits for memory with nothing else to do. Where a
microkernel can, the copying nest therefore makes the first tile only, and each call copies its share of the next one
into the other half of a buffer that is twice as large. Nothing has to be proved anew: what is copied is never written,
the copy is made before the loops move on to the tile, and nobody but these calls reads the buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

from polydl.contracts import GemmSite
from polydl.ir.affine import Affine
from polydl.ir.construct import make_domain
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.machine import Core
from polydl.match.product import GemmMatch
from polydl.plan.nest_plan import NestPlan, trips

_ELEMENTS = ("float", "double")


@dataclass(frozen=True)
class CallLoop:
    """A loop between the calls with one tile."""

    #: Its place among all loops around a call, those that nests share first.
    place: int
    #: The first value of its counter.
    first: int
    #: Its number of iterations.
    trips: int
    #: Whether it is inside of a loop over the same iterator.
    nested: bool


@dataclass(frozen=True)
class NextTile:
    """A tile of A that calls copy while they use the one before."""

    #: The name of the statement that copies tiles.
    copy: str
    #: The array that holds the tile in use and the next one.
    buffer: str
    #: What is copied, over the iterators of that statement.
    source: Access
    #: The first values of those of them that run through a tile.
    starts: tuple[int, ...]
    #: The loops that move on to another tile, outermost first, which are the statement's other iterators: (first value,
    #: iterations).
    shared: tuple[tuple[int, int], ...]
    #: The loops between the calls with one tile, outermost first.
    calls: tuple[CallLoop, ...]
    #: Columns that one call copies.
    columns: int
    #: Columns of a tile.
    depth: int
    #: Rows of a tile.
    rows: int
    #: Elements from one column to the next where they are read.
    lda: int
    #: Bytes that one call copies.
    share: int


def with_first_copy_only(scop: Scop, tiles: Sequence[NextTile]) -> Scop:
    """The scop as code is made from it: the copying nests make the first tile, in buffers twice as large."""
    copies = {each.copy: len(each.shared) for each in tiles}
    buffers = {each.buffer for each in tiles}
    statements = []
    for statement in scop.statements:
        if statement.name in copies:
            assert statement.box is not None
            depth = copies[statement.name]
            box = (*((low, low) for low, _ in statement.box[:depth]), *statement.box[depth:])
            domain = make_domain(statement.name, statement.iterators, box)
            statement = replace(statement, domain=domain, box=box)
        statements.append(statement)
    arrays = [
        replace(array, extents=(2 * array.extents[0], *array.extents[1:])) if array.name in buffers else array
        for array in scop.arrays
    ]
    return replace(scop, statements=tuple(statements), arrays=tuple(arrays))


def next_tile_of(scop: Scop, plan: NestPlan, match: GemmMatch, site: GemmSite, core: Core) -> NextTile | None:
    """The tile that the calls of a site can copy; None if there is none, or if a call does not use all of a tile."""
    buffer = match.form.a.array
    rows, depth = site.m[0], site.k[0]
    whole = site.m == (rows, rows) and site.k == (depth, depth) and site.offsets_a == (0,) and site.lda == rows
    if not whole or site.element not in _ELEMENTS or scop.array(buffer).extents != (depth, rows):
        return None
    copy = _only_copy(scop, buffer, plan.nest.statements)
    if copy is None or copy.box is None:
        return None
    shared = plan.shared
    lda = _column_stride(scop, copy, len(shared), (depth, rows))
    simple = all(loop.size == 1 and loop.direction == 1 and loop.origin == 0 and not loop.parallel for loop in shared)
    if lda is None or not simple or [loop.iterator for loop in shared] != list(range(len(shared))):
        return None
    spans = tuple((low, high - low + 1) for low, high in copy.box[: len(shared)])
    between = _between_calls(plan)
    if between is None or prod(count for _, count in spans) < 2:
        return None
    calls = _full_calls(plan)
    if calls * site.n[0] * site.rows < core.ahead_fewest_columns:
        return None
    columns = ceil(depth / calls)
    starts = tuple(low for low, _ in copy.box[len(shared) :])
    share = columns * rows * scop.array(buffer).element_bytes
    return NextTile(
        copy.name, buffer, copy.reads[0], starts, spans, between, columns, depth, rows, lda, share
    )  # fmt: skip


def _only_copy(scop: Scop, buffer: str, readers: Sequence[str]) -> Statement | None:
    """The copy that fills an array from one that is never written, before the only statement that reads it."""
    if len(readers) != 1 or scop.array(buffer).view_of:
        return None
    writers = [each for each in scop.statements if any(access.array == buffer for access in each.writes)]
    reading = [each for each in scop.statements if any(access.array == buffer for access in each.reads)]
    if len(writers) != 1 or [each.name for each in reading] != list(readers):
        return None
    (copy,) = writers
    together = [group for group in scop.shared if {copy.name, *readers} <= set(group.statements)]
    if copy.origin != "copy" or not together or together[-1].parallel:
        return None
    source = copy.reads[0].array
    if any(access.array == source for each in scop.statements for access in each.writes):
        return None
    return copy if copy.betas[together[-1].loops] < reading[0].betas[together[-1].loops] else None


def _column_stride(scop: Scop, copy: Statement, depth: int, extents: tuple[int, int]) -> int | None:
    """How far apart columns of a tile lie in what is copied, if its loops fill the buffer and rows are contiguous."""
    target, source = copy.writes[0], copy.reads[0]
    if target.subscripts is None or source.subscripts is None or copy.box is None or copy.depth != depth + 2:
        return None
    loops = [_lone(form, copy.box, extent) for form, extent in zip(target.subscripts, extents, strict=True)]
    if sorted(loops, key=lambda loop: -1 if loop is None else loop) != [depth, depth + 1]:
        return None
    k, m = loops
    assert k is not None
    assert m is not None
    step, column = scop.stride(source, m), scop.stride(source, k)
    return column if step == 1 and column > 0 else None


def _lone(form: Affine, box: Sequence[tuple[int, int]], extent: int) -> int | None:
    """The iterator that a subscript follows from 0 to the end of a dimension; None if it is anything else."""
    used = [place for place, coefficient in enumerate(form.coefficients) if coefficient]
    if len(used) != 1 or form.coefficients[used[0]] != 1:
        return None
    low, high = box[used[0]]
    return used[0] if (low + form.constant, high + form.constant) == (0, extent - 1) else None


def _full_calls(plan: NestPlan) -> float:
    """How many calls there are with one tile, shorter last ones counted for what they are."""
    innermost = {loop.iterator: loop.size for loop in plan.loops}
    extents = {iterator: plan.bounds[iterator - plan.nest.depth] for iterator in innermost}
    return prod((high - low + 1) / innermost[iterator] for iterator, (low, high) in extents.items())


def _between_calls(plan: NestPlan) -> tuple[CallLoop, ...] | None:
    """The loops between calls; None unless each has as many iterations every time."""
    between: list[CallLoop] = []
    for place, (loop, count) in enumerate(zip(plan.loops, trips(plan), strict=False)):
        low, high = plan.bounds[loop.iterator - plan.nest.depth]
        inner = any(other.iterator == loop.iterator for other in plan.loops[place + 1 :])
        if inner and (high - low + 1) % loop.size:
            return None
        if count > 1:
            nested = any(other.iterator == loop.iterator for other in plan.loops[:place])
            between.append(CallLoop(len(plan.shared) + place, loop.first(low, high), count, nested))
    return tuple(between)
