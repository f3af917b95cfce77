"""The nest in the next wider floating-point type: what rounding errors are measured against."""

from __future__ import annotations

import re
from dataclasses import replace

from polydl.ir.scop import Array, Scop
from polydl.vector_functions import called, includes_math, leaves

_WIDER = {"float": "double", "double": "long double"}
_BYTES = {"double": 8, "long double": 16}
_TYPE = re.compile(r"\b(long\s+double|double|float)\b")
# Functions of <math.h> for double; with an f at the end those for float, with an l for long double.
_FUNCTIONS = frozenset(
    [
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atan2",
        "atanh",
        "cbrt",
        "ceil",
        "copysign",
        "cos",
        "cosh",
        "erf",
        "erfc",
        "exp",
        "exp10",
        "exp2",
        "expm1",
        "fabs",
        "fdim",
        "floor",
        "fma",
        "fmax",
        "fmin",
        "fmod",
        "hypot",
        "log",
        "log10",
        "log1p",
        "log2",
        "nearbyint",
        "pow",
        "rint",
        "round",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "tgamma",
        "trunc",
    ]
)


def wider(scop: Scop) -> Scop | None:
    """The scop with ``double`` in place of ``float``, and ``long double`` in place of ``double``.

    Constants stay what they are in the source. Types that come from headers of the user's own are replaced where
    ``widened`` copies of these are included. None where no array has such elements.
    """
    if not any(array.element in _WIDER for array in scop.arrays):
        return None
    function = scop.function
    parameters = tuple(
        replace(
            each,
            declaration=widened(scop, each.declaration),
            sized=widened(scop, each.sized),
            in_header=widened(scop, each.in_header),
            sized_in_header=widened(scop, each.sized_in_header),
        )
        for each in function.parameters
    )
    return replace(
        scop,
        source=widened(scop, scop.source),
        defines=tuple((name, widened(scop, value)) for name, value in scop.defines),
        arrays=tuple(_array(array) for array in scop.arrays),
        function=replace(function, return_type=widened(scop, function.return_type), parameters=parameters),
    )


def widened(scop: Scop, text: str) -> str:
    """C text that belongs to a scop, with wider types and the functions of ``<math.h>`` for these."""
    names = leaves(scop, called(scop.statements)) if includes_math(scop) else frozenset[str]()
    text = _TYPE.sub(lambda match: _WIDER.get(match[1], match[1]), text)
    for name in names:
        other = _function(name)
        if other is not None:
            text = re.sub(rf"\b{name}(?=\s*\()", other, text)
    return text


def _array(array: Array) -> Array:
    element = _WIDER.get(array.element)
    return array if element is None else replace(array, element=element, element_bytes=_BYTES[element])


def _function(name: str) -> str | None:
    """The function in the next wider type; None for what is none of ``<math.h>``."""
    if name in _FUNCTIONS:
        return f"{name}l"
    single = name.removesuffix("f")
    return single if single in _FUNCTIONS else None
