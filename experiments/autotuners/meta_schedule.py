"""TVM's MetaSchedule on one problem, as a process: its search, or the time of its best schedule.

``python meta_schedule.py search NAME FOLDER PROCESSOR`` searches until it is ended from outside; its database in the
folder has a line for each schedule that was measured. ``python meta_schedule.py time NAME FOLDER PROCESSOR`` compiles
the best of the database again, and writes the seconds of a call for each line of its standard input. The processor is
what LLVM calls it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import tvm
from problems import PROBLEMS, Convolution, drawn, inputs, is_right, output
from timing import SAMPLE_SECONDS, answer
from tvm import te
from tvm.s_tir import meta_schedule

# Without end: the search is ended when its time is up.
_TRIALS = 10**6
_BATCH = 16
_SAMPLE_MILLISECONDS = round(1000 * SAMPLE_SECONDS)


def _module(name: str) -> Any:
    problem = PROBLEMS[name]
    first, second = (te.placeholder(shape, name=name) for shape, name in zip(inputs(problem), "ab", strict=True))
    if isinstance(problem, Convolution):
        rows, columns = te.reduce_axis((0, problem.kernel)), te.reduce_axis((0, problem.kernel))
        channel = te.reduce_axis((0, problem.channels))
        result = te.compute(
            output(problem),
            lambda y, x, c: te.sum(
                first[y * problem.stride + rows, x * problem.stride + columns, channel]
                * second[rows, columns, channel, c],
                axis=[rows, columns, channel],
            ),
        )
    else:
        k = te.reduce_axis((0, problem.k))
        result = te.compute(output(problem), lambda i, j: te.sum(first[i, k] * second[k, j], axis=k))
    return tvm.IRModule({"main": te.create_prim_func([first, second, result])})


def _target(processor: str) -> Any:
    return tvm.target.Target({"kind": "llvm", "mcpu": processor, "num-cores": 1})


def _search(name: str, folder: Path, processor: str) -> None:
    evaluator = meta_schedule.runner.EvaluatorConfig(number=1, repeat=3, min_repeat_ms=_SAMPLE_MILLISECONDS)
    meta_schedule.tune_tir(
        _module(name),
        _target(processor),
        str(folder),
        max_trials_global=_TRIALS,
        num_trials_per_iter=_BATCH,
        runner=meta_schedule.runner.LocalRunner(evaluator_config=evaluator),
    )


def _time(name: str, folder: Path, processor: str) -> None:
    problem, target = PROBLEMS[name], _target(processor)
    database = meta_schedule.database.JSONDatabase(work_dir=str(folder))
    schedule = meta_schedule.tir_integration.compile_tir(database, _module(name), target)
    compiled = tvm.compile(schedule.mod, target)
    arrays = drawn(problem)
    tensors = [tvm.runtime.tensor(array) for array in (*arrays, np.zeros(output(problem), np.float32))]
    compiled(*tensors)
    if not is_right(problem, arrays, tensors[2].numpy()):
        sys.exit(f"{name}: the answer is wrong")
    evaluator = compiled.mod.time_evaluator("main", tvm.cpu(), number=1, min_repeat_ms=_SAMPLE_MILLISECONDS)
    answer(lambda: float(evaluator(*tensors).mean))


def main() -> None:
    action, name, folder, processor = sys.argv[1:]
    (_search if action == "search" else _time)(name, Path(folder), processor)


if __name__ == "__main__":
    main()
