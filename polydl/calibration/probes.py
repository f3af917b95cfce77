"""Little programs that time cases of something in turns, and which of their samples count."""

from __future__ import annotations

import os
from collections.abc import Sequence

from polydl.calibration.tables import WORKER, compiled
from polydl.errors import ExecutionError
from polydl.execute.child import Child, ChildError
from polydl.execute.toolchain import Toolchain
from polydl.system.files import temporary_directory

#: What C begins with that times itself: ``seconds()`` of a clock that never goes back.
SECONDS = """\
#define _POSIX_C_SOURCE 200112L
#include <time.h>
static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
"""
_REMEDY = "calibrate again while nothing else runs, or with another gcc first in the search path"
_TIMEOUT_SECONDS = 120.0
# A round counts if multiply-adds before and after it are no further below the peak; so many rounds are enough.
_TOLERANCE, _LEAST_ROUNDS, _MOST_TURNS = 0.05, 4, 3
# The least samples of the even and of the odd rounds agree within this part; else the case was disturbed.
_AGREEMENT = 0.1


def probed(
    text: str, toolchain: Toolchain, cores: Sequence[int], cases: Sequence[Sequence[int]], rounds: int, *, what: str
) -> tuple[list[list[float]], list[float]]:
    """The seconds of each case in each round, all cases in turns, and GFLOPS of multiply-adds around the rounds.

    ``text`` is C with ``double polydl_probe(const long *numbers)``, which gets a case's numbers. ``what`` is probed, in
    words. Raises ExecutionError if the C does not compile or run.
    """
    with temporary_directory() as directory:
        library = compiled(text, toolchain, directory / "probe.so", what=f"the probe of {what}", remedy=_REMEDY)
        try:
            with Child(list(cores), directory, WORKER) as child:
                options = {"library": os.fspath(library), "cases": [list(case) for case in cases], "rounds": rounds}
                reply = child.request("probe", _TIMEOUT_SECONDS, **options)
        except ChildError as error:
            raise ExecutionError(f"{what} can't be timed ({error.status}): {error.message}", remedy=_REMEDY) from None
    return reply["seconds"], reply["gflops"]


def least_seconds(
    text: str,
    toolchain: Toolchain,
    core: int,
    cases: Sequence[Sequence[int]],
    rounds: int,
    peak_gflops: float,
    *,
    what: str,
) -> list[float | None]:
    """The least seconds of each case on the core, whose peak that is; None for what something disturbed.

    Where others kept the core busy in nearly all rounds, there are up to two times as many more. Raises ExecutionError
    as ``probed`` does.
    """
    kept: list[list[float]] = [[] for _ in cases]
    for _ in range(_MOST_TURNS):
        seconds, gflops = probed(text, toolchain, [core], cases, rounds, what=what)
        for samples, taken in zip(kept, seconds, strict=True):
            samples += undisturbed(taken, gflops, peak_gflops)
        if len(kept[0]) >= min(_LEAST_ROUNDS, rounds):
            break
    return [steady(samples) for samples in kept]


def undisturbed(seconds: Sequence[float], gflops: Sequence[float], peak_gflops: float) -> list[float]:
    """The samples whose rounds had the core for themselves: ``gflops`` are those before each, and after the last."""
    least = (1.0 - _TOLERANCE) * peak_gflops
    return [
        taken for taken, before, after in zip(seconds, gflops, gflops[1:], strict=False) if min(before, after) >= least
    ]


def steady(samples: Sequence[float]) -> float | None:
    """The least of samples of the same case; None if there are few, or if half of the rounds say something else."""
    if len(samples) < 2:
        return None
    halves = [min(samples[first::2]) for first in range(2)]
    least = min(halves)
    return least if max(halves) <= (1.0 + _AGREEMENT) * least else None
