"""Calls of expf and the like in loops that run with vectors: libmvec where it is there, scalar calls where it isn't."""

from __future__ import annotations

import dataclasses
import platform
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from polydl import pipeline
from polydl.codegen.original import original
from polydl.execute.callable import load
from polydl.execute.contract import TimingPolicy
from polydl.execute.local import EXECUTOR
from polydl.execute.toolchain import Toolchain, found_compilers
from polydl.ir.kernel import KernelSource
from polydl.ir.numerics import DEFAULT_NUMERICS, Numerics
from polydl.ir.scop import PureFunction, Scop
from polydl.machine import Machine
from polydl.optimization.plain_builds import plain_builds
from polydl.vector_functions import SCALAR_MATH, is_instruction, leaves, prototypes, scalar_only

SOURCE = """
#include <math.h>
void f(float y[9][70], const float x[9][70], double z[33]) {
#pragma scop
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 70; j++)
      y[i][j] = x[i][j] / (1 + expf(-x[i][j])) + tanhf(x[i][j]) * erff(x[i][j]);
  for (int i = 0; i < 33; i++)
    z[i] = pow(2 + sin(z[i]), z[i]);
#pragma endscop
}
"""
HAS_LIBMVEC = platform.machine() == "x86_64" and platform.libc_ver() >= ("glibc", "2.35")
needs_libmvec = pytest.mark.skipif(not HAS_LIBMVEC, reason="libmvec of glibc 2.35 or later on x86-64")


def parse(tmp_path: Path, source: str = SOURCE) -> Scop:
    path = tmp_path / "nest.c"
    path.write_text(source)
    return pipeline.parse(path)


def kernels(scop: Scop, *, numerics: Numerics = DEFAULT_NUMERICS) -> tuple[KernelSource, ...]:
    machine = Machine.detect(threads=1)
    space = pipeline.space_on(scop, machine, numerics=numerics)
    variants = pipeline.generate_variants(scop, machine=machine, max_variants=6, numerics=numerics)
    assert variants
    return tuple(pipeline.kernel(space.apply(variant), machine.vector_bytes) for variant in variants)


def called_symbols(library: Path) -> set[str]:
    symbols = subprocess.run(["nm", "-D", "-u", str(library)], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in symbols.splitlines()}


@pytest.mark.native
@needs_libmvec
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_vector_versions_are_called(compiler: str, tmp_path: Path) -> None:
    toolchain = Toolchain.find(compiler)
    first = kernels(parse(tmp_path))[0]
    assert first.vector_functions == ("erff", "expf", "pow", "sin", "tanhf")
    (built,) = EXECUTOR.build([first], toolchain, tmp_path)
    assert built.library is not None, built.message
    vectors = {re.sub(r"_ZGV\wN\d+v+_", "", name) for name in called_symbols(built.library) if name.startswith("_ZGV")}
    assert vectors >= ({"expf", "tanhf", "erff", "pow", "sin"} if compiler == "gcc" else {"pow", "sin"})


@pytest.mark.native
@pytest.mark.skipif(platform.machine() != "x86_64", reason="instructions of x86-64")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["bounded", "reassociated"])
def test_square_roots_are_instructions_for_which_no_function_is_called(
    level: Numerics, compiler: str, tmp_path: Path
) -> None:
    source = """
#include <math.h>
void f(float y[70], const float x[70], double z[70]) {
#pragma scop
  for (int i = 0; i < 70; i++) { y[i] = 1 / sqrtf(x[i]); z[i] = sqrt(z[i]); }
#pragma endscop
}
"""
    scop = parse(tmp_path, source)
    toolchain = Toolchain.find(compiler)
    plain = next(each.kernel for each in plain_builds(scop, toolchain, 1, level) if each.kernel.id == "plain")
    for built in EXECUTOR.build([kernels(scop, numerics=level)[0], plain], toolchain, tmp_path):
        assert built.library is not None, built.message
        assert not called_symbols(built.library) & {"sqrt", "sqrtf"}
    assert all("const))" not in kernel.c for kernel in kernels(scop, numerics="strict"))
    # A function of the file's own is not the library's.
    own = "float sqrtf(float x) { return x; }\ndouble sqrt(double x) { return x; }"
    assert "const))" not in kernels(parse(tmp_path, source.replace("#include <math.h>", own)))[0].c


