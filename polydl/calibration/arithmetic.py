"""Constants of a core's arithmetic that are measured: multiply-adds, loads and stores of vectors."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from string import Template

from polydl.calibration.probes import SECONDS, probed
from polydl.execute.toolchain import Toolchain

# Loops in this order: additions of integers that wait for each other, multiply-adds that wait for each other, those
# that don't, loads and stores. Each has so many operations in an iteration. Multiply-adds are added to sums, as in
# microkernels. All sums stay in registers, and cover the latency of two pipes, or of the four of AArch64.
_SUMS = 16 if platform.machine() == "aarch64" else 12
_OPERATIONS = {"clock": 16, "latency": 16, "multiply-adds": _SUMS, "loads": 16, "stores": 16}
# A factor that may be another one each time keeps the product from being computed once.
_ADD = "      KEEP(factor);\n      sum{place} = factor * factor + sum{place};\n      KEEP(sum{place});"
_ITERATIONS, _ROUNDS = 4000, 200
# What no core does in a cycle, and no operation takes: a compiler has left operations out then.
_LEAST, _MOST = 0.1, 20.0
# Rates and latencies are multiples of a half; what is measured within this part of one is that.
_NEAR = 0.1
_PROBE = Template(
    SECONDS
    + """\
typedef float vector __attribute__((vector_size($bytes)));
#if defined __AVX512F__
#define KEEP(value) __asm__ volatile("" : "+v"(value))
#elif defined __x86_64__
#define KEEP(value) __asm__ volatile("" : "+x"(value))
#elif defined __aarch64__
#define KEEP(value) __asm__ volatile("" : "+w"(value))
#else
#define KEEP(value) (void)(value)
#endif
static vector data[16] __attribute__((aligned(64)));
double polydl_probe(const long *numbers);
double polydl_probe(const long *numbers)
{
  const long iterations = numbers[1];
  volatile vector *place = data;
  vector factor = data[0], $sums;
  long step = iterations | 1, number = 0;
  double start, taken;
  KEEP(factor);
  __asm__ volatile("" : "+r"(step));
  start = seconds();
  switch (numbers[0]) {
  case 0:
    for (long i = 0; i < iterations; ++i) {
$clock
    }
    break;
  case 1:
    for (long i = 0; i < iterations; ++i) {
$latency
    }
    break;
  case 2:
    for (long i = 0; i < iterations; ++i) {
$many
    }
    break;
  case 3:
    for (long i = 0; i < iterations; ++i) {
$loads
    }
    break;
  case 4:
    for (long i = 0; i < iterations; ++i) {
$stores
    }
    break;
  }
  taken = seconds() - start;
$kept
  __asm__ volatile("" : "+r"(number));
  return taken;
}
"""
)


def probe(vector_bytes: int) -> str:
    """The C of ``double polydl_probe(const long *numbers)``, which gets a loop and its iterations."""

    def repeated(text: str, loop: str) -> str:
        return "\n".join(text.format(place=place) for place in range(_OPERATIONS[loop]))

    sums = [f"sum{place}" for place in range(_OPERATIONS["multiply-adds"])]
    return _PROBE.substitute(
        sums=", ".join(f"{name} = data[1]" for name in sums),
        kept="\n".join(f"  KEEP({name});" for name in sums),
        bytes=vector_bytes,
        clock=repeated('      number += step;\n      __asm__ volatile("" : "+r"(number));', "clock"),
        latency=repeated(_ADD.replace("{place}", "0"), "latency"),
        many=repeated(_ADD, "multiply-adds"),
        loads=repeated("      (void)place[{place}];", "loads"),
        stores=repeated("      place[{place}] = factor;", "stores"),
    )


def rates(seconds: Mapping[str, float]) -> dict[str, float]:
    """The constants, from the seconds of one operation in each loop.

    Multiply-adds are counted in cycles of the core's clock, and all others in those at which the core reaches its peak
    of multiply-adds. What can't be is left out.
    """
    fma = _rounded(seconds["clock"] / seconds["multiply-adds"])
    cycle = fma * seconds["multiply-adds"]
    measured = {
        "fma_per_cycle": fma,
        "fma_latency_cycles": _rounded(seconds["latency"] / cycle),
        "loads_per_cycle": _rounded(cycle / seconds["loads"]),
        "stores_per_cycle": _rounded(cycle / seconds["stores"]),
    }
    return {name: value for name, value in measured.items() if _LEAST <= value <= _MOST}


def _rounded(value: float) -> float:
    nearest = max(0.5, round(2 * value) / 2)
    return nearest if abs(value / nearest - 1.0) <= _NEAR else round(value, 2)


def measure_arithmetic(core: int, vector_bytes: int, toolchain: Toolchain) -> dict[str, float]:
    """The constants of arithmetic of the core with this number, with vectors of so many bytes.

    Raises ExecutionError if the probe does not compile or run.
    """
    cases = [[loop, _ITERATIONS] for loop in range(len(_OPERATIONS))]
    taken, _ = probed(probe(vector_bytes), toolchain, [core], cases, _ROUNDS, what="arithmetic")
    operations = ((name, _ITERATIONS * count) for name, count in _OPERATIONS.items())
    return rates({name: min(seconds) / count for (name, count), seconds in zip(operations, taken, strict=True)})
