"""Halide's autoscheduler of Adams et al. (2019) on one problem, as a process: its search, then the time of its best.

``python adams2019.py NAME SECONDS START STEP`` samples schedules as ``autotune_loop.sh`` of Halide does: the first by
beam search alone, the others with random dropout, one seed after the other from ``START`` in steps of ``STEP``. Each is
compiled and timed, and one line ``seed seconds-since-begin seconds-per-call`` is written for it; in the end, ``ready``.
Then it writes the seconds of a call of its best for each line of its standard input: another process would get another
schedule of the same seed. The networks that come with Halide cost the schedules; they are not trained again.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import halide as hl
import numpy as np
from problems import PROBLEMS, Convolution, Problem, Product, drawn, inputs, is_right, output
from timing import answer, seconds_of

_PLUGIN = Path(hl.__file__).parent / "lib64" / "libautoschedule_adams2019.so"
# In percent, the chance of a decision of the beam search to survive, as autotune_loop.sh has it.
_DROPOUT = 80


def _convolution(problem: Convolution) -> tuple[Any, list[Any]]:
    image, weights = hl.ImageParam(hl.Float(32), 3, "image"), hl.ImageParam(hl.Float(32), 4, "weights")
    c, x, y = hl.Var("c"), hl.Var("x"), hl.Var("y")
    sums, result = hl.Func("sums"), hl.Func("result")
    taps = hl.RDom([(0, problem.channels), (0, problem.kernel), (0, problem.kernel)])
    sums[c, x, y] = 0.0
    sums[c, x, y] += (
        weights[c, taps.x, taps.y, taps.z] * image[taps.x, x * problem.stride + taps.y, y * problem.stride + taps.z]
    )
    result[c, x, y] = sums[c, x, y]
    return result, [image, weights]


def _product(problem: Product) -> tuple[Any, list[Any]]:
    a, b = hl.ImageParam(hl.Float(32), 2, "a"), hl.ImageParam(hl.Float(32), 2, "b")
    j, i = hl.Var("j"), hl.Var("i")
    sums, result = hl.Func("sums"), hl.Func("result")
    k = hl.RDom([(0, problem.k)])
    sums[j, i] = 0.0
    sums[j, i] += a[k.x, i] * b[j, k.x]
    result[j, i] = sums[j, i]
    return result, [a, b]


def _estimate(function: Any, shape: tuple[int, ...]) -> None:
    function.set_estimates([(0, size) for size in reversed(shape)])


class Compiled:
    """A schedule of a problem that can be timed."""

    def __init__(self, problem: Problem, seed: int) -> None:
        result, parameters = _convolution(problem) if isinstance(problem, Convolution) else _product(problem)
        shape = output(problem)
        for parameter, own in zip(parameters, inputs(problem), strict=True):
            _estimate(parameter, own)
        _estimate(result, shape)
        pipeline = hl.Pipeline(result)
        target = hl.get_host_target()
        options = {"parallelism": 1, "random_dropout_seed": seed}
        if seed:
            options["random_dropout"] = _DROPOUT
        pipeline.apply_autoscheduler(target, hl.AutoschedulerParams("Adams2019", options))
        self._arrays = drawn(problem)
        for parameter, array in zip(parameters, self._arrays, strict=True):
            parameter.set(hl.Buffer(array))
        pipeline.compile_jit(target)
        self._pipeline, self._problem = pipeline, problem
        self._answer = np.zeros(shape, np.float32)
        self._output = hl.Buffer(self._answer)
        self._pipeline.realize(self._output)

    def seconds(self) -> float:
        return seconds_of(lambda: self._pipeline.realize(self._output))

    def is_right(self) -> bool:
        return is_right(self._problem, self._arrays, self._answer)


def main() -> None:
    hl.load_plugin(str(_PLUGIN))
    problem = PROBLEMS[sys.argv[1]]
    budget, seed, step = float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    begin = time.perf_counter()
    best: tuple[float, Compiled] | None = None
    while best is None or time.perf_counter() - begin < budget:
        compiled = Compiled(problem, seed)
        seconds = min(compiled.seconds() for _ in range(3))
        print(seed, f"{time.perf_counter() - begin:.3f}", f"{seconds:.9f}", flush=True)
        if best is None or seconds < best[0]:
            best = seconds, compiled
        seed += step
    if not best[1].is_right():
        sys.exit(f"{sys.argv[1]}: the answer is wrong")
    answer(best[1].seconds)


if __name__ == "__main__":
    main()
