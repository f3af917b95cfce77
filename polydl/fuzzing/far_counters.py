"""Counters that run where an ``int`` ends, or beyond."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from polydl.fuzzing.program import (
    Element,
    If,
    Index,
    Loop,
    Node,
    Program,
    Sum,
    nodes,
    parts_of,
    with_elements,
    with_loops,
)

# Of a loop's first number to what it was.
_DISTANCES = ((1 << 31) - 4, (1 << 31) - 40, 3_000_000_000, -3_000_000_000, 1 << 40)


def with_far_counter(program: Program, draw: Random) -> Program:
    """The program with other numbers for one counter, and what is computed of it as it was; itself if there is none.

    That counter is used undivided, and in subscripts, bounds and conditions alone.
    """
    forms: list[Sum] = []

    def seen(form: Sum) -> Sum:
        forms.append(form)
        return form

    _with_forms(program.body, seen)
    values = [part.form for node in nodes(program.body) for part in parts_of(node) if isinstance(part, Index)]
    unfit = {name for form in (*values, *(form for form in forms if form.divisor != 1)) for _, name in form.terms}
    names = sorted({node.name for node in nodes(program.body) if isinstance(node, Loop)} - unfit)
    if not names:
        return program
    name, distance = draw.choice(names), draw.choice(_DISTANCES)

    def moved(form: Sum) -> Sum:
        factor = sum(coefficient for coefficient, other in form.terms if other == name)
        return replace(form, constant=form.constant - factor * distance)

    def changed(loop: Loop) -> Loop:
        if loop.name != name:
            return loop
        first, last = (replace(each, constant=each.constant + distance) for each in (loop.first, loop.last))
        return replace(loop, first=first, last=last, counter="long")

    return replace(program, body=with_loops(_with_forms(program.body, moved), changed))


def _with_forms(body: tuple[Node, ...], change: Callable[[Sum], Sum]) -> tuple[Node, ...]:
    """The body with the affine forms of all subscripts, bounds and conditions changed."""

    def in_element(element: Element) -> Element:
        return replace(element, subscripts=tuple(map(change, element.subscripts)))

    def in_bounds(node: Node) -> Node:
        match node:
            case Loop():
                inside = tuple(map(in_bounds, node.body))
                return replace(node, first=change(node.first), last=change(node.last), body=inside)
            case If():
                conditions = tuple((change(form), operator) for form, operator in node.conditions)
                then, otherwise = (tuple(map(in_bounds, body)) for body in (node.then, node.otherwise))
                return replace(node, conditions=conditions, then=then, otherwise=otherwise)
        return node

    return tuple(in_bounds(with_elements(node, in_element)) for node in body)
