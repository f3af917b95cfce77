"""The sizes that a library is made for: one range for each integer parameter of a function, and leading dimensions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from polydl.errors import OptionError, UserError
from polydl.ir.scop import Scop

_FORM = "NAME=LOW..HIGH, NAME=LOW..HIGH:STEP or NAME=SIZE,SIZE,..., such as M=1..4096, K=64..4096:64 or N=64,256"
# Python reads no number of thousands of digits.
_SIZE = r"\d{1,99}"
_RANGE = re.compile(rf"(?P<low>{_SIZE})\.\.(?P<high>{_SIZE})(?::(?P<step>{_SIZE}))?", re.ASCII)
_LISTED = re.compile(rf"{_SIZE}(?:,{_SIZE})*", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LEADING = re.compile(r"(?P<least>[A-Za-z_]\w*)\.\.", re.ASCII)
# Of a signed int, in which loops count.
_LARGEST = 2**31 - 1


@dataclass(frozen=True)
class SizeRange:
    """The values that one size may have: evenly spaced, or listed."""

    #: of the function's parameter
    name: str
    #: the least value
    low: int
    #: the greatest value
    high: int
    #: from one value to the next; 1 where values are listed
    step: int = 1
    #: in increasing order; empty for an even range
    listed: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> SizeRange:
        """A range as people write it. Raises OptionError."""
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not _NAME.fullmatch(name):
            raise OptionError(f"--range {text}: there is no NAME=", remedy=f"write {_FORM}")
        even = _RANGE.fullmatch(values)
        if even:
            return cls._even(text, name, int(even["low"]), int(even["high"]), int(even["step"] or 1))
        if not _LISTED.fullmatch(values):
            raise OptionError(f"--range {text}: {values!r} is no range of sizes", remedy=f"write {_FORM}")
        sizes = [int(value) for value in values.split(",")]
        _check(text, sizes)
        if len(set(sizes)) < len(sizes):
            raise OptionError(f"--range {text}: a size is listed twice", remedy="list each size once")
        return cls(name, min(sizes), max(sizes), 1, tuple(sorted(sizes)))

    @classmethod
    def _even(cls, text: str, name: str, low: int, high: int, step: int) -> SizeRange:
        _check(text, (low, high))
        if low > high:
            raise OptionError(f"--range {text}: it begins above its end", remedy=f"write {name}={high}..{low}")
        if not 1 <= step <= _LARGEST:
            raise OptionError(f"--range {text}: the step is {step}", remedy=f"a step from 1 to {max(1, high - low)}")
        return cls(name, low, low + (high - low) // step * step, step)

    def __contains__(self, size: int) -> bool:
        if self.listed:
            return size in self.listed
        return self.low <= size <= self.high and (size - self.low) % self.step == 0

    def __str__(self) -> str:
        if self.listed:
            return f"{self.name}={','.join(map(str, self.listed))}"
        return f"{self.name}={self.low}..{self.high}{f':{self.step}' if self.step > 1 else ''}"

    @property
    def count(self) -> int:
        """The number of sizes in it."""
        return len(self.listed) or (self.high - self.low) // self.step + 1

    def small(self, place: int) -> int:
        """The size at that place of the range, the smallest being 0; the largest size where there are not so many."""
        last = min(place, self.count - 1)
        return self.listed[last] if self.listed else self.low + last * self.step

    def between(self, low: int, high: int) -> SizeRange | None:
        """The sizes in it from ``low`` to ``high``; None if there are none."""
        if self.listed:
            listed = tuple(size for size in self.listed if low <= size <= high)
            return SizeRange(self.name, listed[0], listed[-1], 1, listed) if listed else None
        first = self.low + max(0, -(-(low - self.low) // self.step)) * self.step
        last = self.low + (min(high, self.high) - self.low) // self.step * self.step
        return SizeRange(self.name, first, last, self.step) if first <= last else None

    def nearest(self, size: float) -> int:
        """The size in the range that is closest to a number; the smaller one of two."""
        if self.listed:
            return min(self.listed, key=lambda listed: (abs(listed - size), listed))
        steps = round((min(max(size, self.low), self.high) - self.low) / self.step)
        return self.low + steps * self.step


def _check(text: str, sizes: Iterable[int]) -> None:
    for size in sizes:
        if not 1 <= size <= _LARGEST:
            raise OptionError(f"--range {text}: a size is {size}", remedy=f"sizes from 1 to {_LARGEST}")


@dataclass(frozen=True)
class LeadingDimension:
    """The elements from one row of an array to the next: a parameter that is at least a size, and else anything."""

    #: of the parameter
    name: str
    #: the size, which is also its value where shapes are measured
    least: str

    def __str__(self) -> str:
        return f"{self.name}={self.least}.."


#: An integer parameter that callers choose.
Size = SizeRange | LeadingDimension


def every_size(ranges: Sequence[SizeRange], leading: Sequence[LeadingDimension]) -> tuple[Size, ...]:
    """All integer parameters that callers choose: those with a range first."""
    return (*ranges, *leading)


def leading_dimensions(
    texts: Sequence[str] | Mapping[str, str],
) -> tuple[tuple[str, ...], tuple[LeadingDimension, ...]]:
    """The texts of ranges of sizes, and what is written as ``lda=K..``: at least K."""
    written = [f"{name}={values}" for name, values in texts.items()] if isinstance(texts, Mapping) else texts
    ranges, leading = [], []
    for text in written:
        name, _, values = (part.strip() for part in text.partition("="))
        match = _LEADING.fullmatch(values)
        if match and _NAME.fullmatch(name):
            leading.append(LeadingDimension(name, match["least"]))
        else:
            ranges.append(text)
    sizes = {text.partition("=")[0].strip() for text in ranges}
    for each in leading:
        if each.name in sizes or sum(other.name == each.name for other in leading) > 1:
            raise OptionError(f"--range {each.name} is given twice", remedy="give each size one range")
        if each.least not in sizes:
            raise OptionError(
                f"--range {each}: {each.least} has no range", remedy=f"give it one, such as {each.least}=1..4096"
            )
    return tuple(ranges), tuple(leading)


def size_ranges(texts: Sequence[str] | Mapping[str, str]) -> tuple[SizeRange, ...]:
    """The ranges of several sizes, ``("M=1..64", "N=8,16")`` or ``{"M": "1..64", "N": "8,16"}``. Raises OptionError."""
    written = [f"{name}={values}" for name, values in texts.items()] if isinstance(texts, Mapping) else texts
    ranges = tuple(SizeRange.parse(text) for text in written)
    if not ranges:
        raise OptionError("no size has a range", remedy=f"--range {_FORM}")
    names = [each.name for each in ranges]
    for name in names:
        if names.count(name) > 1:
            raise OptionError(f"--range {name} is given twice", remedy="give each size one range")
    return ranges


def check_parameters(scop: Scop, ranges: Iterable[Size]) -> None:
    """Check that each range is of an integer parameter of the function. Raises UserError."""
    known = {each.name for each in scop.function.parameters if each.value is not None}
    for each in ranges:
        if each.name not in known:
            raise not_a_parameter(each, scop.file, scop.function.line, scop.function.name)


def not_a_parameter(sizes: Size, file: str, line: int | None, function: str) -> UserError:
    """The error for a range of something that isn't an integer parameter of the function."""
    name = sizes.name
    return UserError(
        f"--range {sizes}: {name} is no integer parameter of {function}",
        file=file,
        line=line,
        construct=name,
        remedy=f"make it one: void f(int {name}, ...) with arrays such as a[{name}]; a macro has one value for the "
        "whole library: -D NAME=VALUE",
    )
