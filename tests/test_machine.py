from __future__ import annotations

import dataclasses
import json
import math
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from polydl.errors import MachineError
from polydl.machine import CACHE_SIZES_EXAMPLE, CacheLevel, Machine, parse_cache_sizes, speeds, system
from polydl.machine.caches import size_text
from polydl.machine.core import CoreConstant
from polydl.machine.profile import Identity
from polydl.system.control_groups import usable_processors

EXAMPLE = Machine(
    name="An example",
    cpu_id="Example-1-2-3",
    cores=4,
    threads=2,
    isa=("avx2", "fma"),
    vector_bytes=32,
    caches=(
        CacheLevel("L1", 32 << 10, 64, 1, 1e-9, 4e11),
        CacheLevel("L2", 1 << 20, 64, 1, 4e-9, 1.6e11),
        CacheLevel("L3", 36608 << 10, 64, 4, 2.5e-8, 4e10),
    ),
    memory_latency_seconds=1e-7,
    memory_bandwidth_bytes_per_second=1e10,
    memory_bytes=8 << 30,
    peak_gflops=76.8,
)


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("profiles")


@pytest.fixture(scope="module")
def here(profiles: Path) -> Machine:
    return Machine.detect(profile_directory=profiles)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Takes the place of the measurement and records that one was asked for."""
    calls: list[float] = []

    def record(_probe: object, sizes: tuple[int, ...], _memory: int) -> speeds.Speeds:
        calls.append(1.0)
        return speeds.Speeds((1e-9,) * (len(sizes) + 1), (1e10,) * (len(sizes) + 1), 42.0, sizes[-1])

    monkeypatch.setattr(speeds, "measure", record)
    return calls


# --- sizes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("32K,1M,36608K", (32 << 10, 1 << 20, 36608 << 10)),
        ("32768", (32768,)),
        ("48k, 2m ,1g", (48 << 10, 2 << 20, 1 << 30)),
        ("32KiB,1MB", (32 << 10, 1 << 20)),
        ("512B,1 KiB,2K,3K", (512, 1024, 2048, 3072)),
    ],
)
def test_cache_sizes_are_read(text: str, sizes: tuple[int, ...]) -> None:
    assert parse_cache_sizes(text) == sizes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a cache size"),
        ("32K,", "not a cache size"),
        ("32K;1M", "not a cache size"),
        ("-32K", "not a cache size"),
        ("1.5M", "not a cache size"),
        ("32T", "not a cache size"),
        ("٣K", "not a cache size"),
        ("0", "0 bytes"),
        ("32", "a cache of 32 bytes"),
        ("48,2048,36864", "a cache of 48 bytes"),
        ("32K,32", "a cache of 32 bytes"),
        ("32K,0", "0 bytes"),
        ("32K,32K", "do not grow"),
        ("1M,32K", "do not grow"),
        ("1K,2K,3K,4K,5K", "5 cache sizes"),
    ],
)
def test_cache_sizes_that_make_no_sense(text: str, message: str) -> None:
    with pytest.raises(MachineError, match=message) as caught:
        parse_cache_sizes(text)
    assert caught.value.exit_status == 2
    assert caught.value.construct == f"--cache-sizes {text}"
    assert CACHE_SIZES_EXAMPLE in (caught.value.remedy or "")


@given(st.lists(st.integers(1 << 10, 1 << 40), min_size=1, max_size=4, unique=True).map(sorted))
def test_any_growing_sizes_are_read_back(sizes: list[int]) -> None:
    assert parse_cache_sizes(",".join(size_text(size) for size in sizes)) == tuple(sizes)


def test_other_sizes_keep_the_speeds_of_their_level() -> None:
    changed = EXAMPLE.with_cache_sizes((16 << 10, 2 << 20))
    assert [c.bytes for c in changed.caches] == [16 << 10, 2 << 20]
    for given_level, level in zip(changed.caches, EXAMPLE.caches, strict=False):
        assert dataclasses.replace(given_level, bytes=level.bytes) == level
    assert dataclasses.replace(changed, caches=EXAMPLE.caches) == EXAMPLE


def test_a_level_that_was_not_found_is_slower_than_the_last_and_faster_than_memory() -> None:
    beyond = EXAMPLE.with_cache_sizes((1024, 2048, 4096, 8192)).caches[3]
    assert beyond.name == "L4"
    assert EXAMPLE.caches[2].latency_seconds < beyond.latency_seconds < EXAMPLE.memory_latency_seconds
    slowest, fastest = EXAMPLE.memory_bandwidth_bytes_per_second, EXAMPLE.caches[2].bandwidth_bytes_per_second
    assert slowest < beyond.bandwidth_bytes_per_second < fastest


# --- detection --------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_found_agrees_with_the_system(here: Machine) -> None:
    assert here.cores == here.threads == usable_processors()
    flags = set(Path("/proc/cpuinfo").read_text().split())
    assert set(here.isa) <= flags
    assert here.vector_bytes == (64 if "avx512f" in flags else 32 if "avx2" in flags else 16)
    assert here.memory_bytes <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert [cache.name for cache in here.caches] == [f"L{i + 1}" for i in range(len(here.caches))]


def test_speeds_have_an_order(here: Machine) -> None:
    latencies = [*(cache.latency_seconds for cache in here.caches), here.memory_latency_seconds]
    bandwidths = [*(c.bandwidth_bytes_per_second for c in here.caches), here.memory_bandwidth_bytes_per_second]
    assert latencies == sorted(latencies)
    assert bandwidths == sorted(bandwidths, reverse=True)
    assert here.peak_gflops > 0.1


def test_a_second_detection_agrees_without_measuring(here: Machine, profiles: Path, measured: list[float]) -> None:
    assert Machine.detect(profile_directory=profiles) == here
    assert measured == []


def test_given_sizes_change_the_sizes_alone(here: Machine, profiles: Path, measured: list[float]) -> None:
    changed = Machine.detect("32K,1M,36608K", threads=1, profile_directory=profiles)
    assert changed.to_json()["cache_bytes"] == [32 << 10, 1 << 20, 36608 << 10]
    assert changed.threads == 1
    assert changed.cpu_id == here.cpu_id
    assert changed.peak_gflops == here.peak_gflops
    assert changed.caches[0].latency_seconds == here.caches[0].latency_seconds
    assert measured == []


@pytest.mark.parametrize("threads", [0, -1, 10_000])
def test_threads_that_are_not_there(threads: int, profiles: Path) -> None:
    with pytest.raises(MachineError, match=f"{threads} threads") as caught:
        Machine.detect(threads=threads, profile_directory=profiles)
    assert "--threads" in (caught.value.remedy or "")


@pytest.mark.parametrize(
    "damage",
    [
        "",
        "not TOML",
        'cpu_id = "another-1-2-3"\nlatencies = [1e-9]\nbandwidths = [1e9]\npeak_gflops = 1.0\n',
        "bytes",
        "nan",
        "level",
        "other",
        "earlier probes",
    ],
)
def test_a_damaged_or_foreign_profile_is_measured_again(
    here: Machine, profiles: Path, tmp_path: Path, measured: list[float], damage: str
) -> None:
    sound = tomllib.loads((profiles / f"{here.cpu_id}.toml").read_text())
    path = tmp_path / f"{here.cpu_id}.toml"
    changes = {
        "nan": {"peak_gflops": math.nan},
        "level": {"latencies": sound["latencies"][:-1]},
        "other": {"cpu_id": "GenuineIntel-6-85-7-32K"},
        "earlier probes": {"version": 1},
    }
    if damage == "bytes":
        path.write_bytes(b"\xff\xfe\x00")
    elif damage in changes:
        path.write_text(tomli_w.dumps(sound | changes[damage]))
    else:
        path.write_text(damage)
    assert Machine.detect(profile_directory=tmp_path).peak_gflops == 42.0
    assert Machine.detect(profile_directory=tmp_path).peak_gflops == 42.0
    assert len(measured) == 1


def test_a_profile_that_can_not_be_kept_is_no_error(tmp_path: Path, measured: list[float]) -> None:
    (tmp_path / "file").write_text("in the way")
    assert Machine.detect(profile_directory=tmp_path / "file" / "machines").peak_gflops == 42.0
    assert len(measured) == 1


@pytest.mark.slow
def test_processes_that_detect_at_once_leave_one_whole_profile(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from polydl.machine import Machine\n"
        "print(Machine.detect(profile_directory=Path(sys.argv[1])).peak_gflops)\n"
    )
    children = [
        subprocess.Popen([sys.executable, "-P", "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    peaks = [float(child.communicate(timeout=60)[0]) for child in children]
    assert [child.returncode for child in children] == [0, 0]
    [profile] = tmp_path.glob("*.toml")
    # The second one waits for the first one's, rather than measure beside it.
    assert peaks == [tomllib.loads(profile.read_text())["peak_gflops"]] * 2


def test_speeds_are_measured_alone_and_those_of_another_process_are_taken(
    here: Machine, profiles: Path, tmp_path: Path, measured: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    entered = []

    @contextmanager
    def waits(*path: Path) -> Iterator[None]:
        """Meanwhile another process has kept its own."""
        entered.append([each.name for each in path])
        if path:
            shutil.copy(profiles / f"{here.cpu_id}.toml", tmp_path)
        yield

    monkeypatch.setattr(speeds, "alone", waits)
    monkeypatch.setattr(speeds, "locked", waits)
    assert Machine.detect(profile_directory=tmp_path) == here
    # Who waits for the lock must not keep from its turn whoever holds it.
    assert (entered, measured) == ([[], [f"{here.cpu_id}.lock"]], [])


# --- files ------------------------------------------------------------------------------


def test_a_saved_machine_is_loaded_again(tmp_path: Path) -> None:
    EXAMPLE.save(tmp_path / "machine.toml")
    assert Machine.load(tmp_path / "machine.toml") == EXAMPLE
    assert [path.name for path in tmp_path.iterdir()] == ["machine.toml"]


def test_a_machine_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="can't write") as caught:
        EXAMPLE.save(tmp_path / "absent" / "machine.toml")
    assert caught.value.file == str(tmp_path / "absent" / "machine.toml")
    (tmp_path / "directory").mkdir()
    with pytest.raises(MachineError, match="can't write"):
        EXAMPLE.save(tmp_path / "directory")
    assert [path.name for path in tmp_path.iterdir()] == ["directory"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cores": None}, "cores is missing"),
        ({"cores": "four"}, "cores = 'four' is not of type int"),
        ({"peak_gflops": True}, "peak_gflops = True is not of type float"),
        ({"isa": "avx2"}, "isa is a list of names"),
        ({"caches": []}, "0 cache sizes"),
        ({"caches": 3}, "not a machine description"),
        ({"caches": [{"name": "L1"}]}, "bytes is missing"),
        ({"threads": 5}, "5 threads on 4 cores"),
        ({"memory_latency_seconds": -1.0}, "positive"),
        ({"peak_gflops": math.inf}, "finite"),
        ({"memory_bytes": 0}, "at least 1"),
        ({"total_bandwidths": [0.0, 0.0, 0.0, 0.0]}, "positive"),
        ({"total_bandwidths": [1e9, 1e9]}, "of each cache and of memory"),
        ({"total_peak_gflops": -1.0}, "positive"),
        ({"colour": "blue"}, "colour is not known"),
        ({"throughputs": [{"rows": [1], "columns": [1], "cells": [[1, 1, 1]]}]}, "microkernel is missing"),
    ],
)
def test_a_wrong_description_is_told_with_its_file(tmp_path: Path, change: dict[str, object], message: str) -> None:
    table = json.loads(json.dumps(dataclasses.asdict(EXAMPLE))) | change
    path = tmp_path / "machine.toml"
    path.write_text(tomli_w.dumps({key: value for key, value in table.items() if value is not None}))
    with pytest.raises(MachineError, match=message) as caught:
        Machine.load(path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize("content", [b"cores = ", b"\xff\xfe"])
def test_a_file_that_is_no_description(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "machine.toml"
    path.write_bytes(content)
    with pytest.raises(MachineError, match="not a machine description"):
        Machine.load(path)
    with pytest.raises(MachineError, match="No such file"):
        Machine.load(tmp_path / "absent.toml")


def test_a_person_may_write_whole_numbers(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(tomli_w.dumps(dataclasses.asdict(EXAMPLE) | {"peak_gflops": 100}))
    assert Machine.load(path).peak_gflops == 100


def test_a_cache_of_no_lines_is_no_cache() -> None:
    with pytest.raises(MachineError, match="line_bytes"):
        dataclasses.replace(EXAMPLE, caches=(dataclasses.replace(EXAMPLE.caches[0], line_bytes=0),))


# --- what the system says ---------------------------------------------------------------


def test_caches_are_read_from_sysfs(tmp_path: Path) -> None:
    described = [
        ("0", "1", "Data", "32K", "0-1"),
        ("1", "1", "Instruction", "64K", "0-1"),
        ("2", "2", "Unified", "1024K", "0-1"),
        ("3", "3", "Unified", "36608K", "0-3,8,10-11"),
        ("4", "4", "Unified", "", "0"),
    ]
    for index, level, kind, size, shared in described:
        directory = tmp_path / f"index{index}"
        directory.mkdir()
        told = {"level": level, "type": kind, "size": size, "shared_cpu_list": shared}
        if level != "3":
            told["ways_of_associativity"] = "8"
        for name, value in told.items():
            (directory / name).write_text(value + "\n")
        (directory / "coherency_line_size").write_text("64\n")
    found = system._sysfs_caches(tmp_path, range(12))
    assert [(c.bytes, c.line_bytes, c.shared_by, c.ways) for c in found] == [
        (32 << 10, 64, 2, 8),
        (1 << 20, 64, 2, 8),
        (36608 << 10, 64, 7, 0),
    ]
    # Of those that share a cache, some may be others' processors.
    assert [cache.shared_by for cache in system._sysfs_caches(tmp_path, (0, 2, 3, 9))] == [1, 1, 3]


def test_sets_of_caches_are_told_by_the_system_and_are_not_those_of_given_sizes() -> None:
    caches = (system.Cache(48 << 10, 64, 1, 12), system.Cache(2 << 20, 64, 1, 16), system.Cache(32 << 20, 64, 8, 16))
    identity = Identity("A processor", "Example-1-2-3", ("avx2",), tuple(each.bytes for each in caches), 8)
    told = system.System(identity, caches, 1 << 34, 32, 4096)
    assert told.core.same_set_bytes == (4096, 131072)
    assert told.core.source("same_set_bytes") == "detected"
    assert system.System.of_profile(identity, told.surroundings) == told
    # Where one cache keeps silent, the usual values stay.
    partly = dataclasses.replace(told, caches=(caches[0], system.Cache(2 << 20, 64, 1), caches[2]))
    assert partly.core.source("same_set_bytes") == "generic"
    machine = dataclasses.replace(EXAMPLE, constants=told.constants)
    assert machine.core.same_set_bytes == (4096, 131072)
    assert machine.with_cache_sizes((32 << 10, 1 << 20)).core.source("same_set_bytes") == "generic"
    given = dataclasses.replace(EXAMPLE, constants=(CoreConstant("same_set_bytes", (2048, 4096)),))
    assert given.with_cache_sizes((32 << 10, 1 << 20)).core.same_set_bytes == (2048, 4096)


def test_no_sysfs_means_no_caches(tmp_path: Path) -> None:
    assert system._sysfs_caches(tmp_path / "absent", [0]) == ()


def test_lscpu_finds_what_sysfs_finds() -> None:
    found = system._lscpu_caches()
    if not found:
        pytest.skip("no lscpu that describes caches")
    assert [cache.bytes for cache in found] == [cache.bytes for cache in system.find().caches]


@pytest.mark.parametrize("text", ["", "no JSON", "{}", '{"caches": [{"type": "Data"}]}', '{"caches": 1}'])
def test_an_lscpu_that_says_nothing_finds_nothing(text: str) -> None:
    assert system._lscpu_answer(text) == ()


def test_a_level_no_larger_than_the_one_before_is_left_out() -> None:
    levels = [
        (3, system.Cache(1 << 20, 64, 4)),
        (1, system.Cache(32 << 10, 64, 1)),
        (2, system.Cache(1 << 20, 64, 1)),
    ]
    assert [cache.shared_by for cache in system._growing(levels)] == [1, 1]


def test_processors_of_both_kinds_are_identified() -> None:
    intel = system._cpuinfo(
        "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\nmodel name : Xeon\nstepping : 7\n"
        "flags : fpu avx avx2 fma avx512f avx512_vnni rtm\n\nprocessor : 1\nmodel name : another\n"
    )
    assert (intel.name, intel.identity) == ("Xeon", "GenuineIntel-6-85-7")
    assert intel.isa == ("avx", "avx2", "avx512_vnni", "avx512f", "fma")
    arm = system._cpuinfo(
        "Features : fp asimd sve\nCPU implementer : 0x41\nCPU architecture: 8\nCPU part : 0xd40\nCPU revision : 1\n"
    )
    assert (arm.identity, arm.isa) == ("0x41-8-0xd40-1", ("asimd", "sve"))
    nothing = system._cpuinfo("")
    assert (nothing.name, nothing.isa) == ("unknown", ())


def test_json_says_what_reports_need() -> None:
    assert EXAMPLE.to_json() == {
        "name": "An example",
        "cores": 4,
        "threads": 2,
        "cache_bytes": [32 << 10, 1 << 20, 36608 << 10],
        "peak_gflops": 76.8,
    }
