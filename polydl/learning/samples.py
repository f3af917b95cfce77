"""Measured candidates: a record keeps the features that a ranker saw of a variant, and training reads them back."""

from __future__ import annotations

import lzma
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from polydl import registry
from polydl.contracts import Candidate, MeasuredNest
from polydl.errors import OptionError, RecordsError
from polydl.ir.kernel import MicrokernelUse
from polydl.ir.working_sets import WorkingSets
from polydl.machine import Machine
from polydl.machine.system import find
from polydl.plan.rewrite_steps import families
from polydl.records.line import to_line
from polydl.records.record import Record, Setting
from polydl.records.store import Damage, read, read_file, read_stream
from polydl.system.files import reason_of

# Version of ``Record.features`` as ``describe`` returns them.
VERSION = 2
# Version of how they are computed, by analysis, model and microkernels; records that don't say have 1.
# tests/test_feature_version.py fails when it has to be raised.
ANALYSIS = 9
# Suites of layers of several networks, and of products alone.
_NO_NETWORKS = frozenset({"conv", "conv-paper", "conv-other", "gemm", "gemm-paper"})
# Fewest usable variants of a run, and the part of the largest run that makes a run nearly as large.
FEWEST, NEARLY = 10, 0.85


def describe(candidate: Candidate, *, default: bool) -> dict[str, Any]:
    """The features of a candidate for ``Record.features``. ``default`` marks the loop order of the source."""
    return {
        "version": VERSION,
        "analysis": ANALYSIS,
        "default": default,
        "levels": list(candidate.working_sets.levels),
        "memory": candidate.working_sets.memory,
        "method": candidate.working_sets.method,
        "cycles": list(candidate.cycles),
        "traffic": [list(levels) for levels in candidate.traffic],
        "parallel_iterations": list(candidate.parallel_iterations),
        "starts": list(candidate.starts),
        "microkernels": [_fields(use) for use in candidate.microkernels],
        "calls": list(candidate.calls),
        "flops": candidate.flops,
        "footprint": candidate.footprint,
    }


def candidate_of(record: Record) -> Candidate:
    """The inverse of ``describe``, except that working sets have the sums per cache alone. Raises RecordsError."""
    features = record.features
    if features.get("version") != VERSION or record.variant is None:
        raise RecordsError(
            f"the record of {record.id} holds features of version {features.get('version')}, not {VERSION}",
            remedy="measure it again with `polydl collect`",
        )
    return Candidate(
        variant=record.variant,
        working_sets=WorkingSets((), tuple(features["levels"]), features["memory"], features["method"]),
        cycles=tuple(features["cycles"]),
        traffic=tuple(tuple(levels) for levels in features["traffic"]),
        parallel_iterations=tuple(features["parallel_iterations"]),
        # Older records lack it.
        starts=tuple(features.get("starts", [0] * len(features["cycles"]))),
        microkernels=tuple(_use(fields) for fields in features["microkernels"]),
        calls=tuple(features["calls"]),
        flops=features["flops"],
        footprint=features["footprint"],
        families=families(record.variant.rewrites),
    )


def _fields(use: MicrokernelUse) -> dict[str, Any]:
    """What ``_use`` makes a call of. Records of before operands were read row by row don't say that A is contiguous."""
    return {name: value for name, value in asdict(use).items() if (name, value) != ("stride_am", 1)}


def _use(fields: Mapping[str, Any]) -> MicrokernelUse:
    arguments: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in fields.items()}
    if "family" not in arguments:
        # Older records name the microkernel alone.
        arguments["family"] = _family(arguments["name"])
    return MicrokernelUse(**arguments)


@cache
def _family(microkernel: str) -> str:
    """The family of a microkernel; "" if it is not installed."""
    try:
        return str(registry.load("microkernels", microkernel).family)
    except OptionError:
        return ""


def usable(record: Record) -> bool:
    """Whether a record has the time of a variant, and not from disturbed samples alone."""
    undisturbed = any(not sample.disturbed for sample in record.samples)
    return record.kind == "variant" and record.status == "ok" and undisturbed and "version" in record.features


def nests_in(sources: Iterable[Path], damaged: Callable[[Damage], None] | None = None) -> tuple[MeasuredNest, ...]:
    """The nests that were measured in records, each with its machine, as ``machines_beside`` says.

    ``damaged`` is called for each line that holds no record.
    """
    nests: list[MeasuredNest] = []
    for source in sources:
        nests += measured_nests(read_records(source, damaged), groups_of_workloads(), machines_beside(source))
    return _in_order(nests)


def measured_nests(
    records: Iterable[Record], groups: Mapping[str, str], machines: Callable[[Setting], Machine]
) -> tuple[MeasuredNest, ...]:
    """The measured variants of each nest on each machine and number of threads, in the order of their ids.

    They are those of one run, since times of different runs are never compared: the last run with nearly as many
    usable variants as the largest. Runs of fewer than ``FEWEST`` usable variants are left out. ``groups`` maps a
    workload's name to its network; a workload that it lacks is a group of its own.
    """
    return _in_order(_measured(run, groups, machines) for run in chosen_runs(records))


