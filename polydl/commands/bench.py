"""``polydl bench``: polydl's best picks against other libraries and compilers, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polydl.arguments import MOST_SEED
from polydl.bench.polybench import DATASETS, FOLDER
from polydl.commands.output import FAILURE, STANDARD_OUTPUT, write_document
from polydl.commands.storing import warn_of_directory
from polydl.errors import OptionError
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.completion import complete_suites, complete_workloads, complete_workloads_and_files
from polydl.presentation.numbers import FiniteRange
from polydl.presentation.option_values import OUT, macros_of
from polydl.presentation.options import (
    LAYOUTS,
    PADDINGS,
    WEIGHTS,
    cold_option,
    debug_option,
    include_option,
    json_option,
    quiet_option,
    records_option,
    require_only,
    require_own_records,
    sandbox_option,
    shard_option,
)

if TYPE_CHECKING:
    from rich.console import Console

    from polydl.bench.driver import BenchSettings
    from polydl.bench.polybench import SuiteProgram
    from polydl.bench.ratios import Document
    from polydl.optimization.shards import Shard


@click.command(cls=CheckedCommand)
@click.argument(
    "arguments", nargs=-1, metavar="[FILE|WORKLOAD]...", type=click.Path(path_type=Path),
    shell_complete=complete_workloads_and_files,
)  # fmt: skip
@click.option("--function", metavar="NAME", help="The function whose nest is meant, where a C file has several.")
@click.option(
    "-D", "--define", "definitions", metavar="NAME=VALUE", multiple=True,
    help="A macro of the C files, or the value of an integer parameter of their functions. May be repeated.",
)  # fmt: skip
@include_option
@click.option("--init", default="", metavar="FUNCTION", help="A function of the C file that fills the arrays.")
@click.option(
    "--suite",
    "suite_names",
    multiple=True,
    shell_complete=complete_suites,
    metavar="NAME",
    help="A suite (resnet, polybench, …) or a CSV of sizes.",
)
@click.option(
    "--workload", "names", multiple=True, metavar="NAME", shell_complete=complete_workloads,
    help="Such as resnet_03, or conv_3x64x9x9x3x3s1p1.",
)  # fmt: skip
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N workloads.")
@click.option("--peers", metavar="NAMES", help="Peers, with commas (all that know the workloads).")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, metavar="N")
@click.option("--images", type=click.IntRange(min=1), default=1, show_default=True, metavar="N")
@click.option("--layout", type=click.Choice(LAYOUTS), help="Of all, instead of what suits each (products: row-major).")
@click.option("--padding", type=click.Choice(PADDINGS), help="Whether the nests go over rows of padding.")
@click.option("--dataset", type=click.Choice(DATASETS), help="Of PolyBench's programs (LARGE).")
@click.option(
    "--polybench", type=click.Path(path_type=Path, file_okay=False), default=FOLDER, show_default=True, metavar="DIR",
    help="Where PolyBench is.",
)  # fmt: skip
@click.option(
    "--weights", type=click.Choice(WEIGHTS),
    help="When weights are packed and transformed, in polydl as in peers (polydl: in each call, peers: beforehand).",
)  # fmt: skip
@click.option("--accumulate", is_flag=True, help="Nests add to their result, and so do the peers of products.")
@cold_option
@click.option("--top-k", type=click.IntRange(min=1), default=10, show_default=True, metavar="K", help="Picks to try.")
@click.option("--leaders", type=click.IntRange(min=1), default=3, show_default=True, help="Picks to compare.")
@click.option("--max-variants", type=click.IntRange(min=1), default=400, show_default=True, metavar="N")
@click.option("--rounds", type=click.IntRange(min=2), default=15, show_default=True, help="Samples of each.")
@click.option("--budget", type=FiniteRange(min=0.1), default=30.0, show_default=True, metavar="SECONDS")
@click.option("--timeout", type=FiniteRange(min=0.1), default=120.0, show_default=True, metavar="SECONDS")
@click.option("--seed", type=click.IntRange(0, MOST_SEED), default=0, show_default=True, metavar="N")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Keep the results there, and go on from it.",
)
@shard_option
@click.option("--show", "only_show", is_flag=True, help="Only show what --out holds.")
@click.option(
    "--merge", "parts", multiple=True, type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Only join the results of all --shard parts, each named with --merge.",
)  # fmt: skip
@records_option
@sandbox_option
@quiet_option
@json_option
@debug_option
def bench(
    arguments: tuple[Path, ...],
    function: str | None,
    definitions: tuple[str, ...],
    include: tuple[str, ...],
    init: str,
    suite_names: tuple[str, ...],
    names: tuple[str, ...],
    limit: int | None,
    peers: str | None,
    polybench: Path,
    out: Path | None,
    shard: Shard | None,
    only_show: bool,
    parts: tuple[Path, ...],
    records: Path | None,
    quiet: bool,
    json_path: str | None,
    **options: Any,
) -> int:
    """Optimize nests, and time the leaders beside other libraries and compilers in the same rounds.

    Each FILE is a C file, whose peers are compilers, or a CSV of sizes. A ready WORKLOAD, such as resnet_03, has
    libraries beside it; a file of its name goes first. Results are stored after each workload; an interrupted run goes
    on where it stopped. Ends with status 2 for a mistake in the C of one, and with 1 if polydl has no time of one for
    another reason.
    """
    from polydl.bench.files import program_of_file
    from polydl.bench.results import concluded, read
    from polydl.presentation.bench import console
    from polydl.records.store import default_directory

    if parts:
        require_only("--merge", "out", "json_path")
    if only_show:
        require_only("--show", "out", "json_path")
    screen = console(quiet=quiet or json_path == STANDARD_OUTPUT)
    status = 0
    if not only_show and not parts:
        require_own_records(shard, records)
        warn_of_directory(records or default_directory())
    if parts:
        document = _merged(parts, out)
    elif only_show:
        if out is None:
            raise OptionError("--show needs --out", remedy="name the file that holds the results")
        document = concluded(read(out))
    else:
        files, ready = _files_and_workloads(arguments)
        names = (*ready, *names)
        programs = {
            each.name: each
            for path in files
            if path.suffix.lower() != ".csv"
            for each in [program_of_file(path, function, macros_of(definitions), tuple(map(Path, include)), init)]
        }
        suite_names += tuple(str(path) for path in files if path.suffix.lower() == ".csv")
        chosen = _workloads(suite_names, (*programs, *names), polybench)[:limit]
        part = "" if shard is None else f"-{shard.number}-of-{shard.count}"
        settings = _settings(chosen, peers, options)
        if out is None:
            stems = [Path(name).stem for name in (*programs, *suite_names)]
            part = part if settings.dataset is None else f"-{settings.dataset}{part}"
            part = part if settings.weights is None else f"-{settings.weights}{part}"
            out = Path(OUT, f"bench-{'-'.join([*stems, *names][:4])}-{settings.threads}-{settings.images}{part}.json")
        document = _run(chosen, shard, settings, polybench, programs, out, records or True, screen)
        screen.print(f"Results  {out}", highlight=False)
        status = _exit_status(document, chosen)
    _print(document, screen)
    if json_path is not None:
        write_document(document, json_path)
    return status


def _files_and_workloads(arguments: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The arguments that are files, and the names of ready workloads. Raises OptionError for a word that is neither."""
    from polydl.bench.polybench import SUITE, is_of_polybench
    from polydl.workloads import names, suites
    from polydl.workloads.similar_names import is_of_sizes, known_workloads

    files, ready = [], []
    for path in arguments:
        word = str(path)
        if path.is_file() or "." in word or "/" in word:
            files.append(path)
        elif word in names() or is_of_sizes(word) or is_of_polybench(word):
            ready.append(word)
        elif path.exists():
            files.append(path)
        else:
            remedy = f"give the path of a C file, or a workload: {known_workloads(word, names())}"
            if word in (*suites(), SUITE):
                remedy = f"write --suite {word}"
            raise OptionError(f"{word} is neither a file nor a workload", remedy=remedy)
    return files, ready


