"""Vector accumulators: sums that loops around a short vector loop add to again and again, one for each lane.

They stay in registers, which what lies in memory under two names can't; and shorter sums round less. Where there is
nothing but such sums, iterations of the loop next to the lanes take turns with several accumulators, so that none waits
for the addition of the one before. Where terms are many, what that loop has summed up is added to accumulators of the
loops around it: two short chains of additions round less than a long one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from polydl.codegen.context import Context
from polydl.codegen.entered import independent, runs_always, where_entered
from polydl.codegen.loop_ir import (
    Assign,
    Block,
    Body,
    Declare,
    For,
    Node,
    Pragma,
    Variable,
    assignments,
    at_most,
    has_loop,
    mapped,
    only_loop,
    statements,
    with_bodies,
    with_elements_of,
    with_values,
)
from polydl.codegen.passes.unroll_and_jam import Iteration, copies, iterations, unrolled_inside
from polydl.codegen.values import Binary, Element, Integer, Linear, Name, linear, mentions, with_elements

# Lanes that may have accumulators in registers, and the terms that each of them adds up over several loops.
_MOST_LANES = 64
_MOST_TERMS = 256
# Vectors that iterations take turns with: an addition takes about as many cycles.
_MOST_ACCUMULATORS = 4


@dataclass(frozen=True)
class _Accumulators:
    """Accumulators of one statement."""

    #: Of the arrays of accumulators, with which iterations take turns.
    names: tuple[str, ...]
    #: What these names have in common.
    base: str
    #: Counter of the loop over lanes, each of which has an accumulator.
    lane: str
    #: How many values that counter has.
    lanes: int
    #: C type of the accumulators.
    type: str
    #: What they are added to at the end.
    target: Element
    #: Whether nothing adds to them but what an inner loop has summed up.
    outer: bool

    @property
    def declaration(self) -> Declare:
        zeros = (Variable(name, (self.lanes,), Integer(0)) for name in self.names)
        return Declare(self.type, tuple(zeros))

    def at(self, name: str) -> Element:
        return Element(name, (Name(self.lane),))

    @property
    def added(self) -> For:
        """The loop that adds the accumulators to the target, short enough to be unrolled before it fills vectors."""
        terms = [(1, self.at(name)) for name in self.names]
        condition = Binary("<", Name(self.lane), Integer(self.lanes))
        body = (Assign(self.target, "+=", linear(terms)),)
        return For(self.lane, Integer(0), condition, body, pragma=Pragma("simd"))


# By statement, the name that its accumulators have in common, and how many of them an innermost loop takes turns with.
_Kept = Mapping[str, tuple[str, int]]


def run(ir: Body, context: Context) -> Body:
    """Loops around short vector loops get accumulators before them, and add them to the target after them."""
    return tuple(made for node in ir for made in _visited(node, context, {}))


def _visited(node: Node, context: Context, kept: _Kept) -> Body:
    if not isinstance(node, For):
        return (with_bodies(node, lambda inside: _all(inside, context, kept)),)
    if node.place < 0:
        return (node,)
    if context.may_fill_vectors(node) and (not has_loop(node.body) or unrolled_inside(node, context) is not None):
        return (node,)
    around = _around(node)
    found = {} if node.parallel else _accumulators(around, context, kept)
    for name, each in found.items():
        node = replace(node, body=_summed_in(node.body, name, each))
    kept = {**kept, **{name: (each.base, 0 if each.outer else len(each.names)) for name, each in found.items()}}
    before = tuple(each.declaration for each in found.values())
    after = tuple(each.added for _, each in sorted(found.items()))
    several = _accumulators_per_lane(node, kept)
    if several > 1:
        loops = _with_several_accumulators(node, several, kept)
        return (where_entered(around, Block((*before, *loops, *after))),) if found else loops
    made = replace(node, body=_all(node.body, context, kept), before=before, after=after)
    return (where_entered(around, made) if found else made,)


def _all(body: Body, context: Context, kept: _Kept) -> Body:
    return tuple(made for node in body for made in _visited(node, context, kept))


def _summed_in(body: Body, statement: str, accumulators: _Accumulators) -> Body:
    """The body with the accumulators in place of what a statement adds to."""
    array = accumulators.target.array
    place = accumulators.at(accumulators.base)

    def changed(node: Node) -> Node:
        if not isinstance(node, Assign) or node.statement != statement:
            return node
        return with_values(
            node, lambda value: with_elements(value, lambda element: place if element.array == array else element)
        )

    return mapped(body, changed)


def _accumulators(around: Sequence[For], context: Context, kept: _Kept) -> dict[str, _Accumulators]:
    """By statement, those that nested loops ``around`` one over lanes keep (``_around``)."""
    loop = around[0]
    inside = statements(loop.body)
    within = bool(inside & kept.keys())
    if any(kept[name][1] for name in inside & kept.keys()):
        return {}
    nearest, lane = around[-1], only_loop(around[-1].body)
    if any(unrolled_inside(other, context) is not None for other in around[1:]):
        return {}
    facts = {name: context.facts[name] for name in inside}
    if lane is None or not independent(around) or not all(runs_always(lane.body, name) for name in inside):
        return {}
    if any(other.place in each.parallel for other in around[1:] for each in facts.values()):
        return {}
    if within and len(around) > 1:
        return {}
    lanes = lane.range
    if not lanes or lanes[0] or len(lanes) > _MOST_LANES:
        return {}
    sums = {
        name: [each.sums.get(other.place) for other in around]
        for name, each in facts.items()
        if lane.place in each.vector and lane.place not in each.sums and each.operation == "+"
    }
    counts = {name: [each.counts.get(other.place, 1) for other in around] for name, each in facts.items()}
    terms = {name: (prod(those[:-1]), those[-1]) for name, those in counts.items()}
    width = min(each.lanes for each in facts.values())
    several = min(len(nearest.range), _MOST_ACCUMULATORS // -(-len(lanes) // width))
    return _kept_by(context, lane, [other.iterator for other in around], sums, terms, several, within)


def _around(loop: For) -> list[For]:
    """A loop and those inside, each all of the body of the one before, without the innermost loop."""
    around = [loop]
    while (inner := only_loop(around[-1].body)) is not None and has_loop(inner.body):
        around.append(inner)
    return around


def _kept_by(
    context: Context,
    lane: For,
    outside: Sequence[str],
    sums: Mapping[str, Sequence[str | None]],
    terms: Mapping[str, tuple[int, int]],
    several: int,
    within: bool,
) -> dict[str, _Accumulators]:
    """By statement, accumulators for the loop over lanes ``lane``, in loops with counters ``outside``.

    ``sums`` are by statement the arrays that each loop around, from the outermost on, adds to, where lanes have
    elements of their own; all loops together add up so many ``terms``.
    """
    found: dict[str, _Accumulators] = {}
    first = {assign.statement: assign for assign in reversed(list(assignments(lane.body)))}
    inside = sorted(statements(lane.body))
    for arrays, outer in ((several, False), (1, True), (1, False)):
        found = {}
        for number, statement in enumerate(inside):
            around = sums.get(statement, (None,))
            before, nearest = terms[statement]
            nearest = -(-nearest // several) if outer or arrays > 1 else nearest
            few = max(before, nearest) <= _MOST_TERMS if outer else before * nearest <= _MOST_TERMS
            array = around[0] if len(around) == 1 or (all(around) and few) else None
            if array is None:
                continue
            assign = first[statement]
            if not isinstance(assign.target, Element) or not _has_lanes(assign.target, lane.iterator):
                continue
            # A loop that had one iteration is gone: its counter is given by those outside.
            if any(mentions(assign.target, counter) for counter in outside):
                continue
            base = f"polydl_{'part' if within else 'row'}{number}"
            names = tuple(f"{base}_{turn}" for turn in range(arrays)) if arrays > 1 else (base,)
            kind = context.sum_type(assign, array, nearest if outer else before * nearest)
            found[statement] = _Accumulators(names, base, lane.iterator, len(lane.range), kind, assign.target, outer)
        if (arrays > 1 or (outer and several > 1)) and len(found) < len(inside):
            continue
        if not outer or (several > 1 and all(len(around) > 1 for around in sums.values())):
            break
    return found


def _has_lanes(target: Element, lane: str) -> bool:
    """Whether a loop's counter is a whole subscript of a sum's element, so that each lane has its own."""
    used = [subscript for subscript in target.subscripts if mentions(subscript, lane)]
    if len(used) != 1:
        return False
    match used[0]:
        case Name():
            return True
        case Linear(terms=((1 | -1, Name()),)):
            return True
    return False


def _accumulators_per_lane(loop: For, kept: _Kept) -> int:
    """How many accumulators of each sum the iterations of a loop take turns with."""
    inner = only_loop(loop.body)
    inside = statements(loop.body)
    if inner is None or has_loop(inner.body) or not inside <= kept.keys():
        return 1
    return min(kept[name][1] for name in inside)


def _with_several_accumulators(loop: For, several: int, kept: _Kept) -> Body:
    """A loop around one over lanes, as many iterations at once as there are accumulators of each sum."""
    (lane,) = loop.body
    assert isinstance(lane, For)
    numbers = loop.range
    rest = len(numbers) % several
    bases = {base for base, _ in kept.values()}

    def jammed(unrolled: Sequence[Iteration]) -> For:
        made = (_with_own(copies(lane.body, loop.iterator, (each,)), bases, each.copy) for each in unrolled)
        return replace(lane, body=tuple(node for body in made for node in body))

    found: list[Node] = []
    if len(numbers) >= several:
        condition = at_most(loop.iterator, Integer(numbers[-1] - rest))
        step = Integer(several)
        body = (jammed(iterations(Name(loop.iterator), several)),)
        found.append(replace(loop, condition=condition, step=step, body=body))
    if rest:
        found.append(jammed(iterations(Integer(numbers[-rest]), rest)))
    return tuple(found)


def _with_own(body: Body, bases: Collection[str], copy: str) -> Body:
    """The body of one of several iterations, with the accumulators that it has of its own."""

    def renamed(element: Element) -> Element:
        return replace(element, array=element.array + copy) if element.array in bases else element

    return with_elements_of(body, renamed)
