"""The machine that code is made for: the value, what the system says of it, what was published and what is measured."""

from polydl.machine.caches import CACHE_SIZES_EXAMPLE, CacheLevel, check_cache_sizes, parse_cache_sizes
from polydl.machine.core import Core, CoreConstant
from polydl.machine.limits import LIMITS
from polydl.machine.throughput import Throughput
from polydl.machine.value import Machine

__all__ = [
    "CACHE_SIZES_EXAMPLE",
    "LIMITS",
    "CacheLevel",
    "Core",
    "CoreConstant",
    "Machine",
    "Throughput",
    "check_cache_sizes",
    "parse_cache_sizes",
]