def _exit_status(document: Document, names: Sequence[str]) -> int:
    """The largest of these workloads, of a part those that it has; each without a time of polydl's has one."""
    from polydl.bench.ratios import leaders

    results = [document["results"][name] for name in names if name in document["results"]]
    # Files of earlier versions don't say it.
    return max((result.get("exit_status", FAILURE) for result in results if not leaders(result)), default=0)


def _merged(parts: tuple[Path, ...], out: Path | None) -> Document:
    """All results of a run from those of its parts. Raises OptionError."""
    from polydl.bench.parts import REMEDY, merged
    from polydl.bench.results import read, write

    document = merged({str(path): read(path, REMEDY) for path in parts})
    if out is not None:
        write(document, out)
    return document


def _run(
    whole: list[str],
    shard: Shard | None,
    settings: BenchSettings,
    polybench: Path,
    files: Mapping[str, SuiteProgram],
    out: Path,
    records: Path | bool,
    screen: Console,
) -> Document:
    """Measure what the file does not hold yet, of a part of the whole if a shard is given. Raises PolydlError."""
    from polydl.bench.driver import installed, measure, new_document, subject
    from polydl.bench.peers.kinds import PeerSetting
    from polydl.bench.results import concluded, continued, read, write
    from polydl.machine import Machine
    from polydl.pipeline import Stage
    from polydl.presentation.bench import missing_text, result_line
    from polydl.presentation.progress import progress_bar

    names = whole if shard is None else list(shard.of(whole))
    subjects = {name: subject(name, settings, polybench, files) for name in names}
    machine = Machine.detect(threads=settings.threads)
    setting = PeerSetting(settings.threads, settings.accumulate, cpu_id=machine.cpu_id, weights=settings.weights)
    # Of the whole: all parts have the same settings and peers.
    peers = installed(whole, settings, setting)
    for name, error in peers.missing.items():
        screen.print(missing_text(name, error.reason, error.remedy), highlight=False)
    document = new_document(settings, machine, peers.missing, shard)
    if out.exists():
        document = continued(read(out), document, str(out))
        for name in files.keys() & document["results"].keys():
            # The file has been changed since.
            if document["results"][name]["description"] != files[name].description:
                del document["results"][name]
    left = [name for name in names if name not in document["results"]]
    with progress_bar(wanted=not screen.quiet) as progress:
        for name, result in measure([subjects[name] for name in left], settings, machine, peers, records, progress):
            document["results"][name] = result
            write(concluded(document), out)
            screen.print(result_line(name, result, settings.peers), highlight=False)
            if progress is not None:
                progress(Stage("all", len(names) - len(left) + left.index(name) + 1, len(names)))
    return concluded(document)


