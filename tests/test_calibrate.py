"""``polydl calibrate``: microkernels are compiled and timed, and no time is judged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from polydl import registry
from polydl.calibration import levels as level_speeds
from polydl.calibration import loops, prefetchers
from polydl.calibration import run as module
from polydl.calibration.programs import formula_sites, grid_sites, long_sites, timed_calls
from polydl.calibration.tables import timed
from polydl.cli import main
from polydl.contracts import GemmShape, GemmSite, Microkernel
from polydl.contracts.first_cache import timed_cycles
from polydl.errors import ExecutionError, MachineError, OptionError
from polydl.machine import Machine, system
from polydl.machine.core import constants
from polydl.machine.profile import Identity, Profile, read, read_for, write
from polydl.machine.system import find
from polydl.microkernels.plain_c import PLAIN_C


@pytest.fixture(scope="module")
def stored() -> Profile:
    return read(Path(__file__).parent / "data" / "calibration.toml")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Few sites and one round of everything; records what was timed."""
    seen: list[str] = []
    real_levels, real_timed, real_grid = level_speeds.measure, timed, grid_sites

    def levels(*arguments: object, **options: object) -> object:
        seen.append("levels")
        monkeypatch.setattr(level_speeds, "_LARGE_SET", 1 << 20)
        monkeypatch.setattr(level_speeds, "_TURNS_OF_LARGE_SETS", 1)
        monkeypatch.setattr(
            level_speeds, "working_sets", lambda sizes, _: tuple(8192 << i for i in range(len(sizes) + 1))
        )
        return real_levels(*arguments, **{**options, "rounds": 1})  # type: ignore[arg-type]

    def times(kernel: object, sites: object, *others: object) -> object:
        seen.append("timed")
        return real_timed(kernel, sites, *others)  # type: ignore[arg-type]

    for probes, name in ((loops, "measure_loops"), (prefetchers, "measure_prefetchers"), (module, "measure_headroom")):
        monkeypatch.setattr(probes, name, lambda *_: {})
    monkeypatch.setattr(level_speeds, "measure", levels)
    monkeypatch.setattr(module, "timed", times)
    monkeypatch.setattr(module, "ELEMENTS", (("float", 4),))
    monkeypatch.setattr(module, "_SITES_PER_STEP", 1)
    monkeypatch.setattr(module, "grid_sites", lambda *of: tuple(replace(s, k=(8, 4)) for s in real_grid(*of)[:2]))
    monkeypatch.setattr(module, "held_out_sites", lambda *of: tuple(replace(s, k=(7, 4)) for s in real_grid(*of)[:1]))
    for name in ("transposed_sites", "formula_sites", "long_sites"):
        monkeypatch.setattr(module, name, lambda *_: ())
    return seen


@pytest.mark.slow
@pytest.mark.native
def test_an_interrupted_calibration_goes_on_where_it_was(small: list[str], tmp_path: Path) -> None:
    here = find()
    path = tmp_path / "deep" / "profile.toml"

    def interrupt(stage: str, done: int, _total: int) -> None:
        if stage == "c float" and done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        module.calibrate(here, path, microkernels=["c"], report=interrupt)
    assert small == ["levels", "timed", "timed"]
    assert not path.exists()
    done = module.calibrate(here, path, microkernels=["c"])
    assert small == ["levels", "timed", "timed", "timed"]
    assert done.failures == ()
    assert read_for(path, here.identity) == done.profile
    assert [path.name for path in path.parent.iterdir()] == ["profile.toml"]
    [made] = done.profile.throughputs
    assert (made.microkernel, made.element) == ("c", "float")
    # One microkernel again: the levels stay as they are.
    again = module.calibrate(here, path, microkernels=["c"])
    assert small.count("levels") == 1
    assert again.profile.levels == done.profile.levels


@pytest.mark.native
def test_a_kernel_without_floats_gets_no_table_and_says_so(stored: Profile, tmp_path: Path) -> None:
    here, path = replace(find(), identity=stored.identity), tmp_path / "profile.toml"
    write(stored, path)
    done = module.calibrate(here, path, microkernels=["c-int8"])
    assert [failure.microkernel for failure in done.failures] == ["c-int8"]
    assert "neither float nor double" in done.failures[0].reason
    assert done.profile.throughputs == stored.throughputs


