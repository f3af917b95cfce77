"""What is flushed from the caches before each timed invocation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from polydl.errors import OptionError

Cold = bool | Literal["constants"]
"""Nothing, all arrays, or those that hold the same at every call with what was prepared of them: so a kernel finds them
in a program that uses more of them in turn than the last cache holds."""

COLD_IN_WORDS: Mapping[Cold, str] = {False: "", True: "from empty caches", "constants": "constants from memory"}
"""What stands behind a time; nothing where caches are warm."""


def cold_of(value: Any) -> Cold:
    """An argument of that type. Raises OptionError for any other."""
    if value == "constants":
        return "constants"
    if value in (False, True):
        return bool(value)
    raise OptionError(f"cold is {value!r}", remedy='write True, False or "constants"')
