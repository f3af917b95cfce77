"""Profiles, tables of throughput and what they predict; microkernels are compiled and timed, but no time is judged."""

from __future__ import annotations

import os
import re
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from packed_calls import packed_call

from polydl import pipeline, registry
from polydl.calibration.cores import _PAGES, measure_pages, measure_thread_start, page_table
from polydl.calibration.fit import fitted
from polydl.cli import main
from polydl.contracts import GemmShape, Microkernel
from polydl.contracts.first_cache import waiting_cycles
from polydl.errors import MachineError
from polydl.execute.toolchain import Toolchain
from polydl.machine import Machine, Throughput
from polydl.machine.profile import Profile, read, read_for, write
from polydl.machine.system import find
from polydl.microkernels.plain_c import PLAIN_C
from polydl.model.calibrated import Calibrated, calibrated
from polydl.presentation.calibration import core_text

STORED = Path(__file__).parent / "data" / "calibration.toml"
MATMUL = """
void matmul(float C[50][96], float A[50][64], float B[64][96]) {
#pragma scop
  for (int i = 0; i < 50; ++i)
    for (int j = 0; j < 96; ++j)
      for (int k = 0; k < 64; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""


@pytest.fixture(scope="module")
def stored() -> Profile:
    return read(STORED)


@pytest.fixture(scope="module")
def table(stored: Profile) -> Throughput:
    [found] = stored.throughputs
    return found


# --- tables -----------------------------------------------------------------------------


def test_a_measured_shape_has_its_own_cell(table: Throughput) -> None:
    for row, m in enumerate(table.rows):
        for column, n in enumerate(table.columns):
            call, product, step = table.cells[row * len(table.columns) + column]
            assert table.cycles(m, n, 32, 3) == pytest.approx(call + 3 * product + 96 * step)


def test_between_and_beyond_what_was_measured(table: Throughput) -> None:
    low, high = table.cycles(64, 16, 64, 1), table.cycles(64, 24, 64, 1)
    assert table.cycles(64, 20, 64, 1) == pytest.approx((low + high) / 2)
    assert table.cycles(256, 64, 64, 1) == pytest.approx(2 * table.cycles(128, 64, 64, 1))
    assert table.cycles(64, 128, 64, 1) == pytest.approx(2 * table.cycles(64, 64, 64, 1))


def test_partial_vectors_are_predicted_from_partial_vectors(table: Throughput) -> None:
    # A tail of one element costs LIBXSMM a whole masked vector.
    assert table.cycles(33, 16, 64, 1) > 1.15 * table.cycles(32, 16, 64, 1)
    assert table.cycles(34, 16, 64, 1) == pytest.approx(table.cycles(40, 16, 64, 1), rel=0.1)


def test_a_few_elements_beyond_whole_vectors_add_the_same_everywhere(table: Throughput) -> None:
    seventeen, more, most = (0.0, 0.0, 10.0), (0.0, 0.0, 99.0), (0.0, 0.0, 70.0)
    cells = (seventeen, seventeen, more, more, most, most)
    made = replace(table, rows=(17, 24, 113), columns=(4, 8), cells=cells)
    assert made.cycles(65, 4, 16, 1) == pytest.approx(16 * 40.0)
    assert made.cycles(24, 4, 16, 1) == made.cycles(25, 4, 16, 1) == pytest.approx(16 * 99.0)
    assert made.cycles(225, 4, 16, 1) == pytest.approx(16 * 70.0 * 15 / 8)
    # Neither steps of k that leave a vector empty nor another layout of B.
    assert made.cycles(17, 4, 3, 1) == pytest.approx(3 * 99.0)
    assert replace(made, transposed=1.1).cycles(17, 4, 16, 1, transposed=True) == pytest.approx(16 * 99.0 * 1.1)


def test_efficiency_counts_useful_operations(table: Throughput) -> None:
    assert table.efficiency(64, 24, 256) == pytest.approx(1.0, abs=0.1)
    assert table.efficiency(1, 24, 256) < 0.07


def test_a_calibrated_kernel_differs_in_its_predictions_alone(table: Throughput) -> None:
    plain = registry.load("microkernels", "libxsmm")
    kernel = calibrated(plain, [table])
    transposed = packed_call(64, 12, 32, stride_bn=1, stride_bk=12)
    assert kernel.predicted_cycles(packed_call(64, 12, 32, 4), 16) == table.cycles(64, 12, 32, 4)
    assert kernel.predicted_cycles(transposed, 16) == pytest.approx(table.transposed * table.cycles(64, 12, 32, 1))
    # Beyond the widest columns, as the kernel's own formula grows.
    wide, widest = packed_call(64, 200, 32), packed_call(64, table.columns[-1], 32)
    grown = plain.predicted_cycles(wide, 16) / plain.predicted_cycles(widest, 16)
    expected = grown * table.cycles(64, table.columns[-1], 32, 1)
    assert kernel.predicted_cycles(wide, 16) == pytest.approx(expected)
    other = replace(packed_call(64, 12, 32), element="double", accumulator="double")
    assert kernel.predicted_cycles(other, 8) == plain.predicted_cycles(other, 8)
    assert (kernel.name, kernel.patterns, kernel.elements) == (plain.name, plain.patterns, plain.elements)
    assert calibrated(PLAIN_C, [table]) is PLAIN_C


def test_a_calibrated_kernel_leaves_no_member_of_the_contract_to_its_usual_answer(table: Throughput) -> None:
    members = {name for name in vars(Microkernel) if not name.startswith("_")}
    answered = {*vars(Calibrated), *(field.name for field in fields(Calibrated))}
    assert "kept_memory" in members
    assert members <= answered


@pytest.mark.parametrize("sizes", ["rows", "columns"])
def test_sizes_of_a_table_that_are_out_of_order_are_refused(table: Throughput, sizes: str) -> None:
    written = asdict(table)
    assert Throughput.from_table(written) == table
    with pytest.raises(ValueError, match="increasing order"):
        Throughput.from_table(written | {sizes: written[sizes][::-1]})


def test_a_fit_finds_the_coefficients_again() -> None:
    def cycles(call: GemmShape) -> float:
        return 30.0 + 2.0 * call.n + call.batch * 5.0 + call.k * call.batch * call.m * call.n / 32

    grid = {packed_call(m, n, k, b): 0.0 for m in (16, 32, 24) for n in (1, 4, 16) for k in (64, 16) for b in (6, 1)}
    held_out = {packed_call(48, 8, 100, 2): 0.0, packed_call(31, 3, 9, 1): 0.0}
    exact = {each: cycles(each) for each in grid}
    made = fitted(PLAIN_C, "float", 16, exact, {}, {each: cycles(each) for each in held_out})
    assert made is not None
    assert (made.rows, made.columns, made.held_out) == ((16, 24, 32), (1, 4, 16), 2)
    assert made.cells[0] == pytest.approx((32.0, 5.0, 0.5))
    assert made.error < 0.35
    assert made.formula_error > 0


def test_a_kernel_that_refuses_most_shapes_has_a_smaller_table_or_none() -> None:
    grid = {packed_call(m, n, k, b): 100.0 for m in (16, 32) for n in (1, 2) for k in (64, 16) for b in (6, 1)}
    grid[packed_call(48, 1, 16, 1)] = 90.0
    made = fitted(PLAIN_C, "float", 16, grid, {}, {})
    assert made is not None
    assert (made.rows, made.columns) == ((16, 32), (1, 2))
    assert fitted(PLAIN_C, "float", 16, {}, {}, {}) is None
    assert fitted(PLAIN_C, "float", 16, {packed_call(16, 1, 16): 9.0}, {}, {}) is None


# --- profiles ---------------------------------------------------------------------------


def test_a_profile_is_read_as_it_was_written(stored: Profile, tmp_path: Path) -> None:
    write(stored, tmp_path / "new" / "profile.toml")
    assert read(tmp_path / "new" / "profile.toml") == stored
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["profile.toml"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "Another CPU"}, "model name"),
        ({"cpu_id": "AuthenticAMD-25-1-1-32K"}, "family, model, stepping"),
        ({"cache_bytes": (32768, 1 << 20)}, "cache sizes"),
        ({"features": ("avx2",)}, "features only there"),
    ],
)
def test_a_profile_of_another_processor_is_refused(stored: Profile, change: dict[str, object], words: str) -> None:
    assert read_for(STORED, stored.identity) == stored
    assert read_for(STORED, replace(stored.identity, cores=64)) == stored
    with pytest.raises(MachineError, match="another processor") as caught:
        read_for(STORED, replace(stored.identity, **change))  # type: ignore[arg-type]
    assert words in (caught.value.construct or "")
    assert "polydl calibrate" in (caught.value.remedy or "")
    assert caught.value.exit_status == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version = 1", "version = 0"),
        ("peak_gflops = ", "peak_gflops = -"),
        ("rows = [", "rows = [7, "),
        ("[[levels", "[[l"),
        ("vector_elements = 16", "vector_elements = 0"),
        ("vector_elements = 16", "vector_elements = [16]"),
        ("vector_elements = 16", "vector_elements = 'many'"),
        ("transposed = ", "transposed = -"),
        ("transposed = ", "transposed = inf # "),
        ("transposed = ", "transposed = 'much' # "),
        ("rows = [", "rows = [0, "),
        ("rows = [", "rows = [inf, "),
        ("cpu_id = ", "cpu_id = 5 # "),
        ("name = ", "name = [] # "),
        ("features = [", "features = [0, "),
        ("cores = ", "cores = 'x' # "),
        ("cores = ", "cores = 0 # "),
        ("cache_bytes = [", "cache_bytes = ['x', "),
        ('name = "L1"', "name = 1"),
    ],
)
def test_a_damaged_profile_is_an_error_with_its_file(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "profile.toml"
    text = STORED.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(MachineError, match="not a calibration") as caught:
        read(path)
    assert caught.value.file == str(path)


def test_without_a_profile_its_absence_is_said(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="there is no calibration yet") as caught:
        read(tmp_path / "profile.toml")
    assert "run `polydl calibrate`" in (caught.value.remedy or "")
    ended = CliRunner().invoke(main, ["calibrate", "--show", "--profile", str(tmp_path / "x.toml"), "--debug"])
    assert isinstance(ended.exception, MachineError)
    assert "`polydl calibrate --profile " in (ended.exception.remedy or "")


def test_the_machine_is_what_was_calibrated(stored: Profile, tmp_path: Path) -> None:
    found = find()
    count = len(found.identity.cache_bytes)
    mine = replace(stored, identity=found.identity, levels=(*stored.levels[:1] * count, stored.levels[-1]))
    write(mine, found.calibration_path(tmp_path))
    here = Machine.detect(profile_directory=tmp_path, threads=1)
    assert here.peak_gflops == stored.peak_gflops
    assert here.memory_latency_seconds == stored.levels[-1].latency_seconds
    assert here.throughputs == stored.throughputs
    assert here.total_bandwidths == tuple(level.total_bandwidth_bytes_per_second for level in mine.levels)
    assert here.with_cache_sizes((1024, 2048)).throughputs == stored.throughputs
    here.save(tmp_path / "machine.toml")
    assert Machine.load(tmp_path / "machine.toml") == here
    write(replace(mine, identity=replace(found.identity, name="Another CPU")), found.calibration_path(tmp_path))
    with pytest.raises(MachineError, match="another processor"):
        Machine.detect(profile_directory=tmp_path)


def test_threads_share_what_all_cores_reach_together(stored: Profile) -> None:
    from test_machine import EXAMPLE

    alone = (4e11, 1.6e11, 4e10, 1e10)
    calibrated_example = replace(EXAMPLE, total_bandwidths=(16e11, 6.4e11, 6e10, 1.2e10))
    assert EXAMPLE.bandwidths() == alone
    assert replace(calibrated_example, threads=1).bandwidths() == alone
    assert calibrated_example.bandwidths() == (4e11, 1.6e11, 3e10, 6e9)
    # Other sizes change neither what all cores reach from a level in its place, nor from memory.
    assert calibrated_example.with_cache_sizes((1024,)).bandwidths() == (4e11, 6e9)
    beyond = calibrated_example.with_cache_sizes((1024, 2048, 4096, 8192)).bandwidths()
    assert beyond == pytest.approx((4e11, 1.6e11, 3e10, (6e10 * 1.2e10) ** 0.5 / 2, 6e9))


def test_predictions_reach_the_variants_and_count_last_tiles(table: Throughput, tmp_path: Path) -> None:
    from test_machine import EXAMPLE

    (tmp_path / "matmul.c").write_text(MATMUL)
    scop = pipeline.parse(tmp_path / "matmul.c")
    here = replace(EXAMPLE, threads=1, vector_bytes=64)
    known = replace(here, throughputs=(replace(table, microkernel="c"),))
    for target in (here, known):
        variants = pipeline.generate_variants(scop, machine=target, microkernel="c", max_variants=40)
        assert variants
        kernel = calibrated(PLAIN_C, target.throughputs)
        for candidate in pipeline.candidates(scop, variants, machine=target, microkernel="c"):
            [use] = candidate.microkernels
            expected = 0.0
            for m, times_m in ((use.m, 96 // use.m), (96 % use.m, 1)):
                for n, times_n in ((use.n, 50 // use.n), (50 % use.n, 1)):
                    if m and n:
                        size = GemmShape("float", "float", m, n, use.k, 1, use.lda, use.ldc, use.ldb, 1)
                        expected += times_m * times_n * (64 // use.k) * kernel.predicted_cycles(size, 16)
            if kernel.waits("float", 16):
                expected += waiting_cycles(candidate.traffic[0][0], target.core)
            assert candidate.cycles[0] == pytest.approx(expected)


# --- constants of a core ----------------------------------------------------------------


def test_the_first_table_of_pages_ends_where_accesses_take_longer() -> None:
    hit, miss, cycle = 1.25e-9, 3.5e-9, 0.3e-9
    walked = {
        pages: hit if pages <= 56 else 2.2e-9 if pages == 60 else 2.6e-9 if pages == 64 else miss for pages in _PAGES
    }
    assert page_table(walked, cycle) == {
        "first_tlb_entries": 60, "first_tlb_miss_cycles": pytest.approx((miss - hit) / cycle)
    }  # fmt: skip
    # Large pages: nothing is looked up anywhere else.
    assert page_table(dict.fromkeys(_PAGES, hit) | {256: 1.3e-9}, cycle) == {}


@pytest.mark.native
def test_pages_and_threads_are_measured_here() -> None:
    system = find()
    core = system.core
    cores = sorted(os.sched_getaffinity(0))
    found = measure_pages(cores[0], core.page_bytes, core.line_bytes, core.operations_per_cycle(system.vector_bytes))
    assert found == {} or (8 <= found["first_tlb_entries"] < 256 and 0.5 < found["first_tlb_miss_cycles"] < 100)
    started = measure_thread_start(cores, Toolchain.find())
    assert started == {} if len(cores) == 1 else 1e-8 < started["thread_start_seconds"] < 1e-2
    assert measure_thread_start(cores[:1], Toolchain.find()) == {}


def test_measured_constants_take_the_place_of_published_ones(stored: Profile, tmp_path: Path) -> None:
    here = find()
    profile = replace(
        stored,
        identity=here.identity,
        levels=stored.levels[:1] * (len(here.caches) + 1),
        constants={"first_tlb_entries": 60, "thread_start_seconds": 1.9e-6},
    )
    write(profile, here.calibration_path(tmp_path))
    core = Machine.detect(profile_directory=tmp_path).core
    assert (core.first_tlb_entries, core.thread_start_seconds) == (60, 1.9e-6)
    assert core.source("first_tlb_entries") == core.source("thread_start_seconds") == "measured"
    assert core.source("page_bytes") == "detected"
    text = core_text(core)
    assert "first tlb entries" in text
    assert text.index("measured") < text.index("detected")


@pytest.mark.parametrize("constants", [{"colour": 1.0}, {"page_bytes": -1}, {"thread_start_seconds": "soon"}])
def test_a_profile_with_wrong_constants_is_refused(stored: Profile, tmp_path: Path, constants: dict[str, Any]) -> None:
    write(replace(stored, constants=constants), tmp_path / "profile.toml")
    with pytest.raises(MachineError, match="not a calibration"):
        read(tmp_path / "profile.toml")


def test_what_is_shown_has_the_sizes_of_this_machines_caches(stored: Profile, tmp_path: Path) -> None:
    """Not those that are usual of processors with its instructions."""
    path, here = tmp_path / "profile.toml", find()
    write(replace(stored, identity=here.identity, levels=stored.levels[:1] * (len(here.caches) + 1)), path)
    shown = CliRunner().invoke(main, ["calibrate", "--show", "--profile", str(path)])
    assert shown.exit_code == 0, shown.output
    for name, size in zip(("first", "second"), here.identity.cache_bytes, strict=False):
        assert re.search(rf"{name} cache bytes +{re.escape(f'{size:g}')} +detected", shown.output), shown.output
    assert re.search(r"second cache bytes per cycle .*measured", shown.output)
