"""An operand packed tile by tile: a copy inside the outer loops of the nest that reads it, into a buffer that stays.

Where a whole operand in panels would go out to memory and come back, one tile of it is packed when the loops get to it
and is still in a cache when it is used (Goto's arrangement of a matrix product). The buffer is an array of the scop as
any other, so that dependences, legality, working sets and traffic count it for what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, ClassVar

from polydl.errors import IllegalVariantError
from polydl.ir.affine import Affine, iterator_form
from polydl.ir.construct import fresh_name
from polydl.ir.families import LAYOUT, PACKING
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import Array, Scop, SharedLoops
from polydl.ir.statement import Statement
from polydl.ir.variant import ArrayName, RewriteStep, StatementName
from polydl.machine import Machine
from polydl.machine.core import Core
from polydl.match.product import GemmMatch
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.accesses import drawn_read, moved_read, only_read, subscripts_by_loop, visits_once, walked
from polydl.variants.rewrites.copies import copying_statement
from polydl.variants.rewrites.fuse import Fuse, fuse, shared_loops
from polydl.variants.rewrites.split import Blocked, Split, block_of, extents_of, splits_of

# Vectors of A's rows in a panel, the preferred first, and the uses of each element that pay for a copy.
PANEL_VECTORS = (4, 8, 6, 3, 2)
PANEL_REUSE = 64
# Tiles that are packed where they are used: widths along m and depths along k that go together, the preferred first.
TILES = (((256, 192, 320), (1024, 768, 512)), ((512, 384, 448), (512, 384, 256)))
# The same of a single panel, all of which one call of a microkernel reads, so that it can copy the next one as well:
# vectors along m and depths along k.
SINGLE_VECTORS, SINGLE_DEPTHS = (4, 3, 2), (1024, 768, 512, 384, 448, 256)
# Rows of an operand that a call is taken to walk through without a copy.
WALKED_ROWS = 256
# With this many columns of B, a block of them runs through all tiles before the next one, so that it stays near.
MANY_COLUMNS = 640
SINGLE_COLUMNS = (320, 256, 384, 192)


@dataclass(frozen=True)
class PackTiles(RewriteStep):
    """Run ``shared`` loops of ``statement`` outermost, and copy the tile of an array that each iteration of them reads.

    The tile's place in memory is used again for the next one.
    """

    json_name: ClassVar[str] = "pack_tiles"

    statement: StatementName
    array: ArrayName
    shared: Annotated[tuple[str, ...], "Loops that become the outermost, in this order."]
    loops: Annotated[tuple[str, ...], "Loops with a dimension each in a tile, the outermost first."]


@dataclass(frozen=True)
class PackTilesRewrite:
    """The rewrite ``pack_tiles``, which packs operands while they are in a cache. It is exact: elements are copied."""

    step: type[PackTiles] = PackTiles
    families: frozenset[str] = frozenset({LAYOUT, PACKING})
    phase: Phase = Phase.STATEMENT

    def rounding(self, scop: Scop, step: PackTiles) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: PackTiles, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return pack_tiles(scop, step, dependences, reassociate=reassociate)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Tiles of A, where its rows lie far apart."""
        for steps in tile_choices(request.scop, request.statement, request.matches, request.machine):
            yield Proposal(steps)

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[PackTiles]]:
        """Any operand, in tiles inside any loops."""
        read = drawn_read(statement, draw)
        if read is None:
            return
        shared = tuple(draw.sample(statement.iterators, draw.randint(1, statement.depth)))
        inner = tuple(loop for loop in read[1] if loop not in shared)
        if inner:
            yield (PackTiles(statement.name, read[0].array, shared, inner),)

    def describe(self, scop: Scop, step: PackTiles) -> str:
        return f"a copy of each tile of {step.array} inside {' '.join(step.shared)}, as {' '.join(step.loops)} walk it"


PACK_TILES = PackTilesRewrite()


