"""Numerics levels: how far a variant's rounding may differ from the source's, and what methods declare of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from polydl.errors import OptionError

Numerics = Literal["strict", "reassociated", "bounded", "fast"]
NUMERICS: tuple[Numerics, ...] = get_args(Numerics)
DEFAULT_NUMERICS: Numerics = "bounded"
# By how many times a result at the level `bounded` may be further from the exact one than the source's own is.
MOST_ERROR = 4.0

Keeps = Literal["all", "products", "nothing"]
_KEPT: tuple[Keeps, ...] = get_args(Keeps)


@dataclass(frozen=True)
class Rounding:
    """How a method rounds, beside the source's own arithmetic in the same type."""

    #: ``all``: the order of every sum, every product, and with them every bit. ``products``: every product of the
    #: source, in sums of another order or with further terms that are zero. ``nothing``: other products.
    keeps: Keeps
    #: Its a-priori error over that of the source: of the norm-wise root-mean-square errors, where roundings are
    #: independent and have mean zero (Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019). Infinite if it isn't known.
    error_factor: float = 1.0
    #: What it does, in a few words, one entry per method; none if it does what the source does.
    methods: tuple[str, ...] = ()

    def beside(self, other: Rounding) -> Rounding:
        """Rounding of two methods in one nest, each for sums of its own: the worse factor bounds the errors."""
        return self._with(other, max(self.error_factor, other.error_factor))

    def inside(self, other: Rounding) -> Rounding:
        """Rounding of a method whose sums are computed by another one: the factors of both are multiplied."""
        return self._with(other, self.error_factor * other.error_factor)

    def _with(self, other: Rounding, error_factor: float) -> Rounding:
        keeps = max(self.keeps, other.keeps, key=_KEPT.index)
        return Rounding(keeps, error_factor, tuple(dict.fromkeys((*self.methods, *other.methods))))


EXACT = Rounding("all")
REORDERED = Rounding("products")
UNKNOWN = Rounding("nothing", inf)
# What tile registers, and kernels like theirs, do to operands of 16 bits, and instructions that round to such results.
FLUSHED = "numbers below 1.2e-38 as zeros"
#: What is said of a nest without floating-point numbers.
INTEGERS = "integers alone, of which nothing is rounded"


def in_words(
    level: Numerics,
    rounding: Rounding,
    vector_functions: Sequence[str] = (),
    *,
    flushes: bool = False,
    rounds: bool = True,
) -> str:
    """What code of this level does to sums, products and the functions that it calls with whole vectors.

    It ``flushes`` if it takes numbers below 1.2e-38 as zeros where it rounds its results. The nest ``rounds`` unless it
    computes with integers alone.
    """
    if not rounds:
        return INTEGERS
    said = list(dict.fromkeys((*rounding.methods, *([FLUSHED] if flushes else [])))) or [
        "sums in any order" if reassociates(level) else "sums in the order of the source"
    ]
    if vector_functions:
        said.append(f"{', '.join(vector_functions)} of vectors within 4 units in the last place")
    return "; ".join(said)


def numerics_level(name: str) -> Numerics:
    """The level of that name. Raises OptionError if there is none."""
    for level in NUMERICS:
        if name == level:
            return level
    raise OptionError(f"there is no numerics level {name!r}", remedy=f"one of {', '.join(NUMERICS)}")


def reassociates(level: Numerics) -> bool:
    """Whether sums may be taken in any order."""
    return level != "strict"


def keeps_products(level: Numerics) -> bool:
    """Whether every product, and every value of a function, is to be that of the source."""
    return level in ("strict", "reassociated")


def keeps_precision(level: Numerics) -> bool:
    """Whether no sum is taken in a narrower type than the source's, which has no useful error bound."""
    return level != "fast"


def most_error(level: Numerics) -> float:
    """How many times as large a measured error may be than that of the source's own arithmetic."""
    return MOST_ERROR if level == "bounded" else inf


def refusal(rounding: Rounding, level: Numerics) -> str | None:
    """Why a level does not admit a method, or None if it does."""
    if level == "strict" and rounding.keeps != "all":
        return "at the numerics level strict every sum keeps its order, and every value"
    if level == "reassociated" and rounding.keeps == "nothing":
        return "at the numerics level reassociated every product of the source is computed"
    # Any order of a sum has the same bound as that of the source.
    if level == "bounded" and rounding.keeps == "nothing" and rounding.error_factor > MOST_ERROR:
        known = (
            f"is {rounding.error_factor:.2g} times that of the source" if rounding.error_factor < inf else "is unknown"
        )
        return f"at the numerics level bounded its a-priori error {known}, and {MOST_ERROR:g} times is the most"
    return None
