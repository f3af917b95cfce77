"""Constants of a core's prefetchers, measured by loads that wait for each other, so that nothing else hides a miss.

Where a curve has no clear step, its constant is left out: prefetchers that follow every distance have no longest one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from string import Template

from polydl.calibration.curves import last_before_step
from polydl.calibration.probes import SECONDS, least_seconds
from polydl.execute.toolchain import Toolchain
from polydl.machine.core import Core

Case = tuple[int, ...]

# Kinds of cases: visits to runs in turn, walks in steps, pages that are walked into, and copies of rows.
_RUNS, _STEPS, _PAGES, _ROWS = range(4)
# How many runs are visited in turn, some lines each time.
_WIDTHS = (1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64)
_VISIT_LINES = 4
# Steps in lines, all of them odd, since even ones fall into few sets of a cache.
_STRIDES = (1, 3, 5, 9, 13, 17, 21, 25, 29, 31, 33, 37, 41, 47, 55, 63, 65, 97, 127)
# Lines of a page that are read before prefetchers have some time, and those behind that are asked for then.
_BEFORE = (1, 2, 3, 4, 6)
_MANY_BEFORE = 8
_BEHIND = (*range(1, 25), 28, 32, 36, 40, 44)
_FAR = 52
# Where something disturbed what matters the most, all is timed once more, and the least counts.
_ROUNDS, _TURNS = 100, 3
# What is known of runs together or not at all: how many are followed, and what happens to the others.
_TOGETHER = {"prefetch_streams", "prefetch_lost_slowdown", "prefetch_ahead_bytes", "prefetch_start_bytes"}
# Prefetchers of the first-level cache that run fewer lines ahead hide too little: then those of the second one matter.
_FEWEST_AHEAD = 6
# What waits for a miss takes at least this part longer than what is there; less than that is noise.
_RISE = 0.3
# Part of the latency of the second-level cache by which a hit there takes longer than one in the first.
_SHOWN = 0.6
# A miss takes at least this part of the time of a page, whose lines before it came as well.
_LEAST_MISS_PART = 0.05
# A single run is slower than several in turn if it takes so much longer, and as fast up to the other number.
_SLOWER, _AS_FAST = 1.8, 1.1
# A copy that waits for its rows does so for some cycles of each line.
_LEAST_WAIT, _MOST_WAIT = 2.0, 400.0
_PROBE = Template(
    SECONDS
    + """\
