"""Collection of training data: measures variants of many nests and records them.

For each nest, variants are sampled so that their decisions are balanced, and the variants that the default ranker puts
first are added. All are compiled, and then measured in the same interleaved rounds. The records of a nest are written
when it is done, so that an interrupted collection continues where it stopped.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from uuid import uuid4

from polydl import pipeline, registry
from polydl.codegen.original import original
from polydl.contracts import Candidate
from polydl.errors import AnalysisError, IllegalVariantError, OptionError
from polydl.execute.contract import Built, Executor, TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.frontend.child import fork_server
from polydl.ir.measurement import Measurement
from polydl.ir.scop import Scop
from polydl.learning.samples import describe, groups_of_workloads, profile_path, usable
from polydl.learning.selection import balanced, leading, spread_evenly
from polydl.machine import Machine
from polydl.pipeline import ProgressCallback, Stage
from polydl.records.questions import own_files
from polydl.records.record import Record, Setting, code_digest, make_record
from polydl.records.setting import setting_of
from polydl.records.store import append, read
from polydl.system.files import temporary_directory, written_atomically
from polydl.workloads import suite, workload
from polydl.workloads import suites as known

# Part of the wanted variants that must have a time for a nest to count as measured.
ENOUGH = 0.86
NETWORKS = "networks"
FEWEST_OPERATIONS = 10**6
# Most rounds, as a multiple of the rounds that all variants take part in.
FURTHER = 4
# Undisturbed samples that every variant needs, even when the budget is spent.
LEAST_UNDISTURBED = 3
# In the directory of a nest and of what is compiled alike: its variants, chosen and compiled.
_COMPILED = "compiled.pickle"


@dataclass(frozen=True)
class CollectionOptions:
    """How to collect."""

    #: variants to measure per nest
    variants: int = 48
    #: of these, variants from the better half of the default ranker's order
    leaders: int = 24
    #: variants that the default ranker orders
    pool: int = 1000
    #: of samples of variants and of data
    seed: int = 0
    #: no nest is begun later than this
    budget_seconds: float = 7200.0
    #: rounds that all variants are timed in; the fastest are timed in up to ``FURTHER`` times as many, and variants
    #: without enough undisturbed samples in up to twice as many
    rounds: int = 5
    #: least duration of a sample
    sample_seconds: float = 0.005
    #: time for the rounds of one nest
    nest_seconds: float = 14.0
    #: time limit of one invocation
    timeout_seconds: float = 120.0
    #: batch size of convolutions
    images: int = 1
    #: names of the microkernels that variants may use, separated by commas
    microkernel: str = pipeline.AUTOMATIC
    #: a name or a path; None for the first that works
    compiler: str | None = None
    #: whether to measure nests again that have records
    anew: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.leaders <= self.variants <= self.pool:
            raise OptionError(
                f"{self.leaders} leaders and {self.variants} variants of {self.pool}",
                remedy="choose leaders from 1 to the variants, and no more variants than there are in the pool",
            )


@dataclass(frozen=True)
class Collected:
    """The result of one nest."""

    #: of the workload
    name: str
    #: number of variants chosen
    tried: int
    #: number of variants with undisturbed samples
    measured: int
    #: spent on the nest
    seconds: float
    #: whether it was left out, because it had been measured before
    skipped: bool = False

    @property
    def in_vain(self) -> bool:
        """Whether it was to be measured, and no variant has an undisturbed sample."""
        return not self.skipped and self.measured == 0


def layers_of(suites: Sequence[str], layers: int | None) -> tuple[str, ...]:
    """The names of the suites' workloads, one for each different problem, in the order of their operations.

    With ``layers``, at most that many workloads of each suite, evenly spread. The suite ``networks`` stands for all
    networks. Nests of fewer than ``FEWEST_OPERATIONS`` are left out, since their time is that of the call. Raises
    OptionError for an unknown suite.
    """
    by_problem: dict[str, str] = {}
    networks = tuple(dict.fromkeys(network for network in groups_of_workloads().values() if network in known()))
    for name in (other for one in suites for other in (networks if one == NETWORKS else (one,))):
        fresh: dict[str, str] = {}
        for layer in suite(name):
            problem = repr(workload(layer).problem)
            if problem not in by_problem and workload(layer).flops >= FEWEST_OPERATIONS:
                fresh.setdefault(problem, layer)
        chosen = spread_evenly(list(fresh.values()), layers or len(fresh))
        by_problem.update({problem: layer for problem, layer in fresh.items() if layer in chosen})
    return tuple(sorted(by_problem.values(), key=lambda name: workload(name).flops))


def collect(
    names: Sequence[str],
    directory: Path,
    *,
    machine: Machine,
    options: CollectionOptions = CollectionOptions(),
    work: Path | None = None,
    run: bool = True,
    progress: ProgressCallback | None = None,
    done: Callable[[Collected], None] | None = None,
) -> tuple[Collected, ...]:
    """Measure the workloads called ``names``, and append their records to those in ``directory``.

    Compiled variants are kept in the directory ``work`` for a later call that would compile the same; with
    ``run=False``, nothing else is done.
    ``done`` is called with the result of each nest. A variant that fails gets a record with its status. Raises
    OptionError for an unknown name.
    """
    started = time.monotonic()
    toolchain = Toolchain.find(options.compiler)
    setting = setting_of(machine, toolchain)
    complete: frozenset[str] = frozenset()
    if not options.anew:
        if run:
            complete = _complete(read(directory), setting, options)
        elif work is not None:
            complete = compiled(work, setting, options)
    results: list[Collected] = []
    for number, name in enumerate(names):
        if time.monotonic() - started > options.budget_seconds:
            break
        if name in complete:
            result = Collected(name, 0, 0, 0.0, skipped=True)
        else:
            with _directory(work, name, setting, options) as nest_directory:
                result = _one(name, nest_directory, directory, machine, toolchain, setting, options, run)
        results.append(result)
        if done is not None:
            done(result)
        if progress is not None:
            progress(Stage("collect", number + 1, len(names)))
    return tuple(results)


def _complete(records: Iterable[Record], setting: Setting, options: CollectionOptions) -> frozenset[str]:
    """The workloads of which some run has enough variants, or nearly all variants that there are."""
    tried: dict[tuple[str, str], set[str]] = {}
    measured: dict[tuple[str, str], set[str]] = {}
    for record in records:
        if record.workload is not None and record.setting == setting:
            key = (record.workload, record.run)
            tried.setdefault(key, set()).add(record.id)
            if usable(record):
                measured.setdefault(key, set()).add(record.id)
    return frozenset(
        key[0] for key, ids in measured.items() if len(ids) >= ENOUGH * min(options.variants, len(tried[key]))
    )


def compiled(work: Path, setting: Setting, options: CollectionOptions) -> frozenset[str]:
    """The names of the workloads whose variants, as a call would compile them, are kept in a directory."""
    return frozenset(path.parents[1].name for path in work.glob(f"*/{_alike(setting, options)}/{_COMPILED}"))


def _alike(setting: Setting, options: CollectionOptions) -> str:
    """The name of the directories of what is chosen, analysed and compiled alike: in a setting, by this polydl."""
    chosen = (options.variants, options.leaders, options.pool, options.seed, options.images, options.microkernel)
    content = json.dumps([setting.digest, *_own_digests(), *chosen])
    return hashlib.sha256(content.encode()).hexdigest()[:12]


@cache
def _own_digests() -> list[str]:
    """Of this polydl's files, wherever they lie."""
    return own_files()[1::2]


