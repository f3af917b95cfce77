"""The progress bar: on a terminal's standard error, and gone when the work is done."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import TaskID

    from polydl.pipeline import ProgressCallback, Stage


@contextmanager
def progress_bar(wanted: bool = True) -> Iterator[ProgressCallback | None]:
    """A callback that shows each stage as a bar; None where there is no terminal."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, TaskID] = {}

        def show(stage: Stage) -> None:
            if stage.name not in tasks:
                tasks[stage.name] = progress.add_task(stage.name, total=stage.total)
            progress.update(tasks[stage.name], completed=stage.done, total=stage.total)

        yield show
