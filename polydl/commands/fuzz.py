"""``polydl fuzz``: random nests from C text to checked binaries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from polydl.commands.output import FAILURE, STANDARD_OUTPUT, show
from polydl.durations import seconds_in
from polydl.errors import OptionError
from polydl.ir.numerics import NUMERICS, Numerics
from polydl.presentation.checked_command import CheckedCommand
from polydl.presentation.option_values import OUT
from polydl.presentation.options import debug_option, json_option, seed_option
from polydl.presentation.output_directory import out_option
from polydl.system.control_groups import usable_processors
from polydl.system.interruption import Interrupted

if TYPE_CHECKING:
    from polydl.fuzzing.examine import FuzzingSettings
    from polydl.fuzzing.session import SessionBudget
    from polydl.fuzzing.totals import Totals
    from polydl.pipeline import Stage

_LEVELS = ("-O0", "-Og", "-O1", "-O2", "-O3")


def _budget(_context: click.Context, _parameter: click.Parameter, value: str) -> SessionBudget:
    from polydl.fuzzing.session import SessionBudget

    nests, seconds = re.fullmatch(r"(\d+)\s*nests", value.strip()), seconds_in(value)
    if nests is not None and int(nests[1]):
        return SessionBudget(nests=int(nests[1]))
    if not seconds:
        remedy = "seconds, or a number with a unit: 90s, 9m, 2h, 200nests"
        raise OptionError(f"{value!r} is no budget", construct=f"--budget {value}", remedy=remedy)
    return SessionBudget(seconds=seconds)


@click.command(cls=CheckedCommand)
@seed_option("Seed of the nests.")
@click.option(
    "--budget", callback=_budget, default="60s", show_default=True, metavar="SECONDS|Nnests",
    help="When to stop: 90, 9m, 2h or 200nests.",
)  # fmt: skip
@click.option(
    "--variants", type=click.IntRange(min=1), default=12, show_default=True, metavar="K",
    help="Random variants of each nest.",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes at once (all cores).")
@click.option("--optimization", type=click.Choice(_LEVELS), help="Of the variants' compiler (drawn for each nest).")
@click.option("--numerics", type=click.Choice(NUMERICS), help="Level of the variants (drawn for each nest).")
@click.option("--compiler", metavar="NAME", help="gcc or clang, by name or path (the first that works).")
@out_option(f"Keep what fails there ({OUT}/fuzz-SEED), and go on")
@click.option(
    "--replay", type=click.Path(path_type=Path), metavar="FILE", help="Try what was kept in a finding.json again."
)
@click.option("--merge", is_flag=True, help="Add up what --json wrote, FILES, in place of a run.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@json_option
@debug_option
def fuzz(
    seed: int,
    budget: SessionBudget,
    variants: int,
    jobs: int | None,
    optimization: str | None,
    numerics: Numerics | None,
    compiler: str | None,
    out: Path | None,
    replay: Path | None,
    merge: bool,
    files: Sequence[Path],
    json_path: str | None,
) -> int:
    """Make random loop nests in C and random variants of them, and compare what these compute with the original.

    Ends with status 1 if anything failed or no variant ran, and with 130 after Ctrl-C.
    """
    if merge:
        return _merged(files, json_path)
    if replay is not None and json_path is not None:
        raise OptionError("--replay writes no document", construct=f"--json {json_path}", remedy="leave out --json")
    if files:
        raise OptionError("files are for --merge", construct=str(files[0]), remedy="leave them out, or add --merge")
    from polydl.execute.toolchain import Toolchain
    from polydl.fuzzing.examine import FuzzingSettings
    from polydl.fuzzing.session import fuzz as run
    from polydl.machine.system import find
    from polydl.presentation.fuzzing import totals_document, totals_text
    from polydl.presentation.progress import progress_bar
    from polydl.system.files import temporary_directory
    from polydl.system.full_disk import another
    from polydl.system.shared_library import check_executable

    with temporary_directory() as place:
        check_executable(place, another(place))
    settings = FuzzingSettings(Toolchain.find(compiler), find(), variants, optimization, numerics)
    if replay is not None:
        return _replayed(replay, settings)
    directory = out or Path(OUT, f"fuzz-{seed}")
    with progress_bar(wanted=json_path != STANDARD_OUTPUT) as bar:

        def progress(totals: Totals) -> None:
            if bar is not None:
                bar(_stage(totals, budget))

        result = run(seed, budget, settings, directory, jobs=jobs or usable_processors(), progress=progress)
    totals = result.totals
    lines = [f"Seed      {seed}{', interrupted' if result.interrupted else ''}"]
    if result.earlier:
        lines[0] += f"; {result.earlier} of the nests were examined by earlier runs"
    lines += [totals_text(totals), *(f"Kept      {path}" for path in result.findings)]
    show(json_path, totals_document(totals, [seed], list(map(str, result.findings))), "\n".join(lines))
    if result.interrupted:
        raise Interrupted
    return FAILURE if totals.failures or not totals.run else 0


def _stage(totals: Totals, budget: SessionBudget) -> Stage:
    from polydl.pipeline import Stage

    return Stage("nests", totals.nests, budget.nests or totals.nests)


def _replayed(path: Path, settings: FuzzingSettings) -> int:
    from polydl.fuzzing.examine import examine
    from polydl.fuzzing.findings import read

    case, given, document = read(path)
    outcome = examine(case, replace(settings, variants=0 if given else settings.variants), given)
    click.echo(f"{case.name}: {document['kind']} was kept: {document['signature']}")
    for failure in outcome.failures:
        click.echo(f"now {failure.kind}: {failure.message}")
    for reason, times in outcome.refusals.items():
        click.echo(f"now refused ({times}): {reason}")
    if not outcome.failures:
        click.echo("now it does not fail")
    return FAILURE if outcome.failures else 0


def _merged(files: Sequence[Path], json_path: str | None) -> int:
    from polydl.fuzzing.totals import KIND, VERSION, Totals, added
    from polydl.presentation.fuzzing import totals_document, totals_text

    if not files:
        raise OptionError("--merge needs files", remedy="name files that `polydl fuzz --json` wrote")
    documents = [_document(path) for path in files]
    for path, document in zip(files, documents, strict=True):
        if (document.get("kind"), document.get("version")) != (KIND, VERSION):
            raise OptionError("this is no run of polydl fuzz", file=str(path), remedy="name what --json wrote")
    seeds = [seed for document in documents for seed in document["seeds"]]
    twice = sorted({seed for seed in seeds if seeds.count(seed) > 1})
    if twice:
        raise OptionError(
            f"several files are of seed {twice[0]}, whose nests would count twice", remedy="name one file for each seed"
        )
    totals = added(Totals.from_json(document) for document in documents)
    findings = [path for document in documents for path in document["findings"]]
    show(json_path, totals_document(totals, seeds, findings), totals_text(totals))
    return FAILURE if totals.failures or not totals.run else 0


def _document(path: Path) -> dict[str, Any]:
    import json

    from polydl.system.files import reason_of, text_of

    try:
        document = json.loads(text_of(path))
    except (OSError, ValueError) as error:
        raise OptionError(
            f"can't be read: {reason_of(error)}", file=str(path), remedy="name what --json wrote"
        ) from None
    return document if isinstance(document, dict) else {}
