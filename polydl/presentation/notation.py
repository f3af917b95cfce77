"""Numbers, loops and tables as people read them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from polydl import durations
from polydl.ir import counts
from polydl.ir.kernel import MicrokernelUse
from polydl.ir.variant import NestSchedule, Variant
from polydl.ir.working_sets import WorkingSets
from polydl.presentation.tables import terminal_width

NOTHING = "-"
_MOST_WIDTH = 110


def size(count: int) -> str:
    """Bytes as ``--cache-sizes`` takes them: K, M and G are powers of 1024."""
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if count >= unit:
            return f"{count / unit:.4g}{letter}"
    return str(count)


def duration(seconds: float | None) -> str:
    """A time in its largest unit of which there is one or more; ``NOTHING`` for None."""
    return NOTHING if seconds is None else durations.shown(seconds)


def number(value: float | None, digits: int = 4) -> str:
    """A number with so many significant digits; ``NOTHING`` for None."""
    return NOTHING if value is None else f"{value:.{digits}g}"


def percentage(fraction: float | None) -> str:
    """A fraction of one in percent, without decimals; ``NOTHING`` for None."""
    return NOTHING if fraction is None else f"{fraction:.0%}"


def count(value: int) -> str:
    """A count with its digits in groups of three; beyond a billion, rounded."""
    return f"{value:,}" if value < 10**9 else f"{value:.2e}"


def counted(value: int, noun: str) -> str:
    """A number, its digits in groups, with the noun that it counts, which gets an s unless the number is 1."""
    return counts.counted(value, noun, count(value))


def wrapped(text: str, indent: str) -> list[str]:
    """A long line as several, those after the first further in."""
    columns = min(terminal_width(), _MOST_WIDTH)
    return textwrap.wrap(
        text, columns, initial_indent=indent, subsequent_indent=f"{indent}    ", break_long_words=False
    )


def first_names(names: Sequence[str]) -> str:
    """The first of the names, as many of them as a line holds, at least one."""
    for shown in range(len(names), 1, -1):
        lines = wrapped(f"{'  '.join(names[:shown])}{', ...' if shown < len(names) else ''}", "  ")
        if len(lines) == 1:
            return lines[0]
    return f"  {names[0]}{', ...' if len(names) > 1 else ''}"


def nests_of(variant: Variant) -> tuple[int, ...]:
    """The nests that a variant has steps for, or the first one if it has none, so that each variant has a line."""
    return tuple(variant.nests) or (0,)


def loop_order(variant: Variant, nest: int) -> str:
    """The generated loops of a nest, outermost first; ``i:64`` is a loop over tiles of 64 iterations of ``i``.

    ``i*`` is unrolled in the last loop before it that is not; ``>y`` says that ``y`` is written past the caches.
    """
    schedule = variant.nest(nest)
    tiles = _tile_names(schedule)
    words = [f"{tiles.get(name, name)}{'*' if name in schedule.unrolled else ''}" for name in schedule.order or ()]
    words += [f">{array}" for array in schedule.streamed]
    return " ".join(words) or NOTHING


def parallel_loop(variant: Variant, nest: int) -> str:
    """The loop of a nest on threads, or the two that are collapsed; ``NOTHING`` if there is none."""
    schedule = variant.nest(nest)
    parallel = schedule.parallel
    if parallel is None:
        return NOTHING
    tiles = _tile_names(schedule)
    text = " ".join(tiles.get(name, name) for name in (parallel.loop, parallel.inner) if name)
    return f"{text} dynamic" if parallel.dynamic else text


def tile_name(variant: Variant, loop: str) -> str:
    """A generated loop's name as tables show it: ``i:64`` for a loop over tiles."""
    for schedule in variant.nests.values():
        name = _tile_names(schedule).get(loop)
        if name is not None:
            return name
    return loop


def _tile_names(schedule: NestSchedule) -> dict[str, str]:
    return {name: f"{loop}:{size}" for name, (loop, size) in schedule.tile_loops.items()}


def shape(uses: Sequence[MicrokernelUse], nest: int) -> str:
    """m, n, k and batch of a nest's microkernel; n as rows*columns where its columns come in several rows."""
    texts = [
        f"{use.m}x{f'{use.rows}*' if use.rows > 1 else ''}{use.n}x{use.k}x{use.batch}"
        for use in uses
        if use.nest == nest
    ]
    return texts[0] if texts else NOTHING


def level_columns(working_sets: WorkingSets) -> list[str]:
    """The bytes that each cache holds, innermost first, and those that none does, as texts for a table."""
    return [size(held) for held in (*working_sets.levels, working_sets.memory)]
