"""Benchmark runs: each workload is optimized, then its best variants and the peers are timed in the same rounds."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from polydl.bench.peers.kinds import KINDS, MissingPeerError, PeerKind, Setting
from polydl.bench.ratios import Document
from polydl.bench.results import SCHEMA
from polydl.errors import PolydlError
from polydl.files import temporary_directory
from polydl.ir.measurement import Measurement
from polydl.machine import Machine
from polydl.optimization import optimize
from polydl.peers import compare_with_peers
from polydl.pipeline import ProgressCallback
from polydl.plan.rewrite_steps import has_fewer_products
from polydl.workloads import Layout, Padding, Workload, workload


@dataclass(frozen=True)
class Settings:
    """The settings of a run. Results of different settings are never mixed."""

    #: names of the peers
    peers: tuple[str, ...]
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
    rounds: int
    #: for timing one workload
    budget_seconds: float
    #: of one invocation
    timeout_seconds: float
    seed: int
    #: whether products add to their result
    accumulate: bool
    #: whether caches are flushed before each invocation
    cold: bool = False
    padding: Padding | None = None

    def to_json(self) -> Document:
        return {**asdict(self), "peers": list(self.peers)}


def installed(names: Sequence[str], setting: Setting) -> tuple[list[PeerKind], dict[str, MissingPeerError]]:
    """The peers that are installed, and the errors of the others by name."""
    kinds: list[PeerKind] = []
    missing: dict[str, MissingPeerError] = {}
    for name in names:
        try:
            KINDS[name].check(setting)
            kinds.append(KINDS[name])
        except MissingPeerError as error:
            missing[name] = error
    return kinds, missing


def new_document(settings: Settings, machine: Machine, missing: dict[str, MissingPeerError]) -> Document:
    return {
        "schema": SCHEMA,
        "started": _now(),
        "machine": asdict(machine),
        "versions": {
            "polydl": version("polydl"),
            "python": platform.python_version(),
            "system": platform.platform(),
        },
        "settings": settings.to_json(),
        "missing": {name: {"reason": error.reason, "remedy": error.remedy} for name, error in missing.items()},
        "results": {},
    }


def workload_of(name: str, settings: Settings) -> Workload:
    """The nest to measure; products have neither images nor padding. Raises OptionError."""
    product = name.startswith("gemm_")
    return workload(
        name,
        images=1 if product else settings.images,
        layout=settings.layout,
        overwrite=not settings.accumulate,
        padding=None if product else settings.padding,
    )


def measure(
    names: Iterable[str],
    settings: Settings,
    machine: Machine,
    kinds: Sequence[PeerKind],
    records: Path | bool = True,
    progress: ProgressCallback | None = None,
) -> Iterator[tuple[str, Document]]:
    """Yields (name, result) of each workload as soon as it is measured. The failure of a workload is a result too.

    Measurements go to ``records`` as for ``optimize``, which reuses them; the rounds with the peers are always new.
    """
    for name in names:
        nest = workload_of(name, settings)
        start = time.perf_counter()
        result: Document = {
            "description": nest.description,
            "flops": nest.flops,
            "date": _now(),
            "status": "ok",
            "message": "",
            "best_probe_gflops": 0.0,
            "leaders": [],
            "peers": {},
        }
        try:
            result |= _one(nest, settings, machine, kinds, records, progress)
        except PolydlError as error:
            result |= {"status": "failed", "message": str(error)}
        result["seconds_spent"] = round(time.perf_counter() - start, 2)
        yield name, result


def _one(
    nest: Workload,
    settings: Settings,
    machine: Machine,
    kinds: Sequence[PeerKind],
    records: Path | bool,
    progress: ProgressCallback | None,
) -> Document:
    setting = Setting(settings.threads, settings.accumulate, settings.cold, machine.cpu_id)
    with temporary_directory() as directory:
        optimization = optimize(
            nest.write(directory),
            function=nest.function,
            machine=machine,
            top_k=settings.top_k,
            max_variants=settings.max_variants,
            seed=settings.seed,
            timeout_seconds=settings.timeout_seconds,
            cold=settings.cold,
            records=records,
            workload=nest.name,
            progress=progress,
        )
        able = [kind for kind in kinds if nest.layout in kind.layouts]
        compared = compare_with_peers(
            optimization,
            [kind.program(nest, setting) for kind in able],
            leaders=settings.leaders,
            rounds=settings.rounds,
            budget_seconds=settings.budget_seconds,
            timeout_seconds=settings.timeout_seconds,
            seed=settings.seed,
            cold=settings.cold,
            records=records,
            workload=nest.name,
            progress=progress,
        )
    everyone = [compared.baseline, *(leader.measurement for leader in compared.leaders), *compared.peers]
    probes = [rate for measurement in everyone for sample in measurement.samples for rate in sample.probe_gflops]
    toolchain = optimization.toolchain
    return {
        "variants": len(optimization.generation.variants),
        "optimize_seconds": round(optimization.seconds["total"], 2),
        "compiler": None if toolchain is None else f"{toolchain.kind} {toolchain.version}",
        "best_probe_gflops": max(probes, default=0.0),
        "original": _timing(compared.baseline),
        "leaders": [
            {
                "variant": leader.ranked.variant.id,
                "rank": leader.rank,
                "direct": not has_fewer_products(leader.ranked.variant),
                "steps": leader.ranked.variant.to_json(),
                "microkernels": [asdict(use) for use in leader.kernel.microkernels],
                **_timing(leader.measurement),
            }
            for leader in compared.leaders
        ],
        "peers": {
            kind.name: _peer(kind, kind.caveat(nest, setting), measurement)
            for kind, measurement in zip(able, compared.peers, strict=True)
        },
    }


def _peer(kind: PeerKind, caveat: str, measurement: Measurement) -> Document:
    timing = _timing(measurement)
    note = "; ".join(filter(None, (timing["note"], caveat)))
    return {"direct": kind.direct, "caveat": caveat, **timing, "note": note}


def _timing(measurement: Measurement) -> Document:
    return {
        "status": measurement.status,
        "note": measurement.message,
        "error": measurement.error,
        "samples": [asdict(sample) for sample in measurement.samples],
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
