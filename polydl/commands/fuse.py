"""``polydl fuse``: what can be fused and what can't, and the fastest code for the whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from polydl.commands.destinations import check_destinations
from polydl.commands.interrupted import end_if_interrupted
from polydl.commands.output import fail, write_document
from polydl.commands.reading import read
from polydl.commands.storing import warn_of_directory, warn_of_store
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.option_values import OUT, Detail, SearchOptions, Source, Target
from polydl.presentation.options import march_option, name_option, optimization_options, prefix_option
from polydl.system.interruption import INTERRUPTION

if TYPE_CHECKING:
    from polydl.ir.scop import Scop
    from polydl.optimization.fused import FusionResult
    from polydl.optimization.optimized import Optimization
    from polydl.report.results import Document


@click.command(cls=CheckedCommand)
@optimization_options(name_option, prefix_option, march_option)
def fuse(
    source: Source,
    target: Target,
    search: SearchOptions,
    ranker: str,
    top_k: int,
    everything: bool,
    no_run: bool,
    out: Path | None,
    compiler: str | None,
    name: str,
    prefix: str,
    march: str,
    no_calibration: bool,
    fresh: bool,
    records: Path | None,
    detail: Detail,
    json_path: str | None,
) -> int:
    """Fuse the operators of FILE: say which can be and why others can't, and find the fastest code."""
    from polydl.emitted_names import Naming
    from polydl.optimization.fused import FusionResult
    from polydl.optimization.fused import fuse as run
    from polydl.optimization.optimized import OptimizationInterrupted
    from polydl.optimization.unmeasured import none_passed
    from polydl.pipeline import fusion_pairs
    from polydl.presentation import measured, nest
    from polydl.presentation.calibration import first_use_text
    from polydl.presentation.progress import progress_bar
    from polydl.records.store import default_directory
    from polydl.report import documents

    detail = detail.quieter(json_path)
    source = source.placed(out)
    scop = read(source)
    directory = out or Path(OUT, Naming(name, prefix).of(scop.function.name))
    check_destinations(source, directory, json_path)
    machine = target.machine()
    if detail.verbose:
        click.echo(nest.machine_text(machine, given=target.cache_sizes is not None))
    shown = None if everything else top_k
    if not no_run:
        warn_of_directory(records or default_directory())
    with progress_bar(wanted=not detail.quiet) as progress:
        try:
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
                name=name,
                prefix=prefix,
                march=march,
                calibrate=not no_calibration,
                progress=progress,
                **vars(search),
            )
        except OptimizationInterrupted as interrupted:
            result = FusionResult(
                fusion_pairs(scop, threads=machine.threads, numerics=search.numerics), interrupted.result
            )
        # Before anything is said to a terminal that may be gone.
        with INTERRUPTION.deferred():
            optimization = documents.write_report(result.optimization, directory)
    document = documents.fusion_document(optimization, result.pairs)
    if optimization.first_use is not None and not detail.quiet:
        click.echo(first_use_text(optimization.first_use), err=True)
    if not detail.quiet:
        click.echo(_text(scop, result, optimization, document, search.seed, detail.verbose))
    warn_of_store(optimization)
    if json_path is not None:
        write_document(document, json_path)
    failures = measured.failures_text(document, directory)
    if failures:
        click.echo(failures, err=True)
    end_if_interrupted(optimization, fresh=fresh)
    if optimization.winner is None and optimization.plain is not None:
        click.echo(f"polydl: {none_passed(scop, [each.measurement for each in optimization.tried])}", err=True)
    if no_run or optimization.winner is not None or optimization.files.get("c"):
        return 0
    return fail(none_passed(scop, [each.measurement for each in optimization.tried]))


def _text(
    scop: Scop, result: FusionResult, optimization: Optimization, document: Document, seed: int, verbose: bool
) -> str:
    """What is shown of a run."""
    from polydl.presentation import answer, fusion, nest

    winner = optimization.winner
    picks = [
        nest.generation_text(optimization.generation, seed),
        f"Picks  {len(optimization.picks)} of {len(optimization.ranking.entries)}, by {optimization.ranking.ranker}",
        f"\n{fusion.picks_text(scop, optimization.picks)}\n",
    ]
    fused: list[str] = []
    if winner is not None:
        fused = fusion.fused_lines(
            scop,
            winner.ranked.variant,
            result.speedup,
            result.pairs,
            emitted=optimization.plain is None,
            verbose=verbose,
        )
    pairs = fusion.pairs_text(result.pairs, verbose=verbose)
    shown = answer.answer_text(document, verbose=verbose, fused=fused)
    return "\n".join([pairs, *picks, shown] if verbose or winner is None else [shown])
