"""Constants of a core that are measured: its first table of pages, and what it takes until threads have begun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polydl.calibration.levels import on_each
from polydl.calibration.probes import SECONDS, probed
from polydl.execute.toolchain import Toolchain
from polydl.native import runtime

# Numbers of pages that are walked through, one line in each. A first-level cache holds all of these lines.
_PAGES = (8, 16, 24, *range(32, 144, 4), 160, 192, 256)
# What is found in a second table costs at least this part of a hit in the first one; less than that is noise.
_LEAST_JUMP = 0.3
_ACCESSES, _REPEATS, _ROUNDS = 20_000, 3, 8
# The first rounds count for nothing.
_REGIONS, _REGION_ROUNDS, _FIRST_ROUNDS = 200, 60, 2
_THREADS = (
    SECONDS
    + """\
double polydl_probe(const long *numbers);
double polydl_probe(const long *numbers)
{
  const long regions = numbers[0];
  const double start = seconds();
  for (long region = 0; region < regions; ++region) {
#pragma omp parallel for schedule(static)
    for (int i = 0; i < 1024; ++i)
      __asm__ volatile("" ::: "memory");
  }
  return (seconds() - start) / (double)regions;
}
"""
)


def page_table(latencies: Mapping[int, float], cycle_seconds: float) -> dict[str, float]:
    """The constants of the first table of pages, from seconds per access by the number of pages walked through.

    No constants where the time does not rise: then all pages are found at once, or the system maps larger ones.
    """
    least, most = min(latencies.values()), latencies[max(latencies)]
    if most < (1.0 + _LEAST_JUMP) * least:
        return {}
    held = max(pages for pages, seconds in latencies.items() if seconds <= (least + most) / 2)
    return {"first_tlb_entries": held, "first_tlb_miss_cycles": (most - least) / cycle_seconds}


def measure_pages(core: int, page_bytes: int, line_bytes: int, operations_per_cycle: float) -> dict[str, float]:
    """The constants of the first table of pages, by walking through one line in each of ever more pages, at random.

    The lines lie a page and a line apart, so that they spread over all sets of the cache. ``operations_per_cycle`` are
    floating-point operations at the peak of the core with this number.
    """
    probe = runtime()
    step = page_bytes + line_bytes

    def probed() -> float:
        latencies = dict.fromkeys(_PAGES, float("inf"))
        peak = 0.0
        for _ in range(_ROUNDS):
            peak = max(peak, probe.fma_gflops())
            for pages in _PAGES:
                seconds = probe.latency(pages * step, line_bytes=step, accesses=_ACCESSES, repeats=_REPEATS)
                latencies[pages] = min(latencies[pages], seconds)
        found.update(page_table(latencies, operations_per_cycle / (peak * 1e9)))
        return peak

    found: dict[str, float] = {}
    on_each([core], probed)
    return found


def measure_thread_start(cores: Sequence[int], toolchain: Toolchain) -> dict[str, float]:
    """Seconds of a parallel loop with next to nothing in it, one thread on each core; none for a single core.

    The environment is that of all measurements. Raises ExecutionError if the probe does not compile or run.
    """
    if len(cores) < 2:
        return {}
    rounds = _FIRST_ROUNDS + _REGION_ROUNDS
    [seconds], _ = probed(_THREADS, toolchain, cores, [[_REGIONS]], rounds, what="the start of threads")
    return {"thread_start_seconds": min(seconds[_FIRST_ROUNDS:])}
