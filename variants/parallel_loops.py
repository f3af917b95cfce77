"""Which loop of a nest, in a given order, runs its iterations on different threads.

Rules, each by an argument that holds for any nest:

* the parallel loop has at least as many iterations as there are threads, if any legal loop has, and at most
  ``FORKS`` iterations of sequential loops around it;
* the next loop inside is collapsed with it only where threads would else idle for more than ``IDLE`` says;
* iterations are dealt out dynamically only where they differ in what they do;
* the outermost of plain loops, where no loop is legal otherwise, may run so that each thread adds up sums of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from polydl.poly.legality import parallel_is_legal
from polydl.poly.reductions import combinable
from polydl.variants.nest_facts import NestFacts
from polydl.variants.shapes import Shape

# Threads that start more often take longer to do so than most nests take: by the usual time of a start
# (``Core.thread_start_seconds``), so many take 0.2 ms. One for all machines, since it decides which variants there are.
FORKS = 64
# A twentieth of the time: less is not worth the divisions by which two loops are dealt out.
IDLE = 1.05


@dataclass(frozen=True)
class ThreadedLoop:
    """The loop whose iterations run on different threads, as the step ``Parallel`` has it."""

    loop: str
    #: the next loop inside, if its iterations are dealt out as well; "" if not
    inner: str = ""
    #: whether threads get the next iteration when they are done with one
    dynamic: bool = False


def parallel_choices(
    facts: NestFacts, shape: Shape, tiles: tuple[tuple[str, int], ...], order: Sequence[str]
) -> tuple[ThreadedLoop | None, ...]:
    """Loops of this order that may and should run in parallel, one or two; (None,) if there is none."""
    if facts.threads == 1:
        return (None,)
    trips = facts.loop_trips(shape, dict(tiles))
    time = facts.time_order(shape, order)
    legal: dict[ThreadedLoop, int] = {}
    around = 1
    for place, name in enumerate(order):
        if trips[name] > 1 and around <= FORKS and parallel_is_legal(facts.directions, time, place):
            legal[ThreadedLoop(name)] = trips[name]
            inner = "".join(order[place + 1 : place + 2])
            # The innermost of plain loops is for vectors.
            outside = not shape.plain or place + 2 < len(order)
            together = trips.get(inner, 1) > 1 and outside and idles(facts, trips, ThreadedLoop(name))
            if together and parallel_is_legal(facts.directions, time, place + 1):
                legal[ThreadedLoop(name, inner)] = trips[name] * trips[inner]
        around *= trips[name]
    enough = [on for on, iterations in legal.items() if iterations >= facts.threads]
    static = tuple(enough or legal) or _summing_choices(facts, shape, trips, order)
    if facts.even or not static:
        return static or (None,)
    return (*static, *(replace(on, dynamic=True) for on in static))


def idles(facts: NestFacts, trips: Mapping[str, int], on: ThreadedLoop) -> bool:
    """Whether threads wait for the busiest one for long, where iterations are dealt out evenly."""
    iterations = trips[on.loop] * trips.get(on.inner, 1)
    return facts.threads * -(-iterations // facts.threads) > IDLE * iterations


def _summing_choices(
    facts: NestFacts, shape: Shape, trips: Mapping[str, int], order: Sequence[str]
) -> tuple[ThreadedLoop, ...]:
    """The outermost loop, if it can run in parallel once each thread adds up sums of its own."""
    time = facts.time_order(shape, order)
    outer = next((place for place, name in enumerate(order) if trips[name] > 1), None)
    if not facts.plain or outer is None:
        return ()
    sums = summed(facts, time[outer])
    legal = parallel_is_legal(facts.directions, time, outer, sums)
    return (ThreadedLoop(order[outer]),) if sums and legal else ()


def summed(facts: NestFacts, loop: int) -> tuple[str, ...]:
    """The arrays that a loop of the nest adds to in all iterations, small enough for a copy per thread."""
    every = dict.fromkeys(facts.nest.statements, loop + facts.nest.depth)
    return combinable(facts.scop, list(facts.statements), every)


def combined(facts: NestFacts, shape: Shape, order: Sequence[str], on: ThreadedLoop) -> tuple[str, ...]:
    """What the threads of the parallel loop have to add up."""
    place = order.index(on.loop)
    time = facts.time_order(shape, order)
    return () if parallel_is_legal(facts.directions, time, place) else summed(facts, time[place])
