"""One nest through the stages of the pipeline, in a process that has imported nothing before.

``python -m experiments.stage_times NEST VARIANTS THREADS TOP_K [NAME=VALUE ...]`` prints a JSON object.
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
    from polydl.ir.scop import Scop
    from polydl.ir.variant import Variant
    from polydl.machine import Machine
    from polydl.pipeline import Stage


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


def measured(stages: Stages, nest: Scop, space: Any, machine: Machine, picks: Sequence[Variant]) -> None:
    """What follows a ranking: code, compilation, check and timing beside plain builds, and what is written out."""
    from polydl import optimize
    from polydl.execute.toolchain import Toolchain

    with stages.stage("find compiler"):
        Toolchain.find()
    names = {"analyse": "analyse picks", "compile": "code, compile", "verify": "verify", "time": "time, emit"}
    before, last = _clocks(), ""

    def progress(event: Stage) -> None:
        nonlocal before, last
        # A round of timing is announced before it begins.
        last = event.name
        stages.add(names[event.name], before)
        before = _clocks()

    optimize(nest, machine=machine, space=space, variants=picks, records=False, progress=progress)
    stages.add(names[last], before)


def document(name: str, variants: int, threads: int, top_k: int, defines: dict[str, str]) -> dict[str, Any]:
    """A nest's seconds by stage, the number of its variants, and the id of the one that is ranked first."""
    stages = Stages()
    with stages.stage("import"):
        from polydl import optimize as _optimize  # noqa: F401
        from polydl.start import collect_seldom
    collect_seldom()
    from polydl import Machine, pipeline, registry, workloads

    with TemporaryDirectory() as directory:
        path = Path(name) if Path(name).suffix == ".c" else workloads.workload(name).write(directory)
        with stages.stage("parse"):
            nest = pipeline.parse(path, defines=defines)
        machine = Machine.detect(threads=threads)
        with stages.stage("space"):
            space = pipeline.space_on(nest, machine)
        with stages.stage("generate"):
            generation = pipeline.generate(space, max_variants=variants)
        candidates = pipeline.candidates(nest, generation.variants, machine=machine, clock=stages)
        with stages.stage("score"):
            ranking = pipeline.ranker_named(registry.DEFAULT_RANKER).rank(candidates, machine)
        picks = [each.variant for each in ranking.entries[:top_k]]
        if picks:
            measured(stages, nest, space, machine, picks)
    best = ranking.entries[0].variant.id
    return {"nest": name, "variants": len(generation.variants), "best": best, "seconds": stages.seconds}


def main() -> None:
    nest, variants, threads, top_k, *defines = sys.argv[1:]
    values = dict(each.split("=", 1) for each in defines)
    print(json.dumps(document(nest, int(variants), int(threads), int(top_k), values)))


if __name__ == "__main__":
    main()
