"""``polydl fuse``: what can be fused and what can't, and the fastest code for the whole."""

from __future__ import annotations

from pathlib import Path

import click

from polydl.commands.output import STANDARD_OUTPUT, fail, write_document
from polydl.presentation.options import OUT, Search, Source, Target, optimization_options


@click.command(short_help="Say which operators can be fused, and find the fastest code.")
@optimization_options()
def fuse(
    source: Source,
    target: Target,
    search: Search,
    ranker: str,
    top_k: int,
    everything: bool,
    no_run: bool,
    out: Path | None,
    compiler: str | None,
    fresh: bool,
    records: Path | None,
    json_path: str | None,
) -> int:
    """Fuse the operators of FILE: say which can be and why others can't, and find the fastest code."""
    from polydl import report
    from polydl.commands.optimize import check_destinations
    from polydl.fused import fuse as run
    from polydl.presentation import fusion, measured, nest
    from polydl.presentation.progress import progress_bar

    quiet = json_path == STANDARD_OUTPUT
    source = source.placed(out)
    scop = source.parse()
    directory = out or Path(OUT, scop.function.name)
    check_destinations(source, directory, json_path)
    machine = target.machine()
    if not quiet:
        click.echo(nest.machine_text(machine, given=target.cache_sizes is not None))
    shown = 0 if everything else top_k
    with progress_bar(wanted=not quiet) as progress:
        result = run(
            scop,
            machine=machine,
            top_k=shown,
            ranker=ranker,
            run=not no_run,
            compiler=compiler,
            out=directory,
            records=records or True,
            fresh=fresh,
            progress=progress,
            **vars(search),
        )
    optimization = report.write_report(result.optimization, directory)
    document = report.fusion_document(optimization, result.pairs)
    if not quiet:
        click.echo(fusion.pairs_text(result.pairs))
        click.echo(nest.generation_text(optimization.generation, search.seed))
        click.echo(
            f"Picks  {len(optimization.picks)} of {len(optimization.ranking.entries)}, by {optimization.ranking.ranker}"
        )
        click.echo(f"\n{fusion.picks_text(scop, optimization.picks)}\n")
        if not no_run:
            click.echo(f"Measured\n\n{measured.measured_table(document)}\n")
        if optimization.winner is not None:
            click.echo(fusion.winner_text(scop, optimization.winner.ranked.variant, result.speedup))
            click.echo(measured.winner_text(document))
        click.echo(measured.files_text(document))
        click.echo(measured.seconds_text(document["seconds"]))
    if json_path is not None:
        write_document(document, json_path)
    failures = measured.failures_text(document, directory)
    if failures:
        click.echo(failures, err=True)
    if no_run or optimization.winner is not None:
        return 0
    return fail("no candidate passed" if optimization.tried else "there is no legal variant to run")
