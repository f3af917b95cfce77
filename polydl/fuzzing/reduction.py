"""A failing nest made smaller for as long as it fails in the same way."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from polydl.fuzzing.examine import Failure, FuzzingSettings, examine
from polydl.fuzzing.generator import Case, runnable_microkernels
from polydl.fuzzing.program import (
    Assign,
    Declare,
    Element,
    Expression,
    If,
    Index,
    Loop,
    Node,
    Number,
    Program,
    Sum,
    Variable,
    fitted,
    operands,
    rebuilt,
)
from polydl.ir.variant import Variant
from polydl.pipeline import NO_MICROKERNEL

# Random variants that are tried beside the failing one, whose steps may not fit a smaller nest.
_OTHERS = 12


def reduced(
    program: Program, case: Case, failure: Failure, settings: FuzzingSettings, *, until: float
) -> tuple[Case, Failure]:
    """The smallest case with such a failure that is found until then (``time.monotonic``), and its failure."""
    # Only what differs over a ring has to be compared there again.
    settings = replace(settings, rings=failure.kind == "differs")
    beside = replace(settings, variants=_OTHERS)
    alone = replace(settings, variants=0)
    progress = True
    while progress and time.monotonic() < until:
        progress = False
        for smaller in smaller_programs(program):
            if time.monotonic() >= until:
                break
            made = case.having(smaller)
            again = _fails(made, failure, beside)
            if again is not None:
                program, case, failure, progress = smaller, made, again, True
                break
    for alternatives in _simpler():
        for changes in alternatives:
            made = replace(case, conditions=replace(case.conditions, **changes))
            again = _fails(made, failure, alone) if time.monotonic() < until else None
            if again is not None:
                case, failure = made, again
                break
    return case, _with_fewer_steps(case, failure, alone, until)


def _fails(case: Case, failure: Failure, settings: FuzzingSettings) -> Failure | None:
    given = () if failure.variant is None else (failure.variant,)
    outcome = examine(case, settings, given)
    return next((other for other in outcome.failures if other.like(failure)), None)


def _with_fewer_steps(case: Case, failure: Failure, settings: FuzzingSettings, until: float) -> Failure:
    progress = failure.variant is not None
    while progress and time.monotonic() < until:
        progress = False
        assert failure.variant is not None
        steps = failure.variant.steps
        for gone in range(len(steps)):
            fewer = replace(failure, variant=Variant((*steps[:gone], *steps[gone + 1 :])))
            again = _fails(case, fewer, settings) if time.monotonic() < until else None
            if again is not None:
                failure, progress = again, True
                break
    return failure


def _simpler() -> tuple[list[dict[str, Any]], ...]:
    """Changes of the conditions, each with alternatives, the simplest first."""
    kernels = (NO_MICROKERNEL, *runnable_microkernels())
    return [{"threads": 1}], [{"numerics": "fast"}], [{"microkernel": name} for name in kernels]


# ----------------------------------------------------------------------------------
# Programs


def smaller_programs(program: Program) -> Iterator[Program]:
    """Programs with one thing less, those that lose the most first."""
    seen = {program}
    bodies = [body for body in _bodies(program.body) if body]
    for body in bodies:
        other = fitted(replace(program, body=body))
        if other not in seen and other.variables:
            seen.add(other)
            yield other
    if program.defines:
        yield fitted(_without_defines(program))
    for number, each in enumerate(program.variables):
        if each.is_global:
            local = replace(each, is_global=False)
            yield replace(program, variables=_with(program.variables, number, local))


def _with(variables: tuple[Variable, ...], number: int, other: Variable) -> tuple[Variable, ...]:
    return (*variables[:number], other, *variables[number + 1 :])


def _without_defines(program: Program) -> Program:
    body = program.body
    for name, value in program.defines:
        body = _substituted_all(body, name, Sum((), value))
    return replace(program, body=body, defines=())


def _bodies(body: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """The body with one change: nodes dropped first, then what is inside of them."""
    for place in range(len(body)):
        yield (*body[:place], *body[place + 1 :])
    for place, node in enumerate(body):
        for other in _others(node):
            yield (*body[:place], *other, *body[place + 1 :])


def _others(node: Node) -> Iterator[tuple[Node, ...]]:
    match node:
        case Loop():
            yield from _other_loops(node)
        case If():
            yield node.then
            if node.otherwise:
                yield node.otherwise
                yield (replace(node, otherwise=()),)
            if len(node.conditions) > 1:
                for place in range(len(node.conditions)):
                    yield (replace(node, conditions=node.conditions[:place] + node.conditions[place + 1 :]),)
            for body in _bodies(node.then):
                if body:
                    yield (replace(node, then=body),)
        case Assign():
            for value in _values(node.value):
                yield (replace(node, value=value),)
            for element in _elements(node.target):
                yield (replace(node, target=element),)
            if node.operator != "=":
                yield (replace(node, operator="="),)
        case Declare():
            for value in _values(node.value):
                yield (replace(node, value=value),)


def _other_loops(node: Loop) -> Iterator[tuple[Node, ...]]:
    if node.first.divisor == 1:
        yield _substituted_all(node.body, node.name, node.first)
    for body in _bodies(node.body):
        if body:
            yield (replace(node, body=body),)
    if not node.first.terms and not node.last.terms:
        extent = node.last.constant - node.first.constant + 1
        for fewer in dict.fromkeys((1, 2, extent // 2, extent - 1)):
            if 0 < fewer < extent:
                yield (replace(node, last=Sum((), node.first.constant + fewer - 1)),)
        if node.first.constant:
            yield (replace(node, first=Sum(), last=Sum((), extent - 1)),)
    else:
        for form in _forms(node.first):
            yield (replace(node, first=form),)
        for form in _forms(node.last):
            yield (replace(node, last=form),)
    if node.step != 1:
        yield (replace(node, step=1),)
    if node.counter != "int":
        yield (replace(node, counter="int"),)


def _values(value: Expression) -> Iterator[Expression]:
    yield from operands(value)
    for place, part in enumerate(operands(value)):
        for other in _values(part):
            changed = (*operands(value)[:place], other, *operands(value)[place + 1 :])
            yield rebuilt(value, changed)
    if isinstance(value, Element):
        yield Number("1")
        yield from _elements(value)
    elif isinstance(value, Index):
        yield Number("1")


def _elements(element: Element) -> Iterator[Element]:
    for place, form in enumerate(element.subscripts):
        for other in _forms(form):
            yield replace(element, subscripts=(*element.subscripts[:place], other, *element.subscripts[place + 1 :]))


def _forms(form: Sum) -> Iterator[Sum]:
    for place in range(len(form.terms)):
        yield replace(form, terms=form.terms[:place] + form.terms[place + 1 :])
    for place, (coefficient, name) in enumerate(form.terms):
        if coefficient != 1:
            yield replace(form, terms=(*form.terms[:place], (1, name), *form.terms[place + 1 :]))
    if form.divisor != 1:
        yield replace(form, divisor=1)
    if form.constant:
        yield replace(form, constant=0)


# ----------------------------------------------------------------------------------
# An affine form in the place of an iterator


def _substituted_all(body: Sequence[Node], name: str, by: Sum) -> tuple[Node, ...]:
    return tuple(_substituted(node, name, by) for node in body)


def _substituted(node: Node, name: str, by: Sum) -> Node:
    match node:
        case Assign():
            target = _in_value(node.target, name, by)
            assert isinstance(target, Element)
            return replace(node, target=target, value=_in_value(node.value, name, by))
        case Declare():
            return replace(node, value=_in_value(node.value, name, by))
        case Loop():
            first, last = _in_form(node.first, name, by), _in_form(node.last, name, by)
            return replace(node, first=first, last=last, body=_substituted_all(node.body, name, by))
        case If():
            conditions = tuple((_in_form(form, name, by), operator) for form, operator in node.conditions)
            then, otherwise = (_substituted_all(body, name, by) for body in (node.then, node.otherwise))
            return replace(node, conditions=conditions, then=then, otherwise=otherwise)


def _in_value(value: Expression, name: str, by: Sum) -> Expression:
    if isinstance(value, Element):
        return replace(value, subscripts=tuple(_in_form(form, name, by) for form in value.subscripts))
    if isinstance(value, Index):
        return Index(_in_form(value.form, name, by))
    return rebuilt(value, tuple(_in_value(part, name, by) for part in operands(value)))


def _in_form(form: Sum, name: str, by: Sum) -> Sum:
    factors: dict[str, int] = {}
    constant = form.constant
    for coefficient, iterator in form.terms:
        parts = [(coefficient * c, other) for c, other in by.terms] if iterator == name else [(coefficient, iterator)]
        constant += coefficient * by.constant if iterator == name else 0
        for factor, other in parts:
            factors[other] = factors.get(other, 0) + factor
    return Sum(tuple((factor, other) for other, factor in factors.items() if factor), constant, form.divisor)
