"""Lengths of time as a person writes and reads them."""

from __future__ import annotations

import re

_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h)?", re.ASCII)
_SECONDS = {None: 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds_in(text: str) -> float | None:
    """Seconds of ``90``, ``90s``, ``1.5m``, ``20min`` or ``2h``; None for what is no length of time."""
    matched = _FORM.fullmatch(text.strip())
    return None if matched is None else float(matched[1]) * _SECONDS[matched[2]]


def shown(seconds: float) -> str:
    """A time in its largest unit of which there is one or more, of seconds to nanoseconds."""
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")):
        # Four digits of less than that would be 1000 of the next unit.
        if seconds >= unit * 0.99995:
            return f"{seconds / unit:.4g} {name}"
    return f"{seconds * 1e9:.3g} ns"
