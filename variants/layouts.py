"""Which rewrites of a scop are worth a space of their own.

Coalescing: where the loop outside a microkernel's n loop goes on through memory where the n loop ends, both
together make one longer loop. Packing: where an operand that nothing writes any more lies the wrong way for every
microkernel, a copy with its dimensions in another order lies right.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from math import prod

from polydl.divisors import divisors
from polydl.ir.scop import Array, Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.variant import Coalesce, Gather, Pack, PackPanels, PackTiles, Rewrite, Split, Unfold
from polydl.match.product import GemmMatch, NoMatch, ProductForm, product_form
from polydl.variants.rewrites.copies import written_later
from polydl.variants.rewrites.panels import visits_once, walked

# Panels: rows of A in one, columns of B in one, and steps of k, the preferred first; the uses of each element that
# pay for a copy, and the distance of rows from which on a copy is worth a try.
PANEL_ROWS = (64, 128, 96, 48, 32)
PANEL_COLUMNS = (56, 42, 28, 64, 48, 32, 40, 24, 16)
PANEL_DEPTHS = (256, 512, 128)
PANEL_REUSE = 64
PAGE_BYTES = 4096
# Whole operands up to this size are copied into panels where tiles could be packed instead: larger copies go out to
# memory and come back.
PANEL_BYTES = 8 << 20
# Tiles that are packed where they are used: widths along m and depths along k that go together, the preferred first.
TILES = (((256, 192, 320), (1024, 768, 512)), ((512, 384, 448), (512, 384, 256)))
# Tiles of a single panel, all of which one call of a microkernel reads, so that it can copy the next one as well.
SINGLE_TILES = (((64, 48, 32), (1024, 768, 512, 384, 448, 256)),)
# Steps of k, those of a batch included, that calls sum over where there are more than twice as many.
SUMMED = (512,)
# Iterations along the output's rows that are too few for a call; the uses that pay for a copy by iterations, and how
# large it may be.
SHORT_ROW = 32
GATHERED_USES = 32
GATHERED_BYTES = 64 << 20
# Rows of so many vectors leave little of their last one empty.
VECTOR, FULL_ROW = 16, 8
# Bytes apart at which lines share a place in most second-level caches, and lines that are more than places of a set.
SAME_PLACES = 1 << 16
CROWD = 8
# With this many columns of B, a block of them runs through all tiles before the next one, so that it stays near.
MANY_COLUMNS = 640
SINGLE_COLUMNS = (320, 256, 384, 192)


def coalescing_choices(statement: Statement, matches: Sequence[GemmMatch]) -> tuple[Coalesce, ...]:
    """Pairs of loops of a matched product that walk on through the output and an operand as one loop would."""
    if statement.box is None:
        return ()
    found: list[Coalesce] = []
    extents = extents_of(statement)
    for match in matches:
        form = match.form
        for inner, walking, still in (
            (match.n, form.strides_b, form.strides_a),
            (match.m, form.strides_a, form.strides_b),
        ):
            for outer in range(statement.depth):
                if outer == inner or extents[outer] == 1 or extents[inner] == 1:
                    continue
                if still[outer] == 0 and all(
                    strides[inner] > 0 and strides[outer] == extents[inner] * strides[inner]
                    for strides in (form.strides_c, walking)
                ):
                    step = Coalesce(statement.name, statement.iterators[outer], statement.iterators[inner])
                    if step not in found:
                        found.append(step)
    return tuple(found)


def packing_choices(scop: Scop, statement: Statement) -> tuple[tuple[Pack, ...], ...]:
    """Copies that turn a product's operands so that a GEMM microkernel can read them, the fewest bytes first."""
    form = product_form(scop, statement)
    if isinstance(form, NoMatch) or statement.box is None:
        return ()
    extents = extents_of(statement)
    loops = [loop for loop in range(statement.depth) if extents[loop] > 1]
    found: dict[tuple[Pack, ...], int] = {}
    for oriented in (form, form.swapped()):
        for m, n, k in product(loops, repeat=3):
            packs = _packs(scop, statement, oriented, m, n, k)
            if packs:
                found[packs] = sum(scop.array(pack.array).bytes for pack in packs)
    return tuple(sorted(found, key=lambda packs: (found[packs], str(packs))))


