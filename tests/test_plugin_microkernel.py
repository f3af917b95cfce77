"""The example of docs/guide/adding-a-microkernel.md, taken from the page, installed as a plug-in and checked."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from documents import install, write_files

from polydl import registry
from polydl.calibration.fit import fitted
from polydl.calibration.programs import grid_sites
from polydl.calibration.tables import timed
from polydl.contracts import CallArguments, GemmSite, Microkernel
from polydl.execute.toolchain import Toolchain
from polydl.fuzzing.generator import generated
from polydl.model.calibrated import calibrated

PAGE = "docs/guide/adding-a-microkernel.md"
MATMUL = """\
void matmul(float C[40][48], float A[40][33], float B[33][48]) {
#pragma scop
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 48; ++j)
      for (int k = 0; k < 33; ++k)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""
SITE = GemmSite(
    prefix="site", element="float", accumulator="float", m=(32, 16), n=(7, 3), k=(12, 5), batch=(3, 2), lda=40, ldc=36,
    stride_bn=2, stride_bk=20, offsets_a=(0, 512, 1024), offsets_b=(0, 9, 300),
)  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("plugin")
    write_files(PAGE, directory)
    with (directory / "pyproject.toml").open("a") as settings:
        settings.write('[project.entry-points."polydl.rankers"]\nleast-memory = "least_memory:LEAST_MEMORY"\n')
    install(directory)
    return directory


@pytest.fixture
def installed(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(project)
    yield project
    for name in ("polydl_outer_product", "least_memory"):
        sys.modules.pop(name, None)


def test_the_registry_finds_it_after_the_built_in_ones(installed: Path) -> None:
    names = registry.names("microkernels")
    assert names[:2] == ("libxsmm", "c")
    assert "outer-product" in names
    assert registry.load("microkernels", "outer-product").name == "outer-product"


def test_it_has_every_member_of_the_contract(installed: Path) -> None:
    kernel = registry.load("microkernels", "outer-product")
    assert [name for name in vars(Microkernel) if not name.startswith("_") and not hasattr(kernel, name)] == []
    ranker = registry.load("rankers", "least-memory")
    assert ranker.rank((), None).ranker == "least-memory"


def test_random_nests_are_tried_with_it(installed: Path) -> None:
    cases = [generated(1, number)[1] for number in range(300)]
    drawn = {case.conditions.microkernel for case in cases}
    assert {"outer-product", "c", "auto", "none"} <= drawn
    names = registry.names("microkernels")
    assert all(registry.load("microkernels", name).unavailable() is None for name in drawn if name in names)


@pytest.mark.native
def test_it_equals_its_reference(installed: Path, tmp_path: Path) -> None:
    kernel: Microkernel = registry.load("microkernels", "outer-product")
    emitted = kernel.emit(SITE, 64)
    parameters = "const float *a, const float *b, float *c, int last_m, int last_n, int last_k, long count"
    lengths = [
        f"const long {role} = last_{role} ? {ends[1]} : {ends[0]};"
        for role, ends in (("m", SITE.m), ("n", SITE.n), ("k", SITE.k))
    ]
    sizes = [f"const long {name} = {getattr(SITE, name)};" for name in ("lda", "ldc", "stride_bn", "stride_bk")]
    offsets = [
        f"static const long {operand}_offsets[] = {{{', '.join(map(str, values))}}};"
        for operand, values in (("a", SITE.offsets_a), ("b", SITE.offsets_b))
    ]
    call = kernel.call(SITE, CallArguments("a", "b", "c", "last_m", "last_n", "last_k", "count"))
    source, library = tmp_path / "site.c", tmp_path / "site.so"
    source.write_text(
        "\n".join(
            [
                *(f"#include <{name}>" for name in emitted.includes),
                emitted.definitions,
                *offsets,
                f"void run({parameters}) {{ {call} }}",
                f"void reference({parameters}) {{ {' '.join(lengths + sizes)}\n{kernel.reference}}}",
            ]
        )
    )
    flags = ["-O2", "-fopenmp", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    done = subprocess.run(["gcc", *flags, str(source), "-o", str(library)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = ctypes.CDLL(str(library))
    generator = np.random.default_rng(0)
    a, b, c = (generator.uniform(-1, 1, 4096).astype(np.float32) for _ in range(3))
    for (last_m, last_n, last_k), _ in SITE.shapes():
        for count in SITE.batch:
            results = []
            for function in (loaded.reference, loaded.run):
                out = c.copy()
                pointers = [ctypes.c_void_p(array.ctypes.data) for array in (a, b, out)]
                tail = (ctypes.c_int(last_m), ctypes.c_int(last_n), ctypes.c_int(last_k), ctypes.c_long(count))
                function(*pointers, *tail)
                results.append(out)
            assert not np.array_equal(results[0], c)
            np.testing.assert_allclose(results[1], results[0], atol=1e-5)


@pytest.mark.native
def test_it_gets_a_table_of_its_own(installed: Path) -> None:
    kernel: Microkernel = registry.load("microkernels", "outer-product")
    # The same two columns for two pairs of rows.
    sites = [replace(site, k=(12, 4)) for site in grid_sites(kernel, "float", 16) if site.n == (4, 3)][:2]
    found = timed(kernel, sites, 64, Toolchain.find())
    table = fitted(kernel, "float", 16, found, {}, {})
    assert table is not None
    assert (table.microkernel, table.rows, table.columns) == ("outer-product", (1, 8, 16, 32), (3, 4))
    assert calibrated(kernel, [table]).predicted_cycles(next(iter(found)), 16) > 0


@pytest.mark.slow
@pytest.mark.native
def test_it_carries_a_whole_job(project: Path, winning_command: Path, tmp_path: Path) -> None:
    source = tmp_path / "matmul.c"
    source.write_text(MATMUL)
    command = [
        str(winning_command),
        *("optimize", str(source), "--microkernel", "outer-product", "--ranker", "least-memory"),
        *("--threads", "1", "--top-k", "2", "--max-variants", "20", "--out", str(tmp_path / "out"), "--json", "-"),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(project)})
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert [each["status"] for each in document["candidates"]] == ["ok", "ok"]
    assert document["best"]["microkernel"]["name"] == "outer-product"
    assert "polydl_gemm0_run" in Path(document["files"]["c"]).read_text()


def test_a_site_of_its_own_has_names_of_its_own(installed: Path) -> None:
    kernel: Microkernel = registry.load("microkernels", "outer-product")
    definitions = kernel.emit(replace(SITE, prefix="other"), 64).definitions
    assert "SITE" not in definitions
    assert "other_run" in definitions
