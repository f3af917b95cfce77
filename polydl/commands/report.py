"""``polydl report``: one HTML page of a run, or of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polydl.errors import OptionError
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.completion import complete_files
from polydl.presentation.option_values import OUT
from polydl.presentation.options import debug_option, records_option

if TYPE_CHECKING:
    from polydl.page.benchmark import Benchmark
    from polydl.page.run import Run


@click.command(cls=CheckedCommand)
@click.argument("runs", nargs=-1, metavar="[RUN|FILE] [RUN|FILE]", shell_complete=complete_files)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), default="report.html", show_default=True, metavar="PATH",
    help="Write the page there.",
)  # fmt: skip
@records_option
@debug_option
def report(runs: tuple[str, ...], out: Path, records: Path | None) -> int:
    """Make one HTML page of a run, which needs nothing else to be looked at; of two runs, the page compares them.

    FILE is the report.json that `polydl optimize` wrote, or its folder, what `optimize --json` or `bench --out` wrote,
    or a page; RUN is the id of a run in the records, or the start of it. Without either, it is the newest report below
    polydl-out.
    """
    from polydl.page import render, sources
    from polydl.records.store import default_directory
    from polydl.system.files import write_atomically

    if len(runs) > 2:
        raise OptionError(f"{len(runs)} runs to compare", remedy="name one or two")
    render.require()
    named = runs or (sources.latest_report(Path(OUT)),)
    if any(out.resolve() == Path(name).resolve() for name in named):
        raise OptionError("the page would be written over what it is made of", file=str(out), remedy="another --out")
    loaded = [sources.load(name, records or default_directory()) for name in named]
    write_atomically(out, _page(loaded))
    click.echo(f"Written  {out}")
    return 0


def _page(loaded: Sequence[Run | Benchmark]) -> str:
    from polydl.page import render
    from polydl.page.run import Run

    runs = [each for each in loaded if isinstance(each, Run)]
    benchmarks = [each for each in loaded if not isinstance(each, Run)]
    if not benchmarks:
        return render.run_page(runs[0]) if len(runs) == 1 else render.comparison_page(runs[0], runs[1])
    if len(loaded) > 1:
        raise OptionError(
            "a run of polydl bench is compared with nothing", file=benchmarks[0].source, remedy="name it alone"
        )
    return render.benchmark_page(benchmarks[0])


def write_page(document: Mapping[str, Any], path: Path) -> None:
    """The page of a document of ``optimize``. Raises MissingComponentError, ResourceError."""
    from polydl.page.reading import read_run
    from polydl.page.render import run_page
    from polydl.system.files import write_atomically

    write_atomically(path, run_page(read_run(document, str(path))))
