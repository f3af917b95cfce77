"""What generated C has beside plain arithmetic, as values, so that nobody needs to read it in the text.

Who compiles the text with other numbers than floating-point ones has to know of these (``polydl.execute.rings``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True)
class VectorType:
    """A vector type of GCC's and Clang's."""

    name: str
    #: type of the lanes
    element: str
    #: elements of a vector
    lanes: int
    #: C that declares it, as it stands in the text
    declaration: str


@dataclass(frozen=True)
class DispatchFunction:
    """A function of a library that makes machine code at run time: it returns a kernel, or null where it makes none."""

    #: as generated C calls it
    name: str
    #: C that declares it, as it stands in the text
    declaration: str


@dataclass(frozen=True)
class Ingredients:
    """What a text of generated C, or a part of it, has beside plain arithmetic. Each is there once."""

    #: headers in angle brackets, those included under a condition, too; the source's own are not among them
    includes: tuple[str, ...] = ()
    vector_types: tuple[VectorType, ...] = ()
    dispatch_functions: tuple[DispatchFunction, ...] = ()
    #: constants in floating-point arithmetic that the source does not have
    factors: tuple[Fraction, ...] = ()
    #: whether there is what chooses how many threads a call takes, which computes with seconds
    chooses_threads: bool = False
    #: whether threads add up parts of sums, in an order that may be another one at each call
    combines_sums: bool = False


#: Of plain arithmetic alone.
PLAIN = Ingredients()


@dataclass(frozen=True)
class Fragment:
    """C at file scope."""

    text: str
    ingredients: Ingredients = PLAIN


def together(parts: Iterable[Ingredients]) -> Ingredients:
    """What a text of several parts has."""
    every = tuple(parts)
    return Ingredients(
        _once(each.includes for each in every),
        _once(each.vector_types for each in every),
        _once(each.dispatch_functions for each in every),
        _once(each.factors for each in every),
        any(each.chooses_threads for each in every),
        any(each.combines_sums for each in every),
    )


def _once(several: Iterator[tuple[_T, ...]]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(several)))
