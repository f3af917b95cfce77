"""Operands in panels: a copy of an array in the order in which split loops walk it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Annotated, ClassVar

from polydl.bfloat16 import ELEMENT as BFLOAT16
from polydl.errors import IllegalVariantError
from polydl.ir.families import LAYOUT, PACKING
from polydl.ir.numerics import EXACT, Rounding
from polydl.ir.scop import BYTES, Scop
from polydl.ir.statement import Access, Statement
from polydl.ir.variant import ArrayName, RewriteStep, StatementName
from polydl.machine import LIMITS, Machine
from polydl.match.product import GemmMatch
from polydl.poly.dependences import Dependence
from polydl.rewrite_contract import Phase, Proposal, Request
from polydl.variants.rewrites.accesses import copied_along, drawn_read, only_read, visits_once, walked
from polydl.variants.rewrites.pack_tiles import PANEL_REUSE, PANEL_VECTORS, far_apart, multiples, tile_choices
from polydl.variants.rewrites.split import Blocked, Split, block_of, extents_of, splits_of

# Steps of k that processors' dot products take side by side, by the type of the operands.
GROUPS = {BFLOAT16: 2, **dict.fromkeys(BYTES, 4)}
# Vectors of accumulators in a panel of such groups, the preferred first.
GROUP_VECTORS = (4, 3, 2, 6, 8, 1)
# Columns of B in a panel, and steps of k, the preferred first.
PANEL_COLUMNS = (56, 42, 28, 64, 48, 32, 40, 24, 16)
PANEL_DEPTHS = (256, 512, 128)


@dataclass(frozen=True)
class PackPanels(RewriteStep):
    """Copy what ``statement`` reads of an array that nothing writes any more, one dimension for each of ``loops``."""

    json_name: ClassVar[str] = "pack_panels"

    statement: StatementName
    array: ArrayName
    loops: Annotated[tuple[str, ...], "Loops with a dimension each in the copy, the outermost first."]


@dataclass(frozen=True)
class PackPanelsRewrite:
    """The rewrite ``pack_panels``, which gives microkernels contiguous operands. It is exact: elements are copied."""

    step: type[PackPanels] = PackPanels
    families: frozenset[str] = frozenset({LAYOUT, PACKING})
    phase: Phase = Phase.STATEMENT

    def rounding(self, scop: Scop, step: PackPanels) -> Rounding:
        return EXACT

    def apply(self, scop: Scop, step: PackPanels, dependences: Sequence[Dependence], *, reassociate: bool) -> Scop:
        return pack_panels(scop, step)

    def propose(self, request: Request) -> Iterator[Proposal]:
        """Operands whose rows lie far apart, in panels; large ones only where no tiles can be packed.

        Constants in any case, since their panels are made once.
        """
        scop, statement, matches, machine = request.scop, request.statement, request.matches, request.machine
        tiles = tile_choices(scop, statement, matches, machine)
        for steps in panel_choices(scop, statement, matches, machine):
            if not tiles or _small(scop, steps, LIMITS.panel_copy_bytes) or _constant(scop, steps):
                yield Proposal(steps)
        # Microkernels that come before those for groups take operands as they lie, one product at a time.
        grouped = in_groups(scop, statement, matches, machine)
        if grouped:
            yield Proposal(grouped, any_microkernel=True)

    def drawn(self, scop: Scop, statement: Statement, draw: Random) -> Iterator[tuple[PackPanels]]:
        """Any operand, as the loops that move it walk through it in any order."""
        read = drawn_read(statement, draw)
        if read is not None:
            yield (PackPanels(statement.name, read[0].array, read[1]),)

    def describe(self, scop: Scop, step: PackPanels) -> str:
        return f"a copy of {step.array} in panels, as {' '.join(step.loops)} walk through it"


PACK_PANELS = PackPanelsRewrite()


def pack_panels(scop: Scop, step: PackPanels) -> Scop:
    """Copy what a statement reads of an array into one with a dimension per loop, once it is complete.

    Raises IllegalVariantError if the array is written, or if the loops don't visit each element once.
    """
    statement = scop.statement(step.statement)
    read = only_read(scop, statement, step.array)
    if sorted(step.loops) != sorted(walked(statement, read)) or not visits_once(scop, statement, read):
        raise IllegalVariantError(f"the loops {list(step.loops)} don't visit each element of `{step.array}` once")
    return copied_along(scop, statement, read, step.loops, "panels", (1,) * len(step.loops))


def panel_choices(
    scop: Scop, statement: Statement, matches: Sequence[GemmMatch], machine: Machine
) -> tuple[tuple[Split | PackPanels, ...], ...]:
    """Copies of a product's operands in panels, where the microkernel would walk through too many pages.

    The loop along the panel's rows is split into blocks, in all statements that write the output. An operand is
    copied only if each of its elements is used ``PANEL_REUSE`` times, which pays for the copy, or if it is a constant,
    whose copy is prepared.
    """
    if statement.box is None or not matches:
        return ()
    match = matches[0]
    extents = extents_of(statement)
    vector_elements = machine.vector_elements(scop.array(match.form.a.array).element_bytes)
    blocks = {
        "m": block_of(extents[match.m], multiples(vector_elements, PANEL_VECTORS)),
        "n": block_of(extents[match.n], PANEL_COLUMNS),
        "k": block_of(extents[match.k], PANEL_DEPTHS),
    }

    def worthwhile(access: Access, stride: int, rows: int) -> bool:
        array = scop.array(access.array)
        often = statement.instances >= PANEL_REUSE * array.elements
        pays = often and far_apart(stride * array.element_bytes, rows, machine.core)
        return (pays or array.memory in scop.constants) and visits_once(scop, statement, access)

    wanted = []
    if blocks["m"] and worthwhile(match.form.a, match.lda, extents[match.k]):
        wanted.append("a")
    if (
        blocks["n"]
        and blocks["k"]
        and match.stride_bk == 1
        and worthwhile(match.form.b, match.stride_bn, extents[match.n])
    ):
        wanted.append("b")
    found: list[tuple[Split | PackPanels, ...]] = []
    m, n, k = (statement.iterators[loop] for loop in (match.m, match.n, match.k))
    for operands in [wanted[:1], wanted] if len(wanted) == 2 else [wanted] if wanted else []:
        splits: list[Split] = []
        if "a" in operands:
            splits += splits_of(scop, statement, match.m, blocks["m"])
        if "b" in operands:
            splits += splits_of(scop, statement, match.n, blocks["n"])
            splits += splits_of(scop, statement, match.k, blocks["k"])
        try:
            blocked = Blocked(scop).after(splits)
        except IllegalVariantError:
            continue
        depths = (blocked.outside(statement.name, k),) if "b" in operands else ()
        packs = []
        for operand, access, row in (("a", match.form.a, m), ("b", match.form.b, n)):
            if operand in operands:
                others = tuple(name for name in walked(statement, access) if name not in (row, k))
                inside = (k, m) if operand == "a" else (n, k)
                loops = (*others, blocked.outside(statement.name, row), *depths, *inside)
                packs.append(PackPanels(statement.name, access.array, loops))
        found.append((*splits, *packs))
    return tuple(found)


def in_groups(
    scop: Scop, statement: Statement, matches: Sequence[GemmMatch], machine: Machine
) -> tuple[Split | PackPanels, ...]:
    """Steps that copy the operand along m into panels with groups of k side by side: four bytes, or two bfloat16s.

    Processors' dot products read it so. The other operand must be contiguous along k. None for other products,
    and where too little is read again to pay for the copy; of bfloat16s, none but constants are copied.
    """
    if statement.box is None or not matches:
        return ()
    match = matches[0]
    array = scop.array(match.form.a.array)
    extents = extents_of(statement)
    accumulator = scop.array(match.form.c.array).element_bytes
    widths = multiples(machine.vector_elements(accumulator), GROUP_VECTORS)
    whole = extents[match.m] in widths[:1]
    width = 0 if whole else block_of(extents[match.m], widths)
    group = GROUPS.get(array.element, 0)
    grouped = group and match.stride_bk == 1 and extents[match.k] % group == 0
    # Who takes bfloat16s as they lie joins them in pairs in passing: that is worth doing beforehand, not at each call.
    again = array.element in BYTES and statement.instances >= PANEL_REUSE * array.elements
    often = array.memory in scop.constants or again
    fits = (whole or width) and extents[match.k] > group and visits_once(scop, statement, match.form.a)
    if not (grouped and often and fits):
        return ()
    m, k = statement.iterators[match.m], statement.iterators[match.k]
    splits = [] if whole else splits_of(scop, statement, match.m, width)
    splits += splits_of(scop, statement, match.k, group)
    try:
        blocked = Blocked(scop).after(splits)
    except IllegalVariantError:
        return ()
    others = tuple(name for name in walked(statement, match.form.a) if name not in (m, k))
    blocks = () if whole else (blocked.outside(statement.name, m),)
    loops = (*others, *blocks, blocked.outside(statement.name, k), m, k)
    return (*splits, PackPanels(statement.name, array.name, loops))


def _constant(scop: Scop, steps: Sequence[Split | PackPanels]) -> bool:
    """Whether all that is copied holds the same at every call."""
    return all(scop.array(step.array).memory in scop.constants for step in steps if isinstance(step, PackPanels))


def _small(scop: Scop, steps: Sequence[Split | PackPanels], most_bytes: int) -> bool:
    """Whether copies of whole arrays are small enough to be near when they are used."""
    return all(scop.array(step.array).bytes <= most_bytes for step in steps if isinstance(step, PackPanels))