@pytest.mark.native
def test_results_are_right_and_the_scalar_ones_the_same(tmp_path: Path) -> None:
    scop = parse(tmp_path)
    made = kernels(scop)
    built = EXECUTOR.build([original(scop), *made], Toolchain.find(), tmp_path)
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=0.2)
    measured = EXECUTOR.measure(built[1:], built[0], scop, threads=1, policy=policy, seed=5)
    assert [each.message for each in measured if each.status != "ok"] == []
    assert all("simd" in kernel.c for kernel in made)


@pytest.mark.native
def test_without_the_library_calls_stay_scalar(tmp_path: Path) -> None:
    first = dataclasses.replace(kernels(parse(tmp_path))[0], compile_flags=(f"-D{SCALAR_MATH}",))
    (built,) = EXECUTOR.build([first], Toolchain.find(), tmp_path)
    assert built.library is not None, built.message
    names = called_symbols(built.library)
    assert "expf" in names
    assert not [name for name in names if name.startswith("_ZGV")]


@pytest.mark.native
def test_a_toolchain_that_can_not_link_them_says_so_to_the_source(tmp_path: Path) -> None:
    """A compiler whose linker never finds a vector version."""
    wrapper = tmp_path / "gcc-without-libmvec"
    real = found_compilers("gcc")[0]
    wrapper.write_text(f'#!/bin/sh\nfor word in "$@"; do case $word in *functions.c) exit 1;; esac; done\n'
                       f'exec {real} "$@"\n')  # fmt: skip
    wrapper.chmod(0o755)
    toolchain = Toolchain.find(str(wrapper))
    first = kernels(parse(tmp_path))[0]
    assert f"-D{SCALAR_MATH}" in toolchain.compile_line(first, "a.c", "a.so")
    (built,) = EXECUTOR.build([first], toolchain, tmp_path)
    assert built.library is not None, built.message
    assert not [name for name in called_symbols(built.library) if name.startswith("_ZGV")]


def test_strict_floating_point_calls_what_the_source_calls(tmp_path: Path) -> None:
    for kernel in kernels(parse(tmp_path), numerics="strict"):
        assert kernel.vector_functions == ()
        assert "declare simd" not in kernel.c
        assert "omp simd" not in kernel.c


def test_a_function_of_the_users_own_is_left_alone(tmp_path: Path) -> None:
    own = (
        "static float tanhf(float x) { return x + 1; }\n"
        "void f(float y[70], const float x[70]) {\n#pragma scop\n"
        "  for (int j = 0; j < 70; j++)\n    y[j] = tanhf(x[j]);\n#pragma endscop\n}\n"
    )
    made = kernels(parse(tmp_path, own))
    assert all(kernel.vector_functions == () and "declare simd" not in kernel.c for kernel in made)


@pytest.mark.native
@needs_libmvec
def test_vector_versions_are_within_a_few_units_in_the_last_place(tmp_path: Path) -> None:
    source = (
        "#include <math.h>\nvoid f(float y[4096], const float x[4096]) {\n#pragma scop\n"
        "  for (int i = 0; i < 4096; i++)\n    y[i] = tanhf(x[i]);\n#pragma endscop\n}\n"
    )
    scop = parse(tmp_path, source)
    (built,) = EXECUTOR.build(kernels(scop)[:1], Toolchain.find(), tmp_path)
    assert built.library is not None
    values = np.linspace(-12, 12, 4096, dtype=np.float32)
    found = np.zeros_like(values)
    load(built.library, scop)(y=found, x=values)
    exact = np.tanh(values.astype(np.float64))
    assert np.all(np.abs(found - exact) <= 4 * np.spacing(np.abs(exact).astype(np.float32)))


@pytest.mark.native
def test_declarations_compile_alone() -> None:
    text = "\n".join(prototypes(["atan2f", "expf", "tanh"]))
    ended = subprocess.run(["gcc", "-fopenmp", "-Wall", "-Werror", "-x", "c", "-c", "-", "-o", "/dev/null"],
                           input=text + "\n", text=True, capture_output=True, check=False)  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert text.count("declare simd") == 3


