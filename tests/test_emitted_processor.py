"""Emitted code on a processor that lacks what it was compiled to use."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from golden_code import Case, generated
from machines import machine_with
from packed_nest import operands, packed_case

from polydl import pipeline
from polydl.codegen import processor
from polydl.codegen.processor import INSTRUCTION_SETS, TUNED_ALONE, used_sets
from polydl.emission.emit import processor_clause
from polydl.errors import MissingComponentError
from polydl.execute.callable import load
from polydl.execute.toolchain import Toolchain
from polydl.ir.variant import Variant
from polydl.plan.apply import apply

pytestmark = pytest.mark.native

GOLDEN = Path(__file__).with_name("golden")

# CPUID as a processor of 2004 would answer.
OLD = "#define POLYDL_CPUID(leaf, part, a, b, c, d) ((a) = (leaf) ? 0 : 1, (b) = (c) = (d) = 0)\n"
# What compilers use by themselves with these instruction sets, beside what begins with a v.
LATER = re.compile(r"\t(v\w+|shlx|shrx|sarx|rorx|mulx|andn|bextr|bls\w+|bzhi|pdep|pext|movbe|popcnt|lzcnt|adcx|adox)\b")


@pytest.fixture(scope="module")
def toolchain() -> Toolchain:
    return Toolchain.find()


def library(folder: Path, toolchain: Toolchain, text: str, *flags: str) -> Path:
    path = folder / "libpacked.so"
    (folder / "packed.c").write_text(text)
    command = [str(toolchain.path), *(flags or toolchain.flags), "-shared", "-fPIC", "packed.c", "-o", str(path), "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return path


def test_the_original_nest_runs_there(toolchain: Toolchain, tmp_path: Path) -> None:
    text = generated(packed_case(tmp_path)).c.replace("  if (polydl_reserve()) {", "  __builtin_trap();\n  if (1) {")
    loaded = ctypes.CDLL(str(library(tmp_path, toolchain, OLD + text)))
    given, expected = operands()
    loaded.packed(*(ctypes.c_void_p(given[name].ctypes.data) for name in "CAB"))
    np.testing.assert_array_equal(given["C"], expected)
    loaded.packed_missing.restype = ctypes.c_char_p
    assert loaded.packed_missing() == used_sets(toolchain.macros())[0].encode()


def test_what_is_measured_traps_there_in_place_of_the_original_nest(toolchain: Toolchain, tmp_path: Path) -> None:
    text = f"#define {TUNED_ALONE}\n{generated(packed_case(tmp_path)).c}"
    path = library(tmp_path, toolchain, text)
    given, expected = operands()
    ctypes.CDLL(str(path)).packed(*(ctypes.c_void_p(given[name].ctypes.data) for name in "CAB"))
    np.testing.assert_array_equal(given["C"], expected)
    (tmp_path / "old").mkdir()
    path = library(tmp_path / "old", toolchain, OLD + text)
    called = [sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(path)!r}).packed(None, None, None)"]
    assert subprocess.run(called, capture_output=True, check=False).returncode == -signal.SIGILL


def test_a_nest_with_conditional_directives_runs_there_in_any_case() -> None:
    assert processor.unless_alone("  a[0] = 1;").count(TUNED_ALONE) == 1
    nest = "  a[0] = 1;\n#else\n  a[0] = 2;"
    assert processor.unless_alone(nest) == nest


def test_this_processor_lacks_nothing(toolchain: Toolchain, tmp_path: Path) -> None:
    loaded = ctypes.CDLL(str(library(tmp_path, toolchain, generated(packed_case(tmp_path)).c)))
    loaded.packed_missing.restype = ctypes.c_char_p
    assert loaded.packed_missing() is None


def test_python_refuses_such_a_library(toolchain: Toolchain, tmp_path: Path) -> None:
    case = packed_case(tmp_path)
    path = library(tmp_path, toolchain, OLD + generated(case).c)
    with pytest.raises(MissingComponentError, match="which this processor lacks") as caught:
        load(path, pipeline.parse(case.nest))
    assert caught.value.remedy == "optimize again on this machine"


HELPED = """\
static inline float clamp(float x) { return x < 0 ? 0 : x > 6 ? 6 : x; }
__attribute__((noinline)) static float doubled(float x, int by) { return (2 * x + 1.5f * by) / (x + (by << by)); }
void packed(int n, float a[n])
{
#pragma scop
  for (int i = 0; i < n; ++i)
    a[i] = clamp(a[i]) + doubled(a[i], i);
#pragma endscop
}
"""


@pytest.mark.parametrize("nest", ["packed", "helped"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_what_runs_there_has_no_later_instructions(compiler: str, nest: str, tmp_path: Path) -> None:
    if shutil.which("objdump") is None:
        pytest.skip("objdump is not installed")
    case = packed_case(tmp_path)
    text = generated(case).c
    if nest == "helped":
        case.nest.write_text(HELPED)
        scop = pipeline.parse(case.nest, defines={"n": 50})
        text = pipeline.kernel(apply(scop, Variant(()), [], numerics="bounded"), 64).c
    path = library(tmp_path, Toolchain.find(compiler), text, "-O3", "-march=sapphirerapids", "-fopenmp")
    lines = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", str(path)], capture_output=True, text=True, check=True
    ).stdout
    functions = dict(re.findall(r"^[0-9a-f]+ <([\w.@]+)>:\n((?:.+\n)*)", lines, re.MULTILINE))
    tuned = "".join(body for name, body in functions.items() if name.startswith(("polydl_tuned", "polydl_gemm")))
    assert LATER.search(tuned) is not None
    for_all = [name for name in functions if name.startswith((nest, "polydl_", "clamp", "doubled", "packed"))]
    assert {"packed", "packed_missing", "packed_release"} <= set(for_all)
    for name in for_all:
        if not name.startswith(("polydl_tuned", "polydl_gemm", "polydl_setup")):
            assert (name, LATER.findall(functions[name])) == (name, [])


def test_the_macros_are_the_compilers(toolchain: Toolchain) -> None:
    wanted = ["-march=sapphirerapids", "-dM", "-E", "-x", "c", "/dev/null"]
    text = subprocess.run([str(toolchain.path), *wanted], capture_output=True, text=True, check=True).stdout
    macros = set(re.findall(r"^#define (\w+)", text, re.MULTILINE))
    later = {"FMA4", "XOP", "TBM", "AVX-IFMA", "AVX-VNNI-INT8"}
    assert set(used_sets(macros)) == {each.name for each in INSTRUCTION_SETS} - later


@pytest.mark.parametrize(
    ("file", "told"),
    [("c-amx", "c-amx needs AMX-BF16, AMX-INT8, AMX-TILE as well"), ("libxsmm-bf16-first-last-inner", "")],
)
def test_the_head_tells_what_the_function_of_missing_sets_does_not(toolchain: Toolchain, file: str, told: str) -> None:
    path = GOLDEN / "matmul_bfloat16" / f"{file}.json"
    code = generated(Case.from_json(path.with_name("nest.c"), json.loads(path.read_text())))
    text = processor_clause(machine_with(1, 64), toolchain, code, "optimize again").text
    assert told in text
    assert text.count(code.interface.missing) == (2 if told else 1)
    assert ("AMX" in text) == bool(told)


@pytest.mark.parametrize("saturates", [False, True])
def test_kernels_for_bytes_that_saturate_give_way_to_loops(
    toolchain: Toolchain, tmp_path: Path, saturates: bool
) -> None:
    file = GOLDEN / "matmul_int8" / "libxsmm-int8-inner.json"
    case = Case.from_json(file.with_name("nest.c"), json.loads(file.read_text()))
    flags = [*toolchain.flags, "-Wall", "-Wextra", "-Werror", str(Path(__file__).with_name("fake_libxsmm.c"))]
    flags += ["-DFAKE_SATURATES"] if saturates else []
    loaded = ctypes.CDLL(str(library(tmp_path, toolchain, generated(case).c, *flags)))
    sums = np.zeros((48, 2, 64), np.int32)
    scaled, scale = np.zeros((48, 2, 64), np.float32), np.ones((2, 64), np.float32)
    a, b = np.full((48, 32, 4), 255, np.uint8), np.full((2, 32, 64, 4), 127, np.int8)
    loaded.matmul_int8(*(ctypes.c_void_p(array.ctypes.data) for array in (sums, scaled, a, b, scale)))
    assert (sums == 128 * 127 * 255).all()
    assert (ctypes.c_int.in_dll(loaded, "fake_calls").value > 1) == (not saturates)
