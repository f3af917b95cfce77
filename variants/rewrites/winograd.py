"""Convolutions by fewer products: tiles of the image and the filters go to a space where they multiply point by point.

A tile of ``m`` pixels of the result takes ``m + r - 1`` products along an axis on which the filter has ``r`` taps, not
``m * r`` (``toom_cook``); with 4 by 4 pixels and 3 by 3 taps that is a quarter of the products. Three nests transform
the image, the filters and, back again, the sums; between them a matrix product for each point is left to a microkernel.
Factors are taken out of sums, which rounds in another way (``bilinear_rounding``).
That the products make up the convolution follows from ``toom_cook``, not from dependences, which isl is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from math import prod
from random import Random
from typing import Annotated, ClassVar

from polydl.errors import IllegalVariantError
from polydl.ir.construct import has_loops_alone
from polydl.ir.families import BILINEAR
from polydl.ir.numerics import Rounding
from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.variant import RewriteStep, StatementName
from polydl.machine import LIMITS, Machine
from polydl.match.alignment import loops_alike
from polydl.match.convolution import ConvolutionMatch, convolution
from polydl.plan.bilinear_rounding import Bilinear, error_factor
from polydl.plan.toom_cook import MOST_POINTS, toom_cook
from polydl.poly.counting import limited
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.accesses import visits_once
from polydl.variants.rewrites.dimensions import after as after_dimensions
from polydl.variants.rewrites.dimensions import dimension_steps
from polydl.variants.rewrites.fuse import Fuse
from polydl.variants.rewrites.split import Blocked, block_of, extents_of, splits_of
from polydl.variants.rewrites.transform_domain import Transform, arranged, attached_zeros, zeroing
from polydl.variants.rewrites.winograd_nests import WinogradNests
from polydl.vector_functions import called

# Points along an axis: more save more products and round worse, so that the most are for filters of many taps alone.
POINTS = (6, 4, MOST_POINTS)
MANY_TAPS = 5
# Lanes and sums below which transforms take longer than what they save.
FEWEST_LANES = 8
FEWEST_SUMMED = 16
# Columns that a microkernel's calls want.
COLUMNS = 12
# What a product sums up at least where transformed filters are made block by block.
FEWEST_SUMMED_INSIDE = 32
# Channels of a block, the preferred first.
BLOCKS = (64, 48, 80, 96, 56, 32)
# Second caches that points of an image may take where threads share them.
PARTS_OF_THREADS = 8


@dataclass(frozen=True)
class Room:
    """Bytes that a machine has for what is transformed."""

    #: of points of an image, before they are made and used part by part
    near: int
    #: of transformed filters, before they are made block by block
    filters: int
    #: of the points of an image and of the result together
    points: int

    @staticmethod
    def of(machine: Machine) -> Room:
        """The room of a machine: what threads that work on one part have together, and its limits."""
        # Threads work on one part together, and each part is begun anew.
        near = machine.second_cache_bytes * (1 if machine.threads == 1 else PARTS_OF_THREADS)
        return Room(near, machine.core.whole_filter_bytes, LIMITS.transformed_points_bytes)


@dataclass(frozen=True)
class Winograd(RewriteStep):
    """Compute a convolution of tiles of the image, in a space where each element of a tile is a product of its own.

    Loops that are ``shared`` become the outermost of the products: loops over the filters, which are transformed inside
    of them, or such that move the image and the result, inside of which all but the filters then is.
    """

    json_name: ClassVar[str] = "winograd"
    json_omits: ClassVar[frozenset[str]] = frozenset({"after"})

    statement: StatementName
    axes: Annotated[
        tuple[tuple[str, str, int], ...],
        "A loop over pixels, the loop over taps of the filter that goes with it, and pixels of the result in a tile.",
    ]
    columns: Annotated[
        int, "So many loops that move image and result, the innermost, are one in the products.", {"minimum": 1}
    ]
    shared: Annotated[tuple[str, ...], "Loops that become the outermost."] = ()
    after: Annotated[tuple[str, ...], "Element-wise statements that are applied to each tile of the result."] = ()

    @property
    def fuses(self) -> bool:
        return bool(self.after)


@dataclass(frozen=True)
class WinogradRewrite:
    """The rewrite ``winograd``, for convolutions. Its errors grow by a factor that ``rounding`` knows."""

    step: type[Winograd] = Winograd
    families: frozenset[str] = frozenset({BILINEAR})
    phase: Phase = Phase.PRODUCT

    def rounding(self, scop: Scop, step: Winograd) -> Rounding:
        statement = scop.statement(step.statement)
        conv, extents = convolution(scop, statement), extents_of(statement)
        taps = [] if conv is None else [extents[tap] for _, tap in conv.axes]
        sizes = [size for _, _, size in step.axes]
        points = [size + tap - 1 for size, tap in zip(sizes, taps, strict=False)]
        if conv is None or len(taps) != len(sizes) or min(sizes) < 1 or max(points) > MOST_POINTS:
            raise IllegalVariantError(f"{statement.name} is no convolution in tiles of {sizes} by so few points")
        made = [toom_cook(size, tap) for size, tap in zip(sizes, taps, strict=True)]
        axes = [Bilinear(each.result, each.taps, each.image) for each in made]
        sums = prod(extents[loop] for loop in conv.filters if not conv.form.strides_c[loop])
        tiles, filters = ("x".join(map(str, counts)) for counts in (sizes, taps))
        factor = error_factor(axes, sums, sums * prod(taps))
        return Rounding("nothing", factor, (f"Winograd F({tiles}, {filters})",))

    def apply(self, scop: Scop, step: Winograd, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return winograd(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Convolutions in tiles, with the element-wise statements behind them that a fusion attaches, if that works."""
        shaping = dimension_steps(request.scop, request.statement)
        scop = after_dimensions(request.scop, shaping)
        statement = scop.statement(request.statement.name)
        room = Room.of(request.machine)
        for after in (*attached_behind(scop, request.fusions, statement), ()):
            proposals = winograd_choices(scop, statement, room, after)
            yield from (replace(each, steps=(*shaping, *each.steps)) for each in proposals)
            if proposals:
                break

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[Winograd]]:
        """Small tiles of any convolution, and any number of column loops."""
        conv = convolution(scop, statement)
        if conv is not None and conv.axes:
            names = statement.iterators
            axes = tuple((names[pixel], names[tap], draw.choice((2, 3, 4))) for pixel, tap in conv.axes)
            yield (Winograd(statement.name, axes, draw.randint(1, max(1, len(conv.columns)))),)

    def describe(self, scop: Scop, step: Winograd) -> str:
        tiles = " by ".join(f"{size} of {pixel}" for pixel, _, size in step.axes)
        lines = sorted(each.line for each in scop.statements if each.name in step.after)
        behind = f", line {', '.join(map(str, lines))} on each tile" if lines else ""
        return f"tiles of {tiles} in {step.statement} by products of their transforms (Winograd){behind}"


