"""Local pointers that name parts of arrays are read as these."""

from __future__ import annotations

from pathlib import Path

import pytest

from polydl.errors import UnsupportedConstructError
from polydl.frontend.pet import parse
from polydl.ir.scop import Scop

ROWS = """\
#define N 8
#define M 4
void rows(const float *a, const float b[N][M], float (*c)[M], const float *w, float *out)
{
    const float *w1 = w + M, *w2 = &w[2 * M];
    for (int i = 0; i < N; i++) {
        const float *row = M - 4 + (a + (long)i * M);
        const float *brow = b[i], *const next = &b[(i + 1) % N][0];
        float *crow = c[i];
        float *o = out + i * M;
        float *o2 = 2 + o;
        const float (*block)[M] = b + i;
        for (int j = 0; j < M; j++) {
            crow[j] = row[j] * w1[j] + brow[j] * w2[j] - next[M - 1 - j];
            o[j] = block[0][j];
        }
        for (int j = 0; j < M - 2; j++)
            o2[j] += crow[j];
    }
}
"""
ELEMENTS = """\
#define N 8
#define M 4
void rows(const float *a, const float b[N][M], float (*c)[M], const float *w, float *out)
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < M; j++) {
            c[i][j] = a[i * M + j] * w[M + j] + b[i][j] * w[2 * M + j] - b[(i + 1) % N][M - 1 - j];
            out[i * M + j] = b[i][j];
        }
        for (int j = 0; j < M - 2; j++)
            out[2 + i * M + j] += c[i][j];
    }
}
"""
SIMPLE = """\
float rows(const float *a, float *out)
{
    int skip = 0;
    for (int i = 0; i < 8; i++) {
        const float *row = a + PLACE;
        BEFORE
        for (int COUNTER = 0; COUNTER < 8; COUNTER++)
            out[COUNTER] += row[COUNTER];
    }
    return 0;
}
"""


def read(folder: Path, text: str) -> Scop:
    path = folder / "nest.c"
    path.write_text(text, encoding="utf-8")
    return parse(path)


def simple(place: str, before: str = "", counter: str = "j") -> str:
    return SIMPLE.replace("PLACE", place).replace("BEFORE", before).replace("COUNTER", counter)


def test_elements_of_pointers_to_rows_are_those_of_the_arrays(tmp_path: Path) -> None:
    scop, expected = read(tmp_path, ROWS), read(tmp_path, ELEMENTS)
    assert [[(a.array, a.kind, a.relation) for a in each.accesses] for each in scop.statements] == [
        [(a.array, a.kind, a.relation) for a in each.accesses] for each in expected.statements
    ]
    assert scop.statements[0].line == ROWS[: ROWS.index("crow[j]")].count("\n") + 1


@pytest.mark.parametrize(
    "text",
    [
        simple("i * 8", counter="i"),
        simple("skip", "skip += 8;"),
        simple("i * 8", "row += 1;"),
        simple("i * 8", "out[i] = *row++;"),
        simple("(int)a[i]"),
        simple("i * 8").replace("const float *row = a", "const int *row = (const int *)a"),
    ],
    ids=["hidden", "changed", "moved", "dereferenced", "data", "cast"],
)
def test_a_pointer_that_names_no_fixed_part_is_refused(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, simple("i * 8")).statements[0].line == 8
    with pytest.raises(UnsupportedConstructError, match="the pointer row may alias an array"):
        read(tmp_path, text)


def test_a_pointer_that_goes_with_the_region_is_not_used_behind_it(tmp_path: Path) -> None:
    loops = "  for (int j = 0; j < 8; j++)\n    out[j] += a[j];\n  const float *row = a + 8;\n"
    loops += "  for (int j = 0; j < 8; j++)\n    out[j] += row[j];\n"
    head = "float rows(const float *a, float *out)\n{\n"
    assert len(read(tmp_path, f"{head}{loops}  return 1;\n}}\n").statements) == 2
    with pytest.raises(UnsupportedConstructError, match="row is declared in the region and used behind it") as error:
        read(tmp_path, f"{head}{loops}  return row[3];\n}}\n")
    assert error.value.line == 8
