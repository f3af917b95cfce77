"""Tables that fit the terminal: what is too wide for one table is shown as several, one below the other."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

_LEAST_WIDTH, _USUAL_WIDTH, _MOST_WIDTH = 80, 110, 200
# What a column whose text may be broken gets at the least, if its text is as long.
_LEAST_FOLDED = 24
# Key columns get no less than this where they are broken, so that the other columns stay whole.
_LEAST_KEY = 12
# Between two columns, and at both ends together.
_GAP = 2


def table(*columns: str, right: Sequence[str] = (), fold: Sequence[str] = ()) -> Table:
    """A table with these headings; ``right`` are aligned so, ``fold`` may break their text over lines."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    headed = Table(box=SIMPLE_HEAD, padding=(0, 1), collapse_padding=True, header_style="bold")
    for heading in columns:
        headed.add_column(
            heading,
            justify="right" if heading in right else "left",
            no_wrap=heading not in fold,
            overflow="fold",
        )
    return headed


def terminal_width() -> int:
    """Columns of the terminal that standard output is, or 110."""
    columns = shutil.get_terminal_size((_USUAL_WIDTH, 24)).columns
    return min(max(columns, _LEAST_WIDTH), _MOST_WIDTH)


def rendered(content: Table, keys: int = 1) -> str:
    """The table as text for the terminal that standard output is, or for 110 columns.

    One that is too wide becomes several, each with the first ``keys`` columns, which name a row. Where these leave less
    than a third of the terminal to the others, or too little for one of these, the longest is broken over lines.
    """
    from rich.console import Console

    stream = StringIO()
    console = Console(
        file=stream,
        width=terminal_width(),
        force_terminal=sys.stdout.isatty(),
        highlight=False,
        markup=False,
        emoji=False,
    )
    texts = []
    for part in parts(content, console, keys):
        console.print(part)
        texts.append("\n".join(line.rstrip() for line in stream.getvalue().splitlines()).strip("\n"))
        stream.seek(0)
        stream.truncate()
    return "\n\n".join(texts)


def parts(content: Table, console: Console, keys: int = 1) -> Iterator[Table]:
    """The table, or several with some of its columns each and the first ``keys`` in all, where it is too wide.

    Columns without any entry go, and later tables leave out rows in which they have nothing.
    """
    widths = [_width(column, console) for column in content.columns]
    broken = _fold_keys(content, widths, keys, console.width - _GAP)
    room = console.width - _GAP - sum(width + _GAP for width in widths[:keys])
    groups: list[list[int]] = [[]]
    left = room
    for place in range(keys, len(widths)):
        if not any(content.columns[place].cells) and content.row_count:
            continue
        needed = widths[place] + _GAP
        if groups[-1] and needed > left:
            groups.append([])
            left = room
        groups[-1].append(place)
        left -= needed
    for number, others in enumerate(groups):
        yield _selected(content, [*range(keys), *others], keys, complete=number == 0, broken=broken)


def _fold_keys(content: Table, widths: list[int], keys: int, room: int) -> dict[int, int]:
    """Key columns that are broken, with their new widths, which also go into ``widths``."""
    others = [width for column, width in zip(content.columns[keys:], widths[keys:], strict=True) if any(column.cells)]
    left = room - sum(width + _GAP for width in widths[:keys])
    if not others or left >= min(max(max(others) + _GAP, room // 3), sum(others) + _GAP * len(others)):
        return {}
    wanted = max(max(others) + _GAP, room // 2)
    broken: dict[int, int] = {}
    while left < wanted:
        place = max(range(keys), key=lambda key: widths[key])
        taken = min(wanted - left, widths[place] - _LEAST_KEY)
        if taken <= 0:
            break
        # Two long keys share what is left to them.
        shorter = sorted(widths[:keys])[-2] if keys > 1 else 0
        taken = max(1, min(taken, widths[place] - shorter)) if widths[place] > shorter else 1
        widths[place] -= taken
        broken[place] = widths[place]
        left += taken
    return broken


def _selected(content: Table, places: Sequence[int], keys: int, *, complete: bool, broken: Mapping[int, int]) -> Table:
    """A table of some columns; unless it is to be ``complete``, of the rows that have more there than their keys.

    Columns that are ``broken`` have these widths.
    """
    from rich.table import Table

    part = Table(
        box=content.box,
        padding=content.padding,
        collapse_padding=content.collapse_padding,
        header_style=content.header_style,
    )
    chosen = [content.columns[place] for place in places]
    for place, column in zip(places, chosen, strict=True):
        part.add_column(
            column.header,
            justify=column.justify,
            no_wrap=column.no_wrap and place not in broken,
            overflow=column.overflow,
            width=broken.get(place),
        )
    for row in zip(*(column.cells for column in chosen), strict=True):
        if complete or any(row[keys:]):
            part.add_row(*row)
    return part


def _width(column: Column, console: Console) -> int:
    """What a column takes at the least."""
    from rich.measure import Measurement

    widths = [Measurement.get(console, console.options, cell).maximum for cell in (column.header, *column.cells)]
    return max(widths) if column.no_wrap else max(widths[0], min(max(widths), _LEAST_FOLDED))
