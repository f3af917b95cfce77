"""``polydl optimize``: the whole job."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polydl.commands.destinations import check_destinations
from polydl.commands.interrupted import end_if_interrupted
from polydl.commands.meanwhile import importing, meanwhile
from polydl.commands.output import fail, write_document
from polydl.commands.reading import read, warn_of_loops
from polydl.commands.remembered import remembered, show_remembered
from polydl.commands.report import write_page
from polydl.commands.storing import (
    answer_to,
    keep_answer,
    warn_of_directory,
    warn_of_odd_answer,
    warn_of_store,
)
from polydl.commands.variant import (
    chosen_variant,
    is_file_of_steps,
    require_no_choice,
    variant_from_file,
    variant_option,
)
from polydl.errors import OptionError
from polydl.ir.cold import Cold
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.numbers import FiniteRange
from polydl.presentation.option_values import OUT, Detail, SearchOptions, Source, Target
from polydl.presentation.options import (
    cold_option,
    march_option,
    name_option,
    optimization_options,
    prefix_option,
    require_alone,
    require_own_records,
    search_limit,
    shard_option,
    strategy_option,
)
from polydl.system.files import opened
from polydl.system.interruption import INTERRUPTION

if TYPE_CHECKING:
    from polydl.ir.variant import Variant
    from polydl.machine import Machine
    from polydl.optimization.budget import Budget
    from polydl.optimization.optimized import Optimization
    from polydl.optimization.shards import Shard
    from polydl.records.answers import Answer
    from polydl.variants.variant_space import VariantSpace


@dataclass(frozen=True)
class _Job:
    """What is to be optimized, and how."""

    source: Source
    target: Target
    search: SearchOptions
    #: Options of ``polydl.optimize``, by name.
    options: Mapping[str, Any]
    #: A function of the source that fills the arrays; empty without one.
    init: str
    #: A file of arrays to measure with.
    inputs: Path | None
    #: An id, or a file of steps, of the one variant that is asked for.
    variant: str | None

    def folder(self, out: Path | None, function: str) -> Path:
        """Where the files go unless the user names another place; parts of a whole don't write to the same."""
        shard = self.options["shard"]
        return out or Path(OUT, function if shard is None else f"{function}-{shard.number}-of-{shard.count}")


@dataclass(frozen=True)
class _Output:
    """Where the answer goes."""

    #: The folder of its files; None for one named after the function.
    out: Path | None
    json_path: str | None
    html_path: Path | None
    #: What is printed.
    detail: Detail


