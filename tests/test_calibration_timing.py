"""Which calls of microkernels a calibration times; they are compiled and timed, but no time is judged."""

from __future__ import annotations

import itertools
import os
from dataclasses import replace
from pathlib import Path

import pytest

from polydl import registry
from polydl.calibration.programs import accepted, grid_sites, held_out_sites, rows, timed_calls
from polydl.calibration.tables import CallTimer, peak_cycles, timed, usual_probe
from polydl.calibration.worker import CalibrationWorker
from polydl.contracts import GemmShape
from polydl.errors import ExecutionError
from polydl.execute.toolchain import Toolchain
from polydl.machine.system import find
from polydl.microkernels.plain_c import PLAIN_C

# --- what is timed ----------------------------------------------------------------------


def test_the_grid_has_whole_vectors_and_every_kind_of_tail() -> None:
    for width in (4, 8, 16):
        sizes = {size for pair in rows(width) for size in pair}
        assert {width * count for count in (1, 2, 3, 4, 6, 8)} <= sizes
        assert {1, width - 1, width + 1} <= sizes
        assert min(sizes) >= 1
    sites = grid_sites(PLAIN_C, "float", 16)
    assert len({call.shape for call in timed_calls(sites)}) == sum(1 for _ in timed_calls(sites))


def test_held_out_shapes_are_the_same_on_every_run_and_not_in_the_grid() -> None:
    held_out = {call.shape for call in timed_calls(held_out_sites(PLAIN_C, "float", 16))}
    assert held_out == {call.shape for call in timed_calls(held_out_sites(PLAIN_C, "float", 16))}
    grid = {(each.shape.m, each.shape.n, each.shape.k) for each in timed_calls(grid_sites(PLAIN_C, "float", 16))}
    assert sum((each.m, each.n, each.k) not in grid for each in held_out) > 0.9 * len(held_out)


