"""OpenMP's directives in a source, and what its macros hide of loops. No compiler."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from computed import parse as parsed

from polydl.codegen.parallel_source import adds_up, makes_threads, own_threads, with_parallel_loops
from polydl.poly.dependences import dependences

ROWS = """\
{defined}
void rows(float out[16], const float a[16][24]) {{
  int j;
  float t;
#pragma scop
  {before}for (int i = 0; i < 16; ++i) {{
    {body}
  }}
#pragma endscop
}}
"""
WRITTEN = '#define SPREAD _Pragma("omp parallel for")'
OF_A_STRING = "#define OMP(x) _Pragma(#x)"


def rows(defined: str, body: str = "out[i] = a[i][0];", before: str = "") -> str:
    return ROWS.format(defined=defined, body=body, before=before)


@pytest.mark.parametrize(
    ("text", "gets"),
    [
        (rows("#define TWICE(v) ((v) <= 0 ? 0 : 2 * (v))", "out[i] = TWICE(a[i][0]);"), True),
        (rows("#define FIRST 0 // for the first column = none -- so far", "out[i] = a[i][FIRST];"), True),
        (rows("", "do { out[i] = a[i][0]; } while (0);"), True),
        (rows("#define LOOP_J for (j = 0; j < 24; ++j)", "LOOP_J out[i] = out[i] * 3 + a[i][j];"), False),
        (rows('#include "loops.h"', "LOOP_J out[i] = out[i] * 3 + a[i][j];"), False),
        (rows("#define SET(v) t = (v)", "SET(a[i][0]); out[i] = t;"), False),
        (rows('#include "loops.h"', "SET(a[i][0]); out[i] = t;"), False),
        (rows("#define TO(u) t = u;\n#define SET(v) TO(v)", "SET(a[i][0]) out[i] = t;"), False),
        (rows(WRITTEN, before="SPREAD "), False),
        (rows(WRITTEN.replace("parallel for", "simd"), before="SPREAD "), False),
    ],
)
def test_a_loop_gets_a_directive_where_its_text_shows_all_that_it_sets(tmp_path: Path, text: str, gets: bool) -> None:
    header = "#define LOOP_J for (j = 0; j < 24; ++j)\n#define SET(v) t = (v)\n"
    (tmp_path / "loops.h").write_text(header, encoding="utf-8")
    scop = parsed(tmp_path, text)
    assert (with_parallel_loops(scop, dependences(scop), 4) is not None) == gets


@pytest.mark.parametrize(
    ("text", "threads"),
    [
        (rows(WRITTEN, before="SPREAD "), True),
        (rows(OF_A_STRING, before="OMP(omp parallel for)\n  "), True),
        (rows(WRITTEN.replace("parallel for", "simd"), before="SPREAD "), False),
    ],
)
def test_a_directive_that_a_macro_writes_may_stand_anywhere(tmp_path: Path, text: str, threads: bool) -> None:
    scop = parsed(tmp_path, text)
    assert own_threads(scop, 4) == (4 if threads else 1)
    assert makes_threads(scop, inside=False) is threads
    assert not makes_threads(scop, inside=True)


@pytest.mark.parametrize(
    ("directives", "adds"),
    [
        ("#pragma omp parallel for reduction (+: s)", True),
        ("#pragma omp parallel for \\\n  reduction(+: s)", True),
        ('_Pragma("omp parallel for reduction(+: s)")', True),
        ('_Pragma("omp parallel for private(j) reduction(+: s)")', True),
        ("#pragma omp parallel for\n// reduction(+: s)", False),
        # Of lanes, on each thread.
        ("#pragma omp parallel for\n#pragma omp simd reduction(+: s)", False),
    ],
)
def test_sums_of_threads_are_told_by_their_directives(tmp_path: Path, directives: str, adds: bool) -> None:
    scop = parsed(tmp_path, rows(""))
    assert adds_up(replace(scop, source=f"{directives}\n{scop.source}")) is adds
