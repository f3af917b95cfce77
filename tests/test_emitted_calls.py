"""Emitted code as programs call it: twice, from four threads at once, on unaligned arrays beside guard pages."""

from __future__ import annotations

import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

import pytest
from computed import parse
from golden_code import Case, generated, parsed
from guarded_calls import Libraries, wrong_calls
from marks import parametrized
from test_golden import FILES, GOLDEN, named

from polydl.codegen.original import original
from polydl.execute.build import build
from polydl.execute.tolerance import tolerance
from polydl.execute.toolchain import Toolchain
from polydl.ir.kernel import KernelSource
from polydl.ir.scop import Scop

pytestmark = pytest.mark.native

# Processes that have nothing loaded but NumPy and what calls kernels.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["guarded_calls"])

# Panels, Winograd's algorithm, a gathered image and sizes that no block divides.
FIRST = [
    GOLDEN / "conv_1x1" / "c-panels-prepared.json",
    GOLDEN / "conv_relu" / "c-winograd-first-after-prepared.json",
    GOLDEN / "conv_same" / "c-pad-unfold-coalesce-first.json",
    GOLDEN / "matmul_tails" / "c-inner.json",
]


def problems(scop: Scop, kernel: KernelSource, directory: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """In a process of its own, which may crash."""
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    toolchain = Toolchain.find("gcc")
    (built,) = build([replace(kernel, id="kernel")], toolchain, directory)
    (plain,) = build([original(scop)], toolchain.in_order, directory)
    assert built.library is not None, built.message
    assert plain.library is not None, plain.message
    libraries = Libraries(built.library, plain.library)
    with ProcessPoolExecutor(1, FORKS) as pool:
        return pool.submit(wrong_calls, scop, libraries, tolerance(scop)).result()


@parametrized("file", [*FIRST, *(file for file in FILES if file not in FIRST)], ids=named, quick=len(FIRST))
def test_golden_variants(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case.from_json(file.with_name("nest.c"), json.loads(file.read_text(encoding="utf-8")))
    assert problems(parsed(case), generated(case), tmp_path, monkeypatch) == []


SUM = """\
void sums(float c[50], const float a[50][30])
{
#pragma scop
  for (int i = 0; i < 50; i++)
    for (int k = 0; k < 30; k++)
      c[i] += a[i][k];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("head", "term"),
    [
        ("", "a[i][k] + 0 * a[50][0]"),
        ("", "a[i][k] + 0 * a[-1][29]"),
        ("static float kept[50][30]; if (!kept[0][0]) __builtin_memcpy(kept, a, sizeof kept);", "kept[i][k]"),
    ],
    ids=["reads behind the end", "reads before the beginning", "keeps an operand"],
)
def test_code_that_is_not_fit_for_it_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: str, term: str
) -> None:
    scop = parse(tmp_path, SUM)
    text = SUM.replace("#pragma scop", head).replace("#pragma endscop", "").replace("a[i][k];", f"{term};")
    kernel = replace(original(scop), c=text.replace("const float a", "const volatile float a"))
    try:
        found = problems(scop, kernel, tmp_path, monkeypatch)
    except BrokenProcessPool:
        found = ["it crashed"]
    assert found != []