@pytest.mark.slow
@pytest.mark.native
def test_constants_of_formulas_are_kept_and_measured_anew_with_their_microkernel(
    small: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A Zen 5: where steps take long, what each costs besides is lost in them.
    here, path = find(), tmp_path / "profile.toml"
    here = replace(here, identity=replace(here.identity, cpu_id="AuthenticAMD-26-2-1-48K-1024K-32768K"))
    truth = {"call_cycles": 11.0, "block_step_cycles": 0.4, "library_slowdown": 1.3, "library_call_cycles": 40.0}

    def as_if(kernel: Microkernel, sites: Sequence[GemmSite], vector_bytes: int, _: object) -> dict[GemmShape, float]:
        """Times of a core with those constants."""
        real = kernel.on(here.core.having(constants(truth, "given")))
        width = vector_bytes // (8 if sites[0].accumulator == "double" else 4)
        shapes = [call.shape for call in timed_calls(sites)]
        return {shape: timed_cycles(real, shape, width) / here.core.peak_cycle for shape in shapes}

    for name, sites in (("formula_sites", formula_sites), ("long_sites", long_sites)):
        monkeypatch.setattr(module, name, sites)
    monkeypatch.setattr(module, "timed", as_if)
    monkeypatch.setattr(module, "measure_arithmetic", lambda *_: {})
    stages: list[str] = []
    made = module.calibrate(
        here, path, microkernels=["libxsmm", "c"], report=lambda stage, *_: stages.append(stage)
    ).profile
    assert stages.index("c formula") < stages.index("libxsmm formula"), "LIBXSMM's formula has constants of c's"
    assert {name: made.constants[name] for name in truth} == pytest.approx(truth, rel=0.2)
    # The formula of each table is that with the constants.
    assert all(table.formula_error < 0.05 for table in made.throughputs)
    core = Machine.of_calibration(made).core
    assert core.call_cycles == made.constants["call_cycles"]
    assert core.source("call_cycles") == "measured"
    truth["call_cycles"] = 30.0
    again = module.calibrate(here, path, microkernels=["c"]).profile
    assert again.constants["call_cycles"] == pytest.approx(30.0, rel=0.2)
    assert again.constants["library_slowdown"] == made.constants["library_slowdown"]


@pytest.mark.native
def test_a_kernel_that_this_machine_does_without_is_no_failure_unless_it_was_asked_for(
    small: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Absent(type(PLAIN_C)):  # type: ignore[misc]
        def unavailable(self) -> str | None:
            return "the processor has no such instructions"

    monkeypatch.setattr(registry, "names", lambda _: ("c",))
    monkeypatch.setattr(registry, "load", lambda *_: Absent())
    here, path = find(), tmp_path / "profile.toml"
    assert module.calibrate(here, path).failures == ()
    assert small == ["levels"], "nothing was timed"
    asked = module.calibrate(here, path, microkernels=["c"])
    assert [failure.text for failure in asked.failures] == ["no table for c: the processor has no such instructions"]


@pytest.mark.slow
@pytest.mark.native
def test_the_command_calibrates_and_shows(small: list[str], tmp_path: Path) -> None:
    path = str(tmp_path / "profile.toml")
    made = CliRunner().invoke(main, ["calibrate", "--microkernel", "c", "--profile", path, "--json", "-"])
    assert made.exit_code == 0, made.output
    document = json.loads(made.stdout)
    assert document["identity"]["cpu_id"] == find().identity.cpu_id
    assert [each["microkernel"] for each in document["throughputs"]] == ["c"]
    shown = CliRunner().invoke(main, ["calibrate", "--show", "--profile", path])
    assert shown.exit_code == 0
    assert "share of the FMA peak" in shown.stdout
    assert "memory" in shown.stdout


def test_the_command_refuses(tmp_path: Path, stored: Profile) -> None:
    foreign = tmp_path / "foreign.toml"
    write(replace(stored, identity=Identity("Z", "Z-1", (), stored.identity.cache_bytes, 1)), foreign)
    refused = CliRunner().invoke(main, ["calibrate", "--show", "--profile", str(foreign)])
    assert refused.exit_code == 2
    assert "another processor" in refused.stderr
    absent = CliRunner().invoke(main, ["calibrate", "--show", "--profile", str(tmp_path / "absent")])
    assert absent.exit_code == 2
    assert "polydl calibrate" in absent.stderr
    mine = tmp_path / "mine.c"
    mine.write_text("int mine;")
    for place, problem in ((mine, "is no profile, and would be replaced"), (tmp_path, "is a directory")):
        refused = CliRunner().invoke(main, ["calibrate", "--profile", str(place)])
        assert refused.exit_code == 2
        assert problem in refused.stderr
    assert mine.read_text() == "int mine;"
    with pytest.raises(OptionError, match="no-such"):
        module._loaded("no-such")


@pytest.mark.slow
@pytest.mark.native
def test_constants_that_could_not_be_measured_are_told_from_a_table(
    small: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> dict[str, float]:
        raise ExecutionError("the clock stood still")

    monkeypatch.setattr(module, "_group_constants", fail)
    done = module.calibrate(find(), tmp_path / "profile.toml", microkernels=["c"])
    assert [table.microkernel for table in done.profile.throughputs] == ["c"]
    said = "not all constants of c's formula were measured: the clock stood still"
    assert {failure.text for failure in done.failures} == {said}


def test_sizes_of_caches_are_given_where_the_system_hides_them(
    stored: Profile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = ["calibrate", "--show", "--profile", str(tmp_path / "profile.toml"), "--debug"]
    refused = CliRunner().invoke(main, [*shown, "--cache-sizes", "1K,3K"]).exception
    assert isinstance(refused, OptionError)
    assert "leave it out" in (refused.remedy or "")
    monkeypatch.setattr(system, "_sysfs_caches", lambda *_: ())
    monkeypatch.setattr(system, "_lscpu_caches", tuple)
    hidden = CliRunner().invoke(main, shown).exception
    assert isinstance(hidden, MachineError)
    assert "`polydl calibrate`" in (hidden.remedy or "")
    assert "--cache-sizes" in (hidden.remedy or "")
    identity = find((48 << 10, 2 << 20, 32 << 20)).identity
    write(replace(stored, identity=identity), tmp_path / "profile.toml")
    ended = CliRunner().invoke(main, [*shown, "--cache-sizes", "48K,2M,32M"])
    assert ended.exit_code == 0, ended.output
    assert identity.cpu_id in ended.output
