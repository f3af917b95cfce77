"""Parts of emitted C, for tests that look at it."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class EmittedText:
    """Emitted C around the tuned function."""

    #: helpers, and macros that rename the tuned function
    before: str
    #: the function as it was optimized, without what chooses between it and the original nest
    tuned: str
    #: the choice by the processor, and what frees memory
    after: str


def emitted_text(c: str, function: str = "f") -> EmittedText:
    """Takes emitted C apart. Raises AssertionError where the function isn't defined."""
    start = re.search(rf"^(static )?void {function}\([^;]*?\)\n?\s*\{{", c, re.MULTILINE)
    assert start, f"no definition of {function}"
    end = re.compile(rf"^#undef {function}$", re.MULTILINE).search(c, start.end())
    stop = end.start() if end else len(c)
    return EmittedText(c[: start.start()], c[start.start() : stop], c[stop:])