def _packs(scop: Scop, statement: Statement, form: ProductForm, m: int, n: int, k: int) -> tuple[Pack, ...] | None:
    """The copies that make these roles fit; None if the roles are wrong or nothing needs a copy."""
    c, a, b = form.strides_c, form.strides_a, form.strides_b
    if c[m] != 1 or not a[m] or b[m] or c[n] < 1 or a[n] or not b[n] or c[k] or not a[k] or not b[k]:
        return None
    packs: list[Pack] = []
    if a[m] != 1:
        order = _order_with_last(form.a, [k, m])
        if order is None:
            return None
        packs.append(Pack(statement.name, form.a.array, order))
    if b[k] != 1 and b[n] != 1:
        order = _order_with_last(form.b, [n, k])
        if order is None:
            return None
        packs.append(Pack(statement.name, form.b.array, order))
    stale = any(written_later(scop, statement, scop.array(pack.array)) for pack in packs)
    if stale or len({pack.array for pack in packs}) != len(packs):
        return None
    return tuple(packs) or None


def row_choices(scop: Scop, statement: Statement) -> tuple[tuple[Rewrite, ...], ...]:
    """Copies of one operand whose rows do not lie along the output's: images that are walked in strides, and images
    whose rows are too short for a call or its vectors, padded so that they don't go on where the output's do.

    Either what the iterations read is gathered (im2col), or, for filters of several rows, which im2col copies the image
    for each of, rows are made for each column of the filter alone. Each element of the copy must be used
    ``GATHERED_USES`` times.
    """
    form = product_form(scop, statement)
    if isinstance(form, NoMatch) or statement.box is None:
        return ()
    found = []
    for make in (_gathering, _unfolding):
        for oriented in (form, form.swapped()):
            rows = _rows(statement, oriented)
            steps = make(scop, statement, oriented, *rows) if rows is not None else None
            if steps is not None:
                found.append(steps)
    return tuple(found)


def extents_of(statement: Statement) -> list[int]:
    assert statement.box is not None
    return [high - low + 1 for low, high in statement.box]


def _rows(statement: Statement, form: ProductForm) -> tuple[int, int | None] | None:
    """The loop along rows of the output that A follows, and the one that goes on where they end, if there is one."""
    extents, c = extents_of(statement), form.strides_c
    walked_too = [
        loop
        for loop in range(statement.depth)
        if extents[loop] > 1 and c[loop] and form.strides_a[loop] and not form.strides_b[loop]
    ]
    m = next((loop for loop in walked_too if c[loop] == 1), None)
    if m is None:
        return None
    return m, next((loop for loop in walked_too if loop != m and c[loop] == extents[m]), None)


def _pays(statement: Statement, copied: int, array: Array) -> bool:
    """Whether a copy of so many elements is small enough, and used often enough."""
    return copied * array.element_bytes <= GATHERED_BYTES and statement.instances >= GATHERED_USES * copied


def _gathering(
    scop: Scop, statement: Statement, form: ProductForm, m: int, outer: int | None
) -> tuple[Rewrite, ...] | None:
    """The copy of A, and the loops that become one over it."""
    extents = extents_of(statement)
    c, a, b = form.strides_c, form.strides_a, form.strides_b
    if a[m] != 1:
        if _order_with_last(form.a, [m]) is not None:
            return None  # another order of its dimensions will do
    elif outer is None or a[outer] == extents[m] or extents[m] >= SHORT_ROW:
        return None
    places = [statement.iterators.index(name) for name in walked(statement, form.a)]
    sums = [place for place in places if not c[place]]
    copied = prod(extents[place] for place in places)
    if not sums or not _pays(statement, copied, scop.array(form.a.array)):
        return None
    # Sums that the other operand walks through as it lies become one; otherwise the longest is next to the rows.
    sums.sort(key=lambda place: (-b[place], place))
    whole = all(b[one] == extents[two] * b[two] for one, two in pairwise(sums)) and b[sums[-1]] == 1
    if not whole:
        sums.sort(key=lambda place: extents[place])
    last = [m] if outer is None else [outer, m]
    others = [place for place in places if place not in (*sums, *last)]
    groups = [*([place] for place in others), *([sums] if whole else [[place] for place in sums]), last]
    names = statement.iterators
    order = tuple(names[place] for group in groups for place in group)
    steps: list[Rewrite] = [Gather(statement.name, form.a.array, order, tuple(map(len, groups)))]
    for group in groups:
        inner = names[group[-1]]
        for place in reversed(group[:-1]):
            steps.append(Coalesce(statement.name, names[place], inner))
            inner = f"{names[place]}_{inner}"
    return tuple(steps)


