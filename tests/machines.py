"""Machines of tests: round numbers, or the one at hand, with as many threads as asked for."""

from __future__ import annotations

from dataclasses import replace

from polydl.machine import CacheLevel, Machine

SIZES = (1 << 15, 1 << 20, 1 << 25)
RATES = (100e9, 40e9, 20e9, 10e9)


def machine_with(threads: int, vector_bytes: int, rates: tuple[float, ...] = RATES, peak: float = 100.0) -> Machine:
    """An x86-64 with 32 KiB, 1 MiB and 32 MiB of cache; ``rates`` are bytes per second from each and from memory."""
    isa = ("avx2", "avx512f", "fma") if vector_bytes == 64 else ("avx2", "fma")
    caches = tuple(
        CacheLevel(f"L{number + 1}", size, 64, 1, 1e-9 * 4**number, rate)
        for number, (size, rate) in enumerate(zip(SIZES, rates, strict=False))
    )
    return Machine(
        "example", "example", max(2, threads), threads, isa, vector_bytes, caches, 1e-7, rates[-1], 1 << 34, peak
    )


def detected(cache_sizes: str | None = None, *, threads: int) -> Machine:
    """The machine at hand with so many threads, whether this process may use as many of its cores or not."""
    here = Machine.detect(cache_sizes)
    return replace(here, cores=max(here.cores, threads), threads=threads)
