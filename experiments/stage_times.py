"""One nest through the stages of the pipeline, in a process that has imported nothing before.

``python -m experiments.stage_times NEST VARIANTS THREADS TOP_K [NAME=VALUE ...]`` prints a JSON object. It calls what
``polydl.pipeline`` calls, each stage for all variants before the next, so that nothing is computed twice.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polydl.execute.contract import Progress
    from polydl.ir.scop import Scop
    from polydl.machine import Machine
    from polydl.plan.apply import Applied


class Stages:
    """Wall-clock seconds and CPU seconds, of this process and of its children that have ended, by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        before = _clocks()
        yield
        self.add(name, before)

    def add(self, name: str, before: tuple[float, float, float]) -> None:
        """What has passed since ``before`` belongs to a stage."""
        spent = [after - then for after, then in zip(_clocks(), before, strict=True)]
        known = self.seconds.setdefault(name, dict.fromkeys(("wall", "cpu", "children"), 0.0))
        for kind, value in zip(known, spent, strict=True):
            known[kind] += value


def _clocks() -> tuple[float, float, float]:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter(), time.process_time(), children.ru_utime + children.ru_stime


def working_sets(applied: Sequence[Applied], machine: Machine) -> list[Any]:
    """The working sets of each variant, those of the same scop together."""
    from polydl.reuse.working_sets import working_sets_of_many

    members: dict[int, list[int]] = {}
    for number, one in enumerate(applied):
        members.setdefault(id(one.executed[0]), []).append(number)
    found: dict[int, Any] = {}
    for numbers in members.values():
        schedules = [applied[number].executed[1].schedule for number in numbers]
        table = working_sets_of_many(applied[numbers[0]].executed[0], schedules, [c.bytes for c in machine.caches])
        found.update({n: table[row] for row, n in enumerate(numbers) if row not in table.failures})
    return [found.get(number) for number in range(len(applied))]


def analysed(stages: Stages, nest: Scop, machine: Machine, variants: int) -> tuple[Any, list[Applied]]:
    """From the nest to the ranking, with every variant as it was applied."""
    from polydl import pipeline
    from polydl.model.candidate import predicted_candidate
    from polydl.plan.apply import apply

    with stages.stage("space"):
        space = pipeline.space_on(nest, machine)
    with stages.stage("generate"):
        generation = pipeline.generate(space, max_variants=variants)
    with stages.stage("apply"):
        kernels = pipeline.microkernels(machine=machine)
        applied = [apply(nest, each, kernels, prove=False) for each in generation.variants]
    with stages.stage("working sets"):
        reuse = working_sets(applied, machine)
    with stages.stage("model"):
        pairs = zip(applied, reuse, strict=True)
        candidates = [predicted_candidate(one, known, machine) for one, known in pairs if known is not None]
    with stages.stage("score"):
        ranking = pipeline.ranker_named(pipeline.DEFAULT_RANKER).rank(candidates, machine)
    return ranking, applied


def measured(stages: Stages, nest: Scop, machine: Machine, ranking: Any, top_k: int) -> None:
    """The first of the ranking: code, compilation, check and timing, beside the plain nest."""
    from polydl import pipeline
    from polydl.codegen.original import original
    from polydl.execute.contract import TimingPolicy
    from polydl.execute.local import EXECUTOR
    from polydl.execute.toolchain import Toolchain

    with stages.stage("find compiler"):
        toolchain = Toolchain.find()
    with stages.stage("code"):
        picks = [each.variant for each in ranking.entries[:top_k]]
        kernels = [
            pipeline.kernel(pipeline.apply(nest, pick, machine=machine, prove=False), machine.vector_bytes)
            for pick in picks
        ]
    with TemporaryDirectory() as directory:
        with stages.stage("compile"):
            built = EXECUTOR.build([original(nest), *kernels], toolchain, Path(directory))
        before = _clocks()

        def progress(event: Progress) -> None:
            nonlocal before
            stages.add({"check": "verify", "time": "time"}[event.stage], before)
            before = _clocks()

        policy = TimingPolicy(rounds=25, adaptive=True)
        EXECUTOR.measure(built[1:], built[0], nest, threads=machine.threads, policy=policy, progress=progress)
        stages.add("time", before)


def document(name: str, variants: int, threads: int, top_k: int, defines: dict[str, str]) -> dict[str, Any]:
    """A nest's seconds by stage, the number of its variants, and the id of the one that is ranked first."""
    stages = Stages()
    with stages.stage("import"):
        from polydl import optimization as _optimization  # noqa: F401
        from polydl.start import collect_seldom
    collect_seldom()
    from polydl import pipeline, workloads
    from polydl.machine import Machine

    with TemporaryDirectory() as directory:
        path = Path(name) if Path(name).suffix == ".c" else workloads.workload(name).write(directory)
        with stages.stage("parse"):
            nest = pipeline.parse(path, defines=defines)
        machine = Machine.detect(threads=threads)
        ranking, applied = analysed(stages, nest, machine, variants)
        if top_k:
            measured(stages, nest, machine, ranking, top_k)
    best = ranking.entries[0].variant.id
    return {"nest": name, "variants": len(applied), "best": best, "seconds": stages.seconds}


def main() -> None:
    nest, variants, threads, top_k, *defines = sys.argv[1:]
    values = dict(each.split("=", 1) for each in defines)
    print(json.dumps(document(nest, int(variants), int(threads), int(top_k), values)))


if __name__ == "__main__":
    main()
