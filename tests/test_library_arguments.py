"""Wrong arguments of libraries from Python, and ranges that no library can be made of: what is said, and what helps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from library_kernels import library_of
from symbolic_nests import product, symbolic

import polydl
from polydl.errors import OptionError, UnknownSizeError, UserError
from polydl.libraries.chosen import ChosenLibrary
from polydl.libraries.decision import Leaf
from polydl.libraries.ranges import SizeRange
from polydl.libraries.refine import measured_further
from polydl.libraries.unit import ORIGINAL

SHAPE = {"M": 1, "N": 16, "K": 8}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("max_slowdown", value) for value in ("1.1", None, float("nan"), float("inf"), 0.5, True, [1.1])),
        *(("max_kernels", value) for value in ("3", 1.5, None, 0, [3])),
        *(("top_k", value) for value in ("3", 1.5, None, 0)),
        *(("shapes", value) for value in ("3", -1, None)),
        *(("ranges", value) for value in ("M=1..8", 5)),
        *(("name", value) for value in (5, None)),
        ("prefix", 5),
        ("compiler", 5),
        ("machine", "zen4"),
        *(("out", value) for value in (5, ["folder"])),
        *(("defines", value) for value in ("K=4", ["K=4"])),
        ("records", 5),
        ("progress", "loud"),
    ],
)
def test_wrong_arguments_of_a_library_are_named_before_anything_is_read(name: str, value: Any) -> None:
    with pytest.raises(OptionError, match=name) as raised:
        polydl.library("missing.c", **{"ranges": ["M=1..64"], name: value})
    assert raised.value.remedy


@pytest.mark.parametrize("value", [None, 1.5, (1, 8), [1.5], -3, "", "1..", "eight"])
def test_what_is_no_range_of_a_size_is_named(value: Any) -> None:
    with pytest.raises(OptionError, match="M") as raised:
        polydl.library("missing.c", {"M": value})
    assert raised.value.remedy


@pytest.fixture
def library(tmp_path: Path) -> ChosenLibrary:
    nest = symbolic(product(), tmp_path, ("M=1..512", "N=16..512", "K=8..512"))
    return library_of(nest, Leaf(ORIGINAL), [(SHAPE, {ORIGINAL: 1.0})])


WRONG: dict[str, tuple[Callable[[ChosenLibrary], object], str]] = {
    "most": (lambda library: library.select("5", **SHAPE), "select: most is '5', which is no integer"),  # type: ignore[arg-type]
    "missing": (lambda library: library.select(M=1, N=16), "select: the size K is missing"),
    "unknown": (lambda library: library.select(Q=3, **SHAPE), "select: Q is no size of the library"),
    "none": (lambda library: library.select(**{**SHAPE, "N": None}), "select: the size N is None"),  # type: ignore[arg-type]
    "list": (lambda library: library.chosen(**{**SHAPE, "N": [16]}), "chosen: the size N is"),  # type: ignore[arg-type]
    "array": (
        lambda library: library.chosen(**{**SHAPE, "N": np.array(1.5)}),  # type: ignore[arg-type]
        "chosen: the size N is",
    ),
    "chosen": (lambda library: library.chosen(M=1), "chosen: the size N is missing"),
    "one shape": (lambda library: measured_further(library, SHAPE, top_k=1, progress=None), "shapes is"),  # type: ignore[arg-type]
    "no shapes": (lambda library: measured_further(library, None, top_k=1, progress=None), "shapes is None"),  # type: ignore[arg-type]
    "numbers": (lambda library: measured_further(library, [5], top_k=1, progress=None), "shapes has 5"),  # type: ignore[list-item]
    "top_k": (lambda library: measured_further(library, [SHAPE], top_k=1.5, progress=None), "top_k is 1.5"),  # type: ignore[arg-type]
    "lacks": (lambda library: measured_further(library, [{"M": 1}], top_k=1, progress=None), "refine: {'M': 1} is no"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_of_its_methods_are_named(library: ChosenLibrary, case: str) -> None:
    call, message = WRONG[case]
    with pytest.raises(OptionError, match=message) as raised:
        call(library)
    assert raised.value.remedy


GLOBAL = """\
float A[100][100];
void copy(int N, float x[N][N])
{
#pragma scop
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      x[i][j] = A[i][j];
#pragma endscop
}
"""
FIXED_LOOPS = """\
void fill(int N, float x[N])
{
#pragma scop
  for (int i = 0; i < 10; ++i)
    x[i] = 1;
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("text", "given", "suggested"),
    [
        (GLOBAL, "N=1..4096", "N=1..100"),
        (GLOBAL, "N=4..4096:4", "N=4..100:4"),
        (GLOBAL, f"N={','.join(map(str, range(8, 120, 8)))}", f"N={','.join(map(str, range(8, 100, 8)))}"),
        (FIXED_LOOPS, "N=8..40", "N=10..40"),
        (FIXED_LOOPS, "N=4..80:4", "N=12..80:4"),
    ],
)
def test_ranges_that_leave_an_array_are_shortened(tmp_path: Path, text: str, given: str, suggested: str) -> None:
    with pytest.raises(UserError) as raised:
        symbolic(text, tmp_path, (given,))
    assert (raised.value.remedy or "").startswith(f"--range {suggested}; or ")
    assert symbolic(text, tmp_path, (suggested,)).sizes == ("N",)


