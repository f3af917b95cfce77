"""What curves that were measured say beyond doubt: nothing where they are flat, disturbed or rise without a step."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

# A part of a step: nothing lies as near to its middle as this, or there is no step.
_BETWEEN = 0.08


def last_before_step(curve: Mapping[int, float], rise: float) -> int | None:
    """The last place before the values rise at once, by at least so large a part of the lowest.

    What is high is what the last quarter of the curve is. None for a flat curve, and for one that does not stay below
    the middle before the step and above it after that, or that comes near the middle anywhere.
    """
    places = sorted(curve)
    if len(places) < 3:
        return None
    low = min(curve.values())
    high = median(curve[place] for place in places[-max(2, len(places) // 4) :])
    if high <= (1.0 + rise) * low:
        return None
    if any(abs((curve[place] - low) / (high - low) - 0.5) < _BETWEEN for place in places):
        return None
    above = [2 * curve[place] > low + high for place in places]
    if above[0] or above != sorted(above):
        return None
    return places[above.index(True) - 1]
