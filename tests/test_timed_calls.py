"""What calls that were timed predict of others; no time is real."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from machines import machine_with
from packed_calls import formula, packed_call, timed

from polydl.machine import Machine
from polydl.machine.call_times import CallTime, CallTimes, call_times_path, read_call_times, write_call_times
from polydl.microkernels.amx import AMX
from polydl.microkernels.plain_c import PLAIN_C
from polydl.model.calibrated import calibrated
from polydl.model.call_factors import CallFactors

MACHINE = machine_with(threads=1, vector_bytes=64)


def test_a_timed_call_has_its_own_factor_and_the_others_those_of_their_neighbours() -> None:
    factors = CallFactors(timed((packed_call(64, 8, 64), 1.2), (packed_call(64, 32, 64), 3.0)), formula, 1.0)
    assert factors.of(packed_call(64, 8, 64)) == pytest.approx(1.2)
    assert factors.of(packed_call(64, 4, 64, rows=2)) == pytest.approx(1.2)
    assert factors.of(packed_call(64, 16, 64)) == pytest.approx((1.2 * 3.0) ** 0.5)
    assert 1.2 < factors.of(packed_call(64, 10, 64)) < factors.of(packed_call(64, 24, 64)) < 3.0
    assert CallFactors(timed(), formula, 1.0).of(packed_call(64, 8, 64)) == 1.0


def test_calls_far_away_say_nothing_of_others_that_have_near_ones() -> None:
    near = [(packed_call(m, 8, 64), 1.1) for m in (32, 64)] + [(packed_call(m, 16, 64), 1.1) for m in (32, 64)]
    single_rows = [(packed_call(1, n, k), 20.0) for n in (1, 2, 4) for k in (16, 32, 64, 128)]
    assert CallFactors(timed(*near, *single_rows), formula, 1.0).of(packed_call(48, 12, 64)) == pytest.approx(1.1)


def test_calls_are_predicted_from_calls_of_their_kind() -> None:
    whole, partial, transposed = (
        packed_call(32, 8, 64),
        packed_call(31, 8, 64),
        packed_call(32, 8, 64, stride_bn=1, stride_bk=8),
    )
    factors = CallFactors(timed((whole, 1.0), (partial, 2.0), (transposed, 4.0)), formula, 1.0)
    assert factors.of(packed_call(30, 8, 64)) > 1.8
    assert factors.of(packed_call(48, 8, 64)) < 1.4
    assert factors.of(packed_call(48, 8, 64, stride_bn=1, stride_bk=8)) > 3.0


def test_a_microkernel_is_predicted_by_its_timed_calls() -> None:
    times = timed((packed_call(64, 8, 64), 2.0))
    kernel = calibrated(PLAIN_C, (), (times,)).on(MACHINE.core)
    plain = PLAIN_C.on(MACHINE.core)
    assert kernel.predicted_cycles(packed_call(64, 8, 64), 16) == pytest.approx(
        2.0 * formula(packed_call(64, 8, 64)) * MACHINE.core.peak_cycle
    )
    other = replace(packed_call(64, 8, 64), element="double", accumulator="double")
    assert kernel.predicted_cycles(other, 8) == plain.predicted_cycles(other, 8)
    assert calibrated(PLAIN_C, (), (replace(times, microkernel="other"),)) is PLAIN_C


def test_no_call_is_expected_to_beat_the_peak() -> None:
    kernel = calibrated(PLAIN_C, (), (timed((packed_call(64, 8, 64), 0.3)),)).on(MACHINE.core)
    assert kernel.predicted_cycles(packed_call(64, 16, 64), 16) == 64 * 16 * 64 / 16 / MACHINE.core.fma_per_cycle


def test_tiles_may_beat_the_peak_as_their_formula_says() -> None:
    core = MACHINE.core
    call = packed_call(256, 128, 128)
    formula = AMX.on(core).predicted_cycles(call, 16)
    assert formula < 256 * 128 * 128 / 16 / core.fma_per_cycle
    times = CallTimes("c-amx", "float", 16, "", True, (CallTime(256, 128, 128, 1, False, formula / core.peak_cycle),))
    assert calibrated(AMX, (), (times,)).on(core).predicted_cycles(call, 16) == pytest.approx(formula)


def test_a_machine_keeps_its_timed_calls(tmp_path: Path) -> None:
    here = replace(MACHINE, call_times=(timed((packed_call(64, 8, 64), 2.0)),))
    here.save(tmp_path / "machine.toml")
    assert Machine.load(tmp_path / "machine.toml") == here
    write_call_times(tmp_path, here.cpu_id, here.call_times)
    assert read_call_times(tmp_path, here.cpu_id) == here.call_times
    path = call_times_path(tmp_path, here.cpu_id)
    text = path.read_text()
    for damaged in (text.replace("cycles = ", "cycles = -"), text.replace("version = 2", "version = 0"), text[:-20]):
        path.write_text(damaged)
        assert read_call_times(tmp_path, here.cpu_id) == ()
