"""What is timed when microkernels are first used, and what that predicts; no time is real, but in the last test."""

from __future__ import annotations

import fcntl
import itertools
import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from machines import machine_with
from packed_calls import packed_call, timed

import polydl
from polydl import pipeline
from polydl.calibration import further
from polydl.calibration.first_use import FirstUse, Measure, PackedCall, _in_turns, first_use, lock_path, needed_calls
from polydl.contracts import GemmShape, GemmSite, Microkernel
from polydl.contracts.first_cache import repeated_cycles
from polydl.errors import ExecutionError
from polydl.execute.toolchain import Toolchain
from polydl.ir.scop import Scop
from polydl.machine import Core, Machine
from polydl.machine.call_times import CallTime, read_call_times, write_call_times
from polydl.microkernels.libxsmm import LIBXSMM
from polydl.microkernels.plain_c import PLAIN_C
from polydl.presentation.calibration import first_use_text

MATMUL = """
void matmul({0} C[50][96], {0} A[50][{1}], {0} B[{1}][96]) {{
#pragma scop
  for (int i = 0; i < 50; ++i)
    for (int j = 0; j < 96; ++j)
      for (int k = 0; k < {1}; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""
MACHINE = machine_with(threads=1, vector_bytes=64)
TOOLCHAIN = Toolchain(Path("cc"), "gcc", "12", ("-O3",))


class Measurer:
    """Takes the place of compiling and timing: a step takes ``seconds``, a call twice the formula's cycles."""

    def __init__(self, seconds: float = 1.0) -> None:
        self.steps: list[tuple[str, list[GemmSite]]] = []
        self.now = 0.0
        self._seconds = seconds

    def __call__(
        self, kernel: Microkernel, sites: Sequence[GemmSite], _vector_bytes: int, _toolchain: Toolchain
    ) -> Mapping[GemmShape, float]:
        self.steps.append((kernel.name, list(sites)))
        self.now += self._seconds
        return {shape: 2 * kernel.predicted_cycles(shape, 16) for site in sites for _, shape in site.shapes()}

    def clock(self) -> float:
        return self.now


def taken_on(core: Core) -> Measure:
    """Takes the place of compiling and timing: calls take as long as on that core."""

    def measure(
        kernel: Microkernel, sites: Sequence[GemmSite], _vector_bytes: int, _toolchain: Toolchain
    ) -> Mapping[GemmShape, float]:
        here = kernel.on(core)
        shapes = [shape for site in sites for _, shape in site.shapes()]
        return {each: here.predicted_cycles(each, 16) + repeated_cycles(here, each, 16) for each in shapes}

    return measure


def nest(folder: Path, element: str = "float", k: int = 64) -> Scop:
    (folder / "matmul.c").write_text(MATMUL.format(element, k))
    return pipeline.parse(folder / "matmul.c")


def calls_of(scop: Scop, microkernel: str = "c") -> tuple[PackedCall, ...]:
    variants = pipeline.generate_variants(scop, machine=MACHINE, microkernel=microkernel, max_variants=40)
    assert variants
    apply = [pipeline.apply(scop, each, machine=MACHINE, microkernel=microkernel, prove=False) for each in variants]
    return needed_calls(apply)


@pytest.fixture
def calls(tmp_path: Path) -> tuple[PackedCall, ...]:
    return calls_of(nest(tmp_path))


def test_the_calls_of_variants_are_timed_once_each_with_packed_operands(calls: tuple[PackedCall, ...]) -> None:
    assert len(calls) > 8
    assert len({(call.key, call.site) for call in calls}) == len(calls)
    for call in calls:
        site = call.site
        assert (call.key, site.element, site.lda, site.ldc) == (("c", "float"), "float", site.m[0], site.m[0])
        assert all(call.kernel.rejects(shape) is None for _, shape in site.shapes())


def test_calls_of_operands_that_leave_the_second_cache_have_fewer_steps(tmp_path: Path) -> None:
    calls = calls_of(nest(tmp_path, k=8192))
    assert calls
    assert max((call.site.m[0] + call.site.n[0]) * call.site.k[0] * call.site.batch[0] * 4 for call in calls) <= 1 << 18


def test_calls_of_elements_that_no_program_times_are_left_out(tmp_path: Path) -> None:
    assert {call.site.element for call in calls_of(nest(tmp_path, "double"))} == {"double"}
    assert calls_of(nest(tmp_path, "int")) == ()


