"""``polydl parse``, ``variants``, ``rank`` and ``analyze``: what is known of a nest without running it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from polydl.commands import output
from polydl.commands.output import STANDARD_OUTPUT, show
from polydl.commands.reading import read
from polydl.commands.variant import chosen_variant, require_no_choice, variant_option
from polydl.errors import OptionError
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.completion import complete_files
from polydl.presentation.option_values import SearchOptions, Source, Target
from polydl.presentation.options import (
    debug_option,
    json_option,
    ranker_option,
    require_alone,
    require_beside,
    search_options,
    source_options,
    target_options,
    top_k_options,
    verbose_option,
)

# With a nest and its rewrites, they fill a screen.
_SHOWN_VARIANTS = 6


@click.command(cls=CheckedCommand)
@source_options
@json_option
@debug_option
def parse(source: Source, json_path: str | None) -> int:
    """Show what was read: loops, statements, arrays, accesses, schedule."""
    from polydl.presentation import nest
    from polydl.report import documents

    scop = read(source)
    return show(json_path, documents.parse_document(scop), f"{nest.scop_text(scop)}\n{nest.accesses_text(scop)}")


@click.command(cls=CheckedCommand)
@source_options
@target_options
@search_options
@click.option("--show", metavar="ID|FILE", help="Print the C of one of them, or of the steps in a JSON file.")
@verbose_option
@json_option
@debug_option
def variants(
    source: Source, target: Target, search: SearchOptions, show: str | None, verbose: bool, json_path: str | None
) -> int:
    """List the legal variants of a loop nest."""
    from polydl import pipeline
    from polydl.presentation import nest, results
    from polydl.report import documents
    from polydl.variants.estimate import left_out

    if show is not None and json_path is not None:
        raise OptionError(
            "--show prints C, and no document", construct=f"--json {json_path}", remedy="leave out --json or --show"
        )
    require_no_choice(show, "--show", "seed")
    scop = read(source)
    machine = target.machine()
    space = search.space(scop, machine)
    if show is not None:
        named = chosen_variant(show, lambda: search.generate(space), "--show")
        click.echo(pipeline.kernel(space.apply(named), machine.vector_bytes).c, nl=False)
        return 0
    generation = search.generate(space)
    size = left_out(space, generation, seed=search.seed)
    shown = generation.variants if verbose else generation.variants[:_SHOWN_VARIANTS]
    left = len(generation.variants) - len(shown)
    text = "\n".join(
        [
            nest.nests_text(space, verbose=verbose),
            nest.generation_text(generation, search.seed, size),
            "",
            results.variants_table([space.apply(variant) for variant in shown]),
            *([f"  ... {left} more, with -v"] if left else []),
        ]
    )
    return output.show(json_path, documents.variants_document(space, generation, machine, size), text)


@click.command(cls=CheckedCommand)
@source_options
@target_options
@search_options
@ranker_option
@top_k_options(20, "Show")
@click.option(
    "--cold-constants",
    is_flag=True,
    help="Add the time of reading constants (--constant) from memory at each call.",
)
@click.option("--explain", is_flag=True, help="Say in words why the first is placed before the second.")
@variant_option
@json_option
@debug_option
def rank(
    source: Source,
    target: Target,
    search: SearchOptions,
    ranker: str,
    top_k: int,
    everything: bool,
    cold_constants: bool,
    explain: bool,
    variant: str | None,
    json_path: str | None,
) -> int:
    """Order the variants of a loop nest, the most promising first, with the reason for each place.

    With --variant, show instead what the cost model expects of that one, nest by nest.
    """
    from polydl import pipeline
    from polydl.presentation import results
    from polydl.presentation.progress import progress_bar
    from polydl.report import documents

    if variant is not None:
        require_alone("--variant", "top_k", "everything", "explain", "ranker", "cold_constants")
        require_no_choice(variant, "--variant", "seed")
    scop = read(source)
    machine = target.machine()
    space = search.space(scop, machine)
    if variant is not None:
        applied = space.apply(chosen_variant(variant, lambda: search.generate(space))).prove()
        times = pipeline.predict(scop, applied.variant, machine=machine, **search.options)
        text = results.prediction_text(applied, times, machine)
        return show(json_path, documents.prediction_document(applied, times, machine), text)
    generation = search.generate(space)
    with progress_bar(wanted=json_path != STANDARD_OUTPUT) as progress:
        ranking = pipeline.rank(
            scop,
            generation.variants,
            machine=machine,
            ranker=ranker,
            cold_constants=cold_constants,
            progress=progress,
            **search.options,
        )
    text = results.ranking_text(ranking, space.apply, 0 if everything else top_k, machine)
    explanation: list[str] = []
    if explain and len(ranking.entries) > 1:
        first, second = (entry.variant for entry in ranking.entries[:2])
        words = pipeline.explain(scop, first, second, machine=machine, cold_constants=cold_constants, **search.options)
        text += f"\n\n{results.explanation_text(first, second, words)}"
        explanation = list(words)

    def document() -> dict[str, Any]:
        shown = documents.ranking_document(scop, ranking, machine)
        return {**shown, "explanation": explanation} if explanation else shown

    return show(json_path, document, text)


def _figure(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path | None:
    """Before anything is read: a name that says what the figure is written as. Raises OptionError."""
    if value is not None:
        from polydl.presentation.analysis import figure_format

        figure_format(value)
    return value


@click.command(cls=CheckedCommand)
@source_options
@target_options
@search_options
@variant_option
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    callback=_figure,
    shell_complete=complete_files,
    help="Draw the working sets of the top variants against the caches (.svg, .png, .pdf).",
)
@click.option("--line-size", type=click.IntRange(min=1), metavar="BYTES", help="Count whole cache lines of this size.")
@click.option("--inclusive", is_flag=True, help="Each cache holds what the smaller ones hold as well.")
@click.option("--shared", is_flag=True, help="A cache that threads share holds what all of them have in use.")
@click.option("--top-k", type=click.IntRange(min=1), default=20, show_default=True, help="How many variants to draw.")
@ranker_option
@json_option
@debug_option
def analyze(
    source: Source,
    target: Target,
    search: SearchOptions,
    variant: str | None,
    plot: Path | None,
    line_size: int | None,
    inclusive: bool,
    shared: bool,
    top_k: int,
    ranker: str,
    json_path: str | None,
) -> int:
    """Show the working sets of one variant of a loop nest, and the caches that hold them."""
    from polydl import pipeline
    from polydl.presentation import analysis, results
    from polydl.report import documents

    if plot is None:
        require_beside("--plot", "top_k", "ranker")
        require_no_choice(variant, "--variant", "seed")
    scop = read(source)
    machine = target.machine()
    space = search.space(scop, machine)
    generation = search.generate(space)
    named = generation.variants[0] if variant is None else chosen_variant(variant, lambda: generation)
    applied = space.apply(named).prove()
    working_sets = pipeline.analyze(applied, machine, line_bytes=line_size, inclusive=inclusive, shared=shared)
    table = results.variants_table([applied])
    text = f"{table}\n\n{analysis.dependences_text(*applied.executed, working_sets, machine)}"
    if plot is not None:
        ranking = pipeline.rank(
            scop,
            generation.variants,
            machine=machine,
            ranker=ranker,
            **search.options,
        )
        analysis.draw_working_sets(plot, ranking.entries[:top_k], machine)
        text += f"\n\nDrawn  {plot}"
    return show(json_path, documents.analysis_document(applied, working_sets, machine), text)
