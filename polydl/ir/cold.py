"""What is flushed from the caches before each timed invocation."""

from __future__ import annotations

from typing import Any, Literal

from polydl.errors import OptionError

Cold = bool | Literal["constants"]
"""Nothing, all arrays, or those that hold the same at every call with what was prepared of them: so a kernel finds them
in a program that uses more of them in turn than the last cache holds."""


def cold_of(value: Any) -> Cold:
    """An argument of that type. Raises OptionError for any other."""
    if value in (False, True, "constants"):
        cold: Cold = "constants" if value == "constants" else bool(value)
        return cold
    raise OptionError(f"cold is {value!r}", remedy='write True, False or "constants"')