def test_what_is_waited_for_beforehand_is_none_of_its_time(calls: tuple[PackedCall, ...], tmp_path: Path) -> None:
    measurer, waited = Measurer(), list[int]()

    def quiet() -> None:
        assert not measurer.steps
        waited.append(1)
        measurer.now += 100.0

    asked: dict[str, Any] = {"directory": tmp_path, "measure": measurer, "clock": measurer.clock, "quiet": quiet}
    first = first_use(MACHINE, calls, TOOLCHAIN, **asked, seconds=5.0)
    assert first is not None
    assert first.seconds < 10
    assert len(measurer.steps) > 1
    assert first_use(first.machine, calls, TOOLCHAIN, **asked) is None
    assert waited == [1], "nothing is waited for where nothing is left to time"


def test_the_calls_of_variants_take_turns_with_others_and_the_next_use_times_nothing(
    calls: tuple[PackedCall, ...], tmp_path: Path
) -> None:
    measurer = Measurer()
    done: list[tuple[int, int]] = []
    first = first_use(
        MACHINE, calls, TOOLCHAIN, directory=tmp_path, measure=measurer, clock=measurer.clock, seconds=1000.0,
        report=lambda step, steps: done.append((step, steps)),
    )  # fmt: skip
    assert first is not None
    wanted = [call.site for call in calls]
    asked = [site for _, sites in measurer.steps for site in sites]
    assert asked[0] == wanted[0]
    assert [site for site in asked if site in wanted] == wanted
    assert len(asked) > len(wanted)
    assert done == [(number, len(measurer.steps)) for number in range(1, len(measurer.steps) + 1)]
    assert first.further
    [times] = first.machine.call_times
    assert (times.microkernel, times.element, times.vector_elements, times.complete) == ("c", "float", 16, True)
    assert (first.microkernels, first.calls) == (("c",), len(times.calls))
    assert read_call_times(tmp_path, MACHINE.cpu_id) == first.machine.call_times
    assert first_use(first.machine, calls, TOOLCHAIN, directory=tmp_path, measure=measurer) is None
    assert f"Calibrated  {first.calls} calls of c in " in first_use_text(first)


def test_the_constants_of_formulas_are_fitted_to_the_calls(calls: tuple[PackedCall, ...], tmp_path: Path) -> None:
    true = replace(
        MACHINE.core, call_cycles=2.0, block_step_cycles=0.05, block_load_cycles=0.01, block_switch_cycles=1.0
    )

    first = first_use(MACHINE, calls, TOOLCHAIN, directory=tmp_path, measure=taken_on(true), seconds=60.0)
    assert first is not None
    known = {each.name: each.value for each in first.machine.call_times[0].constants}
    assert {"call_cycles", "block_step_cycles"} <= known.keys()
    assert first.machine.core.call_cycles == known["call_cycles"]
    # Shapes that were not timed, without the factors of their neighbours.
    for other in (packed_call(40, 5, 23), packed_call(96, 7, 300), packed_call(200, 40, 90)):
        wanted = PLAIN_C.on(true).predicted_cycles(other, 16)
        assert PLAIN_C.on(first.machine.core).predicted_cycles(other, 16) == pytest.approx(wanted, rel=0.05)
        assert PLAIN_C.on(MACHINE.core).predicted_cycles(other, 16) > 1.07 * wanted


def test_a_formula_has_the_constants_that_another_one_was_fitted_with(tmp_path: Path) -> None:
    true = replace(
        MACHINE.core, call_cycles=2.0, block_switch_cycles=0.5, library_call_cycles=4.0, library_slowdown=0.9
    )

    calls = (*calls_of(nest(tmp_path), "libxsmm"), *calls_of(nest(tmp_path)))
    first = first_use(MACHINE, calls, TOOLCHAIN, directory=tmp_path, measure=taken_on(true), seconds=60.0)
    assert first is not None
    found = LIBXSMM.on(first.machine.core)
    for other in (packed_call(40, 5, 23, 4), packed_call(96, 7, 30, 9), packed_call(200, 40, 90)):
        wanted = LIBXSMM.on(true).predicted_cycles(other, 16)
        assert found.predicted_cycles(other, 16) == pytest.approx(wanted, rel=0.06)


def test_what_is_known_of_a_family_is_not_timed(calls: tuple[PackedCall, ...], tmp_path: Path) -> None:
    measurer = Measurer()
    zen4 = replace(MACHINE, cpu_id="AuthenticAMD-25-17-1-32K-1024K-32768K")
    other = replace(MACHINE, cpu_id="AuthenticAMD-1-17-1-32K-1024K-32768K")
    assert first_use(zen4, calls, TOOLCHAIN, directory=tmp_path, measure=measurer, clock=measurer.clock) is None
    assert measurer.steps == []
    assert first_use(other, calls, TOOLCHAIN, directory=tmp_path, measure=measurer, clock=measurer.clock) is not None