@click.command(cls=CheckedCommand)
@optimization_options(
    click.option(
        "--timeout",
        type=FiniteRange(min=0, min_open=True),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Give up on a candidate that takes longer for one run.",
    ),
    cold_option,
    click.option(
        "--cold-constants",
        is_flag=True,
        help="Time with constants (--constant) flushed from the caches before each invocation.",
    ),
    variant_option,
    click.option(
        "--budget",
        metavar="BUDGET",
        help="Go on beyond the first picks: for 30s, for 200runs, or while more than 5% are to be gained.",
    ),
    strategy_option,
    shard_option,
    name_option,
    prefix_option,
    march_option,
    click.option(
        "--init", default="", metavar="FUNCTION", help="A function of FILE that fills the arrays before they are used."
    ),
    click.option(
        "--inputs",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Arrays to measure with, by parameter: an NPZ file of NumPy. Others hold random data.",
    ),
    click.option("--no-fusion", is_flag=True, help="Leave each operator of the file a nest of its own."),
    click.option(
        "--html",
        "html_path",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="PATH",
        help="Write an HTML page with figures there, as `polydl report` makes it.",
    ),
)
def optimize(
    source: Source,
    target: Target,
    search: SearchOptions,
    ranker: str,
    top_k: int,
    everything: bool,
    no_run: bool,
    out: Path | None,
    timeout: float,
    compiler: str | None,
    cold: bool,
    cold_constants: bool,
    variant: str | None,
    budget: str | None,
    strategy: str,
    shard: Shard | None,
    name: str,
    prefix: str,
    march: str,
    init: str,
    inputs: Path | None,
    no_fusion: bool,
    no_calibration: bool,
    fresh: bool,
    records: Path | None,
    detail: Detail,
    json_path: str | None,
    html_path: Path | None,
) -> int:
    """Find the fastest variant of a loop nest, check it, and write it as C and as a library."""
    from polydl.execute.toolchain import found_compilers
    from polydl.records.questions import question
    from polydl.records.store import default_directory

    started = time.perf_counter()
    if variant is not None:
        require_alone("--variant", "top_k", "everything", "ranker", "budget", "strategy")
        require_no_choice(variant, "--variant", "no_fusion")
    limit = search_limit(budget, strategy)
    require_own_records(None if no_run else shard, records)
    if html_path is not None:
        from polydl.page.render import require

        require()
    if cold and cold_constants:
        raise OptionError(
            "--cold flushes all arrays, constants included", remedy="leave out --cold or --cold-constants"
        )
    flushed: Cold = cold or ("constants" if cold_constants else False)
    output = _Output(out, json_path, html_path, detail.quieter(json_path))
    job = _Job(
        source, target, search,
        options={
            "ranker": ranker, "top_k": None if everything else top_k, "run": not no_run, "compiler": compiler,
            "timeout_seconds": timeout, "cold": flushed, "fresh": fresh, "fuse": not no_fusion,
            "calibrate": not no_calibration, "budget": limit, "strategy": strategy,
            "name": name, "prefix": prefix, "march": march, "shard": shard,
        },
        init=init, inputs=inputs, variant=variant,
    )  # fmt: skip
    text = source.text()
    # Also where nothing runs: it is read then, too, and a pipe would be waited for.
    data = None if inputs is None else _digest(inputs)
    directory = records or default_directory()
    machine: Machine | None = None
    digest: str | None = None
    if not no_run:
        machine = target.machine()
        shown = {"top_k": top_k, "all": everything, "ranker": ranker, "timeout": timeout, "cold": flushed}
        shown |= {"budget": budget, "strategy": strategy, "name": name, "prefix": prefix, "march": march}
        shown |= {"shard": None if shard is None else str(shard)}
        digest = question(
            text,
            directory=source.folder,
            include_directories=source.include,
            machine=machine,
            compilers=found_compilers(compiler),
            options={
                **asdict(search),
                **shown,
                "fuse": not no_fusion,
                "variant": variant if variant is None or not is_file_of_steps(variant) else _steps(variant),
                "function": source.function,
                "define": source.define,
                "constant": source.constant,
                "init": init,
                "inputs": data,
            },
        )
        if digest is not None and not fresh:
            answer, replaceable = answer_to(directory, digest)
            digest = digest if replaceable else None
            if answer is not None:
                status = _answered(job, output, answer, machine, started)
                if status is not None:
                    return status
                warn_of_odd_answer(directory, "its document lacks something")
        warn_of_directory(directory)
    return _optimized(job, output, machine, started, directory, digest)


def _answered(job: _Job, output: _Output, answer: Answer, machine: Machine, started: float) -> int | None:
    """Show what the same question was answered with; returns the exit status, or None for an answer of no use."""
    from polydl.presentation.nest import machine_text

    into = job.folder(output.out, answer.function)
    check_destinations(job.source, into, output.json_path, output.html_path)
    earlier = remembered(answer, job.source, into, started, output.detail.verbose)
    if earlier is None:
        return None
    nest = answer.document["input"]
    warn_of_loops(nest["file"], nest.get("left_out", ()))
    if output.detail.verbose:
        click.echo(machine_text(machine, given=job.target.cache_sizes is not None))
    return show_remembered(earlier, answer, into, output.detail, output.json_path, output.html_path)


