"""``polydl collect``: measure variants of many nests, for rankers to learn from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from polydl.commands.storing import warn_if_exposed, warn_of_damage
from polydl.durations import seconds_in
from polydl.errors import OptionError
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.options import (
    debug_option,
    records_option,
    require_only,
    require_own_records,
    sandbox_option,
    seed_option,
    shard_option,
)

if TYPE_CHECKING:
    from polydl.learning.collection import Collected
    from polydl.optimization.shards import Shard
    from polydl.records.store import Damage

# Runs of fewer variants are not exported: a ranker has little to choose there.
LEAST_EXPORTED = 40


def _seconds(_context: click.Context, _parameter: click.Parameter, value: str) -> float:
    seconds = seconds_in(value)
    if seconds is None:
        raise OptionError(f"{value!r} is no length of time", remedy="such as 90s, 20m or 2h")
    return seconds


@click.command(cls=CheckedCommand)
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="networks (all thirteen), gemm-paper, resnet …")
@click.option("--workload", "workloads", multiple=True, metavar="NAME", help="One alone: resnet_03, gemm_64x96x128 …")
@click.option("--layers", type=click.IntRange(min=1), metavar="N", help="At most N different layers of each suite.")
@click.option("--microkernel", default="auto", show_default=True, metavar="NAMES", help="Those to use: c,libxsmm …")
@click.option("--variants", type=click.IntRange(min=2), default=48, show_default=True, metavar="N", help="Per nest.")
@click.option("--budget", default="2h", show_default=True, metavar="TIME", callback=_seconds, help="Begin none later.")
@click.option(
    "--rounds", type=click.IntRange(min=2), default=5, show_default=True, metavar="N", help="Rounds of all variants."
)
@click.option("--nest-budget", default="14s", show_default=True, metavar="TIME", callback=_seconds, help="Per nest.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Threads.")
@seed_option("Seed of choice and data.")
@click.option("--work", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Keep libraries there.")
@click.option("--compile-only", is_flag=True, help="Compile into --work, and measure nothing.")
@click.option("--measure-only", is_flag=True, help="Measure what --work holds, and compile nothing.")
@click.option("--again", is_flag=True, help="Measure what was measured before once more.")
@click.option(
    "--export",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="PATH",
    help="Measure nothing: write what is there for rankers, analysed anew, as .jsonl.xz.",
)
@click.option("--compiler", metavar="NAME", help="gcc or clang, by name or path (the first that works).")
@shard_option
@records_option
@sandbox_option
@debug_option
def collect(
    suites: tuple[str, ...],
    workloads: tuple[str, ...],
    layers: int | None,
    microkernel: str,
    variants: int,
    budget: float,
    rounds: int,
    nest_budget: float,
    threads: int,
    seed: int,
    work: Path | None,
    compile_only: bool,
    measure_only: bool,
    again: bool,
    export: Path | None,
    compiler: str | None,
    shard: Shard | None,
    records: Path | None,
) -> int:
    """Measure variants of ready nests into the records. What is there already is not measured again."""
    from polydl.execute.toolchain import Toolchain
    from polydl.learning.collection import CollectionOptions, collect, compiled, layers_of
    from polydl.machine import Machine
    from polydl.presentation.progress import progress_bar
    from polydl.records.setting import setting_of
    from polydl.records.store import default_directory, refusal
    from polydl.workloads import workload

    if export is not None:
        require_only("--export", "records")
        return _export(records or default_directory(), export)
    require_own_records(None if compile_only else shard, records)
    if not suites and not workloads:
        raise OptionError("no workloads were named", remedy="give --suite, for example --suite networks")
    if compile_only and work is None:
        raise OptionError("compiled libraries would be lost", construct="--compile-only", remedy="give --work as well")
    if measure_only and (work is None or compile_only):
        raise OptionError("there is nothing to do", construct="--measure-only", remedy="give --work alone with it")
    names = tuple(dict.fromkeys((*layers_of(suites, layers), *(workload(name).name for name in workloads))))
    if shard is not None:
        names = shard.of(names)
    directory = records or default_directory()
    refused = None if compile_only else refusal(directory)
    if refused is not None:
        raise refused
    if not compile_only:
        warn_if_exposed(directory)
    options = CollectionOptions(
        variants=variants,
        leaders=max(1, variants // 2),
        pool=max(1000, variants),
        seed=seed,
        budget_seconds=budget,
        rounds=rounds,
        nest_seconds=nest_budget,
        microkernel=microkernel,
        compiler=compiler,
        anew=again,
    )
    machine = Machine.detect(threads=threads)
    if measure_only and work is not None:
        there = compiled(work, setting_of(machine, Toolchain.find(compiler)), options)
        if not there:
            raise OptionError(
                f"nothing in {work} was compiled by this polydl with these options, this compiler and these threads",
                construct="--measure-only",
                remedy="compile it with the same options, and --compile-only in place of --measure-only",
            )
        names = tuple(name for name in names if name in there)

    def say(result: Collected) -> None:
        if not result.skipped:
            measured = "compiled" if compile_only else f"{result.measured} of {result.tried} measured"
            click.echo(f"{result.name:24} {measured}  {result.seconds:5.1f} s")

    with progress_bar() as progress:
        collected = collect(
            names,
            directory,
            machine=machine,
            options=options,
            work=work,
            run=not compile_only,
            progress=progress,
            done=say,
        )
    left = len(names) - len(collected)
    click.echo(f"{collected_text(collected, left, compiled=compile_only)}; records in {directory}")
    return 0


def collected_text(collected: Sequence[Collected], left: int, *, compiled: bool) -> str:
    """How many nests were measured, or compiled, how many were not, and how many the budget left."""
    from polydl.presentation.notation import counted

    in_vain = 0 if compiled else sum(result.in_vain for result in collected)
    skipped = sum(result.skipped for result in collected)
    done = counted(len(collected) - skipped - in_vain, "nest")
    tried = f" ({in_vain} more tried in vain)" if in_vain else ""
    return f"{done} {'compiled' if compiled else 'measured'}{tried}, {skipped} were there, {left} left"


def _export(source: Path, path: Path) -> int:
    from polydl.learning.collection import analysed_anew
    from polydl.learning.samples import chosen_runs, machines_beside, profile_path, read_records, write_compressed
    from polydl.presentation.notation import counted
    from polydl.presentation.progress import progress_bar

    damaged: list[Damage] = []
    runs = chosen_runs(read_records(source, damaged.append))
    warn_of_damage(damaged)
    enough = [run for run in runs if len(run) >= LEAST_EXPORTED]
    machines = machines_beside(source, anew=True)
    measured_on = {setting.cpu: machines(setting) for setting in dict.fromkeys(run[0].setting for run in enough)}
    with progress_bar() as progress:
        analysed = analysed_anew([record for run in enough for record in run], machines, progress=progress)
    count = write_compressed(analysed, path)
    for cpu, machine in measured_on.items():
        machine.save(profile_path(path, cpu))
    nests = len({record.nest for record in analysed})
    click.echo(f"{count} records of {nests} nests in {path}, with the profiles of their machines beside them")
    if few := len(runs) - len(enough):
        click.echo(f"{counted(few, 'run')} left out, of fewer than {LEAST_EXPORTED} variants")
    return 0
