"""What errors on C name: the words of the source, the function with the loops, a size that has no value, a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from polydl.errors import PolydlError, SourceError
from polydl.frontend.pet import parse

HEAD = "void f(float a[64], const float b[64])\n{\n"
LOOP = "  for (int i = 0; i < 64; ++i)\n"
SCALED = f"{LOOP}    a[i] = 2 * b[i];\n"
MARKED = f"#pragma scop\n{SCALED}#pragma endscop\n"


def test_a_function_of_a_header_that_reads_an_array_is_to_be_defined_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "twice.h").write_text("static float twice(const float *p, int i) { return 2 * p[i]; }\n")
    path = tmp_path / "nest.c"
    path.write_text(f'#include "twice.h"\n{HEAD}{LOOP}    a[i] = twice(b, i);\n}}\n')
    with pytest.raises(PolydlError, match="its body is in another file; define it in this one") as raised:
        parse(path)
    assert "make it a macro" not in str(raised.value.remedy)


def test_what_is_quoted_is_what_the_source_says(tmp_path: Path) -> None:
    """Values that ``-D`` gives parameters don't take the place of their names, nor do those of constants."""
    path = tmp_path / "nest.c"
    path.write_text(
        "float g(float, int);\nvoid f(int N, float a[N])\n{\n  const int last = N - 1;\n"
        "  for (int i = 0; i < N; i++)\n    a[i] = g(a[last], N - 1) + 1;\n}\n"
    )
    with pytest.raises(PolydlError) as raised:
        parse(path, defines={"N": 1024})
    assert (raised.value.line, raised.value.construct) == (6, "g(a[last], N - 1)")


@pytest.mark.parametrize(
    "used", ["a[i] = b[last];", "for (int j = 0; j < last; j++) a[j] = b[i];", "if (i > last - 2) a[i] = b[i];"]
)
def test_a_size_that_an_index_is_chosen_by_needs_a_value(used: str, tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    path.write_text(
        f"void f(float a[64], const float b[65], int n)\n{{\n{LOOP[:-1]} {{\n"
        f"    int last = i < n ? i : n;\n    {used}\n  }}\n}}\n"
    )
    with pytest.raises(PolydlError, match="the value of n isn't known") as raised:
        parse(path)
    assert (raised.value.line, raised.value.remedy) == (4, "give it a value: -D n=VALUE")
    assert parse(path, defines={"n": 16}).statements


def test_the_function_that_has_the_loops_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nest.c"
    sums = f"static void sums(float *a, float *b)\n{{\n{SCALED}}}\n"
    calls = "static void twice(float *a, float *b) { sums(a, b); sums(b, a); }\n"
    calls += "void f(float *a, float *b) { twice(a, b); }\n"
    path.write_text(sums + calls)
    with pytest.raises(PolydlError) as raised:
        parse(path, function="f")
    assert raised.value.message == "function f has no for loop: it calls sums (line 1), which has loops"
    assert raised.value.remedy == "name the function that has the loops: --function sums"
    assert parse(path, function="sums").statements
    path.write_text(sums.replace(SCALED, MARKED) + calls)
    with pytest.raises(PolydlError, match="has no marked region: it calls sums") as raised:
        parse(path, function="f")
    assert raised.value.remedy == "name the function that has the region: --function sums"


def test_the_folder_of_a_header_is_named(tmp_path: Path) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "sizes.h").write_text("#define N 8\n")
    path = tmp_path / "nest.c"
    path.write_text('#include "sizes.h"\nvoid f(float a[N])\n{\n  for (int i = 0; i < N; ++i)\n    a[i] = 1;\n}\n')
    with pytest.raises(SourceError, match=r"'sizes\.h' file not found") as raised:
        parse(path)
    assert "-I DIR" in str(raised.value.remedy)
    assert parse(path, include_directories=[tmp_path / "beside"]).statements