WINOGRAD = WinogradRewrite()


@limited
def winograd(scop: Scop, step: Winograd) -> Scop:
    """The scop with the statement as products of points, and with the transforms around it.

    Nests come one after the other (``distributed``). A nest in front that sets all of the result to zero goes, unless
    several tiles add to one element. Raises IllegalVariantError if the statement is no convolution along these axes.
    """
    statement = scop.statement(step.statement)
    conv = convolution(scop, statement)
    names = statement.iterators
    if conv is None or [each[:2] for each in step.axes] != [(names[p], names[t]) for p, t in conv.axes]:
        raise IllegalVariantError(f"{statement.name} is no convolution along {[each[:2] for each in step.axes]}")
    if not has_loops_alone(scop, statement) or scop.has_call(statement.name):
        raise IllegalVariantError(f"{statement.name} does not have its loops to itself, or stands for a marked call")
    columns = conv.columns
    if not 1 <= step.columns <= len(columns):
        raise IllegalVariantError(f"{step.columns} of {len(columns)} loops can't be joined")
    shared = [names.index(loop) for loop in step.shared if loop in names]
    over = columns[: -step.columns] if set(shared) & set(columns) else [x for x in conv.filters if x != conv.sum_loop]
    if len({*shared}) != len(step.shared) or not set(shared) <= set(over):
        raise IllegalVariantError(f"{list(step.shared)} are not outer loops over the filters, nor over the image")
    once = visits_once(scop, statement, conv.form.c)
    if step.after and not once:
        raise IllegalVariantError(f"tiles have elements of `{conv.form.c.array}` in common: nothing can follow on each")
    # Where several tiles add to an element, none of them may overwrite it.
    dropped = zeroing(scop, statement, conv.form.c) if once else None
    after = _after(scop, statement, conv.form.c, step.after)
    sizes = [size for _, _, size in step.axes]
    nests = WinogradNests(
        scop, statement, conv, sizes, columns[-step.columns :], shared, adds=dropped is None, after=after
    )
    kept = [each for each in scop.statements if each is not dropped and each.name not in step.after]
    over_image, over_filters = len(nests.a.around), len(nests.b.around)
    ordered: list[tuple[Transform | Statement, int]] = [(nests.image, over_image), (nests.zeros, over_image)]
    ordered.insert(0 if over_image else 2, (nests.filters, over_filters))
    ordered += [(nests.product, len(shared)), (nests.result, over_image)]
    return arranged(scop, kept, statement, ordered, nests.arrays)


