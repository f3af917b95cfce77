"""What threads that share a cache have in use together, where one of them has a working set.

The iterations of the outermost parallel loop are dealt to the threads in equal stretches, as OpenMP's static schedule
deals them, and the threads run in step: while one is in some iteration of its stretch, each other is in the same
iteration of its own. The working set of a dependence inside that loop is then the stretch of time from source to target
in each of these iterations, and what they touch together is their union: data that no other thread touches counts once
for each thread, data that all read counts once. A dependence that the parallel loop carries, or a loop around it,
already has the iterations of all threads in its working set.
"""

from __future__ import annotations

from collections.abc import Sequence

from polydl.ir.schedule import Loop
from polydl.reuse.references import Dimensions, Time

Stretch = tuple[Time, Time]


def outermost_parallel(dimensions: Dimensions, level: int) -> int | None:
    """The first time dimension before ``level`` whose iterations run on different threads."""
    return next((n for n, d in enumerate(dimensions[:level]) if isinstance(d, Loop) and d.parallel), None)


def in_step(
    first: Time, last: Time, parallel: int, iterations: tuple[int, int], threads: int, sharing: int
) -> tuple[Stretch, ...]:
    """The stretches of time in which ``sharing`` threads are while one of them runs from ``first`` to ``last``.

    Both lie in one iteration of dimension ``parallel``, which runs over ``iterations`` (least and greatest) on
    ``threads`` threads. Threads with neighbouring iterations share a cache; those that have run out are idle.
    """
    least, greatest = iterations
    length = -(-(greatest - least + 1) // threads)
    thread, place = divmod(first[parallel] - least, length)
    begin = thread // sharing * sharing
    found = []
    for other in range(begin, begin + sharing):
        iteration = least + other * length + place
        if iteration <= greatest:
            found.append((_moved(first, parallel, iteration), _moved(last, parallel, iteration)))
    return tuple(found)


def _moved(time: Sequence[int], level: int, value: int) -> Time:
    return (*time[:level], value, *time[level + 1 :])
