"""Variants, rankings, working sets and measurements, as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.variant import Variant
from polydl.machine import Machine
from polydl.presentation.notation import (
    counted,
    level_columns,
    loop_order,
    nests_of,
    number,
    parallel_loop,
    shape,
    wrapped,
)
from polydl.presentation.tables import rendered, table

if TYPE_CHECKING:
    from polydl.doctor import Component
    from polydl.plan.apply import Applied

_MESSAGE_LINES = 20


def variants_table(variants: Sequence[Applied]) -> str:
    """The loops and the microkernels of each variant, one line per nest."""
    rows = table("id", "loops, outermost first", "parallel", "m,n,k,batch", fold=["loops, outermost first"])
    for applied in variants:
        variant, uses = applied.variant, applied.uses
        for place, nest in enumerate(nests_of(variant)):
            first = variant.id if place == 0 else ""
            rows.add_row(first, loop_order(variant, nest), parallel_loop(variant, nest), shape(uses, nest))
    return rendered(rows)


def structure_table(
    places: Sequence[tuple[int, RankedVariant]], apply: Callable[[Variant], Applied], machine: Machine
) -> str:
    """Ranked variants with their places: loops, parallel loop, microkernel, working sets and predicted cost."""
    levels = [*(level.name for level in machine.caches), "memory"]
    loops = "loops, outermost first"
    headings = ["#", "id", loops, "parallel", "m,n,k,batch", *levels, "cost"]
    rows = table(*headings, right=["#", *levels, "cost"], fold=[loops])
    for rank, entry in places:
        uses = apply(entry.variant).uses
        for place, nest in enumerate(nests_of(entry.variant)):
            structure = [loop_order(entry.variant, nest), parallel_loop(entry.variant, nest), shape(uses, nest)]
            if place:
                rows.add_row("", "", *structure)
            else:
                sizes = level_columns(entry.working_sets)
                rows.add_row(str(rank), entry.variant.id, *structure, *sizes, number(entry.score))
    return rendered(rows, keys=2)


def reasons_text(entries: Sequence[RankedVariant]) -> str:
    """The ranker's reason for each position."""
    lines = ["Reasons"]
    for rank, entry in enumerate(entries, 1):
        lines += wrapped(f"{rank:3}  {entry.variant.id}  {entry.reason}", "  ")
    return "\n".join(lines)


def ranking_text(ranking: Ranking, apply: Callable[[Variant], Applied], shown: int, machine: Machine) -> str:
    """The first ``shown`` variants of a ranking, or all for 0, with the reason for each place."""
    entries = ranking.entries[: shown or None]
    title = f"Ranking  {counted(len(ranking.entries), 'variant')} by {ranking.ranker}, the first {len(entries)}"
    return f"{title}\n\n{structure_table(list(enumerate(entries, 1)), apply, machine)}\n\n{reasons_text(entries)}"


def explanation_text(first: Variant, second: Variant, sentences: Sequence[str]) -> str:
    lines = [f"Why {first.id} comes before {second.id}", *(f"  {sentence}" for sentence in sentences)]
    return "\n".join(lines)


def components_text(components: Sequence[Component]) -> str:
    lines = []
    for component in components:
        state = "works" if component.works else "broken" if component.found else "missing"
        optional = "" if component.required else " (optional)"
        lines.append(f"{state:8} {component.name}{optional}  {component.version}".rstrip())
        if component.where:
            lines.append(f"         {component.where}")
        lines += [f"         {line}" for line in component.self_test.splitlines()]
        if not component.works:
            lines.append(f"         to get it: {component.remedy}")
    return "\n".join(lines)