def _after(
    scop: Scop, statement: Statement, output: Access, names: Sequence[str]
) -> tuple[tuple[Statement, Mapping[int, tuple[int, int]]], ...]:
    """Element-wise statements by name, each with its loops by those of the other, and what these are behind.

    Raises IllegalVariantError where they are not in the order in which they run, and for one that needs more than an
    element of the result and what nothing writes by then.
    """
    places = [scop.statement(name).betas for name in names]
    if any(one >= other for one, other in pairwise(places)):
        raise IllegalVariantError(f"{list(names)} do not run in this order")
    found = []
    for name in names:
        light = scop.statement(name)
        pairs = loops_alike(statement, light)
        if pairs is None or called([light]) or scop.has_call(name):
            raise IllegalVariantError(
                f"{name} does not go through all of what {statement.name} writes, and as it does, or calls functions"
            )
        memory = scop.array(output.array).memory
        own = light.writes[0].subscripts
        same = light.writes[0].array == output.array and all(
            each.array == output.array and each.subscripts == own
            for each in light.accesses
            if scop.array(each.array).memory == memory
        )
        used = {scop.array(each.array).memory for each in light.accesses}
        between = [
            each
            for each in scop.statements
            if statement.betas[0] < each.betas[0] <= light.betas[0] and each.name not in names
        ]
        stale = any(scop.array(a.array).memory in used for each in between for a in each.writes)
        seen = any(scop.array(a.array).memory == memory for each in between for a in each.accesses)
        if not same or stale or seen or light.betas[0] <= statement.betas[0]:
            raise IllegalVariantError(f"{name} depends on more than the element of `{output.array}` that it writes")
        found.append((light, pairs))
    return tuple(found)


def winograd_choices(scop: Scop, statement: Statement, room: Room, after: tuple[str, ...] = ()) -> tuple[Proposal, ...]:
    """The rewrites to try for a statement: loops over many channels in blocks, and then tiles of each size.

    Points of images that don't stay near are made and used part by part. Element-wise statements that run ``after`` it
    are applied to the tiles; sizes for which they can't be are left out.
    """
    conv = convolution(scop, statement)
    if conv is None:
        return ()
    blocked = blocked_channels(scop, statement, conv, room)
    scop, statement = blocked.scop, blocked.scop.statement(statement.name)
    conv = convolution(scop, statement)
    assert conv is not None
    taps = [extents_of(statement)[tap] for _, tap in conv.axes]
    proposals = []
    for points in POINTS:
        if points == MOST_POINTS and min(taps) < MANY_TAPS:
            continue
        sizes = [points - each + 1 for each in taps]
        steps = [tiled(scop, statement, sizes, each) for each in rooms(scop, conv, room)]
        for step in dict.fromkeys(replace(step, after=after) for step in steps if step is not None):
            if not after or _is_legal(scop, step):
                proposals.append(Proposal((*blocked.steps, step), (attached_zeros(statement.name),)))
    return tuple(proposals)


def rooms(scop: Scop, conv: ConvolutionMatch, room: Room) -> tuple[Room, ...]:
    """The room for transforms; before it one for whole filters of any size, if these hold the same at every call.

    They are transformed once then. Blocks that each call makes anew may still be faster: they come from nearer caches.
    """
    if scop.array(conv.form.b.array).memory in scop.constants:
        return replace(room, filters=sys.maxsize), room
    return (room,)


