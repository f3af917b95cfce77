"""Variants, rankings, working sets and measurements, as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from polydl.ir.ranking import RankedVariant, Ranking
from polydl.ir.variant import Variant
from polydl.machine import Machine
from polydl.presentation.notation import (
    NOTHING,
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
    from polydl.model.times import NestTime
    from polydl.models.manifest import Entry
    from polydl.plan.apply import Applied

_MESSAGE_LINES = 20


def variants_table(variants: Sequence[Applied]) -> str:
    """The loops and the microkernels of each variant, one line per nest."""
    rows = table("id", "loops, outermost first", "parallel", "m,n,k,batch", fold=["loops, outermost first"])
    for applied in variants:
        for place, structure in enumerate(_nests(applied)):
            rows.add_row(applied.variant.id if place == 0 else "", *structure)
    return rendered(rows)


def _nests(applied: Applied) -> list[tuple[str, str, str]]:
    """Loops, parallel loop and microkernel of each nest; those in a row that have the first alone stand together."""
    variant, rows = applied.variant, list[tuple[str, str, str]]()
    for nest in nests_of(variant):
        loops, others = loop_order(variant, nest), (parallel_loop(variant, nest), shape(applied.uses, nest))
        if rows and others == (NOTHING, NOTHING) == rows[-1][1:]:
            loops = f"{rows.pop()[0]}; {loops}"
        rows.append((loops, *others))
    return rows


def structure_table(
    places: Sequence[tuple[int, RankedVariant]], apply: Callable[[Variant], Applied], machine: Machine
) -> str:
    """Ranked variants with their places: predicted cost, loops, parallel loop, microkernel, working sets."""
    levels = [*(level.name for level in machine.caches), "memory"]
    loops = "loops, outermost first"
    headings = ["#", "id", "cost", loops, "parallel", "m,n,k,batch", *levels]
    rows = table(*headings, right=["#", "cost", *levels], fold=[loops])
    for rank, entry in places:
        for place, structure in enumerate(_nests(apply(entry.variant))):
            if place:
                rows.add_row("", "", "", *structure)
            else:
                sizes = level_columns(entry.working_sets)
                rows.add_row(str(rank), entry.variant.id, number(entry.score), *structure, *sizes)
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


def prediction_text(applied: Applied, times: Sequence[NestTime], machine: Machine) -> str:
    """What the cost model expects of each nest of a variant, in microseconds, and of all of them."""
    caches = [f"into {cache.name}" for cache in machine.caches]
    starting = ["threads start"] if machine.threads > 1 else []
    rows = table(
        "nest", "statements", "microkernel", "computing", *caches, *starting, "in all",
        right=["computing", *caches, *starting, "in all"], fold=["statements"],
    )  # fmt: skip
    names = applied.variant.microkernels
    for nest, time in zip(applied.plan.nests, times, strict=True):
        parts = (time.arithmetic, *time.transfers, *([time.starting] if starting else []), time.total)
        rows.add_row(
            str(nest.nest.index),
            " ".join(nest.nest.statements),
            names.get(nest.nest.index, NOTHING),
            *(f"{1e6 * seconds:.4g}" for seconds in parts),
        )
    total = sum(time.total for time in times)
    title = f"Predicted  {applied.variant.id}, by the cost model: {1e6 * total:.4g} us"
    return (
        f"{title}\n\n{rendered(rows)}\nMicroseconds of the busiest thread; some of what moves shows beside computing."
    )


def explanation_text(first: Variant, second: Variant, sentences: Sequence[str]) -> str:
    """Why a ranker puts one variant before another, a sentence a line."""
    lines = [f"Why {first.id} comes before {second.id}"]
    for sentence in sentences:
        lines += wrapped(sentence, "  ")
    return "\n".join(lines)


def operators_table(entries: Sequence[Entry]) -> str:
    """A line or more for each operator of a model: the time of its kernel alone, and what was chosen."""
    from polydl.models.manifest import milliseconds

    rows = table("operator", "ms", "chosen", right=["ms"], fold=["chosen"])
    for entry in entries:
        rows.add_row(entry.operator, milliseconds(entry.seconds), entry.choice)
    return rendered(rows)


def components_text(components: Sequence[Component]) -> str:
    """Each component's state, version and place, what its self-test said, and how to get one that doesn't work."""
    lines = []
    for component in components:
        state = "works" if component.works else "broken" if component.present else "missing"
        optional = "" if component.required else " (optional)"
        lines += wrapped(f"{state:8} {component.name}{optional}  {component.version}".rstrip(), "")
        if component.where:
            lines.append(f"         {component.where}")
        for line in component.self_test.splitlines():
            lines += wrapped(line, "         ")
        if not component.works:
            lines.append(f"         to get it: {component.remedy}")
    return "\n".join(lines)