def _unfolding(
    scop: Scop, statement: Statement, form: ProductForm, m: int, outer: int | None
) -> tuple[Rewrite, ...] | None:
    """The copy of A, and the loops that become one over it."""
    assert form.a.subscripts is not None
    extents, c = extents_of(statement), form.strides_c
    moved = [[loop for loop, step in enumerate(each.coefficients) if step] for each in form.a.subscripts]
    dimension = next((d for d, loops in enumerate(moved) if m in loops), 0)
    sums = [loop for loop in moved[dimension] if loop != m]
    above = next((d for d, loops in enumerate(moved) if outer in loops and d != dimension), None)
    if len(sums) != 1 or c[sums[0]] or outer is None or above is None or len(moved[above]) < 2:
        return None
    filled = extents[m] % VECTOR == 0 or extents[m] >= FULL_ROW * VECTOR
    on = form.a.subscripts[above].coefficients[outer] == 1
    lies_well = filled if on else form.strides_a[m] == 1
    if lies_well:
        return None
    others = [d for d in range(len(moved)) if d != dimension]
    places = {d: number for number, d in enumerate(others)}
    taps, pixels = len(others), len(others) + 1
    before = [places[d] for d in others if d != above]
    names = statement.iterators
    if on:
        # Rows side by side, and all of them for one column of the filter after the other.
        order = (*before, taps, places[above], pixels)
        groups = (*(1 for _ in before), 1, 2)
        joined = Coalesce(statement.name, names[outer], names[m])
    else:
        order = (*before, places[above], taps, pixels)
        groups = (*(1 for _ in before), 2, 1)
        rows_of_filter = next(loop for loop in moved[above] if loop != outer)
        joined = Coalesce(statement.name, names[rows_of_filter], names[sums[0]])
    array = scop.array(form.a.array)
    if not _pays(statement, array.elements * extents[sums[0]], array):
        return None
    return Unfold(statement.name, array.name, dimension, (names[sums[0]], names[m]), order, groups), joined


def near_column_choices(
    scop: Scop, statement: Statement, matches: Sequence[GemmMatch]
) -> tuple[tuple[Rewrite, ...], ...]:
    """A copy of B, row by row of columns, where what a call sums up lies so far apart that it shares places in caches.

    Arrays of many channels in blocks are such, if their images have a power of two of pixels: all blocks of a pixel
    fall into the same sets. Each element of the copy must be used ``GATHERED_USES`` times.
    """
    if statement.box is None or not matches:
        return ()
    match, extents = matches[0], extents_of(statement)
    b, c = match.form.strides_b, match.form.strides_c
    array = scop.array(match.form.b.array)
    summed = [loop for loop in match.batchable if extents[loop] > 1 and b[loop]]
    alike = [loop for loop in summed if b[loop] * array.element_bytes % SAME_PLACES == 0]
    if match.stride_bk != 1 or alike != summed or prod(extents[loop] for loop in alike) < CROWD:
        return ()
    places = [statement.iterators.index(name) for name in walked(statement, match.form.b)]
    rows = [loop for loop in places if c[loop] and loop != match.n]
    rows.sort(key=lambda loop: -c[loop])
    summed.sort(key=lambda loop: -b[loop])
    order = (*rows, *summed, match.n, match.k)
    if sorted(order) != sorted(places) or not _pays(statement, prod(extents[loop] for loop in places), array):
        return ()
    names = tuple(statement.iterators[loop] for loop in order)
    return ((Gather(statement.name, array.name, names, (1,) * len(names)),),)


