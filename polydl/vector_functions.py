"""Functions of the C library that loops may call and still run with vector instructions.

Compilers turn some into instructions. For others, glibc's libmvec has versions that take whole vectors (within
4 units in the last place; the scalar ones are within 2, but for ``cbrt`` and ``erfc``); gcc calls them where the
functions are declared ``simd``, clang if told which library to use. ``prototypes`` makes the declarations, which say
nothing where the library isn't there; they are ``const``, or gcc would run a loop with any condition inside without
vectors, for the errno that such a function may set. Square roots of negative numbers set errno, for which compilers
would call a function; ``roots`` allows them not to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from polydl.bfloat16 import CONVERSIONS
from polydl.ir.scop import Scop
from polydl.ir.statement import Statement

# Those that become instructions.
_ROUNDED_TO_INTEGERS = frozenset({"nearbyint", "nearbyintf", "rint", "rintf"})
EXTREMA = frozenset({"fmax", "fmaxf", "fmin", "fminf"})
"""Maxima and minima, of which compilers make instructions where a program compares instead of calling them."""

_INSTRUCTIONS = EXTREMA | {"fabs", "fabsf", "sqrt", "sqrtf"} | _ROUNDED_TO_INTEGERS | CONVERSIONS
# Roots need to know that nobody asks for errno.
_ALWAYS_INSTRUCTIONS = frozenset({"fabs", "fabsf"}) | _ROUNDED_TO_INTEGERS
# By the version of glibc, 2.x, that has them first: functions for double, and with an f at the end for float.
_LIBRARY = {
    22: "cos exp log pow sin",
    35: "acos acosh asin asinh atan atan2 atanh cbrt cosh erf erfc exp10 exp2 expm1 hypot log10 log1p log2 sinh tan "
    "tanh",
}
# Of the instructions, those whose functions set errno besides.
_ROOTS = {"sqrt": "double", "sqrtf": "float"}
_TWO_ARGUMENTS = frozenset({"atan2", "hypot", "pow"})
_SINCE = {name: since for since, names in _LIBRARY.items() for name in names.split()}
_INCLUDES_MATH = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(tg)?math\.h>", re.MULTILINE)

SCALAR_MATH = "POLYDL_SCALAR_MATH"
"""The macro that, if it is defined, makes all calls scalar: for a C library without libmvec."""


@dataclass(frozen=True)
class _Function:
    #: C type of its arguments and of its result
    element: str
    #: how many it takes
    arguments: int
    #: minor version of glibc 2 that has its form with vectors first
    since: int


def _known(name: str) -> _Function | None:
    """None for what isn't in libmvec."""
    base = name if name in _SINCE else name.removesuffix("f")
    if base not in _SINCE:
        return None
    return _Function("double" if base == name else "float", 2 if base in _TWO_ARGUMENTS else 1, _SINCE[base])


def returned_type(name: str) -> str | None:
    """``float`` or ``double`` for a function of ``<math.h>`` that loops may call with vectors, else None."""
    if name in _INSTRUCTIONS - CONVERSIONS:
        return "float" if name.endswith("f") else "double"
    known = _known(name)
    return known.element if known is not None else None


def is_continuous(name: str) -> bool:
    """Whether a function's result changes little where its arguments do, as far as one knows without its body."""
    return name in CONVERSIONS or (name not in _ROUNDED_TO_INTEGERS and returned_type(name) is not None)


def arguments(name: str) -> int:
    """How many arguments a function of libmvec takes."""
    known = _known(name)
    assert known is not None
    return known.arguments


def called(statements: Iterable[Statement]) -> frozenset[str]:
    """The names of all C functions in statements' expressions, conversions of bfloat16 included."""
    return frozenset(node.text for each in statements for node in each.body.walk() if node.kind == "call")


def leaves(scop: Scop, names: Iterable[str]) -> frozenset[str]:
    """These functions, with what they call in place of those of the source's own: compilers put their bodies there.

    One that a vector loop can't contain stays.
    """
    inlined = {function.name: function.calls for function in scop.functions if function.straight}
    return frozenset(leaf for name in names for leaf in inlined.get(name, (name,)))


def is_extremum(scop: Scop, name: str) -> bool:
    """Whether a function is one of ``EXTREMA``, in place of whose calls emitted C compares."""
    return name in EXTREMA and includes_math(scop)


def is_instruction(scop: Scop, name: str) -> bool:
    """Whether compilers make instructions of a function's calls, whatever they may assume of its arguments.

    Those of ``fmax`` and its like are comparisons in emitted C, but for those inside the source's own functions.
    """
    return is_extremum(scop, name) or all(
        leaf in CONVERSIONS or (leaf in _ALWAYS_INSTRUCTIONS and includes_math(scop)) for leaf in leaves(scop, [name])
    )


def includes_math(scop: Scop) -> bool:
    """Whether the source includes ``<math.h>``; else functions of these names might be its own."""
    return _INCLUDES_MATH.search(scop.source) is not None


def from_library(scop: Scop, names: Iterable[str]) -> tuple[str, ...]:
    """Those that libmvec has, if they are those of ``<math.h>``."""
    if not includes_math(scop):
        return ()
    return tuple(sorted(name for name in leaves(scop, names) if _known(name) is not None))


def scalar_only(scop: Scop, names: Collection[str], *, exact: bool = False) -> frozenset[str]:
    """Those that keep a loop scalar. If results must be ``exact``, so do all that are not instructions."""
    library = () if exact else from_library(scop, names)
    return leaves(scop, names) - _INSTRUCTIONS - frozenset(library)


def roots(scop: Scop, names: Iterable[str]) -> list[str]:
    """C that declares those of these functions that are instructions but for errno as ones that leave it alone."""
    found = sorted(_ROOTS.keys() & leaves(scop, names))
    if not found or not includes_math(scop):
        return []
    declared = [f"{_ROOTS[name]} {name}({_ROOTS[name]}) __attribute__((const));" for name in found]
    return ["#include <math.h>", "#ifdef __GNUC__", *declared, "#endif"]


def prototypes(names: Sequence[str]) -> list[str]:
    """C that declares the vector versions of these functions of libmvec, if the C library has them."""
    if not names:
        return []
    lines = ["#include <math.h>", f"#if defined __x86_64__ && defined __GLIBC__ && !defined {SCALAR_MATH}"]
    for name in names:
        known = _known(name)
        assert known is not None
        lines += [
            f"#if __GLIBC_PREREQ(2, {known.since})",
            "#pragma omp declare simd notinbranch",
            f"{known.element} {name}({', '.join([known.element] * known.arguments)}) __attribute__((const));",
            "#endif",
        ]
    return [*lines, "#endif"]
