"""What callers pass from Python, checked where it enters: one rule for integers, lists, times and names of everything.

The command line has checked its options already.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from numbers import Real
from operator import index
from pathlib import PurePath
from typing import Any, TypeVar

from polydl.errors import OptionError

_Kind = TypeVar("_Kind")
#: The largest seed: records have no larger integers.
MOST_SEED = (1 << 63) - 1


def whole(name: str, value: Any, least: int | None = None, *, remedy: str = "") -> int:
    """An integer, of NumPy's types as well, that is at least ``least``. Raises OptionError; True is no integer."""
    number = None
    if not isinstance(value, bool):
        try:
            number = index(value)
        except TypeError:
            number = None
    if number is None:
        raise OptionError(f"{name} is {value!r}, which is no integer", remedy=remedy or "pass an integer")
    if least is not None and number < least:
        raise OptionError(f"{name} is {number}", remedy=remedy or f"at least {least}")
    return number


def seed_of(value: Any) -> int:
    """A seed of random numbers: an integer from 0 to ``MOST_SEED``. Raises OptionError."""
    seed = whole("seed", value, 0, remedy="pass an integer of at least 0")
    if seed > MOST_SEED:
        raise OptionError(f"seed is {seed}", remedy=f"at most {MOST_SEED}")
    return seed


def seconds_of(name: str, value: Any) -> float:
    """A finite number of seconds, more than 0. Raises OptionError."""
    number = _finite(value)
    if number is None or number <= 0:
        raise OptionError(f"{name} is {value!r}", remedy="pass a number of seconds: more than 0, and finite")
    return number


def factor_of(name: str, value: Any, *, remedy: str) -> float:
    """A finite number of at least 1. Raises OptionError with the remedy."""
    number = _finite(value)
    if number is None or number < 1:
        raise OptionError(f"{name} is {value!r}", remedy=remedy)
    return number


def _finite(value: Any) -> float | None:
    """The number as a float; None for what is no finite number, such as True."""
    if not isinstance(value, Real) or isinstance(value, bool) or not isfinite(value):
        return None
    return float(value)


def truth_of(name: str, value: Any) -> bool:
    """True or False, and nothing that Python takes for either. Raises OptionError."""
    return of_type(name, value, bool, remedy="pass True or False")


def require_callable(name: str, value: Any) -> None:
    """Raises OptionError for what is neither None nor can be called."""
    if value is not None and not callable(value):
        text = f"{name} is {value!r}, of type {type(value).__name__}"
        raise OptionError(text, remedy="pass a function, or None")


def listed(name: str, values: Any, *kinds: type[_Kind]) -> tuple[_Kind, ...]:
    """What stands in a list, each of one of the ``kinds``. Raises OptionError, also for one that is in no list.

    A text in place of a list would be taken letter by letter. None is an empty list.
    """
    if values is None:
        return ()
    wanted = " or ".join(kind.__name__ for kind in kinds)
    if isinstance(values, kinds):
        shown = repr(values) if isinstance(values, str) else "..."
        raise OptionError(f"{name} is {values!r}, not a list", remedy=f"put it into one: {name}=[{shown}]")
    if isinstance(values, str | bytes | PurePath) or not isinstance(values, Iterable):
        raise OptionError(f"{name} is {values!r}, not a list", remedy=f"pass a list, with a {wanted} in each place")
    taken = tuple(values)
    for value in taken:
        if not isinstance(value, kinds):
            raise OptionError(f"{name} has {value!r} in it", remedy=f"pass a list, with a {wanted} in each place")
    return taken


def of_type(name: str, value: Any, *kinds: type[_Kind], remedy: str) -> _Kind:
    """The value, if it is of one of the ``kinds``. Raises OptionError with the remedy."""
    if not isinstance(value, kinds):
        raise OptionError(f"{name} is {value!r}, of type {type(value).__name__}", remedy=remedy)
    return value
