"""How fast the plain C microkernel is beside LIBXSMM on convolution layers.

For each layer, the first picks of either microkernel are compiled and timed in one interleaved run, each against the
same reference. What is in the output file already is not measured again. Run it from the root of the repository:

    python -m experiments.plain_c_share --suite conv --every 6 --threads 1 --out share.json
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polydl import pipeline, registry, workloads
from polydl.execute.contract import TimingPolicy
from polydl.execute.toolchain import Toolchain
from polydl.machine import Machine
from polydl.types import KernelSource, Scop

KERNELS = ("libxsmm", "c")
PICKS = 3


@dataclass(frozen=True)
class Share:
    """Seconds of the fastest pick of either microkernel, and the GFLOPS that they make."""

    layer: str
    libxsmm_seconds: float
    c_seconds: float
    libxsmm_gflops: float
    c_gflops: float

    @property
    def share(self) -> float:
        return self.libxsmm_seconds / self.c_seconds


def kept(path: Path | None) -> list[Share]:
    """What an earlier run has measured."""
    if path is None or not path.exists():
        return []
    layers = json.loads(path.read_text(encoding="utf-8"))["layers"]
    return [Share(**{name: value for name, value in each.items() if name != "share"}) for each in layers]


def keep(path: Path, machine: Machine, shares: Sequence[Share]) -> None:
    document = {"machine": machine.to_json(), "layers": [vars(each) | {"share": each.share} for each in shares]}
    temporary = path.with_suffix(".partial")
    temporary.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)


def picks(scop: Scop, machine: Machine, microkernel: str, max_variants: int) -> list[KernelSource]:
    generation = pipeline.generate(scop, machine=machine, microkernel=microkernel, max_variants=max_variants)
    ranking = pipeline.rank(scop, generation.variants, machine=machine, microkernel=microkernel)
    space = pipeline.space_on(scop, machine, microkernel=microkernel)
    return [pipeline.kernel(space, each.variant, machine.vector_bytes) for each in ranking.entries[:PICKS]]


def measure(layer: str, machine: Machine, max_variants: int, directory: Path) -> Share:
    workload = workloads.workload(layer)
    scop = pipeline.parse(workload.write(directory))
    kernels = {name: picks(scop, machine, name, max_variants) for name in KERNELS}
    executor = registry.load("executors", "local")
    built = executor.build([each for name in KERNELS for each in kernels[name]], Toolchain.find(), directory)
    policy = TimingPolicy(rounds=15, budget_seconds=5.0)
    measured = executor.measure(built[1:], built[0], scop, threads=machine.threads, policy=policy, seed=0)
    seconds = {each.id: each.seconds_minimum for each in measured if each.status == "ok"}
    best = {name: min(seconds[k.id] or math.inf for k in kernels[name] if k.id in seconds) for name in KERNELS}
    rates = {name: workload.flops / best[name] / 1e9 for name in KERNELS}
    return Share(layer, best["libxsmm"], best["c"], rates["libxsmm"], rates["c"])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", default="resnet", help="a suite of polydl.workloads")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth layer of the suite")
    parser.add_argument("--limit", type=int, metavar="N", help="measure at most N further layers")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-variants", type=int, default=150)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(arguments)
    machine = Machine.detect(threads=options.threads)
    shares = kept(options.out)
    known = {each.layer for each in shares}
    layers = [layer for layer in list(workloads.suite(options.suite))[:: options.every] if layer not in known]
    for layer in layers[: options.limit]:
        with tempfile.TemporaryDirectory(prefix="polydl-share-") as directory:
            share = measure(layer, machine, options.max_variants, Path(directory))
        shares.append(share)
        print(
            f"{layer}  LIBXSMM {share.libxsmm_gflops:6.1f}  plain C {share.c_gflops:6.1f} GFLOPS  {share.share:.2f}",
            flush=True,
        )
        if options.out is not None:
            keep(options.out, machine, shares)
    values = [each.share for each in shares]
    if values:
        geomean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"{len(values)} layers: geomean {geomean:.3f}, least {min(values):.2f}, most {max(values):.2f}")


if __name__ == "__main__":
    main()
