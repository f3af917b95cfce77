"""Local scalars that have several values in turn: each is forwarded to what reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from computed import check_kernels, parse
from marks import parametrized

from polydl import pipeline
from polydl.ir.scop import Scop
from polydl.ir.variant import Variant
from polydl.plan.apply import apply

NEST = """
#include <math.h>
void f(float y[64], signed char z[64], const float x[68], const int n[64])
{{
  for (int i = 0; i < 64; i++) {{
    {text}
  }}
}}
"""


def nest(tmp_path: Path, text: str) -> Scop:
    return parse(tmp_path, NEST.format(text=text))


def locals_of(scop: Scop) -> list[str]:
    return [array.name for array in scop.arrays if array.storage == "local"]


@pytest.mark.native
@parametrized(
    "text",
    [
        "float t = rintf(x[i] * 4); t = t < -3 ? -3 : t; t = t > 3 ? 3 : t; y[i] = t;",
        "float t = x[i]; t *= x[i + 1]; t += 2; t -= x[i + 2]; t /= 3; y[i] = t * t;",
        # Each value is of the scalar's type.
        "signed char t = n[i]; t += n[i] / 3; t *= 5; z[i] = t / 2;",
        "float t = x[i]; if (t < 0) t = 0; y[i] = t; t = t * x[i + 3]; y[i] += t;",
    ],
    quick=1,
)
def test_values_in_turn_need_no_array(text: str, tmp_path: Path) -> None:
    scop = nest(tmp_path, text)
    assert locals_of(scop) == []
    check_kernels(tmp_path, scop, [pipeline.kernel(apply(scop, Variant(()), ()), 32)])


@pytest.mark.native
@parametrized(
    "text",
    [
        # Each call of a function that takes time is made once.
        "float t = x[i]; t = expf(t); y[i] = t; y[i + 0] += t * t;",
        # What a value was made of is written before it is read.
        "float t = y[i]; t = t + 1; y[i] = 2; y[i] += t;",
        "float t = x[i]; " + "t += x[i + 1] * 0.5f; " * 60 + "y[i] += t;",
    ],
    quick=1,
)
def test_values_that_cannot_be_forwarded_are_elements_of_an_array(text: str, tmp_path: Path) -> None:
    scop = nest(tmp_path, text)
    assert locals_of(scop) == ["t_of"]
    check_kernels(tmp_path, scop, [pipeline.kernel(apply(scop, Variant(()), ()), 32)])