def blocked_channels(scop: Scop, statement: Statement, conv: ConvolutionMatch, room: Room) -> Blocked:
    """Loops over many channels in blocks, where the filters that ``conv`` transforms should be made block by block.

    The loops of the statement are those of ``conv``.
    """
    blocked = Blocked(scop)
    if _filter_bytes(scop, conv, extents_of(statement), prod([POINTS[0]] * len(conv.axes))) <= room.filters:
        return blocked
    for name in (statement.iterators[conv.result_loop], statement.iterators[conv.sum_loop]):
        place = statement.iterators.index(name)
        extent = extents_of(statement)[place]
        block = block_of(extent, BLOCKS)
        if block and extent > BLOCKS[0]:
            blocked = blocked.after(splits_of(blocked.scop, statement, place, block))
            statement = blocked.scop.statement(statement.name)
    return blocked


def tiled(scop: Scop, statement: Statement, sizes: Sequence[int], room: Room) -> Winograd | None:
    """A convolution in tiles of these sizes; None for another statement, and where it can't be or would not pay."""
    conv = convolution(scop, statement)
    if conv is None:
        return None
    extents = extents_of(statement)
    summed = [extents[loop] for loop in conv.filters if not conv.form.strides_c[loop]]
    if min(extents[conv.result_loop], extents[conv.sum_loop]) < FEWEST_LANES or prod(summed) < FEWEST_SUMMED:
        return None
    fitting = all(
        1 < size <= extents[pixel] and size + extents[tap] - 1 <= MOST_POINTS
        for size, (pixel, tap) in zip(sizes, conv.axes, strict=True)
    )
    return _step(scop, statement, conv, sizes, room) if fitting else None


def _filter_bytes(scop: Scop, conv: ConvolutionMatch, extents: Sequence[int], points: int) -> int:
    """Of the transformed filters, with so many points in all."""
    elements = points * prod(extents[loop] for loop in (*conv.filters, conv.result_loop))
    return elements * scop.array(conv.form.b.array).element_bytes


def _step(
    scop: Scop, statement: Statement, conv: ConvolutionMatch, sizes: Sequence[int], room: Room
) -> Winograd | None:
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
        own = prod(trips[loop] for loop, step in enumerate(strides) if step and loop not in conv.transformed)
        size += points * own * scop.array(access.array).element_bytes
    names = statement.iterators
    axes = tuple((names[pixel], names[tap], size) for (pixel, tap), size in zip(conv.axes, sizes, strict=True))
    shared = _shared(scop, conv, trips, points, room)
    if not shared:
        for loop in columns[:-joined]:
            if size > room.near and trips[loop] > 1:
                shared.append(loop)
                size //= trips[loop]
    if size > room.points:
        return None
    return Winograd(statement.name, axes, joined, tuple(names[loop] for loop in shared))


def _shared(scop: Scop, conv: ConvolutionMatch, trips: list[int], points: int, room: Room) -> list[int]:
    """The loops over blocks of the filters inside which these are transformed, those that move the result first.

    No more of them than are needed for blocks that are made at once, and none that leaves little to sum up inside.
    """
    moving = conv.form.strides_c
    left = _filter_bytes(scop, conv, trips, points)
    summed = prod(trips[loop] for loop in conv.filters if not moving[loop])
    shared: list[int] = []
    for loop in sorted(conv.filters, key=lambda loop: not moving[loop]):
        if loop == conv.sum_loop or trips[loop] == 1 or left <= room.filters:
            continue
        if not moving[loop]:
            summed //= trips[loop]
            if summed < FEWEST_SUMMED_INSIDE:
                break
        shared.append(loop)
        left //= trips[loop]
    return shared


def _is_legal(scop: Scop, step: Winograd) -> bool:
    try:
        winograd(scop, step)
    except IllegalVariantError:
        return False
    return True


def attached_behind(scop: Scop, fusions: Sequence[Proposal], statement: Statement) -> list[tuple[str, ...]]:
    """The element-wise statements on a statement's results that fusions attach behind it, the most first.

    Those that write another array stay behind the tiles, and so does what comes after them.
    """
    output = statement.writes[0].array
    behind = []
    for proposal in fusions:
        merged = [step for step in proposal.steps if isinstance(step, Fuse)]
        whole = all(len(set(each.bodies)) == 1 and each.shared == len(each.orders[0]) for each in merged)
        group = {name: each.statements for each in merged for name in each.statements}
        last = [step for step in proposal.attached if step.to == statement.name and step.place == "last"]
        if last and whole and statement.name not in group:
            names = [name for step in last for name in group.get(step.statement, (step.statement,))]
            own = takewhile(lambda name: scop.statement(name).writes[0].array == output, names)
            behind.append(tuple(own))
    return sorted(filter(None, dict.fromkeys(behind)), key=len, reverse=True)
