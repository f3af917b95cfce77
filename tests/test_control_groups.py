"""What control groups leave of the machine, read from folders like those of the system."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from polydl.execute.resources import available_bytes
from polydl.machine import Machine
from polydl.machine.system import find
from polydl.system import control_groups
from polydl.system.control_groups import memory_limits, processors, usable_processors

Groups = Callable[[str, Mapping[str, str]], None]


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Groups:
    """Writes what the system says of the groups of this process, which may run on 64 processors, and their files."""

    def written(membership: str, files: Mapping[str, str]) -> None:
        (tmp_path / "membership").write_text(membership)
        for name, text in files.items():
            path = tmp_path / "mounted" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")

    monkeypatch.setattr(control_groups, "_MEMBERSHIP", str(tmp_path / "membership"))
    monkeypatch.setattr(control_groups, "_MOUNTED", str(tmp_path / "mounted"))
    here = min(os.sched_getaffinity(0))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(here, here + 64)))
    return written


@pytest.mark.parametrize(
    ("files", "count"),
    [
        ({}, 64),
        ({"cpu.max": "max 100000"}, 64),
        ({"cpu.max": "400000 100000"}, 4),
        # Some time of a processor needs the whole of it.
        ({"cpu.max": "250000 100000"}, 3),
        ({"cpu.max": "1000 100000"}, 1),
        ({"cpu.max": "9900000 100000"}, 64),
        ({"cpu.max": ""}, 64),
        # What is around a group limits it too.
        ({"pod/cpu.max": "200000 100000", "cpu.max": "400000 100000"}, 2),
        ({"pod/one/cpu.max": "max 100000", "pod/cpu.max": "200000 100000"}, 2),
    ],
)
def test_no_more_processors_than_a_quota_keeps_busy(groups: Groups, files: Mapping[str, str], count: int) -> None:
    groups("0::/pod/one\n", files)
    assert usable_processors() == count


@pytest.mark.parametrize(("quota", "count"), [("-1", 64), ("350000", 4)])
def test_quotas_of_the_first_version(groups: Groups, quota: str, count: int) -> None:
    files = {"cpu/docker/a/cpu.cfs_quota_us": quota, "cpu/docker/a/cpu.cfs_period_us": "100000"}
    groups("4:memory:/docker/a\n3:cpu,cpuacct:/docker/a\n", files)
    assert usable_processors() == count


def test_a_machine_has_as_many_cores_and_threads_as_the_quota_keeps_busy(groups: Groups) -> None:
    groups("0::/\n", {"cpu.max": "300000 100000"})
    machine = Machine.detect()
    assert (machine.cores, machine.threads, find().identity.cores) == (3, 3, 3)


def test_threads_have_cores_to_themselves_before_they_share_one(
    groups: Groups, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups("0::/\n", {})
    here = min(os.sched_getaffinity(0))

    def siblings(path: str) -> str:
        core = (int(path.split("/cpu")[-1].split("/")[0]) - here) // 2
        return f"{2 * core}-{2 * core + 1}"

    monkeypatch.setattr(control_groups, "read", siblings)
    assert [each - here for each in processors()] == [*range(0, 64, 2), *range(1, 64, 2)]


def test_files_of_groups_inside_of_one_are_freed_in_the_first_version(groups: Groups) -> None:
    limits = {"memory.limit_in_bytes": "5000", "memory.usage_in_bytes": "4800"}
    files = {f"memory/job/{name}": value for name, value in limits.items()}
    groups("4:memory:/job/step\n", files | {"memory/job/memory.stat": "inactive_file 100\ntotal_inactive_file 4000"})
    assert memory_limits() == ((5000, 800),)


def test_memory_is_that_of_the_smallest_group(groups: Groups) -> None:
    files = {"memory.max": "max", "memory.current": "9000", "job/memory.max": "5000", "job/memory.current": "2000"}
    files |= {"job/one/memory.max": "8000", "job/one/memory.current": "2000", "job/memory.stat": "inactive_file 500"}
    groups("0::/job/one\n", files)
    assert set(memory_limits()) == {(5000, 1500), (8000, 2000)}
    assert available_bytes() == 3500
    assert find().memory_bytes == 5000


def test_memory_of_the_first_version(groups: Groups) -> None:
    folder = "memory/docker/a"
    groups(
        "4:memory:/docker/a\n",
        {f"{folder}/memory.limit_in_bytes": "5000", f"{folder}/memory.usage_in_bytes": "6000"},
    )
    assert available_bytes() == 0
    assert find().memory_bytes == 5000


def test_without_groups_there_is_the_whole_machine(groups: Groups) -> None:
    groups("", {})
    assert memory_limits() == ()
    assert available_bytes() > 1 << 20
