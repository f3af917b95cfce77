"""C as people write it: each problem is taken as it is, or refused with what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from machines import machine_with
from marks import parametrized

from polydl import optimize, pipeline
from polydl.errors import (
    MachineError,
    OptionError,
    PolydlError,
    SourceError,
    UnknownSizeError,
    UnsupportedConstructError,
)
from polydl.frontend.pet import parse

pytestmark = pytest.mark.usefixtures("second_level")

FOLDER = Path(__file__).parent / "newcomer"
FILES = sorted(path for path in FOLDER.iterdir() if path.is_file())

# With their sizes.
TAKEN: dict[str, Mapping[str, int]] = {
    "attention.c": {},
    "banded.c": {},
    "blur.c": {},
    "conv_sizes.c": {"ch": 8, "filters": 8, "h": 14, "w": 14, "kh": 3, "kw": 3},
    "dense_swish.c": {},
    "depthwise.c": {},
    "dgemm_transposed.c": {},
    "jacobi.c": {},
    "layer_norm.c": {"rows": 16, "cols": 64},
    "linear_int8.c": {},
    "lstm.c": {},
    "matmul_vla.c": {"n": 32, "m": 48, "k": 24},
    "maxpool.c": {},
    "program.c": {},
    "resize.c": {},
    "sgemm_lda.c": {"m": 32, "n": 48, "k": 24, "lda": 24, "ldb": 48, "ldc": 48},
    "softmax.c": {"rows": 16, "cols": 64},
}


class Refusal(NamedTuple):
    kind: type[PolydlError]
    line: int
    words: str
    remedy: str


REFUSED = {
    "complex_product.c": Refusal(UnsupportedConstructError, 3, "complex numbers", "c_re[i] += a_re[i] * b_re[i]"),
    "complex_struct.c": Refusal(UnsupportedConstructError, 7, "struct", "each member in an array of its own"),
    "csr.c": Refusal(UnsupportedConstructError, 5, "bounds depend on data", "sparse matrix"),
    "histogram.c": Refusal(UnsupportedConstructError, 4, "subscript isn't affine", "histogram"),
    "matmul.cpp": Refusal(SourceError, 2, "this is C++", 'extern "C"'),
    "matmul.f90": Refusal(SourceError, 1, "this is Fortran", "bind(C)"),
}
FUNCTIONS = {"program.c": "multiply"}


def test_every_problem_is_expected_to_be_taken_or_refused() -> None:
    assert [path.name for path in FILES] == sorted([*TAKEN, *REFUSED])
    assert len(FILES) >= 16


def test_the_guide_counts_the_problems() -> None:
    guide = Path(__file__).parents[1] / "docs" / "guide" / "using.md"
    said = f"`tests/newcomer` has {len(FILES)} such problems; {len(TAKEN)} are taken,"
    assert said in guide.read_text(encoding="utf-8")


@parametrized("name", TAKEN, quick=1)
def test_what_is_taken_has_legal_variants(name: str) -> None:
    scop = parse(FOLDER / name, defines=TAKEN[name], function=FUNCTIONS.get(name))
    space = pipeline.space_on(scop, machine_with(2, 32))
    assert len(pipeline.generate(space, max_variants=3).variants) >= 1


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_to_write_instead(name: str) -> None:
    kind, line, words, remedy = REFUSED[name]
    with pytest.raises(kind, match=words.replace("+", r"\+")) as raised:
        parse(FOLDER / name)
    assert raised.value.line == line
    assert remedy in (raised.value.remedy or "")


def test_loops_as_long_as_data_say_are_refused_before_sizes_are_asked_for() -> None:
    told = []
    for defines in ({}, {"rows": 32}):
        with pytest.raises(UnsupportedConstructError) as raised:
            parse(FOLDER / "csr.c", defines=defines)
        told.append(str(raised.value))
    assert told[0] == told[1]


def test_a_declaration_of_several_variables_is_several() -> None:
    scop = pipeline.parse(FOLDER / "resize.c")
    assert scop.array("in").extents == (65, 97)
    assert scop.statements[-1].text.startswith("out[y][x] = ")
    assert all(access.subscripts is None for access in scop.statements[-1].accesses if access.array == "in")
    values = [node.text for node in scop.statements[-1].body.walk() if node.kind == "affine"]
    assert len(values) == 6
    assert all(text.startswith(f"{{ {scop.statements[-1].name}[y, x] -> ") for text in values), "not those they were"


def test_variables_of_one_declaration_have_their_own_texts(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    body = "const float up = a[i] + 1, down = a[i] - 1;\n    b[i] = up * down;"
    path.write_text(f"void f(float a[8], float b[8])\n{{\n  for (int i = 0; i < 8; ++i) {{\n    {body}\n  }}\n}}\n")
    texts = [statement.text.rstrip(",;") for statement in parse(path).statements]
    assert texts[-1] == "b[i] = up * down"
    assert all(text in ("const float up = a[i] + 1", "down = a[i] - 1") for text in texts[:-1])


def test_all_missing_sizes_are_named_at_once() -> None:
    with pytest.raises(UnknownSizeError) as raised:
        parse(FOLDER / "sgemm_lda.c")
    assert raised.value.remedy is not None
    assert all(f"-D {size}=VALUE" in raised.value.remedy for size in TAKEN["sgemm_lda.c"])


@pytest.mark.parametrize(
    ("name", "text", "language"),
    [
        ("nest.c", "#include <iostream>\nint main() { std::cout << 1; }\n", "C++"),
        ("nest.c", "      SUBROUTINE F(A, N)\n      REAL A(N)\n      END\n", "Fortran"),
        ("nest.cu", "__global__ void f(float *a) { a[threadIdx.x] = 0; }\n", "CUDA"),
        ("nest.py", "def f(a):\n    a[:] = 0\n", "Python"),
    ],
)
def test_other_languages_are_named(name: str, text: str, language: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SourceError, match=f"this is {language}, and polydl reads C".replace("+", r"\+")):
        parse(path)


def test_c_is_c_whatever_the_file_is_called(tmp_path: Path) -> None:
    path = tmp_path / "nest.cpp"
    path.write_text("void f(float a[4])\n{\n  for (int i = 0; i < 4; ++i)\n    a[i] = 0;\n}\n")
    assert parse(path).function.name == "f"
    path.write_text("void f(float a[4])\n{\n  for (int i = 0; i < 4; ++i)\n    a[i] = ;\n}\n")
    with pytest.raises(SourceError, match=r"this is C\+\+"):
        parse(path)
    mistaken = tmp_path / "nest.c"
    mistaken.write_text(path.read_text())
    with pytest.raises(SourceError, match="expected expression"):
        parse(mistaken)


@pytest.mark.native
@parametrized("name", ["program.c", *(name for name in TAKEN if name != "program.c")], quick=1)
def test_what_is_taken_is_made_and_checked(name: str, tmp_path: Path) -> None:
    """The winner's results are those of the source, which the run has compared."""
    result = optimize(
        FOLDER / name, defines=TAKEN[name], function=FUNCTIONS.get(name), machine=machine_with(2, 32),
        max_variants=6, top_k=2, out=tmp_path, records=False,
    )  # fmt: skip
    assert result.winner is not None
    assert [each.measurement.status for each in result.tried] == ["ok"] * len(result.tried)


def test_python_takes_threads_as_the_command_does() -> None:
    machine = machine_with(2, 32)
    result = optimize(FOLDER / "blur.c", machine=machine, threads=1, max_variants=2, run=False)
    assert (result.machine.threads, machine.threads) == (1, 2)
    with pytest.raises(MachineError, match="3 threads on 2 cores"):
        optimize(FOLDER / "blur.c", machine=machine, threads=3, run=False)


def test_none_and_not_zero_picks_are_all() -> None:
    machine = machine_with(1, 32)
    with pytest.raises(OptionError, match="top_k is 0") as raised:
        optimize(FOLDER / "blur.c", machine=machine, top_k=0, run=False)
    assert raised.value.remedy == "at least 1, or None to run all variants"
    result = optimize(FOLDER / "blur.c", machine=machine, top_k=None, max_variants=6, run=False)
    assert len(result.picks) == len(result.ranking.entries) > 5
