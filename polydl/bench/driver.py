"""Benchmark runs: each workload is optimized, then its best variants and the peers are timed in the same rounds."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from math import inf
from pathlib import Path

from polydl.bench.peers.compilers import COMPILERS, CompilerPeer
from polydl.bench.peers.kinds import KINDS, MissingPeerError, PeerKind, PeerSetting, Weights
from polydl.bench.peers.pluto import Translation, UntranslatedError
from polydl.bench.polybench import DEFAULT_DATASET, Dataset, SuiteProgram, is_of_polybench, is_program, program
from polydl.bench.ratios import Document
from polydl.bench.results import SCHEMA
from polydl.errors import AnalysisError, PolydlError
from polydl.execute.contract import Peer
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.machine import Machine
from polydl.optimization.optimize import optimize
from polydl.optimization.optimized import Optimization
from polydl.optimization.peers import PeerComparison, compare_with_peers, tried_kernels
from polydl.optimization.shards import Shard
from polydl.pipeline import ProgressCallback
from polydl.plan.rewrite_steps import has_fewer_products
from polydl.records.record import now
from polydl.system.files import temporary_directory
from polydl.workloads import Layout, Padding, Workload, layout_of, workload


@dataclass(frozen=True)
class BenchSettings:
    """The settings of a run. Results of different settings are never mixed."""

    #: names of the peers
    peers: tuple[str, ...]
    #: OpenMP threads of all programs
    threads: int
    #: batch size of convolutions
    images: int
    #: None for each workload's usual one
    layout: Layout | None
    #: variants that ``optimize`` measures
    top_k: int
    #: variants that are timed beside the peers, and as many that compute every product
    leaders: int
    #: variants that ``optimize`` ranks
    max_variants: int
    #: interleaved samples of each program
    rounds: int
    #: for timing one workload
    budget_seconds: float
    #: of one invocation
    timeout_seconds: float
    #: of data, samples of variants and orders of rounds
    seed: int
    #: whether products add to their result
    accumulate: bool
    #: whether caches are flushed before each invocation
    cold: bool = False
    #: of convolutions; None for each workload's usual one
    padding: Padding | None = None
    #: of programs of PolyBench; None without any
    dataset: Dataset | None = None
    #: when weights are prepared; None: by polydl in each call, by peers as ``PeerSetting.weights`` says
    weights: Weights | None = None

    def to_json(self) -> Document:
        """The settings as JSON, by the names of their fields, which tell runs apart."""
        return {**asdict(self), "peers": list(self.peers)}


@dataclass(frozen=True)
class Peers:
    """The peers that take part."""

    #: beside layers and products
    kinds: Sequence[PeerKind] = ()
    #: beside programs of PolyBench and C files
    compilers: Sequence[CompilerPeer] = ()
    #: why others don't, by name
    missing: Mapping[str, MissingPeerError] = field(default_factory=dict)


def known_peers(names: Iterable[str]) -> tuple[str, ...]:
    """The peers that can be compared with at least one of these workloads."""
    programs = {is_program(name) for name in names}
    return tuple(dict.fromkeys((*(KINDS if False in programs else ()), *(COMPILERS if True in programs else ()))))


def installed(names: Iterable[str], settings: BenchSettings, setting: PeerSetting) -> Peers:
    """Which of the settings' peers are installed, of those for these workloads."""
    programs = {is_program(name) for name in names}
    kinds: list[PeerKind] = []
    compilers: list[CompilerPeer] = []
    missing: dict[str, MissingPeerError] = {}
    for peer in settings.peers:
        try:
            if False in programs and peer in KINDS:
                KINDS[peer].check(setting)
                kinds.append(KINDS[peer])
            if True in programs and peer in COMPILERS:
                COMPILERS[peer].toolchain()
                compilers.append(COMPILERS[peer])
        except MissingPeerError as error:
            missing[peer] = error
    return Peers(kinds, compilers, missing)


def new_document(
    settings: BenchSettings, machine: Machine, missing: Mapping[str, MissingPeerError], shard: Shard | None = None
) -> Document:
    """A document without results yet. ``shard`` is the part of the workloads that it is for; None for all."""
    return {
        "schema": SCHEMA,
        "started": now(),
        "machine": asdict(machine),
        "versions": {
            "polydl": version("polydl"),
            "python": platform.python_version(),
            "system": platform.platform(),
        },
        "settings": settings.to_json(),
        "shard": None if shard is None else str(shard),
        "missing": {name: {"reason": error.reason, "remedy": error.remedy} for name, error in missing.items()},
        "results": {},
    }


