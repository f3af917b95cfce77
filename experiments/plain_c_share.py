"""How fast the plain C microkernel is beside LIBXSMM on convolution layers.

For each layer, the first picks of either microkernel are compiled and timed in one interleaved run, each checked
against the first one with LIBXSMM. The first command compiles and times nothing, so that it may run on another core;
the second one times what is there and adds a line for each layer. Both pass over what is done already and begin
nothing after ``--limit-seconds``. Run them from the root of the repository:

    python -m experiments.plain_c_share prepare --suite conv --limit-seconds 60
    python -m experiments.plain_c_share measure --limit-seconds 60
"""

from __future__ import annotations

import argparse
import csv
import math
import pickle
import shutil
import time
from collections.abc import Container, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from polydl import pipeline, registry, workloads
from polydl.execute.contract import Built, TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.measurement import Measurement
from polydl.ir.scop import Scop
from polydl.machine import Machine

KERNELS = ("libxsmm", "c")
RESULTS = Path(__file__).parent / "data" / "plain-c-share.csv"
PREPARED = Path("polydl-out/plain-c-share")
POLICY = TimingPolicy(rounds=9, budget_seconds=4.0, minimum_sample_seconds=5e-3)
_LAST = "layer.pickle"


@dataclass(frozen=True)
class Prepared:
    """A layer whose candidates are compiled."""

    #: operations of one invocation
    flops: int
    scop: Scop
    built: tuple[Built, ...]
    #: kind of each of ``built``: ``libxsmm`` or ``c``
    microkernels: tuple[str, ...]


@dataclass(frozen=True)
class Share:
    """Plain C's speed by LIBXSMM's in one layer, with the faster pick of either microkernel."""

    layer: str
    #: at the median time
    libxsmm_gflops: float
    #: at the median time
    c_gflops: float
    #: plain C's GFLOPS by LIBXSMM's, at the median times
    share: float
    #: the same at the shortest samples
    share_of_minima: float
    #: part of all samples that nothing disturbed
    undisturbed: float


def kept(path: Path) -> list[Share]:
    """What earlier runs have measured."""
    if not path.exists():
        return []
    kinds = {field.name: str if field.name == "layer" else float for field in fields(Share)}
    with path.open(encoding="utf-8", newline="") as file:
        return [Share(**{name: kinds[name](value) for name, value in row.items()}) for row in csv.DictReader(file)]


def keep(path: Path, shares: Iterable[Share]) -> None:
    temporary = path.with_suffix(".partial")
    with temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Share)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(share) for share in sorted(shares, key=lambda share: share.layer))
    temporary.replace(path)


def picks(scop: Scop, machine: Machine, microkernel: str, max_variants: int, count: int) -> list[KernelSource]:
    space = pipeline.space_on(scop, machine, microkernel=microkernel)
    generation = pipeline.generate(space, max_variants=max_variants)
    ranking = pipeline.rank(scop, generation.variants, machine=machine, microkernel=microkernel)
    return [pipeline.kernel(space.apply(entry.variant), machine.vector_bytes) for entry in ranking.entries[:count]]


