"""Numbers with their units, and the unit that a column of numbers shares."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

# A dash as wide as a digit.
NOTHING = "\u2013"
# A number and its unit stay on one line.
_SPACE = "\u202f"
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_SIZES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B"))
_RATES = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"))
_COUNTS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class UnitScale:
    """A unit, and how many decimals the numbers of one column have in it."""

    #: what a number is divided by
    factor: float
    unit: str
    #: behind the point
    decimals: int

    def text(self, value: float | None) -> str:
        """The number alone, for a column whose heading has the unit."""
        return NOTHING if value is None else f"{value / self.factor:,.{self.decimals}f}"


def time_scale(seconds: Iterable[float | None]) -> UnitScale:
    """The unit in which the shortest of some times has one digit or more before the point, with four in all."""
    known = [value for value in seconds if value]
    shortest = min(known, default=1.0)
    factor, unit = next(((factor, unit) for factor, unit in _TIMES if shortest >= factor), _TIMES[-1])
    return UnitScale(factor, unit, _decimals(shortest / factor))


def rate_scale(rates: Iterable[float | None]) -> UnitScale:
    """GFLOPS, with as many decimals as give the lowest rate three digits."""
    return UnitScale(1.0, "GFLOPS", _decimals(min((rate for rate in rates if rate), default=1.0), digits=3))


def duration(seconds: float | None) -> str:
    """A time in its largest unit of which there is one or more; a dash for None."""
    return NOTHING if seconds is None else _in_unit(seconds, _TIMES)


def size(count: float | None) -> str:
    """Bytes in powers of 1024: whole numbers as they are, others with three digits."""
    if count is None:
        return NOTHING
    factor, unit = next(((factor, unit) for factor, unit in _SIZES if count >= factor), _SIZES[-1])
    number = count / factor
    return f"{number:,.{0 if number == int(number) else _decimals(number, digits=3)}f}{_SPACE}{unit}"


def bandwidth(rate: float | None) -> str:
    """Bytes per second in their largest unit of which there is one or more; a dash for None."""
    return NOTHING if rate is None else _in_unit(rate, _RATES)


def operations(count: float | None) -> str:
    """A number of floating-point operations."""
    if count is None:
        return NOTHING
    if count < _COUNTS[-1][0]:
        return f"{count:.0f}{_SPACE}flop"
    return f"{_in_unit(count, _COUNTS)}flop"


def gflops(rate: float | None) -> str:
    """A rate in GFLOPS; a dash for None."""
    return NOTHING if rate is None else f"{significant(rate)}{_SPACE}GFLOPS"


def percentage(fraction: float | None) -> str:
    """A fraction of one in percent, with a decimal if it is less than a tenth; a dash for None."""
    if fraction is None:
        return NOTHING
    return f"{100 * fraction:.{1 if abs(fraction) < 0.1 else 0}f}{_SPACE}%"


def factor(ratio: float | None) -> str:
    """How many times as fast."""
    return NOTHING if ratio is None else f"{significant(ratio, 3)}{_SPACE}\u00d7"


def significant(value: float | None, digits: int = 4) -> str:
    """A number with so many digits; tiny and huge ones as powers of ten."""
    if value is None:
        return NOTHING
    if value != 0 and not 1e-3 <= abs(value) < 1e7:
        mantissa, _, exponent = f"{value:.{max(digits - 2, 1)}e}".partition("e")
        return f"{mantissa}·10{str(int(exponent)).translate(_RAISED)}"
    return f"{value:,.{_decimals(value, digits)}f}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _in_unit(value: float, units: tuple[tuple[float, str], ...]) -> str:
    factor, unit = next(((factor, unit) for factor, unit in units if value >= factor), units[-1])
    number = value / factor
    return f"{number:,.{_decimals(number)}f}{_SPACE}{unit}"


def _decimals(value: float, digits: int = 4) -> int:
    """Decimals that leave so many digits in all; none for numbers that are long already."""
    exponent = math.floor(math.log10(abs(value))) if value else 0
    return max(digits - 1 - exponent, 0)
