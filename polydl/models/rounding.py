"""A graph whose operators pass values on as bfloat16s, half the bytes of floats, which processors multiply faster."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from polydl.errors import OptionError
from polydl.models.elementwise import ElementWise
from polydl.models.graph import Graph, Operator
from polydl.models.layout import ValueType
from polydl.models.matrices import MatrixProduct
from polydl.models.products import LinearOperator

_ROUNDED = ".rounded"


def value_type_named(name: str) -> ValueType:
    """The type that values between operators have. Raises OptionError for a name that is none."""
    for each in get_args(ValueType):
        if name == each:
            chosen: ValueType = each
            return chosen
    raise OptionError(f"models have no values of type {name!r}", remedy=f"use {' or '.join(get_args(ValueType))}")


def with_values_of(graph: Graph, value_type: ValueType) -> Graph:
    """The graph with values of a type between its operators; inputs and outputs stay floats.

    Sums, functions and what is between them are computed as floats. Inputs that are multiplied are rounded first.
    """
    if value_type == "float":
        return graph
    rounded: dict[str, str] = {}
    operators: list[Operator] = []
    shapes = dict(graph.shapes)
    for operator in graph.operators:
        inputs = list(operator.inputs)
        factors = {LinearOperator: 1, MatrixProduct: 2}.get(type(operator.kind), 0)
        for position, value in enumerate(inputs[:factors]):
            if graph.stored(value) not in graph.inputs:
                continue
            if value not in rounded:
                rounded[value] = value + _ROUNDED
                shapes[rounded[value]] = graph.shapes[value]
                operators.append(Operator(ElementWise("rounded to bfloat16"), (value,), rounded[value]))
            inputs[position] = rounded[value]
        operators.append(replace(operator, inputs=tuple(inputs)))
    return replace(graph, shapes=shapes, operators=tuple(operators), value_type=value_type)
