"""Element-wise operators become steps of the operator whose output they take."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from polydl.models.elementwise import Concatenate, ElementWise, Enlarge, Reorder, Select
from polydl.models.epilogue import Combine
from polydl.models.graph import Graph, Operator
from polydl.models.matrices import MatrixProduct, Transposition
from polydl.models.moving import Extend, Join

# Longer expressions repeat their operands too often.
_MOST_STEPS = 4
# They only move elements, in loops that are not those over their output.
_WITHOUT_STEPS = (Concatenate, Enlarge, Extend, Join, Reorder, Select)
_COMMUTATIVE = ("+", "*", "max", "min")


def with_steps(graph: Graph) -> Graph:
    """The same graph with fewer operators: what follows a value that nothing else needs is computed where it is made.

    The later of two operators whose outputs are added takes the sum, and so runs after the other.
    """
    operators = list(graph.operators)
    position = 0
    while position < len(operators):
        merged = _merged(graph, operators, position) or _transposed(graph, operators, position)
        if merged is None:
            position += 1
        else:
            producer, operators[position] = merged
            del operators[producer]
    return replace(graph, operators=tuple(operators))


def _transposed(graph: Graph, operators: list[Operator], position: int) -> tuple[int, Operator] | None:
    """A transposition as part of the product of matrices whose result it takes, and the product's position."""
    operator = operators[position]
    if not isinstance(operator.kind, Transposition):
        return None
    value, *operands = operator.inputs
    before = next((place for place, each in enumerate(operators[:position]) if each.output == value), None)
    if before is None or _uses(graph, operators)[value] > 1:
        return None
    producer = operators[before]
    # What the product combines with would have to be transposed as well.
    if not isinstance(producer.kind, MatrixProduct) or any(isinstance(step, Combine) for step in producer.steps):
        return None
    order = operator.kind.order
    kind = replace(producer.kind, result=tuple(producer.kind.result[order.index(place)] for place in range(len(order))))
    return before, replace(
        producer,
        kind=kind,
        inputs=(*producer.inputs, *operands),
        output=operator.output,
        steps=(*producer.steps, *operator.steps),
        sources=producer.sources_with(*operator.sources),
    )


def _uses(graph: Graph, operators: list[Operator]) -> Counter[str]:
    """How often each value is needed."""
    uses = Counter(value for each in operators for value in each.inputs)
    uses.update(graph.outputs)
    uses.update(graph.views.values())
    return uses


def _merged(graph: Graph, operators: list[Operator], position: int) -> tuple[int, Operator] | None:
    """An element-wise operator as part of the last producer of its inputs, and that producer's position."""
    operator = operators[position]
    if not isinstance(operator.kind, ElementWise):
        return None
    uses = _uses(graph, operators)
    for before in range(position - 1, -1, -1):
        producer = operators[before]
        value = producer.output
        if value not in operator.inputs or uses[value] != 1 or isinstance(producer.kind, _WITHOUT_STEPS):
            continue
        if graph.shapes[value] != graph.shapes[operator.output]:
            continue
        if value not in graph.images and any(graph.stored(each) == value for each in graph.views):
            continue
        if len(producer.steps) + len(operator.steps) > _MOST_STEPS:
            continue
        inputs = _first(operator, value)
        if inputs is not None:
            return before, Operator(
                producer.kind,
                (*producer.inputs, *inputs[1:]),
                operator.output,
                producer.constants,
                (*producer.steps, *operator.steps),
                producer.sources_with(*operator.sources),
            )
    return None


def _first(operator: Operator, value: str) -> tuple[str, ...] | None:
    """The operator's inputs with a value first; None if it can't stand there."""
    if operator.inputs[0] == value:
        return operator.inputs
    step = operator.steps[0]
    if isinstance(step, Combine) and step.operation in _COMMUTATIVE and operator.inputs[1] == value:
        return value, operator.inputs[0], *operator.inputs[2:]
    return None