def test_steps_of_two_kinds_take_turns_and_none_is_left_twice(calls: tuple[PackedCall, ...]) -> None:
    steps = [(call,) for call in calls[:5]]
    spread = [(call,) for call in calls[5:]]
    assert len(spread) > 8
    mixed, left = _in_turns(steps, spread, 2)
    assert [*mixed, *left] == [*steps[:2], *spread[:2], *steps[2:4], *spread[2:4], *steps[4:], *spread[4:]]
    assert _in_turns([], spread, 0) == ([], spread)


def test_no_step_begins_that_would_last_beyond_the_limit(calls: tuple[PackedCall, ...], tmp_path: Path) -> None:
    measurer = Measurer(seconds=2.0)
    first = first_use(
        MACHINE, calls, TOOLCHAIN, directory=tmp_path, measure=measurer, clock=measurer.clock, seconds=4.5
    )
    assert first is not None
    assert (len(measurer.steps), first.seconds) == (2, 4.0)
    [times] = read_call_times(tmp_path, MACHINE.cpu_id)
    assert times.complete


def test_microkernels_take_turns(tmp_path: Path, calls: tuple[PackedCall, ...]) -> None:
    class Other:
        name = "other"

        def __getattr__(self, name: str) -> object:
            return getattr(PLAIN_C, name)

    others = [replace(call, kernel=Other()) for call in calls]  # type: ignore[arg-type]
    measurer = Measurer()
    first_use(MACHINE, [*calls, *others], TOOLCHAIN, directory=tmp_path, measure=measurer, clock=lambda: 0.0)
    assert [name for name, _ in measurer.steps][:4] == ["c", "other", "c", "other"]


def test_a_table_of_a_calibration_is_better(calls: tuple[PackedCall, ...], tmp_path: Path) -> None:
    from polydl.machine.profile import read

    [table] = read(Path(__file__).parent / "data" / "calibration.toml").throughputs
    known = replace(MACHINE, throughputs=(replace(table, microkernel="c"),))
    assert first_use(known, calls, TOOLCHAIN, directory=tmp_path, measure=Measurer()) is None


def test_an_interrupted_first_use_is_gone_on_with(calls: tuple[PackedCall, ...], tmp_path: Path) -> None:
    measurer = Measurer()

    def interrupted(*arguments: object) -> Mapping[GemmShape, float]:
        if measurer.steps:
            raise KeyboardInterrupt
        return measurer(*arguments)  # type: ignore[arg-type]

    with pytest.raises(KeyboardInterrupt):
        first_use(MACHINE, calls, TOOLCHAIN, directory=tmp_path, measure=interrupted, clock=measurer.clock)
    [times] = read_call_times(tmp_path, MACHINE.cpu_id)
    assert times.calls
    assert not times.complete
    here = replace(MACHINE, call_times=(times,))
    assert first_use(here, calls, TOOLCHAIN, directory=tmp_path, measure=measurer, clock=measurer.clock) is not None
    timed_first, *rest = ({(site.m, site.n, site.k) for site in sites} for _, sites in measurer.steps)
    assert rest
    assert not timed_first & rest[0]


def test_times_of_another_compiler_are_taken_anew(calls: tuple[PackedCall, ...], tmp_path: Path) -> None:
    first = first_use(MACHINE, calls, TOOLCHAIN, directory=tmp_path, measure=Measurer(), clock=lambda: 0.0)
    assert first is not None
    measurer = Measurer()
    newer = replace(TOOLCHAIN, version="13")
    second = first_use(first.machine, calls, newer, directory=tmp_path, measure=measurer, clock=lambda: 0.0)
    assert second is not None
    assert measurer.steps
    [times] = second.machine.call_times
    assert "13" in times.versions


def test_what_cannot_be_compiled_or_kept_is_left_to_the_formula(calls: tuple[PackedCall, ...], tmp_path: Path) -> None:
    def refused(*_arguments: object) -> Mapping[GemmShape, float]:
        raise ExecutionError("the C of the microkernel c does not compile")

    first = first_use(MACHINE, calls, TOOLCHAIN, directory=tmp_path, measure=refused, clock=lambda: 0.0)
    assert first is not None
    assert first.calls == 0
    assert first_use(first.machine, calls, TOOLCHAIN, directory=tmp_path, measure=refused) is None
    (tmp_path / "file").write_text("")
    assert first_use(MACHINE, calls, TOOLCHAIN, directory=tmp_path / "file", measure=refused) is None


