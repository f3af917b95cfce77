"""``polydl tune``: many nests at once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polydl.commands.output import FAILURE, STANDARD_OUTPUT, write_document
from polydl.commands.storing import warn_of_directory
from polydl.errors import OptionError
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.numbers import FiniteRange
from polydl.presentation.option_values import OUT, SearchOptions, macros_of
from polydl.presentation.options import (
    cold_option,
    debug_option,
    include_option,
    json_option,
    quiet_option,
    ranker_option,
    records_option,
    require_beside,
    sandbox_option,
    search_limit,
    search_options,
    strategy_option,
    top_k_options,
)
from polydl.presentation.output_directory import out_option, require_writable
from polydl.system.interruption import Interrupted

if TYPE_CHECKING:
    from polydl.optimization.tuning import Tuned, TuningTask


@click.command(cls=CheckedCommand)
@click.argument("files", nargs=-1, type=click.Path(path_type=str), metavar="[FILE...]")
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="A suite (resnet, …) or a CSV file of sizes.")
@click.option("--workload", "workloads", multiple=True, metavar="NAME", help="Such as resnet_03 or gemm_64x96x128.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N nests.")
@click.option("--function", metavar="NAME", help="The function whose nest is meant, where a file has several.")
@click.option(
    "-D",
    "--define",
    "define",
    metavar="NAME=VALUE",
    multiple=True,
    help="A macro of all files, or the value of an integer parameter. May be repeated.",
)
@include_option
@click.option("--constant", metavar="NAME", multiple=True, help="An array of all nests that is the same at every call.")
@click.option("--init", default="", metavar="FUNCTION", help="A function of each file that fills the arrays.")
@click.option("--threads", type=click.IntRange(min=1), metavar="N", help="Threads to use (all cores).")
@click.option("--cluster", metavar="ADDRESS", help="Compile and time on the nodes of this Dask scheduler.")
@click.option("--cpu", "cpus", metavar="KEY", multiple=True, help="Time on nodes of this type (one of each type).")
@click.option(
    "--patience",
    type=FiniteRange(min=0),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up on a type of which no node is there for so long.",
)
@search_options
@ranker_option
@top_k_options(5, "Compile, check and time")
@click.option("--budget", metavar="BUDGET", help="For each nest, go on beyond the first picks: 30s, 200runs, 5%.")
@strategy_option
@cold_option
@click.option(
    "--timeout",
    type=FiniteRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up on a candidate that takes longer for one run.",
)
@out_option(f"Write a folder for each nest there ({OUT})")
@click.option("--compiler", metavar="NAME", help="gcc or clang, by name or path (the first that works).")
@click.option("--fresh", is_flag=True, help="Measure again what the records hold.")
@sandbox_option
@records_option
@quiet_option
@json_option
@debug_option  # fmt: skip
def tune(
    files: tuple[str, ...],
    suites: tuple[str, ...],
    workloads: tuple[str, ...],
    limit: int | None,
    function: str | None,
    define: tuple[str, ...],
    include: tuple[str, ...],
    constant: tuple[str, ...],
    init: str,
    threads: int | None,
    cluster: str | None,
    cpus: tuple[str, ...],
    patience: float,
    search: SearchOptions,
    out: Path | None,
    compiler: str | None,
    fresh: bool,
    records: Path | None,
    quiet: bool,
    json_path: str | None,
    top_k: int,
    everything: bool,
    timeout: float,
    **options: Any,
) -> int:
    """Optimize many nests, here or on the nodes of a cluster, each into a folder of its own.

    An interrupted run goes on where it stopped. Ends with status 1 if a nest failed.
    """
    from polydl.machine import Machine
    from polydl.optimization.tuning import tune as tune_nests
    from polydl.pipeline import Stage
    from polydl.presentation.progress import progress_bar
    from polydl.presentation.tuning import document, line, tuned_text
    from polydl.records.store import default_directory

    # Said once, and not of each nest.
    search_limit(options["budget"], options["strategy"])
    folder = out or Path(OUT)
    if not files:
        require_beside("FILE", "function", "define", "include", "init")
    nests = _nests(
        files, suites, workloads, folder,
        defines=macros_of(define), include_directories=include, function=function, constant=constant, init=init,
    )[:limit]  # fmt: skip
    require_writable(folder)
    quiet = quiet or json_path == STANDARD_OUTPUT
    directory = records or default_directory()
    warn_of_directory(directory)
    given = {
        "records": directory, "fresh": fresh, "compiler": compiler, "top_k": None if everything else top_k,
        "timeout_seconds": timeout, **options, **vars(search),
    }  # fmt: skip
    count = len(nests)
    if cluster is None:
        if cpus:
            raise OptionError("types of nodes, and no cluster", construct="--cpu", remedy="give --cluster as well")
        tuned = tune_nests(nests, machine=Machine.detect(threads=threads), **given)
    else:
        from polydl.cluster.nodes import scheduler_address
        from polydl.cluster.tuning import machines_of, tune_on_cluster
        from polydl.system.sandbox import is_sandboxed

        if is_sandboxed():
            raise OptionError("there is no sandbox on nodes", remedy="leave out --sandbox or --cluster")
        scheduler_address(cluster, "--cluster")
        described = machines_of(cluster, cpus, threads=threads, patience=patience)
        tuned, count = tune_on_cluster(nests, described, **given), count * len(described)
    results: list[Tuned] = []
    interrupted = False
    with progress_bar(wanted=not quiet) as progress:
        try:
            for result in tuned:
                results.append(result)
                if result.status == "failed":
                    click.echo(line(result), err=True)
                if progress is not None:
                    progress(Stage("tune", len(results), count))
        except KeyboardInterrupt:
            interrupted = True
    order = {nest.name: place for place, nest in enumerate(nests)}
    results.sort(key=lambda result: order[result.nest.name])
    if not quiet and not (interrupted and not results):
        click.echo(tuned_text(results))
    if interrupted:
        # The document is that of all nests.
        again = f"the same command{' without --fresh' if fresh else ''}"
        click.echo(f"{len(results)} of {count} were done by then\n  remedy: {again} goes on with the others", err=True)
        raise Interrupted
    if json_path is not None:
        write_document(document(results), json_path)
    return FAILURE if any(result.status == "failed" for result in results) else 0


def _nests(
    files: tuple[str, ...],
    suites: tuple[str, ...],
    workloads: tuple[str, ...],
    directory: Path,
    **options: Any,
) -> tuple[TuningTask, ...]:
    """All of them; ``options`` are those of ``polydl.optimization.tuning.nests_of``."""
    from polydl.optimization.tuning import nests_of
    from polydl.workloads import suite
    from polydl.workloads import suites as known

    names = [name for one in suites for name in suite(one)]
    nests = nests_of(files, [*names, *workloads], directory, **options)
    if not nests:
        remedy = f"name FILE..., a --suite ({', '.join(known())}) or a --workload"
        raise OptionError("there is nothing to optimize", remedy=remedy)
    return nests
