"""How much of its last cache a program gets, which others share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polydl.errors import MachineError
from polydl.machine import Machine, profile, speeds
from polydl.machine.system import find

MB = 1 << 20
CACHES = (32 << 10, MB, 32 * MB)
LATENCIES = (1e-9, 4e-9, 16e-9, 140e-9)


class Probe:
    """A machine whose last cache holds so many bytes of a program's."""

    def __init__(self, held: int) -> None:
        self.held = held
        self.walked: list[int] = []

    def latency(self, size: int, **_options: int) -> float:
        self.walked.append(size)
        share = min(1.0, self.held / size)
        return share * LATENCIES[-2] + (1.0 - share) * LATENCIES[-1]


def usable(held: int, sizes: tuple[int, ...] = CACHES, beyond: int = 1 << 30) -> tuple[int, Probe]:
    probe = Probe(held)
    return speeds.usable_bytes(probe, sizes, LATENCIES, beyond), probe  # type: ignore[arg-type]


@pytest.mark.parametrize("held", [8 * MB, 12 * MB, 20 * MB])
def test_a_walk_through_more_than_there_is_room_for_tells_how_much_that_is(held: int) -> None:
    found, probe = usable(held)
    # A walk that finds three quarters of its lines is nearer to the cache's latency.
    assert held <= found <= 4 * held / 3
    assert len(probe.walked) <= 4


def test_a_cache_of_ones_own_is_whole() -> None:
    assert usable(64 * MB)[0] == 32 * MB


def test_it_is_at_least_what_the_latency_was_measured_with() -> None:
    assert usable(MB)[0] == 6 * MB


def test_a_single_cache_is_taken_to_be_whole() -> None:
    found, probe = usable(MB, (32 * MB,))
    assert (found, probe.walked) == (32 * MB, [])


def test_a_cache_that_holds_what_memory_was_measured_with_is_taken_to_be_whole() -> None:
    found, probe = usable(MB, (32 << 10, MB, 480 * MB), beyond=256 * MB)
    assert (found, probe.walked) == (480 * MB, [])


def test_no_walk_takes_long() -> None:
    found, probe = usable(1 << 40, (32 << 10, MB, 480 * MB))
    assert found == 480 * MB
    assert max(probe.walked) <= 128 * MB


def test_a_machine_has_what_was_measured_unless_sizes_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = find().caches[-1].bytes

    def measured(_probe: object, sizes: tuple[int, ...], _memory: int) -> speeds.Speeds:
        return speeds.Speeds((1e-9,) * (len(sizes) + 1), (1e10,) * (len(sizes) + 1), 42.0, whole // 2)

    monkeypatch.setattr(speeds, "measure", measured)
    machine = Machine.detect(profile_directory=tmp_path)
    assert machine.caches[-1].bytes == machine.core.last_cache_bytes == whole // 2
    assert Machine.detect(profile_directory=tmp_path) == machine, "it is kept"
    path = tmp_path / f"{machine.cpu_id}.toml"
    kept = path.read_text(encoding="utf-8")
    for damaged in ("inf", "1", str(2 * whole)):
        path.write_text(kept.replace(f"usable_bytes = {whole // 2}", f"usable_bytes = {damaged}"), encoding="utf-8")
        assert Machine.detect(profile_directory=tmp_path) == machine, "it is measured anew"
    assert Machine.detect("32K,1M,64M", profile_directory=tmp_path).core.last_cache_bytes == 64 * MB


@pytest.mark.parametrize(
    ("held", "valid"), [(0, True), (3 * MB, True), (2 * MB, False), (-1, False), (1 << 50, False), (3e6, False)]
)
def test_a_calibration_says_no_more_than_the_cache_has(held: Any, valid: bool, tmp_path: Path) -> None:
    stored = profile.read(Path(__file__).parent / "data" / "calibration.toml")
    profile.write(replace(stored, usable_bytes=held), tmp_path / "calibration.toml")
    if valid:
        whole = stored.identity.cache_bytes[-1]
        assert speeds.calibrated_speeds(profile.read(tmp_path / "calibration.toml")).usable_bytes == (held or whole)
    else:
        with pytest.raises(MachineError, match="usable_bytes"):
            profile.read(tmp_path / "calibration.toml")
