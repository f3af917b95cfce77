"""The command ``polydl``. Everything it needs is imported by the command that needs it."""

from __future__ import annotations

import errno
import functools
import gc
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from polydl.commands import output
from polydl.commands.bench import bench
from polydl.commands.calibrate import calibrate
from polydl.commands.collect import collect
from polydl.commands.fuse import fuse
from polydl.commands.fuzz import fuzz
from polydl.commands.learning import evaluate, train
from polydl.commands.library import library
from polydl.commands.model import model
from polydl.commands.optimize import optimize
from polydl.commands.output import FAILURE, STANDARD_OUTPUT, fail, show
from polydl.commands.records import records
from polydl.commands.report import report
from polydl.commands.tune import tune
from polydl.commands.variant import chosen_variant, variant_option
from polydl.commands.worker import worker
from polydl.errors import PolydlError
from polydl.interruption import INTERRUPTION
from polydl.presentation.options import (
    Search,
    Source,
    Target,
    debug_option,
    json_option,
    ranker_option,
    search_options,
    source_options,
    target_options,
    top_k_options,
    verbose_option,
)

_USER_MISTAKE, _INTERRUPTED = 2, 130
_STANDARD_ERROR = 2
# Every other file that a command writes has its own message.
_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
# A command allocates very many small objects that live until it ends, and hardly any cycles: to look for these as often
# as Python does by default, after every 700 objects, takes a tenth of its time.
_OBJECTS_BETWEEN_COLLECTIONS = 100_000
# Calls within calls, of which a walk over a long sum takes several for each of its terms.
_FRAMES = 10_000


class PolydlCommands(click.Group):
    """Turns whatever ends a command into one message on standard error and an exit status."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        arguments = list(sys.argv[1:] if args is None else args)
        if standalone_mode:
            gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
            sys.setrecursionlimit(_FRAMES)
            _open_closed_streams()
            # Python has none if it was closed when Python started.
            if sys.stdout is None:
                sys.exit(fail("standard output is closed\n  remedy: send it somewhere: > /dev/null", FAILURE))
        run = functools.partial(super().main, arguments, prog_name, complete_var, standalone_mode=False, **extra)
        status = _status_of(run, debug="--debug" in arguments)
        if standalone_mode:
            sys.exit(status)
        return status


def _open_closed_streams() -> None:
    """Open whichever of the standard streams is closed, so that no other file gets its number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STANDARD_ERROR:
        os.set_inheritable(number, True)
    os.close(number)


