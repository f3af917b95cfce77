"""Decisions that a person takes beforehand: a space keeps the variants that agree with these, and leaves the rest open.

A pin is a line of text:

* ``order=i,j,k``: of these loops each lies outside of the next, their coarse tiles among each other as well;
* ``tile i=32``: loop i gets a further tile of that size for a cache, whether or not that would be tried otherwise,
  ``tile i=0`` none;
* ``microkernel=c``: this one takes the innermost loops where it can, ``microkernel=none`` none;
* ``parallel=i``: the iterations of loop i, or of its tiles, run on different threads;
* ``unroll=4``, ``stream=yes``, ``vectors=32``: how plain innermost loops run, ``0`` and ``no`` for as usual;
* ``no pack``: without this rewrite, by its name, or without a family of them: ``no packing`` is without any copy of an
  operand in another layout, ``no bilinear`` without fewer products.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from polydl import registry
from polydl.errors import OptionError
from polydl.ir.variant import RewriteStep, ScopStep
from polydl.match.product import NoMatch
from polydl.plan.rewrite_steps import rewrite_of
from polydl.variants.decisions import complete
from polydl.variants.nest_facts import TimeLoop
from polydl.variants.nest_model import order_name, tile_name
from polydl.variants.shapes import plain_shapes
from polydl.variants.space import NestSpace
from polydl.variants.variant_space import VariantSpace

_EXAMPLES = "order=i,j, tile i=32, microkernel=c, parallel=i, unroll=4, stream=no, vectors=0, no packing"
# What is left to decisions.
Restrictions = tuple[tuple[str, tuple[Hashable, ...]], ...]


@dataclass(frozen=True)
class _Pin:
    #: As the user wrote it.
    text: str
    #: What it leaves to the decisions of a nest; None if it is about none of them.
    restrictions: Callable[[NestSpace], Restrictions | None]
    #: What could be said instead, for a nest.
    others: Callable[[NestSpace], Sequence[str]]
    #: A nest with what it would not try without the pin.
    extended: Callable[[NestSpace], NestSpace] = lambda nest: nest


def pinned(space: VariantSpace, pins: Sequence[str]) -> VariantSpace:
    """The space of those variants that agree with all pins.

    A pin is for every nest in which it means something; alternatives without such a nest are left out, and of the scop
    itself no variant is left then. Minor and attached nests decide nothing. Raises OptionError for a pin that means
    nothing in any nest, and where no variant agrees with all pins.
    """
    unwanted = {word for pin in pins if (word := _unwanted(pin)) is not None}
    parsed = [_parsed(pin) for pin in pins if _unwanted(pin) is None]
    alternatives = [other for other in space.alternatives if not unwanted & _words(other.rewrites)]
    every = [_extended(each, parsed) for each in (space, *alternatives)]
    for pin in parsed:
        nests = [nest for each in every for nest in each.spaces if not nest.settled]
        if all(pin.restrictions(nest) is None for nest in nests):
            others = list(dict.fromkeys(other for nest in nests for other in pin.others(nest)))
            raise OptionError(
                f"the pin {pin.text!r} is about no decision of these nests",
                remedy=f"one of {', '.join(others)}" if others else "leave it out: there is nothing like it to decide",
            )
    first, *rest = [_with_pins(each, parsed) for each in every]
    kept = tuple(each for each in rest if _alive(each))
    if not kept and not _alive(first):
        raise OptionError(
            f"no variant agrees with {' and '.join(repr(pin) for pin in pins)}",
            remedy="leave out one of these pins" if len(pins) > 1 else "leave this pin out: no legal variant is so",
        )
    return replace(first, alternatives=kept)


def _extended(space: VariantSpace, pins: Sequence[_Pin]) -> VariantSpace:
    """The space with what the pins ask for among the values of its decisions."""
    spaces, reports = [], []
    for nest, report in zip(space.spaces, space.reports, strict=True):
        asked = nest
        for pin in pins if not nest.settled else ():
            asked = pin.extended(asked)
        without = report.kernel is not None and not asked.called
        refusals = {"": NoMatch("a pin leaves out microkernels")}
        reports.append(replace(report, kernel=None, refusals=refusals) if without else report)
        spaces.append(asked)
    return replace(space, spaces=tuple(spaces), reports=tuple(reports))


def _with_pins(space: VariantSpace, pins: Sequence[_Pin]) -> VariantSpace:
    spaces = list(space.spaces)
    for pin in pins:
        known = [None if nest.settled else pin.restrictions(nest) for nest in space.spaces]
        # A space in which a pin means nothing has no variant that agrees with it.
        nothing: Restrictions = (("shape", ()),) if all(each is None for each in known) else ()
        spaces = [
            replace(nest, pins=(*nest.pins, *(own if own is not None else nothing)))
            for nest, own in zip(spaces, known, strict=True)
        ]
    return replace(space, spaces=tuple(spaces))


def _alive(space: VariantSpace) -> bool:
    """Whether some variant of the space agrees with its pins."""
    return all(not nest.pins or complete(nest.root) is not None for nest in space.spaces)


def _unwanted(pin: str) -> str | None:
    """The rewrite, or the family of rewrites, that a pin does without; None if it is about something else."""
    words = pin.split()
    if len(words) != 2 or words[0] != "no":
        return None
    names = registry.names("rewrites")
    families = sorted({family for name in names for family in registry.load("rewrites", name).families})
    if words[1] not in (*names, *families):
        raise OptionError(f"there is no rewrite {words[1]!r}", remedy=f"no {', no '.join((*families, *names))}")
    return words[1]


def _words(steps: Sequence[ScopStep]) -> set[str]:
    """What a pin may call the rewrites among these steps: their names and their families."""
    rewrites = [step for step in steps if isinstance(step, RewriteStep)]
    return {step.json_name for step in rewrites}.union(*(rewrite_of(step).families for step in rewrites))


def _parsed(text: str) -> _Pin:
    """A pin on decisions. Raises OptionError if it has none of the forms."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if equals and value:
        if name == "order":
            return _order(text, [loop.strip() for loop in value.split(",")])
        if name.split()[:1] == ["tile"] and len(name.split()) == 2 and re.fullmatch(r"\d+", value):
            return _tile(text, name.split()[1], int(value))
        if name == "microkernel":
            return _microkernel(text, value)
        if name == "parallel":
            return _parallel(text, value)
        if name in ("unroll", "vectors") and re.fullmatch(r"\d+", value):
            return _innermost(text, name, int(value))
        if name == "stream" and value in ("yes", "no"):
            return _innermost(text, name, value == "yes")
    raise OptionError(f"{text!r} is no pin", remedy=f"write it as one of {_EXAMPLES}")


