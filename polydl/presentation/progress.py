"""Progress on standard error: a bar on a terminal, gone when the work is done; elsewhere lines."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import TaskID

    from polydl.pipeline import ProgressCallback, Stage

# Seconds between two lines of one stage.
_BETWEEN_LINES = 5.0


@contextmanager
def progress_bar(wanted: bool = True) -> Iterator[ProgressCallback | None]:
    """A callback that shows each stage; None unless progress is ``wanted``."""
    if not wanted:
        yield None
    elif not sys.stderr.isatty():
        yield lines()
    else:
        with _bar() as show:
            yield show


def lines(clock: Callable[[], float] = time.monotonic) -> ProgressCallback:
    """A callback that writes a line when a stage ends, and every few seconds before."""
    last: dict[str, float] = {}

    def show(stage: Stage) -> None:
        now = clock()
        if stage.note:
            click.echo(f"polydl: {stage.note}", err=True)
            return
        before = last.setdefault(stage.name, now)
        ends = stage.total > 0 and stage.done >= stage.total
        if ends or now - before >= _BETWEEN_LINES:
            last[stage.name] = now
            of = f" of {stage.total}" if stage.total else ""
            click.echo(f"polydl: {stage.name} {stage.done}{of}", err=True)

    return show


@contextmanager
def _bar() -> Iterator[ProgressCallback]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def show(stage: Stage) -> None:
            if stage.note:
                progress.console.print(stage.note, highlight=False)
            if stage.name not in tasks:
                tasks[stage.name] = progress.add_task(stage.name, total=stage.total)
            progress.update(tasks[stage.name], completed=stage.done, total=stage.total)

        yield show
