"""Emitted C in projects that compile it as C99 without extensions, whose headers hide functions of later standards."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from golden_code import Case, generated
from machines import machine_with
from packed_nest import packed_case

from polydl import pipeline
from polydl.codegen.original import original
from polydl.codegen.plain_unit import plain_unit
from polydl.execute.toolchain import Toolchain
from polydl.ir.variant import Variant

pytestmark = pytest.mark.native

FILES = sorted(Path(__file__).with_name("golden").glob("*/*.json"))
FLAGS = ["-std=c99", "-mavx2", "-mfma", "-fopenmp", "-Wall", "-Werror=implicit-function-declaration"]

CALLED = """\
enum { M = 24, N = 128, K = 64 };
void packed(float C[M][N], const float A[M][K], const float B[K][N]);
static float A[M][K], B[K][N], C[M][N];
int main(void)
{
  for (int i = 0; i < M; ++i)
    A[i][1] = (float)i;
  for (int j = 0; j < N; ++j)
    B[1][j] = (float)j;
  packed(C, A, B);
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j)
      if (C[i][j] != (float)(i * j))
        return 1;
  return 0;
}
"""


@pytest.mark.parametrize("standard", ["c99", "c11", "gnu17"])
def test_what_keeps_memory_runs_in_each_standard(tmp_path: Path, standard: str) -> None:
    """A pointer that comes through a function without a declaration is an int, and ends the program."""
    (tmp_path / "packed.c").write_text(generated(packed_case(tmp_path)).c)
    (tmp_path / "main.c").write_text(CALLED)
    compiler = [str(Toolchain.find().path), f"-std={standard}", "-O1", "-march=native", "-fopenmp"]
    command = [*compiler, "-Wall", "-Werror", "-Wno-unknown-pragmas", "-o", "main", "main.c", "packed.c", "-lm"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "main"], check=False, timeout=60).returncode == 0


GNU = """\
#include <math.h>
void f(float x[64])
{
#pragma scop
  for (int i = 0; i < 64; ++i)
    x[i] = expf(x[i]) * M_PIf;
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("before", "defines"),
    [
        ("#define _GNU_SOURCE\n", {}),
        ("#define _GNU_SOURCE 1 // for M_PIf\n", {}),
        ("// #define _GNU_SOURCE 0 no\n#define _GNU_SOURCE \\\n (1)\n", {}),
        ("#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n", {"_GNU_SOURCE": "2"}),
        ("", {"_GNU_SOURCE": "1"}),
    ],
)
def test_headers_declare_what_the_source_asks_for(before: str, defines: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "nest.c").write_text(before + GNU)
    scop = pipeline.parse(tmp_path / "nest.c", defines=defines)
    applied = pipeline.apply(scop, Variant(()), machine=machine_with(1, 32))
    units = (pipeline.kernel(applied, 32), plain_unit(scop, original(scop), "", "f"))
    for kernel in units:
        (tmp_path / "emitted.c").write_text(kernel.c)
        command = [str(Toolchain.find().path), "-Wall", "-Werror", "-fopenmp", "-fsyntax-only", "emitted.c"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_c99_has_a_declaration_of_all_that_is_called(tmp_path: Path) -> None:
    folders = sorted({file.parent for file in FILES})
    assert len(folders) >= 20
    for folder in folders:
        for file in sorted(folder.glob("*.json"))[:2]:
            case = Case.from_json(file.with_name("nest.c"), json.loads(file.read_text(encoding="utf-8")))
            kernel = generated(case)
            path = tmp_path / f"{folder.name}.c"
            path.write_text(kernel.c)
            command = [str(Toolchain.find().path), *FLAGS, *kernel.compile_flags, "-fsyntax-only", str(path)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{folder.name}/{file.stem}: {done.stderr}"
