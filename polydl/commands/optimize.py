"""``polydl optimize``: the whole job."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polydl.commands.output import STANDARD_OUTPUT, fail, write_document
from polydl.commands.variant import chosen_variant, is_file_of_steps, variant_from_file, variant_option
from polydl.errors import OptionError
from polydl.presentation.options import OUT, Search, Source, Target, cold_option, optimization_options

if TYPE_CHECKING:
    from polydl.machine import Machine
    from polydl.optimization import Optimization
    from polydl.records.answers import Answer


@click.command(short_help="Find the fastest variant, check it, and write C and a library.")
@optimization_options(
    click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Give up on a candidate that takes longer for one run.",
    ),
    cold_option,
    variant_option,
    click.option("--no-fusion", is_flag=True, help="Leave each operator of the file a nest of its own."),
)
def optimize(
    source: Source,
    target: Target,
    search: Search,
    ranker: str,
    top_k: int,
    everything: bool,
    no_run: bool,
    out: Path | None,
    timeout: float,
    compiler: str | None,
    cold: bool,
    variant: str | None,
    no_fusion: bool,
    fresh: bool,
    records: Path | None,
    json_path: str | None,
) -> int:
    """Find the fastest variant of a loop nest, check it, and write it as C and as a library."""
    from polydl.execute.toolchain import found_compilers
    from polydl.presentation.nest import machine_text
    from polydl.records import answers
    from polydl.records.store import default_directory

    started = time.perf_counter()
    say = _silent if json_path == STANDARD_OUTPUT else click.echo
    text = source.text()
    directory = records or default_directory()
    machine: Machine | None = None
    digest: str | None = None
    if not no_run:
        machine = target.machine()
        shown = {"top_k": top_k, "all": everything, "ranker": ranker, "timeout": timeout, "cold": cold}
        digest = answers.question(
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
            },
        )
        answer = answers.find(directory, digest) if digest is not None and not fresh else None
        if answer is not None:
            function = answer.document["input"]["function"]
            into = out or Path(OUT, function)
            check_destinations(source, into, json_path)
            say(machine_text(machine, given=target.cache_sizes is not None))
            return _remembered(answer, source, into, started, json_path)
    return _optimized(
        source, target, search, machine, started, directory, digest,
        run={
            "ranker": ranker, "top_k": 0 if everything else top_k, "run": not no_run, "compiler": compiler,
            "timeout_seconds": timeout, "cold": cold, "fresh": fresh, "fuse": not no_fusion,
        },
        variant=variant, out=out, json_path=json_path,
    )  # fmt: skip


def _optimized(
    source: Source,
    target: Target,
    search: Search,
    machine: Machine | None,
    started: float,
    records: Path,
    digest: str | None,
    run: Mapping[str, Any],
    variant: str | None,
    out: Path | None,
    json_path: str | None,
) -> int:
    """Do it, and keep it as the answer to a question of that digest."""
    from polydl import optimization, report
    from polydl.execute.toolchain import Toolchain
    from polydl.presentation import measured, nest, results
    from polydl.presentation.progress import progress_bar
    from polydl.records import answers

    say = _silent if json_path == STANDARD_OUTPUT else click.echo
    if run["run"]:
        Toolchain.find(run["compiler"])
    name = source.workload
    source = source.placed(out)
    scop = source.parse()
    directory = out or Path(OUT, scop.function.name)
    check_destinations(source, directory, json_path)
    parsed = time.perf_counter()
    machine = machine or target.machine()
    say(nest.machine_text(machine, given=target.cache_sizes is not None))
    say(nest.scop_text(scop))
    detected = time.perf_counter()
    space = search.space(scop, machine, fuse=run["fuse"])
    matched = time.perf_counter()
    say(nest.nests_text(space))
    chosen = () if variant is None else (chosen_variant(variant, lambda: search.generate(space)),)
    with progress_bar(wanted=json_path != STANDARD_OUTPUT) as progress:
        result = optimization.optimize(
            scop,
            machine=machine,
            out=directory,
            records=records,
            workload=name,
            space=space,
            variants=chosen,
            progress=progress,
            **run,
            **vars(search),
        )
    result = _with_earlier(result, {"parse": parsed - started, "variants": matched - detected})
    result = report.write_report(result, directory)
    document = report.optimization_document(result)
    say(nest.generation_text(result.generation, search.seed))
    say(f"Picks  {len(result.picks)} of {len(result.ranking.entries)}, ranked by {result.ranking.ranker}")
    say(f"\n{results.structure_table(result.picks, result.applied, machine)}\n")
    if run["run"]:
        say(f"Measured\n\n{measured.measured_table(document)}\n")
    if said := measured.records_text(document, asked_before=False):
        say(said)
    if result.winner is not None:
        say(measured.winner_text(document))
    say(measured.files_text(document))
    say(measured.seconds_text(document["seconds"]))
    if json_path is not None:
        write_document(document, json_path)
    failures = measured.failures_text(document, directory)
    if failures:
        click.echo(failures, err=True)
    if digest is not None and result.winner is not None and not failures:
        answers.keep(records, digest, answers.Answer(document, _winner_files(result)))
    if not run["run"] or result.winner is not None:
        return 0
    return fail("no candidate passed" if result.tried else "there is no legal variant to run")


def _remembered(answer: Answer, source: Source, directory: Path, started: float, json_path: str | None) -> int:
    """What was found when the same was asked before, with its files written anew."""
    from polydl.files import write_atomically
    from polydl.presentation import measured
    from polydl.records import answers
    from polydl.report import REPORT_FILE, to_text

    say = _silent if json_path == STANDARD_OUTPUT else click.echo
    files = {kind: str(path) for kind, path in answers.restore(answer, directory).items()}
    report = directory / REPORT_FILE
    seconds = dict.fromkeys(answer.document["seconds"], None) | {"total": time.perf_counter() - started}
    document = {
        **answer.document,
        "input": {**answer.document["input"], "file": source.placed(directory).file},
        "records": {**answer.document["records"], "answered": True},
        "files": {**files, "report": str(report)},
        "seconds": seconds,
    }
    write_atomically(report, to_text(document))
    given = document["input"]
    defines = "".join(f" -D {name}={value}" for name, value in given["defines"].items())
    say(f"Nest  {given['file']}: function {given['function']}{defines} (nest {given['digest']})")
    say(f"Measured\n\n{measured.measured_table(document)}\n")
    say(measured.records_text(document, asked_before=True))
    say(measured.winner_text(document))
    say(measured.files_text(document))
    say(measured.seconds_text(seconds))
    if json_path is not None:
        write_document(document, json_path)
    return 0


def _steps(path: str) -> list[dict[str, Any]]:
    return variant_from_file(path).to_json()


def _winner_files(result: Optimization) -> dict[str, Path]:
    return {kind: path for kind, path in result.files.items() if kind != "report"}


def _silent(text: str) -> None:
    """In place of ``click.echo`` where standard output belongs to a document."""


def check_destinations(source: Source, directory: Path, json_path: str | None) -> None:
    """Before anything long is done: what is written must not replace the source, and must find its place."""
    if source.file is not None:
        file = Path(source.file).resolve()
        inside = directory.resolve() == file.parent and "_polydl" in file.stem
        if inside or (json_path is not None and Path(json_path).resolve() == file):
            raise OptionError(
                "the results would be written over the source",
                file=source.file,
                remedy="choose another --out or --json",
            )
    there = next(folder for folder in (directory, *directory.absolute().parents) if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise OptionError(f"no file can be written in {there}", construct=f"--out {directory}", remedy="name another")


def _with_earlier(result: Optimization, seconds: Mapping[str, float]) -> Optimization:
    """The result with the time of stages that ran before ``optimize`` added to its own."""
    merged = dict(result.seconds)
    for stage, earlier in seconds.items():
        merged[stage] = merged.get(stage, 0.0) + earlier
        merged["total"] += earlier
    return replace(result, seconds=merged)
