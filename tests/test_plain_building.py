"""The builds of the plain nest that are compiled while variants are analysed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from execute_nests import matmul_kernel

from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.optimization import plain_building
from polydl.outcome.baselines import PlainBuild
from polydl.records.resume import Known


def builds(toolchain: Toolchain) -> list[PlainBuild]:
    return [PlainBuild(name, matmul_kernel(name), toolchain) for name in ("original", "plain")]


class Measured:
    """A book that has records of builds."""

    def __init__(self, *ids: str) -> None:
        self._ids = ids

    def known(self, kernels: Iterable[KernelSource]) -> Known:
        record: Any = SimpleNamespace()
        return Known({each.id: record for each in kernels if each.id in self._ids})


@pytest.mark.native
def test_builds_are_there_once_they_are_waited_for() -> None:
    asked = builds(Toolchain.find("gcc"))
    with plain_building.plain_building(asked, None) as plain:
        assert plain.builds == tuple(asked)
        built = plain.wait()
        assert list(built) == ["original", "plain"]
        libraries = [Path(str(each.library)) for each in built.values()]
        assert all(each.is_file() for each in libraries)
    assert not any(each.exists() for each in libraries)


@pytest.mark.native
def test_what_was_measured_is_not_compiled() -> None:
    book: Any = Measured("plain")
    with plain_building.plain_building(builds(Toolchain.find("gcc")), book) as plain:
        assert len(plain.builds) == 2
        assert plain.ids == {"original"}
        assert list(plain.wait()) == ["original"]


def test_where_all_was_measured_nothing_is_compiled() -> None:
    book: Any = Measured("original", "plain")
    with plain_building.plain_building(builds(Toolchain(Path("/usr/bin/gcc"), "gcc", "12.2.0", ())), book) as plain:
        assert len(plain.builds) == 2
        assert plain.building is None


def test_machines_elsewhere_compile_for_themselves() -> None:
    plain = plain_building.PlainBuilding(tuple(builds(Toolchain(Path("/usr/bin/gcc"), "gcc", "12.2.0", ()))))
    assert plain.wait() == {}
