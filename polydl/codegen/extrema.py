"""``fmax`` and ``fmin`` as C that compilers make vector instructions of, and their place in expressions."""

from __future__ import annotations

from polydl.codegen.values import Apply, Expr, with_parts
from polydl.ir.ingredients import Fragment
from polydl.vector_functions import EXTREMA


def _extremum(name: str, element: str, chooses: str) -> Fragment:
    """A function with the result of ``name``, NaNs included: the other argument is chosen where one is a NaN.

    The second one is asked for that, since it is a constant in ``fmax(x, 0)``, which then is one instruction, and what
    is compared with an accumulator in ``m = fmax(m, x)``, whose iterations then wait for one instruction each.
    """
    function = extremum(name)
    return Fragment(
        f"/* {name}, which compilers leave a call as long as there may be NaNs. */\n"
        f"static inline {element} {function}({element} a, {element} b)\n"
        "{\n"
        f"  const {element} chosen = a {chooses} b ? a : b;\n"
        "  return b != b ? a : chosen;\n"
        "}"
    )


def extremum(name: str) -> str:
    """The function of generated code that stands for this one of ``<math.h>``."""
    return f"polydl_{name}"


def with_extrema(value: Expr) -> Expr:
    """The expression with functions of generated code in place of ``fmax``, ``fmin`` and those of floats."""
    value = with_parts(value, with_extrema)
    if isinstance(value, Apply) and value.function in EXTREMA:
        return Apply(extremum(value.function), value.arguments)
    return value


FUNCTIONS = {
    extremum(name): _extremum(name, "float" if name.endswith("f") else "double", ">" if "max" in name else "<")
    for name in sorted(EXTREMA)
}
"""What emitted code may call, by name: two numbers."""
