"""Lengths of time as a person writes them."""

from __future__ import annotations

import re

_FORM = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h)?", re.ASCII)
_SECONDS = {None: 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds_in(text: str) -> float | None:
    """Seconds of ``90``, ``90s``, ``1.5m``, ``20min`` or ``2h``; None for what is no length of time."""
    matched = _FORM.fullmatch(text.strip())
    return None if matched is None else float(matched[1]) * _SECONDS[matched[2]]