def workload_of(name: str, settings: BenchSettings) -> Workload:
    """The nest to measure; products have neither images nor padding. Raises OptionError."""
    product = name.startswith("gemm_")
    return workload(
        name,
        images=1 if product else settings.images,
        layout=settings.layout or layout_of(name),
        overwrite=not settings.accumulate,
        padding=None if product else settings.padding,
    )


def subject(
    name: str, settings: BenchSettings, polybench: Path, files: Mapping[str, SuiteProgram]
) -> Workload | SuiteProgram:
    """What to measure: one of ``files``, a program of PolyBench in its folder, or a workload. Raises OptionError."""
    if name in files:
        return files[name]
    if is_of_polybench(name):
        return program(name, polybench, settings.dataset or DEFAULT_DATASET)
    return workload_of(name, settings)


def measure(
    subjects: Iterable[Workload | SuiteProgram],
    settings: BenchSettings,
    machine: Machine,
    peers: Peers,
    records: Path | bool = True,
    progress: ProgressCallback | None = None,
) -> Iterator[tuple[str, Document]]:
    """Yields (name, result) of each workload as soon as it is measured. The failure of a workload is a result too.

    Measurements go to ``records`` as for ``optimize``, which reuses them; the rounds with the peers are always new.
    """
    run = _Run(settings, machine, peers, records, progress)
    for each in subjects:
        start = time.perf_counter()
        result: Document = {
            "description": each.description,
            "flops": each.flops if isinstance(each, Workload) else 0,
            "date": now(),
            "status": "ok",
            "message": "",
            "best_probe_gflops": 0.0,
            "leaders": [],
            "peers": {},
        }
        try:
            result |= run.of_program(each) if isinstance(each, SuiteProgram) else run.of_workload(each)
        except PolydlError as error:
            result |= {"status": "failed", "message": str(error), "exit_status": error.exit_status}
        result["seconds_spent"] = round(time.perf_counter() - start, 2)
        yield each.name, result


@dataclass(frozen=True)
class _Run:
    """What the measurements of all workloads have in common."""

    settings: BenchSettings
    machine: Machine
    peers: Peers
    #: directory of records, True for the user's, False for none
    records: Path | bool
    #: is told of each stage; None for nobody
    progress: ProgressCallback | None

    def of_workload(self, nest: Workload) -> Document:
        settings = self.settings
        setting = PeerSetting(
            settings.threads,
            settings.accumulate,
            settings.cold,
            self.machine.cpu_id,
            settings.weights,
            free=settings.layout is None,
        )
        constant = [nest.weights] if settings.weights == "prepared" else []
        with temporary_directory() as directory:
            optimization = self._optimized(nest.write(directory), nest.name, nest.function, constant=constant)
            able = [kind for kind in self.peers.kinds if nest.layout in kind.layouts]
            compared = self._compared(optimization, nest.name, [kind.program(nest, setting) for kind in able])
        peers = {
            kind.name: _peer(kind.direct, kind.caveat(nest, setting), measurement)
            for kind, measurement in zip(able, compared.peers, strict=True)
        }
        return {**_result(optimization, compared), "peers": peers}

    def of_program(self, wanted: SuiteProgram) -> Document:
        """A compiler that makes nothing of the nest has a result that says why."""
        optimization = self._optimized(
            wanted.path, wanted.name, wanted.function, wanted.defines, wanted.include_directories, wanted.init
        )
        builds: list[tuple[KernelSource, Toolchain]] = []
        ways: dict[str, str] = {}
        peers: Document = {}
        for compiler in self.peers.compilers:
            try:
                translation = self._fastest(optimization, compiler)
            except (AnalysisError, UntranslatedError) as error:
                peers[compiler.name] = _peer(False, "", Measurement(compiler.name, "unsupported", message=str(error)))
            else:
                builds.append((translation.kernel, compiler.toolchain()))
                ways[compiler.name] = translation.way
        compared = self._compared(optimization, wanted.name, builds=builds)
        for (kernel, toolchain), measurement in zip(builds, compared.builds, strict=True):
            flags = [flag for flag in kernel.compile_flags if not flag.startswith("-I")]
            words = " ".join((toolchain.kind, toolchain.version, *toolchain.flags, *flags))
            timing = _peer(False, "", measurement)
            peers[kernel.id] = {**timing, "note": "; ".join(filter(None, (words, ways[kernel.id], timing["note"])))}
        return {**_result(optimization, compared), "flops": optimization.scop.flops, "peers": peers}

    def _fastest(self, optimization: Optimization, compiler: CompilerPeer) -> Translation:
        """What a compiler makes of the nest in the way that is the fastest here, of those with right results."""
        translations = compiler.translations(optimization)
        if len(translations) == 1:
            return translations[0]
        measurements = tried_kernels(
            optimization,
            [each.kernel for each in translations],
            compiler.toolchain(),
            timeout_seconds=self.settings.timeout_seconds,
            seed=self.settings.seed,
            cold=self.settings.cold,
            progress=self.progress,
        )
        times = [inf if each.seconds_median is None else each.seconds_median for each in measurements]
        fastest = translations[times.index(min(times))]
        failed = sum(each.status != "ok" for each in measurements)
        said = f"{fastest.way}, the fastest of {len(translations)}" if min(times) < inf else fastest.way
        return replace(fastest, way=f"{said}, {failed} of which failed" if 0 < failed < len(translations) else said)

    def _optimized(
        self,
        path: Path,
        name: str,
        function: str | None,
        defines: Mapping[str, str | int] | None = None,
        include_directories: Sequence[Path] = (),
        init: str = "",
        constant: Sequence[str] = (),
    ) -> Optimization:
        settings = self.settings
        return optimize(
            path,
            function=function,
            defines=defines,
            include_directories=include_directories,
            init=init,
            constant=constant,
            machine=self.machine,
            top_k=settings.top_k,
            max_variants=settings.max_variants,
            seed=settings.seed,
            timeout_seconds=settings.timeout_seconds,
            cold=settings.cold,
            records=self.records,
            workload=name,
            progress=self.progress,
            calibrate=True,
        )

    def _compared(
        self,
        optimization: Optimization,
        name: str,
        peers: Sequence[Peer] = (),
        builds: Sequence[tuple[KernelSource, Toolchain]] = (),
    ) -> PeerComparison:
        settings = self.settings
        return compare_with_peers(
            optimization,
            peers,
            builds=builds,
            leaders=settings.leaders,
            rounds=settings.rounds,
            budget_seconds=settings.budget_seconds,
            timeout_seconds=settings.timeout_seconds,
            seed=settings.seed,
            cold=settings.cold,
            records=self.records,
            workload=name,
            progress=self.progress,
        )


