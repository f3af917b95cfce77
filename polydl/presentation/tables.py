"""Tables that fit the terminal: what is too wide for one table is shown as several, one below the other."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Column, Table

_LEAST_WIDTH, _USUAL_WIDTH, _MOST_WIDTH = 80, 110, 200
# What a column whose text may be broken gets at the least, if its text is as long.
_LEAST_FOLDED = 24
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

    One that is too wide becomes several, each with the first ``keys`` columns, which name a row.
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
        yield _selected(content, [*range(keys), *others], keys, complete=number == 0)


def _selected(content: Table, places: Sequence[int], keys: int, complete: bool) -> Table:
    """A table of some columns; unless it is to be ``complete``, of the rows that have more there than their keys."""
    from rich.table import Table

    part = Table(
        box=content.box,
        padding=content.padding,
        collapse_padding=content.collapse_padding,
        header_style=content.header_style,
    )
    chosen = [content.columns[place] for place in places]
    for column in chosen:
        part.add_column(column.header, justify=column.justify, no_wrap=column.no_wrap, overflow=column.overflow)
    for row in zip(*(column.cells for column in chosen), strict=True):
        if complete or any(row[keys:]):
            part.add_row(*row)
    return part


def _width(column: Column, console: Console) -> int:
    """What a column takes at the least."""
    from rich.measure import Measurement

    widths = [Measurement.get(console, console.options, cell).maximum for cell in (column.header, *column.cells)]
    return max(widths) if column.no_wrap else max(widths[0], min(max(widths), _LEAST_FOLDED))
