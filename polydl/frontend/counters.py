"""Loop counters that their type can't hold up to the end of the loop."""

from __future__ import annotations

from dataclasses import dataclass


def _limits(bits: int, signed: bool) -> tuple[int, int]:
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)


#: The smallest and the largest value of each integer type.
LIMITS = {
    "_Bool": (0, 1),
    **{name: _limits(8, name != "unsigned char") for name in ("char", "signed char", "unsigned char")},
    **{name: _limits(16, name == "short") for name in ("short", "unsigned short")},
    **{name: _limits(32, name == "int") for name in ("int", "unsigned int")},
    **{f"{sign}{name}": _limits(64, not sign) for sign in ("", "unsigned ") for name in ("long", "long long")},
}


@dataclass(frozen=True)
class Header:
    """A loop's header with constants: ``for (i = start; i < bound; i += step)``."""

    counter: str
    #: canonical type of the counter
    element: str
    #: None if it isn't constant
    start: int | None
    #: ``<``, ``<=``, ``>``, ``>=`` or ``!=``, with the counter on the left
    comparison: str
    #: the constant that the counter is compared with
    bound: int
    #: positive or negative
    step: int

    def overflow(self) -> str | None:
        """Why the counter's type can't hold the value at which the loop ends; None if it can, or if that isn't known.

        The type limits what pet takes for unlimited: in C the counter wraps around or overflows, and the loop goes on.
        """
        after = self._after()
        low, high = LIMITS[self.element]
        if after is None or low <= after <= high:
            return None
        limit = f"the largest {self.element} is {high}" if after > high else f"the smallest {self.element} is {low}"
        return f"the loop never ends: its counter {self.counter} would have to reach {after}, and {limit}"

    def _after(self) -> int | None:
        """The value at which the loop ends, or the nearest that it can be."""
        upwards = self.step > 0
        if self.comparison == "!=":
            return self.bound
        if self.comparison not in (("<", "<=") if upwards else (">", ">=")):
            return None
        direction = 1 if upwards else -1
        end = self.bound + direction * (len(self.comparison) - 1)
        if self.start is None:
            return end
        if (end - self.start) * direction <= 0:
            return None
        return self.start - (self.start - end) // self.step * self.step


def wider(counter: str, element: str) -> str:
    """The remedy for a counter of that type."""
    if element in ("long", "long long", "unsigned long", "unsigned long long"):
        return f"end the loop before {counter} reaches the limits of {element}"
    return f"make {counter} {'a long' if element in ('int', 'unsigned int') else 'an int'}, or end the loop earlier"