def _loops(nest: NestSpace) -> list[str]:
    return list(dict.fromkeys(loop.loop for loop in nest.model.loops))


def _order(text: str, loops: Sequence[str]) -> _Pin:
    def restrictions(nest: NestSpace) -> Restrictions | None:
        if not set(loops) <= set(nest.nest.loops):
            return None
        moving = [loop for loop in loops if nest.model.fine[loop]]
        pairs = [(a, b) for place, a in enumerate(moving) for b in moving[place + 1 :]]
        return (*_no_loop_of_a_call(nest, pairs), *(each for pair in pairs for each in _outside(nest, *pair)))

    if len(loops) < 2 or len(set(loops)) < len(loops):
        raise OptionError(f"{text!r} puts nothing in order", remedy="name two loops or more, each once: order=i,j")
    return _Pin(text, restrictions, lambda nest: [f"order={','.join(_loops(nest))}"] if len(_loops(nest)) > 1 else [])


def _outside(nest: NestSpace, first: str, second: str) -> Iterator[tuple[str, tuple[Hashable, ...]]]:
    """The first loop outside of the second, both of fine steps, or both of coarse ones."""
    model = nest.model
    for coarse in (False, True):
        outer, inner = TimeLoop(first, coarse), TimeLoop(second, coarse)
        if outer in model.loops and inner in model.loops:
            if model.loops.index(outer) < model.loops.index(inner):
                yield order_name(outer, inner), ("outside", "apart")
            else:
                yield order_name(inner, outer), ("inside", "apart")