@pytest.mark.parametrize(
    ("text", "given", "mended"), [(GLOBAL, "N=1..4096:16", "N=1..100:16"), (FIXED_LOOPS, "N=1..40", "N=10..40")]
)
def test_a_size_at_which_a_nest_cannot_be_read_is_named(tmp_path: Path, text: str, given: str, mended: str) -> None:
    with pytest.raises(UserError, match=r"with N=\d+ the nest can't be read: subscript 1 of") as raised:
        symbolic(text, tmp_path, (given,))
    assert (raised.value.remedy or "").startswith("begin and end the ranges at sizes for which the source is valid")
    symbolic(text, tmp_path, (mended,))


def test_an_array_of_the_file_may_become_a_parameter(tmp_path: Path) -> None:
    with pytest.raises(UserError) as raised:
        symbolic(GLOBAL, tmp_path, ("N=1..4096",))
    assert (raised.value.remedy or "").endswith("; or make `A` a parameter whose extents are sums of sizes")
    mended = GLOBAL.replace("float A[100][100];\n", "").replace("int N, ", "int N, const float A[N][N], ")
    symbolic(mended, tmp_path, ("N=1..4096",))


def test_sizes_without_a_range_can_be_given_one_or_a_value(tmp_path: Path) -> None:
    with pytest.raises(UnknownSizeError, match="the values of N and K aren't known") as raised:
        symbolic(product(), tmp_path, ("M=1..64",))
    assert raised.value.remedy == (
        "give each a range, or one value for the whole library: --range N=1..1024 --range K=1..1024, "
        "or -D N=VALUE -D K=VALUE"
    )
    symbolic(product(), tmp_path, ("M=1..64", "N=1..1024", "K=1..1024"))
    assert symbolic(product(), tmp_path, ("M=1..64",), {"N": 8, "K": 4}).fixed == {"N": 8, "K": 4}


@pytest.mark.parametrize(("given", "most"), [("N=1..100:10000000000", 99), ("N=5..5:0", 1)])
def test_steps_that_are_suggested_are_taken(given: str, most: int) -> None:
    with pytest.raises(OptionError) as raised:
        SizeRange.parse(given)
    assert raised.value.remedy == f"a step from 1 to {most}"
    for step in (1, most):
        SizeRange.parse(f"{given.partition(':')[0]}:{step}")


def test_a_part_of_a_range_has_its_sizes() -> None:
    every = SizeRange.parse("K=64..4096:64")
    assert every.between(100, 300) == SizeRange.parse("K=128..256:64")
    assert every.between(1, 10**6) == every
    assert every.between(65, 127) is None
    listed = SizeRange.parse("N=16,48,96")
    assert listed.between(17, 96) == SizeRange.parse("N=48,96")
    assert listed.between(17, 20) is None
