"""Parts of a piece of work, for machines that know nothing of each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from polydl.errors import OptionError

_FORM = re.compile(r"(\d{1,9})/(\d{1,9})", re.ASCII)
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Shard:
    """One of the parts of a whole. Together they are the whole, and no two have anything in common."""

    #: its place among the parts, from 1
    number: int
    #: how many parts make up the whole
    count: int

    @staticmethod
    def parse(text: str) -> Shard:
        """``2/4`` is the second of four. Raises OptionError."""
        matched = _FORM.fullmatch(text.strip())
        number, count = (int(part) for part in matched.groups()) if matched else (0, 0)
        if not 1 <= number <= count:
            raise OptionError(
                f"{text!r} is no part of a whole", construct=f"--shard {text}", remedy="write 1/4 to 4/4 for four parts"
            )
        return Shard(number, count)

    def of(self, items: Sequence[_Item]) -> tuple[_Item, ...]:
        """Every ``count``-th item, so that neighbours, which are often alike in cost, go to different parts."""
        return tuple(items[self.number - 1 :: self.count])

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"
