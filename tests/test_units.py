"""Several kernels of a nest in one file: no name that polydl defines is there twice."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from computed import parse
from golden_code import generated, parsed
from marks import parametrized
from test_golden import FILES, GOLDEN, case_of, named

from polydl.codegen import kept_memory, processor, team
from polydl.codegen.original import harness
from polydl.codegen.unit_names import unit_names
from polydl.execute.toolchain import Toolchain
from polydl.fuzzing.unit import global_symbol, invoke_symbol, suffix, together
from polydl.ir.interface import Interface
from polydl.ir.kernel import KernelSource

# Sources that define something themselves, which is in every text.
DEFINE = ("annotated", "helper_functions", "matmul_bfloat16", "matmul_int8", "quantized")
# Sites of each kind of microkernel, transforms, prepared constants, kept memory and threads.
FIRST = (
    "conv_relu/c-winograd-first-after-prepared",
    "conv_1x1/c-amx-ahead",
    "conv_plain/libxsmm-unfold-coalesce",
    "bytes/c-amx",
    "bnorm_train/loops-fuse-stream",
)
NAMES = list(map(named, FILES))
CASES = [*FIRST, *(name for name in NAMES if name not in FIRST and not name.startswith(DEFINE))]


@pytest.mark.native
@parametrized("name", CASES, quick=len(FIRST))
def test_kernels_stand_in_one_file(name: str, tmp_path: Path) -> None:
    case = case_of(GOLDEN / f"{name}.json")
    function = parsed(case).function.name
    kernels = [(number, generated(case, f"{function}{suffix(number)}", suffix(number))) for number in (0, 12)]
    unit = together(kernels, function, "unit")
    compiled(unit.c, unit.compile_flags, tmp_path)


def compiled(text: str, flags: tuple[str, ...], folder: Path) -> None:
    (folder / "unit.c").write_text(text, encoding="utf-8")
    command = [str(Toolchain.find("gcc").path), "-fsyntax-only", "-fopenmp", *flags, "unit.c"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_cases_are_golden_ones() -> None:
    assert set(FIRST) <= set(NAMES)
    assert all(any(name.startswith(start) for name in NAMES) for start in DEFINE)


def test_every_kernel_has_names_and_symbols_of_its_own() -> None:
    kernel = KernelSource("id", "nest_v000", "C", Interface("nest_v000"), "H", ("-Ia",))
    unit = together([(0, kernel), (3, replace(kernel, compile_flags=("-Ib",)))], "nest", "unit")
    lines = unit.c.split("\n")
    for number in (0, 3):
        assert f"#define polydl_tuned_nest polydl_tuned_nest{suffix(number)}" in lines
        assert f"#define polydl_invoke {invoke_symbol(number)}" in lines
        assert f"#define polydl_global {global_symbol(number)}" in lines
    assert [line for line in lines if not line.startswith("#")] == ["C", "H"] * 2
    assert lines.count("#define polydl_fits() 1") == 1
    assert lines.count("#undef polydl_tuned_nest") == 2
    assert unit.compile_flags == ("-Ia", "-Ib")
    assert len({len(suffix(number)) for number in (0, 9, 10, 999)}) == 1


def test_a_kernel_for_a_unit_asks_nothing_of_the_processor() -> None:
    case = case_of(GOLDEN / f"{FIRST[0]}.json")
    kernel, ordinary = generated(case, suffix=suffix(0)), generated(case)
    assert processor.definitions() in ordinary.c
    assert processor.definitions() not in kernel.c
    assert "polydl_fits()" in kernel.c
    assert (kernel.id, kernel.function) == (ordinary.id, ordinary.function)


def test_the_names_are_those_of_what_is_the_same_in_all_files() -> None:
    names = unit_names("nest")
    assert len(names) == len(set(names))
    for text in (team.support(), kept_memory.support()):
        words = {word for line in text.split("\n") for word in words_of(line)}
        assert words
        assert words <= set(names)


def words_of(line: str) -> list[str]:
    words = "".join(letter if letter.isalnum() or letter == "_" else " " for letter in line).split()
    return [word for word in words if word.startswith("polydl_")]


def test_another_shape_of_a_global_array_is_no_array_of_its_own(tmp_path: Path) -> None:
    source = "float t[6][8];\nvoid f(void) {\n  for (int i = 0; i < 6; i++)\n    t[i][1] = t[i][0];\n}\n"
    scop = parse(tmp_path, source)
    flat = replace(scop.array("t"), name="t_flat", extents=(48,), view_of="t")
    assert harness(replace(scop, arrays=(flat, *scop.arrays)), "f") == harness(scop, "f")