@pytest.mark.parametrize(("element", "width"), [("float", 4), ("double", 8)])
def test_held_out_operands_are_as_large_where_vectors_are_short(element: str, width: int) -> None:
    sites = held_out_sites(PLAIN_C, element, 16 // width)
    sizes = [width * (site.m[0] + site.n[0]) * site.k[0] * site.batch[0] for site in sites]
    assert 64 << 10 < max(sizes) <= 256 << 10


def test_a_site_is_cut_to_what_the_kernel_takes() -> None:
    class WholeVectors:
        def rejects(self, wanted: GemmShape) -> str | None:
            return "not a multiple of 16" if wanted.m % 16 else None

    [site, *_] = grid_sites(PLAIN_C, "float", 16)
    assert site.m == (16, 1)
    cut = accepted(WholeVectors(), site)  # type: ignore[arg-type]
    assert cut is not None
    assert (cut.m, cut.n) == ((16, 16), site.n)
    assert accepted(WholeVectors(), replace(site, m=(8, 8))) is None  # type: ignore[arg-type]


@pytest.mark.native
@pytest.mark.parametrize("name", ["libxsmm", "c"])
def test_calls_are_timed(name: str) -> None:
    kernel = registry.load("microkernels", name)
    if kernel.unavailable() is not None:
        pytest.skip(kernel.unavailable())
    sites = [replace(site, k=(16, 4)) for site in grid_sites(kernel, "float", 16)[7:9]]
    found = timed(kernel, sites, find().vector_bytes, Toolchain.find())
    assert set(found) == {call.shape for call in timed_calls(sites)}
    assert min(found.values()) > 0


@pytest.mark.native
def test_a_kernel_that_does_not_compile_is_an_error_with_the_compilers_words() -> None:
    class Broken:
        name = "broken"

        def __getattr__(self, name: str) -> object:
            return getattr(PLAIN_C, name)

        def call(self, *_arguments: object) -> str:
            return "no_such_function();"

    with pytest.raises(ExecutionError, match="no_such_function"):
        timed(Broken(), grid_sites(PLAIN_C, "float", 16)[:1], 64, Toolchain.find())  # type: ignore[arg-type]


@pytest.mark.native
def test_a_kernel_that_crashes_is_an_error_too() -> None:
    class Crashing:
        name = "crashing"

        def __getattr__(self, name: str) -> object:
            return getattr(PLAIN_C, name)

        def call(self, *_arguments: object) -> str:
            return "*(volatile int *)0 = 1;"

    with pytest.raises(ExecutionError, match="SIGSEGV"):
        timed(Crashing(), grid_sites(PLAIN_C, "float", 16)[:1], 64, Toolchain.find())  # type: ignore[arg-type]


@pytest.mark.native
def test_calls_are_timed_again_beside_further_ones_and_after_one_that_crashed() -> None:
    class Crashing:
        name = PLAIN_C.name

        def __getattr__(self, name: str) -> object:
            return getattr(PLAIN_C, name)

        def call(self, *_arguments: object) -> str:
            return "*(volatile int *)0 = 1;"

    first, second, third = ([site] for site in grid_sites(PLAIN_C, "float", 16)[:3])
    setting = (find().vector_bytes, Toolchain.find())
    with CallTimer() as timer:
        with pytest.raises(ExecutionError, match="SIGSEGV"):
            timer.time(Crashing(), first, *setting)  # type: ignore[arg-type]
        assert timer.again() == {}
        before = timer.time(PLAIN_C, second, *setting)
        both = timer.time(PLAIN_C, third, *setting)
        assert set(before) < set(both)
        assert set(timer.again()[PLAIN_C.name, "float"]) == set(both)
        programs = timer._programs[PLAIN_C.name, "float"]
        rounds = {call.shape: len(taken) for call, taken in zip(programs._calls, programs._samples, strict=True)}
        assert min(rounds[shape] for shape in before) >= 11 + 2 * 4
        assert min(rounds.values()) >= 11 + 4


def test_disturbed_samples_do_not_count() -> None:
    sound = [[seconds * 1e-6, 64.0, 64.0] for seconds in (1.0, 1.05, 1.1, 1.15)] + [[1.2e-6, 63.0, 65.0]]
    disturbed = [[9e-6, 64.0, 30.0], [9e-6, 30.0, 30.0]]
    assert usual_probe([sound, disturbed]) == 64.0
    assert peak_cycles(sound + disturbed, 64.0, 64) == pytest.approx(1100)
    # Twice as fast a clock makes half the seconds at twice the probe: as many cycles.
    faster = [[seconds / 2, 2 * before, 2 * after] for seconds, before, after in sound]
    assert peak_cycles(faster, 130.0, 64) == pytest.approx(1100)
    # With nothing better, what had the best probes counts.
    assert peak_cycles([*disturbed, [2e-6, 50.0, 50.0]], 65.0, 64) == pytest.approx(2e-6 * 50e9 / 64)


def test_the_worker_refuses_what_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "no.so").write_text("")
    worker = CalibrationWorker()
    cores = os.sched_getaffinity(0)
    try:
        worker.start(["float"] * 3, min(cores))
        reply = worker.load([str(tmp_path / "no.so")], [1, 1, 1])
    finally:
        # A worker pins its process, which here is that of all tests.
        os.sched_setaffinity(0, cores)
    assert reply["failed"] == "unsupported"


def test_operands_of_timed_calls_begin_at_different_places_of_their_pages() -> None:
    worker = CalibrationWorker()
    cores = os.sched_getaffinity(0)
    try:
        worker.start(["float"] * 3, min(cores))
        worker.load([], [5000, 20, 10])
        worker.load([], [4000, 3000, 10])
    finally:
        os.sched_setaffinity(0, cores)
    assert [operand.size for operand in worker._operands] == [5000, 3000, 10]
    places = [operand.ctypes.data % 4096 for operand in worker._operands]
    assert all(place % 64 == 0 for place in places)
    assert all(1024 <= (two - one) % 4096 <= 3072 for one, two in itertools.combinations(places, 2))
