"""Levels of cache, and their sizes as a person writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from polydl.errors import MachineError

CACHE_SIZES_EXAMPLE = "32K,1M,36608K"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True)
class CacheLevel:
    """One level of data cache, as one core sees it while the others are idle."""

    #: L1, L2 or L3.
    name: str
    #: Its capacity; of the last level, as much of it as a program gets beside others that share it.
    bytes: int
    #: Of one line.
    line_bytes: int
    #: Logical processors that share one such cache, of those that this process may use.
    shared_by: int
    #: Of a load that it serves.
    latency_seconds: float
    #: Of loads that it serves.
    bandwidth_bytes_per_second: float


def parse_cache_sizes(text: str) -> tuple[int, ...]:
    """``32K,1M,36608K`` in bytes: K, M and G are powers of 1024, and ``B`` or ``iB`` may follow.

    Raises MachineError unless there are 1 to 4 positive sizes, each larger than the one before. Fewer than 1024 bytes
    need their ``B``, since who writes 32 means 32K.
    """
    sizes = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)\s*([KMG]?)(I?B)?", part.strip().upper(), re.ASCII)
        if match is None:
            raise MachineError(
                f"{part.strip()!r} is not a cache size",
                construct=f"--cache-sizes {text}",
                remedy=f"write sizes in bytes or with K, M or G, such as {CACHE_SIZES_EXAMPLE}",
            )
        size = int(match[1]) * _UNITS[match[2]]
        if 0 < size < 1 << 10 and match[3] is None:
            raise MachineError(
                f"a cache of {size} bytes",
                construct=f"--cache-sizes {text}",
                remedy=f"write sizes with K, M or G, such as {CACHE_SIZES_EXAMPLE}; {size}B if bytes are meant",
            )
        sizes.append(size)
    check_cache_sizes(sizes, construct=f"--cache-sizes {text}")
    return tuple(sizes)


def check_cache_sizes(sizes: Sequence[int], construct: str | None = None) -> None:
    """Raises MachineError unless there are 1 to 4 positive sizes, each larger than the one before."""
    wrong = None
    if not 1 <= len(sizes) <= 4:
        wrong = f"{len(sizes)} cache sizes"
    elif min(sizes) < 1:
        wrong = "a cache of 0 bytes" if min(sizes) == 0 else "a cache of negative size"
    elif any(outer <= inner for inner, outer in pairwise(sizes)):
        wrong = f"cache sizes that do not grow: {', '.join(size_text(size) for size in sizes)}"
    if wrong:
        raise MachineError(
            wrong,
            construct=construct,
            remedy=f"give 1 to 4 sizes, from the innermost cache to the outermost, such as {CACHE_SIZES_EXAMPLE}",
        )


def size_text(size: int) -> str:
    """Bytes as in ``CACHE_SIZES_EXAMPLE``, in K where that is a whole number."""
    return f"{size >> 10}K" if size % 1024 == 0 else str(size)
