"""Strip-mining of vector loops whose bodies refer to many elements of arrays: a loop of strips of one vector each.

gcc keeps an address for each reference of a loop that it makes vectors of. Where these are more than there are
registers, it loads each from the stack where it is used. A strip is no loop any more once it is one vector: its
references lie at constant distances from a few addresses, which go with the loop around it.
"""

from __future__ import annotations

from dataclasses import replace

from polydl.codegen.context import Context
from polydl.codegen.loop_ir import Body, For, Node, at_most, expressions, mapped
from polydl.codegen.values import Element, Integer, Name, mentions, plus

#: The fewest references whose addresses get scarce in the fifteen registers that x86-64 has for them, for counters and
#: for bounds. Pooling over 3 by 3 elements gains; loops with fewer are as fast either way.
MANY_REFERENCES = 8


def run(ir: Body, context: Context) -> Body:  # noqa: ARG001
    """Loops of several whole vectors with many references become loops of strips."""
    return mapped(ir, lambda node: _in_strips(node) if isinstance(node, For) else node)


def _in_strips(loop: For) -> Node:
    # The lanes of sums stay those of the whole loop: each strip would have to add them up.
    if loop.pragma is None or loop.pragma.directive != "simd" or loop.pragma.sums or loop.along:
        return loop
    lanes, trips, last = loop.pragma.simdlen, loop.trips, loop.last
    if last is None or trips is None or lanes < 2 or trips <= lanes or trips % lanes:
        return loop
    if _moving_references(loop) < MANY_REFERENCES:
        return loop
    strip = f"polydl_{loop.iterator.removeprefix('polydl_')}_strip"
    one_vector = replace(
        loop,
        first=Name(strip),
        condition=at_most(loop.iterator, plus(Name(strip), lanes - 1)),
        before=(),
        after=(),
    )
    return replace(
        loop,
        iterator=strip,
        condition=at_most(strip, last),
        step=Integer(lanes),
        body=(one_vector,),
        vector=False,
        pragma=None,
    )


def _moving_references(loop: For) -> int:
    """How many different elements the body refers to that are others in each iteration."""
    references = {part for part in expressions(loop.body) if isinstance(part, Element)}
    return sum(mentions(reference, loop.iterator) for reference in references)
