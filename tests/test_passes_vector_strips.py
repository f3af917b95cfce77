"""Strip-mining of vector loops that refer to many elements: which loops, and into what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from loops_by_hand import adds, at, c, context, loop, times

from polydl.codegen.loop_ir import For, Pragma
from polydl.codegen.passes import vector_strips
from polydl.codegen.passes.vector_strips import MANY_REFERENCES


def filled(references: int, last: int = 31, lanes: int = 8) -> For:
    """A vector loop over c that refers to so many elements, and to one more that is the same in all iterations."""
    terms = (adds("S", at("y", "c"), times(at("x", place, "c"), at("w"))) for place in range(references - 1))
    return replace(loop("c", 0, last, *terms), pragma=Pragma("simd", simdlen=lanes), vector=True)


def test_a_loop_with_many_references_becomes_strips_of_one_vector() -> None:
    lines = c(vector_strips.run((filled(MANY_REFERENCES),), context()))
    assert lines[:3] == [
        "for (int polydl_c_strip = 0; polydl_c_strip <= 31; polydl_c_strip += 8) {",
        "#pragma omp simd simdlen(8)",
        "for (int c = polydl_c_strip; c <= polydl_c_strip + 7; ++c) {",
    ]
    assert lines[3:-2] == [f"y[c] += x[{place}][c] * w;" for place in range(MANY_REFERENCES - 1)]


@pytest.mark.parametrize(
    "kept",
    [
        filled(MANY_REFERENCES - 1),
        filled(MANY_REFERENCES, last=7),
        filled(MANY_REFERENCES, last=32),
        filled(MANY_REFERENCES, lanes=0),
        replace(filled(MANY_REFERENCES), pragma=None, vector=False),
        replace(filled(MANY_REFERENCES), pragma=Pragma("simd", simdlen=8, sums=(("+", "s", ()),))),
        replace(filled(MANY_REFERENCES), pragma=Pragma("parallel for simd", simdlen=8)),
    ],
    ids=["few references", "one vector", "a part of a vector left", "no lanes", "no vectors", "sums", "threads"],
)
def test_other_loops_stay_as_they_are(kept: For) -> None:
    before = (kept,)
    assert vector_strips.run(before, context()) is before


def test_what_belongs_to_a_loop_stays_around_all_of_its_strips() -> None:
    around = replace(
        filled(MANY_REFERENCES), before=(adds("B", at("b"), at("b")),), after=(adds("A", at("a"), at("a")),)
    )
    (strips,) = vector_strips.run((around,), context())
    assert isinstance(strips, For)
    (strip,) = strips.body
    assert isinstance(strip, For)
    assert (strips.before, strips.after, strip.before, strip.after) == (around.before, around.after, (), ())