def _status_of(run: Callable[[], Any], debug: bool) -> int:
    for stream in (sys.stdout, sys.stderr):
        # A terminal that can't show a character gets another one, and no error.
        with suppress(AttributeError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        status = run()
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except OSError as error:
        if debug:
            raise
        # Python flushes once more at its end, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if INTERRUPTION.exit_status is not None:
            return INTERRUPTION.exit_status  # the terminal is gone
        if isinstance(error, BrokenPipeError):
            return FAILURE
        if error.filename is None and error.errno in _OUTPUT_ERRORS:
            return fail(
                f"standard output can't be written: {error.strerror}\n"
                "  remedy: free space where it goes, or send it somewhere else",
                FAILURE,
            )
        return fail(f"the system refuses: {error}\n  remedy: --debug shows where", FAILURE)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return _USER_MISTAKE
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx is not None else "polydl"
        return fail(f"{error.format_message()}\n  remedy: see {command} --help", _USER_MISTAKE)
    except click.ClickException as error:
        return fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        with suppress(OSError):  # the terminal may be gone
            click.echo(f"polydl: {INTERRUPTION.text}", err=True)
        return INTERRUPTION.exit_status or _INTERRUPTED
    except PolydlError as error:
        if debug:
            raise
        return fail(str(error), error.exit_status)
    except Exception as error:
        if debug:
            raise
        return fail(
            f"a fault in polydl itself: {type(error).__name__}: {error}\n"
            "  remedy: run it again with --debug, and report what that prints together with the C file",
            FAILURE,
        )


@click.group(
    cls=PolydlCommands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="polydl optimize FILE does the whole job. polydl COMMAND --help shows the options of each.",
)
@click.version_option(package_name="polydl", prog_name="polydl")
@debug_option
def main() -> None:
    """Make a loop nest written in C fast: prove, rank, measure and emit its variants."""


main.add_command(optimize)
main.add_command(tune)
main.add_command(bench)
main.add_command(fuse)
main.add_command(library)
main.add_command(model)
main.add_command(fuzz)
main.add_command(collect)
main.add_command(train)
main.add_command(evaluate)
main.add_command(records)
main.add_command(report)
main.add_command(calibrate)
main.add_command(worker)


@main.command(short_help="Show what was read: loops, statements, arrays, accesses.")
@source_options
@json_option
@debug_option
def parse(source: Source, json_path: str | None) -> int:
    """Show what was read: loops, statements, arrays, accesses, schedule."""
    from polydl import report
    from polydl.presentation import nest

    scop = source.parse()
    return show(json_path, report.parse_document(scop), f"{nest.scop_text(scop)}\n{nest.accesses_text(scop)}")


@main.command()
@source_options
@target_options
@search_options
@click.option("--show", metavar="ID|FILE", help="Print the C of one of them, or of the steps in a JSON file.")
@verbose_option
@json_option
@debug_option
def variants(
    source: Source, target: Target, search: Search, show: str | None, verbose: bool, json_path: str | None
) -> int:
    """List the legal variants of a loop nest."""
    from polydl import pipeline, report
    from polydl.presentation import nest, results

    scop = source.parse()
    machine = target.machine()
    space = search.space(scop, machine)
    if show is not None:
        named = chosen_variant(show, lambda: search.generate(space))
        click.echo(pipeline.kernel(space.apply(named), machine.vector_bytes).c, nl=False)
        return 0
    generation = search.generate(space)
    size = pipeline.estimated_size(space, seed=search.seed) if generation.sampled else None
    text = "\n".join(
        [
            nest.nests_text(space, verbose=verbose),
            nest.generation_text(generation, search.seed, size),
            "",
            results.variants_table([space.apply(variant) for variant in generation.variants]),
        ]
    )
    return output.show(json_path, report.variants_document(space, generation, machine, size), text)


@main.command(short_help="Order the variants, the most promising first, with reasons.")
@source_options
@target_options
@search_options
@ranker_option
@top_k_options(20, "Show")
@click.option("--explain", is_flag=True, help="Say in words why the first is placed before the second.")
@json_option
@debug_option
def rank(
    source: Source,
    target: Target,
    search: Search,
    ranker: str,
    top_k: int,
    everything: bool,
    explain: bool,
    json_path: str | None,
) -> int:
    """Order the variants of a loop nest, the most promising first, with the reason for each place."""
    from polydl import pipeline, report
    from polydl.presentation import results
    from polydl.presentation.progress import progress_bar

    scop = source.parse()
    machine = target.machine()
    space = search.space(scop, machine)
    generation = search.generate(space)
    with progress_bar(wanted=json_path != STANDARD_OUTPUT) as progress:
        ranking = pipeline.rank(
            scop,
            generation.variants,
            machine=machine,
            ranker=ranker,
            progress=progress,
            **search.options,
        )
    text = results.ranking_text(ranking, space.apply, 0 if everything else top_k, machine)
    explanation: list[str] = []
    if explain and len(ranking.entries) > 1:
        first, second = (entry.variant for entry in ranking.entries[:2])
        words = pipeline.explain(scop, first, second, machine=machine, **search.options)
        text += f"\n\n{results.explanation_text(first, second, words)}"
        explanation = list(words)

    def document() -> dict[str, Any]:
        shown = report.ranking_document(scop, ranking, machine)
        return {**shown, "explanation": explanation} if explanation else shown

    return show(json_path, document, text)


@main.command(short_help="Show a variant's working sets, and the caches that hold them.")
@source_options
@target_options
@search_options
@variant_option
@click.option(
    "--plot", metavar="PATH", help="Draw the working sets of the top variants against the caches (.svg, .png)."
)
@click.option("--line-size", type=click.IntRange(min=1), metavar="BYTES", help="Count whole cache lines of this size.")
@click.option("--inclusive", is_flag=True, help="Each cache holds what the smaller ones hold as well.")
@click.option("--shared", is_flag=True, help="A cache that threads share holds what all of them have in use.")
@click.option("--top-k", type=click.IntRange(min=1), default=20, show_default=True, help="How many variants to draw.")
@click.option("--ranker", default="dnn", show_default=True, metavar="NAME", help="Which variants are the top.")
@json_option
@debug_option
def analyze(
    source: Source,
    target: Target,
    search: Search,
    variant: str | None,
    plot: str | None,
    line_size: int | None,
    inclusive: bool,
    shared: bool,
    top_k: int,
    ranker: str,
    json_path: str | None,
) -> int:
    """Show the working sets of one variant of a loop nest, and the caches that hold them."""
    from polydl import pipeline, report
    from polydl.presentation import analysis, results

    scop = source.parse()
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
        analysis.draw_working_sets(Path(plot), ranking.entries[:top_k], machine)
        text += f"\n\nDrawn  {plot}"
    return show(json_path, report.analysis_document(applied, working_sets, machine), text)


@main.command()
@json_option
@debug_option
def doctor(json_path: str | None) -> int:
    """Test every component that polydl uses. Ends with status 1 if the main job can't run."""
    from polydl import doctor, report
    from polydl.presentation import results

    components = doctor.examine()
    ready = doctor.ready(components)
    show(json_path, report.doctor_document(components, ready), results.components_text(components))
    return 0 if ready else FAILURE
