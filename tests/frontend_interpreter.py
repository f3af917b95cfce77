"""Runs a Scop in Python, statement instance by statement instance, with C's types."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import islpy as isl
import numpy as np

from polydl.ir.scop import Scop
from polydl.ir.statement import Access, Expression, Statement

Value = tuple[str, Any]
Point = tuple[int, ...]

DTYPES = {
    "char": np.int8,
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "unsigned short": np.uint16,
    "int": np.int32,
    "unsigned int": np.uint32,
    "long": np.int64,
    "unsigned long": np.uint64,
    "float": np.float32,
    "double": np.float64,
}
# C's usual arithmetic conversions: the later of the two operands' types; what comes before int becomes int.
RANKS = ("int", "unsigned int", "long", "unsigned long", "float", "double")
TYPE_NAMES = {
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "size_t": "unsigned long",
}
FUNCTIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "fmaxf": ("float", max),
    "sqrtf": ("float", math.sqrt),
    "fabsf": ("float", abs),
    "exp": ("double", math.exp),
    "tanh": ("double", math.tanh),
    "abs": ("int", abs),
}


def converted(value: Any, type_name: str) -> Value:
    """``value`` as C converts it, wrapped around where an integer is too narrow."""
    name = TYPE_NAMES.get(type_name, type_name)
    dtype = np.dtype(DTYPES[name])
    if dtype.kind == "f":
        return name, float(dtype.type(value))
    bits = 8 * dtype.itemsize
    wrapped = int(value) % (1 << bits)
    return name, wrapped - (1 << bits) if dtype.kind == "i" and wrapped >= 1 << (bits - 1) else wrapped


def _promoted(value: Value) -> Value:
    return value if value[0] in RANKS else ("int", value[1])


def _divided(a: Any, b: Any, kind: str) -> Any:
    if kind in ("float", "double"):
        return a / b
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY: dict[str, Callable[[Any, Any, str], Any]] = {
    "+": lambda a, b, _: a + b,
    "-": lambda a, b, _: a - b,
    "*": lambda a, b, _: a * b,
    "/": _divided,
    "%": lambda a, b, kind: a - b * _divided(a, b, kind),
    "&": lambda a, b, _: a & b,
    "|": lambda a, b, _: a | b,
    "^": lambda a, b, _: a ^ b,
}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


def table(relation: str) -> dict[Point, Point]:
    """A function given as an isl map, point by point."""
    found: dict[Point, Point] = {}

    def add(point: isl.Point) -> None:
        space = point.get_space()
        values = [point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in range(space.dim(isl.dim_type.set))]
        assert tuple(values[:depth]) not in found, f"{relation} is not a function"
        found[tuple(values[:depth])] = tuple(values[depth:])

    function = isl.Map(relation)
    depth = function.dim(isl.dim_type.in_)
    function.wrap().foreach_point(add)
    return found


def points(domain: str) -> list[Point]:
    found: list[Point] = []

    def add(point: isl.Point) -> None:
        depth = point.get_space().dim(isl.dim_type.set)
        found.append(tuple(point.get_coordinate_val(isl.dim_type.set, d).to_python() for d in range(depth)))

    isl.Set(domain).foreach_point(add)
    return found


class Interpreter:
    """``memory`` holds every array by name, scalars as arrays without dimensions, and changes."""

    def __init__(
        self, scop: Scop, memory: dict[str, np.ndarray], functions: Mapping[str, tuple[str, Callable[..., Any]]]
    ) -> None:
        self.scop, self.memory = scop, memory
        self.functions = {**FUNCTIONS, **functions}
        self.elements = {(s.name, a.reference): table(a.relation) for s in scop.statements for a in s.accesses}
        self.affine: dict[str, dict[Point, Point]] = {}

    def run(self) -> None:
        instances = []
        for statement in self.scop.statements:
            all_points = points(statement.domain)
            assert len(all_points) == statement.instances
            if statement.box is not None:
                assert statement.box == tuple((min(axis), max(axis)) for axis in zip(*all_points, strict=True))
                assert math.prod(high - low + 1 for low, high in statement.box) == len(all_points)
            instances += [(self._time(statement, point), statement, point) for point in all_points]
        assert len({time for time, _, _ in instances}) == len(instances)
        for _, statement, point in sorted(instances, key=lambda instance: instance[0]):
            self._execute(statement, point)

    @staticmethod
    def _time(statement: Statement, point: Point) -> tuple[int, ...]:
        time = [statement.betas[0]]
        for position, value in enumerate(point):
            time += [statement.directions[position] * value, statement.betas[position + 1]]
        return tuple(time)

    def _execute(self, statement: Statement, point: Point) -> None:
        operator = statement.body.text
        target, source = statement.body.arguments
        access = statement.access(target.text, "write")
        value = self._value(source, statement, point)
        if operator != "=":
            assert statement.access(target.text, "read").relation == access.relation
            value = self._binary(operator[:-1], self._value(target, statement, point), value)
        array = self.scop.array(access.array)
        self.memory[access.array][self._element(statement, access, point)] = converted(value[1], array.element)[1]

    def _element(self, statement: Statement, access: Access, point: Point) -> Point:
        element = self.elements[statement.name, access.reference][point]
        if access.subscripts is not None:
            assert element == tuple(form.at(point) for form in access.subscripts)
        extents = self.scop.array(access.array).extents
        assert len(element) == len(extents)
        assert all(0 <= x < extent for x, extent in zip(element, extents, strict=True))
        return element

    def _value(self, node: Expression, statement: Statement, point: Point) -> Value:
        def inner(number: int) -> Value:
            return self._value(node.arguments[number], statement, point)

        if node.kind == "access":
            access = statement.access(node.text, "read")
            stored = self.memory[access.array][self._element(statement, access, point)]
            return self.scop.array(access.array).element, stored.item()
        if node.kind == "affine":
            if node.text not in self.affine:
                form = isl.PwAff(node.text).intersect_domain(isl.Set(statement.domain))
                self.affine[node.text] = table(str(isl.Map.from_pw_aff(form)))
            return "int", self.affine[node.text][point][0]
        if node.kind == "literal":
            return self._literal(node.text)
        if node.kind == "cast":
            return converted(inner(0)[1], node.text)
        if node.kind == "call":
            kind, function = self.functions[node.text]
            return converted(function(*(inner(n)[1] for n in range(len(node.arguments)))), kind)
        return self._operation(node.text, inner, len(node.arguments))

    @staticmethod
    def _literal(text: str) -> Value:
        if text.lstrip("-").isdigit():
            return "int", int(text)
        return converted(float(text.rstrip("fF")), "float") if text[-1] in "fF" else ("double", float(text))

    def _operation(self, operator: str, inner: Callable[[int], Value], count: int) -> Value:
        if operator == "?:":
            return inner(1) if inner(0)[1] else inner(2)
        if operator == "&&":
            return "int", int(bool(inner(0)[1] and inner(1)[1]))
        if operator == "||":
            return "int", int(bool(inner(0)[1] or inner(1)[1]))
        first = _promoted(inner(0))
        if count == 1:
            value: dict[str, Any] = {"-": lambda: -first[1], "~": lambda: ~first[1], "!": lambda: int(not first[1])}
            return converted(value[operator](), "int" if operator == "!" else first[0])
        return self._binary(operator, first, inner(1))

    @staticmethod
    def _binary(operator: str, first: Value, second: Value) -> Value:
        first, second = _promoted(first), _promoted(second)
        if operator in ("<<", ">>"):
            shifted = first[1] << second[1] if operator == "<<" else first[1] >> second[1]
            return converted(shifted, first[0])
        kind = max(first[0], second[0], key=RANKS.index)
        a, b = converted(first[1], kind)[1], converted(second[1], kind)[1]
        if operator in COMPARISONS:
            return "int", int(COMPARISONS[operator](a, b))
        return converted(BINARY[operator](a, b, kind), kind)