@contextmanager
def _directory(work: Path | None, name: str, setting: Setting, options: CollectionOptions) -> Iterator[Path]:
    if work is not None:
        nest_directory = work / name / _alike(setting, options)
        nest_directory.mkdir(parents=True, exist_ok=True)
        yield nest_directory
        return
    with temporary_directory() as directory:
        yield directory


def _one(
    name: str,
    nest_directory: Path,
    directory: Path,
    machine: Machine,
    toolchain: Toolchain,
    setting: Setting,
    options: CollectionOptions,
    run: bool,
) -> Collected:
    start = time.monotonic()
    executor: Executor = registry.load("executors", "local")
    kept = nest_directory / _COMPILED
    if run and kept.exists():
        with kept.open("rb") as file:
            scop, chosen, default, built = pickle.load(file)
    else:
        scop = pipeline.parse(workload(name, images=options.images).write(nest_directory))
        chosen, default = choose(scop, machine, options)
        space = pipeline.space_on(scop, machine, microkernel=options.microkernel)
        kernels = [pipeline.kernel(space.apply(candidate.variant), machine.vector_bytes) for candidate in chosen]
        built = executor.build([original(scop), *kernels], toolchain, nest_directory)
    if not run:
        with written_atomically(kept) as stream:
            pickle.dump((scop, chosen, default, built), stream)
        return Collected(name, len(chosen), 0, time.monotonic() - start)
    # All variants are timed in the first rounds, and those that may be the fastest in further ones.
    policy = TimingPolicy(
        rounds=FURTHER * options.rounds,
        adaptive=True,
        fewest_rounds=max(2, options.rounds),
        least_undisturbed=min(LEAST_UNDISTURBED, options.rounds),
        minimum_sample_seconds=options.sample_seconds,
        budget_seconds=options.nest_seconds,
        timeout_seconds=options.timeout_seconds,
    )
    measured = executor.measure(built[1:], built[0], scop, threads=machine.threads, policy=policy, seed=options.seed)
    records = _records(name, scop, setting, chosen, default, built, measured, options.seed)
    append(directory, records)
    profile = profile_path(directory, machine.cpu_id)
    if not profile.exists():
        machine.save(profile)
    return Collected(name, len(chosen), sum(usable(record) for record in records), time.monotonic() - start)


