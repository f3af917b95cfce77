"""Tiles of A that are copied inside the calls that use the tile before.

A copy of a tile (``polydl.variants.rewrites.pack_tiles``) waits for memory with nothing else to do. Where a
microkernel can, the copying nest therefore makes the first tile only, and each call copies its share of the next one
into the other half of a buffer that is twice as large. Nothing has to be proved anew: what is copied is never written,
the copy is made before the loops move on to the tile, and nobody but these calls reads the buffer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

from polydl.codegen.expressions import stripped, subscripted
from polydl.contracts import GemmSite
from polydl.ir.affine import Affine
from polydl.ir.construct import make_domain
from polydl.ir.schedule import Loop
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.match.product import GemmMatch
from polydl.plan.plan import NestPlan, Plan, trips

_ELEMENTS = ("float", "double")
# With fewer columns of C than this, a tile is needed about as fast as it can be copied.
_LEAST_COLUMNS = 24


@dataclass(frozen=True)
class NextTile:
    """A tile of A that calls copy while they use the one before.

    ``copy`` is the statement that makes copies, in the ``shared`` loops, each from a first value on with so many
    iterations. ``own`` are the loops between the calls with one tile, as (place among the plan's, first value,
    iterations, whether it is inside of a loop over the same iterator). Each call copies ``columns`` of the ``depth``
    ones, which lie ``lda`` elements apart where they are read;
    these are ``share`` bytes.
    """

    copy: Statement
    shared: tuple[tuple[int, int], ...]
    own: tuple[tuple[int, int, int, bool], ...]
    columns: int
    depth: int
    lda: int
    share: int

    @property
    def buffer(self) -> str:
        return self.copy.writes[0].array

    def _number(self, values: Sequence[str]) -> str:
        """Of the tile, from 0 on; ``values`` are those of all loops around a call, shared ones first."""
        number = ""
        for value, (first, count) in zip(values, self.shared, strict=False):
            here = f"({value} - {first})" if first else value
            number = f"({number}) * {count} + {here}" if number else here
        return number

    def tile(self, values: Sequence[str], later: int = 0) -> str:
        """Where a tile is in the buffer: the one in use, or so many later."""
        number = self._number(values)
        number = f"({number} + {later})" if later else f"({number})"
        return f"&{self.buffer}[{self.depth} * ({number} % 2)][0]"

    def _call(self, values: Sequence[str]) -> str:
        """The number of a call among those with the same tile."""
        number = "0"
        own = values[len(self.shared) :]
        for place, first, count, nested in self.own:
            here = f"({stripped(own[place])} - {first})" if first else own[place]
            if nested:
                # An inner loop of tiles counts on through those of the outer one.
                here = f"{here} % {count}"
            number = here if number == "0" else f"({number}) * {count} + {here}"
        return number

    def source(self, scop: Scop, values: Sequence[str]) -> str:
        """Where a call reads what it copies, in C."""
        following = []
        carry = "1"
        for value, (first, count) in reversed(list(zip(values, self.shared, strict=False))):
            last = first + count - 1
            if carry == "1":
                following.append(f"({value} < {last} ? {value} + 1 : {first})")
                carry = f"{value} == {last}"
            else:
                following.append(f"({carry} ? ({value} < {last} ? {value} + 1 : {first}) : {value})")
                carry = f"{carry} && {value} == {last}"
        following.reverse()
        assert self.copy.box is not None
        starts = [str(low) for low, _ in self.copy.box[len(self.shared) :]]
        tile = f"&{subscripted(scop, self.copy.reads[0], [*following, *starts])}"
        return f"{tile} + ({self._call(values)}) * {self.columns * self.lda}l"

    def target(self, values: Sequence[str], rows: int) -> str:
        """Where a call writes what it copies, in C; tiles have so many ``rows``."""
        return f"{self.tile(values, 1)} + ({self._call(values)}) * {self.columns * rows}l"

    def left(self, values: Sequence[str]) -> str:
        """How many columns a call copies, in C: its share, or what is left; none for the last tile."""
        last = prod(count for _, count in self.shared) - 1
        call = self._call(values)
        share = str(self.columns)
        calls = prod(count for _, _, count, _ in self.own)
        if calls * self.columns > self.depth:
            full = self.depth // self.columns
            share = f"{call} < {full} ? {self.columns} : {self.depth} - ({call}) * {self.columns}"
        return f"{self._number(values)} == {last} ? 0 : {share}"


def with_first_copy_only(scop: Scop, tiles: Sequence[NextTile]) -> Scop:
    """The scop as code is made from it: the copying nests make the first tile, in buffers twice as large."""
    copies = {each.copy.name: len(each.shared) for each in tiles}
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


def copied_inside(
    plan: Plan, tiles: Mapping[int, NextTile], cycles: Sequence[float], traffic: Sequence[tuple[int, ...]]
) -> tuple[list[float], tuple[tuple[int, ...], ...]]:
    """Cycles and traffic of each nest, with what a copying nest takes but for its first tile moved to the nest whose
    calls make the copies: the traffic there, and no cycles, since these are hidden."""
    left, moved = list(cycles), list(traffic)
    for product, tile in tiles.items():
        copy = plan.nest_of(tile.copy.name).nest.index
        count = prod(count for _, count in tile.shared)
        left[copy] /= count
        first = tuple(size // count for size in moved[copy])
        rest = [size - kept for size, kept in zip(moved[copy], first, strict=True)]
        moved[product] = tuple(own + more for own, more in zip(moved[product], rest, strict=True))
        moved[copy] = first
    return left, tuple(moved)


def next_tile_of(scop: Scop, plan: NestPlan, match: GemmMatch, site: GemmSite) -> NextTile | None:
    """The tile that the calls of a site can copy; None if there is none, or if a call does not use all of a tile."""
    buffer = match.form.a.array
    rows, depth = site.m[0], site.k[0]
    whole = site.m == (rows, rows) and site.k == (depth, depth) and site.offsets_a == (0,) and site.lda == rows
    if not whole or site.element not in _ELEMENTS or scop.array(buffer).extents != (depth, rows):
        return None
    copy = _only_copy(scop, buffer, plan.nest.statements)
    if copy is None or copy.box is None:
        return None
    shared = [each for each in plan.nest.prefix if isinstance(each, Loop)]
    lda = _column_stride(scop, copy, len(shared), (depth, rows))
    simple = all(loop.size == 1 and loop.direction == 1 and loop.origin == 0 and not loop.parallel for loop in shared)
    if lda is None or not simple or [loop.iterator for loop in shared] != list(range(len(shared))):
        return None
    spans = tuple((low, high - low + 1) for low, high in copy.box[: len(shared)])
    own = _between_calls(plan)
    if own is None or prod(count for _, count in spans) < 2:
        return None
    calls = _full_calls(plan)
    if calls * site.n[0] * site.rows < _LEAST_COLUMNS:
        return None
    columns = ceil(depth / calls)
    return NextTile(copy, spans, own, columns, depth, lda, columns * rows * scop.array(buffer).element_bytes)


def _only_copy(scop: Scop, buffer: str, readers: Sequence[str]) -> Statement | None:
    """The statement that fills a local array from one that is never written, before the only one that reads it."""
    if len(readers) != 1 or scop.array(buffer).storage != "local" or scop.array(buffer).view_of:
        return None
    writers = [each for each in scop.statements if any(access.array == buffer for access in each.writes)]
    reading = [each for each in scop.statements if any(access.array == buffer for access in each.reads)]
    if len(writers) != 1 or [each.name for each in reading] != list(readers):
        return None
    (copy,) = writers
    together = [group for group in scop.shared if {copy.name, *readers} <= set(group.statements)]
    body = copy.body
    if not together or together[-1].parallel or body.kind != "op" or body.text != "=":
        return None
    if any(argument.kind != "access" for argument in body.arguments) or len(copy.reads) != 1 or len(copy.writes) != 1:
        return None
    source = copy.reads[0].array
    if any(access.array == source for each in scop.statements for access in each.writes):
        return None
    before = copy.betas[together[-1].loops] < reading[0].betas[together[-1].loops]
    return copy if before and scop.array(source).element == scop.array(buffer).element else None


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


def _between_calls(plan: NestPlan) -> tuple[tuple[int, int, int, bool], ...] | None:
    """The loops between calls as ``NextTile.own``; None unless each has as many iterations every time."""
    found = []
    for place, (loop, count) in enumerate(zip(plan.loops, trips(plan), strict=False)):
        low, high = plan.bounds[loop.iterator - plan.nest.depth]
        inner = any(other.iterator == loop.iterator for other in plan.loops[place + 1 :])
        if inner and (high - low + 1) % loop.size:
            return None
        if count > 1:
            nested = any(other.iterator == loop.iterator for other in plan.loops[:place])
            found.append((place, loop.first(low, high), count, nested))
    return tuple(found)