def _no_loop_of_a_call(nest: NestSpace, pairs: Sequence[tuple[str, str]]) -> Restrictions:
    """No shape in which a call takes all of the first loop of a pair, and so lies inside of the second."""
    fine = nest.model.fine
    wrong = 0
    for first, second in pairs:
        wrong |= fine[second] & ~fine[first]
    return (("shape", tuple(number for number in range(len(nest.shapes)) if not wrong >> number & 1)),)


def _tile(text: str, loop: str, size: int) -> _Pin:
    def sizes(nest: NestSpace, name: str = loop) -> list[int]:
        return sorted({size for of_shape in nest.model.sizes for size in of_shape.get(name, ())})

    def others(nest: NestSpace) -> list[str]:
        loops = [loop] if loop in nest.nest.loops else nest.nest.loops
        tiled = [f"tile {each}={size}" for each in loops for size in (0, *sizes(nest, each))]
        return [*tiled, *([f"{text} beside microkernel=none"] if plain(nest) else [])]

    def plain(nest: NestSpace) -> bool:
        """Whether a nest with calls has variants that agree with the pin once it has none."""
        without = _without_calls(nest)
        left = restrictions(without) if nest.called and loop in nest.nest.loops else None
        return left is not None and complete(replace(without, pins=(*without.pins, *left)).root) is not None

    def extended(nest: NestSpace) -> NestSpace:
        return replace(nest, asked_tiles=(*nest.asked_tiles, (loop, size)))

    def restrictions(nest: NestSpace) -> Restrictions | None:
        if loop in nest.model.tiled:
            return ((tile_name(loop), (size,)),) if size in (0, *sizes(nest)) else None
        return () if loop in nest.nest.loops and not size else None

    return _Pin(text, restrictions, others, extended)


def _microkernel(text: str, name: str) -> _Pin:
    def kernels(nest: NestSpace) -> list[str]:
        return [shape.match.kernel if shape.match is not None else "none" for shape in nest.shapes]

    def restrictions(nest: NestSpace) -> Restrictions | None:
        numbers = tuple(number for number, kernel in enumerate(kernels(nest)) if kernel == name)
        return (("shape", numbers),) if numbers else None

    def others(nest: NestSpace) -> list[str]:
        return [f"microkernel={kernel}" for kernel in dict.fromkeys((*kernels(nest), "none"))]

    def extended(nest: NestSpace) -> NestSpace:
        if name != "none" or not nest.called:
            return nest
        return _without_calls(nest)

    return _Pin(text, restrictions, others, extended)


def _without_calls(nest: NestSpace) -> NestSpace:
    """The nest with plain innermost loops in place of a microkernel's calls."""
    return replace(nest, shapes=plain_shapes(nest.scop, nest.nest, nest.directions, nest.machine))


def _parallel(text: str, name: str) -> _Pin:
    def restrictions(nest: NestSpace) -> Restrictions | None:
        values = nest.decisions.by_name["parallel"].values
        chosen = tuple(on for on in values if (on.loop.loop if on is not None else "none") == name)
        return (("parallel", chosen),) if chosen else None

    def others(nest: NestSpace) -> list[str]:
        return [f"parallel={loop}" for loop in _loops(nest)] if nest.threads > 1 else ["parallel=none"]

    return _Pin(text, restrictions, others)


def _innermost(text: str, name: str, value: int) -> _Pin:
    def restrictions(nest: NestSpace) -> Restrictions | None:
        return ((name, (value,)),) if value in nest.decisions.by_name[name].values else None

    def others(nest: NestSpace) -> list[str]:
        values = nest.decisions.by_name[name].values
        words = {False: "no", True: "yes"} if name == "stream" else {value: str(value) for value in values}
        return [f"{name}={words[value]}" for value in values]

    return _Pin(text, restrictions, others)