def _order_with_last(access: Access, loops: Sequence[int]) -> tuple[int, ...] | None:
    """The array's dimensions with those that ``loops`` alone walk through moved to the end, in that order."""
    assert access.subscripts is not None
    last = []
    for loop in loops:
        alone = [
            dimension
            for dimension, form in enumerate(access.subscripts)
            if [i for i, coefficient in enumerate(form.coefficients) if coefficient] == [loop]
            and form.coefficients[loop] == 1
        ]
        if not alone:
            return None
        last.append(alone[0])
    return (*(d for d in range(len(access.subscripts)) if d not in last), *last)


def panel_choices(scop: Scop, statement: Statement, matches: Sequence[GemmMatch]) -> tuple[tuple[Rewrite, ...], ...]:
    """Copies of a product's operands in panels, where the microkernel would step over a page from row to row.

    The loop along the panel's rows is split into blocks, in all statements that write the output. An operand is
    copied only if each of its elements is used ``PANEL_REUSE`` times, which pays for the copy.
    """
    if statement.box is None or not matches:
        return ()
    match = matches[0]
    extents = extents_of(statement)
    bytes_of = {access.array: scop.array(access.array).element_bytes for access in (match.form.a, match.form.b)}
    blocks = {
        "m": block_of(extents[match.m], PANEL_ROWS),
        "n": block_of(extents[match.n], PANEL_COLUMNS),
        "k": block_of(extents[match.k], PANEL_DEPTHS),
    }

    def worthwhile(access: Access, stride: int) -> bool:
        array = scop.array(access.array)
        often = statement.instances >= PANEL_REUSE * array.elements
        return often and stride * bytes_of[access.array] >= PAGE_BYTES and visits_once(scop, statement, access)

    wanted = []
    if blocks["m"] and worthwhile(match.form.a, match.lda):
        wanted.append("a")
    if blocks["n"] and blocks["k"] and match.stride_bk == 1 and worthwhile(match.form.b, match.stride_bn):
        wanted.append("b")
    found = []
    for operands in [wanted[:1], wanted] if len(wanted) == 2 else [wanted] if wanted else []:
        steps: list[Rewrite] = []
        if "a" in operands:
            steps += splits_of(scop, statement, match.m, blocks["m"])
        if "b" in operands:
            steps += splits_of(scop, statement, match.n, blocks["n"])
            steps += splits_of(scop, statement, match.k, blocks["k"])
        m, n, k = (statement.iterators[loop] for loop in (match.m, match.n, match.k))
        depths = (f"{k}_block",) if "b" in operands else ()
        if "a" in operands:
            others = tuple(name for name in walked(statement, match.form.a) if name not in (m, k))
            steps.append(PackPanels(statement.name, match.form.a.array, (*others, f"{m}_block", *depths, k, m)))
        if "b" in operands:
            others = tuple(name for name in walked(statement, match.form.b) if name not in (n, k))
            steps.append(PackPanels(statement.name, match.form.b.array, (*others, f"{n}_block", *depths, n, k)))
        found.append(tuple(steps))
    return tuple(found)


def _small(scop: Scop, steps: Sequence[Rewrite]) -> bool:
    """Whether copies of whole arrays are small enough to be near when they are used."""
    return all(scop.array(step.array).bytes <= PANEL_BYTES for step in steps if isinstance(step, PackPanels))


