"""What files spell out in several nodes: SiLU, hard-swish and GELU as products, normalized groups of channels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from polydl.models.graph import Array
from polydl.onnx.nodes import Node, Shape, needed

_CLOSE = 1e-4
# 0.5 * (x * (1 + erf)) is a product in a product.
_DEEPEST = 2


def recognized(
    nodes: Sequence[Node], constants: Mapping[str, Array], shapes: Mapping[str, Shape], outputs: Sequence[str]
) -> tuple[Node, ...]:
    """The nodes with one of operator ``SiLU``, ``HardSwish``, ``Gelu`` or ``GroupNormalization`` in the place of those
    that spell it out.
    """
    factors = _Factors(nodes, constants, shapes)
    producers = {node.outputs[0]: node for node in nodes}
    return needed(
        [factors.function(node) or _groups(node, producers, constants, shapes) or node for node in nodes], outputs
    )


def _groups(
    node: Node, producers: Mapping[str, Node], constants: Mapping[str, Array], shapes: Mapping[str, Shape]
) -> Node | None:
    """Groups of an image's channels normalized as instances of one channel each, between two changes of shape."""
    inner = producers.get(node.inputs[0]) if node.operator == "Reshape" else None
    if inner is None or inner.operator != "InstanceNormalization":
        return None
    first = producers.get(inner.inputs[0])
    if first is None or first.operator != "Reshape":
        return None
    image, result, rows = (shapes.get(name, ()) for name in (first.inputs[0], node.outputs[0], inner.inputs[0]))
    weight, bias = (constants.get(name) for name in inner.inputs[1:3])
    plain = weight is not None and bias is not None and bool((weight == 1).all() and (bias == 0).all())
    if not plain or len(image) != 4 or image != result or len(rows) != 3 or rows[0] != image[0]:
        return None
    if image[1] % rows[1] != 0:
        return None
    attributes = {"num_groups": rows[1], "epsilon": inner.attributes.get("epsilon", 1e-5)}
    return Node(node.name, "GroupNormalization", (first.inputs[0],), node.outputs, attributes)


class _Factors:
    def __init__(self, nodes: Sequence[Node], constants: Mapping[str, Array], shapes: Mapping[str, Shape]) -> None:
        self._producers = {node.outputs[0]: node for node in nodes}
        self._constants = constants
        self._shapes = shapes

    def function(self, node: Node) -> Node | None:
        """The one node that computes the same as a node and those before it, in the shape of its argument."""
        if node.operator not in ("Mul", "Div"):
            return None
        for depth in range(1, _DEEPEST + 1):
            number, values = self._product(node.outputs[0], depth)
            if len(values) != 2:
                continue
            for argument, other in (values, values[::-1]):
                inner = self._producers.get(other)
                operator = "" if inner is None else self._by(argument, number, inner)
                if operator and self._shapes.get(argument) == self._shapes[node.outputs[0]]:
                    return Node(node.name, operator, (argument,), node.outputs, {})
        return None

    def _by(self, argument: str, number: float, inner: Node) -> str:
        """The function that a number times an argument times an inner function of it is; "" for none."""
        match inner.operator:
            case "Sigmoid" if inner.inputs[0] == argument and number == 1:
                return "SiLU"
            case "HardSigmoid" if inner.inputs[0] == argument and number == 1:
                slope, offset = inner.attributes.get("alpha", 0.2), inner.attributes.get("beta", 0.5)
                return "HardSwish" if _near(slope, 1 / 6) and _near(offset, 0.5) else ""
            case "Add":
                added, erf = self._sum(inner)
                if erf is None or erf.operator != "Erf" or not (_near(added, 1) and _near(number, 0.5)):
                    return ""
                scale, values = self._product(erf.inputs[0], 1)
                return "Gelu" if values == [argument] and _near(scale, math.sqrt(0.5)) else ""
        return ""

    def _sum(self, node: Node) -> tuple[float, Node | None]:
        """The number that a node adds, and the node that computes the other operand."""
        for constant, value in (node.inputs, node.inputs[::-1]):
            number = self._number(constant)
            if number is not None:
                return number, self._producers.get(value)
        return 0.0, None

    def _product(self, value: str, depth: int) -> tuple[float, list[str]]:
        """A value as a number times other values, products of products taken apart so deep."""
        number = self._number(value)
        if number is not None:
            return number, []
        node = self._producers.get(value)
        if node is None or node.operator not in ("Mul", "Div") or not depth:
            return 1.0, [value]
        first, values = self._product(node.inputs[0], depth - 1)
        if node.operator == "Div":
            divisor = self._number(node.inputs[1])
            return (first / divisor, values) if divisor else (1.0, [value])
        second, others = self._product(node.inputs[1], depth - 1)
        return first * second, [*values, *others]

    def _number(self, name: str) -> float | None:
        constant = self._constants.get(name)
        return float(constant.reshape(-1)[0]) if constant is not None and constant.size == 1 else None


def _near(number: float, wanted: float) -> bool:
    return abs(number - wanted) < _CLOSE