def _result(optimization: Optimization, compared: PeerComparison) -> Document:
    """What every workload's result has, but for its peers."""
    leaders = (leader.measurement for leader in compared.leaders)
    plain = [] if compared.plain is None else [compared.plain]
    everyone = [compared.baseline, *leaders, *compared.peers, *compared.builds, *(each.measurement for each in plain)]
    probes = [rate for measurement in everyone for sample in measurement.samples for rate in sample.probe_gflops]
    toolchain = optimization.toolchain
    return {
        "variants": len(optimization.generation.variants),
        "optimize_seconds": round(optimization.seconds["total"], 2),
        "compiler": None if toolchain is None else f"{toolchain.kind} {toolchain.version}",
        "best_probe_gflops": max(probes, default=0.0),
        # Before the rounds with the peers, in the order of the ranking.
        "picks": [
            {"rank": each.rank, "status": each.measurement.status, "seconds": each.measurement.seconds_median}
            for each in optimization.tried
        ],
        "original": _timing(compared.baseline),
        "leaders": [
            {
                "variant": leader.ranked.variant.id,
                "rank": leader.rank,
                "direct": not has_fewer_products(leader.ranked.variant),
                "steps": leader.ranked.variant.to_json(),
                "microkernels": [asdict(use) for use in leader.kernel.microkernels],
                "prepared_bytes": leader.kernel.prepared_bytes,
                **_timing(leader.measurement),
            }
            for leader in compared.leaders
        ]
        # The source's own loops, where these are what polydl hands back; in no place of the ranking.
        + [
            {
                "variant": each.build.kernel.id,
                "rank": None,
                "direct": True,
                "steps": [],
                "microkernels": [],
                **_timing(each.measurement),
                "note": "; ".join(filter(None, (each.name, each.measurement.message))),
            }
            for each in plain
        ],
    }


def _peer(direct: bool, caveat: str, measurement: Measurement) -> Document:
    timing = _timing(measurement)
    note = "; ".join(filter(None, (timing["note"], caveat)))
    return {"direct": direct, "caveat": caveat, **timing, "note": note}


def _timing(measurement: Measurement) -> Document:
    return {
        "status": measurement.status,
        "note": measurement.message,
        "error": measurement.error,
        "samples": [asdict(sample) for sample in measurement.samples],
    }