def test_two_processes_never_time_at_once(calls: tuple[PackedCall, ...], tmp_path: Path) -> None:
    measurer = Measurer()
    locked: list[bool] = []

    def measure(*arguments: object) -> Mapping[GemmShape, float]:
        with lock_path(tmp_path, MACHINE.cpu_id).open("r+b") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                locked.append(True)
            else:
                locked.append(False)
        return measurer(*arguments)  # type: ignore[arg-type]

    first = first_use(MACHINE, calls, TOOLCHAIN, directory=tmp_path, measure=measure, clock=lambda: 0.0)
    assert first is not None
    assert locked
    assert all(locked)
    # One that began before and had to wait takes over what was timed meanwhile.
    count = len(measurer.steps)
    second = first_use(MACHINE, calls, TOOLCHAIN, directory=tmp_path, measure=measure, clock=lambda: 0.0)
    assert second is not None
    assert len(measurer.steps) == count
    assert (second.calls, second.machine.call_times) == (0, first.machine.call_times)
    assert "another process" in first_use_text(second)


# --- the whole job ----------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Takes the place of timing: every call of `c` takes ten times its formula. It records how often it was asked."""
    found: list[int] = []

    def instead(
        ranking: object,
        apply: object,
        machine: Machine,
        toolchain: Toolchain,
        report: object,
        *,
        quiet: Callable[[], object],
    ) -> FirstUse:
        quiet()
        del ranking, apply, report
        found.append(1)
        slow = replace(machine, call_times=(timed((packed_call(64, 8, 64), 10.0)),))
        return FirstUse(slow, ("c",), 1, 0.5, toolchain, Path(), ())

    monkeypatch.setattr("polydl.optimization.optimize.first_use_of", instead)
    return found


@pytest.mark.native
def test_a_search_ranks_by_what_its_first_use_timed(tmp_path: Path, asked: list[int]) -> None:
    here = machine_with(threads=1, vector_bytes=32)
    scop = nest(tmp_path)
    options = {"machine": here, "microkernel": "c", "max_variants": 20, "top_k": 1, "records": False}
    assert polydl.optimize(scop, calibrate=True, run=False, **options).first_use is None  # type: ignore[arg-type]
    assert asked == []
    result = polydl.optimize(scop, calibrate=True, **options)  # type: ignore[arg-type]
    assert asked == [1]
    assert result.first_use is not None
    assert result.machine.call_times
    assert result.winner is not None


def test_what_is_left_is_timed_step_by_step_as_long_as_it_is_wanted(
    calls: tuple[PackedCall, ...], tmp_path: Path
) -> None:
    first = first_use(MACHINE, calls, TOOLCHAIN, directory=tmp_path, measure=Measurer(), clock=lambda: 0.0)
    assert first is not None
    assert len(first.further) > 3
    steps: list[list[PackedCall]] = []

    def step(timed_now: list[PackedCall], *_others: object) -> list[CallTime]:
        steps.append(timed_now)
        return [CallTime(len(steps), 1, 1, 1, False, 5.0)]

    wanted = itertools.chain([True, True], itertools.repeat(False))
    request = json.loads(json.dumps(further._request(first)))
    further.time_further(request, lambda: next(wanted), step)
    # The kernels are for the core that those of the first use are for, whatever is known of the one at hand.
    assert [tuple(each) for each in steps] == list(first.further[:2])
    [times] = read_call_times(tmp_path, MACHINE.cpu_id)
    assert len(times.calls) == first.calls + 2
    # Another command has timed calls with another compiler since.
    write_call_times(tmp_path, MACHINE.cpu_id, [replace(times, versions="of another compiler", calls=())])
    further.time_further(further._request(first), lambda: len(steps) < 9, step)
    assert len(steps) == 2
    assert read_call_times(tmp_path, MACHINE.cpu_id)[0].calls == ()


def test_a_call_that_is_timed_again_has_one_time(calls: tuple[PackedCall, ...], tmp_path: Path) -> None:
    first = first_use(MACHINE, calls, TOOLCHAIN, directory=tmp_path, measure=Measurer(), clock=lambda: 0.0)
    assert first is not None
    [before] = read_call_times(tmp_path, MACHINE.cpu_id)
    again = replace(before.calls[0], cycles=5.0)
    further.time_further(further._request(first), iter((True, False)).__next__, lambda *_: [again])
    [times] = read_call_times(tmp_path, MACHINE.cpu_id)
    assert len(times.calls) == len(before.calls)
    assert times.calls[0] == again


@pytest.mark.native
def test_timing_on_ends_with_what_it_goes_on_beside(
    calls: tuple[PackedCall, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[str]] = []
    genuine = subprocess.Popen

    def noted(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        started.append(genuine(*arguments, **options))
        return started[-1]

    monkeypatch.setattr("polydl.calibration.further.subprocess.Popen", noted)
    first = first_use(MACHINE, calls, Toolchain.find(), directory=tmp_path, measure=Measurer(), clock=lambda: 0.0)
    assert first is not None
    with further.going_on(first):
        pass
    [process] = started
    assert process.poll() is not None