#include <stdlib.h>
#include <string.h>
enum { LINE = $line, PAGE = $page, FIRST = $first, SET = $set, PAGES = 256, LINES = 4 * FIRST / LINE };
static const long walked = (long)LINES * $longest * LINE;
static char *space;
static int order[LINES > PAGES ? LINES : PAGES];
static long rest;
static void shuffle(int count, int random)
{
  unsigned seed = 1;
  for (int i = 0; i < count; ++i)
    order[i] = i;
  for (int i = random ? count - 1 : 0; i > 0; --i) {
    int other, kept = order[i];
    seed = seed * 1664525u + 1013904223u;
    other = (int)((seed >> 8) % (unsigned)(i + 1));
    order[i] = order[other];
    order[other] = kept;
  }
}
static double runs(long width, long lines)
{
  /* Runs in pages of their own, spread over the sets of all caches. */
  const long apart = SET / width / PAGE * PAGE + 37 * LINE;
  const long visits = SET / (width * lines * LINE);
  double start = seconds();
  for (long visit = 0; visit < visits; ++visit)
    for (long run = 0; run < width; ++run)
      for (long line = 0; line < lines; ++line)
        rest = *(volatile long *)(space + run * apart + (visit * lines + line) * LINE + rest);
  return (seconds() - start) / (double)(visits * width * lines);
}
static double steps(long lines, int random)
{
  char *at = space;
  double start = 0.0;
  shuffle(LINES, random);
  for (int i = 0; i < LINES; ++i)
    *(char **)(space + order[i] * lines * LINE) = space + order[(i + 1) % LINES] * lines * LINE;
  for (int turn = 0; turn < 2; ++turn) {
    start = seconds();
    for (int i = 0; i < LINES; ++i)
      at = *(char *volatile *)at;
  }
  start = seconds() - start;
  for (int i = 0; i < LINES; ++i)
    *(long *)(space + i * lines * LINE) = at == 0;
  return start / LINES;
}
static void evict(void)
{
  for (long place = 0; place < SET; place += LINE)
    (void)*(volatile long *)(space + walked + place);
}
static double pages(long before, long behind)
{
  double start;
  shuffle(PAGES, 1);
  /* All lines are in the same cache, however long ago they were asked for. */
  for (int page = 0; page < PAGES; ++page)
    for (long line = 0; line < $lines; ++line)
      (void)*(volatile long *)(space + (long)page * PAGE + line * LINE);
  evict();
  start = seconds();
  for (int page = 0; page < PAGES; ++page) {
    char *place = space + (long)order[page] * PAGE;
    long waits = 1;
    for (long line = 0; line < before; ++line)
      rest = *(volatile long *)(place + line * LINE + rest);
    waits += rest;
    for (int i = 0; i < 80; ++i) {
      waits *= waits;
      __asm__ volatile("" : "+r"(waits));
    }
    rest = *(volatile long *)(place + behind * LINE + waits - 1);
  }
  return (seconds() - start) / PAGES;
}
static double rows(long apart)
{
  static char tile[FIRST / 2] __attribute__((aligned(64)));
  const long bytes = 4 * LINE, count = FIRST / 2 / bytes;
  const long step = apart ? PAGE + 37 * LINE : bytes;
  double start = 0.0;
  for (int turn = 0; turn < 2; ++turn) {
    if (turn == 1 && apart)
      evict();
    start = seconds();
    for (long row = 0; row < count; ++row)
      memcpy(tile + row * bytes, space + row * step, (size_t)bytes);
    __asm__ volatile("" ::"r"(tile) : "memory");
  }
  return (seconds() - start) / (double)(count * 4);
}
double polydl_probe(const long *what);
double polydl_probe(const long *what)
{
  if (!space) {
    const size_t size = (size_t)(walked + 2 * SET + 256 * PAGE);
    void *found = 0;
    if (posix_memalign(&found, 1 << 16, size) != 0)
      abort();
    space = memset(found, 0, size);
  }
  switch (what[0]) {
  case 0: return runs(what[1], what[2]);
  case 1: return steps(what[1], (int)what[2]);
  case 2: return pages(what[1], what[2]);
  default: return rows(what[1]);
  }
}
"""
)


def probe(core: Core) -> str:
    """The C of ``double polydl_probe(const long *what)``, which returns the seconds of a line, or of a page."""
    return _PROBE.substitute(
        line=core.line_bytes,
        page=core.page_bytes,
        first=core.first_cache_bytes,
        # It comes from beyond the second cache, and from the last one where that is larger.
        set=4 * core.second_cache_bytes,
        longest=_STRIDES[-1],
        lines=_FAR + 1,
    )


def cases() -> tuple[Case, ...]:
    """All that is timed."""
    return (
        *((_RUNS, width, _VISIT_LINES) for width in _WIDTHS),
        *((_STEPS, stride, random) for stride in _STRIDES for random in (0, 1)),
        *((_PAGES, before, line) for before in _BEFORE for line in (0, first_behind(before), _FAR)),
        *map(_many_before, _BEHIND),
        *((_ROWS, apart) for apart in (0, 1)),
    )


def first_behind(before: int) -> int:
    """The first line behind so many that is in no pair with one of them: pairs come together without prefetchers."""
    return before + before % 2


def _many_before(behind: int) -> Case:
    """The case in which so many lines behind those that were read are skipped but for the last one."""
    return _PAGES, _MANY_BEFORE, _MANY_BEFORE - 1 + behind


def followed_runs(seconds: Mapping[int, float]) -> dict[str, float]:
    """How many runs are followed and what the others take, from seconds of a line by the number of runs in turn."""
    found: dict[str, float] = {}
    followed = last_before_step(seconds, _RISE)
    if followed is not None:
        found["prefetch_streams"] = followed
        found["prefetch_lost_slowdown"] = round(seconds[max(seconds)] / min(seconds.values()), 2)
    fastest = min(seconds.values())
    if seconds[1] >= _SLOWER * fastest:
        found["prefetch_busy_streams"] = min(runs for runs, taken in seconds.items() if taken <= _AS_FAST * fastest)
    return found


def longest_step(in_order: Mapping[int, float], at_random: Mapping[int, float], line_bytes: int) -> dict[str, float]:
    """The longest step that is followed, from seconds of an access by the step in lines, in order and at random."""
    parts = {step: in_order[step] / at_random[step] for step in in_order}
    step = last_before_step(parts, _RISE)
    return {} if step is None else {"prefetch_step_bytes": step * line_bytes}


def ahead(seconds: Mapping[int, float], line_bytes: int, second_latency_seconds: float) -> dict[str, float]:
    """How far prefetchers run ahead into the first-level cache.

    ``seconds`` are those of a page, by how many lines behind those read before one is read. What is in the second-level
    cache alone comes from further ahead, and takes most of its latency longer.
    """
    most = min(seconds.values()) + _SHOWN * second_latency_seconds
    lines = last_before_step({behind: min(taken, most) for behind, taken in seconds.items()}, 0.0)
    if lines is None or lines < _FEWEST_AHEAD or max(seconds.values()) < most:
        return {}
    return {"prefetch_ahead_bytes": lines * line_bytes}


def started(
    there: Mapping[int, float], behind: Mapping[int, float], far: Mapping[int, float], line_bytes: int
) -> dict[str, float]:
    """After how many bytes prefetchers run, from seconds of a page by the lines that are read of it first.

    Then one of these is read again, the one behind them, or one that is far away.
    """
    begun = []
    for lines in sorted(there.keys() & behind.keys() & far.keys()):
        miss = far[lines] - there[lines]
        if miss < _LEAST_MISS_PART * there[lines]:
            return {}
        begun.append((lines, behind[lines] - there[lines] < miss / 2))
    # Once they run, they do so after more lines as well.
    if not begun or [runs for _, runs in begun] != sorted(runs for _, runs in begun) or not begun[-1][1]:
        return {}
    return {"prefetch_start_bytes": line_bytes * next(lines for lines, runs in begun if runs)}


def restart(apart: float | None, near: float | None, cycle_seconds: float) -> dict[str, float]:
    """What a copied line waits for where rows lie apart, from its seconds and from those where all of them are near."""
    if apart is None or near is None:
        return {}
    cycles = (apart - near) / cycle_seconds
    return {"line_restart_cycles": round(cycles, 1)} if _LEAST_WAIT <= cycles <= _MOST_WAIT else {}


def prefetcher_constants(
    seconds: Mapping[Case, float], line_bytes: int, cycle_seconds: float, second_latency_seconds: float
) -> dict[str, float]:
    """The constants, from the seconds of cases; those that were disturbed are missing."""

    def curve(places: Iterable[int], case: Callable[[int], Case]) -> dict[int, float]:
        return {place: seconds[case(place)] for place in places if case(place) in seconds}

    by_width = curve(_WIDTHS, lambda width: (_RUNS, width, _VISIT_LINES))
    in_order = curve(_STRIDES, lambda step: (_STEPS, step, 0))
    at_random = curve(_STRIDES, lambda step: (_STEPS, step, 1))
    after_many = curve(_BEHIND, _many_before)
    there = curve(_BEFORE, lambda before: (_PAGES, before, 0))
    next_line = curve(_BEFORE, lambda before: (_PAGES, before, first_behind(before)))
    far = curve(_BEFORE, lambda before: (_PAGES, before, _FAR))
    # A step is known only where both of its sides are.
    followed = followed_runs(by_width) if len(by_width) == len(_WIDTHS) else {}
    if len(after_many) == len(_BEHIND):
        followed |= ahead(after_many, line_bytes, second_latency_seconds)
    followed |= started(there, next_line, far, line_bytes)
    if not followed.keys() >= _TOGETHER:
        followed = {name: value for name, value in followed.items() if name not in _TOGETHER}
    whole = len(in_order) == len(at_random) == len(_STRIDES)
    return {
        **followed,
        **(longest_step(in_order, at_random, line_bytes) if whole else {}),
        **restart(seconds.get((_ROWS, 1)), seconds.get((_ROWS, 0)), cycle_seconds),
    }


def measure_prefetchers(
    known: Core, core: int, vector_bytes: int, peak_gflops: float, toolchain: Toolchain, rounds: int = _ROUNDS
) -> dict[str, float]:
    """The constants of the prefetchers of the core with this number and peak, of which the rest is ``known``.

    Raises ExecutionError if the probe does not compile or run.
    """
    cycle = known.operations_per_cycle(vector_bytes) / (peak_gflops * 1e9)
    latency = known.second_cache_latency_cycles * cycle
    wanted, text = cases(), probe(known)
    seconds: dict[Case, float] = {}
    found: dict[str, float] = {}
    for _ in range(_TURNS):
        taken = least_seconds(text, toolchain, core, wanted, rounds, peak_gflops, what="prefetchers")
        for case, least in zip(wanted, taken, strict=True):
            if least is not None:
                seconds[case] = min(least, seconds.get(case, least))
        found = prefetcher_constants(seconds, known.line_bytes, cycle, latency)
        if found.keys() >= _TOGETHER:
            break
    return found
