"""Constants of a core that loops are measured for: their start, lanes that lie apart, plain nests, and the clock."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from statistics import geometric_mean, median
from string import Template

from polydl.calibration.levels import on_each
from polydl.calibration.probes import SECONDS, least_seconds
from polydl.codegen.shuffled import SHUFFLED
from polydl.codegen.support import SUPPORT, TRANSPOSE
from polydl.codegen.transforms import transposed
from polydl.execute.toolchain import Toolchain
from polydl.machine.core import Core
from polydl.native import runtime
from polydl.plan.transposing_copies import VECTOR_BYTES

# Loops of random lengths, new ones each time, and how long they are at most; squares of lanes; extents of plain nests.
_LOOPS, _LONGEST, _SQUARES, _EXTENT = 2048, 16, 64, 48
# How often the two short ones of the plain nests are repeated, and the floating-point operations of all.
_AGAIN = 8
_FLOPS = {
    "product": 2 * _EXTENT**3,
    "elements": _AGAIN * 2 * _EXTENT**2,
    "filter": _AGAIN * 2 * 9 * (_EXTENT - 2) ** 2,
}
# What the probe's C has under each number.
_CASES = ("short loops", "one loop", "lanes apart", "lanes together", *_FLOPS, "transposed")
_ROUNDS = 120
# What no loop's start, no vector's lanes and no nest takes: a compiler has left something out, or something else ran.
_START, _OPERATIONS, _SHARE, _TRANSPOSED = (1.0, 60.0), (0.5, 40.0), (0.02, 1.0), (0.5, 40.0)
# Pauses before a clock may be higher, how often, and for how long the core is busy beside them.
_PAUSE_SECONDS, _PAUSES, _BUSY_SECONDS, _PROBE_ITERATIONS = 0.02, 12, 0.4, 20_000
# Clocks that differ by less are the same, and those of no core differ by more.
_LEAST_HEADROOM, _MOST_HEADROOM = 1.05, 2.0
_PROBE = Template(
    SECONDS
    + """\