def _optimized(
    job: _Job, output: _Output, machine: Machine | None, started: float, records: Path, digest: str | None
) -> int:
    """Do it, and keep it as the answer to a question of that digest, if there is one; returns the exit status.

    ``machine`` is None if it is still to be detected; ``started`` is the reading of ``time.perf_counter`` when the
    command began.
    """
    from polydl import registry
    from polydl.emitted_names import Naming
    from polydl.execute.toolchain import Toolchain, examine_compilers
    from polydl.reading import DEFAULT_FRONTEND

    options, search, detail = job.options, job.search, output.detail
    if options["run"]:
        Toolchain.find(options["compiler"])
    source = job.source.placed(output.out)
    # First what starts the child processes that read the file, since the rest is imported while they do.
    registry.load("frontends", DEFAULT_FRONTEND)
    with meanwhile(partial(_load, search.microkernel), *([examine_compilers] if options["run"] else [])):
        scop = read(source, job.init)

    from polydl.emission.target import TargetProcessors
    from polydl.frontend.data import with_data
    from polydl.optimization.optimize import optimize
    from polydl.optimization.optimized import OptimizationInterrupted
    from polydl.optimization.unmeasured import none_passed
    from polydl.presentation import nest
    from polydl.presentation.progress import progress_bar
    from polydl.report import documents

    explain = click.echo if detail.verbose else _silent
    scop = with_data(scop, init=job.init, inputs=job.inputs)
    directory = job.folder(output.out, Naming(options["name"], options["prefix"]).of(scop.function.name))
    check_destinations(source, directory, output.json_path, output.html_path)
    parsed = time.perf_counter()
    machine = machine or job.target.machine()
    if options["march"]:
        processors = TargetProcessors.find(options["march"], machine, options["compiler"])
        machine, search = processors.machine, replace(search, microkernel=processors.microkernel(search.microkernel))
    explain(nest.machine_text(machine, given=job.target.cache_sizes is not None))
    explain(nest.scop_text(scop))
    detected = time.perf_counter()
    space: VariantSpace | None = None
    # Without either, it is built while plain builds are compiled.
    if detail.verbose or job.variant is not None:
        space = search.space(scop, machine, fuse=options["fuse"])
        explain(nest.nests_text(space, verbose=True))
    matched = time.perf_counter()
    chosen: tuple[Variant, ...] = ()
    if job.variant is not None and space is not None:
        chosen = (chosen_variant(job.variant, partial(search.generate, space)),)
    limit: Budget | None = options["budget"]
    if limit is not None:
        options = {**options, "budget": replace(limit, before=time.perf_counter() - started)}
    with progress_bar(wanted=not detail.quiet) as progress:
        try:
            result = optimize(
                scop,
                machine=machine,
                out=directory,
                records=records,
                workload=job.source.workload,
                space=space,
                variants=chosen,
                progress=progress,
                **options,
                **vars(search),
            )
        except OptimizationInterrupted as interrupted:
            result = interrupted.result
        # Before anything is said to a terminal that may be gone.
        with INTERRUPTION.deferred():
            result = _with_earlier(result, {"parse": parsed - started, "variants": matched - detected})
            result = documents.write_report(result, directory)
    document = documents.optimization_document(result)
    failures = _shown(result, document, directory, search.seed, runs=options["run"], detail=detail)
    if output.json_path is not None:
        write_document(document, output.json_path)
    if output.html_path is not None:
        write_page(document, output.html_path)
    if failures:
        click.echo(failures, err=True)
    warn_of_store(result)
    end_if_interrupted(result, fresh=options["fresh"])
    if digest is not None and result.winner is not None and not failures:
        keep_answer(records, digest, document, result.files, result.library_sha256)
    if result.winner is None and result.plain is not None:
        click.echo(f"polydl: {none_passed(result.scop, [each.measurement for each in result.tried])}", err=True)
    if not options["run"] or result.winner is not None or result.files.get("c"):
        return 0
    if options["shard"] is not None and not result.picks:
        click.echo(f"polydl: there are fewer picks than shards: none is left for {options['shard']}", err=True)
        return 0
    return fail(none_passed(result.scop, [each.measurement for each in result.tried]))


def _load(microkernel: str) -> None:
    """Import what is needed once the file is read, plug-ins included: in one thread, as one needs what others load."""
    importing("polydl.optimization.optimize", "polydl.variants.build_space", "polydl.report.documents")()
    importing("polydl.codegen.translation_unit", "polydl.execute.local", "polydl.emission.emit")()
    from polydl import registry
    from polydl.pipeline import microkernels

    for name in registry.names("rewrites"):
        registry.load("rewrites", name)
    microkernels(microkernel)


def _shown(
    result: Optimization, document: dict[str, Any], directory: Path, seed: int, *, runs: bool, detail: Detail
) -> str:
    """Print a result as far as is asked for; what is left to say of candidates that failed."""
    from polydl.presentation import answer, measured, nest, results
    from polydl.presentation.calibration import first_use_text

    if result.first_use is not None and not detail.quiet:
        click.echo(first_use_text(result.first_use), err=True)
    if detail.verbose or (not runs and not detail.quiet):
        click.echo(nest.generation_text(result.generation, seed))
        click.echo(f"Picks  {len(result.picks)} of {len(result.ranking.entries)}, ranked by {result.ranking.ranker}")
        click.echo(f"\n{results.structure_table(result.picks, result.applied, result.machine)}\n")
    if not detail.quiet:
        click.echo(answer.answer_text(document, verbose=detail.verbose))
    return measured.failures_text(document, directory)


def _steps(path: str) -> list[dict[str, Any]]:
    return variant_from_file(path).to_json()


def _digest(inputs: Path) -> str:
    """Of the content of a file. Raises OptionError if it can't be read, or is a pipe or a device."""
    try:
        with opened(inputs) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        remedy = "name a file that numpy.savez wrote"
        raise OptionError(f"can't be read: {error.strerror}", file=str(inputs), remedy=remedy) from None


def _silent(text: str) -> None:
    """In place of ``click.echo`` where standard output belongs to a document."""


def _with_earlier(result: Optimization, seconds: Mapping[str, float]) -> Optimization:
    """The result with the time of stages that ran before ``optimize`` added to its own."""
    merged = dict(result.seconds)
    for stage, earlier in seconds.items():
        merged[stage] = merged.get(stage, 0.0) + earlier
        merged["total"] += earlier
    return replace(result, seconds=merged)
