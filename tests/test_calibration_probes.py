"""Constants of a core that probes measure: from curves that are made up, and from a few rounds of the probes here."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from polydl.calibration.curves import last_before_step
from polydl.calibration.loops import headroom, loop_constants, measure_loops
from polydl.calibration.prefetchers import (
    ahead,
    cases,
    first_behind,
    followed_runs,
    longest_step,
    measure_prefetchers,
    prefetcher_constants,
    restart,
    started,
)
from polydl.calibration.probes import probed, steady, undisturbed
from polydl.calibration.tables import compiled
from polydl.errors import ExecutionError
from polydl.execute.toolchain import Toolchain
from polydl.machine.core import CONSTANTS
from polydl.machine.system import find
from polydl.native import runtime

WIDTHS = (1, 2, 4, 8, 12, 16, 20, 24, 32, 48, 64)
LINES = tuple(range(1, 41))


def noisy(curve: dict[int, float], part: float) -> dict[int, float]:
    generator = random.Random(7)
    return {place: value * (1.0 + generator.uniform(0.0, part)) for place, value in curve.items()}


# --- curves and samples -----------------------------------------------------------------


def test_a_step_is_found_where_it_is_clear() -> None:
    curve = {width: 6.0 if width <= 16 else 14.0 for width in WIDTHS}
    assert last_before_step(curve, 0.3) == 16
    assert last_before_step(noisy(curve, 0.1), 0.3) == 16


def test_there_is_no_step_in_what_is_flat_disturbed_or_rises_slowly() -> None:
    flat = dict.fromkeys(WIDTHS, 6.0)
    assert last_before_step(flat, 0.3) is None
    assert last_before_step(noisy(flat, 0.2), 0.3) is None
    curve = {width: 6.0 if width <= 16 else 14.0 for width in WIDTHS}
    assert last_before_step({**curve, 4: 13.0}, 0.3) is None
    assert last_before_step({**curve, 48: 6.0}, 0.3) is None
    assert last_before_step({width: 6.0 + width / 8 for width in WIDTHS}, 0.3) is None
    assert last_before_step({1: 1.0, 2: 2.0}, 0.3) is None


def test_samples_count_where_the_core_worked_for_the_probe_alone() -> None:
    gflops = [100.0, 99.0, 60.0, 98.0, 100.0]
    assert undisturbed([1.0, 5.0, 6.0, 1.1], gflops, 100.0) == [1.0, 1.1]
    assert undisturbed([1.0, 5.0, 6.0, 1.1], gflops, 200.0) == []
    assert steady([1.0, 1.05, 3.0, 2.0]) == 1.0
    assert steady([1.0, 1.5, 1.2, 1.4]) is None
    assert steady([1.0]) is None


def test_what_is_to_be_done_about_a_probe_that_fails_is_no_microkernels_mending() -> None:
    toolchain = Toolchain(Path("/bin/false"), "gcc", "12.2.0", ())
    with pytest.raises(ExecutionError, match="the probe of loops does not compile") as caught:
        probed("", toolchain, [0], [[0]], 1, what="loops")
    assert "gcc" in (caught.value.remedy or "")
    assert "microkernel" not in (caught.value.remedy or "")


def test_a_compiler_that_takes_too_long_is_a_failure_and_not_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def late(command: list[str], *_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired(command, 120.0)

    monkeypatch.setattr("polydl.calibration.tables.run_in_group", late)
    toolchain = Toolchain(Path("gcc"), "gcc", "12.2.0", ())
    with pytest.raises(ExecutionError, match="the microkernel c does not compile in 120 seconds"):
        compiled("", toolchain, tmp_path / "x.so", what="the microkernel c")


# --- loops and the clock ----------------------------------------------------------------


def test_constants_of_loops_follow_from_their_times() -> None:
    cycle, vectors = 0.25e-9, 64 * 16
    together = vectors * cycle
    seconds = {
        "short loops": 3.0 * cycle,
        "one loop": 1.0 * cycle,
        "lanes together": together,
        "lanes apart": together + 5.0 * vectors * cycle / 2,
        "product": 2 * 48**3 / 25e9,
        "elements": 8 * 2 * 48**2 / 50e9,
        "filter": 8 * 2 * 9 * 46**2 / 12.5e9,
        "transposed": 8 * 48**2 / 4 * 3.5 * cycle,
    }
    constants = loop_constants(seconds, 16, cycle, 2.0, 100.0)
    # An iteration of 8.5, two operations a cycle, the geometric mean of three nests.
    assert constants == pytest.approx(
        {
            "loop_start_cycles": 17.0,
            "gathered_lanes_operations": 5.0,
            "plain_loop_share": 0.25,
            "transposed_vector_cycles": 3.5,
        }
    )
    # What was disturbed is missing, and what can't be is left out.
    del seconds["one loop"], seconds["transposed"]
    left = loop_constants({**seconds, "lanes apart": together, "product": 1e-9}, 16, cycle, 2.0, 100.0)
    assert left == {}


def test_the_clock_has_headroom_where_it_is_clearly_higher_after_a_pause() -> None:
    assert headroom([118.0, 130.0, 129.0], [100.0, 101.0, 99.0, 100.0]) == {"clock_headroom": 1.3}
    assert headroom([101.0, 100.0], [100.0, 101.0, 99.0, 100.0]) == {}
    # Something else ran beside the long run.
    assert headroom([130.0, 129.0], [60.0, 60.0, 60.0, 130.0]) == {}
    assert headroom([900.0], [100.0] * 4) == {}


# --- prefetchers ------------------------------------------------------------------------


def test_runs_that_are_followed_end_with_a_step() -> None:
    curve = {width: 6.0 if width <= 16 else 15.0 for width in WIDTHS}
    assert followed_runs(curve) == {"prefetch_streams": 16, "prefetch_lost_slowdown": 2.5}
    assert followed_runs(dict.fromkeys(WIDTHS, 6.0)) == {}
    assert followed_runs({width: 6.0 + width / 8 for width in WIDTHS}) == {}
    # A single run waits at the end of each page; four in turn do not.
    assert followed_runs({**curve, 1: 12.0, 2: 9.0})["prefetch_busy_streams"] == 4
    assert "prefetch_streams" not in followed_runs({**curve, 1: 12.0, 2: 9.0})


def test_the_longest_step_is_relative_to_walks_at_random() -> None:
    steps = (1, 3, 9, 17, 31, 33, 65, 127)
    at_random = {step: 14.0 + step / 50 for step in steps}
    in_order = {step: 5.0 if step <= 31 else at_random[step] for step in steps}
    assert longest_step(in_order, at_random, 64) == {"prefetch_step_bytes": 31 * 64}
    assert longest_step(dict.fromkeys(steps, 5.0), at_random, 64) == {}


def test_how_far_ahead_is_what_the_first_cache_has_of_it() -> None:
    # Lines further ahead are in the second-level cache, and those beyond in the last one.
    curve = {lines: 400.0 if lines <= 7 else 410.0 if lines <= 21 else 440.0 for lines in LINES}
    assert ahead(curve, 64, 14.0) == {"prefetch_ahead_bytes": 448}
    assert ahead(noisy(curve, 0.001), 64, 14.0) == {"prefetch_ahead_bytes": 448}
    assert ahead(noisy(curve, 0.05), 64, 14.0) == {}
    assert ahead(dict.fromkeys(LINES, 400.0), 64, 14.0) == {}
    assert ahead({lines: 400.0 if lines <= 2 else 410.0 for lines in LINES}, 64, 14.0) == {}


def test_prefetchers_start_after_the_fewest_lines_whose_next_one_is_there() -> None:
    there, far = {1: 330.0, 2: 335.0, 4: 345.0}, {1: 370.0, 2: 375.0, 4: 390.0}
    assert started(there, {1: 368.0, 2: 337.0, 4: 346.0}, far, 64) == {"prefetch_start_bytes": 128}
    assert started(there, {1: 331.0, 2: 337.0, 4: 346.0}, far, 64) == {"prefetch_start_bytes": 64}
    # They never run, run and stop again, or nobody misses anything.
    assert started(there, far, far, 64) == {}
    assert started(there, {1: 331.0, 2: 372.0, 4: 346.0}, far, 64) == {}
    assert started(there, there, there, 64) == {}
    assert [first_behind(lines) for lines in (1, 2, 3, 4)] == [2, 2, 4, 4]


def test_a_copied_line_waits_for_rows_that_lie_apart() -> None:
    assert restart(7e-9, 2e-9, 0.25e-9) == {"line_restart_cycles": 20.0}
    assert restart(2.1e-9, 2e-9, 0.25e-9) == {}
    assert restart(None, 2e-9, 0.25e-9) == {}


def test_what_is_known_of_runs_is_known_together_or_not_at_all() -> None:
    seconds = {}
    for case in cases():
        kind, number, other = (*case, 0)[:3]
        near = {0: number <= 16, 1: other == 0, 2: other < number + 7, 3: number == 0}[kind]
        seconds[case] = 100.0 if near else 200.0
    whole = prefetcher_constants(seconds, 64, 1.0, 14.0)
    assert whole == {
        "prefetch_streams": 16,
        "prefetch_lost_slowdown": 2.0,
        "prefetch_ahead_bytes": 448,
        "prefetch_start_bytes": 64,
        "line_restart_cycles": 100.0,
    }
    # A case was disturbed, beside which a step lies.
    del seconds[next(case for case in seconds if case[:2] == (0, 20))]
    assert prefetcher_constants(seconds, 64, 1.0, 14.0) == {"line_restart_cycles": 100.0}
    assert prefetcher_constants({}, 64, 1.0, 14.0) == {}


# --- here -------------------------------------------------------------------------------

PLAUSIBLE = {
    "loop_start_cycles": (1, 60),
    "gathered_lanes_operations": (0.5, 40),
    "transposed_vector_cycles": (0.5, 40),
    "plain_loop_share": (0.02, 1),
    "prefetch_streams": (1, 64),
    "prefetch_lost_slowdown": (1.3, 40),
    "prefetch_busy_streams": (1, 64),
    "prefetch_step_bytes": (64, 1 << 14),
    "prefetch_ahead_bytes": (64, 1 << 12),
    "prefetch_start_bytes": (64, 1 << 10),
    "line_restart_cycles": (1, 400),
}


@pytest.mark.slow
@pytest.mark.native
def test_a_few_rounds_here_say_nothing_that_can_not_be() -> None:
    system = find()
    core = min(os.sched_getaffinity(0))
    shared = system.core, core, system.vector_bytes, max(runtime().fma_gflops() for _ in range(5)), Toolchain.find()
    found = {**measure_loops(*shared, rounds=6), **measure_prefetchers(*shared, rounds=6)}
    assert found.keys() <= PLAUSIBLE.keys() <= set(CONSTANTS)
    assert [name for name, value in found.items() if not PLAUSIBLE[name][0] <= value <= PLAUSIBLE[name][1]] == []
