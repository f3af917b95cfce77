"""Which convolutions are tried in tiles, whose transforms take fewer products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from polydl.ir.scop import Scop
from polydl.ir.statement import Statement
from polydl.ir.variant import Attach, Fuse, Rewrite, Split, Winograd, attached_zeros
from polydl.match.convolution import Convolution, convolution
from polydl.variants.layouts import block_of, extents_of, splits_of
from polydl.variants.rewrites.panels import split
from polydl.variants.rewrites.toom_cook import MOST_POINTS

# Points along an axis: more save more products and round worse, so that the most are for filters of many taps alone.
POINTS = (6, 4, MOST_POINTS)
MANY_TAPS = 5
# Lanes and sums below which transforms take longer than what they save.
FEWEST_LANES = 8
FEWEST_SUMMED = 16
# Columns that a microkernel's calls want; bytes of points of the image and of the result together, and how many of
# these there may be at most.
COLUMNS = 12
POINTS_NEAR = 1 << 20
POINTS_BYTES = 512 << 20
# Transformed filters that need not be made block by block, where these are used; what a product then sums up at least.
WHOLE_FILTERS = 1 << 20
FEWEST_SUMMED_INSIDE = 32
# Channels of a block, the preferred first.
BLOCKS = (64, 48, 80, 96, 56, 32)


def winograd_choices(
    scop: Scop, statement: Statement, near_bytes: int = POINTS_NEAR, after: tuple[str, ...] = ()
) -> tuple[tuple[Rewrite, ...], ...]:
    """The rewrites to try for a statement: loops over many channels in blocks, and then tiles of each size.

    Points of images that take more than ``near_bytes`` are made and used part by part. Element-wise statements that run
    ``after`` it are applied to the tiles.
    """
    conv = convolution(scop, statement)
    if conv is None:
        return ()
    splits: list[Split] = []
    if _filter_bytes(scop, conv, extents_of(statement), prod([POINTS[0]] * len(conv.axes))) > WHOLE_FILTERS:
        for name in (statement.iterators[conv.made], statement.iterators[conv.summed]):
            extent = extents_of(statement)[statement.iterators.index(name)]
            block = block_of(extent, BLOCKS)
            if block and extent > BLOCKS[0]:
                for part in splits_of(scop, statement, statement.iterators.index(name), block):
                    splits.append(part)
                    scop = split(scop, part)
                statement = scop.statement(statement.name)
        conv = convolution(scop, statement)
        assert conv is not None
    extents = extents_of(statement)
    taps = [extents[tap] for _, tap in conv.axes]
    summed = [extents[loop] for loop in conv.filters if not conv.form.strides_c[loop]]
    if min(extents[conv.made], extents[conv.summed]) < FEWEST_LANES or prod(summed) < FEWEST_SUMMED:
        return ()
    found: list[tuple[Rewrite, ...]] = []
    for points in POINTS:
        sizes = [points - each + 1 for each in taps]
        fitting = all(1 < size <= extents[pixel] for size, (pixel, _) in zip(sizes, conv.axes, strict=True))
        many = points < MOST_POINTS or min(taps) >= MANY_TAPS
        step = _step(scop, statement, conv, sizes, near_bytes) if fitting and many else None
        if step is not None:
            found.append((*splits, replace(step, after=after), attached_zeros(statement.name)))
    return tuple(found)


def _filter_bytes(scop: Scop, conv: Convolution, extents: Sequence[int], points: int) -> int:
    """Of the transformed filters, with so many points in all."""
    elements = points * prod(extents[loop] for loop in (*conv.filters, conv.made))
    return elements * scop.array(conv.form.b.array).element_bytes


def _step(scop: Scop, statement: Statement, conv: Convolution, sizes: list[int], near_bytes: int) -> Winograd | None:
    """The rewrite with tiles of these sizes; None if its arrays were too large."""
    trips = extents_of(statement)
    points = prod(size + trips[tap] - 1 for (_, tap), size in zip(conv.axes, sizes, strict=True))
    for (pixel, _), size in zip(conv.axes, sizes, strict=True):
        trips[pixel] = -(-trips[pixel] // size)
    columns = conv.columns
    joined, together = 0, 1
    while joined < len(columns) and together < COLUMNS:
        joined += 1
        together *= trips[columns[-joined]]
    size = 0
    for access, strides in ((conv.form.a, conv.form.strides_a), (conv.form.c, conv.form.strides_c)):
        own = prod(trips[loop] for loop, step in enumerate(strides) if step and loop not in conv.gone)
        size += points * own * scop.array(access.array).element_bytes
    names = statement.iterators
    axes = tuple((names[pixel], names[tap], size) for (pixel, tap), size in zip(conv.axes, sizes, strict=True))
    shared = _shared(scop, conv, trips, points)
    if not shared:
        for loop in columns[:-joined]:
            if size > near_bytes and trips[loop] > 1:
                shared.append(loop)
                size //= trips[loop]
    if size > POINTS_BYTES:
        return None
    return Winograd(statement.name, axes, joined, tuple(names[loop] for loop in shared))


def _shared(scop: Scop, conv: Convolution, trips: list[int], points: int) -> list[int]:
    """The loops over blocks of the filters inside which these are transformed, those that move the result first.

    No more of them than are needed for blocks of ``WHOLE_FILTERS``, and none that leaves little to sum up inside.
    """
    moving = conv.form.strides_c
    left = _filter_bytes(scop, conv, trips, points)
    summed = prod(trips[loop] for loop in conv.filters if not moving[loop])
    shared: list[int] = []
    for loop in sorted(conv.filters, key=lambda loop: not moving[loop]):
        if loop == conv.summed or trips[loop] == 1 or left <= WHOLE_FILTERS:
            continue
        if not moving[loop]:
            summed //= trips[loop]
            if summed < FEWEST_SUMMED_INSIDE:
                break
        shared.append(loop)
        left //= trips[loop]
    return shared


def attached_behind(fusions: Sequence[tuple[Rewrite, ...]], statement: str) -> list[tuple[str, ...]]:
    """The element-wise statements that fusions attach behind another one, the most first."""
    found = []
    for steps in fusions:
        merged = [step for step in steps if isinstance(step, Fuse)]
        whole = all(len(set(each.bodies)) == 1 and each.shared == len(each.orders[0]) for each in merged)
        group = {name: each.statements for each in merged for name in each.statements}
        last = [step for step in steps if isinstance(step, Attach) and step.to == statement and step.place == "last"]
        if last and whole and statement not in group:
            found.append(tuple(name for step in last for name in group.get(step.statement, (step.statement,))))
    return sorted(dict.fromkeys(found), key=len, reverse=True)