def tile_choices(scop: Scop, statement: Statement, matches: Sequence[GemmMatch]) -> tuple[tuple[Rewrite, ...], ...]:
    """Copies of a product's A one tile at a time, inside loops over blocks of m and k that become the outermost.

    As for whole panels, its rows lie a page or more apart, and each element is used ``PANEL_REUSE`` times. A tile
    is so many columns of m wide and of k deep that it stays in the second-level cache beside what is used with it.
    """
    if statement.box is None or not matches:
        return ()
    match = matches[0]
    access = match.form.a
    array = scop.array(access.array)
    often = statement.instances >= PANEL_REUSE * array.elements
    if not often or match.lda * array.element_bytes < PAGE_BYTES or not visits_once(scop, statement, access):
        return ()
    extents = extents_of(statement)
    m, k = statement.iterators[match.m], statement.iterators[match.k]
    found: list[tuple[Rewrite, ...]] = []
    for widths, depths in (*SINGLE_TILES, *TILES):
        wide, deep = block_of(extents[match.m], widths), block_of(extents[match.k], depths)
        if not wide or not deep:
            continue
        wide_splits = splits_of(scop, statement, match.m, wide)
        single = (widths, depths) in SINGLE_TILES
        narrow = 0 if single else next((size for size in PANEL_ROWS if wide % size == 0 and size < wide), 0)
        narrow_splits = splits_of(scop, statement, match.m, narrow) if narrow else []
        many = single and extents[match.n] >= MANY_COLUMNS
        columns = block_of(extents[match.n], SINGLE_COLUMNS) if many else 0
        outer_splits = splits_of(scop, statement, match.n, columns) if columns else []
        steps: list[Rewrite] = [
            *outer_splits[:1],
            *wide_splits[:1],
            *narrow_splits[:1],
            *splits_of(scop, statement, match.k, deep),
        ]
        steps += [*outer_splits[1:], *wide_splits[1:], *narrow_splits[1:]]
        # Steps of k in the outer loop: the rows of B that go with them stay near, and C is small.
        shared: tuple[str, ...] = (f"{k}_block", f"{m}_block") if single else (f"{m}_block", f"{k}_block")
        if columns:
            shared = (f"{statement.iterators[match.n]}_block", *shared)
        others = tuple(name for name in walked(statement, access) if name not in (m, k))
        panels = (f"{m}_block_",) if narrow else ()
        steps.append(PackTiles(statement.name, access.array, shared, (*others, *panels, k, m)))
        if tuple(steps) not in found:
            found.append(tuple(steps))
    return tuple(found)


def batch_choices(statement: Statement, matches: Sequence[GemmMatch]) -> tuple[tuple[Split, ...], ...]:
    """The outermost loop that a call may sum over split, where all of its products read more than a cache holds."""
    if statement.box is None or not matches:
        return ()
    match = matches[0]
    extents = extents_of(statement)
    summed = sorted(loop for loop in match.batchable if extents[loop] > 1)
    if not summed:
        return ()
    outermost, *others = summed
    inside = extents[match.k] * prod(extents[loop] for loop in others)
    found = []
    for most in SUMMED:
        size = max((d for d in divisors(extents[outermost]) if d * inside <= most), default=1)
        if 1 < size < extents[outermost] and extents[outermost] * inside > SUMMED[0] * 2:
            step = (Split(statement.name, statement.iterators[outermost], size),)
            if step not in found:
                found.append(step)
    return tuple(found)


def block_of(extent: int, sizes: Sequence[int]) -> int:
    """The first of the sizes that divides a loop into more than one block, or 0."""
    return next((size for size in sizes if size < extent and extent % size == 0), 0)


def splits_of(scop: Scop, statement: Statement, loop: int, size: int) -> list[Split]:
    """A loop of the statement split, and with it those of other statements that write the same dimension."""
    steps = [Split(statement.name, statement.iterators[loop], size)]
    output = statement.writes[0]
    assert output.subscripts is not None
    dimensions = [d for d, form in enumerate(output.subscripts) if form.coefficients[loop]]
    for other in scop.statements:
        if other.name == statement.name:
            continue
        for access in other.writes:
            if access.array != output.array or access.subscripts is None:
                continue
            for dimension in dimensions:
                used = [i for i, c in enumerate(access.subscripts[dimension].coefficients) if c]
                if len(used) == 1:
                    steps.append(Split(other.name, other.iterators[used[0]], size))
    return steps


def rewrite_choices(
    scop: Scop, statement: Statement, matches: Sequence[GemmMatch], *, preferred: bool
) -> tuple[tuple[Rewrite, ...], ...]:
    """Rewrites to try for one product. ``preferred`` says that the best microkernel matches already."""
    found: list[tuple[Rewrite, ...]] = [(step,) for step in coalescing_choices(statement, matches)]
    # Of loops that walk on through memory as one, the pair that comes first is the one to be tiled for the parts.
    found += [(*found[0], *steps) if found else steps for steps in batch_choices(statement, matches)]
    tiles = tile_choices(scop, statement, matches)
    found += [steps for steps in panel_choices(scop, statement, matches) if not tiles or _small(scop, steps)]
    found += tiles
    found += row_choices(scop, statement)
    found += near_column_choices(scop, statement, matches)
    if not preferred:
        found += packing_choices(scop, statement)[:2]
    return tuple(found)
