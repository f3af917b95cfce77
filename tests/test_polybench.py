"""All programs of PolyBench/C 4.2.1 are accepted, and what becomes of them computes what they do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from marks import parametrized

import polydl
from polydl.bench.polybench import FOLDER, names, program
from polydl.machine import Machine

pytestmark = pytest.mark.usefixtures("second_level")

ROOT = Path(__file__).parents[1]
PROGRAMS = (
    "correlation", "covariance", "2mm", "3mm", "atax", "bicg", "doitgen", "mvt", "gemm", "gemver", "gesummv", "symm",
    "syr2k", "syrk", "trmm", "cholesky", "durbin", "gramschmidt", "lu", "ludcmp", "trisolv", "deriche",
    "floyd_warshall", "nussinov", "adi", "fdtd_2d", "heat_3d", "jacobi_1d", "jacobi_2d", "seidel_2d",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(pytestconfig: pytest.Config) -> Path:
    if not (ROOT / FOLDER).is_dir():
        unreachable = pytestconfig.getoption("--without-polybench")
        why = "could not be fetched" if unreachable else "is not there, which `make polybench` fetches"
        pytest.skip(f"PolyBench {why}")
    return ROOT / FOLDER


def test_all_programs_are_named(folder: Path) -> None:
    assert names(folder) == tuple(f"polybench_{name}" for name in PROGRAMS)


@pytest.mark.native
@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_accepted_and_its_candidates_are_right(name: str, folder: Path) -> None:
    wanted = program(f"polybench_{name}", folder, "SMALL")
    result = polydl.optimize(
        wanted.path,
        function=wanted.function,
        defines=wanted.defines,
        include_directories=wanted.include_directories,
        init=wanted.init,
        machine=Machine.detect(threads=1),
        max_variants=8,
        top_k=1,
        records=False,
    )
    measured = [each.measurement for each in result.tried]
    assert measured
    assert {each.status for each in measured} == {"ok"}, [each.message for each in measured]


@parametrized(
    ("options", "ending"),
    [
        ((), "1 skipped"),
        (("--complete",), "1 error"),
        (("--complete", "--without-polybench"), "1 skipped"),
    ],
    ids=" ".join,
    quick=1,
)
def test_only_where_it_could_not_be_fetched_it_may_lack_in_a_complete_run(
    options: tuple[str, ...], ending: str, tmp_path: Path
) -> None:
    """This file at a root that has no PolyBench."""
    (tmp_path / "tests").mkdir()
    copied = shutil.copy(__file__, tmp_path / "tests")
    pytest_ = Path(sys.executable).with_name("pytest")
    command = [str(pytest_), "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
    plugins = ["-p", "conftest", "-p", "no:cacheprovider", "-p", "no:xdist"]
    ended = subprocess.run(
        [*command, *plugins, *options, f"{copied}::test_all_programs_are_named"],
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'tests'}:{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"{ending} in" in ended.stdout.splitlines()[-1], ended.stdout + ended.stderr
    assert "PolyBench" in ended.stdout
