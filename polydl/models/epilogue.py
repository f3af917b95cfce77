"""What follows an operator element by element, as C expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import Literal

Function = Literal[
    "relu", "relu6", "silu", "hardswish", "hardsigmoid", "sigmoid", "gelu", "gelu_tanh", "tanh", "exp", "log", "sqrt",
    "rsqrt", "square", "cube", "reciprocal", "abs", "erf", "softplus", "mish",
]  # fmt: skip
Arithmetic = Literal["+", "-", "*", "/"]
Operation = Literal[Arithmetic, "max", "min"]

_EXPRESSIONS: dict[Function, str] = {
    # The comparison keeps NaN, as PyTorch does.
    "relu": "({0} < 0.0f ? 0.0f : {0})",
    "relu6": "({0} < 0.0f ? 0.0f : ({0} > 6.0f ? 6.0f : {0}))",
    "sigmoid": "(1.0f / (1.0f + expf(-({0}))))",
    "silu": "({0} / (1.0f + expf(-({0}))))",
    "hardsigmoid": "({0} < -3.0f ? 0.0f : ({0} > 3.0f ? 1.0f : ({0} + 3.0f) * 0.16666667f))",
    "hardswish": "({0} < -3.0f ? 0.0f : ({0} > 3.0f ? {0} : {0} * ({0} + 3.0f) * 0.16666667f))",
    "gelu": "(0.5f * {0} * (1.0f + erff({0} * 0.70710678f)))",
    "gelu_tanh": "(0.5f * {0} * (1.0f + tanhf(0.79788456f * ({0} + 0.044715f * {0} * {0} * {0}))))",
    "tanh": "tanhf({0})",
    "exp": "expf({0})",
    "log": "logf({0})",
    "sqrt": "sqrtf({0})",
    "rsqrt": "(1.0f / sqrtf({0}))",
    "square": "({0} * {0})",
    "cube": "({0} * {0} * {0})",
    "reciprocal": "(1.0f / {0})",
    "abs": "fabsf({0})",
    "erf": "erff({0})",
    # Beyond 20, the sum is the element to the last bit, and its exponential might be none.
    "softplus": "({0} > 20.0f ? {0} : log1pf(expf({0} > 20.0f ? 20.0f : {0})))",
    "mish": "({0} * tanhf({0} > 20.0f ? {0} : log1pf(expf({0} > 20.0f ? 20.0f : {0}))))",
}
FUNCTIONS = tuple(_EXPRESSIONS)
#: functions by what they raise the element to
POWERS: dict[float, Function] = {2: "square", 3: "cube", 0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}
_OPERATIONS: dict[Operation, str] = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "max": "maximum", "min": "minimum",
}  # fmt: skip


@dataclass(frozen=True)
class ApplyFunction:
    """A function of the element."""

    function: Function


@dataclass(frozen=True)
class Combine:
    """The element with that of another value, the next of the operator's further inputs.

    Its shape is the same, or one that NumPy would broadcast to it; among images, that of images of one pixel, which
    goes with all of the element's image.
    """

    operation: Operation
    #: whether the other value stands before the operation
    reverse: bool = False


@dataclass(frozen=True)
class Scale:
    """The element times a number, plus another."""

    #: that the element is multiplied by
    factor: float
    #: that is added then
    summand: float = 0.0


@dataclass(frozen=True)
class Clamp:
    """The element, or the limit that it is beyond."""

    #: lower limit
    least: float
    #: upper limit
    most: float


@dataclass(frozen=True)
class Slope:
    """The element, times a number where it is less than 0."""

    #: of elements less than 0
    factor: float


@dataclass(frozen=True)
class Exponential:
    """ELU and its kin: where the element x is less than 0, (exp(x / divisor) - 1) * ``alpha``; all times ``scale``."""

    #: factor of ``exp(x / divisor) - 1``
    alpha: float
    #: factor of all elements
    scale: float = 1.0
    #: what the element is divided by in the exponent
    divisor: float = 1.0


Step = ApplyFunction | Combine | Scale | Clamp | Slope | Exponential


def number(value: float) -> str:
    """A float as C writes it."""
    if not isfinite(value):
        return "NAN" if isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    text = f"{float(value):.9g}"
    return text + ("f" if "." in text or "e" in text else ".0f")


def expression(element: str, steps: Sequence[Step], operands: Sequence[str]) -> str:
    """The C expression of an element after all steps. ``operands`` are elements of further inputs, in order."""
    text, left = element, list(operands)
    for step in steps:
        match step:
            case ApplyFunction(function):
                text = _EXPRESSIONS[function].format(text)
            case Combine(operation, reverse):
                first, second = (left.pop(0), text) if reverse else (text, left.pop(0))
                if operation in ("max", "min"):
                    # Of a NaN neither comparison holds, and the sum is one.
                    at_least = ">=" if operation == "max" else "<="
                    text = f"({first} {at_least} {second} ? {first} : "
                    text += f"({second} {at_least} {first} ? {second} : {first} + {second}))"
                else:
                    text = f"({first} {operation} {second})"
            case Scale(factor, summand):
                text = f"({text} * {number(factor)} + {number(summand)})" if summand else f"({text} * {number(factor)})"
            case Clamp(least, most):
                text = f"({text} < {number(least)} ? {number(least)} : {text})" if least > -inf else text
                text = f"({text} > {number(most)} ? {number(most)} : {text})" if most < inf else text
            case Slope(factor):
                text = f"({text} < 0.0f ? {text} * {number(factor)} : {text})"
            case Exponential(alpha, scale, divisor):
                below = f"expm1f({text} * {number(1.0 / divisor)}) * {number(alpha * scale)}"
                text = f"({text} < 0.0f ? {below} : {text} * {number(scale)})"
    assert not left
    return text


def in_words(steps: Sequence[Step]) -> str:
    """The steps for people, such as ``+ add, relu``."""
    words = [
        step.function if isinstance(step, ApplyFunction)
        else "scale" if isinstance(step, Scale)
        else "clamp" if isinstance(step, Clamp)
        else "leaky relu" if isinstance(step, Slope)
        else "elu" if isinstance(step, Exponential)
        else _OPERATIONS[step.operation]
        for step in steps
    ]  # fmt: skip
    return ", ".join(words)