def pack_tiles(scop: Scop, step: PackTiles, known: Sequence[Dependence], *, reassociate: bool = True) -> Scop:
    """Put the ``shared`` loops of a statement outermost, and copy the tile that one iteration of them reads.

    The copy is a statement of its own, inside the same loops and before the statement. Raises IllegalVariantError if a
    dependence forbids that order, if the array is written, or if a tile's loops don't visit each element once.
    """
    statement, array = scop.statement(step.statement), scop.array(step.array)
    read = only_read(scop, statement, step.array)
    inside = [name for name in walked(statement, read) if name not in step.shared]
    if not step.shared or set(step.shared) - set(statement.iterators) or len(set(step.shared)) != len(step.shared):
        raise IllegalVariantError(f"{list(step.shared)} are not different loops of {statement.name}")
    if sorted(step.loops) != sorted(inside) or not visits_once(scop, statement, read):
        raise IllegalVariantError(
            f"the loops {list(step.loops)} don't visit each element of a tile of `{array.name}` once"
        )
    order = (*step.shared, *(name for name in statement.iterators if name not in step.shared))
    outermost = Fuse((statement.name,), (order,), (0,), len(step.shared))
    scop = fuse(scop, outermost, known, reassociate=reassociate)
    statement = scop.statement(step.statement)
    read = only_read(scop, statement, step.array)
    assert statement.box is not None
    assert read.subscripts is not None
    depth = len(step.shared)
    # The buffer is written in whatever order reads the array straight on: that comes from farther away.
    inner = [statement.iterators.index(name) for name in step.loops]
    across = sorted(inner, key=lambda at: -scop.stride(read, at))
    box = tuple(statement.box[at] for at in (*range(depth), *across))
    extents = tuple(high - low + 1 for low, high in (statement.box[at] for at in inner))
    tile = Array(fresh_name(scop, f"{array.name}_tile"), array.element, array.element_bytes, extents, "local")
    names = tuple(fresh_name(scop, f"{array.name}_{number}") for number in range(len(inner)))
    place = statement.betas[0]
    copy = copying_statement(
        scop,
        statement,
        array,
        tile,
        iterators=(*statement.iterators[:depth], *names),
        box=box,
        betas=(place, *(0,) * len(box)),
        to=tuple(iterator_form(depth + across.index(each), len(box), -statement.box[each][0]) for each in inner),
        source=tuple(
            Affine(tuple(form.coefficients[at] for at in (*range(depth), *across)), form.constant)
            for form in read.subscripts
        ),
    )
    reader = replace(
        moved_read(statement, read, tile.name, subscripts_by_loop(statement, inner)),
        betas=(*statement.betas[:depth], 1, *statement.betas[depth + 1 :]),
    )
    together = SharedLoops((copy.name, statement.name), depth)
    lone = shared_loops(outermost)
    statements = [copy, *(reader if each.name == reader.name else each for each in scop.statements)]
    return replace(
        scop,
        statements=tuple(sorted(statements, key=lambda statement: statement.betas)),
        arrays=(*scop.arrays, tile),
        shared=tuple(together if group == lone else group for group in scop.shared),
    )


def multiples(vector_elements: int, vectors: Sequence[int]) -> tuple[int, ...]:
    """So many vectors each, in elements."""
    return tuple(vector_elements * count for count in vectors)


def far_apart(stride_bytes: int, rows: int, core: Core) -> bool:
    """Whether a microkernel that walks through so many rows of an operand meets too many pages.

    Each row lies in a page of its own, or those of a call in more than the first table of pages holds at a time.
    """
    together = min(rows, WALKED_ROWS) * stride_bytes
    return stride_bytes >= core.page_bytes or together > core.first_tlb_entries * core.page_bytes


def tile_choices(
    scop: Scop, statement: Statement, matches: Sequence[GemmMatch], machine: Machine
) -> tuple[tuple[Split | PackTiles, ...], ...]:
    """Copies of a product's A one tile at a time, inside loops over blocks of m and k that become the outermost.

    As for whole panels, its rows lie far apart, and each element is used ``PANEL_REUSE`` times. A tile
    is so many columns of m wide and of k deep that it stays in the second-level cache beside what is used with it.
    """
    if statement.box is None or not matches:
        return ()
    match = matches[0]
    access = match.form.a
    array = scop.array(access.array)
    often = statement.instances >= PANEL_REUSE * array.elements
    extents = extents_of(statement)
    apart = far_apart(match.lda * array.element_bytes, extents[match.k], machine.core)
    if not (often and apart and visits_once(scop, statement, access)):
        return ()
    m, k = statement.iterators[match.m], statement.iterators[match.k]
    found: list[tuple[Split | PackTiles, ...]] = []
    vector_elements = machine.vector_elements(array.element_bytes)
    for single, widths, depths in (
        (True, multiples(vector_elements, SINGLE_VECTORS), SINGLE_DEPTHS),
        *((False, *sizes) for sizes in TILES),
    ):
        wide, deep = block_of(extents[match.m], widths), block_of(extents[match.k], depths)
        if not wide or not deep:
            continue
        wide_splits = splits_of(scop, statement, match.m, wide)
        narrow = 0 if single else block_of(wide, multiples(vector_elements, PANEL_VECTORS))
        narrow_splits = splits_of(scop, statement, match.m, narrow) if narrow else []
        many = single and extents[match.n] >= MANY_COLUMNS
        columns = block_of(extents[match.n], SINGLE_COLUMNS) if many else 0
        outer_splits = splits_of(scop, statement, match.n, columns) if columns else []
        splits = [
            *outer_splits[:1],
            *wide_splits[:1],
            *narrow_splits[:1],
            *splits_of(scop, statement, match.k, deep),
            *outer_splits[1:],
            *wide_splits[1:],
            *narrow_splits[1:],
        ]
        try:
            blocked = Blocked(scop).after(splits)
        except IllegalVariantError:
            continue
        inmost = blocked.outside(statement.name, m)
        panels = (inmost,) if narrow else ()
        around = {"m": blocked.outside(statement.name, inmost) if narrow else inmost}
        around["k"] = blocked.outside(statement.name, k)
        # Steps of k in the outer loop: the rows of B that go with them stay near, and C is small.
        shared: tuple[str, ...] = (around["k"], around["m"]) if single else (around["m"], around["k"])
        if columns:
            shared = (blocked.outside(statement.name, statement.iterators[match.n]), *shared)
        others = tuple(name for name in walked(statement, access) if name not in (m, k))
        steps: tuple[Split | PackTiles, ...] = (
            *splits,
            PackTiles(statement.name, access.array, shared, (*others, *panels, k, m)),
        )
        if steps not in found:
            found.append(steps)
    return tuple(found)
