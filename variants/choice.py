"""A full assignment of one nest's decisions in the words of the steps, and how plain innermost loops run in it.

Rules for these, each by an argument that holds for any nest:

* a sum may have several iterations (``TOGETHER``) of the loop next to the innermost one run in one of that, so that
  several sums share what they load and hide each other's latency;
* arrays of nests that don't fit into the second cache may be written past the caches, where that is possible;
* where an array is updated in place, vectors may be half as long as the longest: some caches write these back faster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from polydl.plan.streaming import stride
from polydl.poly.legality import order_is_legal, parallel_is_legal
from polydl.variants.nest_facts import NestFacts
from polydl.variants.parallel_loops import ThreadedLoop, combined
from polydl.variants.shapes import Shape

# Sums that hide each other's latency: an addition takes four cycles on most cores, of which one or two start in each.
TOGETHER = (4, 8)
# Iterations of a vector loop below which sums have registers of their own anyway.
SHORT = 64


class InnermostMode(NamedTuple):
    """How the innermost of plain loops run: one of these at most is not as usual."""

    #: So many iterations of the loop next to the innermost one at once; 0 for one after the other.
    unroll: int = 0
    #: Whether all arrays that may be are written past the caches.
    stream: bool = False
    #: Bytes of vectors, 0 for the longest.
    vectors: int = 0


USUAL = InnermostMode()


@dataclass(frozen=True)
class Choice:
    """A full assignment of one nest's decisions, in the names of generated loops."""

    #: Of the microkernel's calls; that of plain loops has no match.
    shape: Shape
    #: Loops that get a further tile, with its size.
    tiles: tuple[tuple[str, int], ...]
    #: Generated loops, outermost first.
    order: tuple[str, ...]
    #: None where nothing runs in parallel.
    parallel: ThreadedLoop | None
    #: The innermost loop, if all of its iterations are to run in one of the loop outside, and its tile's size.
    together: tuple[str, int] | None = None
    #: Arrays that are written past the caches.
    streamed: tuple[str, ...] = ()
    #: Bytes of vectors, 0 for the longest.
    vector_bytes: int = 0


def runs(facts: NestFacts, choice: Choice) -> dict[InnermostMode, Choice]:
    """The choice, and those that differ from it in how plain innermost loops run."""
    ways = {USUAL: choice}
    if not facts.plain or not choice.order:
        return ways
    streamed = tuple(name for name in facts.streamable if _fills_lines(facts, name, choice))
    if streamed:
        ways[InnermostMode(stream=True)] = replace(choice, streamed=streamed)
    if has_short_vectors(facts):
        half = facts.machine.vector_bytes // 2
        ways[InnermostMode(vectors=half)] = replace(choice, vector_bytes=half)
    for size in TOGETHER:
        unrolled = _unrolled(facts, choice, size)
        if unrolled is not None:
            ways[InnermostMode(unroll=size)] = unrolled
    return ways


def has_short_vectors(facts: NestFacts) -> bool:
    """Whether shorter vectors are tried: where the longest is a whole line, and the nest updates arrays in place."""
    return facts.machine.vector_bytes >= facts.machine.core.line_bytes and facts.updates


def _fills_lines(facts: NestFacts, array: str, choice: Choice) -> bool:
    loop = choice.order[-1]
    if loop not in facts.nest.loops:
        return False
    writer = next(s for s in facts.statements if any(access.array == array for access in s.writes))
    run = min(facts.extents[loop], dict(choice.tiles).get(loop, facts.extents[loop]))
    whole = run * facts.scop.array(array).element_bytes >= facts.machine.core.line_bytes
    return whole and stride(facts.scop, writer, array, facts.nest.depth + facts.nest.loops.index(loop)) == 1


def _unrolled(facts: NestFacts, choice: Choice, size: int) -> Choice | None:
    """The choice with ``size`` iterations of the loop next to the innermost one at once; None if that can't be."""
    if len(choice.order) < 2 or not facts.adds or not facts.even:
        return None
    *outer, near, vector = choice.order
    tile = dict(choice.tiles).get(near)
    span = tile or facts.extents.get(near, 0)
    short = min(facts.extents.get(vector, 0), dict(choice.tiles).get(vector, SHORT + 1)) <= SHORT
    if near not in facts.nest.loops or span < size or (tile or size) % size or short:
        return None
    names = {near: f"{near}_t1", f"{near}_t1": f"{near}_t2"} if span > size else {}
    order = (*(names.get(name, name) for name in outer), *([names[near]] if names else []), vector, near)
    on = choice.parallel
    if on is not None:
        if on.inner or on.loop == vector or (on.loop == near and not names):
            return None
        on = replace(on, loop=names.get(on.loop, on.loop))
    time = facts.time_order(choice.shape, order)
    if not order_is_legal(facts.directions, time):
        return None
    if choice.parallel is not None and on is not None:
        sums = combined(facts, choice.shape, choice.order, choice.parallel)
        legal = parallel_is_legal(facts.directions, time, order.index(on.loop), sums)
        if not legal or combined(facts, choice.shape, order, on) != sums:
            return None
    return replace(choice, order=order, parallel=on, together=(near, size if names else 0))


def usual(facts: NestFacts, choice: Choice) -> tuple[Choice, InnermostMode]:
    """What ``runs`` made a choice from, and how: its inverse."""
    run = InnermostMode(0, bool(choice.streamed), choice.vector_bytes)
    plain = replace(choice, together=None, streamed=(), vector_bytes=0)
    if choice.together is None:
        return plain, run
    near, size = choice.together
    *outer, vector, _ = choice.order
    if not size:
        unrolled = run._replace(unroll=min(facts.extents[near], dict(choice.tiles).get(near, facts.extents[near])))
        return replace(plain, order=(*outer, near, vector)), unrolled
    names = {f"{near}_t1": near, f"{near}_t2": f"{near}_t1"}
    on = choice.parallel
    return (
        replace(
            plain,
            order=(*(names.get(name, name) for name in outer), vector),
            parallel=on if on is None else replace(on, loop=names.get(on.loop, on.loop)),
        ),
        run._replace(unroll=size),
    )
