"""TVM's MetaSchedule on one problem, as a process: its search, or the time of its best schedule.

``python meta_schedule.py search NAME FOLDER`` searches until it is ended from outside; its database in the folder has a
line for each schedule that was measured. ``python meta_schedule.py time NAME FOLDER`` compiles the best of the database
again, and writes the seconds of a call for each line of its standard input.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from problems import PROBLEMS, Convolution
from tvm import te
from tvm.s_tir import meta_schedule

# Without end: the search is ended when its time is up.
_TRIALS = 10**6
_BATCH = 16
# A sample takes at least so many milliseconds.
_SAMPLE = 20


def _module(name: str) -> tuple[Any, list[tuple[int, ...]]]:
    problem = PROBLEMS[name]
    if isinstance(problem, Convolution):
        shapes = [
            problem.image,
            (problem.kernel, problem.kernel, problem.channels, problem.filters),
            (problem.height, problem.width, problem.filters),
        ]
        image, weights = te.placeholder(shapes[0], name="image"), te.placeholder(shapes[1], name="weights")
        rows, columns = te.reduce_axis((0, problem.kernel)), te.reduce_axis((0, problem.kernel))
        channel = te.reduce_axis((0, problem.channels))
        output = te.compute(
            shapes[2],
            lambda y, x, c: te.sum(
                image[y * problem.stride + rows, x * problem.stride + columns, channel]
                * weights[rows, columns, channel, c],
                axis=[rows, columns, channel],
            ),
            name="output",
        )
        function = te.create_prim_func([image, weights, output])
    else:
        shapes = [(problem.m, problem.k), (problem.k, problem.n), (problem.m, problem.n)]
        a, b = te.placeholder(shapes[0], name="a"), te.placeholder(shapes[1], name="b")
        k = te.reduce_axis((0, problem.k))
        output = te.compute(shapes[2], lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="output")
        function = te.create_prim_func([a, b, output])
    return tvm.IRModule({"main": function}), shapes


def _target(processor: str) -> Any:
    return tvm.target.Target({"kind": "llvm", "mcpu": processor, "num-cores": 1})


def _search(name: str, folder: Path, processor: str) -> None:
    module, _ = _module(name)
    evaluator = meta_schedule.runner.EvaluatorConfig(number=1, repeat=3, min_repeat_ms=_SAMPLE)
    meta_schedule.tune_tir(
        module,
        _target(processor),
        str(folder),
        max_trials_global=_TRIALS,
        num_trials_per_iter=_BATCH,
        runner=meta_schedule.runner.LocalRunner(evaluator_config=evaluator),
    )


def _time(name: str, folder: Path, processor: str) -> None:
    module, shapes = _module(name)
    target = _target(processor)
    database = meta_schedule.database.JSONDatabase(work_dir=str(folder))
    schedule = meta_schedule.tir_integration.compile_tir(database, module, target)
    compiled = tvm.compile(schedule.mod, target)
    generator = np.random.default_rng(0)
    arrays = [generator.random(shape, dtype=np.float32) for shape in shapes]
    tensors = [tvm.runtime.tensor(array) for array in arrays]
    compiled(*tensors)
    if not isinstance(PROBLEMS[name], Convolution) and not np.allclose(
        tensors[2].numpy(), arrays[0] @ arrays[1], rtol=1e-3
    ):
        sys.exit(f"{name}: the answer is wrong")
    evaluator = compiled.mod.time_evaluator("main", tvm.cpu(), number=1, min_repeat_ms=_SAMPLE)
    print("ready", flush=True)
    for _ in sys.stdin:
        print(f"{evaluator(*tensors).mean:.9f}", flush=True)


def main() -> None:
    action, name, folder, processor = sys.argv[1:]
    (_search if action == "search" else _time)(name, Path(folder), processor)


if __name__ == "__main__":
    main()
