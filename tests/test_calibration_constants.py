"""Constants of a core that are measured: from times that are made up, and from a little C that runs here."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from polydl import registry
from polydl.calibration.arithmetic import measure_arithmetic, rates
from polydl.calibration.formulas import decided_constants, fitted_constants, formula_error
from polydl.calibration.programs import formula_sites, grouped_site, timed_calls
from polydl.calibration.tables import timed
from polydl.contracts import FormulaConstants, GemmShape, Microkernel
from polydl.contracts.first_cache import timed_cycles
from polydl.execute.toolchain import Toolchain
from polydl.machine.core import CONSTANTS, Core, constants
from polydl.machine.processors import WIDE_CORE
from polydl.machine.system import find
from polydl.microkernels.amx import AMX
from polydl.microkernels.int16 import INT16
from polydl.microkernels.plain_c import PLAIN_C

FLOATS, *_ = PLAIN_C.formula_constants


def shapes(kernel: Microkernel, wanted: FormulaConstants) -> list[GemmShape]:
    return [call.shape for call in timed_calls(formula_sites(kernel, wanted, 16))]


def cycles_on(kernel: Microkernel, wanted: FormulaConstants, core: Core) -> dict[GemmShape, float]:
    return {shape: timed_cycles(kernel.on(core), shape, 16) for shape in shapes(kernel, wanted)}


def having(values: Mapping[str, float]) -> Core:
    return WIDE_CORE.having(constants(values, "given"))


# --- arithmetic -------------------------------------------------------------------------


def test_rates_are_counted_in_cycles_of_the_clock_and_of_the_peak() -> None:
    clock = 0.25e-9
    seconds = {"clock": clock, "multiply-adds": 0.51 * clock, "latency": 4.05 * clock, "loads": 0.5 * clock}
    assert rates({**seconds, "stores": 1.02 * clock}) == {
        "fma_per_cycle": 2.0, "fma_latency_cycles": 4.0, "loads_per_cycle": 2.0, "stores_per_cycle": 1.0
    }  # fmt: skip
    # A compiler left the loads out.
    assert "loads_per_cycle" not in rates({**seconds, "loads": 1e-3 * clock, "stores": clock})
    # What is near no half is kept as it is.
    assert rates({**seconds, "stores": clock / 1.3})["stores_per_cycle"] == pytest.approx(1.33, abs=0.01)


@pytest.mark.native
def test_arithmetic_is_measured_here() -> None:
    system = find()
    measured = measure_arithmetic(min(os.sched_getaffinity(0)), system.vector_bytes, Toolchain.find())
    assert set(measured) == {"fma_per_cycle", "fma_latency_cycles", "loads_per_cycle", "stores_per_cycle"}
    assert 0.2 < measured["fma_per_cycle"] < 9
    # Sums that wait for each other take longer than those that don't.
    assert 1.5 < measured["fma_latency_cycles"] < 12
    assert 0.4 < measured["loads_per_cycle"] < 9
    assert 0.2 < measured["stores_per_cycle"] < 9


# --- formulas ---------------------------------------------------------------------------


def test_constants_are_found_again_from_the_times_of_calls() -> None:
    truth = {"call_cycles": 9.0, "block_step_cycles": 0.3, "block_load_cycles": 0.05, "row_copy_cycles": 1.5}
    measured = cycles_on(PLAIN_C, FLOATS, having(truth))
    fit = fitted_constants(PLAIN_C, FLOATS, WIDE_CORE, measured, 16)
    assert set(fit) == set(FLOATS.names)
    assert {name: fit[name] for name in truth} == pytest.approx(truth, rel=0.2)
    # What is as it was stays nearly that.
    assert fit["block_switch_cycles"] == pytest.approx(WIDE_CORE.block_switch_cycles, rel=0.2)
    assert formula_error(PLAIN_C.on(having(fit)), measured, 16) < 0.01


def test_constants_that_predict_no_better_are_not_taken() -> None:
    assert fitted_constants(PLAIN_C, FLOATS, WIDE_CORE, cycles_on(PLAIN_C, FLOATS, WIDE_CORE), 16) == {}
    few = dict(list(cycles_on(PLAIN_C, FLOATS, having({"call_cycles": 9.0})).items())[:3])
    assert fitted_constants(PLAIN_C, FLOATS, WIDE_CORE, few, 16) == {}


def test_a_few_calls_that_something_disturbed_change_little() -> None:
    truth = {"short_pair_slowdown": 0.8, "pair_copy_cycles": 0.2}
    [wanted] = INT16.formula_constants
    measured = cycles_on(INT16, wanted, having(truth))
    disturbed = {
        shape: cycles * (3 if place % 20 == 7 else 1) for place, (shape, cycles) in enumerate(measured.items())
    }
    fit = fitted_constants(INT16, wanted, WIDE_CORE, disturbed, 16)
    assert fit == pytest.approx(truth, rel=0.1)


def test_what_splitting_takes_is_found_though_a_part_is_hidden() -> None:
    truth = {"tile_call_cycles": 200.0, "tile_split_cycles": 0.4}
    wanted, *_ = AMX.formula_constants
    fit = fitted_constants(AMX, wanted, WIDE_CORE, cycles_on(AMX, wanted, having(truth)), 16)
    assert {each: fit[each] for each in truth} == pytest.approx(truth, rel=0.1)


def test_register_blocks_are_decided_by_how_fast_they_are() -> None:
    [wanted] = [each for each in PLAIN_C.formula_constants if each.decide]
    usual = WIDE_CORE.block_far_load_cycles

    def best_at(multiple: float) -> dict[str, float]:
        def timed_on(kernel: Microkernel) -> dict[GemmShape, float]:
            return {shape: 1.0 + abs(kernel.core.block_far_load_cycles - multiple * usual) for shape in some}

        return decided_constants(PLAIN_C, wanted, WIDE_CORE, timed_on)

    some = shapes(PLAIN_C, FLOATS)[:3]
    assert best_at(1.0) == {"block_far_load_cycles": usual}
    assert best_at(0.25) == {"block_far_load_cycles": 0.25 * usual}
    assert decided_constants(PLAIN_C, wanted, WIDE_CORE, lambda _: {}) == {}


@pytest.mark.parametrize("name", registry.names("microkernels"))
def test_constants_of_formulas_are_those_that_predictions_take(name: str) -> None:
    kernel = registry.load("microkernels", name)
    # All constants of c-int8 are measured of the core, and those of c-amx-groups of c-amx; none is fitted.
    assert kernel.formula_constants or name in ("c-int8", "c-amx-groups")
    for wanted in kernel.formula_constants:
        assert set(wanted.names) <= set(CONSTANTS)
        assert wanted.elements in kernel.elements
        if wanted.decide:
            continue
        if kernel.unavailable() is not None and name != "c-amx":
            pytest.skip(kernel.unavailable())
        calls = shapes(kernel, wanted)
        assert calls
        for constant in wanted.names:
            more = WIDE_CORE.having(constants({constant: 3 * getattr(WIDE_CORE, constant)}, "given"))
            assert any(
                timed_cycles(kernel.on(more), c, 16) > timed_cycles(kernel.on(WIDE_CORE), c, 16) for c in calls
            ), constant


@pytest.mark.native
@pytest.mark.parametrize(
    ("name", "elements"),
    [("libxsmm-bf16", ("bfloat16", "float")), ("c", ("bfloat16", "float")), ("c", ("short", "int"))],
)
def test_calls_of_narrow_types_are_timed(name: str, elements: tuple[str, ...]) -> None:
    kernel = registry.load("microkernels", name)
    if kernel.unavailable() is not None:
        pytest.skip(kernel.unavailable())
    [wanted, *_] = [each for each in kernel.formula_constants if each.elements == elements]
    sites = formula_sites(kernel, wanted, 16)[:1]
    measured = timed(kernel, sites, find().vector_bytes, Toolchain.find())
    assert set(measured) == {call.shape for call in timed_calls(sites)}
    assert min(measured.values()) > 0


def test_products_in_groups_lie_one_after_the_other() -> None:
    site = grouped_site(("bfloat16", "float"), (32, 16), (8, 6), 2, (12, 4))
    assert (site.k, site.batch, site.lda, site.stride_bn) == ((2, 2), (12, 4), 1, 24)
    assert site.offsets_a[:3] == (0, 64, 128)
    assert site.offsets_b[:3] == (0, 2, 4)