def _in_order(nests: Iterable[MeasuredNest]) -> tuple[MeasuredNest, ...]:
    def key(nest: MeasuredNest) -> tuple[str, str, str, int]:
        return nest.group, nest.name, nest.machine.cpu_id, nest.machine.threads

    return tuple(sorted(nests, key=key))


def chosen_runs(records: Iterable[Record]) -> tuple[tuple[Record, ...], ...]:
    """The usable records of one run of each nest on each machine; see ``measured_nests``."""
    runs: dict[tuple[str, str, int], dict[str, dict[str, Record]]] = {}
    for record in records:
        if usable(record):
            place = record.nest, record.setting.cpu, record.setting.threads
            runs.setdefault(place, {}).setdefault(record.run, {})[record.id] = record
    chosen: list[tuple[Record, ...]] = []
    for nest_runs in runs.values():
        most = max(len(run) for run in nest_runs.values())
        large = [run for run in nest_runs.values() if len(run) >= max(FEWEST, NEARLY * most)]
        if large:
            last = max(large, key=lambda run: max(record.date for record in run.values()))
            chosen.append(tuple(sorted(last.values(), key=lambda record: record.id)))
    return tuple(chosen)


def _measured(
    records: Sequence[Record], groups: Mapping[str, str], machines: Callable[[Setting], Machine]
) -> MeasuredNest:
    first = records[0]
    name = first.workload or first.function
    marked = [index for index, record in enumerate(records) if record.features.get("default")]
    return MeasuredNest(
        name=name,
        group=groups.get(name, name),
        problem=_problem(name, first.nest),
        candidates=tuple(candidate_of(record) for record in records),
        seconds=tuple(_seconds(record) for record in records),
        default=marked[0] if marked else None,
        machine=machines(first.setting),
        analysis=min(record.features.get("analysis", 1) for record in records),
    )


def _problem(name: str, nest: str) -> str:
    """A key that is equal for workloads that compute the same, as layers of two networks may."""
    from polydl import workloads

    try:
        return repr(workloads.workload(name).problem)
    except OptionError:
        return nest


def _seconds(record: Record) -> float:
    """The median of the samples that count. The minimum is a matter of luck on a machine whose clock changes."""
    assert record.seconds_median is not None
    return record.seconds_median


def groups_of_workloads() -> dict[str, str]:
    """``{workload: group}``: the network of a layer, and a matrix product's own name."""
    from polydl import workloads

    products = set(workloads.suite("gemm"))
    networks = [name for name in workloads.suites() if name not in _NO_NETWORKS]
    groups = {layer: network for network in networks for layer in workloads.suite(network)}
    return {**groups, **{product: product for product in products}}


def read_records(source: Path, damaged: Callable[[Damage], None] | None = None) -> Iterator[Record]:
    """The records of a directory, of one of its files, or of a compressed file (``.xz``).

    ``damaged`` is called for each line that holds none. Raises RecordsError for a source that doesn't exist or can't be
    read.
    """
    if not source.exists():
        raise RecordsError("there are no records", file=str(source), remedy="name a directory or a file of records")
    if source.is_dir():
        yield from read(source, damaged=damaged)
    elif source.suffix == ".xz":
        try:
            with lzma.open(source, "rb") as file:
                yield from read_stream(file, source, damaged)
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise RecordsError(
                f"can't be read: {reason_of(error)}", file=str(source), remedy="copy it anew, or name other records"
            ) from None
    else:
        yield from read_file(source, damaged)


def profile_path(source: Path, cpu: str) -> Path:
    """The path of the profile of the machine ``cpu`` beside a directory or a file of records."""
    return (source if source.is_dir() else source.parent) / f"{cpu}.toml"


def machines_beside(source: Path, *, anew: bool = False) -> Callable[[Setting], Machine]:
    """The machine of each setting in the records of a source, from its profile beside it, or this machine.

    With ``anew``, this machine is as it is known now, whatever that profile says. What is returned raises OptionError
    for another machine without a profile.
    """

    @cache
    def machine(cpu: str, threads: int) -> Machine:
        path = profile_path(source, cpu)
        # What the system says is not asked for in vain: it may hide its caches.
        stored = path.exists()
        here = (anew or not stored) and find().identity.cpu_id == cpu
        if stored and not here:
            return replace(Machine.load(path), threads=threads)
        if not here:
            raise OptionError(
                f"{source} holds records of {cpu}, which is not this machine", remedy=f"put its profile at {path}"
            )
        return Machine.detect(threads=threads)

    return lambda setting: machine(setting.cpu, setting.threads)


def write_compressed(records: Iterable[Record], path: Path) -> int:
    """Write records to a compressed file, atomically. Returns their number."""
    from polydl.system.files import written_atomically

    count = 0
    with written_atomically(path) as file, lzma.open(file, "wb", preset=9 | lzma.PRESET_EXTREME) as compressed:
        for record in records:
            compressed.write(to_line(record))
            count += 1
    return count