def choose(scop: Scop, machine: Machine, options: CollectionOptions) -> tuple[list[Candidate], str]:
    """The candidates to measure, of which the first has the loop order of the source, and the id of that one."""
    kernel = options.microkernel
    space = pipeline.space_on(scop, machine, microkernel=kernel)
    generation = pipeline.generate(space, max_variants=options.pool, seed=options.seed)
    candidates = pipeline.candidates(scop, generation.variants, machine=machine, microkernel=kernel)
    analysed = {candidate.variant.id: candidate for candidate in candidates}
    ranker = registry.load("rankers", registry.DEFAULT_RANKER)
    entries = ranker.rank(tuple(analysed.values()), machine).entries
    leaders = [entries[position].variant for position in leading(len(entries), options.leaders)]
    variants = [variant for variant in generation.variants if variant.id in analysed]
    first = [variants[0], *leaders]
    chosen = balanced(variants, options.variants, options.seed, first=first)
    return [analysed[variant.id] for variant in chosen], variants[0].id


def _records(
    name: str,
    scop: Scop,
    setting: Setting,
    chosen: Sequence[Candidate],
    default: str,
    built: Sequence[Built],
    measured: Sequence[Measurement],
    seed: int,
) -> list[Record]:
    run = uuid4().hex[:12]
    probes = [rate for one in measured for sample in one.samples for rate in sample.probe_gflops]
    records = []
    for candidate, kernel, measurement in zip(chosen, built[1:], measured[1:], strict=True):
        record = make_record(
            replace(measurement, id=candidate.variant.id),
            kind="variant",
            nest=scop.digest,
            function=scop.function.name,
            flops=scop.flops,
            setting=setting,
            run=run,
            code=code_digest(kernel.kernel),
            variant=candidate.variant,
            workload=name,
            baseline_seconds=measured[0].seconds_median,
            peak_gflops=max(probes, default=None),
            features=describe(candidate, default=candidate.variant.id == default),
            seed=seed,
        )
        records.append(record)
    return records


def analysed_anew(
    records: Iterable[Record], machines: Callable[[Setting], Machine], *, progress: ProgressCallback | None = None
) -> tuple[Record, ...]:
    """The same records with features computed again, after a change of the analysis or of a machine's profile.

    ``machines`` gives that of a record's setting. Records are left out whose nest is no ready workload, or one that has
    another nest today, which a warning says, and whose variant is illegal for this version of polydl.
    """
    by_nest: dict[str, list[Record]] = {}
    for record in records:
        if record.workload is not None and record.variant is not None:
            by_nest.setdefault(record.workload, []).append(record)
    analysed: list[Record] = []
    with temporary_directory() as directory, fork_server():
        for number, (name, nest_records) in enumerate(sorted(by_nest.items()), 1):
            why = "its nest has changed since it was measured"
            same: list[Record] = []
            try:
                scop = pipeline.parse(workload(name).write(directory))
                same = [record for record in nest_records if record.nest == scop.digest]
            except OptionError:
                why = "there is no such workload"
            if len(same) < len(nest_records):
                text = f"{len(nest_records) - len(same)} of {len(nest_records)} records of {name} are left out"
                warnings.warn(f"{text}: {why}", stacklevel=2)
            for record in same:
                assert record.variant is not None
                with suppress(IllegalVariantError, AnalysisError):
                    machine = machines(record.setting)
                    (candidate,) = pipeline.candidates(scop, [record.variant], machine=machine)
                    features = describe(candidate, default=bool(record.features.get("default")))
                    analysed.append(replace(record, features=features))
            if progress is not None:
                progress(Stage("analyse", number, len(by_nest)))
    return tuple(analysed)