HELPERS = """
#include <math.h>
static float exponential(float x) { return expf(x); }
static float silu(float x) { x = x / (1 + exponential(-x)); return x; }
static inline float elu(float x) { x = x > 0 ? x : expf(x) - 1; return x; }
float relu(float x) { x = x > 0 ? x : 0; return x; }
typedef enum { DOWN = -1, UP = 1 } direction;
static direction sign(float x) { return x < 0 ? DOWN : UP; }
static float root(float x) {
  float y = 1;
  for (int i = 0; i < 3; i++)
    y = 0.5f * (y + x / y);
  return y;
}
void f(float y[9][70], const float x[9][70], float z[33]) {
#pragma scop
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 70; j++)
      y[i][j] = silu(x[i][j]) + relu(x[i][j]) * elu(x[i][j]) * sign(x[i][j]);
  for (int i = 0; i < 33; i++)
    z[i] = root(z[i]);
#pragma endscop
}
"""


def test_functions_of_the_source_come_down_to_those_of_the_library(tmp_path: Path) -> None:
    scop = parse(tmp_path, HELPERS)
    assert scop.functions == (
        PureFunction("elu", "static float elu(float)", ("expf",), True),
        PureFunction("relu", "", (), True),
        PureFunction("root", "static float root(float)", (), False),
        PureFunction("sign", "", (), True),
        PureFunction("silu", "static float silu(float)", ("expf",), True),
    )
    assert leaves(scop, ("elu", "relu", "root")) == {"expf", "root"}
    assert scalar_only(scop, ("elu", "relu", "root", "silu")) == {"root"}
    assert scalar_only(scop, ("silu",), exact=True) == {"expf"}
    assert is_instruction(scop, "relu")
    assert not is_instruction(scop, "silu")


CONDITION = """
void f(float y[70], const float x[70]) {
#pragma scop
  for (int i = 0; i < 70; i++)
    y[i] = x[i] > 0 ? x[i] : 0.1f * x[i];
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("source", "numerics", "vector_bytes", "flags"),
    [
        (CONDITION, "bounded", 32, ("-fno-trapping-math",)),
        (CONDITION, "reassociated", 16, ("-fno-trapping-math",)),
        # What the source doesn't compute could raise an exception that a program asks for.
        (CONDITION, "strict", 32, ()),
        # A mask rules it out.
        (CONDITION, "bounded", 64, ()),
        (SOURCE, "bounded", 32, ()),
        # The condition is in a function of the source.
        (HELPERS, "bounded", 32, ("-fno-trapping-math",)),
    ],
)
def test_what_is_beside_a_condition_may_be_computed_where_vectors_have_no_masks(
    source: str, numerics: Numerics, vector_bytes: int, flags: tuple[str, ...], tmp_path: Path
) -> None:
    scop = parse(tmp_path, source)
    machine = dataclasses.replace(Machine.detect(threads=1), vector_bytes=vector_bytes)
    space = pipeline.space_on(scop, machine, numerics=numerics)
    [variant, *_] = pipeline.generate_variants(scop, machine=machine, max_variants=1, numerics=numerics)
    assert pipeline.kernel(space.apply(variant), vector_bytes).compile_flags == flags


@pytest.mark.native
@needs_libmvec
def test_loops_that_call_functions_of_the_source_run_with_vectors(tmp_path: Path) -> None:
    scop = parse(tmp_path, HELPERS)
    toolchain = Toolchain.find("gcc")
    made = kernels(scop)
    assert all(kernel.vector_functions == ("expf",) for kernel in made)
    built = EXECUTOR.build([original(scop), *made], toolchain, tmp_path)
    assert built[1].library is not None, built[1].message
    # Without masks, gcc would leave the call beside the condition of `elu` to a branch.
    assert any(re.fullmatch(r"_ZGV\wN\d+v_expf", name) for name in called_symbols(built[1].library))
    policy = TimingPolicy(rounds=1, minimum_sample_seconds=1e-4, budget_seconds=0.2)
    measured = EXECUTOR.measure(built[1:], built[0], scop, threads=1, policy=policy, seed=5)
    assert {each.status for each in measured} == {"ok"}