def prepare(layer: str, machine: Machine, max_variants: int, count: int, directory: Path) -> None:
    """Compile the picks of a layer into ``directory``; the file that says so is written last."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    workload = workloads.workload(layer)
    scop = pipeline.parse(workload.write(directory))
    chosen = {
        kernel.id: (name, kernel) for name in KERNELS for kernel in picks(scop, machine, name, max_variants, count)
    }
    executor = registry.load("executors", "local")
    built = executor.build([kernel for _, kernel in chosen.values()], Toolchain.find(), directory)
    prepared = Prepared(workload.flops, scop, built, tuple(name for name, _ in chosen.values()))
    (directory / _LAST).write_bytes(pickle.dumps(prepared))


def measure(layer: str, prepared: Prepared) -> Share:
    """Raises ValueError if all picks of one of the microkernels failed, or both lead to the same plain loops."""
    executor = registry.load("executors", "local")
    reference, *candidates = prepared.built
    measured = executor.measure(candidates, reference, prepared.scop, threads=1, policy=POLICY, seed=0)
    best: dict[str, Measurement] = {}
    for name, measurement in zip(prepared.microkernels, measured, strict=True):
        if measurement.status == "ok" and (name not in best or _median(measurement) < _median(best[name])):
            best[name] = measurement
    if len(best) < len(KERNELS):
        failed = "; ".join(
            f"{measurement.status}: {measurement.message}" for measurement in measured if measurement.status != "ok"
        )
        raise ValueError(failed or "the microkernels make no difference to it")
    ours, theirs = best["c"], best["libxsmm"]
    samples = [sample for measurement in (ours, theirs) for sample in measurement.samples]
    return Share(
        layer,
        libxsmm_gflops=round(prepared.flops / _median(theirs) / 1e9, 1),
        c_gflops=round(prepared.flops / _median(ours) / 1e9, 1),
        share=round(_median(theirs) / _median(ours), 3),
        share_of_minima=round((theirs.seconds_minimum or math.nan) / (ours.seconds_minimum or math.nan), 3),
        undisturbed=round(sum(not sample.disturbed for sample in samples) / len(samples), 2),
    )


def _median(measurement: Measurement) -> float:
    assert measurement.seconds_median is not None
    return measurement.seconds_median


def prepare_all(layers: Sequence[str], done: Container[str], options: argparse.Namespace) -> None:
    """``done`` are measured already, and need nothing."""
    machine = Machine.detect(threads=1)
    deadline = time.monotonic() + options.limit_seconds
    for layer in layers:
        directory = options.directory / layer
        if layer in done or (directory / _LAST).exists():
            continue
        if time.monotonic() > deadline:
            return
        prepare(layer, machine, options.max_variants, options.picks, directory)
        print(f"{layer}  compiled", flush=True)


def measure_all(layers: Sequence[str], shares: list[Share], options: argparse.Namespace) -> None:
    known = {share.layer for share in shares if share.undisturbed >= options.least_undisturbed}
    deadline = time.monotonic() + options.limit_seconds
    for layer in layers:
        file = options.directory / layer / _LAST
        if layer in known or not file.exists():
            continue
        if time.monotonic() > deadline:
            return
        try:
            share = measure(layer, pickle.loads(file.read_bytes()))
        except ValueError as error:
            print(f"{layer}  {error}", flush=True)
            continue
        shares[:] = [share, *(other for other in shares if other.layer != layer)]
        keep(options.out, shares)
        print(
            f"{layer}  LIBXSMM {share.libxsmm_gflops:6.1f}  plain C {share.c_gflops:6.1f} GFLOPS  {share.share:.2f}",
            flush=True,
        )


def summary(shares: Sequence[Share]) -> str:
    """Empty without layers."""
    lines = []
    for name, values in (
        ("medians", [share.share for share in shares]),
        ("minima", [share.share_of_minima for share in shares]),
    ):
        if values:
            mean = math.exp(sum(map(math.log, values)) / len(values))
            lines.append(
                f"{len(values)} layers, of {name}: geomean {mean:.3f}, least {min(values):.2f}, most {max(values):.2f}"
            )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("prepare", "measure", "show"))
    parser.add_argument("--suite", default="conv", help="a suite of polydl.workloads")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth layer of the suite")
    parser.add_argument("--limit-seconds", type=float, default=math.inf, help="begin no layer after that")
    parser.add_argument("--max-variants", type=int, default=60)
    parser.add_argument(
        "--least-undisturbed",
        type=float,
        default=0.0,
        metavar="PART",
        help="measure layers again of which fewer samples were undisturbed",
    )
    parser.add_argument("--picks", type=int, default=2, help="candidates of either microkernel")
    parser.add_argument("--directory", type=Path, default=PREPARED, help="what is compiled and not measured yet")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    layers = list(workloads.suite(options.suite))[:: options.every]
    shares = kept(options.out)
    if options.step == "prepare":
        prepare_all(layers, {share.layer for share in shares}, options)
    elif options.step == "measure":
        measure_all(layers, shares, options)
    if options.step != "prepare":
        print(summary([share for share in shares if share.layer in layers]))


if __name__ == "__main__":
    main()
