"""``polydl records``: what was ever measured."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from polydl.commands.output import FAILURE, show
from polydl.commands.storing import warn_of_damage
from polydl.errors import OptionError
from polydl.presentation.checked_command import CheckedGroup
from polydl.presentation.numbers import FiniteRange
from polydl.presentation.options import debug_option, json_option, records_option

if TYPE_CHECKING:
    from polydl.records.queries import Criteria
    from polydl.records.record import Record
    from polydl.records.store import Damage

# As records have it, or the beginning of that.
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d(T\S*)?)?)?", re.ASCII)
_STATUSES = ("ok", "unsupported", "compile", "timeout", "crash", "wrong", "inaccurate")


def _date(_context: click.Context, parameter: click.Parameter, value: str) -> str:
    """A date or the beginning of one. Raises OptionError."""
    if value and not _DATE.fullmatch(value):
        raise OptionError(
            f"{value!r} is no date", construct=f"--{parameter.name} {value}", remedy="write 2026, 2026-11 or 2026-11-21"
        )
    return value


def _criteria_options(command: Any) -> Any:
    """Adds the options of ``Criteria``, under its names."""
    for option in (
        click.option("--until", default="", callback=_date, metavar="DATE", help="Not later than this (2026-11, say)."),
        click.option(
            "--since",
            default="",
            callback=_date,
            metavar="DATE",
            help="Not earlier than this date, such as 2026-11-21.",
        ),
        click.option("--status", type=click.Choice(_STATUSES), help="How the measurement ended."),
        click.option("--compiler", default="", metavar="TEXT", help="A compiler, or the start: 'gcc 12'."),
        click.option("--threads", type=click.IntRange(min=1), metavar="N", help="So many threads."),
        click.option("--cpu", metavar="ID", help="A processor, as `list` shows it, or `this`."),
        click.option("--function", metavar="NAME", help="The function that holds the nest."),
        click.option("--workload", metavar="NAME", help="A ready workload, such as resnet_03."),
        click.option("--nest", default="", metavar="DIGEST", help="A nest's digest, or the start of it."),
    ):
        command = option(command)
    return command


def _criteria(options: dict[str, Any]) -> Criteria:
    from polydl.records.queries import Criteria

    if options["cpu"] == "this":
        from polydl.machine import Machine

        options = {**options, "cpu": Machine.detect().cpu_id}
    return Criteria(**options)


class _Reading:
    """Streams the records of a directory, and keeps what could not be read."""

    def __init__(self, directory: Path | None) -> None:
        from polydl.records.store import default_directory

        self.directory = directory or default_directory()
        self.damaged: list[Damage] = []

    def select(self, criteria: Criteria) -> Iterator[Record]:
        from polydl.records.queries import select
        from polydl.records.store import read

        return select(read(self.directory, damaged=self.damaged.append), criteria)

    def report(self) -> None:
        warn_of_damage(self.damaged)


@click.group(cls=CheckedGroup)
@debug_option
def records() -> None:
    """Look at, merge and prune the measurements that were ever taken."""


@records.command("list")
@_criteria_options
@records_option
@json_option
@debug_option
def list_(records: Path | None, json_path: str | None, **criteria: Any) -> int:
    """One line for each nest and setting: how much was measured, and the fastest."""
    from polydl.presentation.records import summaries_table, summary_document
    from polydl.records.queries import Criteria, summaries

    reading = _Reading(records)
    wanted = _criteria(criteria)
    lines = summaries(reading.select(wanted))
    none = "no records" if wanted == Criteria() else "no such records"
    text = summaries_table(lines) if lines else f"{none} in {reading.directory}"
    show(json_path, _document("list", reading, "settings", [summary_document(line) for line in lines]), text)
    reading.report()
    return 0


@records.command("show")
@click.argument("identity", default="", metavar="[ID]")
@_criteria_options
@click.option("--limit", type=click.IntRange(min=1), default=40, show_default=True, metavar="N", help="The last N.")
@records_option
@json_option
@debug_option
def show_(identity: str, limit: int, records: Path | None, json_path: str | None, **criteria: Any) -> int:
    """Single measurements, the last ones; ID is a variant's id, its start, `original` or a peer's name."""
    from collections import deque

    from polydl.presentation.records import records_table
    from polydl.records.queries import to_json

    reading = _Reading(records)
    matching = deque(reading.select(_criteria({**criteria, "id": identity})), maxlen=limit)
    text = records_table(list(matching)) if matching else f"no such records in {reading.directory}"
    show(json_path, _document("show", reading, "records", [to_json(record) for record in matching]), text)
    reading.report()
    return 0


@records.command()
@_criteria_options
@records_option
@json_option
@debug_option
def best(records: Path | None, json_path: str | None, **criteria: Any) -> int:
    """The fastest variant of each nest in each setting, with its steps."""
    from polydl.presentation.records import best_text
    from polydl.records import queries

    reading = _Reading(records)
    fastest = queries.best(reading.select(_criteria(criteria)))
    text = best_text(fastest) if fastest else f"no such records in {reading.directory}"
    show(json_path, _document("best", reading, "records", [queries.to_json(record) for record in fastest]), text)
    reading.report()
    return 0


@records.command()
@_criteria_options
@click.option("--format", "form", type=click.Choice(["csv", "json"]), default="csv", show_default=True)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Not to standard output.")
@records_option
@debug_option
def export(form: str, out: Path | None, records: Path | None, **criteria: Any) -> int:
    """Write the records as a table (CSV) or as lines of JSON that `merge` takes back."""
    from polydl.records.line import to_line
    from polydl.records.queries import to_csv
    from polydl.system.files import written_atomically

    reading = _Reading(records)
    selected = reading.select(_criteria(criteria))
    lines: Iterator[bytes] = map(str.encode, to_csv(selected)) if form == "csv" else map(to_line, selected)
    destination: AbstractContextManager[BinaryIO] = (
        nullcontext(sys.stdout.buffer) if out is None else written_atomically(out)
    )
    with destination as stream:
        stream.writelines(lines)
    reading.report()
    return 0


@records.command()
@click.argument("sources", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="SOURCE...")
@records_option
@json_option
@debug_option
def merge(sources: tuple[Path, ...], records: Path | None, json_path: str | None) -> int:
    """Add the records of other directories or files, each once."""
    from polydl.records import store

    directory = records or store.default_directory()
    done = store.merge(directory, sources)
    content = {"schema": "polydl.records.merge/1", "directory": str(directory), "added": done.added}
    document = {**content, "known": done.known, "damaged": len(done.damaged)}
    show(json_path, document, f"Added  {done.added} records to {directory}; {done.known} were there")
    warn_of_damage(done.damaged)
    return 0


@records.command()
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path), metavar="[SOURCE...]")
@records_option
@json_option
@debug_option
def damaged(sources: tuple[Path, ...], records: Path | None, json_path: str | None) -> int:
    """Each line that holds no record, with the reason; `prune --damaged` drops them."""
    from polydl.learning.samples import read_records
    from polydl.presentation.records import damage_text
    from polydl.records.store import default_directory

    lines: list[Damage] = []
    directory = records or default_directory()
    count = sum(1 for place in sources or (directory,) for _ in read_records(place, lines.append))
    document = {
        "schema": "polydl.records.damaged/1",
        "directory": str(directory),
        "records": count,
        "damaged": [{**vars(line), "file": str(line.file)} for line in lines],
    }
    text = "\n".join(map(damage_text, lines)) or f"no line of {count} is damaged"
    return show(json_path, document, text)


@records.command()
@click.option("--older-than", type=FiniteRange(min=0), metavar="DAYS", help="Records of more days ago.")
@click.option("--failed", is_flag=True, help="Candidates that did not run or gave a wrong answer.")
@click.option("--superseded", is_flag=True, help="Measurements that were repeated later.")
@click.option("--keep-best", type=click.IntRange(min=1), metavar="N", help="All but the fastest N of a nest.")
@click.option("--damaged", is_flag=True, help="Lines that hold no record, which go with the others, too.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@records_option
@json_option
@debug_option
def prune(
    older_than: float | None,
    failed: bool,
    superseded: bool,
    keep_best: int | None,
    damaged: bool,
    dry_run: bool,
    records: Path | None,
    json_path: str | None,
) -> int:
    """Remove records to which one of the options applies. Each file that changes stays beside the new one as .bak."""
    from polydl.records import answers, store
    from polydl.records.queries import Pruning

    pruning = Pruning(older_than, failed, superseded, keep_best)
    if pruning == Pruning() and not damaged:
        remedy = "--older-than, --failed, --superseded, --keep-best or --damaged"
        raise OptionError("nothing says what to remove", remedy=remedy)
    directory = records or store.default_directory()
    done = store.prune(directory, pruning, dry_run=dry_run)
    answers.forget(directory, [store.nest_of(path) for path in done.backups])
    document = {
        "schema": "polydl.records.prune/1",
        "directory": str(directory),
        "removed": done.removed,
        "kept": done.kept,
        "damaged": done.damaged,
        "backups": [str(path) for path in done.backups],
    }
    removed = f"{'Would remove' if dry_run else 'Removed'}  {done.removed} records"
    lines = f" and {done.damaged} damaged lines" if done.damaged else ""
    backups = "".join(f"\n  as it was: {path}" for path in done.backups)
    show(json_path, document, f"{removed}{lines}, {done.kept} stay{backups}")
    warn_of_damage(done.passed_over)
    return 0


@records.command()
@click.argument("sources", nargs=-1, type=click.Path(path_type=Path), metavar="[SOURCE...]")
@click.option("--prove", is_flag=True, help="Have isl prove each complete schedule legal once more.")
@records_option
@json_option
@debug_option
def replay(sources: tuple[Path, ...], prove: bool, records: Path | None, json_path: str | None) -> int:
    """Apply each recorded variant of a ready workload again, and say which steps are gone.

    SOURCE is a file or a directory of records. Ends with status 1 if a variant can't be applied any more.
    """
    from polydl.learning.replay import replay as replay_records
    from polydl.learning.samples import read_records
    from polydl.presentation.records import replay_text
    from polydl.records.store import default_directory

    places = sources or (records or default_directory(),)
    damages: list[Damage] = []
    found = (record for place in places for record in read_records(place, damages.append))
    replayed = list(replay_records(found, prove=prove))
    failed = [one for one in replayed if one.reason]
    gone = [damage for damage in damages if damage.elsewhere]
    document = {
        "schema": "polydl.records.replay/1",
        "applied": len(replayed) - len(failed),
        "changed": [one.record.id for one in replayed if one.nest_changed and not one.reason],
        "failed": [{"id": one.record.id, "workload": one.record.workload, "reason": one.reason} for one in failed],
        "unreadable": [{"file": str(one.file), "line": one.line, "reason": one.reason} for one in gone],
    }
    show(json_path, document, replay_text(replayed, gone))
    warn_of_damage([damage for damage in damages if not damage.elsewhere])
    return FAILURE if failed or gone else 0


def _document(command: str, reading: _Reading, name: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "schema": f"polydl.records.{command}/1",
        "directory": str(reading.directory),
        "damaged": len(reading.damaged),
        name: content,
    }
