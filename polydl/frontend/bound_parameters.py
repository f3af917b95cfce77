"""Parameters of integer type that ``-D`` gives a value, in place of macros of their names.

Runs in the child process that holds libclang.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from polydl.errors import OptionError, PolydlError, UnsupportedConstructError
from polydl.frontend.counters import LIMITS
from polydl.frontend.function_reader import FunctionReader
from polydl.frontend.macro_uses import inactive
from polydl.frontend.regions import choose, functions_of, marked_regions
from polydl.frontend.source import line_of


def bound_parameters(
    unit: Any, text: str, defines: Mapping[str, str], name: str | None, init: str, file: str
) -> dict[str, int]:
    """``{parameter: value}`` of the defines that name an integer parameter. They fix its value and are no macros."""
    functions = functions_of(unit)
    try:
        functions = [choose(functions, marked_regions(text, file, inactive(unit, text)), name, init, file)[0]]
    except PolydlError:
        # Without its macros the file may not parse yet, so that any function of that name counts.
        named = [function for function in functions if name in (None, function.spelling)]
        # A name that the file doesn't have is refused later, by ``choose``, if the macros spoil no function until then.
        absent = name is not None and not re.search(rf"\b{re.escape(name)}\b", text)
        functions = functions if absent else named
    bound = {}
    for function in functions:
        for parameter in function.get_arguments():
            if parameter.spelling not in defines:
                continue
            value = defines[parameter.spelling]
            try:
                bound[parameter.spelling] = int(value, 0)
            except ValueError:
                raise OptionError(
                    f"{parameter.spelling} is a parameter of {function.spelling}, and {value!r} is no integer",
                    file=file,
                    line=parameter.location.line,
                    remedy=f"give it an integer: -D {parameter.spelling}=64",
                ) from None
    return bound


def check_bound(reader: FunctionReader, bound: Mapping[str, int], parameters: list[str], file: str) -> None:
    """Check that those parameters can have their values: integers that the function leaves alone, within their types.

    Raises OptionError, and UnsupportedConstructError where the function changes one.
    """
    for variable in reader.variables.values():
        if variable.storage != "parameter" or variable.name not in bound or variable.name not in parameters:
            continue
        line = line_of(reader.text, variable.offset)
        if not variable.shape.is_scalar_integer:
            raise OptionError(
                f"{variable.name} is a parameter that isn't an integer, so -D can't give it a value",
                file=file,
                line=line,
                remedy=f"leave out -D {variable.name}=…",
            )
        low, high = LIMITS[variable.shape.element]
        if not low <= bound[variable.name] <= high:
            raise OptionError(
                f"{variable.name} is of type {variable.shape.element}, which has no number {bound[variable.name]}",
                file=file,
                line=line,
                remedy=f"give it a value from {low} to {high}, or another type in the source",
            )
        for reference in variable.references:
            if reference.role in ("write", "update", "address"):
                raise UnsupportedConstructError(
                    f"-D gives {variable.name} one value, and the function changes it",
                    file=file,
                    line=line_of(reader.text, reference.offset),
                    construct=variable.name,
                    remedy="copy the parameter to a local variable, and change that",
                )
