"""Working sets of threads that share a cache.

The model is OpenMP's static schedule: each thread gets an equal, contiguous share of the iterations of the outermost
parallel loop. Threads run in step: all of them are in the same iteration of their shares. While one thread runs from
the source of a dependence to its target, every other thread runs the same interval in its own iteration. Together they
use the union of the data touched in these intervals: data private to a thread counts once per thread, data that all
read counts once. This holds for dependences inside of the parallel loop. The working set of a dependence that the
parallel loop or a loop around it carries includes the iterations of all threads anyway.
"""

from __future__ import annotations

from collections.abc import Sequence

from polydl.ir.schedule import Loop
from polydl.reuse.references import Dimensions, Time

# First and last point in time, both included.
Stretch = tuple[Time, Time]


def outermost_parallel(dimensions: Dimensions, level: int) -> int | None:
    """The outermost time dimension before ``level`` that is a parallel loop; None if there is none."""
    return next((n for n, d in enumerate(dimensions[:level]) if isinstance(d, Loop) and d.parallel), None)


def in_step(
    first: Time, last: Time, parallel: int, iterations: tuple[int, int], threads: int, sharing: int
) -> tuple[Stretch, ...]:
    """The intervals that the ``sharing`` threads of one cache run while one of them runs from ``first`` to ``last``.

    ``first`` and ``last`` are in the same iteration of dimension ``parallel``, whose values are from ``iterations[0]``
    to ``iterations[1]`` on ``threads`` threads. Threads with neighbouring shares share a cache. A thread whose share
    is shorter has no interval once it is done.
    """
    least, greatest = iterations
    length = -(-(greatest - least + 1) // threads)
    thread, position = divmod(first[parallel] - least, length)
    begin = thread // sharing * sharing
    stretches = []
    for other in range(begin, begin + sharing):
        iteration = least + other * length + position
        if iteration <= greatest:
            stretches.append((_moved(first, parallel, iteration), _moved(last, parallel, iteration)))
    return tuple(stretches)


def _moved(time: Sequence[int], level: int, value: int) -> Time:
    return (*time[:level], value, *time[level + 1 :])