$shuffled
$transpose
typedef float vector __attribute__((vector_size($bytes), may_alias));
typedef int numbers __attribute__((vector_size($bytes), unused));
static vector data[$width * ($longest + 2)] __attribute__((aligned(64)));
static vector strip[$width] __attribute__((aligned(64)));
static float a[$extent][$extent], b[$extent][$extent], c[$extent][$extent];
static long lengths[$loops];
static unsigned seed = 1;
static __attribute__((noinline)) void walk(const long *length, int count)
{
  volatile vector *place = data;
  for (int i = 0; i < count; ++i)
    for (long j = 0; j < length[i]; ++j)
      (void)place[j & ($longest - 1)];
}
double polydl_probe(const long *what);
double polydl_probe(const long *what)
{
  volatile vector *place = data;
  long total = 0;
  double start;
  for (int i = 0; i < $loops; ++i) {
    seed = seed * 1664525u + 1013904223u;
    total += lengths[i] = 1 + (long)(seed >> 16) % $longest;
  }
  __asm__ volatile("" ::"r"(a), "r"(b), "r"(c) : "memory");
  start = seconds();
  switch (what[0]) {
  case 0:
    walk(lengths, $loops);
    return (seconds() - start) / (double)total;
  case 1:
    walk(&total, 1);
    return (seconds() - start) / (double)total;
  case 2:
    for (int i = 0; i < $squares; ++i) {
      __asm__ volatile("" ::: "memory");
      {
$loads
$transposed
$stores
      }
      __asm__ volatile("" ::: "memory");
      for (int j = 0; j < $width; ++j)
        (void)((volatile vector *)strip)[j];
    }
    break;
  case 3:
    for (int i = 0; i < $squares; ++i)
      for (int j = 0; j < $width; ++j)
        (void)place[j];
    break;
  case 4:
    for (int i = 0; i < $extent; ++i)
      for (int j = 0; j < $extent; ++j)
        for (int k = 0; k < $extent; ++k)
          c[i][j] += a[i][k] * b[k][j];
    break;
  case 5:
    for (int again = 0; again < $again; ++again) {
      for (int i = 0; i < $extent; ++i)
        for (int j = 0; j < $extent; ++j)
          c[i][j] = a[i][j] * b[i][j] + a[0][j];
      __asm__ volatile("" ::"r"(c) : "memory");
    }
    break;
  case 6:
    for (int again = 0; again < $again; ++again) {
      for (int i = 0; i < $extent - 2; ++i)
        for (int j = 0; j < $extent - 2; ++j)
          for (int p = 0; p < 3; ++p)
            for (int q = 0; q < 3; ++q)
              c[i][j] += a[i + p][j + q] * b[p][q];
      __asm__ volatile("" ::"r"(c) : "memory");
    }
    break;
  case 7:
    for (int again = 0; again < $again; ++again) {
      polydl_transpose(&c[0][0], $extent, &a[0][0], $extent, $extent, $extent);
      __asm__ volatile("" ::"r"(c) : "memory");
    }
    break;
  }
  __asm__ volatile("" ::"r"(c) : "memory");
  return seconds() - start;
}
"""
)


def probe(vector_bytes: int) -> str:
    """The C of ``double polydl_probe(const long *what)``, which returns the seconds of a case."""
    width = vector_bytes // 4
    lanes = range(width)
    return _PROBE.substitute(
        shuffled=SHUFFLED,
        transpose=SUPPORT[TRANSPOSE].text,
        bytes=vector_bytes,
        width=width,
        longest=_LONGEST,
        loops=_LOOPS,
        squares=_SQUARES,
        extent=_EXTENT,
        again=_AGAIN,
        loads="\n".join(f"        vector r{lane} = place[{lane}];" for lane in lanes),
        transposed="\n".join(f"        {line}" for line in transposed(width, "vector")),
        stores="\n".join(f"        strip[{lane}] = r{lane};" for lane in lanes),
    )


def loop_constants(
    seconds: Mapping[str, float], vector_elements: int, cycle_seconds: float, fma_per_cycle: float, peak_gflops: float
) -> dict[str, float]:
    """The constants, from seconds by case: of an iteration of the loops, and of all of the others.

    Cases that are missing were disturbed: what needs them is left out, as what can't be is.
    """
    limits = {
        "loop_start_cycles": _START,
        "gathered_lanes_operations": _OPERATIONS,
        "plain_loop_share": _SHARE,
        "transposed_vector_cycles": _TRANSPOSED,
    }
    found: dict[str, float] = {}
    if {"short loops", "one loop"} <= seconds.keys():
        iterations = (1 + _LONGEST) / 2
        found["loop_start_cycles"] = (seconds["short loops"] - seconds["one loop"]) * iterations / cycle_seconds
    if {"lanes apart", "lanes together"} <= seconds.keys():
        vectors = _SQUARES * vector_elements
        cycles = (seconds["lanes apart"] - seconds["lanes together"]) / vectors / cycle_seconds
        found["gathered_lanes_operations"] = cycles * fma_per_cycle
    if "transposed" in seconds:
        vectors = _AGAIN * _EXTENT**2 * 4 // VECTOR_BYTES
        found["transposed_vector_cycles"] = seconds["transposed"] / vectors / cycle_seconds
    if _FLOPS.keys() <= seconds.keys():
        rates = [flops / seconds[nest] for nest, flops in _FLOPS.items()]
        found["plain_loop_share"] = geometric_mean(rates) / (peak_gflops * 1e9)
    return {name: round(value, 3) for name, value in found.items() if limits[name][0] <= value <= limits[name][1]}


def measure_loops(
    known: Core, core: int, vector_bytes: int, peak_gflops: float, toolchain: Toolchain, rounds: int = _ROUNDS
) -> dict[str, float]:
    """The constants of loops of the core with this number and peak, of which the rest is ``known``.

    Raises ExecutionError if the probe does not compile or run.
    """
    cases = [[case] for case in range(len(_CASES))]
    taken = least_seconds(probe(vector_bytes), toolchain, core, cases, rounds, peak_gflops, what="loops")
    seconds = {name: least for name, least in zip(_CASES, taken, strict=True) if least is not None}
    cycle = known.operations_per_cycle(vector_bytes) / (peak_gflops * 1e9)
    return loop_constants(seconds, vector_bytes // 4, cycle, known.fma_per_cycle, peak_gflops)


def headroom(after_pauses: Sequence[float], busy: Sequence[float]) -> dict[str, float]:
    """The constant ``clock_headroom``, from rates of multiply-adds after pauses and in a long run, in the same unit.

    No constant where the clock is the same, where it differs by more than any core's, and where something else ran
    beside the long run.
    """
    usual = median(busy)
    ratio = max(after_pauses) / usual
    if max(busy[len(busy) // 2 :]) > _LEAST_HEADROOM * usual or not _LEAST_HEADROOM <= ratio <= _MOST_HEADROOM:
        return {}
    return {"clock_headroom": round(ratio, 3)}


def measure_headroom(core: int, pauses: int = _PAUSES) -> dict[str, float]:
    """The constant ``clock_headroom`` of the core with this number, if it is clearly faster after a pause."""
    probe = runtime()

    def rates() -> tuple[list[float], list[float]]:
        after, busy = [], []
        for _ in range(pauses):
            time.sleep(_PAUSE_SECONDS)
            after.append(probe.fma_gflops(_PROBE_ITERATIONS))
        end = time.monotonic() + _BUSY_SECONDS
        while time.monotonic() < end:
            busy.append(probe.fma_gflops(_PROBE_ITERATIONS))
        return after, busy

    [(after, busy)] = on_each([core], rates)
    return headroom(after, busy)
