"""Where clang may reorder no sums of the plain nest, since it would take a sum with a known number apart."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from computed import parse

import polydl
from polydl.codegen.plain_unit import plain_unit
from polydl.execute.callable import load
from polydl.execute.toolchain import Toolchain
from polydl.optimization.added_numbers import may_add_numbers
from polydl.optimization.plain_builds import plain_builds

GCC = Toolchain(Path("/usr/bin/gcc"), "gcc", "12.2.0", ("-O3",))
MOVING_AVERAGE = "y[i] = b * y[i] + (1 - b) * x[i] * x[i];"
SHIFTED = "y[i] = (x[i] - 0.1f) * 0.3f;"
NORM = "y[i] += x[i] / sqrtf(x[i] * x[i] / 3 + 1e-5f);"


def nest(statement: str, before: str = "", outside: str = "") -> str:
    return (
        f"#include <math.h>\n{outside}\n"
        f"void f(float y[1024], const float x[1024], float b) {{\n{before}\n"
        f"#pragma scop\n  for (int i = 0; i < 1024; i++) {{ {statement} }}\n#pragma endscop\n}}\n"
    )


@pytest.mark.parametrize(
    "statement",
    [
        MOVING_AVERAGE,
        SHIFTED,
        "y[i] += 0x1p-3f; y[i] *= b;",
        "y[i] = fmaxf(x[i] + 0.5f, 0) * 3;",
        "y[i] = (x[i] - (float)0.5) / 3;",
        "float half = 0.5f; y[i] = (x[i] - half) * 3;",
        "float half = 0.5f; float same = half; y[i] = (x[i] - same) * 3;",
        "y[i] = x[i] * (b - i);",
    ],
)
def test_a_known_number_is_added(statement: str, tmp_path: Path) -> None:
    assert may_add_numbers(parse(tmp_path, nest(statement)))


@pytest.mark.parametrize(
    "statement",
    [
        NORM,
        "y[i] += b * x[i];",
        "float sum = 0; sum += 3 * x[i]; y[i] = sum;",
        "y[i] = x[i] / (1 + expf(-x[i]));",
        "y[i] = (b - y[i]) * x[i];",
    ],
)
def test_no_known_number_is_added_to_what_is_multiplied(statement: str, tmp_path: Path) -> None:
    assert not may_add_numbers(parse(tmp_path, nest(statement)))


def test_numbers_that_are_added_to_integers_are_none(tmp_path: Path) -> None:
    text = nest("places[i] = (places[i] + 1) * 3; y[0] += x[i] * x[i];", outside="int places[1024];")
    assert not may_add_numbers(parse(tmp_path, text))


@pytest.mark.parametrize(
    ("statement", "before", "outside"),
    [
        ("y[i] = b * y[i] + c * x[i];", "float c = 1 - b;", ""),
        ("y[i] = shifted(x[i]) * 3;", "", "static float shifted(float v) { return v - 0.1f; }"),
        ("y[i] = (x[i] - shift) * 3;", "", "static const float shift = 0.1f;"),
    ],
)
def test_one_may_be_added_where_the_region_does_not_show_it(
    statement: str, before: str, outside: str, tmp_path: Path
) -> None:
    assert may_add_numbers(parse(tmp_path, nest(statement, before, outside)))


@pytest.mark.parametrize(
    ("kind", "level", "statement", "flags"),
    [
        ("clang", "bounded", SHIFTED, "-ffast-math -mrecip=none -fno-associative-math"),
        ("clang", "bounded", NORM, "-ffast-math -mrecip=none"),
        ("clang", "fast", SHIFTED, "-ffast-math"),
        ("gcc", "bounded", SHIFTED, "-ffast-math -mno-recip"),
        ("gcc", "bounded", NORM, "-ffast-math -mno-recip -fno-reciprocal-math"),
        ("clang", "reassociated", SHIFTED, "-fno-signed-zeros -fno-trapping-math -fno-math-errno"),
        ("gcc", "reassociated", SHIFTED, "-fassociative-math -fno-signed-zeros -fno-trapping-math -fno-math-errno"),
    ],
)
def test_flags_keep_errors_bounded_but_at_fast(
    kind: Literal["gcc", "clang"],
    level: polydl.Numerics,
    statement: str,
    flags: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("polydl.optimization.plain_builds._others", lambda toolchain: ())
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    _, fast = plain_builds(parse(tmp_path, nest(statement)), replace(GCC, kind=kind), 1, level)
    assert fast.name == f"{kind} -O3 {flags}"


@pytest.mark.native
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["bounded", "reassociated"])
@pytest.mark.parametrize("statement", [MOVING_AVERAGE, SHIFTED])
def test_errors_are_bounded_whatever_the_magnitudes(
    statement: str, level: polydl.Numerics, compiler: str, tmp_path: Path
) -> None:
    scop = parse(tmp_path, nest(statement))
    toolchain = Toolchain.find(compiler)
    generator = np.random.default_rng(3)
    # Far larger than what they are added to, or near the number that is taken from them.
    large = statement == MOVING_AVERAGE
    x = (generator.normal(size=1024) if large else 0.1 + 1e-6 * generator.normal(size=1024)).astype(np.float32)
    y, b = (1e-6 * generator.uniform(1, 2, 1024)).astype(np.float32), np.float32(0.9999)
    wide = [each.astype(np.float64) for each in (x, y, b)]
    expected = wide[2] * wide[1] + (1 - wide[2]) * wide[0] ** 2
    if not large:
        expected = (wide[0] - np.float64(np.float32(0.1))) * np.float64(np.float32(0.3))
    (fast,) = [
        e for e in plain_builds(scop, toolchain, 1, level) if e.toolchain == toolchain and "plain" in e.kernel.id
    ]
    unit = plain_unit(scop, fast.kernel, fast.region, "f", asking_region=fast.asking_region)
    source, library = tmp_path / "plain.c", tmp_path / "plain.so"
    source.write_text(unit.c, encoding="utf-8")
    subprocess.run(toolchain.compile_line(unit, source, library), shell=True, check=True)
    load(library, scop)(y=y, x=x, b=b)
    assert np.linalg.norm(y - expected) < 1e-6 * np.linalg.norm(expected), fast.name