def _print(document: Document, screen: Console) -> None:
    from polydl.presentation.bench import print_table, summary_table, workloads_table

    print_table(workloads_table(document), screen)
    print_table(summary_table(document), screen)


def _workloads(suite_names: tuple[str, ...], names: tuple[str, ...], polybench: Path) -> list[str]:
    from polydl.bench.polybench import SUITE
    from polydl.bench.polybench import names as programs
    from polydl.workloads import suite, suites

    chosen = [
        name
        for name_of_suite in suite_names
        for name in (programs(polybench) if name_of_suite == SUITE else suite(name_of_suite, (SUITE,)))
    ] + list(names)
    if not chosen:
        known = ", ".join((*suites(), SUITE))
        raise OptionError("there is nothing to measure", remedy=f"name a C file, a workload or a --suite ({known})")
    return list(dict.fromkeys(chosen))


def _settings(names: list[str], peers: str | None, options: dict[str, Any]) -> BenchSettings:
    from polydl.bench.driver import BenchSettings, known_peers
    from polydl.bench.peers.compilers import COMPILERS
    from polydl.bench.peers.kinds import KINDS
    from polydl.bench.polybench import DEFAULT_DATASET, is_of_polybench

    asked = known_peers(names) if peers is None else tuple(name for name in peers.split(",") if name)
    known = dict.fromkeys((*KINDS, *COMPILERS))
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise OptionError(f"there is no peer {unknown[0]!r}", remedy=f"the peers are {', '.join(known)}")
    programs, dataset = any(is_of_polybench(name) for name in names), options.pop("dataset")
    if dataset is not None and not programs:
        raise OptionError("--dataset is for programs of PolyBench", remedy="leave it out, or add --suite polybench")
    budget, timeout = options.pop("budget"), options.pop("timeout")
    return BenchSettings(
        peers=asked,
        budget_seconds=budget,
        timeout_seconds=timeout,
        dataset=(dataset or DEFAULT_DATASET) if programs else None,
        **options,
    )
